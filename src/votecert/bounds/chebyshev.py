"""Chebyshev-Cantelli bounds with the tandem loss: ``cctnd`` and ``ccpbb``.

Symbols: G the Gibbs error, T the tandem error (two voters drawn from the weights are both wrong), mu the
offset, KLcat the divergence of the weights from the prior. Where the vote errs the wrong-vote weight W
is at least 1/2, so for every mu < 1/2 the second moment of W - mu bounds the error:
``L_0 <= E (W - mu)^2 / (1/2 - mu)^2 = (T - 2 mu G + mu^2) / (1/2 - mu)^2`` (Wu et al., 2021).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from votecert.ballots import Ballots
from votecert.bounds.base import (
    Bound,
    Choice,
    Floats,
    Objective,
    Statistics,
    Terms,
    Value,
    categorical_prior,
)
from votecert.bounds.gibbs import MEAN_SLACK, gibbs_error, rounded_up, tandem_error
from votecert.numerics import (
    categorical_kl,
    categorical_kl_gradient,
    kl_inverse_lower,
    kl_inverse_lower_gradient,
    kl_inverse_upper,
    kl_inverse_upper_gradient,
)
from votecert.numerics.arithmetic import Arithmetic


def rounded_down(mean: float) -> float:
    """A mean of losses in [0, 1], made safe from above against the rounding of its sum."""
    return max(0.0, mean - MEAN_SLACK)


@dataclass(frozen=True)
class ChebyshevCantelliTandem(Bound):
    """Chebyshev-Cantelli bound with the tandem loss.

    Notes
    -----
    ``(T_up - 2 mu G + mu^2) / (1/2 - mu)^2`` for every mu < 1/2 at once, with
    ``T_up = klinv(theta' T theta, (2 KLcat + log(4 sqrt(m) / delta)) / m)`` and G bounded from below for
    mu >= 0 and from above for mu < 0 with ``(KLcat + log(4 sqrt(m) / delta)) / m``
    (Wu et al., 2021, Theorem 12). Both sides of G come from one kl inequality.
    """

    id: ClassVar[str] = "cctnd"
    title: ClassVar[str] = "Chebyshev-Cantelli tandem"
    references: ClassVar[tuple[str, ...]] = ("wu2021",)
    differentiable: ClassVar[bool] = True
    posterior: ClassVar[str | None] = "categorical"

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        m = ballots.n_rows
        kl = categorical_kl(weights, categorical_prior(prior, ballots.n_voters))
        constant = math.log(4 * math.sqrt(m) / delta)
        tandem = kl_inverse_upper(tandem_error(ballots, weights), (2 * kl + constant) / m)
        gibbs = gibbs_error(ballots, weights)
        low = kl_inverse_lower(gibbs, (kl + constant) / m)
        high = kl_inverse_upper(gibbs, (kl + constant) / m)
        return {"offset": best_offset(float(tandem), float(low), float(high))}

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        gibbs, tandem = gibbs_error(ballots, weights), tandem_error(ballots, weights)
        outward = rounded_down if choice["offset"] >= 0 else rounded_up
        return {"gibbs": outward(gibbs), "tandem": rounded_up(tandem)}

    def ledger(self, terms: Terms) -> dict[str, float]:
        return {"tandem error": terms.delta / 2, "Gibbs error": terms.delta / 2}

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        m, mu = terms.n_rows, ar.number(terms.choice["offset"])
        kl = ar.categorical_kl(terms.weights, terms.categorical_prior)
        constant = ar.log(4) + ar.log(m) / 2 - ar.log(terms.delta)
        tandem = ar.kl_inverse_upper(ar.number(terms.statistics["tandem"]), (2 * kl + constant) / m)
        inverse = ar.kl_inverse_lower if mu >= 0 else ar.kl_inverse_upper
        gibbs = inverse(ar.number(terms.statistics["gibbs"]), (kl + constant) / m)
        risk = second_moment(tandem, gibbs, mu)
        return Value(risk, {"kl": kl, "tandem_bound": tandem, "gibbs_bound": gibbs})

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        m, mu = ballots.n_rows, choice["offset"]
        kl, d_kl = categorical_kl_gradient(weights, categorical_prior(prior, ballots.n_voters))
        constant = math.log(4 * math.sqrt(m) / delta)
        half = ballots.tandem_counts() @ weights / m
        tandem, dt_q, dt_c = kl_inverse_upper_gradient(float(weights @ half), (2 * kl + constant) / m)
        inverse = kl_inverse_lower_gradient if mu >= 0 else kl_inverse_upper_gradient
        gibbs, dg_q, dg_c = inverse(gibbs_error(ballots, weights), (kl + constant) / m)
        d_tandem = 2 * dt_q * half + 2 * dt_c / m * d_kl
        d_gibbs = dg_q * ballots.voter_errors() / m + dg_c / m * d_kl
        scale = (0.5 - mu) ** 2
        return Objective(float(second_moment(tandem, gibbs, mu)), (d_tandem - 2 * mu * d_gibbs) / scale)


def second_moment(tandem: Any, gibbs: Any, mu: Any) -> Any:
    """``(T - 2 mu G + mu^2) / (1/2 - mu)^2``."""
    return (tandem - 2 * mu * gibbs + mu * mu) / ((mu - 0.5) * (mu - 0.5))


def best_offset(tandem: float, gibbs_low: float, gibbs_high: float) -> float:
    """The mu < 1/2 that minimises the bound: ``(G/2 - T) / (1/2 - G)`` on either side of zero."""
    candidates = [0.0]
    for gibbs, lowest, highest in ((gibbs_low, 0.0, 0.499), (gibbs_high, -1e6, 0.0)):
        if gibbs < 0.5:
            candidates.append(min(max((gibbs / 2 - tandem) / (0.5 - gibbs), lowest), highest))

    def value(mu: float) -> float:
        return float(second_moment(tandem, gibbs_low if mu >= 0 else gibbs_high, mu))

    return min(candidates, key=value)


OFFSETS = tuple(np.linspace(-0.5, 0.45, 20).round(10).tolist())
"""Offsets mu of ``ccpbb``; every one of them gets an equal share of delta."""

GRID_RATIO = 1.05
"""Ratio of the geometric grids of t and g of ``ccpbb``."""


def geometric_grid(low: float, high: float) -> Floats:
    """From ``high`` downwards by the grid ratio until ``low`` is reached."""
    steps = math.ceil(math.log(high / low) / math.log(GRID_RATIO))
    return high * GRID_RATIO ** -np.arange(steps + 1.0)


def variance_grid(n_rows: int) -> Floats:
    """Grid of t: the best t is at most 1/2 and at least of the order of 1 / sqrt(m)."""
    return geometric_grid(min(0.25, 1 / math.sqrt(n_rows)), 0.5)


def bennett_grid(n_rows: int) -> Floats:
    """Grid of g K_mu: the best one is of the order of sqrt(1/m) to a few units."""
    return geometric_grid(min(1.0, 1 / math.sqrt(n_rows)), 4.0)


@dataclass(frozen=True)
class ChebyshevCantelliBennett(Bound):
    """Chebyshev-Cantelli bound with the mu-tandem loss and PAC-Bayes-Bennett.

    Parameters
    ----------
    offsets : tuple of float
        Grid of mu < 1/2, fixed in advance; each gets an equal share of delta.

    Notes
    -----
    The mu-tandem loss of a pair is ``(1[h wrong] - mu) (1[h' wrong] - mu)``, with a range of
    ``K_mu = max(1 - mu, 1 - 2 mu)`` (Wu et al., 2021, Theorem 15). With phi(x) = e^x - x - 1 and
    unbiased sample variances Vhat of the pairs,

    ``V_up = theta' Vhat theta / (1 - t) + K_mu^2 (2 KLcat + log(1/d1)) / (2 (m - 1) t (1 - t))``,

    ``U = theta' L_mu theta + phi(K_mu g) / (g K_mu^2) min(V_up, K_mu^2 / 4) + (2 KLcat + log(1/d2)) / (g m)``

    and the bound is ``U / (1/2 - mu)^2``. The grids of t and of g K_mu are fixed by m alone and paid for:
    ``d1 = delta w_mu / (2 k_t)``, ``d2 = delta w_mu / (2 k_g)`` with the grids' sizes k_t, k_g.
    """

    offsets: tuple[float, ...] = OFFSETS

    id: ClassVar[str] = "ccpbb"
    title: ClassVar[str] = "Chebyshev-Cantelli Bennett"
    references: ClassVar[tuple[str, ...]] = ("wu2021", "tolstikhin2013")
    differentiable: ClassVar[bool] = True
    posterior: ClassVar[str | None] = "categorical"

    def spread(self, mu: Any) -> Any:
        """K_mu, the range of the mu-tandem loss."""
        return max(1 - mu, 1 - 2 * mu)

    def log_shares(self, n_rows: int) -> tuple[float, float]:
        """``log(delta/d1)`` and ``log(delta/d2)``: what the grids cost in nats."""
        sizes = len(variance_grid(n_rows)), len(bennett_grid(n_rows))
        return math.log(2 * len(self.offsets) * sizes[0]), math.log(2 * len(self.offsets) * sizes[1])

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        m = ballots.n_rows
        if m == 1:
            return {"offset": 0.0, "variance_scale": 0.5, "bennett_scale": 1.0}
        kl = 2 * float(categorical_kl(weights, categorical_prior(prior, ballots.n_voters)))
        cost_t, cost_g = (kl - math.log(delta) + cost for cost in self.log_shares(m))
        t, y = variance_grid(m), bennett_grid(m)
        best: tuple[float, Choice] = (math.inf, {})
        for mu in self.offsets:
            loss, variance = self.moments(ballots, weights, mu)
            K = self.spread(mu)
            v_up = variance / (1 - t) + K**2 * cost_t / (2 * (m - 1) * t * (1 - t))
            at_t = int(np.argmin(v_up))
            v = min(float(v_up[at_t]), K**2 / 4)
            values = (loss + (np.expm1(y) - y) / (y * K) * v + K * cost_g / (y * m)) / (0.5 - mu) ** 2
            at_y = int(np.argmin(values))
            choice = {"offset": mu, "variance_scale": float(t[at_t]), "bennett_scale": float(y[at_y])}
            best = min(best, (float(values[at_y]), choice), key=lambda pair: pair[0])
        return best[1]

    @staticmethod
    def moments(ballots: Ballots, weights: Floats, mu: float) -> tuple[float, float]:
        """Mean over pairs of the mu-tandem loss and of its unbiased sample variance."""
        m = ballots.n_rows
        errors, tandem = ballots.voter_errors() / m, ballots.tandem_counts() / m
        gibbs, both = float(weights @ errors), float(weights @ tandem @ weights)
        square = both * (1 - mu) ** 4 + 2 * (gibbs - both) * (mu * (1 - mu)) ** 2
        square += (1 - 2 * gibbs + both) * mu**4
        means = tandem - mu * (errors[:, None] + errors) + mu**2
        variance = square - float(weights @ means**2 @ weights)
        return both - 2 * mu * gibbs + mu**2, max(0.0, variance) * m / max(1, m - 1)

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        loss, variance = self.moments(ballots, weights, choice["offset"])
        return {"loss": loss + MEAN_SLACK, "variance": variance + MEAN_SLACK}

    def ledger(self, terms: Terms) -> dict[str, float]:
        share = terms.delta / len(self.offsets)
        return {
            f"variance at offset {terms.choice['offset']:g}, all t": share / 2,
            f"mean at offset {terms.choice['offset']:g}, all g": share / 2,
            f"the other {len(self.offsets) - 1} offsets": terms.delta - share,
        }

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        m, mu = terms.n_rows, ar.number(terms.choice["offset"])
        if m == 1:
            return Value(ar.number(1))
        t, y = ar.number(terms.choice["variance_scale"]), ar.number(terms.choice["bennett_scale"])
        K = self.spread(mu)
        kl = ar.categorical_kl(terms.weights, terms.categorical_prior)
        shares = ar.number(2 * len(self.offsets))
        cost_t = 2 * kl + ar.log(shares * len(variance_grid(m))) - ar.log(terms.delta)
        cost_g = 2 * kl + ar.log(shares * len(bennett_grid(m))) - ar.log(terms.delta)
        variance = ar.number(terms.statistics["variance"]) / (1 - t)
        variance = min(variance + K * K * cost_t / (2 * (m - 1) * t * (1 - t)), K * K / 4)
        bennett = (ar.exp(y) - y - 1) / (y * K) * variance + K * cost_g / (y * m)
        loss = ar.number(terms.statistics["loss"])
        risk = (loss + bennett) / ((mu - 0.5) * (mu - 0.5))
        return Value(risk, {"kl": kl, "loss": loss, "variance_bound": variance})

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        m, mu = ballots.n_rows, choice["offset"]
        t, y, K = choice["variance_scale"], choice["bennett_scale"], self.spread(mu)
        if m == 1:
            return Objective(1.0, np.zeros(ballots.n_voters))
        kl, d_kl = categorical_kl_gradient(weights, categorical_prior(prior, ballots.n_voters))
        cost_t, cost_g = (2 * float(kl) - math.log(delta) + cost for cost in self.log_shares(m))
        loss, variance = self.moments(ballots, weights, mu)
        d_loss, d_variance = self.moment_gradients(ballots, weights, mu)
        factor = K**2 / (2 * (m - 1) * t * (1 - t))
        v_up, d_v_up = variance / (1 - t) + factor * cost_t, d_variance / (1 - t) + 2 * factor * d_kl
        if v_up > K**2 / 4:
            v_up, d_v_up = K**2 / 4, np.zeros_like(d_v_up)
        bennett = (math.expm1(y) - y) / (y * K)
        value = loss + bennett * v_up + K * cost_g / (y * m)
        gradient = d_loss + bennett * d_v_up + 2 * K / (y * m) * d_kl
        return Objective(value / (0.5 - mu) ** 2, gradient / (0.5 - mu) ** 2)

    @staticmethod
    def moment_gradients(ballots: Ballots, weights: Floats, mu: float) -> tuple[Floats, Floats]:
        """Gradients of :meth:`moments` in the weights, along the simplex."""
        m = ballots.n_rows
        errors, tandem = ballots.voter_errors() / m, ballots.tandem_counts() / m
        d_both = 2 * tandem @ weights
        d_square = d_both * (1 - mu) ** 4 + 2 * (errors - d_both) * (mu * (1 - mu)) ** 2
        d_square += (d_both - 2 * errors) * mu**4
        means = tandem - mu * (errors[:, None] + errors) + mu**2
        d_variance = (d_square - 2 * means**2 @ weights) * m / max(1, m - 1)
        return d_both - 2 * mu * errors, d_variance

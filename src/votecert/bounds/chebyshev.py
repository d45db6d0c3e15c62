"""Chebyshev-Cantelli bounds with the tandem loss: ``cctnd`` and ``ccpbb``.

Symbols: G the Gibbs error, T the tandem error (two voters drawn from the weights are both wrong), mu the
offset, KLcat the divergence of the weights from the prior. Where the vote errs the wrong-vote weight W
is at least 1/2, so for every mu < 1/2 the second moment of W - mu bounds the error:
``L_0 <= E (W - mu)^2 / (1/2 - mu)^2 = (T - 2 mu G + mu^2) / (1/2 - mu)^2`` (Wu et al., 2021).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import votecert.numerics as nx
from votecert.bounds.base import Choice, Floats, Objective, Statistics, Terms, Value
from votecert.bounds.gibbs import MEAN_SLACK, check_moments, rounded_up
from votecert.bounds.kinds import SHARE, Real, Whole
from votecert.bounds.pac_bayes import categorical_divergence_gradient
from votecert.bounds.tallies import JudgesVoters, PairSums
from votecert.numerics.arithmetic import Arithmetic
from votecert.rows.ballots import Ballots

LARGEST_OFFSET = 1e6
"""How far below zero the offset mu of ``cctnd`` is looked for."""


def rounded_down(mean: float) -> float:
    """A mean of losses in [0, 1], surely not above the true one, however its sum was rounded."""
    return max(0.0, mean - MEAN_SLACK)


@dataclass(frozen=True)
class ChebyshevCantelliTandem(JudgesVoters):
    """Chebyshev-Cantelli bound with the tandem loss.

    Parameters
    ----------
    out_of_bag : bool, default=False
        See :class:`~votecert.bounds.tallies.JudgesVoters`. The m of T is then the smallest number of rows of
        any pair, that of G the smallest of any voter.

    Notes
    -----
    ``(T_up - 2 mu G + mu^2) / (1/2 - mu)^2`` for every mu < 1/2 at once, with
    ``T_up = klinv(theta' T theta, (2 KLcat + log(4 sqrt(m) / delta)) / m)`` and G bounded from below for
    mu >= 0 and from above for mu < 0 with ``(KLcat + log(4 sqrt(m) / delta)) / m``
    (Wu et al., 2021, Theorem 12). Both sides of G come from one kl inequality.
    """

    id = "cctnd"
    title = "Chebyshev-Cantelli tandem"
    references = ("wu2021",)
    differentiable = True
    posterior = "categorical"
    choices = {"offset": Real(-LARGEST_OFFSET, 0.5)}
    statistics = {
        "gibbs": SHARE,
        "tandem": SHARE,
        "rows": Whole(0, "n_rows"),
        "pair_rows": Whole(0, "n_rows"),
    }

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        voters = self.voters(ballots)
        m, pairs = voters.voter_rows, voters.pair_rows
        if pairs == 0:
            return {"offset": 0.0}
        kl, _ = categorical_divergence_gradient(weights, prior)
        tandem_cost = (2 * kl + log_constant(pairs, delta)) / pairs
        tandem = nx.kl_inverse_upper(voters.tandem_error(weights), tandem_cost)
        gibbs, gibbs_cost = voters.gibbs_error(weights), (kl + log_constant(m, delta)) / m
        low, high = nx.kl_inverse_lower(gibbs, gibbs_cost), nx.kl_inverse_upper(gibbs, gibbs_cost)
        return {"offset": best_offset(float(tandem), float(low), float(high))}

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        voters = self.voters(ballots)
        outward = rounded_down if choice["offset"] >= 0 else rounded_up
        return {
            "gibbs": outward(voters.gibbs_error(weights)),
            "tandem": rounded_up(voters.tandem_error(weights)),
            "rows": voters.voter_rows,
            "pair_rows": voters.pair_rows,
        }

    def ledger(self, terms: Terms) -> dict[str, float]:
        return {"tandem error": terms.delta / 2, "Gibbs error": terms.delta / 2}

    def check_choice(self, terms: Terms) -> None:
        super().check_choice(terms)
        if terms.choice["offset"] == 0.5:
            raise ValueError(f"The offset {terms.choice['offset']!r} is not below 1/2.")
        if not self.out_of_bag:
            check_moments(terms.statistics["gibbs"], terms.statistics["tandem"])

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        m, pairs = terms.statistics["rows"], terms.statistics["pair_rows"]
        kl = ar.categorical_kl(terms.weights, terms.categorical_prior)
        if pairs == 0:
            return Value(ar.number(1), {"kl": kl})
        mu = ar.number(terms.choice["offset"])
        tandem_cost = 2 * kl + ar.log(4) + ar.log(pairs) / 2 - ar.log(terms.delta)
        tandem = ar.kl_inverse_upper(ar.number(terms.statistics["tandem"]), tandem_cost / pairs)
        gibbs_cost = kl + ar.log(4) + ar.log(m) / 2 - ar.log(terms.delta)
        inverse = ar.kl_inverse_lower if mu >= 0 else ar.kl_inverse_upper
        gibbs = inverse(ar.number(terms.statistics["gibbs"]), gibbs_cost / m)
        risk = second_moment(tandem, gibbs, mu)
        return Value(risk, {"kl": kl, "tandem_bound": tandem, "gibbs_bound": gibbs})

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        voters, mu = self.voters(ballots), choice["offset"]
        m, pairs = voters.voter_rows, voters.pair_rows
        if pairs == 0:
            return Objective(1.0, np.zeros(ballots.n_voters))
        kl, d_kl = categorical_divergence_gradient(weights, prior)
        half, cost = voters.tandem @ weights, (2 * kl + log_constant(pairs, delta)) / pairs
        tandem, dt_q, dt_c = nx.kl_inverse_upper_gradient(voters.tandem_error(weights), cost)
        inverse = nx.kl_inverse_lower_gradient if mu >= 0 else nx.kl_inverse_upper_gradient
        gibbs, dg_q, dg_c = inverse(voters.gibbs_error(weights), (kl + log_constant(m, delta)) / m)
        d_tandem = 2 * dt_q * half + 2 * dt_c / pairs * d_kl
        d_gibbs = dg_q * voters.errors + dg_c / m * d_kl
        scale = (0.5 - mu) ** 2
        return Objective(float(second_moment(tandem, gibbs, mu)), (d_tandem - 2 * mu * d_gibbs) / scale)


def log_constant(n_rows: int, delta: float) -> float:
    """``log(4 sqrt(m) / delta)``: Seeger's constant at delta/2."""
    return math.log(4 * math.sqrt(n_rows) / delta)


def second_moment(tandem: Any, gibbs: Any, mu: Any) -> Any:
    """``(T - 2 mu G + mu^2) / (1/2 - mu)^2``."""
    return (tandem - 2 * mu * gibbs + mu * mu) / ((mu - 0.5) * (mu - 0.5))


def best_offset(tandem: float, gibbs_low: float, gibbs_high: float) -> float:
    """The mu < 1/2 that minimises the bound: ``(G/2 - T) / (1/2 - G)`` on either side of zero."""
    candidates = [0.0]
    for gibbs, lowest, highest in ((gibbs_low, 0.0, 0.499), (gibbs_high, -LARGEST_OFFSET, 0.0)):
        if gibbs < 0.5:
            candidates.append(min(max((gibbs / 2 - tandem) / (0.5 - gibbs), lowest), highest))

    def value(mu: float) -> float:
        return float(second_moment(tandem, gibbs_low if mu >= 0 else gibbs_high, mu))

    return min(candidates, key=value)


OFFSETS = tuple(np.linspace(-0.5, 0.45, 20).round(10).tolist())
"""Offsets mu of ``ccpbb``."""

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
class ChebyshevCantelliBennett(JudgesVoters):
    """Chebyshev-Cantelli bound with the mu-tandem loss and PAC-Bayes-Bennett.

    Parameters
    ----------
    offsets : tuple of float
        Grid of mu < 1/2, fixed in advance. Zero, the best one for strong voters, gets half of delta and the
        others share the rest evenly; all are equal where zero is not among them.
    out_of_bag : bool, default=False
        See :class:`~votecert.bounds.tallies.JudgesVoters`.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", tuple(float(mu) for mu in self.offsets))
        if not self.offsets or not all(-LARGEST_OFFSET <= mu < 0.5 for mu in self.offsets):
            raise ValueError("offsets must be one or more numbers from -1e6 to below 1/2.")

    id = "ccpbb"
    title = "Chebyshev-Cantelli Bennett"
    references = ("wu2021", "tolstikhin2013")
    differentiable = True
    posterior = "categorical"
    choices = {
        "offset": Real(-LARGEST_OFFSET, 0.5),
        "variance_scale": Real(0, 0.5),
        "bennett_scale": Real(0, 4),
    }
    # with an offset far below zero the loss and its variance are far above one
    statistics = {
        "loss": Real(-LARGEST_OFFSET, 4 * LARGEST_OFFSET**2, tolerance=5e-13),
        "variance": Real(0, 4 * LARGEST_OFFSET**2, tolerance=5e-13),
        "pair_rows": Whole(0, "n_rows"),
    }

    def spread(self, mu: Any) -> Any:
        """K_mu, the range of the mu-tandem loss."""
        return max(1 - mu, 1 - 2 * mu)

    def parts(self, mu: float) -> int:
        """``1 / w_mu``: into how many equal parts delta is cut for this offset to have one."""
        others = len(self.offsets) - 1
        if others == 0 or 0.0 not in self.offsets:
            return others + 1
        return 2 if mu == 0 else 2 * others

    def log_shares(self, n_rows: int, mu: float) -> tuple[float, float]:
        """``log(delta/d1)`` and ``log(delta/d2)``: what the grids cost in nats."""
        sizes = len(variance_grid(n_rows)), len(bennett_grid(n_rows))
        return math.log(2 * self.parts(mu) * sizes[0]), math.log(2 * self.parts(mu) * sizes[1])

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        voters = self.voters(ballots)
        m = voters.pair_rows
        if m <= 1:
            return {"offset": min(self.offsets, key=abs), "variance_scale": 0.5, "bennett_scale": 1.0}
        kl = 2 * categorical_divergence_gradient(weights, prior)[0]
        t, y = variance_grid(m), bennett_grid(m)
        sums = PairSums.of(voters, weights)
        best: tuple[float, Choice] = (math.inf, {})
        for mu in self.offsets:
            cost_t, cost_g = (kl - math.log(delta) + cost for cost in self.log_shares(m, mu))
            loss, variance = sums.at(mu)
            K = self.spread(mu)
            v_up = variance / (1 - t) + K**2 * cost_t / (2 * (m - 1) * t * (1 - t))
            at_t = int(np.argmin(v_up))
            v = min(float(v_up[at_t]), K**2 / 4)
            values = (loss + (np.expm1(y) - y) / (y * K) * v + K * cost_g / (y * m)) / (0.5 - mu) ** 2
            at_y = int(np.argmin(values))
            choice = {"offset": mu, "variance_scale": float(t[at_t]), "bennett_scale": float(y[at_y])}
            best = min(best, (float(values[at_y]), choice), key=lambda pair: pair[0])
        return best[1]

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        voters = self.voters(ballots)
        loss, variance = PairSums.of(voters, weights).at(choice["offset"])
        return {"loss": loss + MEAN_SLACK, "variance": variance + MEAN_SLACK, "pair_rows": voters.pair_rows}

    def ledger(self, terms: Terms) -> dict[str, float]:
        share = terms.delta / self.parts(terms.choice["offset"])
        ledger = {
            f"variance at offset {terms.choice['offset']:g}, all t": share / 2,
            f"mean at offset {terms.choice['offset']:g}, all g": share / 2,
        }
        others = len(self.offsets) - 1
        return ledger | ({f"the other {others} offsets": terms.delta - share} if others else {})

    def check_choice(self, terms: Terms) -> None:
        super().check_choice(terms)
        m, choice, mu = terms.statistics["pair_rows"], terms.choice, terms.choice["offset"]
        if mu not in self.offsets:
            raise ValueError(f"The offset {mu!r} is not in the grid.")
        # a square, but out of bag, where every pair has rows of its own
        least, most = (min(mu * mu, -mu * (1 - mu)) if self.out_of_bag else 0.0), (1 - mu) ** 2
        if not least <= terms.statistics["loss"] <= most + 2 * MEAN_SLACK:
            raise ValueError(f"At offset {mu!r} the loss is a mean of numbers from {least!r} to {most!r}.")
        if m <= 1:
            return
        for name, grid in {"variance_scale": variance_grid(m), "bennett_scale": bennett_grid(m)}.items():
            # Another machine may compute the grid with another last digit.
            if not np.isclose(grid, choice[name], rtol=1e-12, atol=0).any():
                raise ValueError(f"The {name} {choice[name]!r} is not in the grid.")

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        m, mu = terms.statistics["pair_rows"], ar.number(terms.choice["offset"])
        if m <= 1:
            return Value(ar.number(1))
        t, y = ar.number(terms.choice["variance_scale"]), ar.number(terms.choice["bennett_scale"])
        K = self.spread(mu)
        kl = ar.categorical_kl(terms.weights, terms.categorical_prior)
        shares = ar.number(2 * self.parts(terms.choice["offset"]))
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
        voters, mu = self.voters(ballots), choice["offset"]
        m = voters.pair_rows
        t, y, K = choice["variance_scale"], choice["bennett_scale"], self.spread(mu)
        if m <= 1:
            return Objective(1.0, np.zeros(ballots.n_voters))
        kl, d_kl = categorical_divergence_gradient(weights, prior)
        cost_t, cost_g = (2 * kl - math.log(delta) + cost for cost in self.log_shares(m, mu))
        sums = PairSums.of(voters, weights)
        (loss, variance), (d_loss, d_variance) = sums.at(mu), sums.slopes(mu)
        factor = K**2 / (2 * (m - 1) * t * (1 - t))
        v_up, d_v_up = variance / (1 - t) + factor * cost_t, d_variance / (1 - t) + 2 * factor * d_kl
        if v_up > K**2 / 4:
            v_up, d_v_up = K**2 / 4, np.zeros_like(d_v_up)
        bennett = (math.expm1(y) - y) / (y * K)
        value = loss + bennett * v_up + K * cost_g / (y * m)
        gradient = d_loss + bennett * d_v_up + 2 * K / (y * m) * d_kl
        return Objective(value / (0.5 - mu) ** 2, gradient / (0.5 - mu) ** 2)

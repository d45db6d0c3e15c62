"""The paper's Dirichlet bounds: factor two, margin and stochastic, as printed and corrected.

Symbols: theta the weights, K the concentration of the sampled vote xi ~ Dir(K theta), beta the prior's
parameters, D the divergence of Dir(K theta) from Dir(beta), g the margin, Lhat_g the share of rows with
margin M <= g, v_y the weight of the voters that are right, W = 1 - v_y,
tau_K(g) = P(Beta(K/2, K/2) > 1/2 + g), I_x(a, b) the regularised incomplete beta function.

The printed lemma has an exponent that is too large by a factor of two: in two dimensions the variance of
the projected Dirichlet vector already exceeds the claimed variance proxy. Its second half, moreover, is
proved for two classes only. The corrected statements are

* ``l_0(theta) <= E l_g(xi) + exp(-2 (K + 1) g^2)``, and for two classes ``<= E l_g(xi) + tau_K(g)``;
* ``E l_g(xi) <= l_2g(theta) + (c - 1) exp(-2 (K + 1) g^2)``.

*Proof of the exponent.* Scale u into [0, 1] and split each coordinate of X ~ Dir(alpha) into parts with
parameters ``alpha_i u_i`` and ``alpha_i (1 - u_i)``. The sum Y of the first parts is a Beta variable with
total parameter K and ``E[Y | X] = u.X``, so u.X precedes Y in convex order and inherits the
sub-Gaussian variance proxy ``1 / (4 (K + 1))`` of the Beta distribution (Marchal and Arbel, 2017). Hence
``P(u.(X - EX) > t) <= exp(-2 (K + 1) t^2 / (max u - min u)^2)``; take u = (1, -1, 0) and t = 2g.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from votecert.ballots import Ballots
from votecert.bounds._concentration import CONCENTRATIONS, Summary, best_concentration, zoom
from votecert.bounds.base import (
    MARGIN_SLACK,
    Bound,
    Choice,
    Floats,
    Objective,
    Statistics,
    Terms,
    Value,
    dirichlet_prior,
)
from votecert.bounds.gibbs import mean_gradient, seeger_constant
from votecert.bounds.margins import MARGINS, PAPER_MARGINS, margin_errors
from votecert.numerics import (
    beta_cdf,
    beta_cdf_gradient,
    dirichlet_kl,
    dirichlet_kl_gradient,
    dirichlet_tail,
    kl_inverse_upper,
    kl_inverse_upper_gradient,
)
from votecert.numerics.arithmetic import Arithmetic


def sampled_margin_loss(ballots: Ballots, weights: Floats, K: float, margin: float) -> float:
    """Mean of ``I_{1/2+g}(K v_y, K (1 - v_y))``, rounded up.

    This bounds the chance that a vote drawn from Dir(K theta) has margin at most g, exactly so for two
    classes.
    """
    right = np.clip(ballots.correct_weight(weights) - MARGIN_SLACK, 0, 1)
    mean = ballots.mean(beta_cdf(0.5 + margin, K * right, K * (1 - right)))
    return min(1.0, mean + 1e-10 * (1 + K / 1e10))


def divergences(weights: Floats, concentrations: Floats, prior: Floats | None) -> Floats:
    """D(K theta, beta) for every K."""
    return dirichlet_kl(concentrations[:, None] * weights, dirichlet_prior(prior, len(weights)))


def dirichlet_complexity(ar: Arithmetic, terms: Terms, share: Any) -> tuple[Any, Any]:
    """D and ``(D + log(2 sqrt(m) / share)) / m``."""
    K = terms.choice["concentration"]
    kl = ar.dirichlet_kl([K * w for w in terms.weights], terms.dirichlet_prior)
    return kl, (kl + seeger_constant(ar, terms.n_rows, share)) / terms.n_rows


def sampled_objective(
    ballots: Ballots, weights: Floats, K: float, margin: float, delta: float, prior: Floats | None
) -> Objective:
    """Value and gradient of ``klinv(mean I_{1/2+g}(K v_y, K (1-v_y)), (D + log(2 sqrt(m)/delta)) / m)``."""
    m = ballots.n_rows
    right = ballots.correct_weight(weights)
    loss, _, d_a, d_b = beta_cdf_gradient(0.5 + margin, K * right, K * (1 - right))
    d_loss = mean_gradient(ballots, K * (d_a - d_b))
    d_loss_log_K = ballots.mean(K * (right * d_a + (1 - right) * d_b))
    kl, d_alpha = dirichlet_kl_gradient(K * weights, dirichlet_prior(prior, ballots.n_voters))
    complexity = (kl + math.log(2 * math.sqrt(m) / delta)) / m
    value, d_q, d_c = kl_inverse_upper_gradient(ballots.mean(loss), complexity)
    return Objective(
        float(value),
        d_q * d_loss + d_c * K * d_alpha / m,
        float(d_q * d_loss_log_K + d_c * K * (weights @ d_alpha) / m),
    )


@dataclass(frozen=True)
class FactorTwo(Bound):
    """Factor-two bound of a vote drawn from a Dirichlet distribution.

    Notes
    -----
    ``L_0(theta) <= 2 klinv(mean I_{1/2}(K v_y, K (1 - v_y)), (D + log(2 sqrt(m) / delta)) / m)`` for all
    theta and K at once (Zantedeschi et al., 2021): where the vote errs, a sampled vote errs with
    probability at least 1/2.
    """

    id: ClassVar[str] = "f2"
    title: ClassVar[str] = "Dirichlet factor two"
    references: ClassVar[tuple[str, ...]] = ("zantedeschi2021",)
    differentiable: ClassVar[bool] = True
    posterior: ClassVar[str | None] = "dirichlet"

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        summary = Summary.of(ballots, weights)
        constant = math.log(2 * math.sqrt(ballots.n_rows) / delta)

        def values(K: Floats) -> Floats:
            complexity = (divergences(weights, K, prior) + constant) / ballots.n_rows
            return kl_inverse_upper(summary.sampled_loss(K, 0.0), complexity)

        return {"concentration": best_concentration(values)}

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        return {"empirical": sampled_margin_loss(ballots, weights, choice["concentration"], 0.0)}

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        kl, complexity = dirichlet_complexity(ar, terms, ar.number(terms.delta))
        empirical = ar.number(terms.statistics["empirical"])
        risk = 2 * ar.kl_inverse_upper(empirical, complexity)
        return Value(risk, {"kl": kl, "complexity": complexity, "empirical": empirical})

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        half = sampled_objective(ballots, weights, choice["concentration"], 0.0, delta, prior)
        return Objective(2 * half.value, 2 * half.d_weights, 2 * half.d_log_concentration)


@dataclass(frozen=True)
class DirichletGrid(Bound):
    """A Dirichlet bound for one fixed margin and every K, made uniform over a grid of margins.

    Parameters
    ----------
    margins : tuple of float
        The grid, in (0, 1/2), fixed without looking at the rows; each margin gets an equal share of delta.
    concentrations : tuple of float
        Range in which K is searched. Free of charge: the theorems hold for every K at once.
    """

    margins: tuple[float, ...] = MARGINS
    concentrations: tuple[float, float] = CONCENTRATIONS

    posterior: ClassVar[str | None] = "dirichlet"

    def share(self, delta: float) -> float:
        """What one margin of the grid may spend."""
        return delta / len(self.margins)

    def ledger(self, terms: Terms) -> dict[str, float]:
        share = self.share(terms.delta)
        ledger = {f"margin {terms.choice['margin']:.4g}": share}
        if len(self.margins) > 1:
            ledger[f"the other {len(self.margins) - 1} margins of the grid"] = terms.delta - share
        return ledger

    def in_paper_search(self) -> Self:
        return replace(self, margins=PAPER_MARGINS, concentrations=(1.0, 2.0**16))


@dataclass(frozen=True)
class DirichletMargin(DirichletGrid):
    """The paper's main theorem, corrected.

    Notes
    -----
    ``L_0(theta) <= klinv(q, (D + log(2 sqrt(m) / delta)) / m) + e_out`` for one margin g and all theta
    and K at once, where

    * two classes: ``e_out = tau_K(g/2)``, and a row costs 1 if ``M <= g``, else at most
      ``I_{1/2+g/2}(K (1/2 + g), K (1/2 - g))``;
    * more classes: with ``e = e_out = exp(-(K + 1) g^2 / 2)`` a row costs 1 if ``M <= g``, else at most
      ``(c - 1) e`` if ``W >= 1/2 - g``, else at most ``e``;

    and q is the mean cost.
    """

    id: ClassVar[str] = "dirichlet-margin"
    title: ClassVar[str] = "Dirichlet margin (corrected)"
    references: ClassVar[tuple[str, ...]] = ("biggs2022voting", "marchal2017")

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        margins = np.array(self.margins)
        errors = self.row_errors(ballots, weights, margins)
        constant = math.log(2 * math.sqrt(ballots.n_rows) / self.share(delta))

        def values(K: Floats, chosen: slice | int = slice(None)) -> Floats:
            complexity = (divergences(weights, K, prior) + constant) / ballots.n_rows
            inside, outside = self.penalties(K[:, None], np.atleast_1d(margins[chosen]), ballots.n_outputs)
            share = np.minimum(1, self.mean_cost(errors[:, chosen].reshape(len(errors), -1), inside))
            return kl_inverse_upper(share, np.broadcast_to(complexity[:, None], share.shape)) + outside

        return zoom(values, self.margins, self.concentrations)

    def row_errors(self, ballots: Ballots, weights: Floats, margins: Floats) -> Floats:
        """Shares of rows with M <= g and with W >= 1/2 - g, stacked."""
        by_margin = margin_errors(ballots, weights, margins)
        if ballots.n_outputs == 2:
            return np.stack([by_margin, by_margin])
        wrong = ballots.wrong_weight(weights)
        order = np.argsort(wrong)
        below = np.concatenate(([0], np.cumsum(ballots.counts[order])))
        start = np.searchsorted(wrong[order], 0.5 - margins - MARGIN_SLACK, side="left")
        by_weight = (ballots.n_rows - below[start]) / ballots.n_rows
        return np.stack([by_margin, np.maximum(by_margin, by_weight)])

    def penalties(self, K: Floats, g: Floats, n_outputs: int) -> tuple[list[Floats], Floats]:
        """What a row costs (few right votes, many right votes) and what is added outside, in float64."""
        if n_outputs == 2:
            inside = beta_cdf(0.5 + g / 2, K * (0.5 + g), K * (0.5 - g))
            return [inside, inside], dirichlet_tail(K, g / 2)
        e = np.exp(-(K + 1) * g**2 / 2)
        return [np.minimum(1, (n_outputs - 1) * e), e], e

    @staticmethod
    def mean_cost(errors: Any, inside: Any) -> Any:
        """Mean cost of a row from the two shares of rows and the two costs."""
        return errors[0] + (errors[1] - errors[0]) * inside[0] + (1 - errors[1]) * inside[1]

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        errors = self.row_errors(ballots, weights, np.array([choice["margin"]]))
        return {"margin_error": float(errors[0, 0]), "weight_error": float(errors[1, 0])}

    def exact_penalties(self, ar: Arithmetic, terms: Terms) -> tuple[list[Any], Any]:
        """The penalties of :meth:`penalties` in the given arithmetic, rounded up."""
        K, g = ar.number(terms.choice["concentration"]), ar.number(terms.choice["margin"])
        if terms.n_outputs == 2:
            half = ar.number(0.5)
            inside = ar.beta_cdf_up(half + g / 2, K * (half + g), K * (half - g))
            return [inside, inside], 1 - ar.beta_cdf_down(half + g / 2, K / 2, K / 2)
        e = ar.exp(-(K + 1) * g * g / 2)
        return [min(1, (terms.n_outputs - 1) * e), e], e

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        kl, complexity = dirichlet_complexity(ar, terms, ar.number(terms.delta) / len(self.margins))
        errors = [ar.number(terms.statistics[name]) for name in ("margin_error", "weight_error")]
        inside, outside = self.exact_penalties(ar, terms)
        empirical = min(1, self.mean_cost(errors, inside))
        risk = ar.kl_inverse_upper(empirical, complexity) + outside
        return Value(
            risk, {"kl": kl, "complexity": complexity, "margin_error": errors[0], "penalty": outside}
        )


@dataclass(frozen=True)
class DirichletMarginPublished(DirichletMargin):
    """The paper's main theorem as printed. **Not a guarantee**: its lemma is false.

    Notes
    -----
    ``klinv(Lhat_g + e, (D + log(2 sqrt(m) / delta)) / m) + e`` with ``e = exp(-(K + 1) g^2)``, in exact
    arithmetic. The exponent lacks a factor 1/2 (see the module's notes).
    """

    id: ClassVar[str] = "dirichlet-margin-published"
    title: ClassVar[str] = "Dirichlet margin, as printed (not valid)"
    references: ClassVar[tuple[str, ...]] = ("biggs2022voting",)
    is_guarantee: ClassVar[bool] = False
    caveat: ClassVar[str | None] = (
        "NOT A GUARANTEE: the printed lemma is false (its exponent is too large by a factor of two)."
    )

    def penalties(self, K: Floats, g: Floats, n_outputs: int) -> tuple[list[Floats], Floats]:
        e = np.exp(-(K + 1) * g**2)
        return [e, e], e

    @staticmethod
    def mean_cost(errors: Any, inside: Any) -> Any:
        return errors[0] + inside[0]

    def exact_penalties(self, ar: Arithmetic, terms: Terms) -> tuple[list[Any], Any]:
        K, g = ar.number(terms.choice["concentration"]), ar.number(terms.choice["margin"])
        e = ar.exp(-(K + 1) * g * g)
        return [e, e], e


@dataclass(frozen=True)
class DirichletStochastic(DirichletGrid):
    """The paper's bound for optimisation, corrected.

    Notes
    -----
    ``L_0(theta) <= klinv(mean I_{1/2+g}(K v_y, K (1 - v_y)), (D + log(2 sqrt(m) / delta)) / m) + e`` with
    ``e = tau_K(g)`` for two classes and ``exp(-2 (K + 1) g^2)`` for more.
    """

    id: ClassVar[str] = "dirichlet-stochastic"
    title: ClassVar[str] = "Dirichlet stochastic margin (corrected)"
    references: ClassVar[tuple[str, ...]] = ("biggs2022voting", "marchal2017")
    differentiable: ClassVar[bool] = True

    exponent: ClassVar[float] = 2.0

    def uses_beta_tail(self, n_outputs: int) -> bool:
        """Whether the de-randomisation term is the exact Beta tail."""
        return n_outputs == 2

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        summary = Summary.of(ballots, weights)
        constant = math.log(2 * math.sqrt(ballots.n_rows) / self.share(delta))
        margins = np.array(self.margins)

        def values(K: Floats, chosen: slice | int = slice(None)) -> Floats:
            complexity = (divergences(weights, K, prior) + constant) / ballots.n_rows
            g = np.atleast_1d(margins[chosen])
            loss = summary.sampled_loss(K[:, None], g)
            if self.uses_beta_tail(ballots.n_outputs):
                penalty = dirichlet_tail(K[:, None], g)
            else:
                penalty = np.exp(-self.exponent * (K[:, None] + 1) * g**2)
            return kl_inverse_upper(loss, np.broadcast_to(complexity[:, None], loss.shape)) + penalty

        return zoom(values, self.margins, self.concentrations)

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        K, margin = choice["concentration"], choice["margin"]
        return {"empirical": sampled_margin_loss(ballots, weights, K, margin)}

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        K, g = ar.number(terms.choice["concentration"]), ar.number(terms.choice["margin"])
        kl, complexity = dirichlet_complexity(ar, terms, ar.number(terms.delta) / len(self.margins))
        empirical = ar.number(terms.statistics["empirical"])
        if self.uses_beta_tail(terms.n_outputs):
            penalty = 1 - ar.beta_cdf_down(ar.number(0.5) + g, K / 2, K / 2)
        else:
            penalty = ar.exp(-self.exponent * (K + 1) * g * g)
        risk = ar.kl_inverse_upper(empirical, complexity) + penalty
        return Value(risk, {"kl": kl, "complexity": complexity, "empirical": empirical, "penalty": penalty})

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        K, g = choice["concentration"], choice["margin"]
        inner = sampled_objective(ballots, weights, K, g, self.share(delta), prior)
        if self.uses_beta_tail(ballots.n_outputs):
            cdf, _, d_a, d_b = beta_cdf_gradient(0.5 + g, K / 2, K / 2)
            penalty, slope = 1 - float(cdf), -K / 2 * float(d_a + d_b)
        else:
            penalty = math.exp(-self.exponent * (K + 1) * g**2)
            slope = -self.exponent * K * g**2 * penalty
        return Objective(inner.value + penalty, inner.d_weights, inner.d_log_concentration + slope)


@dataclass(frozen=True)
class DirichletStochasticPublished(DirichletStochastic):
    """The paper's bound for optimisation as printed. **Not a guarantee**: refuted by two voters.

    Notes
    -----
    As :class:`DirichletStochastic` with ``e = exp(-4 (K + 1) g^2)``. With one voter always right, one always
    wrong, equal weights, K = 1000, g = 0.04, m = 10000 and delta = 0.05 it says 0.9986 on every sample,
    while the vote is always wrong.
    """

    id: ClassVar[str] = "dirichlet-stochastic-published"
    title: ClassVar[str] = "Dirichlet stochastic margin, as printed (not valid)"
    references: ClassVar[tuple[str, ...]] = ("biggs2022voting",)
    is_guarantee: ClassVar[bool] = False
    caveat: ClassVar[str | None] = (
        "NOT A GUARANTEE: refuted by two voters, one always right and one always wrong."
    )

    exponent: ClassVar[float] = 4.0

    def uses_beta_tail(self, n_outputs: int) -> bool:
        return False

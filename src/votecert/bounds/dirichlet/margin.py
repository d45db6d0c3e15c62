"""The paper's bounds, as printed and corrected: main theorem, stochastic margin, and factor two.

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
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

import votecert.numerics as nx
from votecert.bounds.base import MARGIN_SLACK, Bound, Choice, Floats, Objective, Statistics, Terms, Value
from votecert.bounds.dirichlet.losses import sampled_margin_loss, sampled_objective
from votecert.bounds.dirichlet.search import (
    CONCENTRATION,
    CONCENTRATIONS,
    best_concentration,
    sampled_losses,
    zoom,
)
from votecert.bounds.kinds import SAMPLED, Real, RowShare
from votecert.bounds.margins import OverMargins, margin_errors
from votecert.bounds.pac_bayes import seeger_constant
from votecert.numerics.arithmetic import Arithmetic
from votecert.rows.ballots import Ballots

Rough = Callable[[Floats, slice], Statistics]
"""From a column of K and the places of some margins to the statistics, for searching."""


def dirichlet_complexity(ar: Arithmetic, terms: Terms, share: Any) -> tuple[Any, Any]:
    """D and ``(D + log(2 sqrt(m) / share)) / m``."""
    alpha: Any = np.multiply.outer(terms.choice["concentration"], terms.weights)
    kl = ar.dirichlet_kl(alpha, terms.dirichlet_prior)
    return kl, (kl + seeger_constant(ar, terms.n_rows, share)) / terms.n_rows


@dataclass(frozen=True)
class FactorTwo(Bound):
    """Factor-two bound of a vote drawn from a Dirichlet distribution.

    Notes
    -----
    ``L_0(theta) <= 2 klinv(mean I_{1/2}(K v_y, K (1 - v_y)), (D + log(2 sqrt(m) / delta)) / m)`` for all
    theta and K at once (Zantedeschi et al., 2021): where the vote errs, a sampled vote errs with
    probability at least 1/2.
    """

    id = "f2"
    title = "Dirichlet factor two"
    references = ("zantedeschi2021",)
    differentiable = True
    posterior = "dirichlet"
    choices = {"concentration": CONCENTRATION}
    statistics = {"empirical": SAMPLED}

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        losses = sampled_losses(ballots, weights)

        def values(K: Floats) -> Floats:
            choice, statistics = {"concentration": K}, {"empirical": losses(K, 0.0)}
            return self.scan(ballots, weights, delta, prior, choice=choice, statistics=statistics)

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
class DirichletOverMargins(OverMargins):
    """A Dirichlet bound for one fixed margin and every K, made uniform over a grid of margins.

    Parameters
    ----------
    margins : tuple of float
        As for :class:`OverMargins`.
    concentrations : tuple of float
        Range in which K is searched. Free of charge: the theorems hold for every K at once.
    """

    concentrations: tuple[float, float] = CONCENTRATIONS

    posterior = "dirichlet"
    choices = {"concentration": CONCENTRATION, "margin": Real(0, 0.5)}

    def in_paper_search(self) -> Self:
        return replace(super().in_paper_search(), concentrations=(1.0, 2.0**16))

    @abstractmethod
    def rough(self, ballots: Ballots, weights: Floats) -> Rough:
        """The statistics of :meth:`measure` at many choices, not rounded."""

    @abstractmethod
    def loss_and_penalty(self, ar: Arithmetic, terms: Terms) -> tuple[Any, Any, dict[str, Any]]:
        """Mean loss and what is added outside, rounded up, and a number worth reading."""

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        margins, rough = np.array(self.margins), self.rough(ballots, weights)

        def values(K: Floats, chosen: slice = slice(None)) -> Floats:
            choice = {"concentration": K[:, None], "margin": margins[chosen]}
            measured = rough(K[:, None], chosen)
            return self.scan(ballots, weights, delta, prior, choice=choice, statistics=measured)

        return zoom(values, self.margins, self.concentrations)

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        kl, complexity = dirichlet_complexity(ar, terms, self.share(ar.number(terms.delta)))
        loss, penalty, shown = self.loss_and_penalty(ar, terms)
        risk = ar.kl_inverse_upper(loss, complexity) + penalty
        return Value(risk, {"kl": kl, "complexity": complexity, **shown, "penalty": penalty})


@dataclass(frozen=True)
class DirichletMargin(DirichletOverMargins):
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

    id = "dirichlet-margin"
    title = "Dirichlet margin (corrected)"
    references: ClassVar[tuple[str, ...]] = ("biggs2022voting", "marchal2017")
    statistics = {"margin_error": RowShare(), "weight_error": RowShare()}

    def check_choice(self, terms: Terms) -> None:
        super().check_choice(terms)
        if terms.statistics["weight_error"] < terms.statistics["margin_error"]:
            raise ValueError("Every row with a small margin has much wrong weight, and not the other way.")

    def rough(self, ballots: Ballots, weights: Floats) -> Rough:
        errors = self.row_errors(ballots, weights, np.array(self.margins))
        return lambda K, chosen: dict(zip(self.statistics, errors[:, chosen], strict=True))

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

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        errors = self.row_errors(ballots, weights, np.array([choice["margin"]]))
        return dict(zip(self.statistics, errors[:, 0].tolist(), strict=True))

    def loss_and_penalty(self, ar: Arithmetic, terms: Terms) -> tuple[Any, Any, dict[str, Any]]:
        K, g = ar.number(terms.choice["concentration"]), ar.number(terms.choice["margin"])
        by_margin, by_weight = (ar.number(terms.statistics[name]) for name in self.statistics)
        if terms.n_outputs == 2:
            half = ar.number(0.5)
            few_right = many_right = ar.beta_cdf_up(half + g / 2, K * (half + g), K * (half - g))
            outside = ar.beta_tail_up(half + g / 2, K / 2, K / 2)
        else:
            e = ar.exp(-(K + 1) * g * g / 2)
            few_right, many_right, outside = np.minimum(1, (terms.n_outputs - 1) * e), e, e
        cost = by_margin + (by_weight - by_margin) * few_right + (1 - by_weight) * many_right
        return cost, outside, {"margin_error": by_margin}


@dataclass(frozen=True)
class DirichletMarginPublished(DirichletMargin):
    """The paper's main theorem as printed. **Not a guarantee**: its lemma is false.

    Notes
    -----
    ``klinv(Lhat_g + e, (D + log(2 sqrt(m) / delta)) / m) + e`` with ``e = exp(-(K + 1) g^2)``, in exact
    arithmetic. The exponent lacks a factor 1/2 (see the module's notes).
    """

    id = "dirichlet-margin-published"
    title = "Dirichlet margin, as printed (not valid)"
    references = ("biggs2022voting",)
    is_guarantee = False
    caveat = "The printed lemma is false: its exponent is too large by a factor of two."

    def loss_and_penalty(self, ar: Arithmetic, terms: Terms) -> tuple[Any, Any, dict[str, Any]]:
        K, g = ar.number(terms.choice["concentration"]), ar.number(terms.choice["margin"])
        error, e = ar.number(terms.statistics["margin_error"]), ar.exp(-(K + 1) * g * g)
        return error + e, e, {"margin_error": error}


@dataclass(frozen=True)
class DirichletStochastic(DirichletOverMargins):
    """The paper's bound for optimisation, corrected.

    Notes
    -----
    ``L_0(theta) <= klinv(mean I_{1/2+g}(K v_y, K (1 - v_y)), (D + log(2 sqrt(m) / delta)) / m) + e`` with
    ``e = tau_K(g)`` for two classes and ``exp(-2 (K + 1) g^2)`` for more.
    """

    id = "dirichlet-stochastic"
    title = "Dirichlet stochastic margin (corrected)"
    references: ClassVar[tuple[str, ...]] = ("biggs2022voting", "marchal2017")
    differentiable = True
    statistics = {"empirical": SAMPLED}

    exponent = 2.0
    beta_tail_for = 2
    """For so many outputs the de-randomisation term is the exact Beta tail."""

    def rough(self, ballots: Ballots, weights: Floats) -> Rough:
        losses, margins = sampled_losses(ballots, weights), np.array(self.margins)
        return lambda K, chosen: {"empirical": losses(K, margins[chosen])}

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        K, margin = choice["concentration"], choice["margin"]
        return {"empirical": sampled_margin_loss(ballots, weights, K, margin)}

    def loss_and_penalty(self, ar: Arithmetic, terms: Terms) -> tuple[Any, Any, dict[str, Any]]:
        K, g = ar.number(terms.choice["concentration"]), ar.number(terms.choice["margin"])
        empirical = ar.number(terms.statistics["empirical"])
        if terms.n_outputs == self.beta_tail_for:
            penalty = ar.beta_tail_up(ar.number(0.5) + g, K / 2, K / 2)
        else:
            penalty = ar.exp(-self.exponent * (K + 1) * g * g)
        return empirical, penalty, {"empirical": empirical}

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        K, g = choice["concentration"], choice["margin"]
        inner = sampled_objective(ballots, weights, K, g, self.share(delta), prior)
        if ballots.n_outputs == self.beta_tail_for:
            cdf, d_x, d_a, d_b = nx.beta_cdf_gradient(0.5 + g, K / 2, K / 2)
            penalty, slope, d_margin = 1 - float(cdf), -K / 2 * float(d_a + d_b), -float(d_x)
        else:
            penalty = math.exp(-self.exponent * (K + 1) * g**2)
            slope = -self.exponent * K * g**2 * penalty
            d_margin = -2 * self.exponent * (K + 1) * g * penalty
        d_log_K, d_margin = inner.d_log_concentration + slope, float(inner.d_margin or 0) + d_margin
        return Objective(inner.value + penalty, inner.d_weights, d_log_K, d_margin)


@dataclass(frozen=True)
class DirichletStochasticPublished(DirichletStochastic):
    """The paper's bound for optimisation as printed. **Not a guarantee**: refuted by two voters.

    Notes
    -----
    As :class:`DirichletStochastic` with ``e = exp(-4 (K + 1) g^2)``. With one voter always right, one always
    wrong, equal weights, K = 1000, g = 0.04, m = 10000 and delta = 0.05 it says 0.9986 on every sample,
    while the vote is always wrong.
    """

    id = "dirichlet-stochastic-published"
    title = "Dirichlet stochastic margin, as printed (not valid)"
    references = ("biggs2022voting",)
    is_guarantee = False
    caveat = "Refuted by two voters, one always right and one always wrong."

    exponent = 4.0
    beta_tail_for = 0

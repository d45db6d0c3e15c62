"""Bounds with the loss of a vote drawn from a Dirichlet distribution: factor two, stochastic margin.

Symbols and the corrected lemma are those of :mod:`votecert.bounds.dirichlet_margin`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from votecert.bounds._concentration import CONCENTRATION, Summary, best_concentration, zoom
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
from votecert.bounds.dirichlet_margin import DirichletOverMargins, dirichlet_complexity, divergences
from votecert.bounds.gibbs import mean_gradient
from votecert.bounds.kinds import SAMPLED, Kind
from votecert.numerics import (
    beta_cdf,
    beta_cdf_gradient,
    dirichlet_kl_gradient,
    dirichlet_tail,
    kl_inverse_upper,
    kl_inverse_upper_gradient,
)
from votecert.numerics.arithmetic import Arithmetic
from votecert.rows.ballots import Ballots


def sampled_margin_loss(ballots: Ballots, weights: Floats, K: float, margin: float) -> float:
    """Mean of ``I_{1/2+g}(K v_y, K (1 - v_y))``, rounded up.

    This bounds the chance that a vote drawn from Dir(K theta) has margin at most g, exactly so for two
    classes.
    """
    right = np.clip(ballots.correct_weight(weights) - MARGIN_SLACK, 0, 1)
    mean = ballots.mean(beta_cdf(0.5 + margin, K * right, K * (1 - right)))
    return min(1.0, mean + 1e-10 * (1 + K / 1e10))


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
    choices: ClassVar[Mapping[str, Kind]] = {"concentration": CONCENTRATION}
    statistics: ClassVar[Mapping[str, Kind]] = {"empirical": SAMPLED}

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
class DirichletStochastic(DirichletOverMargins):
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
    statistics: ClassVar[Mapping[str, Kind]] = {"empirical": SAMPLED}

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
    caveat: ClassVar[str | None] = "Refuted by two voters, one always right and one always wrong."

    exponent: ClassVar[float] = 4.0

    def uses_beta_tail(self, n_outputs: int) -> bool:
        return False

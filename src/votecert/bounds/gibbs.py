"""First-order, second-order and binomial bounds: votes drawn from the categorical weights.

Symbols: theta the weights, pi the prior, Lhat(h_i) the error of voter i on the m rows,
W = 1 - v_y the wrong-vote weight of a row, KLcat the divergence of theta from pi.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import votecert.numerics as nx
from votecert.bounds.base import Bound, Choice, Floats, Objective, Statistics, Terms, Value
from votecert.bounds.kinds import SHARE, Whole, is_whole
from votecert.bounds.pac_bayes import categorical_divergence_gradient, seeger_constant
from votecert.bounds.tallies import JudgesVoters
from votecert.numerics.arithmetic import Arithmetic
from votecert.rows.ballots import Ballots

MOST_DRAWS = 10**6
"""Voters that ``bin`` may draw."""

MEAN_SLACK = 1e-12
"""Covers the rounding of a mean of floats in [0, 1] over the rows."""


def mean_gradient(ballots: Ballots, slopes: Floats) -> Floats:
    """Gradient in the weights of a mean of f(v_y) over the rows, from the slopes f'(v_y)."""
    return ballots.sum_over_correct(ballots.counts * slopes) / ballots.n_rows


def check_moments(gibbs: float, tandem: float) -> None:
    """Raise a ValueError unless there is a wrong-vote weight W with these means of W and W^2."""
    if not gibbs * gibbs - 4 * MEAN_SLACK <= tandem <= gibbs + 4 * MEAN_SLACK:
        raise ValueError(f"No votes have the Gibbs error {gibbs!r} and the tandem error {tandem!r}.")


def rounded_up(mean: float) -> float:
    """A mean of losses in [0, 1], surely not below the true one, however its sum was rounded."""
    return min(1.0, mean + MEAN_SLACK)


@dataclass(frozen=True)
class CategoricalKl(Bound):
    """``factor * klinv(q, (draws * KLcat(theta, pi) + log(2 sqrt(m) / delta)) / m)``.

    The three bounds of this module differ in the loss q, in the number of voters drawn for it and in
    the factor that the de-randomisation costs.
    """

    posterior = "categorical"
    differentiable = True
    factor: ClassVar[int]
    statistics = {"empirical": SHARE, "rows": Whole(0, "n_rows")}

    @property
    @abstractmethod
    def draws(self) -> int:
        """How many voters the sampled vote has."""

    @abstractmethod
    def loss(self, ballots: Ballots, weights: Floats) -> tuple[float, Floats]:
        """Mean sampled loss and its gradient in the weights."""

    def rows_behind(self, ballots: Ballots) -> int:
        """The smallest number of rows that any part of the loss is a mean over."""
        return ballots.n_rows

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        return {"empirical": rounded_up(self.loss(ballots, weights)[0]), "rows": self.rows_behind(ballots)}

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        kl = ar.categorical_kl(terms.weights, terms.categorical_prior)
        m = terms.statistics["rows"]
        if m == 0:
            return Value(ar.number(1), {"kl": kl})
        complexity = (self.draws * kl + seeger_constant(ar, m, terms.delta)) / m
        empirical = ar.number(terms.statistics["empirical"])
        risk = self.factor * ar.kl_inverse_upper(empirical, complexity)
        return Value(risk, {"kl": kl, "complexity": complexity, "empirical": empirical})

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        m = self.rows_behind(ballots)
        if m == 0:
            return Objective(1.0, np.zeros(ballots.n_voters))
        kl, d_kl = categorical_divergence_gradient(weights, prior)
        loss, d_loss = self.loss(ballots, weights)
        complexity = (self.draws * kl + np.log(2 * np.sqrt(m) / delta)) / m
        value, d_q, d_c = nx.kl_inverse_upper_gradient(loss, complexity)
        gradient = d_q * d_loss + d_c * self.draws / m * d_kl
        return Objective(self.factor * float(value), self.factor * gradient)


@dataclass(frozen=True)
class FirstOrder(JudgesVoters, CategoricalKl):
    """First-order bound: twice the PAC-Bayes-kl bound of one voter drawn from the weights.

    Parameters
    ----------
    out_of_bag : bool, default=False
        See :class:`~votecert.bounds.tallies.JudgesVoters`.

    Notes
    -----
    ``L_0(theta) <= 2 klinv(sum_i theta_i Lhat(h_i), (KLcat(theta, pi) + log(2 sqrt(m) / delta)) / m)``
    for all theta at once. If the vote errs then the wrong voters have weight at least 1/2, so the
    Gibbs error is at least half of the vote's error (Langford and Shawe-Taylor, 2003).

    Examples
    --------
    >>> import numpy as np
    >>> from votecert.rows.ballots import Ballots
    >>> votes = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]] * 100)
    >>> ballots = Ballots.from_votes(votes, [0, 1, 0, 1] * 100)
    >>> FirstOrder().evaluate(ballots, np.array([0.4, 0.4, 0.2]), delta=0.05).risk < 0.4
    True
    """

    id = "fo"
    title = "First order"
    references = ("langford2003", "maurer2004")
    draws = 1
    factor = 2

    def rows_behind(self, ballots: Ballots) -> int:
        return self.voters(ballots).voter_rows

    def loss(self, ballots: Ballots, weights: Floats) -> tuple[float, Floats]:
        voters = self.voters(ballots)
        return voters.gibbs_error(weights), voters.errors


@dataclass(frozen=True)
class SecondOrder(JudgesVoters, CategoricalKl):
    """Second-order bound: four times the PAC-Bayes-kl bound of the tandem loss.

    Parameters
    ----------
    out_of_bag : bool, default=False
        See :class:`~votecert.bounds.tallies.JudgesVoters`.

    Notes
    -----
    ``L_0(theta) <= 4 klinv(theta' T theta, (2 KLcat(theta, pi) + log(2 sqrt(m) / delta)) / m)`` with
    ``T_ij`` the share of rows on which voters i and j are both wrong (Masegosa et al., 2020): where the
    vote errs, W >= 1/2 and so W^2 >= 1/4.
    """

    id = "so"
    title = "Second order (tandem)"
    references = ("masegosa2020",)
    draws = 2
    factor = 4

    def rows_behind(self, ballots: Ballots) -> int:
        return self.voters(ballots).pair_rows

    def loss(self, ballots: Ballots, weights: Floats) -> tuple[float, Floats]:
        voters = self.voters(ballots)
        return voters.tandem_error(weights), 2 * voters.tandem_with(weights)


@dataclass(frozen=True)
class Binomial(CategoricalKl):
    """Binomial bound: N voters drawn from the weights, wrong when at least half of them are.

    Parameters
    ----------
    n_draws : int, default=100
        N, fixed without looking at the rows.

    Notes
    -----
    ``L_0(theta) <= 2 klinv(mean P(Bin(N, W) >= N/2), (N KLcat(theta, pi) + log(2 sqrt(m) / delta)) / m)``
    (Lacasse et al., 2010). If the vote errs then W >= 1/2, so at least half of the draws are wrong with
    probability at least 1/2; ties among the draws must count as errors for this to be true.
    """

    n_draws: int = 100

    def __post_init__(self) -> None:
        if not is_whole(self.n_draws) or not 1 <= self.n_draws <= MOST_DRAWS:
            raise ValueError(f"n_draws must be a whole number from 1 to {MOST_DRAWS}, not {self.n_draws!r}.")

    def check_choice(self, terms: Terms) -> None:
        if terms.statistics["rows"] != terms.n_rows:
            raise ValueError(f"The loss is a mean over {terms.n_rows} rows, not {terms.statistics['rows']}.")

    id = "bin"
    title = "Binomial"
    references = ("lacasse2010",)
    factor = 2

    @property
    def draws(self) -> int:
        return self.n_draws

    def loss(self, ballots: Ballots, weights: Floats) -> tuple[float, Floats]:
        wrong = np.clip(ballots.wrong_weight(weights), 0, 1)  # weights sum to one up to rounding
        half = -(-self.n_draws // 2)
        tail = nx.binomial_tail(self.n_draws, half, wrong)
        slope = nx.binomial_tail_slope(self.n_draws, half, wrong)
        return ballots.mean(tail), -mean_gradient(ballots, slope)

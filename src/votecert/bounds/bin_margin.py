"""Binomial margin bound: T voters drawn from the weights, lost when k0 of them are wrong.

Symbols: theta the weights, pi the prior, W the wrong-vote weight of a row, KLcat the divergence of theta from
pi, T the number of draws, k0 the number of wrong draws that make the sampled vote lose the row.

**Theorem.** With probability at least 1 - delta, for all theta and all n pairs (T, k0) of a fixed grid,

    ``L_0(theta) <= Delta_m^{-1}(mean P(Bin(T, W) >= k0), (T KLcat + log(n / delta)) / m) / p``

with ``p = P(Bin(T, w) >= k0)``, where ``Delta_m^{-1}`` inverts the mixture inequality (or kl with Maurer's
constant) and w is the least wrong-vote weight of a row on which theta errs.

*Proof.* T independent draws from theta have the divergence T KLcat from T draws from pi. If theta errs on a
row then the weight of the true class is a sum of some weights that is at most 1/2; so ``W >= w >= 1/2``,
whatever the number of classes, and the sampled vote loses the row with probability at least p. Hence p times
the risk of theta is at most the risk of the sampled vote. The grid is a union bound.

With ``k0 = T/2`` this is the binomial bound with a factor better than two; a smaller k0 is a margin. Zero
weights cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, log, sqrt

import numpy as np

import votecert.numerics as nx
from votecert.bounds._subset_sums import learned_win, smallest_winning_weight
from votecert.bounds.base import MARGIN_SLACK, Choice, Floats, Objective, Statistics, Terms, Value
from votecert.bounds.dirichlet.losses import RowVotes, merged
from votecert.bounds.dirichlet.search import sketch
from votecert.bounds.gibbs import mean_gradient
from votecert.bounds.kinds import SAMPLED, Whole
from votecert.bounds.pac_bayes import (
    Inequality,
    TakesInequality,
    categorical_divergence_gradient,
    grid_ledger,
)
from votecert.numerics.arithmetic import Arithmetic
from votecert.rows.ballots import Ballots

MOST_DRAWS = 10**6
"""Voters that may be drawn: with more, forty digits take minutes."""


@dataclass(frozen=True)
class BinMargin(TakesInequality):
    """Binomial margin bound: the best when there are many voters and few rows.

    Parameters
    ----------
    draws : tuple of int
        Numbers T of voters that are drawn.
    offsets : tuple of float
        Margins: ``k0`` is T/2 minus so many standard deviations of the number of wrong draws, rounded up.
        Each pair (T, k0) with k0 >= 1 gets an equal share of delta.
    inequality : {"mixture", "kl"}
        PAC-Bayes inequality: the mixture of Catoni terms and kl, or kl alone with Maurer's constant.

    Notes
    -----
    See the module for the theorem and its proof. The default grid was chosen on votes of forests and stumps:
    finer ones lose more by their price than they gain.

    Examples
    --------
    >>> import numpy as np
    >>> from votecert.rows.ballots import Ballots
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> votes = np.where(rng.random((300, 50)) < 0.8, y[:, None], 1 - y[:, None])
    >>> found = BinMargin().evaluate(Ballots.from_votes(votes, y), np.full(50, 1 / 50), delta=0.05)
    >>> found.terms.choice["draws"] > 10, found.risk < 0.05
    (True, True)
    """

    draws: tuple[int, ...] = tuple(3**power for power in range(10))
    offsets: tuple[float, ...] = (1.0, 2.0)
    inequality: Inequality = "mixture"

    id = "bin-margin"
    title = "Binomial margin"
    references = ("lacasse2010", "leblanc2025")
    differentiable = True
    in_best = True
    posterior = "categorical"
    choices = {"draws": Whole(1, MOST_DRAWS), "threshold": Whole(1)}
    statistics = {"empirical": SAMPLED}

    def __post_init__(self) -> None:
        object.__setattr__(self, "draws", tuple(int(T) for T in self.draws))
        object.__setattr__(self, "offsets", tuple(float(offset) for offset in self.offsets))
        possible = all(1 <= T <= MOST_DRAWS for T in self.draws) and all(0 <= x < inf for x in self.offsets)
        if not possible or not self.grid:
            raise ValueError(
                f"draws must be from 1 to {MOST_DRAWS}, offsets zero or more, and some k0 at least 1."
            )
        self.check_inequality()

    @cached_property
    def grid(self) -> tuple[tuple[int, int], ...]:
        """The pairs (T, k0), fixed by the options alone."""
        pairs = {(T, ceil(T / 2 - offset * sqrt(T) / 2)) for T in self.draws for offset in self.offsets}
        return tuple(sorted((T, k0) for T, k0 in pairs if k0 >= 1))

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        rows = sketch(RowVotes.right_or_wrong(ballots, weights))
        T, k0 = (column[:, None] for column in np.array(self.grid).T)
        losses = np.minimum(1, nx.binomial_tail(T, k0, np.clip(1 - rows.right, 0, 1)) @ rows.share)
        choices = {"draws": T[:, 0], "threshold": k0[:, 0]}
        values = self.scan(ballots, weights, delta, prior, choice=choices, statistics={"empirical": losses})
        draws, threshold = self.grid[int(np.argmin(values))]
        return {"draws": draws, "threshold": threshold}

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        T = choice["draws"]
        votes = RowVotes.right_or_wrong(ballots, weights)
        right, share = merged(votes.right, votes.share)
        losses = nx.binomial_tail(T, choice["threshold"], np.clip(1 - right + MARGIN_SLACK, 0, 1))
        return {"empirical": min(1.0, float(share @ losses) + 1e-10 * (1 + T / 1e10))}

    def check_choice(self, terms: Terms) -> None:
        if (terms.choice["draws"], terms.choice["threshold"]) not in self.grid:
            raise ValueError("The number of draws and the threshold are not in the grid.")

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        m, T, k0 = terms.n_rows, terms.choice["draws"], terms.choice["threshold"]
        kl = ar.categorical_kl(terms.weights, terms.categorical_prior)
        complexity = (T * kl + ar.log(len(self.grid)) + ar.log(1 / ar.number(terms.delta))) / m
        empirical = ar.number(terms.statistics["empirical"])
        sampled = self.sampled_risk(ar, empirical, complexity, m)
        shared = ar.binomial_tail_down(T, k0, ar.number(smallest_winning_weight(terms.weights, 2)))
        details = {"kl": kl, "complexity": complexity, "empirical": empirical}
        return Value(sampled / shared, details | {"sampled_risk": sampled, "error_chance": shared})

    def ledger(self, terms: Terms) -> dict[str, float]:
        chosen = f"{terms.choice['draws']} draws, {terms.choice['threshold']} wrong"
        return grid_ledger(chosen, terms.delta, len(self.grid), "pairs of the grid")

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        m, T, k0 = ballots.n_rows, choice["draws"], choice["threshold"]
        wrong = np.clip(1 - ballots.correct_weight(weights), 0, 1)
        loss = min(1.0, ballots.mean(nx.binomial_tail(T, k0, wrong)))
        d_loss = -mean_gradient(ballots, nx.binomial_tail_slope(T, k0, wrong))
        kl, d_kl = categorical_divergence_gradient(weights, prior)
        complexity = (T * kl + log(len(self.grid) / delta)) / m
        sampled, d_sampled, d_complexity = self.sampled_risk_gradient(loss, complexity, m)
        least, d_least = learned_win(weights, 2)
        shared = float(nx.binomial_tail(T, k0, least))
        gradient = d_sampled * d_loss + d_complexity * T / m * d_kl
        gradient -= sampled / shared * float(nx.binomial_tail_slope(T, k0, least)) * d_least
        return Objective(sampled / shared, gradient / shared)

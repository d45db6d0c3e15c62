"""How often voters, and pairs of voters, are wrong, and on how many rows that was counted.

Usually every voter is judged on all rows. Out of bag it is judged on the rows that it was not fitted on, and
a pair on the rows that neither was fitted on; there a missing vote means "fitted on this row".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from votecert.bounds.base import Bound, Floats, Terms
from votecert.rows.ballots import Ballots
from votecert.rows.patterns import BoolArray, IntArray
from votecert.rows.vote_sums import pair_counts, voter_counts

BAGS = (
    "Each voter was fitted on its own bag of these rows; bags were drawn without looking at them, and "
    "nothing was tuned on them."
)


@dataclass(frozen=True, eq=False)
class Tallies:
    """Errors of voters and pairs as shares of the rows, the same rows for all.

    Examples
    --------
    >>> tallies = Tallies(Ballots.from_votes([[0, 1], [1, 1], [0, 0], [1, 0]], [0, 1, 0, 0]))
    >>> tallies.errors, tallies.tandem[0, 1], tallies.voter_rows
    (array([0.25, 0.25]), np.float64(0.0), 4)
    """

    ballots: Ballots

    @property
    def n_voters(self) -> int:
        """Number of voters d."""
        return self.ballots.n_voters

    @cached_property
    def errors(self) -> Floats:
        """Share of its rows that each voter gets wrong, (d,)."""
        return np.asarray(self.ballots.voter_errors() / self.ballots.n_rows)

    @cached_property
    def tandem(self) -> Floats:
        """Share of its rows that both voters of a pair get wrong, (d, d)."""
        return np.asarray(self.ballots.tandem_counts() / self.ballots.n_rows)

    @property
    def pair_errors(self) -> Floats:
        """Share of the rows of pair (i, j) that voter i gets wrong, (d, d)."""
        return np.broadcast_to(self.errors[:, None], (self.n_voters, self.n_voters))

    @property
    def rows_of_pairs(self) -> IntArray:
        """Number of rows that each pair is judged on, (d, d) or broadcast to it."""
        return np.full((1, 1), self.ballots.n_rows)

    @property
    def voter_rows(self) -> int:
        """The smallest number of rows that any voter is judged on."""
        return self.ballots.n_rows

    @property
    def pair_rows(self) -> int:
        """The smallest number of rows that any pair is judged on."""
        return int(self.rows_of_pairs.min())

    @cached_property
    def outcome_products(self) -> Floats:
        """For each pair, products of the shares of its rows with different outcomes, (3, d, d).

        Outcomes are: both are wrong, one is, none is; the products are both * one, one * none and
        both * none, times n / (n - 1) for n rows. A loss with the values a, b, c for these outcomes has the
        unbiased sample variance ``(a-b)^2 P_0 + (b-c)^2 P_1 + (a-c)^2 P_2``: nothing cancels.
        """
        wrong = self.pair_errors
        one = np.maximum(0.0, wrong + wrong.T - 2 * self.tandem)
        none = np.maximum(0.0, 1 - wrong - wrong.T + self.tandem)
        unbiased = self.rows_of_pairs / np.maximum(1, self.rows_of_pairs - 1)
        return np.stack([self.tandem * one, one * none, self.tandem * none]) * unbiased

    def gibbs_error(self, weights: Floats) -> float:
        """Error of a voter drawn from the weights."""
        return min(1.0, float(weights @ self.errors))

    def tandem_error(self, weights: Floats) -> float:
        """Probability that two voters drawn independently from the weights are both wrong."""
        return min(1.0, float(weights @ self.tandem_with(weights)))

    def tandem_with(self, weights: Floats) -> Floats:
        """For each voter, the probability that it and one drawn from the weights are both wrong, (d,)."""
        ballots = self.ballots
        if ballots.n_patterns >= self.n_voters:
            return np.asarray(self.tandem @ weights)
        # The table of pairs costs patterns * d^2, the rows patterns * d.
        wrong = ballots.counts * ballots.wrong_weight(weights)
        return np.asarray((wrong.sum() - ballots.sum_over_correct(wrong)) / ballots.n_rows)


@dataclass(frozen=True, eq=False)
class OutOfBagTallies(Tallies):
    """Errors of voters and pairs on the rows that they were not fitted on; 1 where there are none.

    Examples
    --------
    >>> tallies = OutOfBagTallies(Ballots.from_votes([[0, None], [None, 1], [0, 0], [1, 1]], [1, 1, 0, 0]))
    >>> tallies.errors, tallies.tandem[0, 1]
    (array([0.66666667, 0.33333333]), np.float64(0.5))
    >>> tallies.voter_rows, tallies.pair_rows
    (3, 2)
    """

    @cached_property
    def _rows_of_voters(self) -> IntArray:
        return voter_counts(self._is_judged, self.ballots.counts, self.n_voters)

    @cached_property
    def rows_of_pairs(self) -> IntArray:
        return pair_counts(self._is_judged, self.ballots.counts, self.n_voters)

    @cached_property
    def errors(self) -> Floats:
        return _shares(voter_counts(self._is_wrong, self.ballots.counts, self.n_voters), self._rows_of_voters)

    @cached_property
    def tandem(self) -> Floats:
        return _shares(pair_counts(self._is_wrong, self.ballots.counts, self.n_voters), self.rows_of_pairs)

    @cached_property
    def pair_errors(self) -> Floats:
        everything = slice(None)
        wrong = self._is_wrong(everything).astype(np.float64) * self.ballots.counts[:, None]
        return _shares(wrong.T @ self._is_judged(everything).astype(np.float64), self.rows_of_pairs)

    @property
    def voter_rows(self) -> int:
        return int(self._rows_of_voters.min())

    def tandem_with(self, weights: Floats) -> Floats:
        return np.asarray(self.tandem @ weights)

    def _is_judged(self, rows: slice) -> BoolArray:
        return np.asarray(self.ballots.codes[rows] != self.ballots.n_classes)

    def _is_wrong(self, rows: slice) -> BoolArray:
        truth = self.ballots.labels[rows, None].astype(self.ballots.codes.dtype)
        return np.asarray((self.ballots.codes[rows] != truth) & self._is_judged(rows))


@dataclass(frozen=True)
class PairSums:
    """What the mean and the variance of the mu-tandem loss are made of at given weights, for every mu.

    These are the slopes of each part in the weights, along the simplex; the parts are quadratic, so they are
    half of the slopes times the weights. All products with the tables of pairs, which may be large, are made
    once.
    """

    weights: Floats
    d_both: Floats
    d_one: Floats
    d_products: Floats

    @classmethod
    def of(cls, voters: Tallies, weights: Floats) -> Self:
        products = np.stack([table @ weights for table in voters.outcome_products])
        wrong = voters.pair_errors
        one = wrong @ weights + weights @ wrong
        return cls(weights, 2 * voters.tandem_with(weights), one, 2 * products)

    def at(self, mu: float) -> tuple[float, float]:
        """The mu-tandem loss and its unbiased sample variance, averaged over pairs drawn from the weights."""
        both, one = (float(slopes @ self.weights) / 2 for slopes in (self.d_both, self.d_one))
        products = self.d_products @ self.weights / 2
        return both - 2 * mu * one + mu**2, float(squared_gaps(mu) @ products)

    def slopes(self, mu: float) -> tuple[Floats, Floats]:
        """Gradients of :meth:`at` in the weights."""
        return self.d_both - 2 * mu * self.d_one, squared_gaps(mu) @ self.d_products


def squared_gaps(mu: float) -> Floats:
    """Squared differences of (1-mu)^2, -mu(1-mu) and mu^2: the losses of two, one and no wrong voter."""
    return np.array([(1 - mu) ** 2, mu**2, (1 - 2 * mu) ** 2])


@dataclass(frozen=True)
class JudgesVoters(Bound):
    """A bound on the errors of single voters or of pairs: it may count them out of bag.

    Parameters
    ----------
    out_of_bag : bool, default=False
        A missing vote says that the voter was fitted on this row, so each voter is judged on its other rows
        and each pair on the rows that neither was fitted on. Not for voters that abstain.

    Notes
    -----
    If each voter was fitted on a bag of the rows, drawn without looking at them, then the other rows are new
    to it. The bounds hold with errors counted on these, for m the smallest number of rows that any voter (or
    pair) was judged on. Their proofs rest on moments of the form ``E exp(n f) <= A_n`` for n rows, and for
    m <= n Jensen's inequality gives ``E exp(m f) <= A_n^(m/n) <= A_m``: for the kl bounds
    ``A_n = 2 sqrt(n)``, for Bennett's ``A_n = 1``. Losses of many votes at a time have no such rows. See
    :func:`votecert.certify_oob`.

    References
    ----------
    S. S. Lorenzen, C. Igel, Y. Seldin. On PAC-Bayesian bounds for random forests. Machine Learning 108, 2019
    (single voters).

    A. R. Masegosa, S. S. Lorenzen, C. Igel, Y. Seldin. Second order PAC-Bayesian bounds for the weighted
    majority vote. NeurIPS 2020 (pairs).
    """

    out_of_bag: bool = field(default=False, kw_only=True)

    def out_of_bag_variant(self) -> Self:
        return replace(self, out_of_bag=True)

    def cited(self) -> tuple[str, ...]:
        return (*self.references, "lorenzen2019") if self.out_of_bag else self.references

    def voters(self, rows: Ballots | Tallies) -> Tallies:
        """The tallies of ballots; tallies as they are, so that iterating on them counts only once."""
        if isinstance(rows, Tallies):
            return rows
        return rows.derived(OutOfBagTallies if self.out_of_bag else Tallies)

    def check_choice(self, terms: Terms) -> None:
        super().check_choice(terms)
        counted = {name: terms.statistics[name] for name in ("rows", "pair_rows") if name in terms.statistics}
        if not self.out_of_bag and any(rows != terms.n_rows for rows in counted.values()):
            raise ValueError(f"Voters are judged on all {terms.n_rows} rows unless it is out of bag.")

    def assumptions(self) -> list[str]:
        return [BAGS] if self.out_of_bag else []

    def why_vacuous(self, terms: Terms, details: Mapping[str, float]) -> str:
        if self.out_of_bag and terms.statistics.get("pair_rows", terms.statistics.get("rows")) == 0:
            return (
                "Some voter, or some pair of voters, has no out-of-bag rows: use smaller bags or more rows."
            )
        return super().why_vacuous(terms, details)


def _shares(counts: Floats | IntArray, rows: IntArray) -> Floats:
    return np.where(rows > 0, counts / np.maximum(rows, 1), 1.0)

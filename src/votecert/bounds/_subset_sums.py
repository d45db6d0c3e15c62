"""Sums of some of the weights: which class votes are possible at all.

Every class vote is the sum of the weights of some voters. When the vote errs, the true class has at most
half of the weight, hence at most the largest subset sum not above one half. With few voters, or with few
different weights, that is visibly less than one half (for five equal weights it is 2/5), and every bound
that divides by "how often a sampled vote errs when the vote does" profits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from votecert.bounds.base import MARGIN_SLACK, Bound, Floats, Indices, Terms
from votecert.rows.ballots import Ballots

FEW_VOTERS = 8
"""Up to so many voters, learning minds which sums of weights are possible."""

MOST_SUMS = 2**12
"""Sums listed on each side: two dozen different weights. With more of them hardly a gap below 1/2 is left."""


def largest_subset(weights: ArrayLike, limit: float) -> NDArray[np.bool_] | None:
    """Return which weights make up the largest sum that is not above ``limit``.

    Sums up to ``limit + 1e-12`` count as not above it, because weights that are equal on paper differ by
    rounding. With too many different weights to list the sums, the answer is None.

    Notes
    -----
    Meet in the middle (Horowitz and Sahni, 1974): equal weights form groups, the groups are dealt to two
    sides, the sums of either side are listed, and for every sum of the one side the best partner on the other
    is looked up.

    Examples
    --------
    >>> largest_subset([0.6, 0.3, 0.1], 0.5)
    array([False,  True,  True])
    """
    values, group_of, copies = np.unique(
        np.asarray(weights, dtype=np.float64), return_inverse=True, return_counts=True
    )
    groups = _dealt(copies)
    if groups is None:
        return None
    left, right = (_sums(values[side], copies[side]) for side in groups)
    order = np.argsort(right, kind="stable")
    room = limit + MARGIN_SLACK - left
    fits = np.flatnonzero(room >= 0)  # the empty sum is on the right side
    partner = order[np.searchsorted(right[order], room[fits], side="right") - 1]
    best = int(np.argmax(left[fits] + right[partner]))
    used = np.zeros(len(values), dtype=np.intp)
    for side, chosen in zip(groups, (fits[best], partner[best]), strict=True):
        used[side] = np.unravel_index(chosen, tuple(copies[side] + 1))
    rank = np.empty(len(group_of), dtype=np.intp)
    by_group = np.argsort(group_of, kind="stable")
    rank[by_group] = np.arange(len(by_group)) - np.repeat(np.cumsum(copies) - copies, copies)
    return np.asarray(rank < used[group_of])


def closest_win(weights: Floats, n_outputs: int) -> tuple[float, Floats]:
    """Return the least weight that a class with most of the votes can have, and its slopes in the weights.

    It is a sum of some weights, at least ``1 / n_outputs``, and at least the largest weight, whose voter
    votes for something. For two outputs it is one minus the largest sum not above one half. With too many
    different weights to list the sums, ``1 / n_outputs`` stands for the least of them.

    Examples
    --------
    >>> closest_win(np.array([0.6, 0.3, 0.1]), 2)
    (0.6, array([1., 0., 0.]))
    """
    least, slopes = smooth_win(weights, n_outputs)
    losers = largest_subset(weights, 1 - 1 / n_outputs)
    if losers is not None and (possible := float(weights[~losers].sum())) > least:
        return possible, (~losers).astype(np.float64)
    return least, slopes


def smooth_win(weights: Floats, n_outputs: int) -> tuple[float, Floats]:
    """Return a lower bound on :func:`closest_win` that does not ask which sums are possible, with slopes.

    With many voters the possible sums lie so close together that a learner that follows the closest one
    follows noise.

    Examples
    --------
    >>> smooth_win(np.array([0.4, 0.3, 0.3]), 2)
    (0.5, array([0., 0., 0.]))
    """
    slopes = np.zeros(len(weights))
    heaviest = int(np.argmax(weights))
    if weights[heaviest] <= 1 / n_outputs:
        return 1 / n_outputs, slopes
    slopes[heaviest] = 1
    return float(weights[heaviest]), slopes


def learned_win(weights: Floats, n_outputs: int) -> tuple[float, Floats]:
    """Return the weight and the slopes that learning follows: :func:`closest_win` for few voters only."""
    return (closest_win if len(weights) <= FEW_VOTERS else smooth_win)(weights, n_outputs)


def smallest_winning_weight(weights: ArrayLike, n_outputs: int) -> float:
    """Return the weight of :func:`closest_win`, rounded down.

    Examples
    --------
    >>> round(smallest_winning_weight([0.2, 0.2, 0.2, 0.2, 0.2], 3), 9)
    0.4
    """
    return closest_win(np.asarray(weights, dtype=np.float64), n_outputs)[0] - 2 * MARGIN_SLACK


class TakesComplements(Bound):
    """A bound with the option ``complements``: pairs of voters of which at most one is right on any row."""

    complements: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "complements", tuple((int(i), int(j)) for i, j in self.complements))
        voters = [voter for pair in self.complements for voter in pair]
        if len(set(voters)) != len(voters):  # its weight would be lost twice, where it is lost once
            raise ValueError("A voter can have one complement only.")

    def most_right_weight(self, weights: ArrayLike) -> float:
        """The largest weight of the true class on any row, rounded up.

        Of the two voters of a complementary pair at most one is right, whatever the row, so the heavier one
        counts; all other voters may be right together. No voter is in two pairs.

        Examples
        --------
        >>> from votecert.bounds.partition import Partition
        >>> round(Partition(complements=((0, 1),)).most_right_weight([0.4, 0.2, 0.4]), 9)
        0.8
        """
        theta = np.asarray(weights, dtype=np.float64)
        lost = sum(min(theta[i], theta[j]) for i, j in self.complements)
        return min(1.0, float(1 - lost) + MARGIN_SLACK)

    def _are_voters(self, n_voters: int) -> bool:
        return all(0 <= voter < n_voters for pair in self.complements for voter in pair)

    def problem_with(self, ballots: Ballots) -> str | None:
        problem = super().problem_with(ballots)
        if problem or not self.complements:
            return problem
        if not self._are_voters(ballots.n_voters):
            return f"complements must be pairs of places from 0 to {ballots.n_voters - 1}."
        errors, both_wrong = ballots.voter_errors(), ballots.tandem_counts()
        for i, j in self.complements:
            if both_right := int(ballots.n_rows - errors[i] - errors[j] + both_wrong[i, j]):
                return (
                    f"Voters {i} and {j} are declared complements, but both are right on {both_right} rows."
                )
        return None

    def check_choice(self, terms: Terms) -> None:
        super().check_choice(terms)
        if not self._are_voters(terms.n_voters):
            raise ValueError("The complements are not voters.")

    def assumptions(self) -> list[str]:
        return [COMPLEMENTS] if self.complements else []


COMPLEMENTS = "Of the two voters of each declared pair of complements at most one is right, whatever the row."


def _dealt(copies: Indices) -> tuple[Indices, Indices] | None:
    """Deal groups of equal weights to two sides with few sums each; None when there are too many."""
    sides: tuple[list[int], list[int]] = ([], [])
    sums = [1, 1]
    for group in np.argsort(-copies, kind="stable"):
        smaller = int(sums[1] < sums[0])
        sides[smaller].append(int(group))
        sums[smaller] *= int(copies[group]) + 1
        if sums[smaller] > MOST_SUMS:
            return None
    return np.array(sides[0], dtype=np.intp), np.array(sides[1], dtype=np.intp)


def _sums(values: Floats, copies: Indices) -> Floats:
    """All sums of some of the weights, the number of copies of the last one running fastest."""
    sums = np.zeros(1)
    for value, number in zip(values, copies, strict=True):
        sums = np.add.outer(sums, value * np.arange(number + 1)).ravel()
    return sums

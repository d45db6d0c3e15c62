"""Sums of some of the weights: which class votes are possible at all.

Every class vote is the sum of the weights of some voters. When the vote errs, the true class has at most
half of the weight, hence at most the largest subset sum not above one half. With few voters, or with few
different weights, that is visibly less than one half (for five equal weights it is 2/5), and every bound
that divides by "how often a sampled vote errs when the vote does" profits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from votecert.bounds.base import MARGIN_SLACK, Floats

MOST_SUMS = 2**15
"""Sums listed on each side of the meeting in the middle: thirty different weights."""


def largest_subset_sum(weights: ArrayLike, limit: float) -> float:
    """Return the largest sum of some of the weights that is not above ``limit``, rounded up.

    Sums up to ``limit + 1e-12`` count as not above it, because weights that are equal on paper differ by
    rounding. With too many different weights to list the sums, the answer is ``limit`` itself.

    Notes
    -----
    Meet in the middle (Horowitz and Sahni, 1974): equal weights form groups, the groups are dealt to two
    sides, the sums of either side are listed, and for every sum of the one side the best partner on the other
    is looked up.

    Examples
    --------
    >>> round(largest_subset_sum([0.2, 0.2, 0.2, 0.2, 0.2], 0.5), 9)
    0.4
    >>> round(largest_subset_sum([0.6, 0.3, 0.1], 0.5), 9)
    0.4
    """
    values, copies = np.unique(np.asarray(weights, dtype=np.float64), return_counts=True)
    sides = _two_sides(values, copies)
    if sides is None:
        return limit
    left, right = (np.sort(side) for side in sides)
    room = limit + MARGIN_SLACK - left
    fits = room >= 0  # the empty sum is on the right side
    partner = np.searchsorted(right, room[fits], side="right") - 1
    return min(limit, float(np.max(left[fits] + right[partner])) + MARGIN_SLACK)


def smallest_winning_weight(weights: ArrayLike, n_outputs: int) -> float:
    """Return the least weight that a class with most of the votes can have, rounded down.

    It is a subset sum, at least ``1 / n_outputs``, and at least the largest weight, whose voter votes for
    something. For two outputs it is one minus the largest subset sum not above one half.

    Examples
    --------
    >>> round(smallest_winning_weight([0.2, 0.2, 0.2, 0.2, 0.2], 3), 9)
    0.4
    """
    even = 1 - largest_subset_sum(weights, 1 - 1 / n_outputs)
    return min(1.0, max(even, float(np.max(weights))) - MARGIN_SLACK)


def most_right_weight(weights: ArrayLike, complements: Sequence[Sequence[int]]) -> float:
    """Return the largest weight of the true class on any row, rounded up.

    Of the two voters of a complementary pair exactly one is right on every row, whatever the row, so the
    better-off one counts; all other voters may be right together.

    Examples
    --------
    >>> round(most_right_weight([0.4, 0.2, 0.4], [(0, 1)]), 9)
    0.8
    """
    theta = np.asarray(weights, dtype=np.float64)
    lost = sum(min(theta[i], theta[j]) for i, j in complements)
    return min(1.0, float(1 - lost) + MARGIN_SLACK)


def _two_sides(values: Floats, copies: NDArray[np.intp]) -> tuple[Floats, Floats] | None:
    """Deal the groups of equal weights to two sides and list the sums of each; None when too many."""
    sides = [np.zeros(1), np.zeros(1)]
    for index in np.argsort(-copies, kind="stable"):
        smaller = int(len(sides[1]) < len(sides[0]))
        multiples = values[index] * np.arange(copies[index] + 1)
        if len(sides[smaller]) * len(multiples) > MOST_SUMS:
            return None
        sides[smaller] = np.add.outer(sides[smaller], multiples).ravel()
    return sides[0], sides[1]

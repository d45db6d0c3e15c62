"""Where the search for whole-number votes starts: simple votes, and real weights scaled and rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement, takewhile

import numpy as np

from votecert.bounds.base import Floats
from votecert.learning._error_counter import ErrorCounter
from votecert.rows.patterns import IntArray

LARGEST_TOTAL = 100
"""Weights are rounded to 1, 2, ... so many votes in all."""

_MOST_VOTES = 4_000  # votes that are enumerated at most
_COUNTED = 20_000_000  # votes times rows times classes that are counted at most


def simple_votes(counter: ErrorCounter) -> IntArray:
    """Everybody once, with each tie-break, outvoted by each class, and the best voter alone."""
    d, c = counter.n_voters, counter.n_classes
    everybody = np.concatenate([np.ones(d, dtype=np.int64), np.zeros(c, dtype=np.int64)])
    constants = np.eye(c, d + c, k=d, dtype=np.int64)
    best = np.eye(d, d + c, dtype=np.int64)[np.argmin(counter.voter_errors())]
    return np.stack([everybody, *(everybody + constants), *(everybody + (d + 1) * constants), best])


def rounded_votes(weights: Sequence[Floats], n_voters: int, largest: int = LARGEST_TOTAL) -> IntArray:
    """Every different rounding of weights (of length d + c) to whole numbers, smallest first.

    Examples
    --------
    >>> rounded_votes([np.array([0.5, 0.3, 0.2])], n_voters=3, largest=6).tolist()
    [[1, 1, 0], [2, 1, 1], [2, 2, 1], [3, 2, 1]]
    """
    found: dict[bytes, IntArray] = {}
    for weight in weights:
        total = float(weight.sum())
        if not weight[:n_voters].any():
            continue
        for n_votes in range(1, largest + 1):
            votes = np.rint(weight / total * n_votes).astype(np.int64)
            if votes[:n_voters].any():
                votes //= np.gcd.reduce(votes)
                found.setdefault(votes.tobytes(), votes)
    return np.array([*found.values()], dtype=np.int64).reshape(-1, len(weights[0]))


def all_votes(counter: ErrorCounter) -> IntArray:
    """All votes of N = 1, 2, ... in all without constants, as far as they can be counted in no time."""
    d, c = counter.n_voters, counter.n_classes
    most = min(_MOST_VOTES, _COUNTED // (counter.n_rows * c))
    totals = [*takewhile(lambda total: math.comb(total + d, d) <= most, range(1, LARGEST_TOTAL + 1))]
    if len(totals) < 2:  # single voters alone are not worth it: the best one is a simple vote
        return np.zeros((0, d + c), dtype=np.int64)
    votes = np.concatenate([_ways_to_share(total, d) for total in totals])
    return np.pad(votes, ((0, 0), (0, c)))


def _ways_to_share(total: int, n_voters: int) -> IntArray:
    """All ways to share out votes among voters that are not a multiple of smaller ones."""
    chosen = np.array([*combinations_with_replacement(range(n_voters), total)])
    votes = np.count_nonzero(chosen[:, :, None] == np.arange(n_voters), axis=1)
    return np.asarray(votes[np.gcd.reduce(votes, axis=1) == 1])


def log_odds_weights(counter: ErrorCounter) -> Floats:
    """Weights ``log((1 - e)(c - 1)/e)`` of voters with error rates e, none below zero, and no constants.

    One error and one right vote are added to each voter's record, so that every weight is finite. These are
    the best weights when voters err independently of each other, and need few rows to be found.
    """
    c = counter.n_classes
    cast = counter.votes_cast()
    wrong = counter.voter_errors() - (counter.n_rows - cast)
    rate = (wrong + 1) / (cast + 2)
    weights = np.maximum(0.0, np.log((1 - rate) * max(c - 1, 1) / rate))
    return np.concatenate([weights, np.zeros(c)])

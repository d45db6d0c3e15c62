"""Whole numbers of votes near real weights: given weights are certified rounded."""

from __future__ import annotations

import numpy as np

from votecert._types import IntArray
from votecert.bounds.base import Floats

TOTALS = (*range(1, 17), 20, 25, 32, 40, 50, 64, 80, 100)
"""Given weights are rounded to so many votes in all, whichever is best."""

MOST_FOR_ONE = 8
"""They are also rounded such that the largest gets 1, 2, ... so many votes: there may be many voters."""

_EXACT_UP_TO = 1000  # weights that are multiples of 1/N for an N up to here are not rounded


def roundings(weights: Floats) -> list[IntArray]:
    """Different whole-number votes near real weights; the weights themselves if they are simple fractions.

    Examples
    --------
    >>> [votes.tolist() for votes in roundings(np.array([0.5, 0.25, 0.25]))]
    [[1, 0, 0], [2, 1, 1], ...
    """
    found: dict[bytes, IntArray] = {}
    of_the_largest = [votes / weights.max() for votes in range(1, MOST_FOR_ONE + 1)]
    for scale in (*TOTALS, *_exact_total(weights), *of_the_largest):
        votes = np.rint(weights * scale).astype(np.int64)
        if votes.any():
            votes //= np.gcd.reduce(votes)
            found.setdefault(votes.tobytes(), votes)
    return [*found.values()]


def _exact_total(weights: Floats) -> list[int]:
    """The smallest N for which the weights are multiples of 1/N, if there is one."""
    totals = np.arange(1, _EXACT_UP_TO + 1)
    for block in np.array_split(totals, 20):
        scaled = block[:, None] * weights
        fits = (np.abs(scaled - np.rint(scaled)) < 1e-9).all(axis=1)
        if fits.any():
            return [int(block[fits.argmax()])]
    return []

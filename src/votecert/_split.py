"""Two parts of the rows, drawn row by row without a look at the data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SPLIT = 0.25
"""Share of the rows that is drawn by default."""

_NUMBERS_AT_ONCE = 1 << 18


def in_fitting_part(n_rows: int, split: float, seed: int, *, start: int = 0) -> npt.NDArray[np.bool_]:
    """Which rows belong to the fitting part: row i does when the i-th number of PCG64(seed) is below split.

    Parameters
    ----------
    n_rows : int
        Number of rows asked for.
    split : float
        Share of the rows that is drawn, in expectation.
    seed : int
        Seed of the generator.
    start : int, default=0
        Position of the first row asked for: a block of rows is drawn just like in one piece with the others.

    Examples
    --------
    >>> in_fitting_part(8, 0.25, seed=0).tolist()
    [False, False, True, True, False, False, False, False]
    >>> in_fitting_part(6, 0.25, seed=0, start=2).tolist()
    [True, True, False, False, False, False]
    """
    numbers = np.random.Generator(np.random.PCG64(seed).advance(start))
    chosen = np.empty(n_rows, dtype=bool)
    for first in range(0, n_rows, _NUMBERS_AT_ONCE):  # eight bytes a number would be the largest thing around
        block = chosen[first : first + _NUMBERS_AT_ONCE]
        np.less(numbers.random(len(block)), split, out=block)
    return chosen

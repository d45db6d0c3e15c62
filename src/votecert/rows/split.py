"""Parts of the rows: two that are drawn row by row without a look at the data, and any that is picked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from votecert._types import BoolArray, Indices, IntArray
from votecert.rows.tables import refuse_other_shape

SpawnKey: TypeAlias = tuple[int, ...]

SPLIT = 0.25
"""Share of the rows that is drawn of rows whose number is not known in advance."""

STREAM = (8_051_957,)
"""Key of the random numbers that split rows, which nobody else draws. Rows that were made, or shuffled, with
``numpy.random.default_rng(seed)`` would else be split by the very numbers that made them: not at random."""

STREAM_OF_0_1: SpawnKey = ()
"""The key in version 0.1, whose numbers were those of ``default_rng``: for its certificates."""

_NUMBERS_AT_ONCE = 1 << 18


def in_fitting_part(
    n_rows: int, split: float, seed: int, *, start: int = 0, stream: SpawnKey = STREAM
) -> BoolArray:
    """Which rows belong to the fitting part: row i does when the i-th number of a stream is below split.

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
    stream : tuple of int
        Key of the stream: the numbers are those of PCG64 with ``SeedSequence(seed, spawn_key=stream)``.

    Examples
    --------
    >>> in_fitting_part(6, 0.5, seed=7).tolist()
    [False, False, True, False, False, True]
    >>> in_fitting_part(4, 0.5, seed=7, start=2).tolist()
    [True, False, False, True]
    """
    generator = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=stream))
    numbers = np.random.Generator(generator.advance(start))
    chosen = np.empty(n_rows, dtype=bool)
    for first in range(0, n_rows, _NUMBERS_AT_ONCE):  # eight bytes a number would be the largest thing around
        block = chosen[first : first + _NUMBERS_AT_ONCE]
        np.less(numbers.random(len(block)), split, out=block)
    return chosen


def default_looks(n_rows: int, n_voters: int, n_classes: int | None) -> tuple[float, ...]:
    """Shares of the rows after which a fit may stop, by what is known before they are looked at.

    Parameters
    ----------
    n_rows, n_voters : int
    n_classes : int or None
        The number of declared classes; None if they were not declared.

    Examples
    --------
    >>> default_looks(100, 20, 2), default_looks(500, 100, 2), default_looks(5000, 100, 2)
    ((0.25,), (0.25, 0.35, 0.5), (0.35,))
    """
    many = n_voters * ((n_classes or 2) - 1)
    if n_rows < 150 or many < 30:
        return (SPLIT,)
    if n_rows < 2000:
        return (SPLIT, 0.35, 0.5)
    return (0.35,) if many >= 80 else (0.3,)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The fitting part of rows that are gone: how it was drawn, and its rows of each pattern."""

    split: float
    seed: int
    counts: IntArray

    def refuse_other(self, split: float, seed: int, stream: SpawnKey = STREAM) -> None:
        """Rows that are gone cannot be drawn again."""
        if stream != STREAM:
            raise ValueError("A certificate of version 0.1 is verified with rows in memory, not in blocks.")
        if (split, seed) != (self.split, self.seed):
            raise ValueError(
                f"These rows were read with split={self.split!r} and seed={self.seed!r} and are gone: they "
                f"cannot be split with split={split!r} and random_state={seed!r}. Pass the same to both."
            )


def checked_rows(rows: ArrayLike, n_rows: int) -> Indices:
    """Row indices from a mask or from indices; a row listed twice would pass as new evidence: refused."""
    chosen = np.asarray(rows)
    if chosen.dtype.kind == "b":
        refuse_other_shape(chosen, n_rows, "The mask", "entry a row")
        chosen = np.flatnonzero(chosen)
    if not chosen.size:
        raise ValueError("The subset has no rows.")
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1:
        raise TypeError("rows must be a mask of bools or a list of row indices.")
    if chosen.min() < 0 or chosen.max() >= n_rows:
        raise IndexError(f"Row indices must be from 0 to {n_rows - 1}.")
    if np.bincount(chosen).max() > 1:
        raise ValueError("A row is listed twice: a subset has each row once.")
    return chosen

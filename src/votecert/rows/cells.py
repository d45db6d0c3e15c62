"""Cells of a text as places in it, and their numbers without a Python object for each.

A column of a long table has millions of cells and few different ones. Cells of up to 64 bytes are compared as
words of eight bytes, all rows at once; only a cell that was not met lately passes through Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from votecert._types import AnyArray, BoolArray, Indices, IntArray, Words
from votecert.rows.patterns import HALF, MIXER

WORDS = 8
"""Longer cells than so many words pass through Python, one by one."""

PADDING = b"\0" * 8 * (WORDS + 1)
"""What has to follow a text, so that words may be read beyond its end."""

_FEWEST_BITS, _MOST_BITS = 13, 20  # of the places in the cache
_MASKS = np.array([(1 << 8 * n_bytes) - 1 for n_bytes in range(9)], dtype=np.uint64)


class Cells(NamedTuple):
    """A column of a text without zero bytes.

    Attributes
    ----------
    text : bytes
        With :data:`PADDING` at its end.
    starts, lengths : arrays of integers
        Where each cell is.
    """

    text: bytes
    starts: Indices
    lengths: Indices

    def __len__(self) -> int:
        return len(self.starts)

    def entries(self, rows: Indices) -> list[bytes]:
        """Some of the cells."""
        starts = self.starts[rows]
        stops = starts + self.lengths[rows]
        return [self.text[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]

    def words(self, n_words: int) -> Words:
        """The cells as words, (n_words, cells): the same for equal cells only."""
        window: AnyArray = np.ndarray(len(self.text) - 7, dtype="<u8", buffer=self.text, strides=(1,))
        words = np.empty((n_words, len(self.starts)), dtype=np.uint64)
        for place in range(n_words):
            kept = np.minimum(np.maximum(self.lengths - 8 * place, 0), 8)
            np.bitwise_and(window[self.starts + 8 * place], _MASKS.take(kept), out=words[place])
        return words


class CellCache:
    """Numbers of cells met before, each at one place that its words determine.

    An empty cell has the number 0.

    Examples
    --------
    >>> text = b"cat,dog,,cat"
    >>> cells = Cells(text + PADDING, np.array([0, 4, 8, 9]), np.array([3, 3, 0, 3]))
    >>> CellCache().numbers(cells, {b"cat": 1, b"dog": 2}.__getitem__).tolist()
    [1, 2, 0, 1]
    """

    def __init__(self) -> None:
        self._empty(1, _FEWEST_BITS)

    def _empty(self, n_words: int, bits: int) -> None:
        self._bits, self._n_taken = bits, 0
        self._words = np.zeros((n_words, 1 << bits), dtype=np.uint64)
        self._numbers = np.zeros(1 << bits, dtype=np.int64)

    def numbers(self, cells: Cells, number_of: Callable[[bytes], int]) -> IntArray:
        """The numbers of cells; ``number_of`` gives those of cells that are not known."""
        longest = int(cells.lengths.max(initial=1))
        if longest > 8 * WORDS:
            every = np.arange(len(cells))
            return np.fromiter(map(number_of, cells.entries(every)), np.int64, count=len(every))
        n_words = max(len(self._words), -(-longest // 8))
        if self._n_taken > 1 << self._bits - 3 and self._bits < _MOST_BITS:
            self._empty(n_words, min(self._bits + 3, _MOST_BITS))  # what is asked for again, comes back
        elif n_words > len(self._words):
            self._empty(n_words, self._bits)
        words = cells.words(n_words)
        places = _places(words, self._bits)
        numbers = self._numbers.take(places)
        unknown = np.flatnonzero(_differ(self._words.take(places, axis=1), words))
        if len(unknown):
            # equal cells often follow each other: only the first of a run is asked for
            is_new = np.ones(len(unknown), dtype=bool)
            asked = words.take(unknown, axis=1)
            is_new[1:] = _differ(asked[:, 1:], asked[:, :-1])
            first = unknown[is_new]
            found = np.fromiter(map(number_of, cells.entries(first)), np.int64, count=len(first))
            numbers[unknown] = found[np.cumsum(is_new) - 1]
            taken, kept = np.unique(places[first], return_index=True)  # one cell a place
            self._words[:, taken] = words[:, first[kept]]
            self._n_taken += int(np.count_nonzero(self._numbers[taken] == 0))
            self._numbers[taken] = found[kept]
        return numbers


def _differ(some: Words, others: Words) -> BoolArray:
    """Which cells differ in some word."""
    found: BoolArray = some[0] != others[0]
    for one, other in zip(some[1:], others[1:], strict=True):
        found |= one != other
    return found


def _places(words: Words, bits: int) -> Indices:
    mixed: Words = words[0]
    for word in words[1:]:
        mixed = (mixed ^ (mixed >> HALF)) * MIXER ^ word
    places: Indices = (((mixed ^ (mixed >> HALF)) * MIXER) >> np.uint64(64 - bits)).astype(np.intp)
    return places

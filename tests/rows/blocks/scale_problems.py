"""Problems that are read in every way there is, and the ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from votecert.rows.ballots import Ballots
from votecert.rows.blocks import read_ballots


@dataclass(frozen=True)
class Problem:
    """Votes with true labels, and where they are cut into blocks."""

    votes: np.ndarray
    y: np.ndarray
    cuts: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        edges = (0, *self.cuts, len(self.y))
        for start, end in pairwise(edges):
            yield self.votes[start:end], self.y[start:end]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(y) for _, y in self.blocks())

    def in_memory(self) -> Ballots:
        return Ballots.from_votes(self.votes, self.y, compress=True, **self.options)


def drawn(seed: int, m: int, d: int, c: int, accuracy: float = 0.75) -> tuple[np.ndarray, np.ndarray]:
    """Votes of independent voters."""
    rng = np.random.default_rng(seed)
    y = rng.integers(c, size=m)
    other = (y[:, None] + rng.integers(1, max(c, 2), (m, d))) % c
    return np.where(rng.random((m, d)) < accuracy, y[:, None], other), y


def _strings() -> Problem:
    votes, y = drawn(3, 900, 6, 3)
    names = np.array(["cat", "dog", "emu"])
    return Problem(names[votes], names[y], (100, 101, 500))


def _abstentions() -> Problem:
    votes, y = drawn(4, 1000, 5, 2)
    with_holes = votes.astype(float)
    with_holes[600:, 2] = np.nan  # the first blocks do not know that voters abstain
    return Problem(with_holes, y, (250, 600, 601))


def _late_labels() -> Problem:
    votes, y = drawn(5, 1200, 7, 2)
    late, late_y = drawn(6, 300, 7, 9)  # more bits a vote are needed from here on
    return Problem(np.concatenate([votes, late - 4]), np.concatenate([y, late_y - 4]), (400, 1200, 1300))


def _one_label_a_block() -> Problem:
    votes, y = drawn(7, 600, 3, 2, accuracy=1.0)
    order = np.argsort(y, kind="stable")
    return Problem(votes[order], y[order], (10, int((y == 0).sum())))


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "binary, uneven and empty blocks": lambda: Problem(*drawn(0, 1003, 5, 2), (0, 7, 7, 500, 1003, 1003)),
    "many voters": lambda: Problem(*drawn(1, 800, 70, 2), (300, 799)),
    "declared classes in another order": lambda: Problem(
        *drawn(2, 700, 6, 3), (333,), {"classes": [2, 0, 1, 5], "can_abstain": True}
    ),
    "strings": _strings,
    "abstentions": _abstentions,
    "labels that come late": _late_labels,
    "bools": lambda: Problem(*(a.astype(bool) for a in drawn(8, 500, 4, 2)), (64, 128)),
    "one label in a block": _one_label_a_block,
    "one block": lambda: Problem(*drawn(9, 41, 3, 2), ()),
}


def read_in_one_chunk_each(problem: Problem, **options: Any) -> Ballots:
    """By Dask arrays that are chunked like the blocks, columns too."""
    import dask.array as da

    votes = da.from_array(problem.votes, chunks=(problem.sizes, 2))
    y = da.from_array(problem.y, chunks=(problem.sizes,))
    return read_ballots(votes, y, **problem.options, **options)


def read_without_sizes(problem: Problem, **options: Any) -> Ballots:
    """By Dask arrays whose chunk sizes are not known."""
    import dask
    import dask.array as da

    d = problem.votes.shape[1]
    parts = [(dask.delayed(votes), dask.delayed(y)) for votes, y in problem.blocks()]
    votes = [da.from_delayed(part, (np.nan, d), problem.votes.dtype) for part, _ in parts]
    y = [da.from_delayed(part, (np.nan,), problem.y.dtype) for _, part in parts]
    return read_ballots(
        da.concatenate(votes, allow_unknown_chunksizes=True),
        da.concatenate(y, allow_unknown_chunksizes=True),
        **problem.options,
        **options,
    )


def read_iterator(problem: Problem, **options: Any) -> Ballots:
    """By an iterator of blocks."""
    return read_ballots(problem.blocks(), **problem.options, **options)


WAYS = {"iterator": read_iterator, "chunks": read_in_one_chunk_each, "unknown": read_without_sizes}

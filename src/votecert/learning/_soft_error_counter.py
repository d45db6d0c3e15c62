"""Counting the errors of many soft votes: see :mod:`votecert.learning._error_counter`.

A tally is the (rows, c) array of totals. A tie is always an error, so a row is wrong exactly where the
margin, the total of the true class less the largest of the others, is not clearly above zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from votecert.bounds.base import Floats
from votecert.rows.patterns import IntArray, row_blocks
from votecert.rows.scores import TIED, Scores, soft_totals


@dataclass(eq=False)
class SoftErrorCounter:
    """Rows of class scores, (rows, d + c, c): of the voters, then of the constants."""

    values: npt.NDArray[np.floating[Any]]
    labels: npt.NDArray[np.intp]

    def __post_init__(self) -> None:
        self.n_rows, self.n_columns, self.n_classes = self.values.shape
        self.n_voters = self.n_columns - self.n_classes
        self.column_of = np.arange(self.n_columns)
        self._reach = (self.values.max(axis=2) - self.values.min(axis=2)).max(axis=1)

    @property
    def counts(self) -> IntArray:
        """Every row counts once."""
        return np.ones(self.n_rows, dtype=np.int64)

    def tally(self, votes: IntArray) -> Floats:
        return soft_totals(self.values, votes)

    def errors(self, tally: Floats) -> int:
        return int(np.count_nonzero(self._wrong(tally, self.labels)))

    def moved(self, tally: Floats, who: int, step: int) -> Floats:
        moved: Floats = tally + step * self.values[:, who].astype(np.float64)
        return moved

    def errors_after(self, tally: Floats, steps: Sequence[int]) -> IntArray:
        clear = np.abs(_margins(tally, self.labels)) - TIED * np.abs(tally).max(axis=1)
        near = np.flatnonzero(clear <= max(map(abs, steps)) * (1 + TIED) * self._reach)
        far = self.errors(tally) - int(np.count_nonzero(self._wrong(tally[near], self.labels[near])))
        errors = np.full((len(steps), self.n_columns), far, dtype=np.int64)
        for block in row_blocks(len(near), self.values[0].size):
            rows = near[block]
            values = self.values[rows].astype(np.float64)
            for place, step in enumerate(steps):
                totals = tally[rows, None] + step * values
                errors[place] += np.count_nonzero(self._wrong(totals, self.labels[rows]), axis=0)
        return errors

    def errors_of_many(self, candidates: IntArray) -> IntArray:
        errors = np.zeros(len(candidates), dtype=np.int64)
        weights = candidates.astype(np.float64)
        for rows in row_blocks(self.n_rows, max(len(candidates), self.n_columns) * self.n_classes):
            totals = np.matmul(weights, self.values[rows].astype(np.float64))
            errors += np.count_nonzero(self._wrong(totals, self.labels[rows]), axis=0)
        return errors

    def voter_errors(self) -> IntArray:
        """Rows each voter gets wrong, (d,)."""
        errors = np.zeros(self.n_voters, dtype=np.int64)
        for rows in row_blocks(self.n_rows, self.values[0].size):
            wrong = self._wrong(self.values[rows, : self.n_voters], self.labels[rows])
            errors += np.count_nonzero(wrong, axis=0)
        return errors

    def part(self, most_entries: int) -> SoftErrorCounter:
        """The counter of the first rows, which are in no order; of all if they are few enough."""
        kept = max(1, most_entries // self.values[0].size)
        return self if kept >= self.n_rows else SoftErrorCounter(self.values[:kept], self.labels[:kept])

    def votes_cast(self) -> IntArray:
        """Rows each voter votes on: all of them."""
        return np.full(self.n_voters, self.n_rows)

    def by_voter(self, weights: Floats) -> Floats:
        """Weights of the columns as weights of voters and constants: the same here."""
        return weights.copy()

    def _wrong(self, totals: npt.NDArray[Any], labels: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """Whether each vote is wrong, for totals (rows, ..., c)."""
        wrong: npt.NDArray[np.bool_] = _margins(totals, labels) <= TIED * np.abs(totals).max(axis=-1)
        return wrong


def _margins(totals: npt.NDArray[Any], labels: npt.NDArray[np.intp]) -> Floats:
    """Total of the true class less the largest of the others, for totals (rows, ..., c)."""
    c = totals.shape[-1]
    is_true = (np.arange(c) == labels[:, None]).reshape(len(labels), *(1,) * (totals.ndim - 2), c)
    rival = np.where(is_true, -np.inf, totals).max(axis=-1)
    return np.asarray(np.where(is_true, totals, 0).sum(axis=-1) - rival)


def soft_error_counter(scores: Scores, most_entries: int) -> SoftErrorCounter:
    """The counter of these rows, or of some of them; constants give their own class 1 and the others 0."""
    d, c = scores.n_voters, scores.n_classes
    order = content_order(scores)[: max(1, most_entries // ((d + c) * c))]
    constants = np.broadcast_to(np.eye(c, dtype=scores.values.dtype), (len(order), c, c))
    return SoftErrorCounter(np.concatenate([scores.values[order], constants], axis=1), scores.labels[order])


def content_order(scores: Scores) -> npt.NDArray[np.intp]:
    """An order of the rows that depends on their contents only, and looks random."""
    rng = np.random.default_rng(0)
    totals = soft_totals(scores.values, rng.integers(1, 1000, scores.n_voters))
    mixed = (totals * rng.random(scores.n_classes)).sum(axis=1) + scores.labels
    return np.argsort(np.modf(mixed * 1e4)[0], kind="stable")

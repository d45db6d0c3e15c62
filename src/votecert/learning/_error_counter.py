"""Counting the errors of many whole-number votes at once: what the discrete search spends its time on.

An error counter holds rows with true labels and a set of *columns*: the d voters, then one constant voter a
class. Voters that vote alike on all of these rows share a column, which is only arithmetic: every voter
keeps its own number of votes. A *tally* is what has to be kept of one vote, of length d + c, to tell quickly
how many rows it would get wrong if some column had a few votes more or less. All counters have

* ``tally(votes)``, the tally of a vote, and ``moved(tally, who, step)``, that after one got more votes;
* ``errors(tally)``, and ``errors_after(tally, steps)`` after each step of each voter or constant;
* ``errors_of_many(candidates)``, ``voter_errors()`` of each voter alone and ``votes_cast()`` by each;
* ``by_voter(weights)``, weights of voters and constants from those of the columns.

Symbols: c classes, q columns, u = 2 (votes right - votes wrong) + 1 if a tie is right, - 1 if it is wrong:
two classes err where u < 0, and u is odd, so there are no ties left to think about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from votecert.bounds.base import Floats
from votecert.learning._soft_error_counter import SoftErrorCounter, soft_error_counter
from votecert.rows.patterns import BoolArray, Codes, IntArray, content_sample, row_blocks, unique_rows
from votecert.rows.read import Rows
from votecert.rows.scores import Scores
from votecert.rows.vote_sums import voter_counts

Indices = npt.NDArray[np.intp]
Tally = Any

EVERYTHING = 1 << 62
"""More entries than there can be."""

_FLOAT32_EXACT = 1 << 24  # whole numbers up to here are exact in float32
_NO_RIVAL = np.iinfo(np.int64).min  # key of a class that does not stand


@dataclass(eq=False)
class HardErrorCounter:
    """Rows of class codes: what two and more classes have in common."""

    codes: Codes
    labels: Indices
    counts: IntArray
    n_classes: int
    column_of: Indices
    silent: int = -1  # the class that a row gets on which nobody votes; -1 is always wrong

    def __post_init__(self) -> None:
        self.n_rows = int(self.counts.sum())
        self.n_voters = len(self.column_of) - self.n_classes
        self._float = np.float32 if self.n_rows < _FLOAT32_EXACT else np.float64

    @property
    def n_columns(self) -> int:
        """Number of different columns q."""
        return int(self.codes.shape[1])

    def voter_errors(self) -> IntArray:
        """Rows each voter gets wrong or abstains on, (d,)."""
        labels = self.labels[:, None].astype(self.codes.dtype)
        return self._per_voter(lambda rows: self.codes[rows] != labels[rows])

    def votes_cast(self) -> IntArray:
        """Rows each voter votes on, (d,)."""
        return self._per_voter(lambda rows: self.codes[rows] < self.n_classes)

    def part(self, most_entries: int) -> Self:
        """The counter of some of these rows, chosen by their contents; of all if they are few enough."""
        if self.codes.size <= most_entries:
            return self
        rows = (self.codes, self.labels, self.counts)
        kept = content_sample([rows], max(1, most_entries // self.n_columns))
        return type(self)(*kept, self.n_classes, self.column_of, self.silent)

    def _per_voter(self, happens: Callable[[slice], BoolArray]) -> IntArray:
        """On how many rows something happens to each voter."""
        return voter_counts(happens, self.counts, self.n_columns)[self.column_of[: self.n_voters]]

    def weighed(self, happens: BoolArray, rows: slice) -> IntArray:
        """On how many rows each event happens, one event a column, for a block of the rows."""
        return _whole(self.counts[rows].astype(self._float) @ happens.astype(self._float))

    def by_voter(self, weights: Floats) -> Floats:
        """Give the weight of each column to one voter, or constant if there is one, that votes like it."""
        one_of = np.empty(self.n_columns, dtype=np.intp)
        everyone = np.arange(len(self.column_of))
        one_of[self.column_of[::-1]] = everyone[::-1]  # the last one written stays: the first voter
        one_of[self.column_of[self.n_voters :]] = everyone[self.n_voters :]
        spread = np.zeros(len(everyone))
        spread[one_of] = weights
        return spread

    def by_column(self, votes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Votes of each column, from those of the voters and constants (last axis)."""
        merged = np.zeros((self.n_columns, *votes.shape[:-1]), dtype=votes.dtype)
        np.add.at(merged, self.column_of, np.moveaxis(votes, -1, 0))
        return np.moveaxis(merged, 0, -1)


class BinaryErrorCounter(HardErrorCounter):
    """Two classes, no abstentions: a tally is the array u."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.right = self.codes == self.labels[:, None].astype(self.codes.dtype)
        self.tie = np.where(self.labels == 0, 1, -1)

    def tally(self, votes: IntArray) -> IntArray:
        by_column = self.by_column(votes)
        right = np.zeros(len(self.labels), dtype=np.int64)
        for column in np.flatnonzero(by_column):
            right += by_column[column] * self.right[:, column]
        return 4 * right - 2 * int(by_column.sum()) + self.tie

    def errors(self, tally: IntArray) -> int:
        return int(self.counts[tally < 0].sum())

    def moved(self, tally: IntArray, who: int, step: int) -> IntArray:
        return tally + np.where(self.right[:, self.column_of[who]], 2 * step, -2 * step)

    def errors_after(self, tally: IntArray, steps: Sequence[int]) -> IntArray:
        near = np.flatnonzero(np.abs(tally) < 2 * max(map(abs, steps)))
        u, counts = tally[near], self.counts[near]
        step = 2 * np.array(steps)[:, None]
        if_right, if_wrong = (u + step < 0) * counts, (u - step < 0) * counts
        change = (if_right - if_wrong).astype(self._float) @ self.right[near].astype(self._float)
        far = self.errors(tally) - int(counts[u < 0].sum())
        errors = far + if_wrong.sum(axis=1)[:, None] + _whole(change)
        return np.asarray(errors[:, self.column_of])

    def errors_after_pairs(self, tally: IntArray, steps: tuple[int, int], who: Indices) -> IntArray:
        """Errors after ``steps[0]`` for one of ``who`` and ``steps[1]`` for another, of all pairs at once.

        With x, y in {0, 1} for "the voter is right", the error indicator of a row is
        ``f00 + (f10 - f00) x + (f01 - f00) y + (f11 - f10 - f01 + f00) x y``: one matrix product.
        """
        a, b = 2 * steps[0], 2 * steps[1]
        near = np.flatnonzero(np.abs(tally) < abs(a) + abs(b))
        u, counts = tally[near], self.counts[near]
        far = self.errors(tally) - int(counts[u < 0].sum())
        f00, f10, f01, f11 = (
            (u + x * a + y * b < 0) * counts for x, y in ((-1, -1), (1, -1), (-1, 1), (1, 1))
        )
        only_x, only_y, both = (f.astype(self._float) for f in (f10 - f00, f01 - f00, f11 - f10 - f01 + f00))
        right = self.right[np.ix_(near, self.column_of[who])].astype(self._float)
        change = (right * both[:, None]).T @ right + (only_x @ right)[:, None] + only_y @ right
        return far + int(f00.sum()) + _whole(change)

    def errors_of_many(self, candidates: IntArray) -> IntArray:
        by_column = self.by_column(candidates)
        weights = by_column.T.astype(self._float)
        half = by_column.sum(axis=1)
        errors = np.zeros(len(candidates), dtype=np.int64)
        for rows in row_blocks(len(self.labels), max(self.n_columns, len(candidates))):
            totals = self.right[rows].astype(self._float) @ weights
            wrong = 4 * totals - 2 * half + self.tie[rows, None] < 0
            errors += self.weighed(wrong, rows)
        return errors


class MulticlassErrorCounter(HardErrorCounter):
    """More classes, or abstentions: a tally is the (c, rows) array of vote totals.

    Totals are compared as ``key = c * total + (c - 1 - class)``: the largest key wins, and a tie goes to the
    smallest class. A row without any vote goes to ``silent``.
    """

    def tally(self, votes: IntArray) -> IntArray:
        by_column = self.by_column(votes)
        totals = np.zeros((self.n_classes + 1, len(self.labels)), dtype=np.int64)  # the last: abstentions
        rows = np.arange(len(self.labels))
        for column in np.flatnonzero(by_column):
            totals[self.codes[:, column], rows] += by_column[column]
        return totals[:-1]

    def errors(self, tally: IntArray) -> int:
        return int(self.counts[self._wrong(tally)].sum())

    def _wrong(self, tally: IntArray) -> BoolArray:
        keys = self._keys(tally)
        true = keys[self.labels, np.arange(len(self.labels))]
        wrong: BoolArray = keys.max(axis=0) > true
        return np.where(tally.max(axis=0) == 0, self.labels != self.silent, wrong)

    def _keys(self, tally: IntArray) -> IntArray:
        return self.n_classes * tally + np.arange(self.n_classes)[::-1, None]

    def moved(self, tally: IntArray, who: int, step: int) -> IntArray:
        totals = tally.copy()
        codes = self.codes[:, self.column_of[who]]
        rows = np.flatnonzero(codes < self.n_classes)
        totals[codes[rows], rows] += step
        return totals

    def errors_after(self, tally: IntArray, steps: Sequence[int]) -> IntArray:
        now = self._wrong(tally)
        rivals = self._rivals(self._keys(tally))
        errors = np.empty((len(steps), self.n_columns), dtype=np.int64)
        for place, step in enumerate(steps):
            after = self._wrong_after(tally, rivals, step)
            near = np.flatnonzero((after != now).any(axis=0))
            effect = np.zeros((len(near), self.n_classes + 1), dtype=np.int64)  # the last: abstentions
            effect[:, :-1] = (after[:, near].astype(np.int64) - now[near]).T * self.counts[near, None]
            errors[place] = np.take_along_axis(effect, self.codes[near].astype(np.intp), axis=1).sum(axis=0)
        return (self.errors(tally) + errors)[:, self.column_of]

    def _rivals(self, keys: IntArray) -> tuple[IntArray, ...]:
        """Key of the true class, of its best rival, and of the best rival without each class in turn."""
        rows = np.arange(len(self.labels))
        true = keys[self.labels, rows]
        others = keys.copy()
        others[self.labels, rows] = _NO_RIVAL
        best = others.max(axis=0)
        is_best = others == best
        others[is_best] = _NO_RIVAL
        return true, best, np.where(is_best, others.max(axis=0), best)

    def _wrong_after(self, tally: IntArray, rivals: tuple[IntArray, ...], step: int) -> BoolArray:
        """Whether each row would be wrong, were there ``step`` more votes for a class, (c, rows)."""
        true, best, without = rivals
        added = self.n_classes * step
        wrong: BoolArray = np.maximum(self._keys(tally) + added, without) > true
        wrong[self.labels, np.arange(len(self.labels))] = best > true + added
        nobody = tally.sum(axis=0) + step == 0
        wrong[:, nobody] = self.labels[nobody] != self.silent
        return wrong

    def errors_of_many(self, candidates: IntArray) -> IntArray:
        weights = self.by_column(candidates).T.astype(self._float)
        errors = np.zeros(len(candidates), dtype=np.int64)
        voters = np.setdiff1d(np.arange(self.n_columns), self.column_of[self.n_voters :])
        for rows in row_blocks(len(self.labels), max(len(candidates), self.n_columns)):
            if len(voters) < self.n_classes:
                winner = self._winners_by_voter(rows, weights, voters)
            else:
                winner = self._winners_by_class(rows, weights)
            errors += self.weighed(winner != self.labels[rows, None], rows)
        return errors

    def _winners_by_class(self, rows: slice, weights: npt.NDArray[Any]) -> IntArray:
        """Winners of candidates with these weights of the columns, (rows, J)."""
        winner = np.full((len(self.labels[rows]), weights.shape[1]), self.silent)
        most = np.zeros(winner.shape, dtype=self._float)
        for k in range(self.n_classes):
            total = (self.codes[rows] == k).astype(self._float) @ weights
            winner[total > most] = k
            np.maximum(most, total, out=most)
        return winner

    def _winners_by_voter(self, rows: slice, weights: npt.NDArray[Any], voters: Indices) -> IntArray:
        """The same where classes outnumber voters.

        Only a class that some voter votes for can win, or the first of those with most constant votes.
        """
        codes = self.codes[rows][:, voters]
        constants = weights[self.column_of[self.n_voters :]]
        leader = np.argmax(constants, axis=0)
        most = np.tile(constants.max(axis=0), (len(codes), 1))
        winner = np.where(most > 0, leader, self.silent)
        constants = np.vstack([constants, np.full(weights.shape[1], -np.inf, dtype=self._float)])
        for own in codes.T:
            alike = (codes == own[:, None]).astype(self._float)
            total = alike @ weights[voters] + constants[own]  # minus infinity where the voter abstains
            better = (total > most) | ((total == most) & (own[:, None] < winner) & (most > 0))
            winner = np.where(better, own[:, None].astype(np.int64), winner)
            np.maximum(most, total, out=most)
        return winner


def _whole(counts: npt.NDArray[Any]) -> IntArray:
    """Counts that a matrix product gave as floats."""
    return np.asarray(np.rint(counts), dtype=np.int64)


ErrorCounter = BinaryErrorCounter | MulticlassErrorCounter | SoftErrorCounter


def error_counter(rows: Rows, most_entries: int = EVERYTHING, fallback: int | None = None) -> ErrorCounter:
    """The error counter of these rows; of a sample of them when they have too many entries.

    Its rows are in an order that depends on the set of rows only, and so does the choice of the sample:
    permuting the rows changes nothing.
    """
    if isinstance(rows, Scores):
        return soft_error_counter(rows, most_entries)
    ballots = rows.in_memory(most_entries)
    first, column_of = different_columns(ballots.codes)
    codes = ballots.codes[:, first] if len(first) < ballots.n_voters else ballots.codes
    sample = content_sample([(codes, ballots.labels, ballots.counts)], max(1, most_entries // len(first)))
    codes, labels, counts = canonical(*sample, ballots.n_outputs)
    c = ballots.n_classes
    constants = np.broadcast_to(np.arange(c, dtype=codes.dtype), (len(codes), c))
    everyone = np.concatenate([codes, constants], axis=1)
    used, place = different_columns(everyone)
    column_of = np.concatenate([place[column_of], place[codes.shape[1] :]])
    kind = BinaryErrorCounter if c == 2 and not ballots.can_abstain else MulticlassErrorCounter
    return kind(everyone[:, used], labels, counts, c, column_of, -1 if fallback is None else fallback)


def canonical(
    codes: Codes, labels: Indices, counts: IntArray, n_values: int
) -> tuple[Codes, Indices, IntArray]:
    """Equal rows merged and put into an order of their own."""
    first, _, pattern_of_row = unique_rows(codes, labels, n_values)
    merged = np.bincount(pattern_of_row, weights=counts).astype(np.int64)
    return codes[first], labels[first], merged


def different_columns(codes: Codes) -> tuple[Indices, Indices]:
    """First of each set of equal columns, and for each column which set it is in."""
    seen: dict[bytes, int] = {}
    column_of = np.empty(codes.shape[1], dtype=np.intp)
    first: list[int] = []
    for j, column in enumerate(np.ascontiguousarray(codes.T)):
        place = seen.setdefault(column.tobytes(), len(first))
        if place == len(first):
            first.append(j)
        column_of[j] = place
    return np.array(first), column_of

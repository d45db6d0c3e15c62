"""Votes and true labels, encoded and compressed: everything the bounds count on the rows.

Symbols: d voters, c classes, m rows, n patterns (different rows), theta weights; ``v_k`` the weight of the
voters that vote for class k, ``v_y`` the one of the true class, ``W`` the wrong-vote weight, ``M`` the margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from votecert._labels import encode
from votecert._patterns import (
    BoolArray,
    Codes,
    IntArray,
    pair_counts,
    patterns_repeat,
    row_blocks,
    unique_rows,
    voter_counts,
    weigh_bits,
    weigh_votes,
)

FloatArray: TypeAlias = npt.NDArray[np.float64]

_LARGEST_TOTAL = 1 << 62  # vote totals stay below, safely inside int64


@dataclass(frozen=True, eq=False, repr=False)
class Ballots:
    """Compressed votes with true labels. Make them with :meth:`from_votes`; they never change afterwards.

    Attributes
    ----------
    codes : (n, d) unsigned integers
        Votes of each pattern as class indices; an abstention is ``n_classes``.
    labels : (n,) integers
        True class index of each pattern.
    counts : (n,) int64
        Number of rows that are this pattern.
    classes : (c,) array
        The labels in their fixed order (ties go to the first).
    classes_declared, can_abstain : bool
        Whether the label set was declared in advance; whether voters may abstain.
    pattern_of_row : (m,) integers or None
        Pattern of each original row; None if unknown.

    Examples
    --------
    >>> ballots = Ballots.from_votes([[0, 1, 1], [0, 1, 1], [1, 1, 0]], [1, 1, 0])
    >>> ballots
    Ballots(3 rows, 2 patterns, 3 voters, 2 classes)
    >>> ballots.voter_errors()
    array([3, 1, 0])
    """

    codes: Codes
    labels: npt.NDArray[np.intp]
    counts: IntArray
    classes: npt.NDArray[Any]
    classes_declared: bool = True
    can_abstain: bool = False
    pattern_of_row: npt.NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        for array in (self.codes, self.labels, self.counts, self.classes, self.pattern_of_row):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def from_votes(
        cls,
        votes: Any,
        y: Any,
        *,
        classes: Any = None,
        compress: Literal["auto"] | bool = "auto",
        can_abstain: bool | None = None,
    ) -> Ballots:
        """Encode and compress labelled votes.

        Parameters
        ----------
        votes : (m, d) array, list or table of labels
            Whole numbers, strings or bools. A missing entry is an abstention.
        y : (m,) array, list or column of labels
            The true labels.
        classes : sequence of labels, optional
            The label set in its fixed order. Default: the sorted labels seen, which the certificate then
            assumes to be all there are.
        compress : "auto" or bool
            Keep equal rows once, with counts. "auto" does so unless a sample of rows says that hardly any
            repeat. The results are the same.
        can_abstain : bool, optional
            Whether voters can abstain on *any* row. Default: whether one does on these.

        Returns
        -------
        Ballots

        Examples
        --------
        >>> Ballots.from_votes([["cat", None], ["dog", "dog"]], ["cat", "dog"]).codes.tolist()
        [[0, 2], [1, 1]]
        """
        if not (compress == "auto" or isinstance(compress, bool)):
            raise ValueError(f"compress must be 'auto', True or False, not {compress!r}.")
        encoded = encode(votes, y, classes)
        if encoded.any_missing and can_abstain is False:
            raise ValueError(
                "Some votes are missing although can_abstain=False: fill them in, or allow abstentions."
            )
        codes, labels = encoded.codes, encoded.labels
        can_abstain = encoded.any_missing if can_abstain is None else can_abstain
        rest = (encoded.classes, classes is not None, can_abstain)
        n_values = len(encoded.classes) + encoded.any_missing
        if compress is False or (compress == "auto" and not patterns_repeat(codes, labels, n_values)):
            own = codes if codes.base is None else codes.copy()  # never hold on to the caller's array
            return cls(own, labels, np.ones(len(codes), dtype=np.int64), *rest, np.arange(len(codes)))
        first, counts, pattern_of_row = unique_rows(codes, labels, n_values)
        return cls(codes.take(first, axis=0), labels[first], counts, *rest, pattern_of_row)

    def subset(self, rows: npt.ArrayLike) -> Ballots:
        """The ballots of some of the original rows: new counts over the same patterns.

        Parameters
        ----------
        rows : (m,) bool mask, or indices without repetition

        Examples
        --------
        >>> ballots = Ballots.from_votes([[0, 1], [0, 1], [1, 1]], [1, 1, 0])
        >>> ballots.subset([True, True, False])
        Ballots(2 rows, 1 pattern, 2 voters, 2 classes)
        """
        if self.pattern_of_row is None:
            raise ValueError(
                "These ballots do not know their rows any more: take the subset of the votes instead."
            )
        chosen = self.pattern_of_row[_checked_rows(rows, self.n_rows)]
        counts = np.bincount(chosen, minlength=self.n_patterns).astype(np.int64)
        kept = np.flatnonzero(counts)
        place = np.cumsum(counts > 0) - 1
        return Ballots(
            self.codes.take(kept, axis=0),
            self.labels[kept],
            counts[kept],
            self.classes,
            self.classes_declared,
            self.can_abstain,
            place[chosen],
        )

    @cached_property
    def n_rows(self) -> int:
        """Number of rows m."""
        return int(self.counts.sum())

    @property
    def n_patterns(self) -> int:
        """Number of different rows n."""
        return int(self.codes.shape[0])

    @property
    def n_voters(self) -> int:
        """Number of voters d."""
        return int(self.codes.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes c."""
        return len(self.classes)

    @property
    def n_outputs(self) -> int:
        """Number of different outputs a voter can give: c, and one more if it can abstain."""
        return self.n_classes + self.can_abstain

    def __repr__(self) -> str:
        amounts = [
            f"{number} {noun}{plural if number != 1 else ''}"
            for number, noun, plural in (
                (self.n_rows, "row", "s"),
                (self.n_patterns, "pattern", "s"),
                (self.n_voters, "voter", "s"),
                (self.n_classes, "class", "es"),
            )
        ]
        return f"Ballots({', '.join(amounts)}{', abstentions' if self.can_abstain else ''})"

    @cached_property
    def correct(self) -> BoolArray:
        """Which voters are right on each pattern, (n, d)."""
        right: BoolArray = self.codes == self.labels[:, None].astype(self.codes.dtype)
        right.flags.writeable = False
        return right

    @cached_property
    def _packed_correct(self) -> npt.NDArray[np.uint8]:
        return np.packbits(self.correct, axis=1)

    def correct_weight(self, theta: npt.ArrayLike) -> FloatArray:
        """Weight ``v_y`` of the voters that are right on each pattern, (n,)."""
        return weigh_bits(self._packed_correct, self._weights(theta))

    def wrong_weight(self, theta: npt.ArrayLike) -> FloatArray:
        """Weight ``W`` of the voters that are wrong on each pattern, (n,): summed up, not ``1 - v_y``."""
        return weigh_bits(~self._packed_correct, self._weights(theta))

    def class_votes(self, theta: npt.ArrayLike) -> FloatArray:
        """Weight ``v_k`` of the votes for each output, (n, n_outputs); abstentions come last."""
        return weigh_votes(self.codes, self.n_outputs, self._weights(theta))

    def margins(self, theta: npt.ArrayLike) -> FloatArray:
        """Margin ``M = (v_y - max_{k != y} v_k)/2`` of each pattern; abstaining is a class that is never right."""
        if self.n_outputs == 2:
            return (self.correct_weight(theta) - self.wrong_weight(theta)) / 2
        votes = self.class_votes(theta)
        rows = np.arange(self.n_patterns)
        true_votes = votes[rows, self.labels]
        votes[rows, self.labels] = -np.inf
        return (true_votes - (votes.max(axis=1) if self.n_outputs > 1 else 0.0)) / 2

    def mean(self, values: npt.ArrayLike) -> float:
        """Mean over the rows of a value per pattern."""
        return float(np.dot(self.counts, np.asarray(values, dtype=np.float64)) / self.n_rows)

    def sum_over_correct(self, values: npt.ArrayLike) -> FloatArray:
        """Per voter, the sum of ``values`` (one a pattern) over the patterns it is right on, (d,).

        The transpose of :meth:`correct_weight`: with ``values = counts * f'(v_y)`` it is the gradient of
        the sum of ``counts * f(v_y)`` in theta.
        """
        values = np.asarray(values, dtype=np.float64)
        total = np.zeros(self.n_voters)
        for rows in row_blocks(*self.codes.shape):
            total += values[rows] @ self.correct[rows].astype(np.float64)
        return total

    def sum_over_votes(self, values: npt.ArrayLike) -> FloatArray:
        """Per voter, the sum over patterns of ``values[pattern, vote]``, (d,).

        The transpose of :meth:`class_votes`, for gradients as in :meth:`sum_over_correct`.
        """
        values = np.asarray(values, dtype=np.float64)
        total = np.zeros(self.n_voters)
        for rows in row_blocks(*self.codes.shape):
            for output in range(self.n_outputs):
                total += values[rows, output] @ (self.codes[rows] == output).astype(np.float64)
        return total

    def voter_errors(self) -> IntArray:
        """Number of rows each voter gets wrong, (d,)."""
        return voter_counts(self._wrong, self.counts, self.n_voters)

    def tandem_counts(self) -> IntArray:
        """Number of rows both voters of a pair get wrong, (d, d)."""
        return pair_counts(self._wrong, self.counts, self.n_voters)

    def disagreements(self) -> IntArray:
        """Number of rows on which the votes of a pair differ, (d, d); two abstentions do not differ."""
        agreements = np.zeros((self.n_voters, self.n_voters), dtype=np.int64)
        for output in range(self.n_outputs):
            votes_for = partial(self._votes_for, output)
            agreements += pair_counts(votes_for, self.counts, self.n_voters)
        return self.n_rows - agreements

    def vote_totals(self, n: npt.ArrayLike, offsets: npt.ArrayLike | None = None) -> IntArray:
        """Votes for each class when voter i has ``n_i`` votes, (n_patterns, c), exact.

        Parameters
        ----------
        n : (d,) whole numbers >= 0
            Votes of each voter.
        offsets : (c,) whole numbers >= 0, optional
            Votes of the constant voters, one a class, added to every row.
        """
        return total_votes(self.codes, self.n_classes, n, offsets)

    def predict(
        self, n: npt.ArrayLike, offsets: npt.ArrayLike | None = None, fallback: int | None = None
    ) -> npt.NDArray[np.intp]:
        """Class index the whole-number vote gives each pattern: the smallest of those with most votes.

        A pattern on which no vote is cast gets ``fallback``, or -1 (always wrong) when there is none.
        """
        return winners(self.vote_totals(n, offsets), fallback)

    def errors(
        self, n: npt.ArrayLike, offsets: npt.ArrayLike | None = None, fallback: int | None = None
    ) -> int:
        """Number of rows the whole-number vote gets wrong, with the tie rule of :meth:`predict`."""
        return int(self.counts[self.predict(n, offsets, fallback) != self.labels].sum())

    def ties(self, n: npt.ArrayLike, offsets: npt.ArrayLike | None = None) -> int:
        """Number of rows on which two classes or more share the largest, positive, number of votes."""
        totals = self.vote_totals(n, offsets)
        top = totals.max(axis=1)
        tied = ((totals == top[:, None]).sum(axis=1) > 1) & (top > 0)
        return int(self.counts[tied].sum())

    def _wrong(self, rows: slice) -> BoolArray:
        return ~self.correct[rows]

    def _votes_for(self, output: int, rows: slice) -> BoolArray:
        votes: BoolArray = self.codes[rows] == output
        return votes

    def _weights(self, theta: npt.ArrayLike) -> FloatArray:
        weights = np.asarray(theta, dtype=np.float64)
        if weights.shape != (self.n_voters,):
            raise ValueError(
                f"One weight a voter is needed, {self.n_voters} in all, but the shape is {weights.shape}."
            )
        return weights


def total_votes(
    codes: Codes, n_classes: int, n: npt.ArrayLike, offsets: npt.ArrayLike | None = None
) -> IntArray:
    """Votes for each class on rows of codes, exact; see :meth:`Ballots.vote_totals`.

    Examples
    --------
    >>> total_votes(np.array([[0, 1, 1], [2, 2, 0]], np.uint8), 2, [1, 1, 2], offsets=[1, 0])
    array([[2, 3],
           [3, 0]])
    """
    votes = _whole_numbers(n, codes.shape[1], "n", "voter")
    constant = _whole_numbers(
        np.zeros(n_classes) if offsets is None else offsets, n_classes, "offsets", "class"
    )
    largest = sum(votes.tolist()) + max(constant.tolist())
    if largest == 0:
        raise ValueError("Nobody has a vote: n and offsets are all zero.")
    if largest > _LARGEST_TOTAL:
        raise ValueError(
            f"There are too many votes to count exactly, up to {largest}: divide n by a common factor."
        )
    return weigh_votes(codes, n_classes, votes) + constant


def winners(totals: IntArray, fallback: int | None = None) -> npt.NDArray[np.intp]:
    """Class with most votes in each row, the smallest class index in a tie; see :meth:`Ballots.predict`.

    Examples
    --------
    >>> winners(np.array([[1, 1], [0, 2], [0, 0]]))
    array([ 0,  1, -1])
    """
    if fallback is not None and not 0 <= fallback < totals.shape[1]:
        raise ValueError(f"fallback must be a class index from 0 to {totals.shape[1] - 1}, not {fallback}.")
    no_vote = totals.max(axis=1) == 0
    return np.where(no_vote, -1 if fallback is None else fallback, totals.argmax(axis=1))


def _whole_numbers(values: npt.ArrayLike, length: int, name: str, owner: str) -> IntArray:
    array = np.asarray(values)
    if array.shape != (length,):
        raise ValueError(
            f"{name} needs one number a {owner}, {length} in all, but its shape is {array.shape}."
        )
    if array.dtype.kind not in "biuf" or not np.all(
        (array >= 0) & (array <= _LARGEST_TOTAL) & (array % 1 == 0)
    ):
        raise ValueError(f"{name} must be whole numbers, zero or more and at most {_LARGEST_TOTAL}.")
    return array.astype(np.int64)


def _checked_rows(rows: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.intp]:
    """Row indices from a mask or from indices; a row listed twice would pass as new evidence: refused."""
    chosen = np.asarray(rows)
    if chosen.dtype.kind == "b":
        if chosen.shape != (n_rows,):
            raise ValueError(
                f"The mask must have one entry a row, {n_rows} in all, but its shape is {chosen.shape}."
            )
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

"""Votes and true labels, encoded and compressed: the rows that bounds count on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from votecert._types import Indices, IntArray
from votecert.rows.labels import Encoded, encode
from votecert.rows.pattern_votes import PatternVotes
from votecert.rows.patterns import patterns_repeat, unique_rows
from votecert.rows.split import STREAM, SpawnKey, checked_rows, in_fitting_part
from votecert.rows.vote_sums import whole_votes

T = TypeVar("T")

_MOST_COUNTS = 1000  # numbers of rows that are kept


@dataclass(frozen=True, eq=False, repr=False)
class Ballots(PatternVotes):
    """Compressed votes with true labels. Make them with :meth:`from_votes`; they never change afterwards.

    The attributes are those of :class:`~votecert.rows.pattern_votes.PatternVotes`.

    Examples
    --------
    >>> ballots = Ballots.from_votes([[0, 1, 1], [0, 1, 1], [1, 1, 0]], [1, 1, 0])
    >>> ballots
    Ballots(3 rows, 2 patterns, 3 voters, 2 classes)
    >>> ballots.voter_errors()
    array([3, 1, 0])

    With weights, the mean weight of the right votes and the share of rows whose margin is not positive:

    >>> theta = [0.25, 0.25, 0.5]
    >>> ballots.mean(ballots.correct_weight(theta)), ballots.mean(ballots.margins(theta) <= 0)
    (0.6666666666666666, 0.3333333333333333)

    With whole-number votes, ties go to the first class:

    >>> ballots.errors([1, 1, 0]), ballots.ties([1, 1, 0]), ballots.errors([1, 1, 0], offsets=[0, 1])
    (3, 2, 1)
    """

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
            Whether voters can abstain on *any* row. Default: whether one does on these, which the certificate
            then assumes of all rows.

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
        encoded = encode(votes, y, classes, can_abstain=can_abstain)
        return cls.from_codes(encoded, compress)

    @classmethod
    def from_codes(cls, encoded: Encoded, compress: Literal["auto"] | bool = "auto") -> Ballots:
        """Compress votes that are encoded; see :meth:`from_votes`."""
        codes, labels = np.ascontiguousarray(encoded.codes), encoded.labels
        n_values = len(encoded.classes) + encoded.any_missing
        if compress is False or (compress == "auto" and not patterns_repeat(codes, labels, n_values)):
            codes = codes if codes.base is None else codes.copy()  # never keep the caller's array
            counts, pattern_of_row = np.ones(len(codes), dtype=np.int64), np.arange(len(codes))
        else:
            first, counts, pattern_of_row = unique_rows(codes, labels, n_values)
            codes, labels = codes.take(first, axis=0), labels[first]
        return cls(
            codes,
            labels,
            counts,
            encoded.classes,
            encoded.classes_declared,
            encoded.any_missing if encoded.can_abstain is None else encoded.can_abstain,
            pattern_of_row,
            abstention_declared=encoded.can_abstain is not None,
        )

    def subset(self, rows: ArrayLike) -> Ballots:
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
        chosen = self.pattern_of_row[checked_rows(rows, self.n_rows)]
        counts = np.bincount(chosen, minlength=self.n_patterns).astype(np.int64)
        return self.with_counts(counts, (np.cumsum(counts > 0) - 1)[chosen])

    def with_counts(self, counts: IntArray, pattern_of_row: Indices | None = None) -> Ballots:
        """The patterns that have rows by these counts."""
        kept = np.flatnonzero(counts)
        return Ballots(
            self.codes.take(kept, axis=0),
            self.labels[kept],
            counts[kept],
            self.classes,
            self.classes_declared,
            self.can_abstain,
            pattern_of_row,
            self.abstention_declared,
            notes=self.notes,
        )

    @property
    def drawn_split(self) -> float | None:
        """The share of a fitting part that was drawn when the rows were read, and cannot be changed."""
        return None if self.drawn is None else self.drawn.split

    def can_split(self, split: float, seed: int) -> bool:
        """Whether :meth:`part` knows which rows are which; refuses another part than the one counted."""
        if self.drawn is not None:
            self.drawn.refuse_other(split, seed)
        return self.drawn is not None or self.pattern_of_row is not None

    def part(self, split: float, seed: int, *, fitting: bool, stream: SpawnKey = STREAM) -> Ballots | None:
        """The fitting or certifying rows, as :func:`in_fitting_part` draws them; None if either has none."""
        if self.drawn is not None:
            self.drawn.refuse_other(split, seed, stream)
            n_fitting = int(self.drawn.counts.sum())
            counts = self.drawn.counts if fitting else self.counts - self.drawn.counts
            return self.with_counts(counts) if 0 < n_fitting < self.n_rows else None
        chosen = in_fitting_part(self.n_rows, split, seed, stream=stream)
        if not 0 < chosen.sum() < len(chosen):
            return None
        return self.subset(chosen if fitting else ~chosen)

    def slices(self) -> Iterator[Ballots]:
        """These ballots in one piece; those that are on disk come in several."""
        yield self

    def in_memory(self, most_entries: int) -> Ballots:
        """These ballots; of ballots that are on disk, a sample of the patterns with about so many votes."""
        return self

    def __repr__(self) -> str:
        sizes = {"row": self.n_rows, "pattern": self.n_patterns, "voter": self.n_voters}
        amounts = [f"{number} {noun}{'s' if number != 1 else ''}" for noun, number in sizes.items()]
        amounts.append(f"{self.n_classes} class{'es' if self.n_classes != 1 else ''}")
        return f"Ballots({', '.join([*amounts, *['abstentions'] * self.can_abstain])})"

    def derived(self, make: Callable[[Ballots], T]) -> T:
        """What ``make`` makes of these ballots; those for iterating keep it for the next time."""
        return make(self)

    def errors(self, n: ArrayLike, offsets: ArrayLike | None = None, fallback: int | None = None) -> int:
        """Number of rows the whole-number vote gets wrong, with the tie rule of :meth:`predict`."""
        return self._counted("errors", n, offsets, fallback)

    def ties(self, n: ArrayLike, offsets: ArrayLike | None = None) -> int:
        """Number of rows on which two classes or more share the largest, positive, number of votes."""
        return self._counted("ties", n, offsets)

    def _counted(self, what: str, n: ArrayLike, offsets: ArrayLike | None, *fallback: int | None) -> int:
        """A number of rows, counted once for each vote: a comparison asks about the same vote many times."""
        votes = whole_votes(n, offsets, self.n_voters, self.n_classes)
        key = (what, *(numbers.tobytes() for numbers in votes), *fallback)
        if key not in self._counts_so_far:
            if len(self._counts_so_far) >= _MOST_COUNTS:
                self._counts_so_far.clear()
            self._counts_so_far[key] = getattr(self, f"_count_{what}")(*votes, *fallback)
        return self._counts_so_far[key]

    @cached_property
    def _counts_so_far(self) -> dict[tuple[Any, ...], int]:
        return {}

    def _count_errors(self, n: IntArray, offsets: IntArray, fallback: int | None) -> int:
        return int(self.counts[self.predict(n, offsets, fallback) != self.labels].sum())

    def _count_ties(self, n: IntArray, offsets: IntArray) -> int:
        totals = self.vote_totals(n, offsets)
        top = totals.max(axis=1)
        tied = ((totals == top[:, None]).sum(axis=1) > 1) & (top > 0)
        return int(self.counts[tied].sum())

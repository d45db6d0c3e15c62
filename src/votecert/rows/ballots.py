"""Votes and true labels, encoded and compressed: everything the bounds count on the rows.

Symbols: d voters, c classes, m rows, n patterns (different rows), theta weights; ``v_k`` the weight of the
voters that vote for class k, ``v_y`` that of the true class, ``W`` the wrong-vote weight, ``M`` the margin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from votecert.rows.labels import Encoded, encode
from votecert.rows.patterns import (
    BoolArray,
    Codes,
    IntArray,
    pack_flags,
    pack_votes,
    pair_counts,
    patterns_repeat,
    row_blocks,
    total_votes,
    unique_rows,
    voter_counts,
    votes_for,
    weigh_bits,
    weigh_votes,
    whole_votes,
    winners,
)
from votecert.rows.split import checked_rows, in_fitting_part

FloatArray: TypeAlias = npt.NDArray[np.float64]
T = TypeVar("T")

_MOST_COUNTS = 1000  # numbers of rows that are kept


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
    abstention_declared : bool
        Whether it was declared in advance that voters can, or cannot, abstain.

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

    codes: Codes
    labels: npt.NDArray[np.intp]
    counts: IntArray
    classes: npt.NDArray[Any]
    classes_declared: bool = True
    can_abstain: bool = False
    pattern_of_row: npt.NDArray[np.intp] | None = None
    abstention_declared: bool = True

    def __post_init__(self) -> None:
        for name in ("codes", "labels", "counts", "classes", "pattern_of_row"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(
                    self, name, frozen := array.view()
                )  # a view: the giver's array stays as it is
                frozen.flags.writeable = False

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
        encoded = encode(votes, y, classes)
        if can_abstain is False:
            refuse_missing_votes(encoded)
        codes, labels = np.ascontiguousarray(encoded.codes), encoded.labels
        declared = can_abstain is not None
        rest = (
            encoded.classes,
            classes is not None,
            encoded.any_missing if can_abstain is None else can_abstain,
        )
        n_values = len(encoded.classes) + encoded.any_missing
        if compress is False or (compress == "auto" and not patterns_repeat(codes, labels, n_values)):
            own = codes if codes.base is None else codes.copy()  # never keep the caller's array
            return cls(
                own, labels, np.ones(len(codes), dtype=np.int64), *rest, np.arange(len(codes)), declared
            )
        first, counts, pattern_of_row = unique_rows(codes, labels, n_values)
        return cls(codes.take(first, axis=0), labels[first], counts, *rest, pattern_of_row, declared)

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
        chosen = self.pattern_of_row[checked_rows(rows, self.n_rows)]
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
            self.abstention_declared,
        )

    def can_split(self, split: float, seed: int) -> bool:
        """Whether :meth:`part` knows which rows are which."""
        return self.pattern_of_row is not None

    def part(self, split: float, seed: int, *, fitting: bool) -> Ballots | None:
        """The fitting or certifying rows, as :func:`in_fitting_part` draws them; None if either has none."""
        chosen = in_fitting_part(self.n_rows, split, seed)
        if not 0 < chosen.sum() < len(chosen):
            return None
        return self.subset(chosen if fitting else ~chosen)

    def slices(self) -> Iterator[Ballots]:
        """These ballots in one piece; those that are on disk come in several."""
        yield self

    def in_memory(self, most_entries: int) -> Ballots:
        """These ballots; of ballots that are on disk, a sample of the patterns with about so many votes."""
        return self

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
        right = self._is_correct(slice(None))
        right.flags.writeable = False
        return right

    @cached_property
    def _packed_correct(self) -> npt.NDArray[np.uint8]:
        return pack_flags(self._is_correct, self.codes.shape)

    @cached_property
    def _packed_votes(self) -> list[npt.NDArray[np.uint8]]:
        return pack_votes(self.codes, self.n_outputs)

    def correct_weight(self, theta: npt.ArrayLike) -> FloatArray:
        """Weight ``v_y`` of the voters that are right on each pattern, (n,)."""
        return weigh_bits(self._packed_correct, self._weights(theta))

    def wrong_weight(self, theta: npt.ArrayLike) -> FloatArray:
        """Weight ``W`` of the voters that are wrong on each pattern, (n,): summed up, not ``1 - v_y``."""
        return weigh_bits(~self._packed_correct, self._weights(theta))

    def class_votes(self, theta: npt.ArrayLike) -> FloatArray:
        """Weight ``v_k`` of the votes for each output, (n, n_outputs); abstentions come last."""
        return weigh_votes(self.codes, self.n_outputs, self._weights(theta), self._packed_votes)

    def margins(self, theta: npt.ArrayLike) -> FloatArray:
        """Margin ``M = (v_y - max_{k != y} v_k)/2`` of each pattern, (n,).

        Abstaining is one more class, never right.

        Examples
        --------
        >>> ballots = Ballots.from_votes([["a", "b", "c"]], ["b"])
        >>> ballots.margins([0.25, 0.5, 0.25])
        array([0.125])
        """
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
            total += values[rows] @ self._is_correct(rows).astype(np.float64)
        return total

    def sum_over_votes(self, values: npt.ArrayLike) -> FloatArray:
        """Per voter, the sum over patterns of ``values[pattern, vote]``, (d,).

        The transpose of :meth:`class_votes`, for gradients as in :meth:`sum_over_correct`.
        """
        values = np.asarray(values, dtype=np.float64)
        total = np.zeros(self.n_voters)
        for rows in row_blocks(*self.codes.shape):
            for output in range(self.n_outputs):
                total += values[rows, output] @ votes_for(self.codes, output, rows).astype(np.float64)
        return total

    def voter_errors(self) -> IntArray:
        """Number of rows each voter gets wrong, (d,)."""
        return voter_counts(self._is_wrong, self.counts, self.n_voters)

    def tandem_counts(self) -> IntArray:
        """Number of rows both voters of a pair get wrong, (d, d)."""
        return pair_counts(self._is_wrong, self.counts, self.n_voters)

    def derived(self, make: Callable[[Ballots], T]) -> T:
        """What ``make`` makes of these ballots; those for iterating keep it for the next time."""
        return make(self)

    def disagreements(self) -> IntArray:
        """Number of rows on which the votes of a pair differ, (d, d); two abstentions do not differ."""
        if self.n_outputs == 2:
            both_wrong = self.tandem_counts()
            errors = np.diagonal(both_wrong)
            return errors[:, None] + errors - 2 * both_wrong
        same = np.zeros((self.n_voters, self.n_voters), dtype=np.int64)
        for output in range(self.n_outputs):
            same += pair_counts(partial(votes_for, self.codes, output), self.counts, self.n_voters)
        return self.n_rows - same

    def vote_totals(self, n: npt.ArrayLike, offsets: npt.ArrayLike | None = None) -> IntArray:
        """Votes for each class when voter i has ``n_i`` votes, (n_patterns, c), exact.

        Parameters
        ----------
        n : (d,) whole numbers >= 0
            Votes of each voter.
        offsets : (c,) whole numbers >= 0, optional
            Votes of the constant voters, one a class, added to every row.
        """
        return total_votes(self.codes, self.n_classes, n, offsets, self._packed_votes)

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
        return self._counted("errors", self._count_errors, n, offsets, fallback)

    def ties(self, n: npt.ArrayLike, offsets: npt.ArrayLike | None = None) -> int:
        """Number of rows on which two classes or more share the largest, positive, number of votes."""
        return self._counted("ties", self._count_ties, n, offsets)

    def _counted(
        self,
        what: str,
        count: Callable[..., int],
        n: npt.ArrayLike,
        offsets: npt.ArrayLike | None,
        *fallback: int | None,
    ) -> int:
        """A number of rows, counted once for each vote: a comparison asks about the same vote many times."""
        votes = whole_votes(n, offsets, self.n_voters, self.n_classes)
        key = (what, *(numbers.tobytes() for numbers in votes), *fallback)
        if key not in self._counts_so_far:
            if len(self._counts_so_far) >= _MOST_COUNTS:
                self._counts_so_far.clear()
            self._counts_so_far[key] = count(*votes, *fallback)
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

    def _is_correct(self, rows: slice) -> BoolArray:
        truth = self.labels[rows, None].astype(self.codes.dtype)
        flags: BoolArray = self.codes[rows] == truth
        return flags

    def _is_wrong(self, rows: slice) -> BoolArray:
        return ~self._is_correct(rows)

    def _weights(self, theta: npt.ArrayLike) -> FloatArray:
        weights = np.asarray(theta, dtype=np.float64)
        if weights.shape != (self.n_voters,):
            raise ValueError(
                f"theta needs one weight a voter, {self.n_voters}, but its shape is {weights.shape}."
            )
        if not np.isfinite(weights).all():
            raise ValueError("theta must be finite numbers, without NaN.")
        return weights


def refuse_missing_votes(encoded: Encoded) -> None:
    """Name the first missing vote, where voters were said not to abstain."""
    if encoded.any_missing:
        row, voter = divmod(int((encoded.codes == len(encoded.classes)).argmax()), encoded.codes.shape[1])
        raise ValueError(
            f"Voter {voter} has no vote in row {row} (counted from 0) although can_abstain=False: "
            "fill in the missing votes, or allow abstentions."
        )

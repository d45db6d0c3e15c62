"""Patterns of votes with counts, and everything that is counted or weighed on them.

Symbols: d voters, c classes, m rows, n patterns (different rows), theta weights; ``v_k`` the weight of the
voters that vote for class k, ``v_y`` that of the true class, ``W`` the wrong-vote weight, ``M`` the margin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from votecert._types import AnyArray, Bits, BoolArray, Codes, FloatArray, Indices, IntArray
from votecert.rows import vote_sums
from votecert.rows.patterns import row_blocks
from votecert.rows.split import Drawn


@dataclass(frozen=True, eq=False, repr=False)
class PatternVotes:
    """Compressed votes with true labels.

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
    drawn : Drawn or None
        For rows that were read block by block and are gone: the counts of their fitting part.
    notes : tuple of str
        What to think twice about, see :mod:`votecert.rows.checks`.
    """

    codes: Codes
    labels: Indices
    counts: IntArray
    classes: AnyArray
    classes_declared: bool = True
    can_abstain: bool = False
    pattern_of_row: Indices | None = None
    abstention_declared: bool = True
    drawn: Drawn | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("codes", "labels", "counts", "classes", "pattern_of_row"):
            array = getattr(self, name)
            if array is not None:
                frozen = array.view()  # the giver's array stays as it is
                frozen.flags.writeable = False
                object.__setattr__(self, name, frozen)

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

    @cached_property
    def correct(self) -> BoolArray:
        """Which voters are right on each pattern, (n, d)."""
        right = self._is_correct(slice(None))
        right.flags.writeable = False
        return right

    @cached_property
    def _packed_correct(self) -> Bits:
        return vote_sums.pack_flags(self._is_correct, self.codes.shape)

    @cached_property
    def _packed_votes(self) -> list[Bits]:
        return vote_sums.pack_votes(self.codes, self.n_outputs)

    def correct_weight(self, theta: ArrayLike) -> FloatArray:
        """Weight ``v_y`` of the voters that are right on each pattern, (n,)."""
        return vote_sums.weigh_bits(self._packed_correct, self._weights(theta))

    def wrong_weight(self, theta: ArrayLike) -> FloatArray:
        """Weight ``W`` of the voters that are wrong on each pattern, (n,): summed up, not ``1 - v_y``."""
        return vote_sums.weigh_bits(~self._packed_correct, self._weights(theta))

    def class_votes(self, theta: ArrayLike) -> FloatArray:
        """Weight ``v_k`` of the votes for each output, (n, n_outputs); abstentions come last."""
        return vote_sums.weigh_votes(self.codes, self.n_outputs, self._weights(theta), self._packed_votes)

    def margins(self, theta: ArrayLike) -> FloatArray:
        """Margin ``M = (v_y - max_{k != y} v_k)/2`` of each pattern, (n,).

        Abstaining is one more class, never right.

        Examples
        --------
        >>> from votecert.rows.ballots import Ballots
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

    def mean(self, values: ArrayLike) -> float:
        """Mean over the rows of a value per pattern."""
        return float(np.dot(self.counts, np.asarray(values, dtype=np.float64)) / self.n_rows)

    def sum_over_correct(self, values: ArrayLike) -> FloatArray:
        """Per voter, the sum of ``values`` (one a pattern) over the patterns it is right on, (d,).

        The transpose of :meth:`correct_weight`: with ``values = counts * f'(v_y)`` it is the gradient of
        the sum of ``counts * f(v_y)`` in theta.
        """
        values = np.asarray(values, dtype=np.float64)
        total = np.zeros(self.n_voters)
        for rows in row_blocks(*self.codes.shape):
            total += values[rows] @ self._is_correct(rows).astype(np.float64)
        return total

    def sum_over_votes(self, values: ArrayLike) -> FloatArray:
        """Per voter, the sum over patterns of ``values[pattern, vote]``, (d,).

        The transpose of :meth:`class_votes`, for gradients as in :meth:`sum_over_correct`.
        """
        values = np.asarray(values, dtype=np.float64)
        total = np.zeros(self.n_voters)
        for rows in row_blocks(*self.codes.shape):
            for output in range(self.n_outputs):
                said = vote_sums.votes_for(self.codes, output, rows).astype(np.float64)
                total += values[rows, output] @ said
        return total

    def voter_errors(self) -> IntArray:
        """Number of rows each voter gets wrong, (d,)."""
        return vote_sums.voter_counts(self._is_wrong, self.counts, self.n_voters)

    def tandem_counts(self) -> IntArray:
        """Number of rows both voters of a pair get wrong, (d, d)."""
        return vote_sums.pair_counts(self._is_wrong, self.counts, self.n_voters)

    def vote_totals(self, n: ArrayLike, offsets: ArrayLike | None = None) -> IntArray:
        """Votes for each class when voter i has ``n_i`` votes, (n_patterns, c), exact.

        Parameters
        ----------
        n : (d,) or (d, s, c) whole numbers >= 0
            Votes of each voter for the class that it names; or a table of the votes for each class when
            voter i says s. There are c or c + 1 answers s, the last being an abstention.
        offsets : (c,) whole numbers >= 0, optional
            Votes of the constant voters, one a class, added to every row.
        """
        return vote_sums.total_votes(self.codes, self.n_classes, n, offsets, self._packed_votes)

    def predict(self, n: ArrayLike, offsets: ArrayLike | None = None, fallback: int | None = None) -> Indices:
        """Class index the whole-number vote gives each pattern: the smallest of those with most votes.

        A pattern on which no vote is cast gets ``fallback``, or -1 (always wrong) when there is none.
        """
        return vote_sums.winners(self.vote_totals(n, offsets), fallback)

    def leads(self, n: ArrayLike, offsets: ArrayLike | None = None) -> IntArray:
        """By how many votes the winner of each pattern leads, (n_patterns,); 0 in a tie."""
        return vote_sums.lead_of(self.vote_totals(n, offsets))

    def _is_correct(self, rows: slice) -> BoolArray:
        truth = self.labels[rows, None].astype(self.codes.dtype)
        flags: BoolArray = self.codes[rows] == truth
        return flags

    def _is_wrong(self, rows: slice) -> BoolArray:
        return ~self._is_correct(rows)

    def _weights(self, theta: ArrayLike) -> FloatArray:
        weights = np.asarray(theta, dtype=np.float64)
        if weights.shape != (self.n_voters,):
            raise ValueError(
                f"theta needs one weight a voter, {self.n_voters}, but its shape is {weights.shape}."
            )
        if not np.isfinite(weights).all():
            raise ValueError("theta must be finite numbers, without NaN.")
        return weights

"""Ballots made for iterating: as few patterns as a bound can tell apart, and products by BLAS.

No bound that can be learned smoothly knows the classes by name. So in each row the true class becomes 0 and
the others are numbered in the order in which voters bring them up; rows that are equal then are one pattern
with a count. A bound that only asks who is right gets still fewer patterns. Every number that such a bound
counts stays the same, up to the rounding of sums; the certificate is made from the real ballots anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from votecert.bounds.base import Floats
from votecert.rows.ballots import Ballots, T
from votecert.rows.patterns import Codes, IntArray, row_blocks, unique_rows

LARGEST_MATRIX = 512 * 2**20
"""Bytes up to which the table of who is right is kept as floats; beyond, packed bits have to do."""


class ClassVotesNeeded(Exception):  # noqa: N818 - an answer, not an error
    """A bound asked for more than who is right."""


@dataclass(frozen=True, eq=False, repr=False)
class QuickBallots(Ballots):
    """Ballots with renamed classes and fast products. Make them with :meth:`of`.

    Examples
    --------
    >>> votes, y = [["b", "b", "c"], ["a", "a", "c"], ["c", "c", "b"]], ["c", "c", "b"]
    >>> QuickBallots.of(Ballots.from_votes(votes, y)).codes
    array([[1, 1, 0]], dtype=uint8)
    """

    @classmethod
    def of(cls, ballots: Ballots) -> QuickBallots:
        """The same rows, as seen by a bound that does not know the classes by name."""
        return cls._merged(ballots, _renamed(ballots))

    @classmethod
    def _merged(cls, ballots: Ballots, codes: Codes) -> QuickBallots:
        labels = np.zeros(len(codes), dtype=np.intp)
        first, _, pattern = unique_rows(codes, labels, ballots.n_outputs)
        counts = np.bincount(pattern, weights=ballots.counts).astype(np.int64)
        rest = (ballots.classes, ballots.classes_declared, ballots.can_abstain)
        return cls(codes[first], labels[first], counts, *rest)

    @cached_property
    def _right(self) -> Floats | None:
        if 8 * self.codes.size > LARGEST_MATRIX:
            return None
        return self.correct.astype(np.float64)

    def correct_weight(self, theta: ArrayLike) -> Floats:
        if self._right is None:
            return super().correct_weight(theta)
        return np.asarray(np.clip(self._right @ self._weights(theta), 0, 1))

    def wrong_weight(self, theta: ArrayLike) -> Floats:
        if self._right is None:
            return super().wrong_weight(theta)
        weights = self._weights(theta)
        return np.asarray(np.clip(weights.sum() - self._right @ weights, 0, 1))

    def sum_over_correct(self, values: ArrayLike) -> Floats:
        if self._right is None:
            return super().sum_over_correct(values)
        return np.asarray(np.asarray(values, dtype=np.float64) @ self._right)

    def voter_errors(self) -> IntArray:
        return self.derived(Ballots.voter_errors)

    def tandem_counts(self) -> IntArray:
        return self.derived(Ballots.tandem_counts)

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        return {}

    def derived(self, make: Callable[[Ballots], T]) -> T:
        """What is made of these rows, made once."""
        if make not in self._kept:
            self._kept[make] = make(self)
        kept: T = self._kept[make]
        return kept


@dataclass(frozen=True, eq=False, repr=False)
class RightOrWrong(QuickBallots):
    """Ballots that only tell who is right: even fewer patterns.

    With two outputs that is all there is to know. With more, asking for class votes raises
    :class:`ClassVotesNeeded`.
    """

    @classmethod
    def of(cls, ballots: Ballots) -> QuickBallots:
        return cls._merged(ballots, (~ballots.correct).astype(np.uint8))

    def class_votes(self, theta: ArrayLike) -> Floats:
        self._refuse()
        return super().class_votes(theta)

    def sum_over_votes(self, values: ArrayLike) -> Floats:
        self._refuse()
        return super().sum_over_votes(values)

    def _refuse(self) -> None:
        if self.n_outputs != 2:
            raise ClassVotesNeeded


def _renamed(ballots: Ballots) -> Codes:
    """Codes with the true class as 0 and the others, abstentions too, in order of appearance."""
    codes = np.empty_like(ballots.codes)
    for rows in row_blocks(ballots.n_patterns, ballots.n_outputs + ballots.n_voters):
        old, line = ballots.codes[rows], np.arange(rows.stop - rows.start)
        name = np.full((len(old), ballots.n_classes + 1), -1, dtype=np.int64)
        name[line, ballots.labels[rows]] = 0
        next_name = np.ones(len(old), dtype=np.int64)
        for voter in range(ballots.n_voters):
            vote = old[:, voter]
            is_new = name[line, vote] < 0
            name[line[is_new], vote[is_new]] = next_name[is_new]
            next_name += is_new
            codes[rows, voter] = name[line, vote]
    return codes

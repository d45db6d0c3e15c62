"""The predictor that a certificate speaks about: a vote with whole-number votes and a fixed rule for ties.

Real weights are stored as whole numbers too, scaled by 2^52, so that the same votes give the same
label on every machine: integer sums do not depend on their order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from votecert._types import AnyArray, Codes, FloatArray, Indices, IntArray
from votecert.rows.labels import encode_votes
from votecert.rows.scores import checked_scores, soft_totals
from votecert.rows.vote_sums import lead_of, total_votes, winners

SCALE = 2.0**52
"""Real weights become whole numbers at this scale: their rounding moves no margin by more than d 2^-53."""

TIE_RULE = "the smallest class in the fixed order"


def scaled_votes(weights: npt.ArrayLike) -> IntArray:
    """Whole-number votes in proportion to real weights that sum to one.

    Examples
    --------
    >>> scaled_votes([0.25, 0.25, 0.5])
    array([1, 1, 2])
    """
    votes = np.rint(np.asarray(weights, dtype=np.float64) * SCALE).astype(np.int64)
    divisor = int(np.gcd.reduce(votes))
    return np.asarray(votes // max(1, divisor))


Table = tuple[tuple[tuple[int, ...], ...], ...]
"""For each voter, for each of its answers, the votes for each class."""


def influence(table: npt.ArrayLike) -> IntArray:
    """What each voter can do, (d,): by how much another answer of it can change the lead of a class at most.

    Half of that: a voter that gives its w votes to the class that it names has influence w.

    Parameters
    ----------
    table : (d, s, c) whole numbers

    Examples
    --------
    >>> influence([[[2, 0], [0, 2]], [[1, 0], [0, 6]], [[5, 0], [5, 0]]])
    array([2, 4, 0])
    """
    votes = np.asarray(table, dtype=np.int64)
    largest = np.zeros(len(votes), dtype=np.int64)
    for k in range(votes.shape[2]):
        lead = votes[:, :, k, None] - votes
        largest = np.maximum(largest, (lead.max(axis=1) - lead.min(axis=1)).max(axis=1))
    return np.asarray((largest + 1) // 2)


@dataclass(frozen=True)
class WeightedVote:
    """A weighted vote, or one in which every answer of a voter has votes of its own for every class.

    Attributes
    ----------
    votes : tuple of int
        Votes of each voter; with a table, its :func:`influence`.
    offsets : tuple of int
        Votes of the constant voters, one a class.
    classes : tuple
        The labels in their fixed order; ties go to the first of the tied ones.
    kind : {"hard", "soft"}
        Whether voters cast labels or class scores.
    fallback : int or None
        Class index for a row on which nobody votes.
    table : tuple or None
        ``table[i][s][k]`` votes for class k when voter i says s: one of the c classes or, if there is one
        place more, nothing. Answers that are not in it are worth nothing.

    Examples
    --------
    >>> vote = WeightedVote((1, 1, 2), (0, 0), ("ham", "spam"))
    >>> vote.predict([["ham", "ham", "spam"], ["spam", "ham", "spam"]])
    array(['ham', 'spam'], dtype='<U4')

    One voter, to be believed when it says spam; another, when it says ham:

    >>> vote = WeightedVote((1, 1), (0, 0), ("ham", "spam"), table=(((0, 0), (0, 2)), ((2, 0), (0, 1))))
    >>> vote.predict([["ham", "spam"], ["spam", "ham"], ["spam", "spam"]])
    array(['spam', 'ham', 'spam'], dtype='<U4')
    """

    votes: tuple[int, ...]
    offsets: tuple[int, ...]
    classes: tuple[Any, ...]
    kind: Literal["hard", "soft"] = "hard"
    fallback: int | None = None
    table: Table | None = None

    @cached_property
    def labels(self) -> AnyArray:
        """The classes as an array."""
        return np.asarray(self.classes)

    @cached_property
    def numbers(self) -> IntArray:
        """What is counted: the votes (d,) or the table (d, s, c), as rows take them to count errors."""
        return np.array(self.votes if self.table is None else self.table, dtype=np.int64)

    @property
    def weights(self) -> FloatArray:
        """The voters' votes, divided by their sum."""
        votes = np.array(self.votes, dtype=np.float64)
        return np.asarray(votes / max(1.0, votes.sum()))

    @property
    def constant_label(self) -> Any | None:
        """The label that every row gets, whatever the voters say, if its head start outvotes them all."""
        if self.kind == "soft":
            return None
        first = int(np.argmax(self.offsets))
        head_start = self.offsets[first] - np.delete(np.array(self.offsets, dtype=np.int64), first)
        if self.table is None:
            against: Any = sum(self.votes)
        else:  # a missing answer is worth nothing, and changes no lead
            rivals = np.delete(self.numbers, first, axis=2) - self.numbers[:, :, first, None]
            against = np.maximum(rivals.max(axis=1), 0).sum(axis=0)
        return self.classes[first] if len(head_start) and np.all(head_start > against) else None

    def predict(self, votes: Any) -> AnyArray:
        """Labels of new rows.

        Parameters
        ----------
        votes : (rows, d) labels, or (rows, d, c) scores for a soft vote

        Notes
        -----
        A row on which nobody votes gets the fallback class if there is one, otherwise the first
        class; the certificate counted such rows as errors.
        """
        return self.labels[np.maximum(self.answers(votes)[0], 0)]

    def predict_codes(self, codes: Codes) -> AnyArray:
        """Labels of new rows whose votes are places in ``classes``, or their number for a missing vote."""
        return self.labels[np.maximum(winners(self.count_codes(codes), self.fallback), 0)]

    def answers(self, votes: Any) -> tuple[Indices, FloatArray | IntArray]:
        """Place of the winning class on new rows, -1 where nobody votes, and the votes by which it leads."""
        totals = self.count(votes)
        winner = totals.argmax(axis=1) if self.kind == "soft" else winners(totals, self.fallback)
        return winner, lead_of(totals)

    def totals(self, votes: Any) -> FloatArray:
        """Share of the votes that each class gets, (rows, c); a row without votes is all zero."""
        totals = self.count(votes).astype(np.float64)
        return np.asarray(totals / np.maximum(totals.sum(axis=1, keepdims=True), math.ulp(0.0)))

    def count(self, votes: Any) -> Any:
        """Votes of each class on new rows, (rows, c)."""
        if self.kind == "soft":
            scores = checked_scores(votes)
            if scores.shape[2] != len(self.classes):
                raise ValueError(
                    f"The vote has {len(self.classes)} classes but the scores are for {scores.shape[2]}."
                )
            return soft_totals(scores, self.numbers, self.offsets)
        return self.count_codes(encode_votes(votes, self.labels))

    def count_codes(self, codes: Codes) -> IntArray:
        """The same for votes that are places in ``classes``, or their number for a missing vote."""
        if codes.shape[1] != len(self.votes):
            raise ValueError(f"The vote has {len(self.votes)} voters but there are {codes.shape[1]} columns.")
        return total_votes(codes, len(self.classes), self.numbers, self.offsets)

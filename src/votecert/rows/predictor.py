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
from votecert.rows.scores import soft_totals, soft_winners
from votecert.rows.vote_sums import total_votes, winners

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


@dataclass(frozen=True)
class WeightedVote:
    """A weighted vote.

    Attributes
    ----------
    votes : tuple of int
        Votes of each voter.
    offsets : tuple of int
        Votes of the constant voters, one a class.
    classes : tuple
        The labels in their fixed order; ties go to the first of the tied ones.
    kind : {"hard", "soft"}
        Whether voters cast labels or class scores.
    fallback : int or None
        Class index for a row on which nobody votes.

    Examples
    --------
    >>> vote = WeightedVote((1, 1, 2), (0, 0), ("ham", "spam"))
    >>> vote.predict([["ham", "ham", "spam"], ["spam", "ham", "spam"]])
    array(['ham', 'spam'], dtype='<U4')
    """

    votes: tuple[int, ...]
    offsets: tuple[int, ...]
    classes: tuple[Any, ...]
    kind: Literal["hard", "soft"] = "hard"
    fallback: int | None = None

    @cached_property
    def labels(self) -> AnyArray:
        """The classes as an array."""
        return np.asarray(self.classes)

    @property
    def weights(self) -> FloatArray:
        """The voters' votes, divided by their sum."""
        votes = np.array(self.votes, dtype=np.float64)
        return np.asarray(votes / max(1.0, votes.sum()))

    @property
    def constant_label(self) -> Any | None:
        """The label that every row gets, whatever the voters say, if its head start outvotes them all."""
        if self.kind == "soft" or len(self.offsets) < 2:
            return None
        second, first = sorted(self.offsets)[-2:]
        if first - second <= sum(self.votes):
            return None
        return self.classes[self.offsets.index(first)]

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
        winner = self._soft(votes) if self.kind == "soft" else self._hard(votes)
        return self.labels[np.maximum(winner, 0)]

    def predict_codes(self, codes: Codes) -> AnyArray:
        """Labels of new rows whose votes are places in ``classes``, or their number for a missing vote."""
        totals = total_votes(codes, len(self.classes), self.votes, self.offsets)
        return self.labels[np.maximum(winners(totals, self.fallback), 0)]

    def totals(self, votes: Any) -> FloatArray:
        """Share of the votes that each class gets, (rows, c); a row without votes is all zero."""
        if self.kind == "soft":
            totals = soft_totals(np.asarray(votes), self.votes, self.offsets)
        else:
            totals = self._count(votes).astype(np.float64)
        return np.asarray(totals / np.maximum(totals.sum(axis=1, keepdims=True), math.ulp(0.0)))

    def _hard(self, votes: Any) -> Indices:
        return winners(self._count(votes), self.fallback)

    def _count(self, votes: Any) -> IntArray:
        codes = encode_votes(votes, self.labels)
        if codes.shape[1] != len(self.votes):
            raise ValueError(f"The vote has {len(self.votes)} voters but there are {codes.shape[1]} columns.")
        return total_votes(codes, len(self.classes), self.votes, self.offsets)

    def _soft(self, scores: Any) -> Indices:
        return soft_winners(np.asarray(scores), self.votes, self.offsets)

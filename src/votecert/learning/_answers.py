"""What voters answered on some rows, as numbers: what real-valued votes are fitted on.

Symbols: n patterns, d voters, s answers that a voter can give, c classes, P weightings of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from votecert.bounds.base import Floats
from votecert.rows.patterns import Codes, IntArray
from votecert.rows.scores import ScoreArray

_FOLDS = ((600, 8, 8), (3000, 5, 5), (np.inf, 3, 1))
"""Up to so many rows: so many folds, of which so many are held out. Many rows cost time."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of all voters on rows with labels.

    Attributes
    ----------
    values : (n, d, s) float32
        How much of each answer a voter gives: all of one, or its scores. The first c answers are the classes,
        another one is to abstain.
    labels : (n,) class indices
    counts : (n,) how many rows each pattern stands for
    n_classes : int
    """

    values: npt.NDArray[np.float32]
    labels: npt.NDArray[np.intp]
    counts: IntArray
    n_classes: int

    @classmethod
    def of_votes(
        cls,
        codes: Codes,
        labels: npt.NDArray[np.intp],
        counts: IntArray,
        n_classes: int,
        can_abstain: bool,
        *,
        missing_is_unasked: bool = False,
    ) -> Answers:
        """Answers of voters who name classes.

        Where a missing vote means that the voter was not asked (out of bag, it had seen the row), the totals
        of a vote of all voters are larger than those of the votes that were cast: 1/q times, if a share q
        was. So the answers of such a row are, too.
        """
        values = (codes[:, :, None] == np.arange(n_classes + can_abstain)).astype(np.float32)
        if missing_is_unasked:
            values = values[:, :, :n_classes]
            asked = values.sum(axis=(1, 2))
            values = values * (codes.shape[1] / np.maximum(asked, 1))[:, None, None].astype(np.float32)
        return cls(values, labels, counts, n_classes)

    @classmethod
    def of_scores(cls, scores: ScoreArray, labels: npt.NDArray[np.intp]) -> Answers:
        """Answers of voters who give scores."""
        counts = np.ones(len(labels), dtype=np.int64)
        return cls(scores.astype(np.float32), labels, counts, scores.shape[2])

    @property
    def can_abstain(self) -> bool:
        """Whether abstaining is one of the answers."""
        return bool(self.values.shape[2] > self.n_classes)

    def ignoring_abstentions(self) -> Answers:
        """The same answers, but to abstain is to say nothing."""
        values = self.values.copy()
        values[:, :, self.n_classes :] = 0
        return replace(self, values=values)

    @cached_property
    def flat(self) -> npt.NDArray[np.float32]:
        """The answers of a row in a row, (n, d s)."""
        return self.values.reshape(len(self.values), -1)

    @cached_property
    def plain(self) -> Floats:
        """Votes for each class, (n, c)."""
        return np.asarray(self.values[:, :, : self.n_classes].sum(axis=1, dtype=np.float64))

    @cached_property
    def truth(self) -> Floats:
        """The label, one-hot, (n, c)."""
        return np.eye(self.n_classes)[self.labels]

    def totals(self, tables: Floats) -> Floats:
        """What votes with these tables (P, d, s, c) give each class, (n, c, P)."""
        p, c = len(tables), self.n_classes
        by_answer = tables.reshape(p, -1, c).transpose(1, 2, 0).reshape(-1, c * p).astype(np.float32)
        return (self.flat @ by_answer).reshape(-1, c, p).astype(np.float64)

    def confusions(self, weights: Floats) -> Floats:
        """How often each voter gives each answer where each class is true, (P, d, s, c)."""
        found = [self.flat.T @ (row[:, None] * self.truth).astype(np.float32) for row in weights]
        return np.array(found, dtype=np.float64).reshape(len(weights), *self.values.shape[1:], self.n_classes)

    def folds(self) -> Floats:
        """How many rows of each pattern each fold of a cross-validation holds out, (folds, n).

        Rows are dealt out one after another, those of one label after those of another, so that every fold
        has its share of each label and of each pattern. Patterns come in an order of their own.
        """
        n_rows = int(self.counts.sum())
        _, n_folds, n_used = next(row for row in _FOLDS if n_rows <= row[0])
        order = np.lexsort((np.random.default_rng(0).permutation(len(self.counts)), self.labels))
        ends = np.empty(len(order), dtype=np.int64)
        ends[order] = np.cumsum(self.counts[order])
        folds = []
        for fold in range(n_used):
            up_to, before = (-((fold - place) // n_folds) for place in (ends, ends - self.counts))
            folds.append(up_to - before)
        return np.array(folds, dtype=np.float64)

"""Soft votes: voters give each class a score, and the scores are added up.

With ``n_i`` votes for voter i and ``b_k`` for the constant voter of class k, the total of class k on a row
x is ``b_k + sum_i n_i s_i(k|x)``. Totals are added up in float64, voter after voter, so the same scores
give the same label on every machine and whatever the other rows are. Totals that are equal on paper may
still differ in the last digits, so a row whose two largest totals agree to nine digits counts as an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from votecert._types import AnyArray, BoolArray, FloatArray, Indices
from votecert.rows.labels import as_array, encode
from votecert.rows.patterns import row_blocks
from votecert.rows.split import STREAM, SpawnKey, checked_rows, in_fitting_part
from votecert.rows.tables import refuse_other_shape
from votecert.rows.vote_sums import lead_of

ScoreArray = NDArray[np.floating[Any]]

TIED = 1e-9
"""Two largest totals that differ by less, relative to the larger, are tied."""


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Class scores of every voter on every row, with the true labels. Make them with :meth:`from_scores`.

    Attributes
    ----------
    values : (m, d, c) array
        Score that voter i gives class k on each row.
    labels : (m,) integers
        True class index of each row.
    classes : (c,) array
        The labels in their fixed order.
    classes_declared : bool
        Whether the label set was declared in advance.

    Examples
    --------
    >>> scores = Scores.from_scores([[[0.9, 0.1], [0.4, 0.6]], [[0.3, 0.7], [0.6, 0.4]]], ["ham", "spam"])
    >>> scores
    Scores(2 rows, 2 voters, 2 classes)
    >>> scores.errors([1, 1]), scores.errors([0, 1])
    (0, 2)
    """

    values: ScoreArray
    labels: Indices
    classes: AnyArray
    classes_declared: bool = True
    can_abstain = False
    abstention_declared = True  # there is no way to abstain
    drawn_split = None
    notes = ()

    @classmethod
    def from_scores(cls, scores: Any, y: Any, *, classes: Any = None) -> Scores:
        """Check scores and encode the labels.

        Parameters
        ----------
        scores : (m, d, c) array of numbers
            For example the predicted probabilities of d classifiers.
        y : (m,) labels
            The true labels.
        classes : sequence of c labels, optional
            The labels that the last axis stands for, in its order. Default: the sorted labels of ``y``, if
            there are c of them.
        """
        values = checked_scores(scores)
        column = as_array(y, "y")
        refuse_other_shape(column, len(values), "y", "label a row")
        encoded = encode(column[:, None], column, classes)
        if len(encoded.classes) != values.shape[2]:
            raise ValueError(
                f"The scores are for {values.shape[2]} classes but there are {len(encoded.classes)} labels: "
                "pass classes= with one label for each place of the last axis."
            )
        return cls(values, encoded.labels, encoded.classes, encoded.classes_declared)

    def __repr__(self) -> str:
        return f"Scores({self.n_rows} rows, {self.n_voters} voters, {self.n_classes} classes)"

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return len(self.values)

    @property
    def n_voters(self) -> int:
        """Number of voters d."""
        return int(self.values.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes c."""
        return len(self.classes)

    @property
    def n_outputs(self) -> int:
        """Number of classes c: score voters do not abstain."""
        return self.n_classes

    def subset(self, rows: ArrayLike) -> Scores:
        """The scores of some rows, given by a mask or by indices without repetition."""
        chosen = checked_rows(rows, self.n_rows)
        return Scores(self.values[chosen], self.labels[chosen], self.classes, self.classes_declared)

    def can_split(self, split: float, seed: int) -> bool:
        """Whether :meth:`part` knows which rows are which: always."""
        return True

    def part(self, split: float, seed: int, *, fitting: bool, stream: SpawnKey = STREAM) -> Scores | None:
        """The fitting or certifying rows, as :func:`in_fitting_part` draws them; None if either has none."""
        chosen = in_fitting_part(self.n_rows, split, seed, stream=stream)
        if not 0 < chosen.sum() < len(chosen):
            return None
        return self.subset(chosen if fitting else ~chosen)

    def errors(self, n: ArrayLike, offsets: ArrayLike | None = None, fallback: int | None = None) -> int:
        """Number of rows that the whole-number soft vote gets wrong or leaves tied.

        ``fallback`` is for hard votes, where nobody may vote; here it changes nothing.
        """
        return int(np.count_nonzero(self.predict(n, offsets) != self.labels))

    def ties(self, n: ArrayLike, offsets: ArrayLike | None = None) -> int:
        """Number of rows whose two largest totals agree to nine digits."""
        return int(np.count_nonzero(tied(soft_totals(self.values, n, offsets))))

    def predict(self, n: ArrayLike, offsets: ArrayLike | None = None, fallback: int | None = None) -> Indices:
        """Class index that the soft vote gives each row, (m,); -1, always wrong, where it is tied."""
        totals = soft_totals(self.values, n, offsets)
        return np.where(tied(totals), -1, totals.argmax(axis=1))

    def leads(self, n: ArrayLike, offsets: ArrayLike | None = None) -> FloatArray:
        """By how much the winner of each row leads, (m,)."""
        return lead_of(soft_totals(self.values, n, offsets))


def checked_scores(scores: Any) -> ScoreArray:
    """The scores as an array of floats with three axes, none of them empty, and no missing number."""
    values = np.asarray(scores)
    if values.ndim != 3 or 0 in values.shape:
        raise ValueError(
            f"scores must have shape (rows, voters, classes), none of them zero, not {values.shape}."
        )
    if values.dtype.kind not in "biuf":
        raise TypeError(f"scores must be numbers, not {values.dtype}.")
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    if not all(np.isfinite(values[rows]).all() for rows in _blocks(values)):
        raise ValueError("Some scores are missing or infinite: a score voter cannot abstain.")
    return values


def soft_totals(scores: ScoreArray, n: ArrayLike, offsets: ArrayLike | None = None) -> FloatArray:
    """Total of each class on each row, (rows, c), always added up in the same order.

    Voter i has ``n_i`` votes, which it shares out by its scores; with a table (d, c, c), its score for label
    s gives class k ``n[i, s, k]`` times as many.

    Examples
    --------
    >>> soft_totals(np.array([[[0.75, 0.25], [0.5, 0.5]]]), [2, 1], offsets=[0, 1])
    array([[2., 2.]])
    """
    votes, shape = np.asarray(n), scores.shape[1:]
    if votes.shape not in (shape[:1], (*shape, shape[1])):
        raise ValueError(f"There are {shape[0]} voters but {votes.shape} numbers of votes.")
    totals = np.zeros((scores.shape[0], scores.shape[2]))
    if offsets is not None:
        totals += np.asarray(offsets, dtype=np.float64)
    for rows in _blocks(scores):
        for voter in np.flatnonzero(votes.reshape(len(votes), -1).any(axis=1)):
            own = scores[rows, voter].astype(np.float64)
            if votes.ndim == 1:
                totals[rows] += float(votes[voter]) * own
            else:
                for said in np.flatnonzero(votes[voter].any(axis=1)):
                    totals[rows] += own[:, said, None] * votes[voter, said].astype(np.float64)
    return totals


def tied(totals: FloatArray) -> BoolArray:
    """Which rows have two largest totals that agree to nine digits."""
    if totals.shape[1] < 2:
        return np.zeros(len(totals), dtype=bool)
    first, lead = totals.max(axis=1), lead_of(totals)
    return np.asarray(lead <= TIED * np.maximum(np.abs(first), np.abs(first - lead)))


def _blocks(scores: ScoreArray) -> Any:
    return row_blocks(len(scores), scores.shape[1] * scores.shape[2])

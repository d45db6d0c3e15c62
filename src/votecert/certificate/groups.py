"""Groups of rows: by true class, by what the vote says, by a column, and several of these at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from votecert._types import AnyArray, BoolArray
from votecert.bounds.base import Bound
from votecert.rows.ballots import Ballots
from votecert.rows.predictor import WeightedVote
from votecert.rows.read import Rows
from votecert.rows.scores import Scores, soft_totals

KEYWORDS = ("class", "predicted")

PREDICTED = "A row is of the group of the answer that the vote gives it."
"""What a certificate says that is about one answer of the vote."""


@dataclass(frozen=True)
class Grouping:
    """One way to group the rows.

    Attributes
    ----------
    name : str or None
        What stands before the names of its groups, if there are several groupings.
    groups : (m,) array of str, or None
        The group of each row; None for groups by what the vote says.
    """

    name: str | None
    groups: AnyArray | None

    def labels(self, rows: Rows) -> list[str]:
        """All groups that there are: by the vote, all classes, whichever it names on these rows."""
        if self.groups is None:
            return [str(label) for label in rows.classes.tolist()]
        return [str(name) for name in np.unique(self.groups)]

    def masks(self, rows: Rows, vote: WeightedVote | None) -> Iterator[tuple[str, str, BoolArray]]:
        """Name of the group, that of its label, and which rows belong to it."""
        groups = self.groups
        if groups is None:
            assert vote is not None
            groups = np.array(self.labels(rows))[predicted(rows, vote)]
        for label in self.labels(rows):
            yield label if self.name is None else f"{self.name}: {label}", label, groups == label


def read_groupings(groups: Any, y: Any, rows: Rows, method: Bound) -> list[Grouping]:
    """What the user passes as ``groups``: one grouping, a list of them, or a dictionary with their names.

    The true labels are those of the rows where ``y`` was not given beside them.
    """
    if isinstance(rows, Ballots) and rows.pattern_of_row is None:
        raise ValueError(
            "Rows that were read in blocks are gone and cannot be grouped: read each group by itself and "
            "certify it with its share of delta."
        )
    if y is None:
        y = rows.classes[rows.labels if isinstance(rows, Scores) else rows.labels[rows.pattern_of_row]]
    named: list[tuple[str | None, Any]] = [(None, groups)]
    if isinstance(groups, Mapping):
        named = [(str(name), one) for name, one in groups.items()]
    elif isinstance(groups, list | tuple) and any(_is_grouping(one, rows.n_rows) for one in groups):
        named = [(_name_of(one, f"grouping {place}"), one) for place, one in enumerate(groups, start=1)]
    found = [_grouping(name, one, y, rows.n_rows) for name, one in named]
    if any(one.groups is None for one in found) and not method.counts_errors:
        raise ValueError(
            f"groups='predicted' is not covered by the bound {method.id!r}: use bound='occam', or "
            "fixed_in_advance=True for weights that were."
        )
    return found


def predicted(rows: Rows, vote: WeightedVote) -> AnyArray:
    """Place of the class that the vote gives each row, just as ``predict`` does it."""
    if isinstance(rows, Scores):
        return np.asarray(soft_totals(rows.values, vote.numbers, vote.offsets).argmax(axis=1))
    assert rows.pattern_of_row is not None
    winner = rows.predict(vote.numbers, vote.offsets, vote.fallback)
    return np.maximum(winner, 0)[rows.pattern_of_row]


def _is_grouping(one: Any, n_rows: int) -> bool:
    """Whether it is a grouping and not the group of a single row."""
    if isinstance(one, str):
        return one in KEYWORDS and n_rows > len(KEYWORDS)
    return hasattr(one, "__len__")


def _name_of(one: Any, otherwise: str) -> str:
    return one if isinstance(one, str) else str(getattr(one, "name", None) or otherwise)


def _grouping(name: str | None, groups: Any, labels: Any, n_rows: int) -> Grouping:
    if isinstance(groups, str):
        if groups not in KEYWORDS:
            raise ValueError(
                f"groups must be 'class', 'predicted' or one label a row, or a list of these, not {groups!r}."
            )
        if groups == "predicted":
            return Grouping(name, None)
        groups = labels
    names = np.array([str(one) for one in groups])
    if names.shape != (n_rows,):
        raise ValueError(f"groups must have one label a row, {n_rows} in all, but there are {len(names)}.")
    return Grouping(name, names)

"""Other rows than those that certify, to fit a vote on: with labels and without, and which are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from votecert.rows.read import Rows
from votecert.rows.scores import Scores
from votecert.rows.tables import is_missing, n_rows_of, take_rows

MOST_COMPARED, FEWEST_DIFFERENT = 10_000, 12
"""Rows that are compared with others, and how many of them must differ to be told from others."""


def by_label(votes: Any, y: Any) -> tuple[Any, Any, Any]:
    """Rows with labels, their labels, and rows without; None if there are none."""
    if y is None:
        return None, None, votes
    missing = is_missing(y)
    if not missing.any():
        return votes, y, None
    if len(missing) != n_rows_of(votes):
        raise ValueError(f"there are {len(missing)} labels for {n_rows_of(votes)} rows.")
    others = take_rows(votes, missing)
    return (
        (None, None, others)
        if missing.all()
        else (take_rows(votes, ~missing), take_rows(y, ~missing), others)
    )


def refuse_other_kind(other: Rows, rows: Rows) -> None:
    """Refuse other rows that are not of the same voters and classes."""
    classes = rows.classes.tolist()
    if isinstance(other, Scores) != isinstance(rows, Scores) or other.classes.tolist() != classes:
        raise ValueError(
            "prior_votes must be of the same kind as the certifying rows and have their classes: read "
            f"them with classes={classes!r}."
        )
    if other.n_voters != rows.n_voters:
        raise ValueError(
            f"The other rows have {other.n_voters} voters, the certifying ones {rows.n_voters}: both "
            "need the same ones."
        )


def refuse_same_rows(other: Rows, rows: Rows) -> None:
    """Refuse other rows that are, or have among them, the certifying ones, where that can be told.

    That is so if they begin or end with all of these in their order, or if nearly all rows are different from
    one another and all of these are there.
    """
    theirs, ours = _row_by_row(other), _row_by_row(rows)
    if theirs is None or ours is None or len(theirs) < len(ours):
        return
    n_different = len(np.unique(ours[:MOST_COMPARED], axis=0))
    same = n_different >= FEWEST_DIFFERENT and any(
        np.array_equal(part[:MOST_COMPARED], ours[:MOST_COMPARED]) and np.array_equal(part, ours)
        for part in (theirs[: len(ours)], theirs[-len(ours) :])
    )
    if not same and FEWEST_DIFFERENT <= len(ours) <= n_different * 10 / 9 and len(theirs) <= MOST_COMPARED:
        names = {row.tobytes() for row in theirs}
        same = len(names) >= 0.9 * len(theirs) and all(row.tobytes() in names for row in ours)
    if same:
        raise ValueError(
            "prior_votes= has the certifying rows in it, all of them: a vote that was fitted on these cannot "
            "be certified on them. Give other rows, or leave it out."
        )


def _row_by_row(rows: Rows) -> npt.NDArray[Any] | None:
    """What the voters say on each row, (m, -1); None if the rows are gone."""
    if isinstance(rows, Scores):
        return rows.values.reshape(rows.n_rows, -1)
    return None if rows.pattern_of_row is None else rows.codes[rows.pattern_of_row]

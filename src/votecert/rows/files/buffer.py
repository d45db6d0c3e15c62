"""Collecting numbered votes, one byte each, while a file is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from votecert.rows.ballots import Ballots
from votecert.rows.files.columns import Columns
from votecert.rows.files.label_book import MISSING, LabelBook, kind_of
from votecert.rows.labels import Label
from votecert.rows.patterns import Codes, patterns_repeat, row_blocks, unique_rows

Numbers = npt.NDArray[np.uint16]


class VoteBuffer:
    """Votes, true labels and groups of the rows read so far.

    Memory is one byte a vote (two with more than 255 labels): the array grows in place towards the size that
    the share of the file read so far promises, instead of being joined from pieces in the end.

    Parameters
    ----------
    columns : Columns
        What each column is.
    source : str
        Name of the file, for messages.
    classes : sequence of labels, optional
        The declared classes.
    """

    def __init__(self, columns: Columns, source: str, classes: Sequence[Label] | None = None) -> None:
        declared = set() if classes is None else {str(label) for label in classes}
        self.columns, self.source, self.classes = columns, source, classes
        self.book = LabelBook(source, MISSING - declared)
        self.group_book = LabelBook(source, MISSING)
        self.n_rows = 0
        self._votes: Codes = np.empty((0, len(columns.voters)), dtype=np.uint8)
        self._truth: list[Numbers] = []
        self._groups: list[Numbers] = []

    def add(self, votes: Numbers, truth: Numbers, groups: Numbers | None, share_read: float | None) -> None:
        """Append rows.

        Parameters
        ----------
        votes, truth, groups : arrays of numbers from ``book`` and ``group_book``
        share_read : float or None
            How much of the file has been read, if known.
        """
        self._refuse_missing(truth, self.columns.label, "true label")
        if groups is not None and self.columns.group is not None:
            self._refuse_missing(groups, self.columns.group, "group")
            self._groups.append(groups)
        self._truth.append(truth)
        self._append(votes, share_read)

    def _append(self, votes: Numbers, share_read: float | None) -> None:
        self._make_room(len(votes), share_read)
        self._votes[self.n_rows : self.n_rows + len(votes)] = votes
        self.n_rows += len(votes)

    def _make_room(self, n_more: int, share_read: float | None) -> None:
        if len(self.book.labels) > 255 and self._votes.dtype == np.uint8:
            self._votes = self._votes.astype(np.uint16)
        needed = self.n_rows + n_more
        if needed > len(self._votes):
            promised = 1.02 * needed / share_read if share_read else 0.0
            self._resize(max(needed + 64, int(min(promised, 4 * needed)), int(1.25 * len(self._votes))))

    def _resize(self, n_rows: int) -> None:
        # In place: joining or copying would need the memory of the votes twice.
        self._votes.resize((n_rows, self._votes.shape[1]), refcheck=False)

    def _refuse_missing(self, numbers: Numbers, column: int, what: str) -> None:
        if not numbers.all():
            row = self.n_rows + int(numbers.argmin()) + 1
            raise ValueError(
                f"{self.source}: row {row} (the header not counted) has no {what} in column "
                f"{self.columns.names[column]!r}. Fill it in, or leave out the row."
            )

    def finish(self, *, untyped: bool, can_abstain: bool | None) -> Ballots:
        """The ballots of all rows.

        Parameters
        ----------
        untyped : bool
            Whether text may stand for numbers and bools, as in csv files.
        can_abstain : bool or None
            Whether voters can abstain; None: whether one does.
        """
        votes, order, table = self._codes(untyped)
        labels = table[np.concatenate(self._truth)].astype(np.intp)
        any_missing = any(bool((votes[rows] == len(order)).any()) for rows in row_blocks(*votes.shape))
        if any_missing and can_abstain is False:
            raise ValueError(f"{self.source} has missing votes although voters are said not to abstain.")
        ballots = _ballots(
            votes,
            labels,
            np.array(order),
            self.classes is not None,
            bool(can_abstain) or any_missing,
            any_missing,
        )
        return replace(ballots, abstention_declared=can_abstain is not None)

    def _codes(self, untyped: bool) -> tuple[Codes, list[Label], npt.NDArray[Any]]:
        """Class indices of the votes, the classes in their order, and the class index of each number."""
        if self.n_rows == 0:
            raise ValueError(f"{self.source} has no rows: at least one is needed.")
        self._resize(self.n_rows)
        order, table = self._class_order(untyped)
        return _renumbered(self._votes, table), order, table

    def groups(self) -> npt.NDArray[np.str_] | None:
        """The group of each row, or None."""
        if self.columns.group is None:
            return None
        return np.array(["", *map(str, self.group_book.labels)])[np.concatenate(self._groups)]

    def _class_order(self, untyped: bool) -> tuple[list[Label], npt.NDArray[Any]]:
        """The classes in their order, and the class index of each number (missing: the number of classes)."""
        kind = None if self.classes is None else kind_of(self.classes)
        labels = self.book.typed(untyped, kind)
        if self.classes is None:
            order = sorted(set(labels))
            if len(order) < 2:
                raise ValueError(
                    f"{self.source}: only one label, {order[0]!r}, occurs in votes and truth. Declare all "
                    "labels there can be with classes=[...]."
                )
        else:
            order = list(self.classes)
            if kind is not str and labels and isinstance(labels[0], str) and not untyped:
                order = [str(label) for label in order]
        index = {label: place for place, label in enumerate(order)}
        for number, label in enumerate(labels):
            if label not in index:
                raise ValueError(
                    f"{self.source}: column {self.book.first_column[number]!r} holds {label!r}, which is not "
                    f"one of the declared classes {', '.join(map(repr, order[:8]))}. Add it to the classes, "
                    "correct the file, or leave the column out."
                )
        return order, np.array(
            [len(order), *(index[label] for label in labels)], np.min_scalar_type(len(order))
        )


class UnlabelledBuffer(VoteBuffer):
    """Votes on new rows, whose true labels nobody knows.

    A reader that wants a column of true labels may be given any: it is not looked at.
    """

    def add(self, votes: Numbers, truth: Numbers, groups: Numbers | None, share_read: float | None) -> None:
        """Append rows; ``truth`` and ``groups`` are left alone."""
        self._append(votes, share_read)

    def codes(self, *, untyped: bool) -> Codes:
        """Class indices of the votes, one row a row; a missing vote is the number of classes."""
        return self._codes(untyped)[0]


def _renumbered(votes: Codes, table: npt.NDArray[Any]) -> Codes:
    """Class indices of numbered votes, in place when the type allows it."""
    out = votes if votes.dtype == table.dtype else np.empty(votes.shape, dtype=table.dtype)
    for rows in row_blocks(*votes.shape):
        out[rows] = table[votes[rows]]
    return out


def _ballots(
    votes: Codes,
    labels: npt.NDArray[np.intp],
    classes: npt.NDArray[Any],
    declared: bool,
    can_abstain: bool,
    any_missing: bool,
) -> Ballots:
    """Ballots that own these codes; ``Ballots.from_votes`` would copy them."""
    n_values = len(classes) + any_missing
    if not patterns_repeat(votes, labels, n_values):
        ones = np.ones(len(votes), dtype=np.int64)
        return Ballots(votes, labels, ones, classes, declared, can_abstain, np.arange(len(votes)))
    first, counts, pattern_of_row = unique_rows(votes, labels, n_values)
    return Ballots(
        votes.take(first, axis=0), labels[first], counts, classes, declared, can_abstain, pattern_of_row
    )

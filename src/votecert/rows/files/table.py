"""What a reader of a file format makes: a table whose cells come in blocks; and its cells as numbers.

A reader is a function of a :class:`Source` that returns a :class:`Table`, or :class:`Arrays` where the votes
are an array already. It is registered in :data:`votecert.rows.files.read.FORMATS`; everything else (which
column is what, labels, missing votes, groups, one byte a vote) is done here, for all formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from votecert._types import AnyArray, Indices, IntArray, Label
from votecert.rows.files.columns import Columns
from votecert.rows.vocabulary import MISSING, Numbered, Vocabulary, kind_of

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Source:
    """A file to read.

    Attributes
    ----------
    name : str
        For messages.
    stream : binary file
        Its bytes.
    path : Path or None
        Where it is; None for a stream.
    header : bool
        Whether text begins with the names of the columns.
    progress : callable or None
        To be called as ``progress(done, total)`` after each block; ``total`` is None if unknown.
    """

    name: str
    stream: BinaryIO
    path: Path | None = None
    header: bool = True
    progress: Progress | None = None


class Factor(NamedTuple):
    """A column as its different values and the place of each row's among them, -1 where it is missing."""

    values: Sequence[Any]
    places: Indices


class Block(NamedTuple):
    """Some rows.

    Attributes
    ----------
    cells : array, or what gives columns for positions, such as a dictionary
        One-character cells as an array of their bytes, rows x columns, 0 where a cell is empty; or columns,
        each a sequence of its entries or a Factor.
    share_read : float or None
        How much of the file has been read, if known.
    """

    cells: Any
    share_read: float | None = None


@dataclass(frozen=True)
class Table:
    """A file that has been opened.

    Attributes
    ----------
    names : sequence of str
        Names of its columns.
    blocks : callable
        Gives the blocks of the file; its argument are the positions of the columns that are needed.
    typed : bool
        Whether numbers are numbers; in csv files all cells are text.
    """

    names: Sequence[str]
    blocks: Callable[[Sequence[int]], Iterator[Block]]
    typed: bool = True
    named = True


@dataclass(frozen=True)
class Arrays:
    """A file of arrays: rows x columns, and where labels and groups are not among the columns, these.

    Attributes
    ----------
    array : (rows, columns) array
    names : tuple of str
        Names of its columns.
    named : bool
        Whether the file has names; otherwise they are positions.
    others : mapping or None
        Arrays with labels and groups, where these are no columns.
    """

    array: AnyArray
    names: tuple[str, ...]
    named: bool = False
    others: Mapping[str, AnyArray] | None = None

    def columns(self, positions: Sequence[int]) -> AnyArray:
        """Some columns. A slice keeps a file mapped; a choice with gaps has to be copied."""
        first, last = positions[0], positions[-1] + 1
        if list(positions) == list(range(first, last)):
            return self.array[:, first:last]
        return self.array[:, list(positions)]

    def column(self, which: int | str | None) -> AnyArray:
        """One column, or one of the other arrays."""
        return (self.others or {})[which] if isinstance(which, str) else self.array[:, which]


class NumberedRows:
    """The cells of a table as numbers of their labels, and the labels.

    Parameters
    ----------
    table : Table
    columns : Columns
        What each column is.
    classes : sequence of labels, optional
        The declared classes.
    """

    def __init__(self, table: Table, columns: Columns, classes: Sequence[Label] | None = None) -> None:
        declared = set() if classes is None else {str(label) for label in classes}
        self._table, self._columns, self._classes = table, columns, classes
        self._vocabulary = Vocabulary("votes", MISSING - declared)
        self._group_names = Vocabulary("groups", MISSING)
        self._n_rows = 0

    def blocks(self) -> Iterator[tuple[IntArray, IntArray | None, IntArray | None, float | None]]:
        """Votes (rows x voters), true labels, groups, and the share of the file that has been read."""
        columns = self._columns
        for cells, share_read in self._table.blocks(columns.used):
            # Truth first: its labels then come first in messages about labels.
            truth = self._one(cells, columns.label, self._vocabulary, "true label")
            votes = self._numbers(cells, columns.voters, self._vocabulary)
            groups = self._one(cells, columns.group, self._group_names, "group")
            del cells  # or it would still be there while the next block is made
            self._n_rows += len(votes)
            yield votes, truth, groups, share_read

    def in_parts(self) -> Iterator[tuple[Numbered, Numbered]]:
        """Votes and true labels, block by block."""
        for votes, truth, _, _ in self.blocks():
            yield self._part(votes), self._part(truth)

    def collected(self) -> tuple[Numbered, Numbered, AnyArray | None]:
        """Votes, true labels and groups of all rows."""
        votes, truth = Numbered(self._vocabulary, len(self._columns.voters)), Numbered(self._vocabulary, 1)
        groups = []
        for some_votes, some_truth, some_groups, share_read in self.blocks():
            votes.append(some_votes, share_read)
            if some_truth is not None:
                truth.append(some_truth, share_read)
            if some_groups is not None:
                groups.append(some_groups[:, 0])
        if not self._n_rows:
            raise ValueError("there are no rows: at least one is needed.")
        if not self._table.typed:
            kind = None if self._classes is None else kind_of(self._classes)
            votes.values = truth.values = self._vocabulary.typed(kind)
        names = np.array(["", *map(str, self._group_names.labels)])
        return votes, truth, names[np.concatenate(groups)] if groups else None

    def _part(self, numbers: IntArray | None) -> Numbered:
        assert numbers is not None
        part = Numbered(self._vocabulary, numbers.shape[1])
        part.append(numbers, 1.0)
        return part

    def _one(self, cells: Any, position: int | str | None, vocabulary: Vocabulary, what: str) -> Any:
        """Numbers of one column without gaps, (rows, 1)."""
        if not isinstance(position, int):
            return None
        numbers = self._numbers(cells, [position], vocabulary)
        if not numbers.all():
            raise ValueError(
                f"row {self._n_rows + int(numbers.argmin()) + 1} (the header not counted) has no {what} in "
                f"column {self._columns.names[position]!r}. Fill it in, or leave out the row."
            )
        return numbers

    def _numbers(self, cells: Any, positions: Sequence[int], vocabulary: Vocabulary) -> AnyArray:
        if isinstance(cells, np.ndarray):
            return self._characters(cells, list(positions), vocabulary)
        columns = (self._entries(cells[position], position, vocabulary) for position in positions)
        first = next(columns)
        numbers = np.empty((len(first), len(positions)), dtype=np.uint16)
        numbers[:, 0] = first
        for place, column in enumerate(columns, start=1):
            numbers[:, place] = column
        return numbers

    def _entries(self, column: Any, position: int, vocabulary: Vocabulary) -> AnyArray:
        vocabulary.where = f"column {self._columns.names[position]!r}"
        if isinstance(column, Factor):  # only its different values pass through Python
            return np.append(vocabulary.number(column.values), 0)[column.places]
        return vocabulary.number(column)

    def _characters(self, cells: AnyArray, positions: list[int], vocabulary: Vocabulary) -> AnyArray:
        """Numbers of cells that are single characters; the character 0 is an empty cell."""
        cells = cells[:, positions]
        table = np.zeros(256, dtype=np.uint16)
        for code in np.flatnonzero(np.bincount(cells.ravel(), minlength=256)).tolist():
            entry = bytes([code]) if code else b""
            if entry not in vocabulary:
                column = positions[int((cells == code).any(axis=0).argmax())]
                vocabulary.where = f"column {self._columns.names[column]!r}"
            table[code] = vocabulary[entry]
        return table[cells]

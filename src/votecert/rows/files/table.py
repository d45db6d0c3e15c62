"""What a reader of a file format makes: a table whose cells come in blocks; and its cells as numbers.

A reader is a function of a :class:`Source` that returns a :class:`Table`, or :class:`Arrays` where the votes
are an array already. It is registered in :data:`votecert.rows.files.open.FORMATS`; everything else (which
column is what, labels, missing votes, groups, one byte a vote) is done for all formats alike.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from votecert._types import AnyArray, Indices, IntArray
from votecert.rows.files.columns import Columns
from votecert.rows.vocabulary import MISSING, MOST_NAMES, Numbered, Vocabulary

Progress = Callable[[int, int | None], None]


class NoRowsError(ValueError):
    """There are no rows, or none with a true label: there may be some tomorrow."""


class Source(NamedTuple):
    """A file to read.

    Attributes
    ----------
    name : str
        For messages.
    stream : binary file
        Its bytes.
    path : Path or None
        Where it is; None for a stream, and for what has to be unpacked.
    file : binary file or None
        What lies on the disk, if the stream unpacks it.
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
    file: BinaryIO | None = None

    def advance(self, n_read: int) -> float | None:
        """Tell the progress after so many bytes of the stream; return the share of the file, if known."""
        size = None
        if self.file is not None:
            n_read, size = self.file.tell(), os.fstat(self.file.fileno()).st_size
        if self.progress is not None:
            self.progress(n_read, size)
        return min(1.0, n_read / size) if size else None


class Factor(NamedTuple):
    """A column as its different values and the place of each row's among them, -1 where it is missing."""

    values: Sequence[Any]
    places: Indices


class Block(NamedTuple):
    """Some rows.

    Attributes
    ----------
    cells : array, or dictionary of columns by position
        One-character cells as an array of their bytes, rows x columns, 0 where a cell is empty; or columns,
        each a sequence of its entries or a Factor.
    share_read : float or None
        How much of the file has been read, if known.
    """

    cells: Any
    share_read: float | None = None

    def column(self, position: int) -> Any:
        """A column by itself: its entries, Cells or a Factor."""
        if not isinstance(self.cells, np.ndarray):
            return self.cells[position]
        values = [b"", *(bytes([code]) for code in range(1, 256))]
        return Factor(values, self.cells[:, position].astype(np.intp))


class Table(NamedTuple):
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


class Arrays(NamedTuple):
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

    def column(self, which: int | str) -> AnyArray:
        """One column, or one of the other arrays."""
        return (self.others or {})[which] if isinstance(which, str) else self.array[:, which]


class Rows(NamedTuple):
    """Rows as they were read.

    Attributes
    ----------
    votes : Numbered, or array
        Rows x voters.
    labels : Numbered or None
        The true labels, missing where there is none.
    voters : tuple of str or None
        Names of the voters, if they have any.
    groups, items : (m,) arrays of text, or None
    notes : tuple of str
        What was noticed while reading.
    """

    votes: Any
    labels: Numbered | None
    voters: tuple[str, ...] | None
    groups: AnyArray | None = None
    items: AnyArray | None = None
    notes: tuple[str, ...] = ()


def names_of(what: str) -> Vocabulary:
    """A vocabulary for names of items or judges, of which there may be many; NA is a name."""
    return Vocabulary(what, frozenset({""}), most=MOST_NAMES)


def numbers_of(column: Any, vocabulary: Vocabulary) -> IntArray:
    """Numbers of the entries of a column."""
    if isinstance(column, Factor):  # only its different values pass through Python
        used = np.flatnonzero(np.bincount(column.places + 1)[1:])
        table = np.zeros(len(column.values) + 1, dtype=np.int64)  # the last one for what is missing
        table[used] = vocabulary.number([column.values[place] for place in used.tolist()])
        return table[column.places]
    return vocabulary.number(column)


def numbered(
    block: Block, places: Mapping[str, Any], names: Sequence[str], vocabularies: Mapping[str, Vocabulary]
) -> dict[str, IntArray]:
    """Numbers of the entries of some columns, by what they are."""
    found = {}
    for what, place in places.items():
        vocabularies[what].where = f"column {names[place]!r}"
        found[what] = numbers_of(block.column(place), vocabularies[what])
    return found


class NumberedRows:
    """The cells of a table as numbers of their labels, and the labels.

    Parameters
    ----------
    table : Table
    columns : Columns
        What each column is.
    vocabulary : Vocabulary
        For votes and true labels.
    """

    def __init__(self, table: Table, columns: Columns, vocabulary: Vocabulary) -> None:
        self._table, self._columns, self._vocabulary = table, columns, vocabulary
        self._names = {"group": Vocabulary("groups", MISSING), "item": names_of("items")}
        used = {*columns.voters, *columns.facts.values()}
        self._used = sorted(place for place in used if isinstance(place, int))
        self._n_rows = 0

    def blocks(self, all_labelled: bool) -> Iterator[tuple[IntArray, dict[str, IntArray], float | None]]:
        """Votes (rows x voters); labels, groups and items, as far as there are; the share read so far."""
        columns, vocabularies = self._columns, {"true label": self._vocabulary, **self._names}
        for block in self._table.blocks(self._used):
            # Truth first: its labels then come first in messages about labels.
            facts = numbered(block, columns.facts, columns.names, vocabularies)
            for what, numbers in facts.items():
                if not numbers.all() and (what != "true label" or all_labelled):
                    row = self._n_rows + int(numbers.argmin()) + 1
                    raise ValueError(
                        f"row {row} (the header not counted) has no {what} in {vocabularies[what].where}. "
                        "Fill it in, or leave out the row."
                    )
            votes = self._numbers(block, columns.voters)
            share_read = block.share_read
            del block  # or its cells would still be there while the next block is made
            self._n_rows += len(votes)
            yield votes, facts, share_read

    def in_parts(self) -> Iterator[tuple[Numbered, Numbered]]:
        """Votes and true labels, block by block."""
        for votes, facts, _ in self.blocks(all_labelled=True):
            labels = facts["true label"][:, None]
            yield Numbered(self._vocabulary, numbers=votes), Numbered(self._vocabulary, numbers=labels)

    def collected(self) -> Rows:
        """All rows; those without a true label, too."""
        votes, labels = Numbered(self._vocabulary, len(self._columns.voters)), Numbered(self._vocabulary)
        found: dict[str, list[IntArray]] = {}
        for some, facts, share_read in self.blocks(all_labelled=False):
            votes.append(some, share_read)
            if "true label" in facts:
                labels.append(facts.pop("true label")[:, None], share_read)
            for what, numbers in facts.items():
                found.setdefault(what, []).append(numbers)
        if not self._n_rows:
            raise NoRowsError("there are no rows: at least one is needed.")
        joined = {what: np.concatenate(parts) for what, parts in found.items()}
        names = {what: self._names[what].texts(joined[what]) for what in self._names if what in joined}
        known = labels if len(labels.numbers) else None
        return Rows(votes, known, self._columns.voter_names, names.get("group"), names.get("item"))

    def _numbers(self, block: Block, positions: Sequence[int]) -> AnyArray:
        if isinstance(block.cells, np.ndarray):
            return self._characters(block.cells, list(positions))
        numbers: AnyArray = np.empty((0, 0))
        for place, position in enumerate(positions):
            self._vocabulary.where = f"column {self._columns.names[position]!r}"
            column = numbers_of(block.cells[position], self._vocabulary)
            if place == 0:
                numbers = np.empty((len(column), len(positions)), dtype=np.uint16)
            numbers[:, place] = column
        return numbers

    def _characters(self, cells: AnyArray, positions: list[int]) -> AnyArray:
        """Numbers of cells that are single characters; the character 0 is an empty cell."""
        cells, vocabulary = cells[:, positions], self._vocabulary
        table = np.zeros(256, dtype=np.uint16)
        for code in np.flatnonzero(np.bincount(cells.ravel(), minlength=256)).tolist():
            entry = bytes([code]) if code else b""
            if entry not in vocabulary:
                column = positions[int((cells == code).any(axis=0).argmax())]
                vocabulary.where = f"column {self._columns.names[column]!r}"
            table[code] = vocabulary[entry]
        return table[cells]

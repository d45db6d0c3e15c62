"""Votes from csv and tsv text, block by block.

Most files of votes have short cells without quotes: such a block is cut by NumPy when its cells are single
characters, and by ``bytes.split`` otherwise. From the first quote on, Python's csv reader takes over.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from votecert.rows.files.buffer import Numbers, VoteBuffer
from votecert.rows.files.columns import refuse_width

LONGEST_LINE = 10_000_000
"""Lines with more bytes are refused."""

BLOCK_BYTES = 1 << 20
"""Bytes read at a time."""

Progress = Callable[[int, int | None], None]


class TextSource:
    """Complete lines of a binary stream, with a limit on their length.

    Parameters
    ----------
    stream : binary file
    name : str
        For messages.
    size : int or None
        Bytes in all, if known.
    progress : callable, optional
        Called as ``progress(bytes read, bytes in all)`` after each block.
    """

    def __init__(self, stream: BinaryIO, name: str, size: int | None, progress: Progress | None) -> None:
        self._stream, self.name, self._size, self._progress = stream, name, size, progress
        self._waiting = b""
        self._read = 0

    @property
    def share_read(self) -> float | None:
        """How much of the file has been read, if its size is known."""
        return min(1.0, self._read / self._size) if self._size else None

    def first_line(self) -> bytes:
        """The first line that is not empty, without its end; what follows stays to be read."""
        while True:
            line, end, rest = self._waiting.partition(b"\n")
            if end and line.strip():
                self._waiting = rest
                return line
            if end:
                self._waiting = rest
            elif not self._read_more():
                self._waiting = b""
                if not line.strip():
                    raise ValueError(f"{self.name} is empty.")
                return line

    def put_back(self, line: bytes) -> None:
        """Undo :meth:`first_line`."""
        self._waiting = line + b"\n" + self._waiting

    def blocks(self) -> Iterator[bytes]:
        """The remaining lines in blocks, each line with its end."""
        more = True
        while more:
            more = self._read_more()
            cut = self._waiting.rfind(b"\n") + 1 if more else len(self._waiting)
            block, self._waiting = self._waiting[:cut], self._waiting[cut:]
            if block:
                block = block if block.endswith(b"\n") else block + b"\n"
                yield block.replace(b"\r\n", b"\n") if b"\r" in block else block

    def _read_more(self) -> bool:
        data = self._stream.read(BLOCK_BYTES)
        self._read += len(data)
        if b"\0" in data:
            raise ValueError(
                f"{self.name} is not plain text in UTF-8: it has zero bytes. Save it as csv in UTF-8."
            )
        self._waiting += data
        if len(self._waiting) - self._waiting.rfind(b"\n") > LONGEST_LINE:
            raise ValueError(
                f"{self.name} has a line of more than {LONGEST_LINE} bytes: it is no table of votes."
            )
        if self._progress is not None:
            self._progress(self._read, self._size)
        return bool(data)


def read_header(source: TextSource, delimiter: str | None, has_header: bool) -> tuple[list[str], str]:
    """Names of the columns and what separates them; without a header, names are made up."""
    line = source.first_line()
    if line.endswith(b"\r"):
        line = line[:-1]
    if b"\r" in line:
        raise ValueError(
            f"{source.name} has line ends that are not read (CR only): save it with usual ones (LF)."
        )
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{source.name} is not UTF-8 text: save it as UTF-8.") from None
    delimiter = delimiter or guess_delimiter(text)
    refuse_width(max(2, text.count(delimiter) + 1), source.name)  # before any cell is made
    if text.count('"') % 2:
        raise ValueError(f"{source.name}: the first line has an open quote. Close it; names are on one line.")
    names = next(csv.reader([text], delimiter=delimiter))
    if not has_header:
        source.put_back(text.encode())
        names = [f"column {position}" for position in range(len(names))]
    return names, delimiter


def guess_delimiter(header: str) -> str:
    """Comma, unless the first line has none but semicolons or tabs.

    Examples
    --------
    >>> guess_delimiter("a;b;truth"), guess_delimiter("a,b")
    (';', ',')
    """
    return next((mark for mark in (",", ";", "\t") if mark in header), ",")


class DelimitedReader:
    """Numbers the cells of text with separators and puts them on a buffer."""

    def __init__(self, source: TextSource, delimiter: str, buffer: VoteBuffer) -> None:
        self._source, self._delimiter, self._buffer = source, delimiter, buffer
        self._width = len(buffer.columns.names)

    def read(self) -> None:
        """Read all rows."""
        blocks = self._source.blocks()
        for block in blocks:
            if b'"' in block:
                self._read_quoted(chain([block], blocks))
            else:
                self._read_plain(block)

    def _read_plain(self, block: bytes) -> None:
        block = re.sub(rb"\n{2,}", b"\n", block).lstrip(b"\n") if b"\n\n" in b"\n" + block else block
        if not block:
            return
        mark = self._delimiter.encode()
        buffer = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero((buffer == mark[0]) | (buffer == ord("\n")))
        self._refuse_ragged(block, buffer, ends)
        lengths = np.diff(ends, prepend=-1) - 1
        if lengths.max() <= 1:
            cells = np.where(lengths == 1, buffer[ends - 1], 0).reshape(-1, self._width)
            self._add_bytes(cells)
        else:
            entries = block.replace(b"\n", mark).split(mark)
            entries.pop()  # what follows the last line's end
            self._add_entries(entries)

    def _refuse_ragged(self, block: bytes, buffer: npt.NDArray[np.uint8], ends: npt.NDArray[np.intp]) -> None:
        is_line_end = buffer[ends] == ord("\n")
        n_lines = int(is_line_end.sum())
        if len(ends) == n_lines * self._width and is_line_end[self._width - 1 :: self._width].all():
            return
        mark = self._delimiter.encode()
        for number, line in enumerate(block.split(b"\n"), start=self._buffer.n_rows + 1):
            self._refuse_width(line.count(mark) + 1, number)

    def _refuse_width(self, n_cells: int, number: int) -> None:
        if n_cells != self._width:
            raise ValueError(
                f"{self._source.name}: row {number} (the header not counted) has {n_cells} cells but there "
                f"are {self._width} columns. Correct the row."
            )

    def _add_bytes(self, cells: npt.NDArray[np.uint8]) -> None:
        columns, buffer = self._buffer.columns, self._buffer
        # Truth first: its labels then come first in messages about labels.
        truth = buffer.book.number_bytes(cells[:, [columns.label]], [columns.names[columns.label]])[:, 0]
        votes = buffer.book.number_bytes(cells[:, list(columns.voters)], columns.voter_names)
        groups = None
        if columns.group is not None:
            groups = buffer.group_book.number_bytes(
                cells[:, [columns.group]], [columns.names[columns.group]]
            )[:, 0]
        buffer.add(votes, truth, groups, self._source.share_read)

    def _add_entries(self, entries: list[bytes] | list[str]) -> None:
        columns, buffer, width = self._buffer.columns, self._buffer, self._width
        truth = buffer.book.number(entries[columns.label :: width], columns.names[columns.label])
        votes: Numbers = np.empty((len(truth), len(columns.voters)), dtype=np.uint16)
        for place, position in enumerate(columns.voters):
            votes[:, place] = buffer.book.number(entries[position::width], columns.names[position])
        groups = None
        if columns.group is not None:
            groups = buffer.group_book.number(entries[columns.group :: width], columns.names[columns.group])
        buffer.add(votes, truth, groups, self._source.share_read)

    def _read_quoted(self, blocks: Iterator[bytes]) -> None:
        """Read the rest of the file with Python's csv reader, which knows quotes and line breaks in cells."""
        text = _QuotedText(blocks, self._source.name)
        before = csv.field_size_limit(LONGEST_LINE)
        try:
            pending: list[str] = []
            for record in csv.reader(text, delimiter=self._delimiter, strict=True):
                if record:
                    self._refuse_width(len(record), self._buffer.n_rows + len(pending) // self._width + 1)
                    pending += record
                if text.record_done():
                    self._add_entries(pending)
                    pending = []
            if pending:
                self._add_entries(pending)
        except csv.Error as error:
            row = self._buffer.n_rows + 1
            raise ValueError(f"{self._source.name}: bad quoting in row {row} or later ({error}).") from None
        finally:
            csv.field_size_limit(before)


class _QuotedText:
    """Lines for the csv reader; says when a block is used up and refuses endless records (an open quote)."""

    def __init__(self, blocks: Iterator[bytes], name: str) -> None:
        self._blocks, self._name = blocks, name
        self._lines: Iterator[str] = iter(())
        self._record_length = 0
        self._block_ended = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines, None)
        if line is None:
            self._block_ended = True
            self._lines = iter(io.StringIO(self._decoded(next(self._blocks)), newline="\n"))
            line = next(self._lines)
        self._record_length += len(line)
        if self._record_length > LONGEST_LINE:
            raise ValueError(
                f"{self._name} has a row of more than {LONGEST_LINE} characters: a quote may not be closed."
            )
        return line

    def record_done(self) -> bool:
        """Note that a record is complete; say whether a new block was begun since the last time."""
        ended, self._block_ended, self._record_length = self._block_ended, False, 0
        return ended

    def _decoded(self, block: bytes) -> str:
        try:
            return block.decode()
        except UnicodeDecodeError:
            raise ValueError(f"{self._name} is not UTF-8 text: save it as UTF-8.") from None

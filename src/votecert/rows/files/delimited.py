"""Csv and tsv text, block by block.

Most files of votes have short cells without quotes: such a block is cut by NumPy when its cells are single
characters, and by ``bytes.split`` otherwise. From the first quote on, Python's csv reader takes over.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from votecert.rows.cells import PADDING, Cells
from votecert.rows.files.columns import refuse_width
from votecert.rows.files.table import Block, Source, Table

LONGEST_LINE = 10_000_000
"""Lines with more bytes are refused."""

BLOCK_BYTES = 1 << 20
"""Bytes read at a time."""

_CELLS_AT_ONCE = 1 << 17

_MANY_LINES = 1 << 12  # in a block: then its columns are long, and are best compared by NumPy

_Blocks = Iterator[tuple[bytes, float | None]]  # complete lines, and the share of the file read so far


def read_delimited(source: Source, delimiter: str | None = None) -> Table:
    """The table in a text; by default its first line tells what separates the cells."""
    blocks = _complete_lines(source)
    for block, share in blocks:  # noqa: B007
        blank = re.match(rb"(\s*\n)?", block)
        line, _, rest = block[blank.end() if blank else 0 :].partition(b"\n")
        if line:
            break
    else:
        raise ValueError(f"{source.name} is empty.")
    if b"\r" in line:
        raise ValueError(
            f"{source.name} has line ends that are not read (CR only): save it with usual ones (LF)."
        )
    text = _decoded(line, source.name).removeprefix("\ufeff")
    mark = delimiter or guess_delimiter(text)
    refuse_width(max(2, text.count(mark) + 1), source.name)  # before any cell is made
    if text.count('"') % 2:
        raise ValueError(f"{source.name}: the first line has an open quote. Close it; names are on one line.")
    names = next(csv.reader([text], delimiter=mark))
    if not source.header:
        names = [f"column {position}" for position in range(len(names))]
        rest = text.encode() + b"\n" + rest
    lines = chain([(rest, share)], blocks)
    return Table(names, lambda used: _Cells(source.name, mark, len(names), used).read(lines), typed=False)


def guess_delimiter(header: str) -> str:
    """Comma, unless the first line has none but semicolons or tabs.

    Examples
    --------
    >>> guess_delimiter("a;b;truth"), guess_delimiter("a,b")
    (';', ',')
    """
    return next((mark for mark in (",", ";", "\t") if mark in header), ",")


def _complete_lines(source: Source) -> _Blocks:
    """The text in blocks of lines, each with its end."""
    waiting, n_read, more = b"", 0, True
    while more:
        data = source.stream.read(BLOCK_BYTES)
        more, n_read, waiting = bool(data), n_read + len(data), waiting + data
        if b"\0" in data:
            raise ValueError(
                f"{source.name} is not plain text in UTF-8: it has zero bytes. Save it as csv in UTF-8."
            )
        if len(waiting) - waiting.rfind(b"\n") > LONGEST_LINE:
            raise ValueError(
                f"{source.name} has a line of more than {LONGEST_LINE} bytes: it is no table of votes."
            )
        share = source.advance(n_read)
        cut = waiting.rfind(b"\n") + 1 if more else len(waiting)
        block, waiting = waiting[:cut], waiting[cut:]
        if block:
            block = block if block.endswith(b"\n") else block + b"\n"
            yield block.replace(b"\r\n", b"\n") if b"\r" in block else block, share


def _decoded(text: bytes, name: str) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text: save it as UTF-8.") from None


class _Cells:
    """Cuts lines into cells, and refuses rows of another width."""

    def __init__(self, name: str, delimiter: str, width: int, used: Sequence[int]) -> None:
        self._name, self._delimiter, self._width, self._used = name, delimiter, width, used
        self._n_rows = 0

    def read(self, blocks: _Blocks) -> Iterator[Block]:
        """The cells of all lines."""
        for block, share in blocks:
            if b'"' in block:
                yield from self._quoted(chain([(block, share)], blocks))
                return
            lines = (re.sub(rb"\n{2,}", b"\n", block) if b"\n\n" in block else block).lstrip(b"\n")
            if lines:
                yield self._plain(lines, share)

    def _plain(self, block: bytes, share: float | None) -> Block:
        mark = self._delimiter.encode()
        characters = np.frombuffer(block, dtype=np.uint8)
        ends = np.flatnonzero((characters == mark[0]) | (characters == ord("\n")))
        is_line_end = characters[ends] == ord("\n")
        n_lines = int(is_line_end.sum())
        if len(ends) != n_lines * self._width or not is_line_end[self._width - 1 :: self._width].all():
            for number, line in enumerate(block.split(b"\n")):
                self._refuse_width(line.count(mark) + 1, number)
        self._n_rows += n_lines
        lengths = np.diff(ends, prepend=-1) - 1
        if lengths.max() <= 1:
            cells = np.where(lengths == 1, characters[ends - 1], 0)
            return Block(cells.reshape(-1, self._width), share)
        if n_lines >= _MANY_LINES:
            starts, lengths = (cells.reshape(-1, self._width).T for cells in (ends - lengths, lengths))
            text = block + PADDING
            return Block({place: Cells(text, starts[place], lengths[place]) for place in self._used}, share)
        return self._columns(block[:-1].replace(b"\n", mark).split(mark), share)

    def _columns(self, entries: Sequence[bytes | str], share: float | None) -> Block:
        """Cells that come one row after the other, by columns."""
        return Block({place: entries[place :: self._width] for place in self._used}, share)

    def _quoted(self, blocks: _Blocks) -> Iterator[Block]:
        """The rest of the file by Python's csv reader, which knows quotes and line breaks in cells."""
        share: float | None = None
        record_length = 0
        pending: list[str] = []

        def lines() -> Iterator[str]:
            nonlocal share, record_length
            for block, share in blocks:  # noqa: B007
                for line in io.StringIO(_decoded(block, self._name), newline="\n"):
                    record_length += len(line)
                    if record_length > LONGEST_LINE:
                        raise ValueError(
                            f"{self._name} has a row of more than {LONGEST_LINE} characters: a quote may not "
                            "be closed."
                        )
                    yield line

        before = csv.field_size_limit(LONGEST_LINE)
        try:
            for record in csv.reader(lines(), delimiter=self._delimiter, strict=True):
                record_length = 0
                if record:
                    self._refuse_width(len(record), 0)
                    self._n_rows += 1
                    pending += record
                if len(pending) >= _CELLS_AT_ONCE:
                    yield self._columns(pending, share)
                    pending = []
            if pending:
                yield self._columns(pending, share)
        except csv.Error as error:
            row = self._n_rows + 1
            raise ValueError(f"{self._name}: bad quoting in row {row} or later ({error}).") from None
        finally:
            csv.field_size_limit(before)

    def _refuse_width(self, n_cells: int, number: int) -> None:
        if n_cells != self._width:
            raise ValueError(
                f"{self._name}: row {self._n_rows + number + 1} (the header not counted) has {n_cells} cells "
                f"but there are {self._width} columns. Correct the row."
            )

"""Votes from parquet files, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from votecert.rows.files.arrays import refuse_bombs
from votecert.rows.files.buffer import Numbers, VoteBuffer
from votecert.rows.files.columns import Columns, refuse_width
from votecert.rows.files.delimited import Progress
from votecert.rows.files.label_book import LabelBook

S = TypeVar("S", bound=VoteBuffer)

LARGEST_PAGES = 64_000_000
"""Files whose pages unpack to more bytes than this may be bombs. Votes are packed to a few bits in them."""

_CELLS_AT_ONCE = 1 << 20


def read_parquet(path: Path, make_buffer: Callable[[list[str]], S], progress: Progress | None) -> S:
    """Number the columns of a parquet file.

    Parameters
    ----------
    path : Path
    make_buffer : callable
        Makes the buffer when the names of the columns are known.
    progress : callable, optional
        Called as ``progress(rows read, rows in all)`` after each batch.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise ValueError(
            f"{path}: reading parquet files needs pyarrow. Install it: pip install 'votecert[tables]'."
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
        names, n_rows = list(schema.names), metadata.num_rows
        refuse_width(len(names), str(path))
        buffer = make_buffer(names)
        used = _used_names(buffer.columns, schema, str(path))
        # A few bytes of parquet can stand for any number of equal votes, or for very long texts ...
        refuse_bombs(path, n_rows * len(buffer.columns.voters))
        # (asked for the sizes of single columns, pyarrow kills the program if the file is damaged)
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        refuse_bombs(path, sum(group.total_byte_size for group in groups), LARGEST_PAGES)
        # ... which many cells may share: each column is read as numbers and a list of its different texts.
        with parquet.ParquetFile(path, metadata=metadata, read_dictionary=used) as file:
            for batch in file.iter_batches(batch_size=max(1, _CELLS_AT_ONCE // len(used)), columns=used):
                _add_batch(buffer, batch, n_rows)
                if progress is not None:
                    progress(buffer.n_rows, n_rows)
        return buffer
    except (ArrowException, OSError) as error:
        first_line = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(f"{path} is not a parquet file that can be read: {first_line}.") from None


def _add_batch(buffer: VoteBuffer, batch: Any, n_rows: int) -> None:
    columns = buffer.columns
    truth = _numbers(batch, columns.label, buffer.book, columns)
    votes: Numbers = np.empty((len(truth), len(columns.voters)), dtype=np.uint16)
    for place, position in enumerate(columns.voters):
        votes[:, place] = _numbers(batch, position, buffer.book, columns)
    groups = None if columns.group is None else _numbers(batch, columns.group, buffer.group_book, columns)
    buffer.add(votes, truth, groups, (buffer.n_rows + len(truth)) / n_rows)


def _numbers(batch: Any, position: int, book: LabelBook, columns: Columns) -> Numbers:
    """Numbers of one column: only its different values pass through Python."""
    encoded = batch.column(columns.used.index(position))  # only these are in the batch, in their order
    encoded = encoded if hasattr(encoded, "dictionary") else encoded.dictionary_encode()
    table = np.zeros(len(encoded.dictionary) + 1, dtype=np.uint16)
    table[1:] = book.number(encoded.dictionary.to_pylist(), columns.names[position])
    places = encoded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False) + 1
    return np.asarray(table[places])


def _used_names(columns: Columns, schema: Any, source: str) -> list[str]:
    """Names of the columns to read; the others are not even decoded."""
    from pyarrow import types

    used = [schema.names[place] for place in columns.used]
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"{source} has two columns of the same name: rename one.")
    for name in used:
        if types.is_nested(schema.field(name).type):
            raise ValueError(f"{source}: column {name!r} is nested: a vote is a single label.")
    return used

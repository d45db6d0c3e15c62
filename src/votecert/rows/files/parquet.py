"""Parquet files, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from votecert.rows.files.arrays import refuse_bombs
from votecert.rows.files.columns import refuse_width
from votecert.rows.files.table import Block, Factor, Source, Table

LARGEST_PAGES = 64_000_000
"""Files whose pages unpack to more bytes than this may be bombs. Votes are packed to a few bits in them."""

_CELLS_AT_ONCE = 1 << 20


def read_parquet(source: Source) -> Table:
    """The table in a parquet file."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError(
            f"{source.name}: reading parquet files needs pyarrow: python -m pip install pyarrow"
        ) from None
    with _refusing(source.name), parquet.ParquetFile(source.path) as file:
        schema, metadata = file.schema_arrow, file.metadata
    refuse_width(len(schema.names), source.name)
    return Table(schema.names, lambda used: _blocks(source, schema, metadata, used))


def _blocks(source: Source, schema: Any, metadata: Any, positions: Sequence[int]) -> Iterator[Block]:
    from pyarrow import parquet, types

    used = [schema.names[position] for position in positions]
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"{source.name} has two columns of the same name: rename one.")
    for name in used:
        if types.is_nested(schema.field(name).type):
            raise ValueError(f"{source.name}: column {name!r} is nested: a vote is a single label.")
    n_rows, done = metadata.num_rows, 0
    assert source.path is not None
    # A few bytes of parquet can stand for any number of equal votes, or for very long texts ...
    refuse_bombs(source.path, n_rows * max(1, len(used) - 1))  # a byte a vote
    # (asked for the sizes of single columns, pyarrow kills the program if the file is damaged)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    refuse_bombs(source.path, sum(group.total_byte_size for group in groups), LARGEST_PAGES)
    # ... which many cells may share: each column is read as numbers and a list of its different texts.
    with (
        _refusing(source.name),
        parquet.ParquetFile(source.path, metadata=metadata, read_dictionary=used) as file,
    ):
        for batch in file.iter_batches(batch_size=max(1, _CELLS_AT_ONCE // len(used)), columns=used):
            batch.validate(full=True)  # finds text that is no Unicode
            done += len(batch)
            columns = dict(zip(positions, map(_factor, batch.columns), strict=True))
            if source.progress is not None:
                source.progress(done, n_rows)
            yield Block(columns, done / n_rows if n_rows else None)


def _factor(column: Any) -> Factor:
    encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    places = encoded.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    return Factor(encoded.dictionary.to_pylist(), places)


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    """Refuse the file in a sentence, whatever its damage leads to."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError) as error:
        first_line = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(f"{name} is not a parquet file that can be read: {first_line}.") from None

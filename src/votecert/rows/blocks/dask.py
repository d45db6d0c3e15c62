"""Dask collections as blocks: counted where they are, joined in a tree, on any scheduler.

Every task is a function of its inputs alone, so Dask may run it again on another worker when one is lost.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from operator import itemgetter, methodcaller
from typing import Any

from votecert.rows.blocks.counting import Declaration, PackedBlock, pack_block
from votecert.rows.blocks.tally import MemoryLimit, Tally, join_tallies, tally_packed
from votecert.rows.labels import as_array
from votecert.rows.tables import refuse_other_length

FAN_IN = 8
"""Tallies that one task joins."""


def is_dask(data: Any) -> bool:
    """Whether this is a Dask array, dataframe or series, told by its looks: Dask is not imported for it.

    Examples
    --------
    >>> is_dask([[0, 1]])
    False
    """
    return type(data).__module__.partition(".")[0] == "dask" and hasattr(data, "to_delayed")


def is_array(data: Any) -> bool:
    """Whether a Dask collection is an array; the columns of a dataframe look like attributes, too."""
    return hasattr(type(data), "chunks")


def current_client() -> Any:
    """The client of the current cluster, or None."""
    if "distributed" not in sys.modules:  # then there is no cluster, and no need to import it
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


def tally_dask(votes: Any, y: Any, declared: Declaration, limit: MemoryLimit, client: Any = None) -> Tally:
    """The patterns of Dask votes and labels.

    Parameters
    ----------
    votes : Dask array or dataframe
        Rows x voters.
    y : Dask array or series, array, or str
        The true labels, or the name of their column among the votes.
    declared : Declaration
    limit : MemoryLimit
    client : distributed.Client, optional
        Where to compute; by default wherever Dask would.

    Notes
    -----
    The fitting part is drawn by the position of each row. Where the sizes of partitions are not known in
    advance, a chain of small tasks passes the number of rows so far from partition to partition; packed rows
    wait for it, and nothing is computed twice.
    """
    import dask

    blocks, sizes = _partitions(votes, y)
    pack, count, after = (dask.delayed(f, pure=False) for f in (pack_block, tally_packed, rows_after))
    start: Any = 0
    parts = []
    for number, block in enumerate(blocks):
        packed = pack(*block, number, declared)
        parts.append(count(packed, start, declared))
        if sizes is not None:
            start += sizes[number]
        elif declared.split > 0:  # otherwise nobody asks where a block starts
            start = after(start, packed)
    tally: Tally = dask.compute(_tree(parts, limit), scheduler=client)[0]
    if sizes is not None and tally.n_rows != sum(sizes):
        raise RuntimeError(
            f"{tally.n_rows} rows were counted, but the blocks were said to have {sum(sizes)}."
        )
    return tally


def _tree(parts: Sequence[Any], limit: MemoryLimit) -> Any:
    """The delayed sum of delayed tallies."""
    import dask

    join = dask.delayed(join_tallies, pure=False)
    while True:
        parts = [join(list(parts[i : i + FAN_IN]), limit) for i in range(0, len(parts), FAN_IN)]
        if len(parts) == 1:
            return parts[0]


def rows_after(start: int, block: PackedBlock | None) -> int:
    """Position of the row after the block."""
    return start + (0 if block is None else len(block.words))


def _partitions(votes: Any, y: Any) -> tuple[list[tuple[Any, Any]], list[int] | None]:
    """Delayed pairs of votes and labels, and their numbers of rows if these are known."""
    if not is_dask(votes):
        raise TypeError("y is a Dask collection and votes is not: both have to be chunked in the same way.")
    if isinstance(y, str):
        return _split_off(votes, y), None
    if is_array(votes):
        votes = in_rows(votes, "votes", "voters")
    y = _like(y, votes)
    votes_parts, y_parts = _delayed_parts(votes), _delayed_parts(y)
    if len(votes_parts) != len(y_parts):
        raise ValueError(
            f"votes have {len(votes_parts)} partitions and y has {len(y_parts)}: give both the same, for "
            "example by taking them from one dataframe."
        )
    return list(zip(votes_parts, y_parts, strict=True)), _sizes(votes) or _sizes(y)


def _delayed_parts(data: Any) -> list[Any]:
    if is_array(data):
        # Optimised one by one, votes and labels would each make anew what both are made from.
        return list(data.to_delayed(optimize_graph=False).ravel())
    return list(data.to_delayed())


def _split_off(table: Any, label: str) -> list[tuple[Any, Any]]:
    """Delayed pairs of votes and labels from one dataframe, whose partitions are made once."""
    import dask

    if label not in getattr(table, "columns", ()):
        raise ValueError(f"votes have no column {label!r}: y is the name of the label column, or the labels.")
    drop = dask.delayed(methodcaller("drop", columns=label), pure=False)
    take = dask.delayed(itemgetter(label), pure=False)
    return [(drop(part), take(part)) for part in table.to_delayed()]


def in_rows(array: Any, name: str, columns: str) -> Any:
    """The array with all columns of a row in one chunk."""
    if array.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, rows x {columns}, not {array.ndim}.")
    return array.rechunk({1: -1}) if array.numblocks[1] > 1 else array


def _like(y: Any, votes: Any) -> Any:
    """The labels, chunked like the votes where that is possible."""
    sizes = _sizes(votes)
    if y is None:
        raise TypeError("The true labels y are missing.")
    if not is_dask(y):
        import dask.array as da

        if sizes is None:
            raise TypeError("votes have chunks of unknown sizes: y has to be a Dask collection like them.")
        y = as_array(y, "y")
        refuse_other_length(sum(sizes), len(y))
        return da.from_array(y, chunks=(tuple(sizes), *y.shape[1:]))
    if is_array(y) and sizes is not None and _sizes(y) not in (None, sizes):
        refuse_other_length(sum(sizes), y.shape[0])
        return y.rechunk({0: tuple(sizes)})
    return y


def _sizes(data: Any) -> list[int] | None:
    """Rows of each chunk of an array; None if they are not known, as in a dataframe."""
    if not is_array(data) or any(math.isnan(size) for size in data.chunks[0]):
        return None
    return [int(size) for size in data.chunks[0]]

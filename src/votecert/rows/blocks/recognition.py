"""Telling by their looks what is chunked, without importing what made it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any


def is_dask(data: Any) -> bool:
    """Whether this is a Dask array, dataframe or series.

    Examples
    --------
    >>> is_dask([[0, 1]])
    False
    """
    return type(data).__module__.partition(".")[0] == "dask" and hasattr(data, "to_delayed")


def is_array(data: Any) -> bool:
    """Whether a Dask collection is an array; the columns of a dataframe look like attributes, too."""
    return hasattr(type(data), "chunks")


def is_in_blocks(votes: Any, y: Any) -> bool:
    """Whether these votes have to be read block by block: Dask collections, or an iterator with no ``y``."""
    return is_dask(votes) or is_dask(y) or (y is None and isinstance(votes, Iterator))


def is_sliceable(data: Any) -> bool:
    """Whether rows can be taken by slicing: arrays in memory or on disk."""
    return hasattr(data, "shape") and hasattr(data, "dtype") and hasattr(data, "__getitem__")


def current_client() -> Any:
    """The client of the current cluster, or None."""
    if "distributed" not in sys.modules:  # then there is no cluster, and no need to import it
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None

"""Rows that belong together: patients, conversations, queries. The cluster is then what is counted.

The loss of a cluster is the mean loss of its rows, rounded up to a multiple of 1/1024 so that a certificate
can store how many clusters have which loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from votecert._types import Indices, IntArray
from votecert.rows.tables import entries_of, is_missing, refuse_other_shape

GRID = 1024
"""Losses are rounded up to multiples of one part in so many."""

Places = tuple[tuple[int, int], ...]
"""How many units have which loss: pairs of a multiple of 1/GRID, growing, and a number."""


def read_clusters(clusters: Any, n_rows: int) -> Indices:
    """For each row the number of its cluster, from 0 on, in the order in which they come.

    Which clusters a vote is fitted on is drawn by number. Numbers by name would let names decide, which may
    tell easy clusters from hard ones.

    Examples
    --------
    >>> read_clusters(["b", "a", "b"], 3)
    array([0, 1, 0])
    """
    names = np.asarray(clusters)
    if (names.dtype.kind == "U" and names is not clusters) or np.ma.isMaskedArray(clusters):
        names = np.array(entries_of(clusters), dtype=object)  # as text, NaN would be a name
    refuse_other_shape(names, n_rows, "clusters", "name a row")
    if names.dtype.kind not in "OTUSbiu" and not (names.dtype.kind == "f" and np.isfinite(names).all()):
        raise ValueError("Some clusters are missing, or their names are no labels: every row needs one.")
    if names.dtype.kind == "O":
        if is_missing(names).any():
            raise ValueError("Some clusters are missing: every row needs one.")
        names = names.astype(str)
    _, first, number = np.unique(names, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number.reshape(-1)])


def places(numerators: npt.ArrayLike, denominators: npt.ArrayLike) -> Places:
    """Fractions of whole numbers, rounded up to the grid, and how often each is there.

    Examples
    --------
    >>> places([1, 0, 1], [2, 3, 3])
    ((0, 1), (342, 1), (512, 1))
    """
    rounded: IntArray = -(-np.asarray(numerators, dtype=np.int64) * GRID // np.asarray(denominators))
    value, count = np.unique(rounded, return_counts=True)
    return tuple(zip(value.tolist(), count.tolist(), strict=True))

"""Rows of votes for the search: equal ones merged, in an order of their own; and equal columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from votecert.rows.patterns import Codes, unique_rows

Ints = npt.NDArray[np.int64]


def canonical(
    codes: Codes, labels: npt.NDArray[np.intp], counts: Ints, n_values: int
) -> tuple[Codes, npt.NDArray[np.intp], Ints]:
    """Equal rows merged and put into an order of their own."""
    first, _, pattern_of_row = unique_rows(codes, labels, n_values)
    merged = np.bincount(pattern_of_row, weights=counts).astype(np.int64)
    return codes[first], labels[first], merged


def different_columns(codes: Codes) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """First of each set of equal columns, and for each column which set it is in."""
    seen: dict[bytes, int] = {}
    column_of = np.empty(codes.shape[1], dtype=np.intp)
    first: list[int] = []
    for j, column in enumerate(np.ascontiguousarray(codes.T)):
        place = seen.setdefault(column.tobytes(), len(first))
        if place == len(first):
            first.append(j)
        column_of[j] = place
    return np.array(first), column_of

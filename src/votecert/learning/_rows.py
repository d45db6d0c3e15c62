"""Rows of votes for the search: a sample of them, equal ones merged, in an order of their own."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from votecert._patterns import Codes, row_blocks, unique_rows

Ints = npt.NDArray[np.int64]

_MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd and far from regular: 2^64 divided by the golden ratio


def content_sample(codes: Codes, labels: npt.NDArray[np.intp], n_wanted: int) -> npt.NDArray[np.intp]:
    """Patterns whose contents hash lowest: a sample that does not depend on their order."""
    weights = np.random.default_rng(0).integers(1, 1 << 32, codes.shape[1] + 1).astype(np.float64)
    hashed = np.empty(len(codes))
    for rows in row_blocks(*codes.shape):
        # sums of whole numbers below 2^53 are exact, so equal rows hash equally
        hashed[rows] = codes[rows].astype(np.float64) @ weights[1:] + labels[rows] * weights[0]
    mixed = hashed.astype(np.uint64) * _MIXER  # wraps around: the high bits are well mixed
    cut = np.partition(mixed, n_wanted - 1)[n_wanted - 1]
    return np.flatnonzero(mixed <= cut)


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

"""Rows of class codes: packed into words, equal ones found, sampled by what they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

from votecert._types import AnyArray, Indices, Words
from votecert._types import BoolArray as BoolArray  # also imported from here
from votecert._types import Codes as Codes
from votecert._types import IntArray as IntArray

_BLOCK_ENTRIES = 1 << 18  # entries handled at a time: little scratch memory, however many rows there are
_SAMPLE_ROWS = 1 << 14  # rows looked at to decide whether compression pays
_TABLE_KEYS = 1 << 21  # up to so many possible keys, counting beats sorting
MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd and far from regular: 2^64 divided by the golden ratio
HALF = np.uint64(32)

Piece: TypeAlias = tuple[Codes, Indices, IntArray]  # patterns: codes, labels and counts


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Consecutive slices of rows, each with few enough entries to work on in cache.

    Examples
    --------
    >>> [(rows.start, rows.stop) for rows in row_blocks(5, 1 << 17)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, _BLOCK_ENTRIES // max(1, width))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def patterns_repeat(codes: Codes, labels: Indices, n_values: int) -> bool:
    """Whether a sample of rows says that equal rows are common enough to be worth finding.

    Few rows are always worth it. Otherwise, were each row there twice, a sample of s out of m rows would hold
    about s^2/(2m) repetitions: as many are asked for, or a tenth of the sample if that is less.
    """
    n_rows = len(codes)
    if n_rows <= _SAMPLE_ROWS:
        return True
    sample = np.random.default_rng(0).choice(n_rows, _SAMPLE_ROWS, replace=False)
    n_distinct = len(unique_rows(codes[sample], labels[sample], n_values)[0])
    return _SAMPLE_ROWS - n_distinct >= max(2.0, min(_SAMPLE_ROWS / 10, _SAMPLE_ROWS**2 / (2 * n_rows)))


def unique_rows(codes: Codes, labels: Indices, n_values: int) -> tuple[Indices, IntArray, Indices]:
    """Find the different (label, votes) rows.

    Returns
    -------
    representative : (n,) a row that shows each pattern
    counts : (n,) number of rows with it
    pattern_of_row : (m,) pattern of each row

    The order of the patterns depends on the set of rows only, not on their order.

    Examples
    --------
    >>> codes, labels = np.array([[0], [1], [0]], np.uint8), np.array([1, 0, 1])
    >>> representative, counts, pattern_of_row = unique_rows(codes, labels, 2)
    >>> counts.tolist(), pattern_of_row.tolist()
    ([1, 2], [1, 0, 1])
    """
    n_bits = bits_for(n_values)
    return unique_words(pack_rows(codes, labels, n_bits), n_bits * (codes.shape[1] + 1))


def unique_words(words: Words, n_bits: int) -> tuple[Indices, IntArray, Indices]:
    """:func:`unique_rows` of packed rows, with so many bits in use; patterns come in order of their keys."""
    if 1 << n_bits <= min(_TABLE_KEYS, 4 * len(words)):
        return _unique_by_table(words[:, 0].astype(np.intp), 1 << n_bits)
    keys = sort_keys(words)
    order = np.argsort(keys)
    is_new = _changes(words, order)
    if words.shape[1] > 1 and is_new.sum() > 1 + np.count_nonzero(np.diff(keys[order])):
        order = np.lexsort((*words.T, keys))  # different rows share a key: rare, and their words tell
        is_new = _changes(words, order)
    starts = np.flatnonzero(is_new)
    pattern_of_row = np.empty(len(words), dtype=np.intp)
    pattern_of_row[order] = np.cumsum(is_new) - 1
    return order[starts], np.diff(starts, append=len(words)).astype(np.int64), pattern_of_row


def bits_for(n_values: int) -> int:
    """Bits that tell so many values apart."""
    return max(1, (n_values - 1).bit_length())


def pack_rows(codes: Codes, labels: Indices, n_bits: int) -> Words:
    """Each row as words of 64 bits: zeros, the label, the votes, in planes of one bit of each.

    Examples
    --------
    >>> pack_rows(np.array([[0, 1, 1]], np.uint8), np.array([1]), n_bits=1)
    array([[11]], dtype=uint64)
    """
    n_rows, n_voters = codes.shape
    n_words = -(-n_bits * (n_voters + 1) // 64)
    words = np.empty((n_rows, n_words), dtype=np.uint64)
    for rows in row_blocks(n_rows, 64 * n_words):
        bits = np.zeros((rows.stop - rows.start, 64 * n_words), dtype=np.uint8)
        for plane in range(n_bits):
            end = bits.shape[1] - plane * n_voters
            block = codes[rows] if n_bits == 1 else (codes[rows] >> plane) & 1
            bits[:, end - n_voters : end] = block
            bits[:, -n_bits * n_voters - 1 - plane] = (labels[rows] >> plane) & 1
        words[rows] = np.packbits(bits.ravel()).view(">u8").reshape(-1, n_words)
    return words


def unpack_rows(words: Words, n_voters: int, n_bits: int, dtype: np.dtype[Any]) -> tuple[Codes, Indices]:
    """Codes and labels of packed rows.

    Examples
    --------
    >>> unpack_rows(np.array([[11]], np.uint64), 3, 1, np.dtype(np.uint8))
    (array([[0, 1, 1]], dtype=uint8), array([1]))
    """
    codes = np.zeros((len(words), n_voters), dtype=dtype)
    labels = np.zeros(len(words), dtype=np.intp)
    for rows in row_blocks(len(words), 64 * words.shape[1]):
        in_bytes = words[rows].astype(">u8").view(np.uint8)
        bits = np.unpackbits(in_bytes.ravel()).reshape(len(in_bytes), -1)
        for plane in range(n_bits):
            end = bits.shape[1] - plane * n_voters
            codes[rows] |= bits[:, end - n_voters : end].astype(dtype) << plane
            labels[rows] |= bits[:, -n_bits * n_voters - 1 - plane].astype(np.intp) << plane
    return codes, labels


def sort_keys(words: Words) -> Words:
    """One number for each packed row, by which :func:`unique_words` puts patterns in order.

    It is the word of the row or, of several words, a mixture: different rows almost never have the same.
    """
    if words.shape[1] == 1:
        return words[:, 0]
    key = np.zeros(len(words), dtype=np.uint64)
    for word in words.T:
        key ^= word
        key *= MIXER
        key ^= key >> HALF
    return key


def _changes(words: Words, order: Indices) -> BoolArray:
    """Where, in this order, a row differs from the one before."""
    ordered = words[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return is_new


def _unique_by_table(keys: Indices, n_keys: int) -> tuple[Indices, IntArray, Indices]:
    counts = np.bincount(keys, minlength=n_keys)
    present = np.flatnonzero(counts)
    place = np.empty(n_keys, dtype=np.intp)
    place[present] = np.arange(len(present))
    representative = np.empty(n_keys, dtype=np.intp)
    representative[keys] = np.arange(len(keys))  # any row that has the key will do
    return representative[present], counts[present].astype(np.int64), place[keys]


def content_hashes(codes: Codes, labels: Indices) -> Words:
    """A well-mixed number for each row that depends on its contents only, for samples without an order."""
    weights = np.random.default_rng(0).integers(1, 1 << 32, codes.shape[1] + 1).astype(np.float64)
    hashed = np.empty(len(codes))
    for rows in row_blocks(*codes.shape):
        # sums of whole numbers below 2^53 are exact, so equal rows hash equally
        hashed[rows] = codes[rows].astype(np.float64) @ weights[1:] + labels[rows] * weights[0]
    return hashed.astype(np.uint64) * MIXER  # wraps around: the high bits are well mixed


def content_sample(pieces: Iterable[Piece], n_wanted: int) -> Piece:
    """Codes, labels and counts of about so many patterns: all of them, or those whose contents hash lowest.

    Which ones does not depend on how different patterns are cut into pieces, or on their order.
    """
    kept: list[tuple[AnyArray, ...]] = []
    n_kept = 0
    for codes, labels, counts in pieces:
        kept.append((content_hashes(codes, labels), codes, labels, counts))
        n_kept += len(codes)
        if n_kept > 2 * n_wanted:
            kept = [_lowest(kept, n_wanted)]
            n_kept = len(kept[0][0])
    _, codes, labels, counts = _lowest(kept, n_wanted)
    return codes, labels, counts


def _lowest(kept: list[tuple[AnyArray, ...]], n_wanted: int) -> tuple[AnyArray, ...]:
    """Of patterns in several pieces, with their hashes first, those that hash lowest."""
    together = tuple(np.concatenate(arrays) for arrays in zip(*kept, strict=True)) if kept[1:] else kept[0]
    if len(together[0]) <= n_wanted:
        return together
    chosen = together[0] <= np.partition(together[0], n_wanted - 1)[n_wanted - 1]
    return tuple(array[chosen] for array in together)

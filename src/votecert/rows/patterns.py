"""Array work on class codes: equal rows are found, votes weighed, pairs of voters counted.

Weighted votes are sums over packed bits: eight voters make a byte, and a table of 256 partial sums for each
byte replaces the matrix product. It is faster than converting codes to floats, needs only a block of rows of
extra memory, and sums every row in the same order: its result does not depend on the other rows or the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Codes: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
_Number = TypeVar("_Number", np.float64, np.int64)

_BLOCK_ENTRIES = 1 << 18  # entries handled at a time: little scratch memory, however many rows there are
_SAMPLE_ROWS = 1 << 14  # rows looked at to decide whether compression pays
_TABLE_KEYS = 1 << 21  # up to so many possible keys, counting beats sorting
_FLOAT32_EXACT = 1 << 24  # whole numbers up to here are exact in float32
_FEW_CLASSES = 8
_LARGEST_TOTAL = 1 << 53  # vote totals up to here are exact, in floats as well
_FEW_OUTPUTS = 4  # up to so many, summing bits output by output beats binning
_MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd and far from regular: 2^64 divided by the golden ratio
_HALF = np.uint64(32)


def row_blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Consecutive slices of rows, each with few enough entries to work on in cache.

    Examples
    --------
    >>> [(rows.start, rows.stop) for rows in row_blocks(5, 1 << 17)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, _BLOCK_ENTRIES // max(1, width))
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def patterns_repeat(codes: Codes, labels: npt.NDArray[np.intp], n_values: int) -> bool:
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


def unique_rows(
    codes: Codes, labels: npt.NDArray[np.intp], n_values: int
) -> tuple[npt.NDArray[np.intp], IntArray, npt.NDArray[np.intp]]:
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


def unique_words(words: Words, n_bits: int) -> tuple[npt.NDArray[np.intp], IntArray, npt.NDArray[np.intp]]:
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


def pack_rows(codes: Codes, labels: npt.NDArray[np.intp], n_bits: int) -> Words:
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


def unpack_rows(
    words: Words, n_voters: int, n_bits: int, dtype: np.dtype[Any]
) -> tuple[Codes, npt.NDArray[np.intp]]:
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


def sort_keys(words: Words) -> npt.NDArray[np.uint64]:
    """One number for each packed row, by which :func:`unique_words` puts patterns in order."""
    return words[:, 0] if words.shape[1] == 1 else _mixed(words)


def _mixed(words: Words) -> npt.NDArray[np.uint64]:
    """One well-mixed number a row; equal rows have equal numbers, different rows almost never do."""
    key = np.zeros(len(words), dtype=np.uint64)
    for word in words.T:
        key ^= word
        key *= _MIXER
        key ^= key >> _HALF
    return key


def _changes(words: Words, order: npt.NDArray[np.intp]) -> BoolArray:
    """Where, in this order, a row differs from the one before."""
    ordered = words[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return is_new


def _unique_by_table(
    keys: npt.NDArray[np.intp], n_keys: int
) -> tuple[npt.NDArray[np.intp], IntArray, npt.NDArray[np.intp]]:
    counts = np.bincount(keys, minlength=n_keys)
    present = np.flatnonzero(counts)
    place = np.empty(n_keys, dtype=np.intp)
    place[present] = np.arange(len(present))
    representative = np.empty(n_keys, dtype=np.intp)
    representative[keys] = np.arange(len(keys))  # any row that has the key will do
    return representative[present], counts[present].astype(np.int64), place[keys]


def content_hashes(codes: Codes, labels: npt.NDArray[np.intp]) -> npt.NDArray[np.uint64]:
    """A well-mixed number for each row that depends on its contents only, for samples without an order."""
    weights = np.random.default_rng(0).integers(1, 1 << 32, codes.shape[1] + 1).astype(np.float64)
    hashed = np.empty(len(codes))
    for rows in row_blocks(*codes.shape):
        # sums of whole numbers below 2^53 are exact, so equal rows hash equally
        hashed[rows] = codes[rows].astype(np.float64) @ weights[1:] + labels[rows] * weights[0]
    return hashed.astype(np.uint64) * _MIXER  # wraps around: the high bits are well mixed


def content_sample(
    pieces: Iterable[tuple[Codes, npt.NDArray[np.intp], IntArray]], n_wanted: int
) -> tuple[Codes, npt.NDArray[np.intp], IntArray]:
    """Codes, labels and counts of about so many patterns: all of them, or those whose contents hash lowest.

    Which ones does not depend on how different patterns are cut into pieces, or on their order.
    """
    kept: list[tuple[npt.NDArray[Any], ...]] = []
    n_kept = 0
    for codes, labels, counts in pieces:
        kept.append((content_hashes(codes, labels), codes, labels, counts))
        n_kept += len(codes)
        if n_kept > 2 * n_wanted:
            kept = [_lowest(kept, n_wanted)]
            n_kept = len(kept[0][0])
    _, codes, labels, counts = _lowest(kept, n_wanted)
    return codes, labels, counts


def _lowest(kept: list[tuple[npt.NDArray[Any], ...]], n_wanted: int) -> tuple[npt.NDArray[Any], ...]:
    """Of patterns in several pieces, with their hashes first, those that hash lowest."""
    together = tuple(np.concatenate(arrays) for arrays in zip(*kept, strict=True)) if kept[1:] else kept[0]
    if len(together[0]) <= n_wanted:
        return together
    chosen = together[0] <= np.partition(together[0], n_wanted - 1)[n_wanted - 1]
    return tuple(array[chosen] for array in together)


def votes_for(codes: Codes, output: int, rows: slice) -> BoolArray:
    """Which voters give this output, on a block of rows."""
    flags: BoolArray = codes[rows] == output
    return flags


def pack_flags(flags: Callable[[slice], BoolArray], shape: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """Flags as bits, eight voters a byte, made block by block.

    Examples
    --------
    >>> flags = np.array([[True, False, True]])
    >>> pack_flags(lambda rows: flags[rows], flags.shape)
    array([[160]], dtype=uint8)
    """
    n_rows, n_voters = shape
    n_bytes = -(-n_voters // 8)
    packed = np.empty((n_rows, n_bytes), dtype=np.uint8)
    for rows in row_blocks(n_rows, n_voters):
        block = np.zeros((rows.stop - rows.start, 8 * n_bytes), dtype=bool)
        block[:, :n_voters] = flags(rows)
        packed[rows] = np.packbits(block.ravel()).reshape(
            -1, n_bytes
        )  # in one piece, twice as fast as by row
    return packed


def weigh_bits(packed: npt.NDArray[np.uint8], weights: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """Sum of the weights of the bits set in each row of packed bits; bits beyond the weights do not count.

    Examples
    --------
    >>> weigh_bits(np.packbits([[1, 0, 1], [0, 1, 0]], axis=1), np.array([1, 10, 100]))
    array([101,  10])
    """
    n_bytes = packed.shape[1]
    padded = np.zeros(8 * n_bytes, dtype=weights.dtype)
    padded[: len(weights)] = weights
    tables = np.zeros((n_bytes, 256), dtype=weights.dtype)
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    for position in range(8):
        tables += padded[position::8, None] * bits[:, position]
    total = np.zeros(len(packed), dtype=weights.dtype)
    for rows in row_blocks(len(packed), 16):
        for byte in range(n_bytes):
            total[rows] += tables[byte].take(packed[rows, byte])
    return total


def pack_votes(codes: Codes, n_outputs: int) -> list[npt.NDArray[np.uint8]]:
    """Who gives each output, as bits, for :func:`weigh_votes`; nothing if there are many outputs."""
    few = range(n_outputs if n_outputs <= _FEW_OUTPUTS else 0)
    return [pack_flags(partial(votes_for, codes, output), codes.shape) for output in few]


def weigh_votes(
    codes: Codes,
    n_outputs: int,
    weights: npt.NDArray[_Number],
    packed: Sequence[npt.NDArray[np.uint8]] = (),
) -> npt.NDArray[_Number]:
    """Weight of the voters for each output, (rows, outputs): ``v_k = sum of weights_i over codes_i = k``.

    Whole-number weights are exact as long as they add up to at most 2^53. What :func:`pack_votes` has
    made of the codes saves half of the time.

    Examples
    --------
    >>> weigh_votes(np.array([[0, 1, 1], [2, 0, 0]], np.uint8), 2, np.array([0.5, 0.25, 0.25]))
    array([[0.5, 0.5],
           [0.5, 0. ]])
    """
    n_rows, n_voters = codes.shape
    if n_outputs <= _FEW_OUTPUTS:
        packed = packed or pack_votes(codes, n_outputs)
        # column by column in memory too: whatever compares the outputs of a row is fast then
        total = np.empty((n_rows, n_outputs), dtype=weights.dtype, order="F")
        for output in range(n_outputs):
            total[:, output] = weigh_bits(packed[output], weights)
        return total
    total = np.empty((n_rows, n_outputs), dtype=weights.dtype)
    n_bins = n_outputs + 1  # the last one takes what is no output asked for
    for rows in row_blocks(n_rows, n_voters):
        n_block = rows.stop - rows.start
        bins = codes[rows] + n_bins * np.arange(n_block)[:, None]
        sums = np.bincount(bins.ravel(), np.tile(weights, n_block), minlength=n_bins * n_block)
        total[rows] = sums.reshape(n_block, n_bins)[:, :n_outputs]
    return total


def total_votes(
    codes: Codes,
    n_classes: int,
    n: npt.ArrayLike,
    offsets: npt.ArrayLike | None = None,
    packed: Sequence[npt.NDArray[np.uint8]] = (),
) -> IntArray:
    """Votes for each class on rows of codes, exact; see :meth:`Ballots.vote_totals`.

    Examples
    --------
    >>> total_votes(np.array([[0, 1, 1], [2, 2, 0]], np.uint8), 2, [1, 1, 2], offsets=[1, 0])
    array([[2, 3],
           [3, 0]])
    """
    votes, constant = whole_votes(n, offsets, codes.shape[1], n_classes)
    largest = sum(votes.tolist()) + max(constant.tolist())
    if largest == 0:
        raise ValueError("Nobody has a vote: n and offsets are all zero.")
    if largest > _LARGEST_TOTAL:
        raise ValueError(
            f"There are too many votes to count exactly, up to {largest}: divide n by a common factor."
        )
    totals = weigh_votes(codes, n_classes, votes, packed)
    totals += constant  # in place: there may be many rows
    return totals


def whole_votes(
    n: npt.ArrayLike, offsets: npt.ArrayLike | None, n_voters: int, n_classes: int
) -> tuple[IntArray, IntArray]:
    """Votes of the voters and of the constant ones, checked."""
    constant = np.zeros(n_classes) if offsets is None else offsets
    return (
        _whole_numbers(n, n_voters, "n", "voter"),
        _whole_numbers(constant, n_classes, "offsets", "class"),
    )


def winners(totals: IntArray, fallback: int | None = None) -> npt.NDArray[np.intp]:
    """Class with most votes in each row, the smallest class index in a tie; see :meth:`Ballots.predict`.

    Examples
    --------
    >>> winners(np.array([[1, 1], [0, 2], [0, 0]]))
    array([ 0,  1, -1])
    """
    if fallback is not None and not 0 <= fallback < totals.shape[1]:
        raise ValueError(f"fallback must be a class index from 0 to {totals.shape[1] - 1}, not {fallback}.")
    winner: npt.NDArray[np.intp] = np.zeros(len(totals), dtype=np.intp)
    most = totals[:, 0].copy()
    if totals.shape[1] > _FEW_CLASSES:
        winner, most = totals.argmax(axis=1), totals.max(axis=1)
    else:  # class by class: argmax takes its time for each row, however short
        for place in range(1, totals.shape[1]):
            winner[totals[:, place] > most] = place
            np.maximum(most, totals[:, place], out=most)
    winner[most == 0] = -1 if fallback is None else fallback
    return winner


def _whole_numbers(values: npt.ArrayLike, length: int, name: str, owner: str) -> IntArray:
    array = np.asarray(values)
    if array.shape != (length,):
        raise ValueError(
            f"{name} needs one number a {owner}, {length} in all, but its shape is {array.shape}."
        )
    if array.dtype.kind not in "biuf" or not np.all(
        (array >= 0) & (array <= _LARGEST_TOTAL) & (array % 1 == 0)
    ):
        raise ValueError(f"{name} must be whole numbers, zero or more and at most {_LARGEST_TOTAL}.")
    return array.astype(np.int64)


def voter_counts(flags: Callable[[slice], BoolArray], counts: IntArray, n_voters: int) -> IntArray:
    """Number of rows each voter is flagged on, (d,), exact."""
    total = np.zeros(n_voters, dtype=np.int64)
    for rows in row_blocks(len(counts), n_voters):
        exact = _exact_type(counts[rows])
        total += (counts[rows].astype(exact) @ flags(rows).astype(exact)).astype(np.int64)
    return total


def pair_counts(flags: Callable[[slice], BoolArray], counts: IntArray, n_voters: int) -> IntArray:
    """Number of rows both voters of a pair are flagged on, (d, d), exact."""
    total = np.zeros((n_voters, n_voters), dtype=np.int64)
    for rows in row_blocks(len(counts), n_voters):
        exact = _exact_type(counts[rows])
        block: npt.NDArray[Any] = flags(rows).astype(exact)
        # one and the same matrix on both sides costs half: the product is known to be symmetric
        weighted = block if counts[rows].max() == 1 else block * counts[rows, None].astype(exact)
        total += (block.T @ weighted).astype(np.int64)
    return total


def _exact_type(counts: IntArray) -> type[np.float32 | np.float64]:
    """The smallest float in which sums of these counts are exact."""
    return np.float32 if counts.sum() < _FLOAT32_EXACT else np.float64

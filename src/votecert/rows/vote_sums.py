"""Votes added up: weighed, counted exactly, and by pairs of voters.

Weighted votes are sums over packed bits: eight voters make a byte, and a table of 256 partial sums for each
byte replaces the matrix product. It is faster than converting codes to floats, needs only a block of rows of
extra memory, and sums every row in the same order: its result does not depend on the other rows or the block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from votecert._types import AnyArray, Bits, BoolArray, Codes, Indices, IntArray
from votecert.rows.patterns import row_blocks

_Number = TypeVar("_Number", np.float64, np.int64)

_FLOAT32_EXACT = 1 << 24  # whole numbers up to here are exact in float32
_FEW_CLASSES = 8
_LARGEST_TOTAL = 1 << 53  # vote totals up to here are exact, in floats as well
_FEW_OUTPUTS = 4  # up to so many, summing bits output by output beats binning


def votes_for(codes: Codes, output: int, rows: slice) -> BoolArray:
    """Which voters give this output, on a block of rows."""
    flags: BoolArray = codes[rows] == output
    return flags


def pack_flags(flags: Callable[[slice], BoolArray], shape: tuple[int, int]) -> Bits:
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
        # in one piece, twice as fast as by row
        packed[rows] = np.packbits(block.ravel()).reshape(-1, n_bytes)
    return packed


def weigh_bits(packed: Bits, weights: NDArray[_Number]) -> NDArray[_Number]:
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


def pack_votes(codes: Codes, n_outputs: int) -> list[Bits]:
    """Who gives each output, as bits, for :func:`weigh_votes`; nothing if there are many outputs."""
    few = range(n_outputs if n_outputs <= _FEW_OUTPUTS else 0)
    return [pack_flags(partial(votes_for, codes, output), codes.shape) for output in few]


def weigh_votes(
    codes: Codes, n_outputs: int, weights: NDArray[_Number], packed: Sequence[Bits] = ()
) -> NDArray[_Number]:
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
    codes: Codes, n_classes: int, n: ArrayLike, offsets: ArrayLike | None = None, packed: Sequence[Bits] = ()
) -> IntArray:
    """Votes for each class on rows of codes, exact; see :meth:`Ballots.vote_totals`.

    Examples
    --------
    >>> total_votes(np.array([[0, 1, 1], [2, 2, 0]], np.uint8), 2, [1, 1, 2], offsets=[1, 0])
    array([[2, 3],
           [3, 0]])

    A voter whose "1" is worth three votes, and its "0" only one:

    >>> total_votes(np.array([[0], [1]], np.uint8), 2, [[[1, 0], [0, 3]]])
    array([[1, 0],
           [0, 3]])
    """
    votes, constant = whole_votes(n, offsets, codes.shape[1], n_classes)
    largest = sum(votes.reshape(len(votes), -1).max(axis=1).tolist()) + max(constant.tolist())
    if largest == 0:
        raise ValueError("Nobody has a vote: n and offsets are all zero.")
    if largest > _LARGEST_TOTAL:
        raise ValueError(
            f"There are too many votes to count exactly, up to {largest}: divide n by a common factor."
        )
    if votes.ndim == 3:
        totals = _weigh_table(codes, votes, packed)
    else:
        totals = weigh_votes(codes, n_classes, votes, packed)
    totals += constant  # in place: there may be many rows
    return totals


def _weigh_table(codes: Codes, table: IntArray, packed: Sequence[Bits]) -> IntArray:
    """Votes for each class by what each answer of each voter is worth; other answers are worth nothing."""
    n_rows, (n_voters, n_outputs, n_classes) = len(codes), table.shape
    totals = np.zeros((n_rows, n_classes), dtype=np.int64)
    if n_outputs <= _FEW_OUTPUTS:
        packed = packed if len(packed) >= n_outputs else pack_votes(codes, n_outputs)
        for output in range(n_outputs):
            for k in np.flatnonzero(table[:, output].any(axis=0)):
                totals[:, k] += weigh_bits(packed[output], table[:, output, k])
        return totals
    table = np.pad(table, ((0, 0), (0, n_classes + 1 - n_outputs), (0, 0)))
    for rows in row_blocks(n_rows, n_classes):
        for voter in range(n_voters):
            totals[rows] += table[voter].take(codes[rows, voter], axis=0)
    return totals


def lead_of(totals: NDArray[_Number]) -> NDArray[_Number]:
    """By how much the largest total of each row is above the second largest, (rows,).

    Examples
    --------
    >>> lead_of(np.array([[3, 1, 2], [2, 2, 0]]))
    array([1, 0])
    """
    if totals.shape[1] < 2:
        return totals[:, 0]
    second, first = np.partition(totals, -2, axis=1)[:, -2:].T
    return np.asarray(first - second)


def whole_votes(
    n: ArrayLike, offsets: ArrayLike | None, n_voters: int, n_classes: int
) -> tuple[IntArray, IntArray]:
    """Votes of the voters, (d,) or (d, c or c + 1, c), and of the constant ones, (c,), checked."""
    numbers = np.asarray(n)
    shapes = [(n_voters,), (n_voters, n_classes, n_classes), (n_voters, n_classes + 1, n_classes)]
    if numbers.shape not in shapes:
        raise ValueError(
            f"n needs one number a voter, {n_voters} in all, or a table with what each answer is worth for "
            f"each class, {shapes[1]} or {shapes[2]}, but its shape is {numbers.shape}."
        )
    constant = np.zeros(n_classes) if offsets is None else np.asarray(offsets)
    if constant.shape != (n_classes,):
        raise ValueError(
            f"offsets needs one number a class, {n_classes} in all, but its shape is {constant.shape}."
        )
    return _whole_numbers(numbers, "n"), _whole_numbers(constant, "offsets")


def winners(totals: IntArray, fallback: int | None = None) -> Indices:
    """Class with most votes in each row, the smallest class index in a tie; see :meth:`Ballots.predict`.

    Examples
    --------
    >>> winners(np.array([[1, 1], [0, 2], [0, 0]]))
    array([ 0,  1, -1])
    """
    if fallback is not None and not 0 <= fallback < totals.shape[1]:
        raise ValueError(f"fallback must be a class index from 0 to {totals.shape[1] - 1}, not {fallback}.")
    winner: Indices = np.zeros(len(totals), dtype=np.intp)
    most = totals[:, 0].copy()
    if totals.shape[1] > _FEW_CLASSES:
        winner, most = totals.argmax(axis=1), totals.max(axis=1)
    else:  # class by class: argmax takes its time for each row, however short
        for place in range(1, totals.shape[1]):
            winner[totals[:, place] > most] = place
            np.maximum(most, totals[:, place], out=most)
    winner[most == 0] = -1 if fallback is None else fallback
    return winner


def _whole_numbers(array: AnyArray, name: str) -> IntArray:
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
        block: AnyArray = flags(rows).astype(exact)
        # one and the same matrix on both sides costs half: the product is known to be symmetric
        weighted = block if counts[rows].max() == 1 else block * counts[rows, None].astype(exact)
        total += (block.T @ weighted).astype(np.int64)
    return total


def _exact_type(counts: IntArray) -> type[np.float32 | np.float64]:
    """The smallest float in which sums of these counts are exact."""
    return np.float32 if counts.sum() < _FLOAT32_EXACT else np.float64

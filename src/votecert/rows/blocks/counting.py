"""Blocks of rows, each as its different patterns with counts; and several blocks as one.

A pattern is a row of votes with its true label, packed into words of 64 bits. Patterns are kept in the order
of :func:`~votecert.rows.patterns.unique_words`, which depends on the set of rows only: however rows are cut
into blocks, and in whatever order blocks are joined, the same rows give the same arrays.

Symbols: m rows, d voters, c classes, n patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from votecert._types import AnyArray, BoolArray, Codes, Indices, IntArray, Label, Words
from votecert.rows.labels import encode, label_array
from votecert.rows.patterns import bits_for, pack_rows, row_blocks, unique_words, unpack_rows
from votecert.rows.split import in_fitting_part
from votecert.rows.tables import n_rows_of


@dataclass(frozen=True)
class Declaration:
    """What is fixed before the rows are read.

    Attributes
    ----------
    classes : tuple of labels or None
        The label set in its order; None if it is inferred.
    can_abstain : bool or None
        Whether voters can abstain; None: whether one does.
    split, seed : float, int
        How the fitting part is drawn; no part is counted for a split of 0.
    """

    classes: tuple[Label, ...] | None = None
    can_abstain: bool | None = None
    split: float = 0.0
    seed: int = 0

    def abstaining(self, layout: Layout) -> bool:
        """Whether voters can abstain, by declaration or because one does."""
        return layout.any_missing if self.can_abstain is None else self.can_abstain


@dataclass(frozen=True)
class Layout:
    """What the bits of a packed row mean.

    Attributes
    ----------
    labels : tuple of labels
        The classes in order; the code of a missing vote is their number.
    all_bool, any_missing : bool
        Whether all labels are bools; whether some vote is missing.
    n_voters : int
        d.
    block : int
        Number of the first block that has this layout, for messages.
    """

    labels: tuple[Label, ...]
    all_bool: bool
    any_missing: bool
    n_voters: int
    block: int

    @property
    def n_bits(self) -> int:
        """Bits of one vote."""
        return bits_for(len(self.labels) + self.any_missing)

    @property
    def row_bits(self) -> int:
        """Bits of a row: the label and the votes."""
        return self.n_bits * (self.n_voters + 1)

    @property
    def code_type(self) -> np.dtype[Any]:
        """Smallest type of a class index."""
        return np.dtype(np.min_scalar_type(len(self.labels)))

    @property
    def code_bytes(self) -> int:
        """Memory of the codes of one row."""
        return self.n_voters * self.code_type.itemsize

    @property
    def classes(self) -> AnyArray:
        """The labels as an array."""
        return label_array(self.labels, self.all_bool)

    def packs_like(self, other: Layout) -> bool:
        """Whether the same words mean the same rows."""
        return self.labels == other.labels and self.n_bits == other.n_bits

    def join(self, other: Layout) -> Layout:
        """The layout that holds the rows of both; refuses blocks that cannot belong together."""
        first, second = sorted((self, other), key=lambda layout: layout.block)
        if first.n_voters != second.n_voters:
            raise ValueError(
                f"Block {second.block} has {second.n_voters} voters but block {first.block} has "
                f"{first.n_voters}: every block needs one column for each voter."
            )
        if isinstance(first.labels[0], str) != isinstance(second.labels[0], str):
            raise TypeError(
                f"Block {second.block} holds the label {second.labels[0]!r} and block {first.block} the "
                f"label {first.labels[0]!r}: strings and numbers cannot be mixed. Convert one of them."
            )
        same = first.labels == second.labels  # as declared, in any order
        return replace(
            first,
            labels=first.labels if same else tuple(sorted({*first.labels, *second.labels})),
            all_bool=first.all_bool and second.all_bool,
            any_missing=first.any_missing or second.any_missing,
        )


class PackedBlock(NamedTuple):
    """The rows of one block, packed: (m, w) words."""

    layout: Layout
    words: Words


@dataclass(frozen=True, eq=False)
class PatternCounts:
    """The different patterns of some rows, in order, with counts.

    Attributes
    ----------
    layout : Layout
    words : (n, w) packed patterns
    counts : (n,) rows with each pattern
    fitting : (n,) rows of the fitting part with each pattern
    """

    layout: Layout
    words: Words
    counts: IntArray
    fitting: IntArray

    @property
    def n_rows(self) -> int:
        """Number of rows m."""
        return int(self.counts.sum())

    @property
    def n_bytes(self) -> int:
        """Memory of the arrays."""
        return self.words.nbytes + self.counts.nbytes + self.fitting.nbytes

    def unpacked(self, patterns: slice = slice(None)) -> tuple[Codes, Indices]:
        """Codes and labels of the patterns."""
        layout = self.layout
        return unpack_rows(self.words[patterns], layout.n_voters, layout.n_bits, layout.code_type)

    def laid_out(self, layout: Layout) -> PatternCounts:
        """The same patterns in a layout with more labels or bits; their order may not be right any more."""
        if self.layout.packs_like(layout):
            return replace(self, layout=layout)
        place = {label: code for code, label in enumerate(layout.labels)}
        table = np.array([*(place[label] for label in self.layout.labels), len(place)], layout.code_type)
        words = [
            pack_rows(table[codes], table[labels].astype(np.intp), layout.n_bits)
            for codes, labels in map(self.unpacked, row_blocks(len(self.words), layout.n_voters))
        ]
        return replace(self, layout=layout, words=np.concatenate(words))


def pack_block(votes: Any, y: Any, number: int, declared: Declaration) -> PackedBlock | None:
    """Check and pack the rows of a block; None if it has none.

    Parameters
    ----------
    votes, y : labels
        As for :meth:`~votecert.rows.ballots.Ballots.from_votes`.
    number : int
        Which block it is, counted from 0: errors name it.
    declared : Declaration
    """
    if n_rows_of(votes) == 0 and n_rows_of(y) == 0:
        return None
    try:
        encoded = encode(votes, y, declared.classes, can_abstain=declared.can_abstain, fewest_labels=1)
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"Block {number} (blocks and rows of a block are counted from 0): {error}") from error
    layout = Layout(
        labels=tuple(encoded.classes.tolist()),
        all_bool=encoded.classes.dtype.kind == "b",
        any_missing=encoded.any_missing,
        n_voters=encoded.codes.shape[1],
        block=number,
    )
    return PackedBlock(layout, pack_rows(encoded.codes, encoded.labels, layout.n_bits))


def count_patterns(block: PackedBlock, start: int, declared: Declaration) -> PatternCounts:
    """The different patterns of a block whose first row is row ``start`` of all.

    Examples
    --------
    >>> block = pack_block([[0, 1], [1, 1], [0, 1]], [1, 1, 1], 0, Declaration())
    >>> count_patterns(block, 0, Declaration()).counts.tolist()
    [2, 1]
    """
    fits = np.zeros(len(block.words), dtype=bool)
    if declared.split > 0:
        fits[:] = in_fitting_part(len(block.words), declared.split, declared.seed, start=start)
    if block.layout.row_bits < 64:
        return _sorted_patterns(block, fits)
    first, counts, pattern_of_row = unique_words(block.words, block.layout.row_bits)
    fitting = np.bincount(pattern_of_row[fits], minlength=len(counts))
    return PatternCounts(block.layout, block.words.take(first, axis=0), counts, fitting)


def _sorted_patterns(block: PackedBlock, fits: BoolArray) -> PatternCounts:
    """The patterns of rows of one word, by sorting them with the flag as last bit: no table, no order."""
    keys = (block.words[:, 0] << np.uint64(1)) | fits
    keys = np.sort(keys.astype(np.uint32) if block.layout.row_bits < 32 else keys)
    words = keys >> np.array(1, keys.dtype)
    starts = np.flatnonzero(np.append(True, words[1:] != words[:-1]))
    return PatternCounts(
        block.layout,
        words[starts].astype(np.uint64)[:, None],
        np.diff(starts, append=len(words)).astype(np.int64),
        np.add.reduceat(keys & np.array(1, keys.dtype), starts, dtype=np.int64),
    )


def join_counts(parts: Sequence[PatternCounts]) -> PatternCounts:
    """The patterns of several sets of rows together.

    Examples
    --------
    >>> votes, y = [["a", "b"], ["b", "b"], ["a", "c"]], ["b", "b", "c"]
    >>> blocks = [pack_block(votes[i:], y[i:], i, Declaration()) for i in range(3)]
    >>> together = join_counts([count_patterns(block, 0, Declaration()) for block in blocks])
    >>> together.layout.labels, together.counts.tolist()
    (('a', 'b', 'c'), [1, 2, 3])
    """
    layout = reduce(Layout.join, (part.layout for part in parts))
    if len(parts) == 1:
        return parts[0]
    parts = [part.laid_out(layout) for part in parts]
    words = np.concatenate([part.words for part in parts])
    first, _, pattern = unique_words(words, layout.row_bits)
    totals = [
        # weighted sums are made in floats, which hold whole numbers exactly up to 2^53
        np.bincount(pattern, np.concatenate(values), len(first)).astype(np.int64)
        for values in ([part.counts for part in parts], [part.fitting for part in parts])
    ]
    return PatternCounts(layout, words.take(first, axis=0), *totals)

"""Patterns on disk: sorted runs that are written once, read in slices, and merged range by range of keys.

A run is a folder of plain binary arrays: the packed patterns, their counts, and those in the fitting part.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from votecert.rows.blocks.counting import Layout, PatternCounts, join_counts
from votecert.rows.patterns import sort_keys

_ARRAYS = ("words", "counts", "fitting")


@dataclass(frozen=True)
class Run:
    """Different patterns in order, on disk.

    Attributes
    ----------
    folder : str
        Where the arrays are.
    layout : Layout
        What the bits mean.
    n_patterns, n_rows : int
        Number of patterns and of the rows they stand for.
    count_type : str
        Type of the counts.
    """

    folder: str
    layout: Layout
    n_patterns: int
    n_rows: int
    count_type: str

    @property
    def pattern_bytes(self) -> int:
        """Memory of one pattern when it is read."""
        return 8 * self._n_words + 16

    @property
    def _n_words(self) -> int:
        return -(-self.layout.row_bits // 64)

    def read(self, start: int, stop: int) -> PatternCounts:
        """Some of the patterns."""
        words, counts, fitting = (self._map(name)[start:stop] for name in _ARRAYS)
        return PatternCounts(
            self.layout, np.array(words), np.array(counts, dtype=np.int64), np.array(fitting, dtype=np.int64)
        )

    def in_slices(self, n_patterns: int) -> Iterator[PatternCounts]:
        """All patterns, so many at a time."""
        for start in range(0, self.n_patterns, n_patterns):
            yield self.read(start, min(start + n_patterns, self.n_patterns))

    def keys(self, step: int) -> npt.NDArray[np.uint64]:
        """The sort keys of every so many patterns."""
        return sort_keys(np.array(self._map("words")[::step]))

    def place_of(self, key: int) -> int:
        """Number of patterns with a smaller sort key."""
        words = self._map("words")
        low, high = 0, self.n_patterns
        while low < high:
            middle = (low + high) // 2
            if int(sort_keys(np.array(words[middle : middle + 1]))[0]) < key:
                low = middle + 1
            else:
                high = middle
        return low

    def remove(self) -> None:
        """Delete the files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _map(self, name: str) -> npt.NDArray[Any]:
        path = Path(self.folder) / name
        shape = (self.n_patterns, self._n_words) if name == "words" else (self.n_patterns,)
        try:
            return np.memmap(path, np.uint64 if name == "words" else self.count_type, mode="r", shape=shape)
        except FileNotFoundError:
            raise _not_shared(path) from None


class RunWriter:
    """Writes a run, slice after slice, into a new folder.

    Parameters
    ----------
    parent : str
        The folder in which the run gets a folder of its own.
    layout : Layout
        What the bits mean.
    largest_count : int
        No pattern has more rows.
    """

    def __init__(self, parent: str, layout: Layout, largest_count: int) -> None:
        # A task that is run again after its worker died must not write into the files of the first attempt.
        self._folder = Path(parent) / uuid.uuid4().hex
        try:
            self._folder.mkdir()
        except FileNotFoundError:
            raise _not_shared(self._folder.parent) from None
        self._layout, self._type = layout, np.min_scalar_type(largest_count)
        self._files: list[BinaryIO] = [(self._folder / name).open("wb") for name in _ARRAYS]
        self._n_patterns = self._n_rows = 0

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()

    def write(self, counts: PatternCounts) -> None:
        """Append patterns that come after all those before."""
        for file, array in zip(
            self._files,
            (counts.words, counts.counts.astype(self._type), counts.fitting.astype(self._type)),
            strict=True,
        ):
            file.write(np.ascontiguousarray(array).data)
        self._n_patterns += len(counts.counts)
        self._n_rows += counts.n_rows

    def run(self) -> Run:
        """What has been written."""
        for file in self._files:
            file.flush()
        return Run(str(self._folder), self._layout, self._n_patterns, self._n_rows, self._type.str)


def _not_shared(path: Path) -> FileNotFoundError:
    return FileNotFoundError(
        f"{path} is not there: workers that spill patterns need a folder shared with the program that "
        "that started them. Choose one with spill_folder=, or a memory_budget with limit for all patterns."
    )


def write_run(counts: PatternCounts, parent: str) -> Run:
    """Put patterns on disk."""
    with RunWriter(parent, counts.layout, int(counts.counts.max())) as writer:
        writer.write(counts)
        return writer.run()


def merge_runs(runs: Sequence[Run], parent: str, n_at_once: int) -> Run:
    """One run with the patterns of several.

    Parameters
    ----------
    runs : sequence of Run
    parent : str
        The folder in which the result gets a folder of its own.
    n_at_once : int
        Patterns that are read at a time, about.
    """
    layout = reduce(Layout.join, (run.layout for run in runs))
    runs = [_laid_out(run, layout, parent) for run in runs]
    largest = sum(int(np.iinfo(run.count_type).max) for run in runs)
    with RunWriter(parent, layout, min(largest, sum(run.n_rows for run in runs))) as writer:
        starts = [0] * len(runs)
        for key in [*_cuts(runs, n_at_once), None]:
            ends = [run.n_patterns if key is None else run.place_of(key) for run in runs]
            pieces = [
                run.read(start, end)
                for run, start, end in zip(runs, starts, ends, strict=True)
                if end > start
            ]
            if pieces:
                writer.write(join_counts(pieces))
            starts = ends
        return writer.run()


def _laid_out(run: Run, layout: Layout, parent: str) -> Run:
    """The run in another layout, written anew if its words change."""
    if run.layout.packs_like(layout):
        return replace(run, layout=layout)
    counts = run.read(0, run.n_patterns).laid_out(layout)
    order = np.argsort(sort_keys(counts.words), kind="stable")
    words, number, fitting = counts.words[order], counts.counts[order], counts.fitting[order]
    return write_run(PatternCounts(layout, words, number, fitting), parent)


def _cuts(runs: Sequence[Run], n_at_once: int) -> list[int]:
    """Keys between which all runs together have about so many patterns, or fewer.

    Each run tells every s-th of its keys. Between two cuts lie at most n/2 patterns that were told of and, in
    each run, fewer than s that were not.
    """
    step = max(1, n_at_once // (2 * len(runs)))
    told = np.sort(np.concatenate([run.keys(step) for run in runs]))
    return [int(key) for key in told[:: max(1, n_at_once // (2 * step))][1:]]

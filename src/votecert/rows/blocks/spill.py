"""Patterns that memory has no room for: sorted runs on disk, and ballots that read them slice by slice.

A run is a file of rows of 64-bit words: a packed pattern, its count, and its count in the fitting part.
Whatever is a sum over rows (errors, ties, tandem counts, ...) is added up slice by slice. What is one number
for each pattern (weights of the right votes, margins, ...) comes in one piece, if the budget allows it.
On a cluster the workers do the slices: they read them from the folder that they share.
"""

from __future__ import annotations

import uuid
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import Any, Literal

import numpy as np

from votecert._types import AnyArray, FloatArray, IntArray, Words
from votecert.rows.ballots import Ballots
from votecert.rows.blocks.counting import Declaration, Layout, PatternCounts, join_counts
from votecert.rows.blocks.spill_folder import SpillFolder
from votecert.rows.patterns import content_sample, sort_keys
from votecert.rows.split import STREAM, Drawn, SpawnKey

COPIES = 8
"""Arrays of the size of an answer that may be needed at a time to find it."""

FEWEST = 64
"""Patterns that are read at a time at least, however small the budget is."""


@dataclass(frozen=True)
class Run:
    """Different patterns in order, on disk: where, what their bits mean, and how many there are."""

    path: str
    layout: Layout
    n_patterns: int
    n_rows: int

    @property
    def pattern_bytes(self) -> int:
        """Memory of one pattern when it is read."""
        return 8 * self._n_words + 16

    @property
    def _n_words(self) -> int:
        return -(-self.layout.row_bits // 64)

    def read(self, start: int = 0, stop: int | None = None) -> PatternCounts:
        """Some of the patterns."""
        rows = np.array(self._map()[start:stop])
        counts, fitting = rows[:, -2:].T.astype(np.int64)
        return PatternCounts(self.layout, np.ascontiguousarray(rows[:, :-2]), counts, fitting)

    def keys(self, step: int) -> Words:
        """The sort keys of every so many patterns."""
        return sort_keys(np.array(self._map()[::step, :-2]))

    def place_of(self, key: int) -> int:
        """Number of patterns with a smaller sort key."""
        words = self._map()[:, :-2]
        return bisect_left(
            range(self.n_patterns), key, key=lambda i: int(sort_keys(np.array(words[i : i + 1]))[0])
        )

    def remove(self) -> None:
        """Delete the file."""
        Path(self.path).unlink(missing_ok=True)

    def _map(self) -> AnyArray:
        try:
            return np.memmap(self.path, np.uint64, mode="r", shape=(self.n_patterns, self._n_words + 2))
        except FileNotFoundError:
            raise _not_shared(self.path) from None


def write_run(pieces: Iterable[PatternCounts], layout: Layout, folder: str) -> Run:
    """Put patterns that come in order on disk."""
    # A task that is run again after its worker died must not write into the file of the first attempt.
    path = Path(folder) / uuid.uuid4().hex
    n_patterns = n_rows = 0
    try:
        with path.open("wb") as file:
            for piece in pieces:
                numbers = (piece.counts.astype(np.uint64), piece.fitting.astype(np.uint64))
                file.write(np.column_stack([piece.words, *numbers]).data)
                n_patterns += len(piece.counts)
                n_rows += piece.n_rows
    except FileNotFoundError:
        raise _not_shared(folder) from None
    return Run(str(path), layout, n_patterns, n_rows)


def _not_shared(path: str) -> FileNotFoundError:
    return FileNotFoundError(
        f"{path} is not there: workers that spill patterns need a folder shared with the program that "
        "started them. Choose one with spill_folder=, or a memory_budget with room for all patterns."
    )


def merge_runs(runs: Sequence[Run], folder: str, n_at_once: int) -> Run:
    """One run with the patterns of several, about so many of them in memory at a time."""
    layout = reduce(Layout.join, (run.layout for run in runs))
    runs = [_laid_out(run, layout, folder) for run in runs]
    return write_run(_merged(runs, n_at_once), layout, folder)


def _merged(runs: Sequence[Run], n_at_once: int) -> Iterator[PatternCounts]:
    """The patterns of several runs in order, range by range of keys.

    Each run tells every s-th of its keys. Between two cuts lie at most n/2 patterns that were told of and, in
    each run, fewer than s that were not.
    """
    step = max(1, n_at_once // (2 * len(runs)))
    told = np.sort(np.concatenate([run.keys(step) for run in runs]))
    starts = [0] * len(runs)
    for key in [*told[:: max(1, n_at_once // (2 * step))][1:].tolist(), None]:
        ends = [run.n_patterns if key is None else run.place_of(key) for run in runs]
        ranges = zip(runs, starts, ends, strict=True)
        if pieces := [run.read(start, end) for run, start, end in ranges if end > start]:
            yield join_counts(pieces)
        starts = ends


def _laid_out(run: Run, layout: Layout, folder: str) -> Run:
    """The run in another layout, written anew if its words change."""
    if run.layout.packs_like(layout):
        return replace(run, layout=layout)
    counts = run.read().laid_out(layout)
    order = np.argsort(sort_keys(counts.words), kind="stable")
    words, number, fitting = counts.words[order], counts.counts[order], counts.fitting[order]
    return write_run([PatternCounts(layout, words, number, fitting)], layout, folder)


@dataclass(frozen=True)
class Slices:
    """The patterns of a run in slices, each as ballots of its own. Travels to workers.

    The budget is for one slice and the work on it, in bytes.
    """

    run: Run
    declared: Declaration
    memory_budget: int
    which: Literal["all", "fitting", "certifying"] = "all"

    @property
    def n_bytes(self) -> int:
        """Memory that all patterns would take, unpacked and with their votes weighed."""
        layout = self.run.layout
        weighed = 8 * (len(layout.labels) + self.declared.abstaining(layout))
        return self.run.n_patterns * (self.run.pattern_bytes + layout.code_bytes + weighed)

    def starts(self) -> range:
        """Where the slices start."""
        step = max(FEWEST, self.memory_budget // COPIES * self.run.n_patterns // self.n_bytes)
        return range(0, self.run.n_patterns, step)

    def read(self, start: int) -> Ballots:
        """The slice that starts there; it may have no rows."""
        ballots = ballots_of(self.run.read(start, start + self.starts().step), self.declared)
        if self.which == "all":
            return ballots
        assert ballots.drawn is not None
        fitting = ballots.drawn.counts
        return ballots.with_counts(fitting if self.which == "fitting" else ballots.counts - fitting)


def ballots_of(counts: PatternCounts, declared: Declaration) -> Ballots:
    """Patterns in memory as ballots."""
    return Ballots(*counts.unpacked(), counts.counts, **_about(counts.layout, declared, counts.fitting))


def _about(layout: Layout, declared: Declaration, fitting: IntArray | None) -> dict[str, Any]:
    """What ballots know beside their patterns; the counts of the fitting part are known for all rows only."""
    drawn = None
    if declared.split > 0 and fitting is not None:
        drawn = Drawn(declared.split, declared.seed, fitting)
    return {
        "classes": layout.classes,
        "classes_declared": declared.classes is not None,
        "can_abstain": declared.abstaining(layout),
        "abstention_declared": declared.can_abstain is not None,
        "drawn": drawn,
    }


def answer(slices: Slices, start: int, question: Callable[[Ballots], Any]) -> Any:
    """What a slice says; a task for a worker."""
    return question(slices.read(start))


def _joined(name: str, bytes_of: Callable[[Ballots], int] = lambda ballots: 8) -> Any:
    """A method of ballots on disk: what the slices say, so many bytes for each pattern, in one array."""

    def ask(self: SpilledBallots, *args: Any, **options: Any) -> AnyArray:
        return self.joined(methodcaller(name, *args, **options), bytes_of(self))

    return ask


def _summed(name: str) -> Any:
    """A method of ballots on disk: the sum of what the slices say."""

    def ask(self: SpilledBallots, *args: Any) -> Any:
        return sum(self.answers(methodcaller(name, *args)))

    return ask


def _summed_with(name: str) -> Any:
    """A method of ballots on disk: the sum of what the slices say of the values that belong to them."""

    def ask(self: SpilledBallots, values: Any) -> FloatArray:
        total, start = np.zeros(self.n_voters), 0
        for part in self.slices():
            total += getattr(part, name)(values[start : start + part.n_patterns])
            start += part.n_patterns
        return total

    return ask


class SpilledBallots(Ballots):
    """Ballots on disk. :func:`~votecert.rows.blocks.read_ballots` makes them of too many patterns.

    Parameters
    ----------
    source : Slices
        The patterns.
    folder : SpillFolder
        Where they are; it stays as long as these ballots do.
    client : distributed.Client, optional
        The cluster whose workers go through the slices. Default: this process does.
    """

    source: Slices
    folder: SpillFolder
    client: Any

    def __init__(self, source: Slices, folder: SpillFolder, client: Any = None) -> None:
        on_disk = np.empty(0, np.int64) if source.which == "all" else None
        about = _about(source.run.layout, source.declared, on_disk)
        for name, value in {"source": source, "folder": folder, "client": client, **about}.items():
            object.__setattr__(self, name, value)  # ballots are frozen

    def slices(self) -> Iterator[Ballots]:
        """The patterns in order, as many at a time as the budget allows."""
        return map(self.source.read, self.source.starts())

    def part(self, split: float, seed: int, *, fitting: bool, stream: SpawnKey = STREAM) -> Ballots | None:
        """The fitting or certifying rows, as they were counted; None if either has none."""
        if self.drawn is None:
            return None
        self.drawn.refuse_other(split, seed, stream)
        which: Literal["fitting", "certifying"] = "fitting" if fitting else "certifying"
        part = SpilledBallots(replace(self.source, which=which), self.folder, self.client)
        return part if 0 < part.n_rows < self.n_rows else None

    def in_memory(self, most_entries: int) -> Ballots:
        """A sample of the patterns with about so many votes: those whose contents hash lowest."""
        pieces = ((part.codes, part.labels, part.counts) for part in self.slices())
        sample = content_sample(pieces, max(1, most_entries // self.n_voters))
        rest = (self.classes, self.classes_declared, self.can_abstain)
        return Ballots(*sample, *rest, abstention_declared=self.abstention_declared)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows m."""
        run = self.source.run
        return run.n_rows if self.source.which == "all" else sum(self.answers(attrgetter("n_rows")))

    @cached_property
    def n_patterns(self) -> int:
        """Number of different rows n."""
        run = self.source.run
        return run.n_patterns if self.source.which == "all" else sum(self.answers(attrgetter("n_patterns")))

    @property
    def n_voters(self) -> int:
        """Number of voters d."""
        return self.source.run.layout.n_voters

    codes: Any = property(lambda self: self.joined(attrgetter("codes"), self.source.run.layout.code_bytes))
    labels: Any = property(lambda self: self.joined(attrgetter("labels"), 8))
    counts: Any = property(lambda self: self.joined(attrgetter("counts"), 8))
    correct: Any = property(lambda self: self.joined(attrgetter("correct"), self.n_voters))
    correct_weight = _joined("correct_weight")
    wrong_weight = _joined("wrong_weight")
    class_votes = _joined("class_votes", lambda ballots: 8 * ballots.n_outputs)
    margins = _joined("margins")
    vote_totals = _joined("vote_totals", lambda ballots: 8 * ballots.n_classes)
    predict = _joined("predict")
    leads = _joined("leads")
    voter_errors = _summed("voter_errors")
    tandem_counts = _summed("tandem_counts")
    _count_errors = _summed("errors")
    _count_ties = _summed("ties")
    sum_over_correct = _summed_with("sum_over_correct")
    sum_over_votes = _summed_with("sum_over_votes")

    def joined(self, question: Callable[[Ballots], AnyArray], n_bytes: int) -> AnyArray:
        """The answers on all patterns, so many bytes each, in one array."""
        needed, budget = COPIES * n_bytes * self.n_patterns, self.source.memory_budget
        if needed > budget:
            raise ValueError(
                f"This needs about {needed / 1e9:.2g} GB of memory for {self.n_patterns} different rows and "
                f"the memory_budget is {budget / 1e9:.2g} GB. Bounds that only count errors "
                "('occam', 'test-set', 'fo', 'so') need far less; or read the rows with a larger budget."
            )
        return np.concatenate([*self.answers(question)])

    def answers(self, question: Callable[[Ballots], Any]) -> Iterable[Any]:
        """What each slice says, in order."""
        if self.client is None or self.client.status != "running":
            return map(question, self.slices())
        import dask

        ask = dask.delayed(answer, pure=False)
        tasks = (ask(self.source, start, question) for start in self.source.starts())
        found: tuple[Any, ...] = dask.compute(*tasks, scheduler=self.client)
        return found

"""Joining the patterns of many blocks, in memory as long as there is room, and on disk from then on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from votecert.rows.ballots import Ballots
from votecert.rows.blocks.counting import Declaration, PackedBlock, PatternCounts, count_patterns, join_counts
from votecert.rows.blocks.spill import Run, Slices, SpilledBallots, ballots_of, merge_runs, write_run
from votecert.rows.blocks.spill_folder import SpillFolder
from votecert.rows.labels import refuse_fewer

SHARE = 32
"""Patterns kept in one piece take at most this part of the budget: joining some takes many times that."""


class MemoryLimit(NamedTuple):
    """How much may be kept in memory, and where the rest goes. Travels to workers.

    Attributes
    ----------
    folder : str
        Folder for runs.
    memory_budget : int
        Bytes for the whole computation in one process.
    """

    folder: str
    memory_budget: int

    @property
    def largest(self) -> int:
        """Bytes of the patterns that are kept in one piece."""
        return self.memory_budget // SHARE


class Tally(NamedTuple):
    """The patterns of some blocks: at most one piece in memory, and runs on disk, if there are too many."""

    counts: list[PatternCounts]
    runs: list[Run]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(part.n_rows for part in self.counts) + sum(run.n_rows for run in self.runs)


def tally_packed(block: PackedBlock | None, start: int, declared: Declaration) -> Tally:
    """The patterns of a packed block."""
    return Tally([] if block is None else [count_patterns(block, start, declared)], [])


def join_tallies(tallies: Iterable[Tally], limit: MemoryLimit) -> Tally:
    """The patterns of several sets of blocks together."""
    total = Tally([], [])
    waiting: list[PatternCounts] = []

    def join() -> None:
        if waiting:
            total.counts[:] = [join_counts([*total.counts, *waiting])]
            waiting.clear()
        if n_bytes(total.counts) > limit.largest:
            total.runs.append(write_run(total.counts, total.counts[0].layout, limit.folder))
            total.counts.clear()

    for tally in tallies:
        total.runs.extend(tally.runs)
        waiting += tally.counts
        # Joining costs the size of all that is joined: waiting until it doubles keeps the sum linear.
        if n_bytes(waiting) > max(n_bytes(total.counts), limit.largest // 4):
            join()
    join()
    return total


def n_bytes(pieces: Iterable[PatternCounts]) -> int:
    """Memory in use."""
    return sum(piece.n_bytes for piece in pieces)


def finish(
    tally: Tally, declared: Declaration, limit: MemoryLimit, folder: SpillFolder, client: Any = None
) -> Ballots:
    """The ballots of all blocks: in memory if they fit there, on disk otherwise."""
    if not tally.counts and not tally.runs:
        raise ValueError("The blocks have no rows: at least one labelled row is needed.")
    parts = tally.counts
    if tally.runs:
        runs = tally.runs + [write_run([part], part.layout, limit.folder) for part in parts]
        run = merge_runs(runs, limit.folder, n_at_once=max(1, 2 * limit.largest // runs[0].pattern_bytes))
        for other in runs:
            other.remove()
        if declared.classes is None:
            refuse_fewer(run.layout.labels)
        slices = Slices(run, declared, limit.memory_budget)
        if slices.n_bytes > limit.memory_budget // 8:
            return SpilledBallots(slices, folder, client)
        parts = [run.read()]
    folder.remove()
    if declared.classes is None:
        refuse_fewer(parts[0].layout.labels)
    return ballots_of(parts[0], declared)

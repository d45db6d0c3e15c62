"""Joining the patterns of many blocks, in memory as long as there is room, and on disk from then on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from votecert.rows.ballots import Ballots
from votecert.rows.blocks.counting import (
    Declaration,
    PackedBlock,
    PatternCounts,
    count_patterns,
    join_counts,
    pack_block,
)
from votecert.rows.blocks.spill import Run, Slices, SpilledBallots, ballots_of, merge_runs, write_run
from votecert.rows.blocks.spill_folder import SpillFolder

SHARE = 32
"""Patterns kept in one piece take at most this part of the budget: joining some takes many times that."""


@dataclass(frozen=True)
class MemoryLimit:
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


Tally = list[PatternCounts | Run]
"""The patterns of some blocks: at most one piece in memory, and runs on disk, if there are too many."""


def tally_block(votes: Any, y: Any, number: int, start: int, declared: Declaration) -> Tally:
    """The patterns of one block; its errors name it."""
    return tally_packed(pack_block(votes, y, number, declared), start, declared)


def tally_packed(block: PackedBlock | None, start: int, declared: Declaration) -> Tally:
    """The patterns of a packed block."""
    return [] if block is None else [count_patterns(block, start, declared)]


def n_bytes_of(tally: Tally) -> int:
    """Memory in use."""
    return sum(part.n_bytes for part in tally if isinstance(part, PatternCounts))


def join_tallies(tallies: Iterable[Tally], limit: MemoryLimit) -> Tally:
    """The patterns of several sets of blocks together."""
    runs: Tally = []
    waiting: list[PatternCounts] = []

    def join() -> None:
        if len(waiting) > 1:
            waiting[:] = [join_counts(waiting)]
        if waiting and waiting[0].n_bytes > limit.largest:
            runs.append(write_run(waiting, waiting[0].layout, limit.folder))
            waiting.clear()

    for tally in tallies:
        runs += [part for part in tally if isinstance(part, Run)]
        waiting += [part for part in tally if isinstance(part, PatternCounts)]
        if sum(counts.n_bytes for counts in waiting) > 2 * limit.largest:
            join()
    join()
    return [*waiting, *runs]


def finish(
    tally: Tally, declared: Declaration, limit: MemoryLimit, folder: SpillFolder, client: Any = None
) -> Ballots:
    """The ballots of all blocks: in memory if they fit there, on disk otherwise."""
    counts = next((part for part in tally if isinstance(part, PatternCounts)), None)
    runs = [part for part in tally if isinstance(part, Run)]
    if runs:
        if counts is not None:
            runs.append(write_run([counts], counts.layout, limit.folder))
        run = merge_runs(runs, limit.folder, n_at_once=max(1, 2 * limit.largest // runs[0].pattern_bytes))
        for other in runs:
            other.remove()
        slices = Slices(run, declared, limit.memory_budget)
        if slices.n_bytes > limit.memory_budget // 8:
            _refuse_one_label(run.layout.labels, declared)
            return SpilledBallots(slices, folder, client)
        counts = run.read()
    folder.remove()
    if counts is None:
        raise ValueError("The blocks have no rows: at least one labelled row is needed.")
    _refuse_one_label(counts.layout.labels, declared)
    return ballots_of(counts, declared)


def _refuse_one_label(labels: Sequence[Any], declared: Declaration) -> None:
    if len(labels) < 2 and declared.classes is None:
        raise ValueError(
            f"Only one label, {labels[0]!r}, occurs in votes and y: declare the label set with classes=[...]."
        )

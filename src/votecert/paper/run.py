"""The runner: every cell that has no result yet, in parallel, each result on disk as soon as it is there.

Work goes through joblib, so ``joblib.parallel_config(backend="dask")`` around :func:`run` sends the cells to
a Dask cluster. Only the process that called :func:`run` writes results, and its workers end with it, even if
it is killed.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from votecert.paper.cells import Cell, Group, Panel
from votecert.paper.comparison import measure_panel
from votecert.paper.measure import measure
from votecert.paper.protocol import votes_file, votes_of
from votecert.paper.results import Record, ResultFiles, read_results

News = Callable[[str, float], None]

RUNS = "runs.jsonl"
"""The file that tells how long a run from nothing took."""

GLANCE = 0.5
"""Seconds between two looks of a worker at whether its parent is alive."""


def missing(cells: Iterable[Cell | Panel], folder: Path) -> list[Cell | Panel]:
    """The cells without a result."""
    done = read_results(folder)
    return [cell for cell in cells if cell.key not in done]


def run(
    cells: Iterable[Cell | Panel],
    folder: Path,
    *,
    jobs: int = 1,
    data: Path | None = None,
    cache: Path | None = None,
    news: News | None = None,
) -> int:
    """Run what is missing and return how many cells that was.

    Parameters
    ----------
    cells : iterable of Cell or Panel
    folder : Path
        Where the files of results are.
    jobs : int, default=1
        Cells at a time.
    data, cache : Path, optional
        Folders of data sets and of votes.
    news : callable, optional
        Called with the key of every finished piece of work and the seconds it took. Voters of a group are
        pieces of work too: their keys end in "votes".
    """
    cells, count, from_nothing, began = list(cells), 0, True, time.perf_counter()
    with ResultFiles.open(folder) as files:
        for batch in _batches(missing(cells, folder)):
            # Forests are grown once for all cells of a group; otherwise every process would grow its own.
            groups = dict.fromkeys(cell.group for cell in batch if isinstance(cell, Cell))
            for group, seconds, was_grown in _parallel(jobs, _prepare, groups, data, cache):
                from_nothing &= was_grown
                if news is not None:
                    news(f"{group.data}/{group.voters}/{group.trial}/votes", seconds)
            for cell, record in _parallel(jobs, _one, batch, data, cache):
                files.append(cell.file, record)
                count += 1
                if news is not None:
                    news(cell.key, record["seconds"])
        if from_nothing and 0 < count == len(cells):
            wall = {"cells": count, "jobs": jobs, "wall_seconds": time.perf_counter() - began, "seconds": 0.0}
            files.append(RUNS, {"cell": f"run/{count}/{jobs}"} | wall)
    return count


def _batches(cells: list[Cell | Panel]) -> Iterator[list[Cell | Panel]]:
    """Cells of one data set and kind of voters at a time."""
    batches: dict[tuple[str, str], list[Cell | Panel]] = {}
    for cell in cells:
        key = (cell.group.data, cell.group.voters) if isinstance(cell, Cell) else ("comparison", "")
        batches.setdefault(key, []).append(cell)
    yield from batches.values()


def _parallel(jobs: int, work: Callable[..., Any], items: Iterable[Any], *rest: Any) -> Iterator[Any]:
    """Results in the order in which they are ready; no more items are handed out than are worked on."""
    parallel = Parallel(
        n_jobs=jobs,
        return_as="generator_unordered",
        pre_dispatch="n_jobs",
        batch_size=1,
        initializer=end_with,
        initargs=(os.getpid(),),
    )
    yield from parallel(delayed(work)(item, *rest) for item in items)


def end_with(owner: int) -> None:
    """In a worker process, start a thread that ends it when the process that started it is gone.

    The kernel could send a signal instead, but it does so as soon as the *thread* ends that started the
    worker, and only on Linux.
    """

    def watch() -> None:
        while os.getppid() == owner:
            time.sleep(GLANCE)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _prepare(group: Group, data: Path | None, cache: Path | None) -> tuple[Group, float, bool]:
    """The votes of a group in the cache, the seconds it took, and whether its voters had to be grown."""
    began, was_there = time.perf_counter(), votes_file(group, cache).exists()
    votes_of(group, data, cache)
    return group, time.perf_counter() - began, not was_there


def _one(cell: Cell | Panel, data: Path | None, cache: Path | None) -> tuple[Cell | Panel, Record]:
    if isinstance(cell, Panel):
        return cell, measure_panel(cell)
    return cell, measure(cell, votes_of(cell.group, data, cache))

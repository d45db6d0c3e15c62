"""What votes larger than memory cost: time and peak memory by rows, voters, classes and workers.

    python benchmarks/scale.py                  # everything, with 100 million rows: ten minutes
    python benchmarks/scale.py rows workers     # some of it: rows, voters, classes, disk, workers, forecast
    python benchmarks/scale.py --scale 0.01     # fewer rows everywhere, to try it out

Blocks of 1 048 576 rows are drawn while they are read: voters err independently, 30 % of the time, which
gives more different rows than any real ensemble. The time of drawing is measured and left out. Every line is
a process of its own, so that its peak memory is its own, and says how busy the machine was (load average of
the last minute).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import votecert as vc
from votecert.rows.ballots import Ballots
from votecert.rows.blocks import read_ballots

BLOCK = 1 << 20
MILLION = 10**6
BUDGET = 2 * 10**9

Block = tuple[np.ndarray, np.ndarray]


def draw(number: int, rows: int, voters: int, classes: int) -> Block:
    """Votes and labels of one block."""
    rng = np.random.default_rng([0, number])
    y = rng.integers(classes, size=rows, dtype=np.uint8)
    wrong = rng.integers(256, size=(rows, voters), dtype=np.uint8) < 77
    if classes == 2:
        return y[:, None] ^ wrong, y
    other = rng.integers(1, classes, size=(rows, voters), dtype=np.uint8)
    return (y[:, None] + wrong * other) % np.uint8(classes), y


def sizes(rows: int) -> list[int]:
    """Rows of each block."""
    return [min(BLOCK, rows - start) for start in range(0, rows, BLOCK)]


class Timed:
    """Blocks, and the seconds that drawing them took."""

    def __init__(self, rows: int, voters: int, classes: int) -> None:
        self.rows, self.voters, self.classes, self.seconds = rows, voters, classes, 0.0

    def __iter__(self) -> Iterator[Block]:
        for number, rows in enumerate(sizes(self.rows)):
            start = time.perf_counter()
            block = draw(number, rows, self.voters, self.classes)
            self.seconds += time.perf_counter() - start
            yield block


def measured(kind: str, rows: int, voters: int, classes: int, workers: int = 0) -> dict[str, Any]:
    """Do one thing and say what it took."""
    return {"blocks": by_blocks, "memory": in_memory, "workers": by_workers}[kind](
        rows, voters, classes, workers
    )


def by_blocks(rows: int, voters: int, classes: int, _: int) -> dict[str, Any]:
    """Read an iterator of blocks, certify uniform and learned weights."""
    blocks = Timed(rows, voters, classes)
    start = time.perf_counter()
    ballots = read_ballots(iter(blocks), memory_budget=BUDGET)
    read = time.perf_counter() - start - blocks.seconds
    return {"read": read, "drawing": blocks.seconds, **certified(ballots)}


def in_memory(rows: int, voters: int, classes: int, _: int) -> dict[str, Any]:
    """The same with all rows in memory."""
    parts = [draw(number, size, voters, classes) for number, size in enumerate(sizes(rows))]
    votes, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    del parts
    start = time.perf_counter()
    ballots = Ballots.from_votes(votes, y)
    return {"read": time.perf_counter() - start, **certified(ballots)}


def certified(ballots: Ballots) -> dict[str, Any]:
    """Seconds and results of the certificates of uniform and learned weights."""
    start = time.perf_counter()
    uniform = vc.certify(ballots, weights="uniform")
    middle = time.perf_counter()
    learned = vc.certify(ballots)
    return {
        "uniform": middle - start,
        "learned": time.perf_counter() - middle,
        "patterns": ballots.n_patterns,
        "kind": type(ballots).__name__,
        "risks": [uniform.risk, learned.risk],
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def by_workers(rows: int, voters: int, classes: int, workers: int) -> dict[str, Any]:
    """Read Dask arrays that are drawn on the workers of a cluster of processes."""
    import dask
    import dask.array as da
    from distributed import Client, LocalCluster

    block = dask.delayed(draw, nout=2, pure=False)
    drawn = [(block(number, size, voters, classes), size) for number, size in enumerate(sizes(rows))]
    votes = da.concatenate([da.from_delayed(pair[0], (size, voters), np.uint8) for pair, size in drawn])
    y = da.concatenate([da.from_delayed(pair[1], (size,), np.uint8) for pair, size in drawn])
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        read_ballots(votes[: 4 * BLOCK], y[: 4 * BLOCK], client=client)  # imports, connections
        start = time.perf_counter()
        ballots = read_ballots(votes, y, client=client, memory_budget=BUDGET)
        return {"read": time.perf_counter() - start, "errors": ballots.errors([1] * voters)}


def alone(kind: str, rows: int, voters: int = 20, classes: int = 2, workers: int = 0) -> dict[str, Any]:
    """:func:`measured` in a process of its own."""
    task = json.dumps([kind, rows, voters, classes, workers])
    done = subprocess.run([sys.executable, __file__, "--task", task], stdout=subprocess.PIPE, check=True)
    return {**json.loads(done.stdout), "load": os.getloadavg()[0]}


def line(name: str, rows: int, found: dict[str, Any]) -> None:
    """Print what one process took."""
    print(
        f"{name:<34}{found['read']:8.1f} s {found['read'] / rows * 1e9:7.0f} ns/row"
        f"{found['uniform']:8.2f} s {found['learned']:7.1f} s {found['patterns']:>10} "
        f"{found['peak'] / 1e6:7.0f} MB  load {found['load']:.1f}",
        flush=True,
    )


def head(title: str) -> None:
    """Print the titles of the columns."""
    print(f"\n{title}\n{'':<34}{'reading':>10}{'uniform':>24} {'learned':>9} {'patterns':>10} {'peak':>10}")


def study_rows(scale: float) -> None:
    """Growth with the rows, against all rows in memory."""
    head("rows, 20 voters, two classes")
    few = int(10 * MILLION * scale)
    reference = alone("memory", few)
    line(f"{few} in memory", few, reference)
    for millions in (10, 25, 50, 100):
        rows = int(millions * MILLION * scale)
        found = alone("blocks", rows)
        line(f"{rows} in blocks", rows, found)
        if rows == few:
            assert found["risks"] == reference["risks"], "the certificates differ"
    ratio = (found["read"] / rows) / (reference["read"] / few)
    whole = [(r["read"] + r["uniform"] + r["learned"]) / n for r, n in ((found, rows), (reference, few))]
    print(f"per row, blocks / memory: reading {ratio:.2f}, and certified {whole[0] / whole[1]:.2f} (limit 2)")


def study_voters(scale: float) -> None:
    """Growth with the voters."""
    head("voters, two classes")
    rows = int(5 * MILLION * scale)
    for voters in (5, 10, 20, 40, 80):
        line(f"{rows} rows x {voters} voters", rows, alone("blocks", rows, voters))


def study_classes(scale: float) -> None:
    """Growth with the classes."""
    head("classes, 10 voters")
    rows = int(2 * MILLION * scale)
    for classes in (2, 3, 5, 10):
        line(f"{rows} rows, {classes} classes", rows, alone("blocks", rows, 10, classes))


def study_disk(scale: float) -> None:
    """Rows that do not repeat: patterns go to disk."""
    head("100 voters: hardly any row repeats")
    for millions in (2, 8):
        rows = int(millions * MILLION * scale)
        found = alone("blocks", rows, 100)
        line(f"{rows} rows, {found['kind']}", rows, found)


def study_workers(scale: float) -> None:
    """One worker against two."""
    rows = int(50 * MILLION * scale)
    print(f"\nworkers, {rows} rows x 20 voters, drawing included")
    found = {workers: alone("workers", rows, workers=workers) for workers in (1, 2)}
    assert found[1]["errors"] == found[2]["errors"], "the counts differ"
    for workers, took in found.items():
        print(f"{workers} worker processes {took['read']:8.1f} s   load {took['load']:.1f}")
    print(f"two workers are {found[1]['read'] / found[2]['read']:.2f} times as fast (limit 1.6)")


def forecast(scale: float) -> None:
    """What more rows would take on a cluster, from the cost of a row here."""
    rows = int(25 * MILLION * scale)
    found = alone("blocks", rows)
    cost = found["read"] / rows
    print(f"\nforecast from {cost * 1e9:.0f} ns a row and core, 20 voters, two classes")
    for more, cores in ((1e9, 1), (1e9, 16), (1e11, 64), (1e11, 1024)):
        n_blocks = more / BLOCK
        print(
            f"{more:.0e} rows on {cores:>4} cores: {more * cost / cores / 60:8.1f} minutes of counting, "
            f"{n_blocks:.0f} blocks, votes of {more * 21 / 1e12:.2f} TB read once"
        )


STUDIES = {
    "rows": study_rows,
    "voters": study_voters,
    "classes": study_classes,
    "disk": study_disk,
    "workers": study_workers,
    "forecast": forecast,
}


def main() -> None:
    """Run the studies that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("studies", nargs="*", choices=[*STUDIES, []], help="all by default")
    parser.add_argument("--scale", type=float, default=1.0, help="factor for all numbers of rows")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(measured(*json.loads(options.task))))
        return
    for name in options.studies or STUDIES:
        STUDIES[name](options.scale)


if __name__ == "__main__":
    main()

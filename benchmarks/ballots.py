"""How long Ballots take, as ratios to plain NumPy in the same run.

The reference counts the right votes of 1 000 000 rows x 100 voters and finds the correctness patterns
by sorting, the least anybody has to do::

    (votes == y[:, None]).sum()
    np.unique(packed correctness patterns)

Run it with ``python benchmarks/ballots.py [rows]``. Ratios below one mean faster than the reference.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from votecert.rows.ballots import Ballots

N_VOTERS = 100


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """Best of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def megabytes(work: Callable[[], Any]) -> float:
    """Largest memory in use at one time while the work is done, NumPy arrays included."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def plain_reference(votes: np.ndarray, y: np.ndarray) -> None:
    """Count right votes; sort-based unique of the packed correctness patterns."""
    (votes == y[:, None]).sum()
    packed = np.packbits(votes == y[:, None], axis=1)
    np.unique(packed.view(f"V{packed.shape[1]}").ravel(), return_counts=True)


def independent_votes(n_rows: int, n_classes: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Voters that err independently: hardly any row repeats."""
    y = rng.integers(0, n_classes, n_rows, dtype=np.uint8)
    shift = rng.integers(1, max(2, n_classes), (n_rows, N_VOTERS), dtype=np.uint8)
    wrong = rng.random((n_rows, N_VOTERS), dtype=np.float32) < 0.3
    return ((y[:, None] + wrong * shift) % n_classes).astype(np.uint8), y


def repeated_votes(n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Every row is one of 5000 patterns."""
    votes, y = independent_votes(5000, 2, rng)
    rows = rng.integers(0, 5000, n_rows)
    return votes[rows], y[rows]


def report(name: str, work: Callable[[], Any], reference: float) -> None:
    """Print one line: seconds, ratio, memory."""
    taken = seconds(work)
    print(f"  {name:<52}{taken:8.3f} s {taken / reference:8.2f} x {megabytes(work):8.0f} MB", flush=True)


def measure(name: str, votes: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> None:
    """Making ballots from these votes, then everything they offer."""
    reference = seconds(lambda: plain_reference(votes, y))
    print(f"\n{name}, {len(y)} rows x {N_VOTERS} voters; reference {reference:.3f} s")
    report("from_votes, compress='auto'", lambda: Ballots.from_votes(votes, y), reference)
    report("from_votes, compress=True", lambda: Ballots.from_votes(votes, y, compress=True), reference)
    report("from_votes, compress=False", lambda: Ballots.from_votes(votes, y, compress=False), reference)
    ballots = Ballots.from_votes(votes, y)
    theta = rng.dirichlet(np.ones(N_VOTERS))
    half = np.arange(0, len(y), 2)
    report("first correct_weight", lambda: replace(ballots).correct_weight(theta), reference)
    report("correct_weight", lambda: ballots.correct_weight(theta), reference)
    report("sum_over_correct (gradient)", lambda: ballots.sum_over_correct(ballots.counts), reference)
    report("class_votes", lambda: ballots.class_votes(theta), reference)
    report("margins", lambda: ballots.margins(theta), reference)
    report("voter_errors", ballots.voter_errors, reference)
    report("tandem_counts", ballots.tandem_counts, reference)
    report(
        "errors of a new whole-number vote", lambda: ballots.errors(rng.integers(0, 4, N_VOTERS)), reference
    )
    report("subset of half of the rows", lambda: ballots.subset(half), reference)


def measure_kinds(votes: np.ndarray, y: np.ndarray) -> None:
    """The same binary votes in other clothes."""
    reference = seconds(lambda: plain_reference(votes, y))
    print(f"\nother kinds of labels, {len(y)} rows; reference as above {reference:.3f} s")
    names = np.array(["no", "yes"])
    few, y_names = votes[:, :10], names[y]
    holes = np.where(few == 1, np.nan, 0.0)
    kinds = {
        "int64 0/1": (votes.astype(np.int64), y.astype(np.int64)),
        "int8 -1/+1": (votes.astype(np.int8) * 2 - 1, y.astype(np.int8) * 2 - 1),
        "bool": (votes.astype(bool), y.astype(bool)),
        "10 voters, uint8": (few, y),
        "10 voters, float with missing votes": (holes, y),
        "10 voters, NumPy strings": (names[few], y_names),
        "10 voters, object strings": (names[few].astype(object), y_names.astype(object)),
    }
    for kind, (kind_votes, kind_y) in kinds.items():
        report(kind, lambda v=kind_votes, t=kind_y: Ballots.from_votes(v, t), reference)


def main(n_rows: int) -> None:
    """Measure everything once."""
    rng = np.random.default_rng(0)
    votes, y = independent_votes(n_rows, 2, rng)
    measure("binary, independent voters", votes, y, rng)
    measure_kinds(votes, y)
    measure("binary, 5000 patterns", *repeated_votes(n_rows, rng), rng)
    measure("10 classes, independent voters", *independent_votes(n_rows, 10, rng), rng)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)

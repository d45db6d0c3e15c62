"""How long votes take from a file to ballots, and how much memory that takes beyond a byte a vote.

Writes csv files of 100 voters to a temporary folder: single digits, text labels with gaps, and quoted text.
Run it with ``python benchmarks/reading.py [rows]``; the default million rows are a file of 200 MB.

The whole command, ``votecert certify votes.csv --label truth --weights uniform``, on ten million rows of
single digits, a file of 2.02 GB, took 39 s of one core and at most 1.70 GB: 1 GB of votes, 240 MB for the
label, the count and the number of each row, and what counting the votes takes.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from votecert.rows.files import read_votes

N_VOTERS = 100
BLOCK = 50_000


def write(path: Path, n_rows: int, words: list[str]) -> None:
    """Independent votes, 70 % of them right; hardly any row repeats, which is the worst case for memory."""
    rng = np.random.default_rng(0)
    names = np.array(words, dtype=object)
    with path.open("w") as file:
        file.write(",".join([*(f"voter {i}" for i in range(N_VOTERS)), "truth"]) + "\n")
        for start in range(0, n_rows, BLOCK):
            truth = rng.integers(2, size=min(BLOCK, n_rows - start))
            votes = truth[:, None] ^ (rng.random((len(truth), N_VOTERS)) > 0.7)
            missing = rng.random(votes.shape) < (0.05 if len(words) > 2 else 0.0)
            cells = names[np.column_stack([np.where(missing, 2, votes), truth])]
            file.write("\n".join(map(",".join, cells)) + "\n")


def read(path: str) -> tuple[float, float, str]:
    """Seconds of one core, megabytes beyond those before reading, and what was read."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    found = read_votes(path, label="truth")
    seconds = time.process_time() - start
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000, repr(found.ballots)


def in_new_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Run in a process of its own: only that has its own largest memory."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def main() -> None:
    """Print one line a file."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    packed = n_rows * N_VOTERS / 1e6
    print(f"{n_rows} rows x {N_VOTERS} voters: {packed:.0f} MB at a byte a vote")
    with tempfile.TemporaryDirectory() as folder:
        for name, words in (
            ("digits", ["0", "1"]),
            ("text with gaps", ["good", "bad", ""]),
            ("quoted text", ['"good"', '"bad"']),
        ):
            path = Path(folder) / "votes.csv"
            in_new_process(write, path, n_rows, words)
            size = path.stat().st_size / 1e6
            seconds, megabytes, ballots = in_new_process(read, str(path))
            speed = f"{size:6.0f} MB in {seconds:6.1f} s ({size / seconds:4.0f} MB/s)"
            print(f"  {name:<16}{speed}, memory +{megabytes:.0f} MB   {ballots}", flush=True)


if __name__ == "__main__":
    main()

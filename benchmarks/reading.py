"""How long votes take from a file to ballots, and how much memory that takes beyond a byte a vote.

Writes csv files of 100 voters to a temporary folder: single digits, text labels with gaps, and quoted text.
Run it with ``python benchmarks/reading.py [rows]``; the default million rows are a file of 200 MB.

``python benchmarks/reading.py --long [items]`` reads the votes of 100 judges on 50,000 items, five million by
default, from a wide csv and from a long one, one line a vote, each with the item, and prints how many times
longer the long one takes, sorted by item and in random order; then the same votes as packed csv and as JSON.
On a machine with other work to do, five million votes with the labels 0 and 1 took 0.21 s wide, 0.56 s long
(2.7 times) and 0.77 s shuffled (3.8 times); with the labels good and bad 0.65 s, 0.62 s and 0.88 s. Memory
grew by 92 MB, of which 5 MB are the votes, 40 MB their lines and 15 MB the names of the items.

The whole command, ``votecert certify votes.csv --label truth --weights uniform``, on ten million rows of
single digits, a file of 2.02 GB, took 39 s of one core and at most 1.70 GB: 1 GB of votes, 240 MB for the
label, the count and the number of each row, and what counting the votes takes.
"""

from __future__ import annotations

import gzip
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from votecert.rows.files.read import read_votes

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


def read(path: str, **options: str) -> tuple[float, float, str]:
    """Seconds of one core, megabytes beyond those before reading, and what was read."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    found = read_votes(path, label="truth", **options)
    seconds = time.process_time() - start
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000, repr(found.ballots)


def write_long(folder: Path, n_items: int, words: list[str]) -> None:
    """The same votes with one row an item, and with one line a vote, by item and in no order."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=n_items)
    votes = truth[:, None] ^ (rng.random((n_items, N_VOTERS)) > 0.7)
    judges = [f"judge{i:02}" for i in range(N_VOTERS)]
    names = np.array(words, dtype=object)
    lines = []
    with (folder / "wide.csv").open("w") as file:
        file.write(",".join(["item", *judges, "truth"]) + "\n")
        for item, (row, label) in enumerate(zip(names[votes * 1], names[truth], strict=True)):
            file.write(f"item{item},{','.join(row)},{label}\n")
            lines += [f"item{item},{judge},{vote},{label}\n" for judge, vote in zip(judges, row, strict=True)]
    header = "item,judge,vote,truth\n"
    (folder / "long.csv").write_text(header + "".join(lines))
    (folder / "long.csv.gz").write_bytes(gzip.compress((folder / "long.csv").read_bytes(), 1))
    with (folder / "long.jsonl").open("w") as file:
        for line in lines[: len(lines) // 10]:
            fields = zip(("item", "judge", "vote", "truth"), line.strip().split(","), strict=True)
            file.write(json.dumps(dict(fields)) + "\n")
    rng.shuffle(lines)
    (folder / "shuffled.csv").write_text(header + "".join(lines))


def compare_long(n_items: int) -> None:
    """Print how long votes take in each format, and how many times longer than wide csv."""
    options = {"item": "item", "judge": "judge", "vote": "vote"}
    print(f"{n_items} items x {N_VOTERS} judges: {n_items * N_VOTERS / 1e6:.1f} million votes")
    for words in (["0", "1"], ["good", "bad"]):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            in_new_process(write_long, folder, n_items, words)
            known, wide = "", 1.0
            for file in ("wide.csv", "long.csv", "shuffled.csv", "long.csv.gz", "long.jsonl"):
                given = {"item": "item"} if file == "wide.csv" else options
                found = [in_new_process(read, str(folder / file), given) for _ in range(2)]
                seconds, megabytes, ballots = min(found)
                known, wide = known or ballots, seconds if file == "wide.csv" else wide
                assert ballots == known or file == "long.jsonl"
                share = "  (a tenth of the votes)" if file == "long.jsonl" else ""
                times = f"{seconds / wide:5.1f} x wide, memory +{megabytes:.0f} MB{share}"
                print(f"  {'/'.join(words):<9} {file:<13}{seconds:6.2f} s {times}", flush=True)


def in_new_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Run in a process of its own, which alone has a largest memory; a dictionary at the end has options."""
    options = arguments[-1] if isinstance(arguments[-1], dict) else {}
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments[: len(arguments) - bool(options)], options)


def main() -> None:
    """Print one line a file."""
    if sys.argv[1:2] == ["--long"]:
        compare_long(int(sys.argv[2]) if len(sys.argv) > 2 else 50_000)
        return
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

"""Learned bounds against those of the authors' programs, and against Adam in the same run.

``python benchmarks/learning.py FOLDER`` reads ``FOLDER/votes/{data}_{kind}_{seed}.npz`` (arrays
``votes_bound`` and ``y_bound``) and ``FOLDER/records.jsonl`` (one object for each data set, kind, seed and
objective with the bound that the authors' program ended with). Without a folder problems are generated and
only Adam is compared.

Columns: our learned bound; the authors' (for "dirichlet" the best that the printed theorem gives in exact
arithmetic at any of their weights); whether ours is at most theirs, within 1e-4, or 2 % for "ccpbb", which
pays for its offset here; our seconds; Adam's bound and seconds; how many times longer Adam takes.

``python benchmarks/learning.py --budgets 5 10`` instead gives every learner so many seconds on large problems
and prints how long it took, reading the rows not included.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from votecert.bounds import BOUNDS
from votecert.learning.adam import Adam
from votecert.learning.base import Learner
from votecert.learning.lbfgs import LBFGS
from votecert.learning.learn import learn
from votecert.rows.ballots import Ballots

DELTA = 0.05
NAMES = {"fo": "FO", "so": "SO", "bin": "Bin", "f2": "f2", "cctnd": "CCTND", "ccpbb": "CCPBB"}
OBJECTIVES = [*NAMES, "dirichlet"]
LINE = "{:<18} {:<10} {:>9} {:>9} {:>4} {:>8} {:>9} {:>8} {:>7}"


def recorded(folder: Path) -> dict[tuple[str, str], float]:
    """The authors' lowest bound by problem and objective, at most one."""
    bounds: dict[tuple[str, str], float] = {}
    objective_of = {name: objective for objective, name in NAMES.items()}

    def note(problem: str, objective: str | None, value: float | None) -> None:
        if objective is not None and value is not None:
            bounds[problem, objective] = min(1.0, value, bounds.get((problem, objective), 1.0))

    for line in (folder / "records.jsonl").read_text().splitlines():
        record = json.loads(line)
        problem = f"{record['dataset']}_{record['kind']}_{record['seed']}"
        own = next(
            (record[key] for key in ("bound_f64_atleast_half", "bound_f64", "bound") if record.get(key)), None
        )
        note(problem, objective_of.get(record["objective"]), own)
        exact = (record.get("margin_search") or {}).get("dirichlet@f64") or {}
        note(problem, "dirichlet", exact.get("bound"))
    return bounds


def stored(folder: Path) -> Iterator[tuple[str, Ballots]]:
    """The problems of a folder."""
    for path in sorted((folder / "votes").glob("*.npz")):
        with np.load(path) as arrays:
            yield path.stem, Ballots.from_votes(arrays["votes_bound"], arrays["y_bound"])


def generated() -> Iterator[tuple[str, Ballots]]:
    """A forest-like problem, stumps with their complements, and one with many classes."""
    rng = np.random.default_rng(0)

    def votes(y: np.ndarray, accuracy: np.ndarray, n_classes: int) -> np.ndarray:
        hard = rng.random(len(y))[:, None] < 0.3  # rows on which all voters do worse
        right = rng.random((len(y), len(accuracy))) < np.where(hard, accuracy - 0.25, accuracy)
        return np.where(
            right, y[:, None], (y[:, None] + 1 + rng.integers(n_classes - 1, size=right.shape)) % n_classes
        )

    y = rng.integers(2, size=10_000)
    yield "forest", Ballots.from_votes(votes(y, np.linspace(0.8, 0.9, 10), 2), y)
    y = rng.integers(2, size=1_000)
    half = votes(y, np.linspace(0.5, 0.75, 50), 2)
    yield "stumps", Ballots.from_votes(np.hstack([half, 1 - half]), y)
    y = rng.integers(10, size=5_000)
    yield "ten classes", Ballots.from_votes(votes(y, np.linspace(0.7, 0.9, 10), 10), y)


def learned(learner: Learner, ballots: Ballots, objective: str) -> tuple[float, float]:
    """The bound that a learner finds, and its seconds."""
    began = time.perf_counter()
    found = learner.learn(ballots, BOUNDS[objective], DELTA)
    return found.risk, time.perf_counter() - began


def compare(problem: str, ballots: Ballots, objective: str, theirs: float | None, with_adam: bool) -> bool:
    """Print a line of the table; False if our bound is above the authors'."""
    ours, seconds = learned(LBFGS(), ballots, objective)
    slack = 0.02 * (theirs or 0) if objective == "ccpbb" else 1e-4
    is_fine = theirs is None or ours <= theirs + slack
    columns = [problem, objective, f"{ours:.5f}", "" if theirs is None else f"{theirs:.5f}"]
    columns += ["" if theirs is None else ("yes" if is_fine else "NO"), f"{seconds:.2f}"]
    if with_adam:
        slow, slow_seconds = learned(Adam(), ballots, objective)
        columns += [f"{slow:.5f}", f"{slow_seconds:.1f}", f"{slow_seconds / seconds:.0f}"]
    print(LINE.format(*columns, *[""] * (9 - len(columns))), flush=True)
    return is_fine


def large() -> Iterator[tuple[str, Ballots]]:
    """Problems on which no learner is done in a few seconds."""
    for name, n_rows, n_voters, n_classes in (("long", 200_000, 100, 10), ("wide", 20_000, 500, 2)):
        rng = np.random.default_rng(0)
        y = rng.integers(n_classes, size=n_rows)
        hard = rng.random(n_rows)[:, None] < 0.3
        accuracy = np.linspace(0.35, 0.6, n_voters) - 0.3 * hard
        other = (y[:, None] + 1 + rng.integers(n_classes - 1, size=(n_rows, n_voters))) % n_classes
        votes = np.where(rng.random((n_rows, n_voters)) < accuracy, y[:, None], other).astype(np.uint8)
        yield name, Ballots.from_votes(votes, y, classes=range(n_classes))


def keep_budgets(budgets: list[float]) -> int:
    """Print how long each learner takes; 1 if one takes more than 1.2 times its budget and a second."""
    line = "{:<6} {:<12} {:<8} {:>7} {:>8} {:>9}"
    print(line.format("votes", "objective", "method", "budget", "seconds", "bound"))
    is_fine = True
    learners = [("occam", None), *((name, "lbfgs") for name in ("fo", "f2", "dirichlet", "bin-margin"))]
    for problem, ballots in large():
        for objective, method in [*learners, ("f2", "adam")]:
            for budget in budgets:
                began = time.perf_counter()
                options = {"objective": objective, "method": method, "time_budget": budget}
                found = learn(ballots, **options)
                seconds = time.perf_counter() - began
                is_fine &= seconds <= 1.2 * budget + 1
                columns = [
                    problem,
                    objective,
                    method or "search",
                    budget,
                    f"{seconds:.1f}",
                    f"{found.risk:.5f}",
                ]
                print(line.format(*columns), flush=True)
    return 0 if is_fine else 1


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="folder with votes/ and records.jsonl")
    parser.add_argument("--objectives", nargs="+", default=OBJECTIVES, choices=list(BOUNDS))
    parser.add_argument("--problems", nargs="+", help="names of problems, all by default")
    parser.add_argument(
        "--adam", nargs="*", default=["f2", "dirichlet"], help="objectives to run Adam on, too"
    )
    parser.add_argument("--budgets", nargs="+", type=float, help="seconds to give every learner")
    options = parser.parse_args()
    if options.budgets:
        return keep_budgets(options.budgets)
    authors = recorded(options.folder) if options.folder else {}
    print(LINE.format("votes", "objective", "ours", "authors", "<=", "seconds", "Adam", "seconds", "ratio"))
    is_fine = True
    for problem, ballots in stored(options.folder) if options.folder else generated():
        if options.problems and problem not in options.problems:
            continue
        for objective in options.objectives:
            if BOUNDS[objective].problem_with(ballots) is None:
                theirs = authors.get((problem, objective))
                is_fine &= compare(problem, ballots, objective, theirs, objective in options.adam)
    return 0 if is_fine else 1


if __name__ == "__main__":
    raise SystemExit(main())

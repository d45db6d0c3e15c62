"""How much a vote may decide alone, at 1, 2, 5 and 10 % errors: triage against what a careful user would do.

    python benchmarks/triage.py [--votes FOLDER] [--juries FOLDER] [--delta D]

The careful user takes the plain vote, ten leads (0, .1, ..., .9 of all votes) fixed in advance, the exact
binomial limit of each at delta/10, and the lowest lead whose limit is small enough. ``plain`` is
``vc.triage(weights="uniform")``, ``lrnd`` is ``vc.triage()``, learned; both pay for a curve and for a limit
on the coverage besides. Numbers are percent of the certifying rows that are answered; ``-``: nothing can be.
``limit`` is the certificate for all answers of the plain vote. FOLDERs have npz files with arrays
``votes_bound`` and ``y_bound``, and csv files with a column ``gold``; without any, votes are generated, and
of bundled data.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import votecert as vc
from votecert.numerics.binomial import clopper_pearson_upper

TARGETS = (0.01, 0.02, 0.05, 0.1)
NO_VOTERS = ("item", "subset", "gold", "split")

Data = tuple[str, Any, Any]


def recipe(votes: Any, y: Any, target: float, delta: float) -> float:
    """Share of the rows that ten leads with a tenth of delta each allow the plain vote to answer."""
    plain = vc.triage(votes, y, weights="uniform", thresholds=[i / 10 for i in range(10)], delta=delta)
    limits = clopper_pearson_upper(
        [min(k, n) if n else 1 for k, n in zip(plain.errors, plain.answered, strict=True)],
        [max(n, 1) for n in plain.answered],
        np.log(delta / 10),
    )
    return (
        max((n for n, limit in zip(plain.answered, limits, strict=True) if limit <= target), default=0)
        / plain.n_rows
    )


def answered(found: vc.Triage) -> float:
    """Share of the certifying rows that is answered."""
    return 0.0 if found.place is None else found.answered[found.place] / found.n_rows


def line(name: str, votes: Any, y: Any, delta: float) -> str:
    """One line of the table."""
    limit = vc.certify(votes, y, weights="uniform", delta=delta).risk
    cells = []
    for target in TARGETS:
        shares = [recipe(votes, y, target, delta)]
        for weights in ("uniform", "learn"):
            shares.append(answered(vc.triage(votes, y, max_risk=target, weights=weights, delta=delta)))
        cells.append(" ".join(f"{100 * share:4.0f}" if share else "   -" for share in shares))
    return f"{name:20s} {len(y):6d} {100 * limit:6.2f} | " + " | ".join(cells)


def generated() -> Iterator[Data]:
    """Five judges who find three cases in ten hard; and a forest on bundled data."""
    rng = np.random.default_rng(1)
    for m in (300, 1000, 5000):
        y = rng.integers(2, size=m)
        skill = np.where(rng.random(m)[:, None] < 0.3, 0.6, [0.97, 0.95, 0.93, 0.92, 0.9])
        yield f"judges, {m} rows", np.where(rng.random((m, 5)) < skill, y[:, None], 1 - y[:, None]), y
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    parts = train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=0)
    forest = RandomForestClassifier(50, max_depth=6, random_state=0).fit(parts[0], parts[2])
    yield "digits, 50 trees", vc.collect_votes(forest, parts[1]), parts[3]


def from_folders(votes: Path | None, juries: Path | None) -> Iterator[Data]:
    """Votes of ensembles and of juries in files."""
    for path in sorted(votes.rglob("*.npz")) if votes else []:
        arrays = np.load(path)
        yield path.stem, arrays["votes_bound"], arrays["y_bound"]
    for path in sorted(juries.rglob("*.csv")) if juries else []:
        with path.open() as stream:
            rows = list(csv.DictReader(stream))
        if "judge" in rows[0]:
            continue  # a long table of votes that are there in wide form, too
        names = [name for name in rows[0] if name not in NO_VOTERS]
        cast = np.array([[row[name] or None for name in names] for row in rows], dtype=object)
        yield f"{path.parent.name}/{path.stem}"[:20], cast, np.array([row["gold"] for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--votes", type=Path)
    parser.add_argument("--juries", type=Path)
    parser.add_argument("--delta", type=float, default=0.05)
    options = parser.parse_args()
    heads = " | ".join(f"at {100 * target:2.0f} %       " for target in TARGETS)
    print(
        f"{'':20s} {'rows':>6s}  limit | {heads}\n{'':35s} | " + " | ".join(["ten plain lrnd"] * len(TARGETS))
    )
    found = from_folders(options.votes, options.juries) if options.votes or options.juries else generated()
    for name, votes, y in found:
        print(line(name, votes, y, options.delta), flush=True)


if __name__ == "__main__":
    main()

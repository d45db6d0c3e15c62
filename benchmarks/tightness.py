"""How tight and how fast learned certificates are, next to the Clopper-Pearson limit of the same predictor.

No certificate for a vote learned on these rows can be below the limit, which is what a fresh sample of the
same size with the same errors would give. Votes come from forests, boosting, panels of models and stumps on
the data sets that come with scikit-learn, from juries of independent voters, and from a folder of votes if
one is given::

    python benchmarks/tightness.py [--votes FOLDER] [--no-generated] [--times] [--delta 0.05]

A file of votes is a ``.npz`` with ``votes_bound`` (rows x voters, class codes), ``y_bound``, ``votes_test``
and ``y_test``. ``--times`` learns on four problems of given size instead and also shows the time as a
multiple of counting every voter's errors once.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from votecert.bounds import BOUNDS
from votecert.learning.whole_votes import WholeVotes
from votecert.numerics.binomial import clopper_pearson_upper
from votecert.rows.ballots import Ballots
from votecert.voters.collect import collect_votes
from votecert.voters.stumps import DecisionStumps

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Votes:
    """Votes and labels of certifying and of test rows."""

    name: str
    votes: Array
    y: Array
    votes_test: Array
    y_test: Array

    def ballots(self) -> tuple[Ballots, Ballots]:
        classes = range(int(max(self.votes.max(), self.y.max(), self.y_test.max())) + 1)
        return (
            Ballots.from_votes(self.votes, self.y, classes=classes),
            Ballots.from_votes(self.votes_test, self.y_test, classes=classes),
        )


def stored(folder: Path) -> Iterator[Votes]:
    """Votes from files."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            yield Votes(path.stem, *(file[key] for key in ("votes_bound", "y_bound", "votes_test", "y_test")))


def panel() -> list[Any]:
    """Models that differ in kind."""
    scaled = [LogisticRegression(max_iter=500), LogisticRegression(C=0.01, max_iter=500), SVC()]
    scaled += [KNeighborsClassifier(k) for k in (1, 5, 25)]
    trees = [DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (3, None)]
    forests = [RandomForestClassifier(30, random_state=0), ExtraTreesClassifier(30, random_state=0)]
    return [make_pipeline(StandardScaler(), model) for model in scaled] + [
        *trees,
        *forests,
        GaussianNB(),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    ]


ENSEMBLES: dict[str, Callable[[], Any]] = {
    "forest of 10": lambda: RandomForestClassifier(10, random_state=0),
    "forest of 100": lambda: RandomForestClassifier(100, random_state=0),
    "shallow forest": lambda: RandomForestClassifier(51, max_depth=3, random_state=0),
    "boosting": lambda: AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=2), n_estimators=40, random_state=0
    ),
}


def generated() -> Iterator[Votes]:
    """Ensembles fitted on a third of each data set, certified on a third, tested on the rest; and juries."""
    loaders = {"cancer": load_breast_cancer, "digits": load_digits, "iris": load_iris, "wine": load_wine}
    problems = {name: loader(return_X_y=True) for name, loader in loaders.items()}
    problems["synthetic"] = make_classification(6000, 20, n_informative=8, flip_y=0.1, random_state=0)
    for name, (X, y) in problems.items():
        X_fit, X_rest, y_fit, y_rest = train_test_split(X, y, train_size=1 / 3, random_state=0, stratify=y)
        X_bound, X_test, y_bound, y_test = train_test_split(X_rest, y_rest, train_size=0.5, random_state=0)

        def votes_of(kind: str, voters: Any, of: tuple[Array, Array] = (X_bound, X_test)) -> Votes:
            bound, test = (collect_votes(voters, part) for part in of)
            return Votes(f"{name}, {kind}", bound, y_bound, test, y_test)  # noqa: B023 - used at once

        for kind, make in ENSEMBLES.items():
            yield votes_of(kind, make().fit(X_fit, y_fit))
        yield votes_of("panel", [model.fit(X_fit, y_fit) for model in panel()])
        if len(np.unique(y)) == 2:
            yield votes_of("stumps", DecisionStumps().fit(X_fit, y_fit))
    for n_classes, d in ((2, 5), (2, 25), (5, 5), (5, 25)):
        yield jury(1000, d, n_classes)


def jury(m: int, d: int, n_classes: int) -> Votes:
    """Voters that err independently, some often and some seldom."""
    rng = np.random.default_rng([m, d, n_classes])
    y = rng.integers(n_classes, size=3 * m)
    right = rng.random((3 * m, d)) < rng.beta(4, 3, d)
    votes = np.where(right, y[:, None], rng.integers(n_classes, size=right.shape))
    return Votes(f"jury of {d}, {n_classes} classes", votes[:m], y[:m], votes[m:], y[m:])


def describe(choice: dict[str, Any]) -> str:
    """Which vote it is, in a few words."""
    votes, offsets = np.array(choice["votes"]), choice["offsets"]
    if choice["member"]:
        return str(choice["member"])
    extra = f", constants {[b for b in offsets if b]}" if any(offsets) else ""
    if (votes == 1).all():
        return f"everybody{extra}"
    return f"{votes.sum()} votes, {np.count_nonzero(votes)} voters{extra}"


def study(problems: Iterator[Votes], delta: float) -> None:
    """Print a line for each problem and the geometric mean of the ratios."""
    print(
        f"{'votes':38s} {'m':>6s} {'d':>5s} {'c':>3s} {'certificate':>11s} {'limit':>8s} {'ratio':>6s} "
        f"{'test':>7s} {'seconds':>8s}  vote"
    )
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for problem in problems:
        ballots, test = problem.ballots()
        start = time.perf_counter()
        found = WholeVotes().learn(ballots, BOUNDS["occam"], delta)
        seconds = time.perf_counter() - start
        choice, counted = found.terms.choice, found.terms.statistics
        limit = float(clopper_pearson_upper(counted["errors"], counted["rows"], np.log(delta)))
        error = test.errors(choice["votes"], choice["offsets"]) / test.n_rows
        ratios["_rf" in problem.name or "forest" in problem.name].append(found.risk / limit)
        print(
            f"{problem.name:38s} {ballots.n_rows:6d} {ballots.n_voters:5d} {ballots.n_classes:3d} "
            f"{found.risk:11.5f} {limit:8.5f} {found.risk / limit:6.3f} {error:7.4f} {seconds:8.2f}  "
            f"{describe(choice)}",
            flush=True,
        )
    for forests, values in ratios.items():
        if values:
            mean = np.exp(np.mean(np.log(values)))
            print(f"geometric mean of certificate/limit, {'forests' if forests else 'others'}: {mean:.4f}")


def sized(rows: int, voters: int, distinct: bool) -> tuple[Array, Array]:
    """Stumps on Gaussian features (a few matter), or voters that err independently."""
    rng = np.random.default_rng(0)
    if not distinct:
        y = rng.integers(2, size=rows).astype(np.uint8)
        votes = np.empty((rows, voters), dtype=np.uint8)
        for voter, rate in enumerate(rng.uniform(0.25, 0.48, voters)):
            votes[:, voter] = y ^ (rng.random(rows) < rate)
        return votes, y
    features = rng.normal(size=(rows, voters // 12 + 1))
    y = (features[:, :5].sum(axis=1) + rng.normal(size=rows) > 0).astype(np.uint8)
    cuts = [features > cut for cut in np.linspace(-1.5, 1.5, 6)]
    return np.concatenate([side for cut in cuts for side in (cut, ~cut)], axis=1)[:, :voters].astype(
        np.uint8
    ), y


def times(delta: float) -> None:
    """Seconds to learn, and as a multiple of counting every voter's errors once."""
    print(f"{'problem':32s} {'seconds':>8s} {'counts':>8s} {'certificate':>11s}")
    for rows, voters, distinct in (
        (13_024, 10, False),
        (6_499, 264, True),
        (26_000, 1_476, True),
        (1_000_000, 100, False),
    ):
        votes, y = sized(rows, voters, distinct)
        start = time.perf_counter()
        (votes != y[:, None]).sum(axis=0)
        once = time.perf_counter() - start
        start = time.perf_counter()
        found = WholeVotes().learn(Ballots.from_votes(votes, y, classes=[0, 1]), BOUNDS["occam"], delta)
        seconds = time.perf_counter() - start
        kind = "stumps" if distinct else "independent voters"
        print(
            f"{f'{rows} x {voters} {kind}':32s} {seconds:8.2f} {seconds / once:8.0f} {found.risk:11.5f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--votes", type=Path, help="folder of .npz files of votes")
    parser.add_argument("--no-generated", action="store_true", help="only the votes of the folder")
    parser.add_argument("--times", action="store_true", help="measure times on problems of given size")
    parser.add_argument("--delta", type=float, default=0.05)
    options = parser.parse_args()
    if options.times:
        times(options.delta)
        return
    if options.votes:
        study(stored(options.votes), options.delta)
    if not options.no_generated:
        study(generated(), options.delta)


if __name__ == "__main__":
    main()

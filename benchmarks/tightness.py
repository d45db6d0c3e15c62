"""How tight learned certificates are, next to the recipe of a careful practitioner; and how long they take.

The recipe: a logistic regression of the one-hot votes (C = 1, as scikit-learn has it) on a quarter of the
rows, an exact test-set bound on the rest, with all of delta. Every number is a mean over five splits; the
last column is the certificate divided by the recipe's. Votes come from juries, forests, panels of models and
stumps, generated or on data sets that come with scikit-learn: those on which the shares, the fitting fraction
and the kinds of votes were tuned, and others, reported apart. And from folders, if they are given::

    python benchmarks/tightness.py [--votes FOLDER] [--juries FOLDER] [--no-generated] [--times]

A file of votes is a ``.npz`` with ``votes_bound`` (rows x voters, class codes) and ``y_bound``; a jury is a
``.csv`` with a column ``gold``, one column a judge, empty for no vote, and perhaps ``item`` and ``subset``.
``--times`` learns on four problems of given size instead and also shows the time as a multiple of counting
every voter's errors once.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
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
from votecert.rows.split import in_fitting_part
from votecert.voters.collect import collect_votes
from votecert.voters.stumps import DecisionStumps

Array = np.ndarray[Any, Any]


SEEDS = range(5)


@dataclass(frozen=True)
class Votes:
    """Votes as class codes, the number of classes for a missing one, and labels."""

    name: str
    group: str
    part: str
    votes: Array
    y: Array
    n_classes: int


def stored(folder: Path) -> Iterator[Votes]:
    """Votes from files."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as file:
            votes, y = file["votes_bound"].astype(int), file["y_bound"].astype(int)
        group = "stumps" if "stumps" in path.stem else "forests"
        yield Votes(path.stem, group, "files", votes, y, int(max(votes.max(), y.max())) + 1)


def stored_juries(folder: Path) -> Iterator[Votes]:
    """Juries from files."""
    for path in sorted(folder.rglob("*.csv")):
        with path.open(newline="") as file:
            header, *lines = list(csv.reader(file))
        if "judge" in header:  # one line a vote: the same votes are there as a wide file
            continue
        judges = [place for place, name in enumerate(header) if name not in ("item", "subset", "gold")]
        lines = [line for line in lines if line[header.index("gold")]]
        labels = sorted({line[place] for line in lines for place in (*judges, header.index("gold"))} - {""})
        code = {label: place for place, label in enumerate(labels)} | {"": len(labels)}
        votes = np.array([[code[line[place]] for place in judges] for line in lines])
        y = np.array([code[line[header.index("gold")]] for line in lines])
        yield Votes(f"{path.parent.name}/{path.stem}", "juries", "files", votes, y, len(labels))


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


FORESTS: dict[str, Callable[[], Any]] = {
    "forest of 10": lambda: RandomForestClassifier(10, random_state=0),
    "forest of 100": lambda: RandomForestClassifier(100, random_state=0),
}


def generated() -> Iterator[Votes]:
    """Juries; and ensembles fitted on two fifths of a data set that vote on the rest."""
    for seed in (*range(24), *range(1000, 1024), *range(2000, 2024)):
        yield jury(seed)
    make = make_classification
    problems = {
        ("cancer", "tuned"): load_breast_cancer(return_X_y=True),
        ("digits", "tuned"): load_digits(return_X_y=True),
        ("two classes", "tuned"): make(5000, 20, n_informative=8, flip_y=0.1, random_state=0),
        ("iris", "tuned"): load_iris(return_X_y=True),
        ("wine", "tuned"): load_wine(return_X_y=True),
        ("five classes", "tuned"): make(5000, 15, n_informative=9, n_classes=5, random_state=7),
        ("rare class", "tuned"): make(5000, 12, weights=[0.9], class_sep=0.7, random_state=8),
        ("small", "held out"): make(500, 10, n_informative=5, flip_y=0.05, random_state=2001),
        ("six classes", "held out"): make(4000, 18, n_informative=10, n_classes=6, random_state=2002),
        ("noisy", "held out"): make(8000, 16, n_informative=8, flip_y=0.2, random_state=2003),
        ("three classes", "held out"): make(
            2000, 12, n_informative=6, n_classes=3, weights=[0.6, 0.3], random_state=2004
        ),
    }
    for (name, part), (X, y) in problems.items():
        X_fit, X_rest, y_fit, y_rest = train_test_split(X, y, train_size=0.4, random_state=0, stratify=y)
        c = len(np.unique(y))
        ensembles = {kind: ("forests", make_one().fit(X_fit, y_fit)) for kind, make_one in FORESTS.items()}
        ensembles["panel"] = ("panels", [model.fit(X_fit, y_fit) for model in panel()])
        if c == 2:
            ensembles["stumps"] = ("stumps", DecisionStumps().fit(X_fit, y_fit))
        for kind, (group, voters) in ensembles.items():
            yield Votes(f"{name}, {kind}", group, part, collect_votes(voters, X_rest), y_rest, c)


def jury(seed: int) -> Votes:
    """A random jury: skill that depends on the class or not, voters that copy others, missing votes."""
    rng = np.random.default_rng([7, seed])
    m, d, c = (int(rng.choice(sizes)) for sizes in ([60, 100, 200, 400, 800], [5, 9, 16, 40, 130], [2, 2, 3]))
    y = rng.choice(c, size=m, p=rng.dirichlet(np.full(c, 8)))
    mean, spread = rng.uniform(0.45, 0.8), rng.choice([3, 8, 25])
    skill = rng.beta(mean * spread, (1 - mean) * spread, size=(d, c))
    if rng.random() < 0.5:
        skill[:] = skill[:, :1]
    wrong = (y[:, None] + rng.integers(1, c, size=(m, d))) % c
    votes = np.where(rng.random((m, d)) < skill.T[y], y[:, None], wrong)
    if rng.random() < 0.4:
        leaders = rng.integers(d, size=d) // 4 * 4
        votes = np.where(rng.random((m, d)) < rng.uniform(0.3, 0.8), votes[:, leaders], votes)
    if rng.random() < 0.3:
        votes = np.where(rng.random((m, d)) < rng.uniform(0.1, 0.6), votes, c)
    return Votes(f"jury {seed}", "juries", "tuned" if seed < 2000 else "held out", votes, y, c)


def recipe(problem: Votes, seed: int, delta: float) -> float:
    """What a careful practitioner does: a stacker on a quarter of the rows, tested on the others."""
    fits = in_fitting_part(len(problem.y), 0.25, seed)
    answers = problem.votes[:, :, None] == np.arange(problem.votes.max() + 1)
    answers = answers.reshape(len(answers), -1).astype(float)
    labels = problem.y[fits]
    if len(np.unique(labels)) > 1:
        found = LogisticRegression(max_iter=2000).fit(answers[fits], labels).predict(answers[~fits])
    else:
        found = np.full(len(labels), labels[0] if len(labels) else 0)[:1].repeat((~fits).sum())
    errors = np.count_nonzero(found != problem.y[~fits])
    return float(clopper_pearson_upper(errors, int((~fits).sum()), np.log(delta)))


def study(problems: Iterator[Votes], delta: float) -> None:
    """Print a line for each problem and geometric means of certificate/recipe."""
    print(f"{'votes':28s} {'m':>6s} {'d':>4s} {'c':>3s} {'plain':>8s} {'recipe':>8s} {'learned':>8s} ratio")
    ratios: dict[tuple[str, str], list[float]] = {}
    for one in problems:
        votes = one.votes.astype(object)
        votes[one.votes == one.n_classes] = None
        ballots = Ballots.from_votes(
            votes if (one.votes == one.n_classes).any() else one.votes, one.y, classes=range(one.n_classes)
        )
        found = [WholeVotes(random_state=s).learn(ballots, BOUNDS["occam"], delta) for s in SEEDS]
        risk = float(np.mean([one.risk for one in found]))
        other = float(np.mean([recipe(one, s, delta) for s in SEEDS]))
        errors = ballots.errors(np.ones(ballots.n_voters))
        plain = float(clopper_pearson_upper(errors, ballots.n_rows, np.log(delta)))
        ratios.setdefault((one.group, one.part), []).append(risk / other)
        kinds = Counter(e.terms.choice.get("kind") or "whole numbers" for e in found)
        print(
            f"{one.name:28s} {ballots.n_rows:6d} {ballots.n_voters:4d} {one.n_classes:3d} {plain:8.4f} "
            f"{other:8.4f} {risk:8.4f} {risk / other:5.2f}  {kinds.most_common(1)[0][0]}",
            flush=True,
        )
    for (group, part), values in ratios.items():
        mean = np.exp(np.mean(np.log(values)))
        print(f"geometric mean of learned/recipe, {group}, {part} ({len(values)}): {mean:.3f}")


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
    parser.add_argument("--juries", type=Path, help="folder of .csv files of juries")
    parser.add_argument("--no-generated", action="store_true", help="only the votes of the folder")
    parser.add_argument("--times", action="store_true", help="measure times on problems of given size")
    parser.add_argument("--delta", type=float, default=0.05)
    options = parser.parse_args()
    if options.times:
        times(options.delta)
        return
    if options.votes:
        study(stored(options.votes), options.delta)
    if options.juries:
        study(stored_juries(options.juries), options.delta)
    if not options.no_generated:
        study(generated(), options.delta)


if __name__ == "__main__":
    main()

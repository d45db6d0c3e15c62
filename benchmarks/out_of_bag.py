"""What ``certify_oob`` does with many kinds of bagged members, where all errors are known exactly.

The world is a grid of points in the plane, all equally likely. A curve cuts it into two classes, and every
label is flipped with a known probability, so that the error of a classifier is a sum over the grid. Members
that may have seen rows outside their bags must be refused. For all kinds the table shows what the out-of-bag
number would be without that check, and how often it would be wrong.

Run as ``python benchmarks/out_of_bag.py``; it takes about two minutes.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import binom
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from votecert import BOUNDS, certify, certify_oob, collect_votes, out_of_bag_votes

DELTA = 0.05
SIDE = 60
LOUD, QUIET = 0.2, 0.02

GRID = np.stack(np.meshgrid(*[np.linspace(-1, 1, SIDE)] * 2), axis=-1).reshape(-1, 2)
TRUTH = (GRID[:, 1] > np.sin(3 * GRID[:, 0]) / 2).astype(int)

Rows = tuple[np.ndarray, np.ndarray]
Fit = Callable[[np.ndarray, np.ndarray, int], Any]


def draw(n_rows: int, noise: float, seed: int) -> Rows:
    """Independent rows of the world with their labels."""
    rng = np.random.default_rng(seed)
    points = rng.integers(len(GRID), size=n_rows)
    return GRID[points], TRUTH[points] ^ (rng.random(n_rows) < noise)


def errors(votes: np.ndarray, noise: float) -> Any:
    """The true error of what is said about each point of the world, or of each column of it."""
    agree = np.mean(votes.T == TRUTH, axis=-1)
    return agree * noise + (1 - agree) * (1 - noise)


def bagged(member: Any, **options: Any) -> Fit:
    def fit(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        return BaggingClassifier(member, 5, random_state=seed, **options).fit(X, y)

    return fit


def bagged_frozen(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    return bagged(FrozenEstimator(KNeighborsClassifier(1).fit(X, y)))(X, y, seed)


def forest(kind: type, **options: Any) -> Fit:
    return lambda X, y, seed: kind(5, bootstrap=True, random_state=seed, **options).fit(X, y)


def drawn_by_weight(X: np.ndarray, y: np.ndarray, seed: int) -> Any:
    """Rows that are hard to predict go into the bags, and those left out are easy."""
    hard = KNeighborsClassifier(15).fit(X, y).predict(X) != y
    member = DecisionTreeClassifier(min_samples_leaf=20)
    model = BaggingClassifier(member, 5, bootstrap=False, max_samples=len(y) * 7 // 10, random_state=seed)
    return model.fit(X, y, sample_weight=np.where(hard, 50.0, 1.0))


CALIBRATED = CalibratedClassifierCV(KNeighborsClassifier(1), ensemble=False)
STOPPED = GradientBoostingClassifier(n_estimators=20, n_iter_no_change=2)

KINDS: dict[str, tuple[bool, Fit]] = {
    "random forest": (True, forest(RandomForestClassifier)),
    "random forest, balanced_subsample": (
        True,
        forest(RandomForestClassifier, class_weight="balanced_subsample"),
    ),
    "extra trees with bootstrap": (True, forest(ExtraTreesClassifier)),
    "trees": (True, bagged(DecisionTreeClassifier())),
    "trees on halves, one feature": (
        True,
        bagged(DecisionTreeClassifier(), bootstrap=False, max_samples=0.5, max_features=1),
    ),
    "extra trees": (True, bagged(ExtraTreeClassifier())),
    "nearest neighbour": (True, bagged(KNeighborsClassifier(1))),
    "pipeline of logistic regression": (True, bagged(make_pipeline(StandardScaler(), LogisticRegression()))),
    "pipeline of calibrated neighbour": (True, bagged(make_pipeline(CALIBRATED))),
    "pipeline of balanced trees": (
        True,
        bagged(make_pipeline(DecisionTreeClassifier(class_weight="balanced"))),
    ),
    "pipeline of early stopping": (True, bagged(make_pipeline(STOPPED))),
    "random forest, class weights": (False, forest(RandomForestClassifier, class_weight="balanced")),
    "trees, bags drawn by weight": (False, drawn_by_weight),
    "balanced trees": (False, bagged(DecisionTreeClassifier(class_weight="balanced"))),
    "calibrated neighbour": (False, bagged(CALIBRATED)),
    "frozen neighbour": (False, bagged_frozen),
    "LogisticRegressionCV": (False, bagged(LogisticRegressionCV(Cs=3, cv=3))),
    "gradient boosting, early stopping": (False, bagged(STOPPED)),
    "stochastic gradient, early stopping": (False, bagged(SGDClassifier(early_stopping=True))),
    "histogram gradient boosting": (False, bagged(HistGradientBoostingClassifier(max_iter=5))),
    "SVC(gamma='scale')": (False, bagged(SVC(gamma="scale"))),
    "GaussianNB": (False, bagged(GaussianNB())),
}
"""Kinds of ensembles: whether they can be certified, and how to fit one on X and y with a seed."""


def is_certified(ensemble: Any, X: np.ndarray, y: np.ndarray) -> bool:
    """Whether ``certify_oob`` takes it; False if it refuses."""
    try:
        return certify_oob(ensemble, X, y, delta=DELTA).is_guarantee
    except ValueError:
        return False


def outcome(fit: Fit, noise: float, n_rows: int, seed: int) -> tuple[bool, float, float, float]:
    """Whether it is certified, the out-of-bag number without checks, the vote's error, the members' mean."""
    X, y = draw(n_rows, noise, seed)
    ensemble = fit(X, y, seed)
    unchecked: Any = replace(BOUNDS["fo"], out_of_bag=True)  # type: ignore[call-arg]
    said = out_of_bag_votes(ensemble, X)
    number = certify(said, y, weights="uniform", bound=unchecked, delta=DELTA, classes=[0, 1])
    votes = collect_votes(ensemble, GRID)
    vote_error = errors(number.predict(votes), noise)
    return is_certified(ensemble, X, y), number.risk, float(vote_error), float(errors(votes, noise).mean())


def simulate(fit: Fit, noise: float, n_rows: int, runs: int) -> dict[str, float]:
    """What came out of many runs.

    The bound is twice a bound on the members' mean error, so half of it must hold, too: a sharper test.
    """
    certified, risk, vote, members = np.array([outcome(fit, noise, n_rows, seed) for seed in range(runs)]).T
    return {
        "certified": int(certified.sum()),
        "risk": float(risk.mean()),
        "error": float(vote.mean()),
        "broken": int((vote > risk).sum()),
        "halves broken": int(((members > risk / 2) & (risk < 1)).sum()),
    }


def limit(runs: int) -> int:
    """More broken guarantees than this happen once in a billion simulations."""
    return int(binom.isf(1e-9, runs, DELTA))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--rows", type=int, default=500)
    options = parser.parse_args()
    runs = options.runs
    warnings.simplefilter("ignore")  # some members do not converge; they vote all the same
    print(
        f"{runs} runs on {options.rows} rows, 20 % of the labels flipped, delta {DELTA}; if all is well, no "
    )
    print(
        f"more than {limit(runs)} are broken. Half: the same for the members' mean error, at most risk / 2.\n"
    )
    print(f"{'5 bagged members':36s}  out of bag  broken  half   mean risk  mean error  risk at 2 % noise")
    for name, (_, fit) in KINDS.items():
        found = simulate(fit, LOUD, options.rows, runs)
        verdict = "certified" if found["certified"] == runs else "refused" if not found["certified"] else "?"
        line = f"{name:36s}  {verdict:10s}  {found['broken']:6d}  {found['halves broken']:4d}"
        line += f"  {found['risk']:10.3f}  {found['error']:10.3f}"
        if found["certified"]:
            line += f"  {simulate(fit, QUIET, options.rows, 5)['risk']:17.3f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()

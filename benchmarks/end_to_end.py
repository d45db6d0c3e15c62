"""Does the certificate keep its word, and does the certified vote cost accuracy?

    python benchmarks/end_to_end.py [SEEDS]

Three tables:

1. *A known world.* New rows are drawn with replacement from an embedded data set, so the true error is the
   error on the whole data set, known exactly. The true error may lie above the certificate in a share delta
   of the runs; runs are independent, so their number is at most a binomial quantile.
2. *A held-out test set.* Rows are split at random, as one does. The test error is itself an estimate: it may
   lie above a certificate that holds. A run counts as broken when a test set this bad has a probability
   below 1 % at a true error equal to the certificate, so a share delta + 1 % may be broken. (Seeds share the
   rows of one data set, so they are not quite independent.)
3. *Accuracy.* On data sets that no test of this repository uses: errors of the certified vote and of the
   plain forest on the same test rows, the forest being the one whose trees vote. The noise limit is three
   standard deviations of the paired difference: they differ on b + c rows, and which of them is right there
   is a coin flip if none is better.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy.stats import binom
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from votecert import CertifiedVotingClassifier
from votecert.datasets import DATA_SETS, load

DELTA = 0.05
SIGNIFICANT = 0.01
IMPROBABLE = 1e-3
"""Chance that a table exceeds its limit although all certificates hold as they should."""


def classifier(seed: int) -> CertifiedVotingClassifier:
    forest = RandomForestClassifier(50, random_state=seed)
    return CertifiedVotingClassifier(forest, delta=DELTA, random_state=seed)


def known_world(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[float, float]:
    """Certificate and true error of a classifier fitted on rows drawn from the data set."""
    rows = np.random.default_rng(seed).integers(len(y), size=len(y))
    fitted = classifier(seed).fit(X[rows], y[rows])
    return fitted.certificate_.risk, float(np.mean(fitted.predict(X) != y))


def held_out(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[float, float, bool]:
    """Certificate, test error, and whether the test errors are too many for the certificate."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=seed)
    fitted = classifier(seed).fit(X, y)
    errors = int(np.count_nonzero(fitted.predict(X_test) != y_test))
    risk = fitted.certificate_.risk
    return risk, errors / len(y_test), binom.sf(errors - 1, len(y_test), risk) < SIGNIFICANT


def report_promises(seeds: int) -> None:
    limit = int(binom.isf(IMPROBABLE, seeds, DELTA))
    print(f"1. Known world: {seeds} seeds, delta {DELTA}; at most {limit} true errors above the certificate")
    print(f"{'data set':<16}{'certificate':>12}{'true error':>12}{'above':>8}")
    for name in DATA_SETS:
        data = load(name)
        risks, errors = np.array([known_world(data.X, data.y, seed) for seed in range(seeds)]).T
        print(
            f"{name:<16}{risks.mean():>12.4f}{errors.mean():>12.4f}{int(np.sum(errors > risks)):>8}",
            flush=True,
        )
    limit = int(binom.isf(IMPROBABLE, seeds, DELTA + SIGNIFICANT))
    print(f"\n2. Held-out rows: {seeds} seeds; at most {limit} broken")
    print(f"{'data set':<16}{'certificate':>12}{'test error':>12}{'above':>8}{'broken':>8}")
    for name in DATA_SETS:
        data = load(name)
        risks, errors, broken = np.array([held_out(data.X, data.y, seed) for seed in range(seeds)]).T
        counts = f"{int(np.sum(errors > risks)):>8}{int(broken.sum()):>8}"
        print(f"{name:<16}{risks.mean():>12.4f}{errors.mean():>12.4f}{counts}", flush=True)


def unused_data_sets(seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Data sets that no test uses: one that comes with scikit-learn, four generated ones."""
    X, target = datasets.load_diabetes(return_X_y=True)
    smooth, height = datasets.make_friedman1(4000, noise=2.0, random_state=seed)
    return {
        "diabetes (above median)": (X, target > np.median(target)),
        "hastie 10-2": datasets.make_hastie_10_2(4000, random_state=seed),
        "gaussian quantiles": datasets.make_gaussian_quantiles(
            n_samples=4000, n_features=6, n_classes=3, random_state=seed
        ),
        "moons": datasets.make_moons(4000, noise=0.35, random_state=seed),
        "friedman 1 (thirds)": (smooth, np.digitize(height, np.quantile(height, [1 / 3, 2 / 3]))),
    }


def report_accuracy(seeds: int) -> None:
    print(f"\n3. Vote against the forest it is made of, {seeds} seeds")
    print(f"{'data set':<26}{'voting':<8}{'vote':>8}{'forest':>8}{'difference':>12}{'noise limit':>13}")
    for name in unused_data_sets(0):
        for voting in ("hard", "soft"):
            wrong = np.concatenate([paired_errors(name, voting, seed) for seed in range(seeds)])
            vote, forest = wrong.mean(axis=0)
            limit = 3 * np.sqrt(max(1, np.count_nonzero(wrong[:, 0] != wrong[:, 1]))) / len(wrong)
            verdict = "within" if vote - forest <= limit else "WORSE"
            numbers = f"{vote:>8.4f}{forest:>8.4f}{vote - forest:>+12.4f}{limit:>13.4f}"
            print(f"{name:<26}{voting:<8}{numbers}  {verdict}", flush=True)


def paired_errors(name: str, voting: str, seed: int) -> np.ndarray:
    """Which test rows the vote (first column) and the forest (second) get wrong."""
    X, X_test, y, y_test = train_test_split(*unused_data_sets(seed)[name], test_size=0.5, random_state=seed)
    forest = RandomForestClassifier(100, random_state=seed)
    fitted = CertifiedVotingClassifier(forest, voting=voting, random_state=seed).fit(X, y)
    predictions = np.column_stack([fitted.predict(X_test), fitted.estimator_.predict(X_test)])
    return predictions != y_test[:, None]


def main(seeds: int = 50) -> None:
    start = time.perf_counter()
    report_promises(seeds)
    report_accuracy(max(1, seeds // 5))
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))

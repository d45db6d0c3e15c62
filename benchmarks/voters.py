"""How long collecting the votes of a forest takes, against calling its trees' predict one by one.

Run as ``python benchmarks/voters.py``; the ratio should stay at or below 1.2.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.parallel import Parallel, delayed

from votecert.voters.collect import collect_votes


def best_times(jobs: list[Callable[[], object]], repeats: int) -> np.ndarray:
    """Shortest (wall, processor) time of each job. They take turns, to be fair on a busy machine."""
    times = np.empty((repeats, len(jobs), 2))
    for turn in times:
        for column, job in enumerate(jobs):
            start = time.perf_counter(), time.process_time()
            job()
            turn[column] = np.subtract((time.perf_counter(), time.process_time()), start)
    return times.min(axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()

    X, y = make_classification(
        options.rows + 10_000,
        options.features,
        n_informative=10,
        n_classes=options.classes,
        flip_y=0.1,
        random_state=0,
    )
    forest = RandomForestClassifier(options.trees, n_jobs=-1, random_state=0).fit(X[:10_000], y[:10_000])
    rows = X[10_000:]
    converted = rows.astype(np.float32)  # what trees want: given to the other side for free

    for n_jobs in options.n_jobs:

        def collect(n_jobs: int = n_jobs) -> object:
            return collect_votes(forest, rows, n_jobs=n_jobs)

        def one_by_one(n_jobs: int = n_jobs) -> object:
            parallel = Parallel(n_jobs=n_jobs, require="sharedmem")
            return parallel(delayed(tree.predict)(converted) for tree in forest.estimators_)

        collected, called = best_times([collect, one_by_one], options.repeats)
        print(
            f"n_jobs={n_jobs}: collect_votes {collected[0]:.2f} s, predict one by one {called[0]:.2f} s, "
            f"ratio {collected[0] / called[0]:.2f} (processor time {collected[1] / called[1]:.2f})"
        )


if __name__ == "__main__":
    main()

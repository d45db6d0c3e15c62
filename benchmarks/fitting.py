"""How long learning takes, all of it, as a multiple of one cross-validated regression of scikit-learn.

``LogisticRegressionCV`` gets the same one-hot votes of the same fitting rows and the same penalties, and five
folds; learning is the search for whole-number votes, every kind of vote with its cross-validation, and the
certificate. Both in processor seconds of one thread, in the same run::

    python benchmarks/fitting.py [--only TEXT]
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from threadpoolctl import threadpool_limits

from votecert.bounds import BOUNDS
from votecert.learning._candidates import FREE
from votecert.learning.whole_votes import WholeVotes
from votecert.rows.ballots import Ballots
from votecert.rows.split import default_split, in_fitting_part

SIZES = {
    "8,000 x 100, 26 classes": (8000, 100, 26, 0.0),
    "13,000 x 10": (13_000, 10, 2, 0.0),
    "6,500 x 264": (6500, 264, 2, 0.0),
    "400 x 130, abstentions": (400, 130, 2, 0.4),
}


def jury(m: int, d: int, c: int, missing: float) -> tuple[Any, Any]:
    """Class indices of voters that err independently, c for a missing vote, and labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(c, size=m)
    right = rng.random((m, d)) < rng.uniform(0.02, 0.3, d)
    votes = np.where(right, y[:, None], rng.integers(c, size=(m, d)))
    return np.where(rng.random((m, d)) < missing, c, votes), y


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="sizes that have this text in their name")
    only = parser.parse_args().only
    warnings.simplefilter("ignore")
    print(f"{'votes':26s} {'learning':>9s} {'one CV':>9s} {'ratio':>6s}   processor seconds")
    for name, (m, d, c, missing) in SIZES.items():
        if only not in name:
            continue
        votes, y = jury(m, d, c, missing)
        table = votes.astype(object)
        table[votes == c] = None
        ballots = Ballots.from_votes(table if missing else votes, y, classes=range(c))
        fits = in_fitting_part(m, default_split(m, d, c), 0)
        answers = (votes[fits][:, :, None] == np.arange(c + (missing > 0))).reshape(fits.sum(), -1)
        with threadpool_limits(1):
            start = time.process_time()
            WholeVotes(time_budget=None).learn(ballots, BOUNDS["occam"], 0.05)
            ours = time.process_time() - start
            start = time.process_time()
            LogisticRegressionCV(Cs=list(FREE), cv=5, max_iter=200).fit(answers.astype(float), y[fits])
            other = time.process_time() - start
        print(f"{name:26s} {ours:9.2f} {other:9.2f} {ours / other:6.2f}", flush=True)


if __name__ == "__main__":
    main()

"""How long learning takes, all of it, as a multiple of one cross-validated regression of scikit-learn.

``LogisticRegressionCV`` gets the same one-hot votes, of all rows and of the fitting rows only, the same
penalties, and five folds; learning is the search for whole-number votes, every kind of vote with its
cross-validation, and the certificate. All in processor seconds of one thread, the least of three runs::

    python benchmarks/fitting.py [--only TEXT]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from threadpoolctl import threadpool_limits
from tightness import sized

from votecert.bounds import BOUNDS
from votecert.learning._candidates import FREE
from votecert.learning.whole_votes import WholeVotes
from votecert.rows.ballots import Ballots
from votecert.rows.split import default_looks, in_fitting_part

SIZES = {
    "8,000 x 100, 26 classes": (8000, 100, 26, 0.0),
    "13,000 x 10": (13_000, 10, 2, 0.0),
    "6,500 x 264, stumps": (6500, 264, 2, 0.0),
    "400 x 130, abstentions": (400, 130, 2, 0.4),
    "1,900 x 130, all looks": (1900, 130, 2, 0.4),
}


def jury(m: int, d: int, c: int, missing: float, experts: int = 0) -> tuple[Any, Any]:
    """Class indices of voters that err independently, c for a missing vote, and labels.

    With experts the others know nothing, and a fit needs many rows to find that out.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(c, size=m)
    right = rng.random((m, d)) < rng.uniform(0.02, 0.3, d)
    if experts:
        right = rng.random((m, d)) < np.where(np.arange(d) < experts, 0.8, 0.0)
    votes = np.where(right, y[:, None], rng.integers(c, size=(m, d)))
    return np.where(rng.random((m, d)) < missing, c, votes), y


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="sizes that have this text in their name")
    only = parser.parse_args().only
    warnings.simplefilter("ignore")
    print(f"{'votes':26s} {'learning':>9s} {'one CV':>9s} {'ratio':>6s} {'fitting rows':>13s} {'ratio':>6s}")
    for name, (m, d, c, missing) in SIZES.items():
        if only not in name:
            continue
        experts = 2 if "looks" in name else 0
        votes, y = sized(m, d, distinct=True) if "stumps" in name else jury(m, d, c, missing, experts)
        table = votes.astype(object)
        table[votes == c] = None
        ballots = Ballots.from_votes(table if missing else votes, y, classes=range(c))
        fits = in_fitting_part(m, default_looks(m, d, c)[-1], 0)
        answers = (votes[:, :, None] == np.arange(c + (missing > 0))).reshape(m, -1).astype(float)
        stacker = LogisticRegressionCV(Cs=list(FREE), cv=5, max_iter=200)
        with threadpool_limits(1):
            ours = seconds(WholeVotes(time_budget=None).learn, ballots, BOUNDS["occam"], 0.05)
            whole = seconds(stacker.fit, answers, y)
            part = seconds(stacker.fit, answers[fits], y[fits])
        print(
            f"{name:26s} {ours:9.3f} {whole:9.3f} {ours / whole:6.2f} {part:13.3f} {ours / part:6.2f}",
            flush=True,
        )


def seconds(run: Callable[..., Any], *inputs: Any) -> float:
    """Processor seconds that it takes, the least of three times."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        run(*inputs)
        taken.append(time.process_time() - start)
    return min(taken)


if __name__ == "__main__":
    main()

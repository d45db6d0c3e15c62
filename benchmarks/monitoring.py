"""How often a monitor alarms when nothing is wrong, how soon when something is; what stopping early takes.

The monitor is fed many runs at once, with the functions that ``votecert.Monitor`` uses. Beside it: the
sequential probability ratio test that knows the true error, which is the fastest test of that level, and what
people do, a fixed-sample limit at each look.

Run as ``python benchmarks/monitoring.py alarms`` (half a minute) or ``... plans``.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy.stats import beta

import votecert as vc
from votecert.numerics.sequential import UNITS, fed, log_evidence, sequential_upper

ALPHA, DELTA = 0.01, 0.05

CASES = ((0.05, 0.0), (0.05, 0.01), (0.05, 0.02), (0.05, 0.03), (0.1, 0.05), (0.2, 0.1), (0.02, 0.01))
"""Targets and expected errors."""


def draw(error: float, runs: int, rows: int, seed: int) -> np.ndarray:
    """Errors of many runs, one a line."""
    return (np.random.default_rng(seed).random((runs, rows)) < error).astype(np.int64)


def alarms(errors: np.ndarray, limit: float, size: int = 1) -> np.ndarray:
    """Rows after which each run's monitor alarms, fed in batches of a size; infinity if it never does."""
    found, capital = np.full(len(errors), np.inf), None
    for update, start in enumerate(range(0, errors.shape[1], size)):
        new = errors[:, start : start + size]
        wrong = new.sum(axis=1)
        capital = fed(capital, update, {0: new.shape[1] - wrong, UNITS: wrong}, limit)
        hit = log_evidence(capital, update + 1, limit) >= -math.log(ALPHA)
        found[hit & np.isinf(found)] = start + new.shape[1]
        if np.isfinite(found).all():
            break
    return found


def ratio_test(errors: np.ndarray, limit: float, error: float) -> np.ndarray:
    """The same for the sequential probability ratio test of the true error against the limit."""
    gain, loss = math.log(error / limit), math.log((1 - error) / (1 - limit))
    total = np.where(errors == 1, gain, loss).cumsum(axis=1)
    hit = total >= -math.log(ALPHA)
    return np.where(hit.any(axis=1), hit.argmax(axis=1) + 1.0, np.inf)


def false_alarms() -> None:
    """Runs that ever alarm at exactly the certified risk."""
    print("false alarms among 1000 runs of 2000 rows at exactly the certified risk, alpha 0.01")
    print(f"{'risk':>6} {'monitor':>9} {'limit for one look, every 20 rows':>34}")
    looks = np.arange(20, 2001, 20)
    for seed, limit in enumerate((0.01, 0.05, 0.2)):
        errors = draw(limit, 1000, 2000, seed)
        so_far = errors.cumsum(axis=1)[:, looks - 1]
        naive = (beta.ppf(ALPHA, so_far, looks - so_far + 1) > limit).any(axis=1)
        print(f"{limit:>6} {np.isfinite(alarms(errors, limit)).mean():>9.3f} {naive.mean():>34.3f}")


def delays() -> None:
    """Mean rows to the alarm when the error is above the certified risk from the first row on."""
    print("\nmean rows to the alarm, error above the certified risk from the start, 500 runs")
    print(f"{'risk':>6} {'error':>6} {'monitor':>9} {'knows the error':>16} {'ratio':>6}")
    for limit in (0.01, 0.05, 0.2):
        for factor in (1.5, 2, 3):
            error = factor * limit
            information = error * math.log(error / limit) + (1 - error) * math.log((1 - error) / (1 - limit))
            errors = draw(error, 500, int(30 / information), 7)
            found, best = alarms(errors, limit).mean(), ratio_test(errors, limit, error).mean()
            print(f"{limit:>6} {error:>6.3g} {found:>9.0f} {best:>16.0f} {found / best:>6.2f}")


def changes() -> None:
    """Mean rows from a change to the alarm, after a good time."""
    print(
        "\nmean rows from a change to twice the certified risk, 0.05, to the alarm, 200 runs, 50 rows a day"
    )
    print(f"{'days before, at 0.03':>21} {'monitor':>9} {'one that only counts all errors':>32}")
    for days in (0, 10, 40, 160):
        good, bad = draw(0.03, 200, 50 * days, 3), draw(0.1, 200, 12_000, 4)
        found = alarms(np.hstack([good, bad]), 0.05, size=50).mean() - 50 * days
        # without starts later than the first: twice its level, as half of the shares is for that start
        total = np.hstack([good, bad]).reshape(200, -1, 50).sum(axis=2).cumsum(axis=1)
        rows = 50 * np.arange(1, total.shape[1] + 1)
        first = np.full(200, np.inf)
        for place, t in enumerate(rows):
            capital = fed(None, 0, {0: t - total[:, place], UNITS: total[:, place]}, 0.05)
            hit = log_evidence(capital, 1, 0.05) >= -math.log(ALPHA) - math.log(2)
            first[hit & np.isinf(first)] = t
            if np.isfinite(first).all():
                break
        print(f"{days:>21} {found:>9.0f} {first.mean() - 50 * days:>32.0f}")


def plans() -> None:
    """Labels until a certificate reaches a target, against a number of rows fixed in advance."""
    print("labels until the certificate of a fixed vote is at most the target, delta 0.05")
    print(f"{'':>13} {'stop when it is':>24}   {'number fixed in advance,':>24}")
    print(f"{'':>13} {'enough: mean, 90 %, 99 %':>24}   {'enough in 50 %, 90 %, 99 %':>24}")
    for target, error in CASES:
        plan = vc.sequential_plan(target, error, DELTA)
        stopping = (plan.mean, plan.quantile(0.9), plan.quantile(0.99))
        fixed = [vc.rows_needed(target, error, 1, DELTA, vote="fixed", assurance=a) for a in (0.5, 0.9, 0.99)]
        numbers = "".join(f"{n:>8.0f}" for n in (*stopping, *fixed))
        print(f"{target:>6} {error:>6} {numbers}")


def misses() -> None:
    """Runs in which a limit is ever below the true error, looking every 20 rows."""
    print(
        "\nshare of 1000 runs of 2000 rows in which the limit is ever below the error, a look every 20 rows"
    )
    print(f"{'error':>6} {'for all looks':>14} {'for one look':>13}")
    looks = np.arange(20, 2001, 20)
    for seed, error in enumerate((0.01, 0.05, 0.2)):
        so_far = draw(error, 1000, 2000, 10 + seed).cumsum(axis=1)[:, looks - 1]
        every = sequential_upper(so_far, looks, math.log(DELTA)) < error
        once = beta.isf(DELTA, so_far + 1, looks - so_far) < error
        print(f"{error:>6} {every.any(axis=1).mean():>14.3f} {once.any(axis=1).mean():>13.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("alarms", "plans"))
    if parser.parse_args().what == "plans":
        plans()
        misses()
        return
    false_alarms()
    delays()
    changes()


if __name__ == "__main__":
    main()

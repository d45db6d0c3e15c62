"""How often the alarm is false, and how soon it is raised: simulated, with a mutant that must be caught."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom
from watching import answers, certificate, e_process

import votecert as vc
from votecert.numerics.sequential import always_valid_limits

LIMIT, ALPHA, ROWS, RUNS = 0.05, 0.01, 2000, 1000


def draws(error: float, seed: int, n_rows: int = ROWS, runs: int = RUNS) -> np.ndarray:
    return (np.random.default_rng(seed).random((runs, n_rows)) < error).astype(np.int64)


def is_refuted(alarms: int, runs: int = RUNS, alpha: float = ALPHA) -> bool:
    """Whether so many false alarms are too many, but for a chance of 1e-9."""
    return alarms > binom.isf(1e-9, runs, alpha)


@pytest.fixture(scope="module")
def at_the_limit() -> np.ndarray:
    return draws(LIMIT, 0)


def test_false_alarms_over_all_time(at_the_limit):
    found = e_process(at_the_limit, np.arange(1, ROWS + 1), LIMIT, ALPHA)
    assert not is_refuted(int(np.isfinite(found).sum()))
    loose = e_process(at_the_limit[:, :300], np.arange(1, 301), LIMIT, 0.3)  # a level that is nearly used up
    assert np.isfinite(loose).sum() > 0.05 * RUNS
    assert not is_refuted(int(np.isfinite(loose).sum()), alpha=0.3)


def test_the_fixed_sample_limit_at_each_look_is_caught(at_the_limit):
    """What people do: look every 20 rows whether the lower limit of the error is above what was certified."""
    looks = np.arange(20, ROWS + 1, 20)
    errors = at_the_limit.cumsum(axis=1)[:, looks - 1]
    lower = beta.ppf(ALPHA, errors, looks - errors + 1)
    assert is_refuted(int((lower > LIMIT).any(axis=1).sum()))


def test_the_alarm_is_nearly_as_soon_as_that_of_who_knows_the_truth():
    twice = draws(2 * LIMIT, 1, 1500, 300)
    t = np.arange(1, twice.shape[1] + 1)
    found = e_process(twice, t, LIMIT, ALPHA)
    errors = twice.cumsum(axis=1)
    ratio = errors * math.log(2) + (t - errors) * math.log((1 - 2 * LIMIT) / (1 - LIMIT))
    known = (ratio >= -math.log(ALPHA)).argmax(axis=1) + 1
    assert np.isfinite(found).all()
    assert found.mean() <= 1.6 * known.mean()


def test_a_change_after_a_long_good_time_is_found():
    """A monitor of the total error would have to undo all the good time first."""
    good, bad = draws(0.6 * LIMIT, 2, 2000, 60), draws(2 * LIMIT, 3, 1200, 60)
    found = e_process(np.hstack([good, bad]), np.arange(1, 3201), LIMIT, ALPHA)
    assert np.isfinite(found).all()
    assert 2000 < found.mean() < 2000 + 800  # by then the error so far is still below the limit: 4.9 %


def test_many_monitors_at_once_are_many_monitors():
    made = certificate()
    wrong = draws(1.5 * made.risk, 4, 250, 6)
    found = e_process(wrong, np.arange(1, 251), made.risk, 0.05)
    for run, when in zip(wrong, found, strict=True):
        monitor = vc.Monitor(made, alpha=0.05)
        for row in run:
            monitor.update(**answers(np.array([row == 1])))
        assert (monitor.first_alarm.rows if monitor.alarm else np.inf) == when


def test_always_valid_limits_cover_at_all_times(at_the_limit):
    made, missed = certificate(), 0
    monitor = vc.Monitor(made, alpha=0.05)
    times = np.arange(1, ROWS + 1)
    low, high = always_valid_limits(at_the_limit.cumsum(axis=1), at_the_limit.cumsum(axis=1), times, 0.05)
    missed = int(((low > LIMIT) | (high < LIMIT)).any(axis=1).sum())
    assert missed > 0
    assert not is_refuted(missed, alpha=0.05)
    wrong = at_the_limit[0, :40] == 1
    found = monitor.update(**answers(wrong)).interval
    assert found == tuple(float(end) for end in always_valid_limits(wrong.sum(), wrong.sum(), 40, 0.05))

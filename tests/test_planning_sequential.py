"""Stopping as soon as the certificate is small enough: validity, and what it takes, against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

import votecert as vc
from votecert.numerics.sequential import sequential_upper
from votecert.planning.sequential import REST, _enough


@pytest.mark.parametrize(("target", "error"), [(0.05, 0.0), (0.05, 0.02), (0.3, 0.1), (0.9, 0.5)])
@pytest.mark.parametrize("delta", [0.05, 0.001])
def test_one_stops_as_soon_as_the_certificate_is_small_enough(target, error, delta):
    plan = vc.sequential_plan(target, error, delta)
    k = np.arange(len(plan.rows))
    assert (sequential_upper(k, plan.rows, math.log(delta)) <= target).all()
    more = plan.rows > np.maximum(k, 1)
    assert (sequential_upper(k[more], plan.rows[more] - 1, math.log(delta)) > target).all()
    assert 1 - REST <= plan.chances.sum() <= 1 + 1e-9


def test_the_chances_are_those_of_a_simulation():
    target, error, runs = 0.1, 0.05, 4000
    plan = vc.sequential_plan(target, error)
    wrong = np.random.default_rng(0).random((runs, plan.rows[-1])) < error
    errors = wrong.cumsum(axis=1)
    enough = np.full(wrong.shape[1], -1)  # so many errors are few enough, by rows
    for k, t in enumerate(plan.rows):
        enough[t - 1 :] = k
    stopped = (errors <= enough).argmax(axis=1) + 1
    spread = stopped.std() / math.sqrt(runs)
    assert abs(stopped.mean() - plan.mean) < 6.1 * spread  # a chance of 1e-9
    for chance in (0.2, 0.5, 0.9):
        rows = plan.quantile(chance)
        share = plan.chances[plan.rows <= rows].sum()
        assert share >= chance > plan.chances[plan.rows < rows].sum()
        low, high = binom.ppf((0.5e-9, 1 - 0.5e-9), runs, share)
        assert low <= (stopped <= rows).sum() <= high


RUNS, ROWS, ERROR, DELTA = 1000, 1500, 0.08, 0.1


@pytest.fixture(scope="module")
def errors() -> np.ndarray:
    return (np.random.default_rng(1).random((RUNS, ROWS)) < ERROR).cumsum(axis=1)


def too_often(misses: int) -> bool:
    return misses > binom.isf(1e-9, RUNS, DELTA)


def test_all_certificates_on_the_way_hold_together(errors):
    enough = np.full(ROWS, -1)  # with so many errors the limit is below the error, by rows
    for k, t in enumerate(_enough(np.arange(int(1.2 * ERROR * ROWS)), ERROR, -math.log(DELTA))):
        enough[t - 1 :] = k
    misses = int((errors <= enough).any(axis=1).sum())
    assert misses > 0
    assert not too_often(misses)


def test_the_limit_for_one_look_is_caught(errors):
    """Clopper and Pearson's limit at each look, which is what stopping early with it amounts to."""
    looks = np.arange(10, ROWS + 1, 10)
    upper = beta.isf(DELTA, errors[:, looks - 1] + 1, looks - errors[:, looks - 1])
    assert too_often(int((upper < ERROR).any(axis=1).sum()))


def test_certificates_on_the_way():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    votes = np.where(rng.random((400, 3)) < 0.97, y[:, None], 1 - y[:, None])
    made = [vc.certify(votes[:n], y[:n], weights="uniform", sequential=True) for n in (100, 200, 400)]
    once = vc.certify(votes, y, weights="uniform")
    assert made[0].risk > made[2].risk > once.risk
    assert made[2].options == {"sequential": True}
    assert made[2].is_guarantee
    assert "however often one looked" in made[2].statement
    assert "however often" not in once.statement
    assert made[2].verify(votes, y)
    read = vc.Certificate.from_json(made[2].to_json())
    assert read == made[2]
    assert read.verify()
    assert "ville1939" in made[2].cite()
    forged = vc.Certificate.from_json(made[2].to_json().replace('"sequential": true', '"sequential": false'))
    assert not forged.verify()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "fixed in advance"),
        ({"weights": [0.5, 0.25, 0.25]}, "fixed_in_advance=True"),
        ({"weights": "uniform", "bound": "fo"}, "leave bound= out"),
        ({"weights": "uniform", "bound": "best"}, "leave bound= out"),
        ({"weights": "uniform", "groups": "class"}, "by itself, with a share of delta"),
    ],
)
def test_only_votes_that_were_fixed_before(options, message):
    votes, y = [[0, 1, 0], [1, 1, 0]] * 30, [0, 1] * 30
    with pytest.raises(ValueError, match=message):
        vc.certify(votes, y, sequential=True, **options)


@pytest.mark.parametrize(("target", "error"), [(0.05, 0.05), (1.0, 0.1), (0.5, -0.1), (0.05, 0.0499)])
def test_targets_that_cannot_be_reached(target, error):
    with pytest.raises(ValueError, match=r"must lie above|too close"):
        vc.sequential_plan(target, error)
    with pytest.raises(ValueError, match="between 0 and"):
        vc.sequential_plan(0.1, 0.01).quantile(1)

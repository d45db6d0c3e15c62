"""The paper's protocol: Adam on mini-batches."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from problems import independent

from votecert.bounds import BOUNDS, UnsupportedProblemError
from votecert.learning._smooth_descent import Descent, Point
from votecert.learning.adam import Adam, Batch, Schedule, Steps, _at, _started
from votecert.learning.budget import mark_interrupted
from votecert.learning.lbfgs import LBFGS

DELTA = 0.05


def problem(n_rows=600, n_classes=2, seed=0):
    return independent(n_rows, [0.9, 0.85, 0.8, 0.55], n_classes, seed).ballots()


BALLOTS = problem()


@pytest.mark.parametrize("name", ["fo", "so", "bin", "f2"])
def test_it_comes_close_to_full_batch_descent(name):
    found = Adam(epochs=60).learn(BALLOTS, BOUNDS[name], DELTA)
    best = LBFGS().learn(BALLOTS, BOUNDS[name], DELTA)
    assert best.risk <= found.risk * (1 + 1e-6)
    assert found.risk <= 1.02 * best.risk


@pytest.mark.parametrize("name", ["cctnd", "dirichlet-stochastic", "dirichlet", "bin-margin", "partition"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_smooth_bounds_are_learned_too(name, n_classes):
    ballots, bound = problem(200, n_classes), BOUNDS[name]
    found = Adam(epochs=3).learn(ballots, bound, DELTA)
    weights = np.array(found.terms.weights)
    assert math.isclose(weights.sum(), 1, abs_tol=1e-12)
    assert found == mark_interrupted(bound.at(ballots, weights, DELTA, found.terms.choice), False)
    assert 0 < found.risk <= 1


def test_the_seed_decides():
    first, again, other = (
        Adam(epochs=2, random_state=seed).learn(BALLOTS, BOUNDS["f2"], DELTA) for seed in (0, 0, 1)
    )
    assert first == again
    assert first.terms.weights != other.terms.weights


def test_it_starts_uniform_with_concentration_two():
    weights, choice = _at(np.full(5, np.log(2 / 5)), {"concentration": 99.0})
    np.testing.assert_allclose(weights, 0.2)
    assert choice["concentration"] == pytest.approx(2.0)
    assert _started(BOUNDS["f2"], {"concentration": 7.0}, 0.01) == {"concentration": 2.0}


def test_the_margin_is_the_one_next_to_the_paper_s():
    bound = replace(BOUNDS["dirichlet-stochastic-published"], margins=(0.01,))
    assert _started(bound, {"concentration": 7.0, "margin": 0.01}, 0.05)["margin"] == 0.01
    grid = BOUNDS["dirichlet-stochastic"]
    chosen = _started(grid, {"concentration": 7.0, "margin": 0.4}, 0.01)["margin"]
    assert chosen in grid.margins
    assert abs(chosen - 0.01) < 0.001


def test_steps_are_adam_s():
    rng = np.random.default_rng(0)
    slopes = rng.standard_normal((7, 3))
    steps = Steps(np.zeros(3))
    z, first, second = np.zeros(3), np.zeros(3), np.zeros(3)
    for t, slope in enumerate(slopes, start=1):
        steps.take(slope, 0.1)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        z = z - 0.1 * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(steps.z, z, rtol=1e-12)


def test_a_batch_without_finite_slopes_is_passed_over():
    steps = Steps(np.zeros(2))
    steps.take(np.array([np.nan, 1.0]), 0.1)
    assert steps.n_steps == 0
    np.testing.assert_array_equal(steps.z, 0)


def test_schedule():
    schedule = Schedule(learning_rate=0.1, patience=5, factor=10, plateau_patience=2)
    rates, over = [], []
    for value in (0.5, 0.4, 0.4, 0.45, 0.41, 0.42, 0.43, 0.6):
        schedule.note(Point(value, np.ones(1), {}))
        rates.append(round(schedule.learning_rate, 12))
        over.append(schedule.is_over)
    assert rates == [0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.001]
    assert over == [False] * 6 + [True] * 2
    assert schedule.best.value == 0.4


@pytest.mark.parametrize("name", ["fo", "so", "f2", "dirichlet"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_all_rows_as_one_batch_are_the_rows(name, n_classes):
    ballots, bound = problem(150, n_classes), BOUNDS[name]
    rows = Descent.on(ballots, bound, DELTA).rows
    batch = Batch.standing_for(rows, np.repeat(np.arange(rows.n_patterns), rows.counts))
    weights = np.array([0.35, 0.28, 0.22, 0.15])
    choice = bound.search(rows, weights, DELTA, None)
    whole, part = (bound.objective(some, weights, choice, DELTA, None) for some in (rows, batch))
    assert part.value == pytest.approx(whole.value, rel=1e-9)
    np.testing.assert_allclose(part.d_weights, whole.d_weights, rtol=1e-7, atol=1e-12)


def test_a_batch_stands_for_all_rows():
    rows = Descent.on(BALLOTS, BOUNDS["so"], DELTA).rows
    patterns = np.array([0, 1, 1])
    batch = Batch.standing_for(rows, patterns)
    assert batch.n_rows == BALLOTS.n_rows
    wrong = ~rows.correct[patterns]
    np.testing.assert_allclose(batch.voter_errors() / batch.n_rows, wrong.mean(axis=0))
    both = (wrong[:, :, None] & wrong[:, None, :]).mean(axis=0)
    np.testing.assert_allclose(batch.tandem_counts() / batch.n_rows, both)


def test_progress_and_interrupt():
    news = []

    def stop(info):
        news.append(info)
        if len(news) == 3:
            raise KeyboardInterrupt

    found = Adam(callback=stop).learn(BALLOTS, BOUNDS["fo"], DELTA)
    assert [info["iteration"] for info in news] == [1, 2, 3]
    assert all(set(info) == {"iteration", "value", "seconds"} for info in news)
    assert found.risk == pytest.approx(min(info["value"] for info in news), rel=1e-6)


def test_what_is_not_covered_is_refused():
    with pytest.raises(UnsupportedProblemError):
        Adam().learn(problem(100, 3), BOUNDS["c-bound"], DELTA)
    with pytest.raises(TypeError, match="not differentiable"):
        Adam().learn(BALLOTS, BOUNDS["bg"], DELTA)

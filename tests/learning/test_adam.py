"""The paper's protocol: Adam on mini-batches."""

from __future__ import annotations

import math
from unittest.mock import ANY

import numpy as np
import pytest
from problems import independent

from votecert.bounds import BOUNDS, UnsupportedProblemError
from votecert.learning._smooth_descent import Descent, Point
from votecert.learning.adam import Adam, Batch, Path, Schedule, Steps
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


THEOREM_2 = BOUNDS["dirichlet-stochastic-published"]


def beginning(bound, **options):
    """Weights and choice before the first step, and whether the margin is learned."""
    adam, descent = Adam(**options), Descent.on(BALLOTS, bound, DELTA)
    path, choice = adam._beginning(descent, np.random.default_rng(adam.random_state))
    return *path.at(path.start, choice), path.margin is not None


def test_equal_weights_start_with_concentration_two():
    for name in ("f2", "fo"):
        weights, choice, _ = beginning(BOUNDS[name], start="equal")
        np.testing.assert_allclose(weights, 0.25)
        assert choice.get("concentration", 2.0) == pytest.approx(2.0)


def test_the_authors_draw_alpha_uniformly():
    drawn = np.random.default_rng(3).uniform(0, 2, 4)
    weights, choice, _ = beginning(BOUNDS["f2"], random_state=3)
    np.testing.assert_allclose(choice["concentration"] * weights, drawn)
    weights, choice, _ = beginning(BOUNDS["fo"], random_state=3)
    np.testing.assert_allclose(weights, drawn / drawn.sum())
    assert "concentration" not in choice


def test_a_start_of_one_s_own():
    weights, choice, _ = beginning(BOUNDS["f2"], start=(1.0, 2.0, 3.0, 4.0))
    np.testing.assert_allclose(weights, [0.1, 0.2, 0.3, 0.4])
    assert choice["concentration"] == pytest.approx(10)
    with pytest.raises(ValueError, match="4 voters and 2 numbers"):
        Adam(start=(1.0, 2.0)).learn(BALLOTS, BOUNDS["f2"], DELTA)


@pytest.mark.parametrize(
    "options",
    [
        *(
            {"start": start}
            for start in ["middle", (1.0, 0.0), (1.0, math.nan), 3.0, [[1.0], [2.0]], ["a"], None]
        ),
        {"margin": 0.5},
        {"factor": 0},
    ],
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(ValueError, match=r"start|margin|factor"):
        Adam(**options)


def test_the_margin_is_learned_or_the_one_next_to_the_paper_s():
    assert beginning(THEOREM_2)[1:] == ({"concentration": ANY, "margin": pytest.approx(0.01)}, True)
    _, choice, is_learned = beginning(THEOREM_2, learn_margin=False)
    assert choice["margin"] in THEOREM_2.margins
    assert abs(choice["margin"] - 0.01) < 0.001
    assert not is_learned
    assert not beginning(BOUNDS["dirichlet"])[2]  # it is no smooth function of its margin


@pytest.mark.parametrize("name", ["dirichlet-stochastic", "dirichlet-stochastic-published", "f2", "fo"])
def test_gradients_along_the_path(name):
    ballots, bound = problem(200), BOUNDS[name]
    descent = Descent.on(ballots, bound, DELTA)
    path = Path(np.array([3.0, 2.0, 1.5, 0.7]), name != "fo", 0.06 if "stochastic" in name else None)
    z, start = path.start, dict(descent.best.choice)

    def value(z):
        weights, choice = path.at(z, start)
        return bound.objective(descent.rows, weights, choice, DELTA, None)

    found = path.gradient(*path.at(z, start), value(z))
    steps = 1e-5 * np.eye(len(z))
    numeric = [(value(z + step).value - value(z - step).value) / 2e-5 for step in steps]
    assert len(found) == (5 if "stochastic" in name else 4)
    np.testing.assert_allclose(found, numeric, rtol=1e-4, atol=1e-7)


def test_alpha_stays_positive():
    path = Path(np.ones(2), True, 0.01)
    np.testing.assert_allclose(path.inside(np.array([-1.0, 2.0, -3.0])), [1e-6, 2.0, -3.0])


def test_a_learned_margin_ends_on_the_grid_that_is_paid_for():
    found = Adam(epochs=5).learn(BALLOTS, THEOREM_2, DELTA)
    assert found.terms.choice["margin"] in THEOREM_2.margins
    cut_short = Adam(epochs=5, time_budget=0.0).learn(BALLOTS, THEOREM_2, DELTA)
    assert cut_short.terms.choice["margin"] in THEOREM_2.margins


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
    schedule = Schedule(Adam(patience=5, factor=10, plateau_patience=2), learning_rate=0.1)
    rates, over = [], []
    for value in (0.5, 0.4, 0.39999, 0.45, 0.41, 0.42, 0.43, 0.6):  # the third is too little progress
        schedule.note(Point(value, np.ones(1), {}))
        rates.append(round(schedule.learning_rate, 12))
        over.append(schedule.is_over)
    assert rates == [0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.001]
    assert over == [False] * 7 + [True]
    assert schedule.best.value == 0.39999


def test_learning_ends_when_nothing_moves_any_more():
    schedule = Schedule(Adam(patience=99, factor=10, plateau_patience=1), learning_rate=1e-4)
    over = []
    for _ in range(8):
        schedule.note(Point(0.5, np.ones(1), {}))
        over.append(schedule.is_over)
    assert over == [False] * 6 + [True] * 2  # 1e-4, 1e-5 and 1e-6, two epochs each


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

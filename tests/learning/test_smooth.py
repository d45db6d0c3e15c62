"""Full-batch learning of real-valued weights."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import independent

from votecert.bounds import BOUNDS, Bound, Evaluation, UnsupportedProblemError
from votecert.bounds.base import Objective
from votecert.bounds.dirichlet import Dirichlet
from votecert.bounds.tallies import Tallies
from votecert.learning import _smooth_starts as starts
from votecert.learning._smooth_descent import Descent, neighbours
from votecert.learning._smooth_rows import ClassVotesNeeded, QuickBallots, RightOrWrong
from votecert.learning.budget import Budget, mark_interrupted
from votecert.learning.coordinates import coordinates_of, gradient_at, weights_at
from votecert.learning.lbfgs import LBFGS
from votecert.rows.ballots import Ballots


def minimise(ballots, bound, delta, *, prior=None, **options):
    return LBFGS(**options).learn(ballots, bound, delta, prior=prior)


SMOOTH = {name: bound for name, bound in BOUNDS.items() if bound.differentiable}
DIFFERENT = [
    name for name in SMOOTH if not name.endswith("-published")
]  # those share their code with another
DELTA = 0.05


def problem(n_rows, accuracies, n_classes=2, seed=0, abstain=0.0):
    return independent(n_rows, accuracies, n_classes, seed, missing=abstain).ballots()


TWO_CLASSES = problem(300, [0.9, 0.8, 0.8, 0.7, 0.55])
THREE_CLASSES = problem(300, [0.85, 0.8, 0.75, 0.5], n_classes=3, seed=1)


@cache
def learned(name: str) -> Evaluation:
    return minimise(TWO_CLASSES, SMOOTH[name], DELTA)


def check(found: Evaluation, ballots: Ballots, bound: Bound) -> None:
    """The result is the bound at its own weights, and a number."""
    weights = np.array(found.terms.weights)
    assert weights.shape == (ballots.n_voters,)
    assert np.all(weights >= 0)
    assert math.isclose(weights.sum(), 1, abs_tol=1e-12)
    assert 0 <= found.risk <= 1
    again = bound.at(ballots, weights, DELTA, found.terms.choice)
    assert mark_interrupted(again, bool(found.details["interrupted"])) == found
    assert (found.reason is None) == (found.risk < 1)


# --- coordinates


@given(st.lists(st.floats(0.05, 20), min_size=2, max_size=6), st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_gradient_in_square_roots_equals_finite_differences(alpha, seed):
    slopes = np.random.default_rng(seed).standard_normal((2, len(alpha)))

    def value(x):
        weights, concentration = weights_at(x)
        return weights @ slopes[0] + (weights**2) @ slopes[1] + math.sin(math.log(concentration))

    x = np.sqrt(alpha)
    weights, concentration = weights_at(x)
    objective = Objective(0.0, slopes[0] + 2 * weights * slopes[1], math.cos(math.log(concentration)))
    steps = 1e-6 * np.eye(len(x))
    numerical = [(value(x + step) - value(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient_at(x, objective), numerical, atol=1e-7)


def test_coordinates_and_weights_are_inverse():
    weights = np.array([0.0, 0.2, 0.8])
    back, concentration = weights_at(coordinates_of(weights, 7.0))
    np.testing.assert_allclose(back, weights)
    assert math.isclose(concentration, 7.0)


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("ballots", [TWO_CLASSES, THREE_CLASSES], ids=["two", "three"])
def test_slopes_of_every_bound_lead_where_the_coordinates_say(name, ballots):
    bound = SMOOTH[name]
    if bound.problem_with(ballots):
        pytest.skip("not for these classes")
    descent = Descent.on(ballots, bound, DELTA)
    weights = np.random.default_rng(7).dirichlet(np.full(ballots.n_voters, 5.0))  # nothing sums up to 1/2
    choice = bound.search(descent.rows, weights, DELTA, None)

    def at(x):
        weights, concentration = weights_at(x)
        inner = choice | ({"concentration": concentration} if "concentration" in choice else {})
        return bound.objective(descent.rows, weights, inner, DELTA, None)

    x = coordinates_of(weights, choice.get("concentration", 1.0))
    direction = np.random.default_rng(0).standard_normal(len(x))
    step = 1e-4 * direction
    numerical = (at(x + step).value - at(x - step).value) / 2e-4
    assert gradient_at(x, at(x)) @ direction == pytest.approx(numerical, rel=2e-3, abs=1e-6)


# --- rows


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
@settings(max_examples=25, deadline=None)
def test_quick_rows_count_the_same(seed, n_classes, abstain):
    rng = np.random.default_rng(seed)
    ballots = problem(40, [0.7, 0.6, 0.5, 0.4], n_classes, seed, abstain=0.2 * abstain)
    weights = rng.dirichlet(np.ones(4))
    for rows in (QuickBallots.of(ballots), RightOrWrong.of(ballots)):
        assert rows.n_rows == ballots.n_rows
        assert rows.n_outputs == ballots.n_outputs
        np.testing.assert_array_equal(rows.voter_errors(), ballots.voter_errors())
        np.testing.assert_array_equal(rows.tandem_counts(), ballots.tandem_counts())
        assert rows.derived(Tallies) is rows.derived(Tallies)  # iterating must not count again
        for weighed in ("correct_weight", "wrong_weight"):
            mine, theirs = getattr(rows, weighed)(weights), getattr(ballots, weighed)(weights)
            assert rows.mean(mine**3) == pytest.approx(ballots.mean(theirs**3))
        np.testing.assert_allclose(
            rows.sum_over_correct(rows.counts * rows.correct_weight(weights)),
            ballots.sum_over_correct(ballots.counts * ballots.correct_weight(weights)),
        )
    rows = QuickBallots.of(ballots)
    assert rows.n_patterns <= ballots.n_patterns
    assert rows.mean(rows.margins(weights) ** 3) == pytest.approx(ballots.mean(ballots.margins(weights) ** 3))


def test_large_tables_fall_back_to_packed_bits(monkeypatch):
    weights = np.array([0.4, 0.3, 0.2, 0.05, 0.05])
    quick = RightOrWrong.of(TWO_CLASSES)
    monkeypatch.setattr("votecert.learning._smooth_rows.LARGEST_MATRIX", 0)
    packed = RightOrWrong.of(TWO_CLASSES)
    np.testing.assert_allclose(packed.correct_weight(weights), quick.correct_weight(weights))
    np.testing.assert_allclose(packed.wrong_weight(weights), quick.wrong_weight(weights))
    np.testing.assert_allclose(packed.sum_over_correct(quick.counts), quick.sum_over_correct(quick.counts))


def test_who_is_right_does_not_tell_class_votes():
    rows = RightOrWrong.of(THREE_CLASSES)
    for ask in (rows.class_votes, rows.margins, rows.sum_over_votes):
        with pytest.raises(ClassVotesNeeded):
            ask(np.ones(rows.n_voters))


def test_bounds_that_need_classes_get_them():
    assert isinstance(Descent.on(THREE_CLASSES, BOUNDS["f2"], DELTA).rows, RightOrWrong)
    assert not isinstance(Descent.on(THREE_CLASSES, BOUNDS["dirichlet"], DELTA).rows, RightOrWrong)
    assert isinstance(Descent.on(TWO_CLASSES, BOUNDS["dirichlet"], DELTA).rows, RightOrWrong)


# --- starts


def errors_of(ballots, members):
    """Errors of the equal-weight vote, ties counting half, by the definition."""
    votes = ballots.class_votes(np.asarray(members, dtype=float))
    right = votes[np.arange(len(votes)), ballots.labels].copy()
    votes[np.arange(len(votes)), ballots.labels] = -1
    lead = np.rint(right - votes.max(axis=1))
    return ballots.counts @ ((lead < 0) + 0.5 * (lead == 0))


@pytest.mark.parametrize(
    "ballots",
    [TWO_CLASSES, THREE_CLASSES, problem(80, [0.8, 0.7, 0.6, 0.6, 0.5], 4, 3, abstain=0.3)],
    ids=["two", "three", "abstaining"],
)
def test_subsets_count_their_errors(ballots):
    d = ballots.n_voters
    rows = QuickBallots.of(ballots)
    hint = np.linspace(0.1, 0.2, d)
    families = (
        starts._all_but_few(rows),
        starts._grown(rows, Budget()),
        starts._heaviest(rows, hint, Budget()),
    )
    subsets = [subset for family in families for subset in family]
    assert {subset.size for subset in subsets} == set(range(1, d + 1))
    for subset in subsets:
        assert subset.errors == pytest.approx(errors_of(ballots, subset.members))
        assert subset.weights.sum() == pytest.approx(1)


def test_subsets_with_few_errors_are_found():
    ballots = problem(400, np.linspace(0.6, 0.8, 8), seed=5)
    rows = QuickBallots.of(ballots)
    found = {subset.size: subset for subset in starts.promising_subsets(rows, 10, [np.ones(8)], Budget())}
    assert set(found) == {1, 3, 5, 7, 8}  # two classes: odd numbers of voters, and all of them
    for size, subset in found.items():
        best = min(
            errors_of(ballots, np.isin(np.arange(8), members)) for members in combinations(range(8), size)
        )
        assert subset.errors == best


def test_single_errors_order_the_first_weights():
    rows = RightOrWrong.of(TWO_CLASSES)
    weights = starts.by_single_errors(rows, None)
    order = np.argsort(rows.voter_errors())
    for start in weights:
        assert np.all(np.diff(start[order]) <= 1e-15)
        assert start.min() > 0
    heaviest = [start.max() for start in weights]
    assert heaviest == sorted(heaviest)
    assert heaviest[-1] > 0.99
    assert starts.by_single_errors(RightOrWrong.of(HARD["identical voters"]), None) == []


def test_neighbours_are_next_on_each_grid():
    bound = Dirichlet(margins=(0.0, 0.1, 0.2), prior_scales=(1.0, 4.0), prior_shares=(0.5, 0.5))
    here = {"concentration": 3.0, "margin": 0.1, "prior_scale": 4.0}
    found = list(neighbours(bound, here))
    assert found == [here | {"margin": 0.0}, here | {"margin": 0.2}, here | {"prior_scale": 1.0}]


# --- learning


@pytest.mark.parametrize("name", SMOOTH)
def test_learned_weights_beat_uniform_and_random_ones(name):
    bound, found = SMOOTH[name], learned(name)
    check(found, TWO_CLASSES, bound)
    rng = np.random.default_rng(0)
    for weights in [
        np.full(5, 0.2),
        *rng.dirichlet(np.ones(5), size=3),
        *rng.dirichlet(np.full(5, 20), size=3),
    ]:
        assert found.risk <= bound.evaluate(TWO_CLASSES, weights, DELTA).risk * (1 + 1e-9)


@pytest.mark.parametrize("name", ["bin", "f2", "dirichlet", "dirichlet-stochastic"])
def test_three_classes(name):
    bound = SMOOTH[name]
    found = minimise(THREE_CLASSES, bound, DELTA)
    check(found, THREE_CLASSES, bound)
    for weights in np.random.default_rng(0).dirichlet(np.ones(4), size=5):
        assert found.risk <= bound.evaluate(THREE_CLASSES, weights, DELTA).risk


@pytest.mark.parametrize("name", DIFFERENT)
def test_nothing_on_a_dense_grid_is_lower_for_two_voters(name):
    bound, ballots = SMOOTH[name], problem(60, [0.85, 0.8], seed=2)
    found = minimise(ballots, bound, DELTA)
    grid = np.linspace(0.01, 0.99, 15)
    lowest = min(bound.evaluate(ballots, np.array([t, 1 - t]), DELTA).risk for t in grid)
    assert found.risk <= lowest * (1 + 1e-4)


@pytest.mark.parametrize("name", ["fo", "so", "bin", "f2", "cctnd", "dirichlet"])
def test_nothing_on_a_dense_grid_is_lower_for_three_voters(name):
    bound, ballots = SMOOTH[name], problem(200, [0.85, 0.8, 0.7], seed=3)
    found = minimise(ballots, bound, DELTA)
    ticks = np.arange(9) / 8
    grid = [(a, b, 1 - a - b) for a in ticks for b in ticks if a + b <= 1]
    lowest = min(bound.evaluate(ballots, np.abs(np.array(theta)), DELTA).risk for theta in grid)
    assert found.risk <= lowest * (1 + 1e-3)


@pytest.mark.parametrize(("name", "bad"), [("cctnd", {"offset": -2.0}), ("ccpbb", {"offset": 0.4})])
def test_a_bad_choice_is_left(name, bad):
    descent = Descent.on(TWO_CLASSES, SMOOTH[name], DELTA)
    bad = descent.best.choice | bad
    start = descent.at(np.full(5, 0.2), bad)
    end = descent.settle(start, max_iter=50)
    assert end.value < 0.9 * start.value
    assert end.value <= descent.at(end.weights).value * (1 + 1e-4)


@pytest.mark.parametrize("name", ["f2", "dirichlet"])
def test_same_seed_same_weights_in_any_order_of_rows(name):
    rng = np.random.default_rng(3)
    rows = rng.permutation(TWO_CLASSES.n_rows)
    codes = TWO_CLASSES.codes[TWO_CLASSES.pattern_of_row[rows]]
    labels = TWO_CLASSES.labels[TWO_CLASSES.pattern_of_row[rows]]
    shuffled = Ballots.from_votes(codes, labels, classes=[0, 1])
    assert minimise(TWO_CLASSES, SMOOTH[name], DELTA).terms.weights == learned(name).terms.weights
    assert minimise(shuffled, SMOOTH[name], DELTA).terms.weights == learned(name).terms.weights


def test_local_minima_of_stumps_are_left():
    """Complementary pairs of voters: uniform weights are tied on every row, where a descent gets stuck."""
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=400)
    informative = np.where(rng.random((400, 4)) < 0.8, y[:, None], 1 - y[:, None])
    noise = rng.integers(2, size=(400, 2))
    half = np.hstack([informative, noise])
    ballots = Ballots.from_votes(np.hstack([half, 1 - half]), y)
    for name in ("dirichlet-stochastic", "dirichlet"):
        bound = SMOOTH[name]
        assert bound.evaluate(ballots, np.full(12, 1 / 12), DELTA).risk == 1
        assert minimise(ballots, bound, DELTA).risk < 0.45


def test_the_prior_counts():
    bound = SMOOTH["fo"]
    prior = np.array([1.0, 1.0, 1.0, 1.0, 1e6])
    found = minimise(TWO_CLASSES, bound, DELTA, prior=prior)
    assert found.terms.prior == tuple(prior)
    assert found.risk <= bound.evaluate(TWO_CLASSES, prior / prior.sum(), DELTA, prior=prior).risk
    assert found.risk > learned("fo").risk


# --- hard cases

HARD = {
    "separable": problem(200, [1.0, 0.9, 0.6]),
    "identical voters": Ballots.from_votes(np.tile([[0], [1], [1]], (30, 4)), [0, 1, 0] * 30),
    "one voter": problem(100, [0.9]),
    "more voters than rows": problem(20, np.full(60, 0.7)),
    "labels at random": problem(100, np.full(4, 0.5)),
    "all wrong": problem(100, [0.0, 0.0, 0.0]),
    "one row": problem(1, [1.0, 1.0]),
    "one class": Ballots.from_votes(np.zeros((30, 4), dtype=int), np.zeros(30, dtype=int), classes=[0]),
    "many classes": problem(300, [0.8, 0.7, 0.6], n_classes=50),
    "abstentions": problem(200, [0.9, 0.8, 0.7], abstain=0.3),
}


@pytest.fixture
def one_start(monkeypatch):
    """Hardly any search: what has to end well are the ends, not the way."""
    for name in ("N_STARTS", "N_SUBSETS", "N_SEARCHED"):
        monkeypatch.setattr(f"votecert.learning.lbfgs.{name}", 1)
    monkeypatch.setattr("votecert.learning.lbfgs.N_HOPS", 0)
    monkeypatch.setattr("votecert.learning._smooth_starts.DRAWS", (16,))


@pytest.mark.usefixtures("one_start")
@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("name", DIFFERENT)
def test_hard_cases_end_well(case, name):
    ballots, bound = HARD[case], SMOOTH[name]
    if bound.problem_with(ballots):
        with pytest.raises(UnsupportedProblemError):
            minimise(ballots, bound, DELTA)
        return
    found = minimise(ballots, bound, DELTA, max_iter=10)
    check(found, ballots, bound)
    uniform = np.full(ballots.n_voters, 1 / ballots.n_voters)
    assert found.risk <= bound.evaluate(ballots, uniform, DELTA).risk * (1 + 1e-9)
    if bound.is_guarantee and case in ("labels at random", "all wrong", "one row"):
        assert found.risk > 0.45
    if case == "separable" and name in ("fo", "f2", "dirichlet"):
        assert found.risk < 0.15


# --- progress and interruption


def test_progress_is_told():
    news = []
    found = minimise(TWO_CLASSES, SMOOTH["so"], DELTA, callback=news.append)
    assert [info["iteration"] for info in news] == list(range(1, len(news) + 1))
    assert all(set(info) == {"iteration", "value", "seconds"} for info in news)
    values, seconds = ([info[key] for info in news] for key in ("value", "seconds"))
    assert values == sorted(values, reverse=True)
    assert seconds == sorted(seconds)
    assert found.risk == pytest.approx(values[-1], rel=1e-6)


@pytest.mark.parametrize("stop", [1, 3, 20])
def test_an_interrupt_returns_the_best_so_far(stop):
    values = []

    def interrupt(info):
        values.append(info["value"])
        if info["iteration"] == stop:
            raise KeyboardInterrupt

    found = minimise(TWO_CLASSES, SMOOTH["f2"], DELTA, callback=interrupt)
    check(found, TWO_CLASSES, SMOOTH["f2"])
    assert len(values) == stop
    assert found.risk <= values[-1] * (1 + 1e-6)


def test_no_time_is_enough_for_a_certificate():
    found = minimise(TWO_CLASSES, SMOOTH["dirichlet"], DELTA, time_budget=0.0)
    check(found, TWO_CLASSES, SMOOTH["dirichlet"])
    assert found.risk <= SMOOTH["dirichlet"].evaluate(TWO_CLASSES, np.full(5, 0.2), DELTA).risk


def test_only_smooth_bounds_are_learned():
    with pytest.raises(TypeError, match="not differentiable"):
        minimise(TWO_CLASSES, BOUNDS["bg"], DELTA)

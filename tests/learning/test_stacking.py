"""Real weights that the search for whole-number votes starts from: their regressions are solved."""

import numpy as np
import pytest
from problems import guessed
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression

from votecert.learning._error_counter import error_counter
from votecert.learning._stacking import (
    Penalty,
    logistic_loss,
    softmax_loss,
    stacking_path,
    stacking_problem,
    stacking_weights,
)
from votecert.learning._starts import log_odds_weights
from votecert.rows.ballots import Ballots


def voters(m: int, accuracies, n_classes: int = 2, seed: int = 0):
    return error_counter(
        Ballots.from_votes(*guessed(m, accuracies, n_classes, seed), classes=range(n_classes))
    )


def test_losses_have_their_gradients():
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.ones(20))
    labels = rng.integers(3, size=20)
    margins, totals = rng.normal(size=20), rng.normal(size=60)
    assert (
        check_grad(lambda x: logistic_loss(x, share)[0], lambda x: logistic_loss(x, share)[1], margins) < 1e-6
    )
    wrong = check_grad(
        lambda x: softmax_loss(x, labels, share)[0], lambda x: softmax_loss(x, labels, share)[1], totals
    )
    assert wrong < 1e-6


def test_losses_of_huge_margins_are_finite():
    value, gradient = logistic_loss(np.array([-1e4, 1e4]), np.array([0.5, 0.5]))
    assert value == pytest.approx(5e3)
    assert np.isfinite(gradient).all()
    value, gradient = softmax_loss(np.array([1e4, 0.0, 0.0, 1e4]), np.array([1, 1]), np.array([0.5, 0.5]))
    assert value == pytest.approx(5e3)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "penalty", [Penalty(l1=0.005), Penalty(l1=0.0005), Penalty(l2=0.1), Penalty(l2=0.01)]
)
def test_weights_are_optimal(n_classes, penalty):
    problem = stacking_problem(voters(800, np.linspace(0.1, 0.7, 40), n_classes))
    (x,) = stacking_path(problem, [penalty])
    _, residual = problem.loss(np.asarray(problem.design @ x, dtype=np.float64))
    slope = np.asarray(problem.design.T @ residual)
    slope = slope + problem.penalised * (penalty.l1 + penalty.l2 * x)
    assert (x >= 0).all()
    assert x.any()
    assert np.abs(slope[x > 0]).max() < 1e-3
    assert (slope[x == 0] > -1e-3).all()


def test_agrees_with_another_solver():
    votes, y = guessed(2000, [0.8, 0.6, 0.5, 0.4])
    signs = 2.0 * votes - 1
    other = LogisticRegression(C=1 / (2000 * 0.01), fit_intercept=False, tol=1e-8).fit(signs, y)
    problem = stacking_problem(error_counter(Ballots.from_votes(votes, y)))
    constants = problem.penalised < 1
    problem.design[:, constants] = 0  # no intercept here
    (x,) = stacking_path(problem, [Penalty(l2=0.01)])
    np.testing.assert_allclose(np.sort(x[~constants]), np.sort(other.coef_[0]), atol=2e-3)


def test_a_smaller_penalty_uses_more_voters():
    found = stacking_weights(voters(500, np.linspace(0, 0.5, 30)), [Penalty(l1=0.1), Penalty(l1=0.001)])
    assert np.count_nonzero(found[0]) < np.count_nonzero(found[1])


def test_some_class_has_no_constant_votes():
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.8).astype(int)
    ballots = Ballots.from_votes(np.where(rng.random((600, 5)) < 0.7, y[:, None], 1 - y[:, None]), y)
    for weights in stacking_weights(error_counter(ballots)):
        assert weights[5:].min() == 0.0
    assert weights[6] > 0  # class 1 is common


def test_log_odds_of_voters_that_may_abstain():
    votes = [[0, 0], [1, None], [1, 1], [0, 1]] * 4
    weights = log_odds_weights(error_counter(Ballots.from_votes(votes, [0, 1, 1, 1] * 4, classes=[0, 1])))
    np.testing.assert_allclose(weights, [np.log(13 / 5), np.log(13 / 1), 0, 0])


def test_log_odds_give_no_weight_to_voters_worse_than_chance():
    weights = log_odds_weights(voters(1000, [0.9, 0.0, 0.5], n_classes=4))
    assert weights[1] < 0.15 < weights[2] < weights[0]

"""The fitted list: its regressions are solved, its votes are whole numbers, and nothing upsets it."""

import numpy as np
import pytest
from problems import guessed
from scipy.optimize import check_grad
from sklearn.linear_model import LogisticRegression

from votecert.bounds.occam import MEMBERS
from votecert.learning._error_counter import error_counter
from votecert.learning._stacking import (
    PENALTIES,
    Penalty,
    logistic_loss,
    softmax_loss,
    stacking_path,
    stacking_problem,
    stacking_weights,
)
from votecert.learning._starts import log_odds_weights
from votecert.learning.fitted_list import RESOLUTION, fit_list, whole_numbers
from votecert.learning.learn import learn
from votecert.rows.ballots import Ballots
from votecert.rows.scores import Scores


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


@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("m", [1, 5, 200])
def test_all_members_are_whole_number_votes(m, n_classes):
    fitted = fit_list(voters(m, [0.9, 0.5, 0.1], n_classes))
    assert tuple(fitted) == tuple(MEMBERS)
    assert len(MEMBERS) == 2 + len(PENALTIES)
    for votes in fitted.values():
        assert votes.dtype == np.int64
        assert votes.min() >= 0
        assert votes[:3].sum() > 0
        assert votes.max() <= RESOLUTION
        assert np.gcd.reduce(votes) == 1


def test_members_of_soft_votes_and_of_abstaining_ones():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    scores = rng.dirichlet(np.ones(3), size=(300, 4)) + 0.5 * np.eye(3)[y][:, None]
    soft = Scores.from_scores(scores, y)
    for votes in fit_list(error_counter(soft)).values():
        assert soft.errors(votes[:4], votes[4:]) < 100
    votes, y = guessed(300, [0.9, 0.8, 0.7])
    table = votes.astype(object)
    table[rng.random(votes.shape) < 0.2] = None
    ballots = Ballots.from_votes(table, y, classes=[0, 1])
    for member in fit_list(error_counter(ballots)).values():
        assert ballots.errors(member[:3], member[3:]) < 100


def out_of_bag(votes, y, share: float = 0.3, seed: int = 1):
    """The same votes, of which only a share was asked for."""
    table = votes.astype(object)
    table[np.random.default_rng(seed).random(votes.shape) > share] = None
    return Ballots.from_votes(table, y, classes=[0, 1])


def correlated_jury(m: int = 4000, d: int = 40, seed: int = 0):
    """Voters that agree mostly, and say 1 far too often: a constant for 0 mends them."""
    rng = np.random.default_rng(seed)
    y = (rng.random(m) < 0.5).astype(int)
    leaning = rng.random(m) < np.where(y == 1, 0.95, 0.45)
    share = np.where(y == 1, 0.8, 0.62)[:, None] + 0.1 * (leaning[:, None] - 0.5)
    return (rng.random((m, d)) < share).astype(int), y


def test_constants_fitted_out_of_bag_are_those_of_the_vote_of_everybody():
    votes, y = correlated_jury()
    whole, part = Ballots.from_votes(votes, y), out_of_bag(votes, y)

    def constant(ballots, **options):
        """Votes of the constants in proportion to those of the voters."""
        member = fit_list(error_counter(ballots), **options)["stacking L2 0.1"]
        return member[40:].sum() / member[:40].sum(), whole.errors(member[:40], member[40:])

    right, fewest = constant(whole)
    mended, errors = constant(part, missing_is_unasked=True)
    small, more_errors = constant(part)
    assert mended == pytest.approx(right, rel=0.15)
    assert small < 0.5 * right
    assert fewest <= errors < 1.3 * fewest
    assert more_errors > 2 * fewest


def test_the_best_single_voter_out_of_bag_is_the_best_when_asked():
    rng = np.random.default_rng(0)
    votes, y = guessed(3000, [0.8, 0.6, 0.6])
    table = votes.astype(object)
    table[rng.random(3000) < 0.7, 0] = None  # the best was asked least
    voters = error_counter(Ballots.from_votes(table, y, classes=[0, 1]))
    assert fit_list(voters, missing_is_unasked=True)["best single"].tolist() == [1, 0, 0, 0, 0]
    assert fit_list(voters)["best single"][0] == 0  # it would be silent, that is wrong, where it abstains


def test_learning_knows_out_of_bag_votes_from_abstentions(monkeypatch):
    votes, y = guessed(600, [0.8, 0.7, 0.7])
    table = votes.astype(object)
    table[::3, 0] = None
    told = []

    def record(error_counter, budget, *, missing_is_unasked):
        told.append(missing_is_unasked)
        return fit_list(error_counter, budget, missing_is_unasked=missing_is_unasked)

    monkeypatch.setattr("votecert.learning.fitted_list.fit_list", record)
    learn(votes[300:], y[300:], prior_votes=table[:300], prior_y=y[:300])
    learn(votes[300:], y[300:], prior_votes=table[:300], prior_y=y[:300], can_abstain=True)
    learn(table[300:], y[300:], prior_votes=table[:300], prior_y=y[:300])
    learn(table, y)
    learn(table[300:], y[300:], prior_votes=table[:300], prior_y=y[:300], can_abstain=True)
    assert told == [True, False, True, False, False]


def test_other_rows_may_be_ballots_or_scores():
    votes, y = guessed(600, [0.8, 0.7, 0.7], 3)
    other = Ballots.from_votes(votes[:300], y[:300])
    found = learn(votes[300:], y[300:], prior_votes=other).evaluation
    assert found == learn(votes[300:], y[300:], prior_votes=votes[:300], prior_y=y[:300]).evaluation
    scores = np.eye(3)[votes] + 0.1
    soft = learn(scores=scores[300:], y=y[300:], prior_votes=Scores.from_scores(scores[:300], y[:300]))
    assert soft.evaluation.terms.choice["list"] == "other"
    with pytest.raises(ValueError, match="same kind"):
        learn(scores=scores[300:], y=y[300:], prior_votes=other)


@pytest.mark.parametrize(
    ("prior_votes", "prior_y", "error", "advice"),
    [
        ([[0, 1]], [0], ValueError, "2 voters, the certifying ones 3"),
        ([[0, 1, 7]], [0], ValueError, "In prior_votes.*same classes.*7"),
        ([[0, 1, 1]], [7], ValueError, "In prior_votes.*same classes.*7"),
        ([[0, 1, 1]], [0, 1], ValueError, "In prior_votes.*1 rows"),
        ([[0, 1, 1]], None, TypeError, "go together"),
        (None, [0], TypeError, "go together"),
        (np.zeros((0, 3), dtype=int), [], ValueError, "no rows"),
        (Ballots.from_votes([[0, 1, 1]], [0], classes=[1, 0]), None, ValueError, r"classes=\[0, 1\]"),
    ],
)
def test_bad_other_rows_say_what_to_do(prior_votes, prior_y, error, advice):
    votes, y = guessed(50, [0.8, 0.7, 0.7])
    with pytest.raises(error, match=advice):
        learn(votes, y, prior_votes=prior_votes, prior_y=prior_y)


def test_other_rows_may_lack_a_class_or_every_vote():
    votes, y = guessed(200, [0.8, 0.7, 0.7], 3)
    for other in (votes[:1], np.full((3, 3), None), np.zeros((4, 3), dtype=int)):
        found = learn(votes, y, prior_votes=other, prior_y=[0] * len(other))
        assert 0 < found.risk < 1


def test_weights_that_are_all_zero_become_a_constant():
    assert whole_numbers(np.zeros(5), n_voters=3).tolist() == [1, 1, 1, 4, 0]


def test_rounding_keeps_the_proportions():
    weights = np.array([0.7, 0.2, 1e-9, 0.05])
    votes = whole_numbers(weights, n_voters=3)
    np.testing.assert_allclose(votes / votes.max(), weights / weights.max(), atol=1e-6)


def test_fits_do_not_depend_on_the_order_of_the_rows():
    votes, y = guessed(500, np.linspace(0.1, 0.7, 12), 3)
    order = np.random.default_rng(1).permutation(500)
    one, other = (
        fit_list(error_counter(Ballots.from_votes(v, t))) for v, t in ((votes, y), (votes[order], y[order]))
    )
    assert all(np.array_equal(one[name], other[name]) for name in MEMBERS)

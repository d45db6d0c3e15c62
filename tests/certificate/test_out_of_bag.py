from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from votecert import BOUNDS, Certificate, certify, collect_votes
from votecert.bounds.tallies import OutOfBagTallies, PairSums
from votecert.certificate.out_of_bag import certify_oob
from votecert.rows.ballots import Ballots
from votecert.voters.collect import out_of_bag_votes

BOUND_IDS = ("fo", "so", "cctnd", "ccpbb")


def random_votes(m: int = 60, d: int = 5, c: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = rng.integers(c, size=m)
    votes = np.where(rng.random((m, d)) < 0.7, y[:, None], rng.integers(c, size=(m, d)))
    return np.ma.MaskedArray(votes, mask=rng.random((m, d)) < 0.4), y


@pytest.fixture(scope="module")
def forest_and_rows():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["malignant", "benign"])[y]
    return RandomForestClassifier(15, random_state=0).fit(X, names), X, names


@pytest.mark.parametrize("compress", [True, False])
def test_counts_agree_with_slow_loops(compress):
    votes, y = random_votes(c=2, d=4)
    tallies = OutOfBagTallies(Ballots.from_votes(votes, y, compress=compress))
    wrong, judged = votes.data != y[:, None], ~votes.mask
    for i in range(4):
        assert tallies.errors[i] == pytest.approx(wrong[judged[:, i], i].mean(), abs=1e-15)
        for j in range(4):
            rows = judged[:, i] & judged[:, j]
            assert tallies.rows_of_pairs[i, j] == rows.sum()
            assert tallies.tandem[i, j] == pytest.approx((wrong[rows, i] & wrong[rows, j]).mean(), abs=1e-15)
            assert tallies.pair_errors[i, j] == pytest.approx(wrong[rows, i].mean(), abs=1e-15)
    assert tallies.voter_rows == judged.sum(axis=0).min()
    assert tallies.pair_rows == (judged.T.astype(int) @ judged).min()


@pytest.mark.parametrize("mu", [-0.5, 0.0, 0.3])
def test_moments_of_the_tandem_loss_agree_with_slow_loops(mu):
    votes, y = random_votes()
    tallies = OutOfBagTallies(Ballots.from_votes(votes, y))
    theta = np.array([0.1, 0.2, 0.4, 0.25, 0.05])
    mean = variance = 0.0
    for i in range(5):
        for j in range(5):
            rows = ~votes.mask[:, i] & ~votes.mask[:, j]
            wrong = votes.data[rows] != y[rows, None]
            loss = (wrong[:, i] - mu) * (wrong[:, j] - mu)
            mean += theta[i] * theta[j] * loss.mean()
            variance += theta[i] * theta[j] * loss.var(ddof=1)
    assert PairSums.of(tallies, theta).at(mu) == pytest.approx((mean, variance), abs=1e-14)


@pytest.mark.parametrize("name", BOUND_IDS)
def test_formulas_use_the_smallest_number_of_rows(name):
    votes, y = random_votes(m=4000)
    theta = np.full(5, 0.2)
    judged = ~votes.mask
    found = certify(votes, y, weights=theta, bound=replace(BOUNDS[name], out_of_bag=True))
    statistics = found.terms.statistics
    if "rows" in statistics:
        assert (
            statistics["rows"]
            == (judged.sum(axis=0) if name != "so" else judged.T.astype(int) @ judged).min()
        )
    if "pair_rows" in statistics:
        assert statistics["pair_rows"] == (judged.T.astype(int) @ judged).min()
    assert found.terms.n_rows == 4000


def test_first_order_value_by_hand():
    votes, y = random_votes(m=4000, c=2)
    found = certify(votes, y, weights="uniform", bound=replace(BOUNDS["fo"], out_of_bag=True))
    errors = [(votes.data[~mask, i] != y[~mask]).mean() for i, mask in enumerate(votes.mask.T)]
    m = int((~votes.mask).sum(axis=0).min())
    q, cost = float(np.mean(errors)), math.log(2 * math.sqrt(m) / 0.05) / m
    p = found.risk / 2
    kl = q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))
    assert kl == pytest.approx(cost, rel=1e-6)


@pytest.mark.parametrize("name", BOUND_IDS)
def test_is_the_ordinary_bound_when_no_row_is_in_a_bag(name):
    votes, y = random_votes(m=400)
    theta = np.array([0.1, 0.2, 0.4, 0.25, 0.05])
    ordinary = certify(votes.data, y, weights=theta, bound=name)
    assert (
        certify(votes.data, y, weights=theta, bound=replace(BOUNDS[name], out_of_bag=True)).risk
        == ordinary.risk
    )


@pytest.mark.parametrize("name", BOUND_IDS)
def test_gradient_equals_finite_differences(name):
    votes, y = random_votes(m=3000)
    bound = replace(BOUNDS[name], out_of_bag=True)
    rows = OutOfBagTallies(Ballots.from_votes(votes, y))
    theta = np.array([0.1, 0.2, 0.4, 0.25, 0.05])
    choice = bound.search(rows, theta, 0.05, None)
    slope = bound.objective(rows, theta, choice, 0.05).d_weights
    for direction in (np.array([1, -1, 0, 0, 0.0]), np.array([0, 1, 1, -2, 0.0])):
        ahead, behind = (
            bound.objective(rows, theta + s * direction, choice, 0.05).value for s in (1e-6, -1e-6)
        )
        assert slope @ direction == pytest.approx((ahead - behind) / 2e-6, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("weights", ["uniform", "learn", "given"])
@pytest.mark.parametrize("name", BOUND_IDS)
def test_certificate_verifies_from_json_and_from_its_rows(name, weights, forest_and_rows):
    forest, X, y = forest_and_rows
    theta = np.arange(1, 16) / 120 if weights == "given" else weights
    certificate = certify_oob(forest, X, y, bound=name, weights=theta, delta=0.1)
    assert certificate.origin == {"uniform": "fixed", "learn": "learned", "given": "given"}[weights]
    assert certificate.is_guarantee
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.verify(), str(again.verify())
    recounted = again.verify(out_of_bag_votes(forest, X), y)
    assert recounted, str(recounted)
    assert set(certificate.predict(collect_votes(forest, X))) == {"malignant", "benign"}


def test_more_rows_than_there_were_do_not_verify(forest_and_rows):
    certificate = certify_oob(*forest_and_rows)
    assert certificate.risk < 0.5
    content = json.loads(certificate.to_json())
    content["terms"]["statistics"]["rows"] = 10**9
    outcome = Certificate.from_json(json.dumps(content)).verify()
    assert not outcome
    assert "'rows' is 1000000000" in str(outcome)


@pytest.mark.parametrize("name", BOUND_IDS)
def test_learned_weights_have_a_smaller_bound(name):
    """Some members see one useless feature only; learning takes their weight away."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    X = np.column_stack([y + 0.3 * rng.normal(size=3000), rng.normal(size=(3000, 3))])
    bagging = BaggingClassifier(
        make_pipeline(GaussianNB()), 12, max_features=1, max_samples=0.3, random_state=1
    ).fit(X, y)
    sees = np.array([0 in columns for columns in bagging.estimators_features_])
    assert 0 < sees.sum() < 12
    plain = certify_oob(bagging, X, y, bound=name)
    learned = certify_oob(bagging, X, y, bound=name, weights="learn")
    assert learned.risk < min(0.6 * plain.risk, 0.5)
    assert learned.weights[sees].sum() > 0.85


def test_pairs_without_common_rows_say_nothing():
    X, y = load_wine(return_X_y=True)
    bagging = BaggingClassifier(
        make_pipeline(GaussianNB()), 3, max_samples=0.97, bootstrap=False, random_state=0
    ).fit(X, y)
    votes = out_of_bag_votes(bagging, X)
    tallies = OutOfBagTallies(Ballots.from_votes(votes, y))
    assert tallies.pair_rows == 0
    assert np.all(tallies.tandem[tallies.rows_of_pairs == 0] == 1)
    for name in ("so", "cctnd", "ccpbb"):
        certificate = certify_oob(bagging, X, y, bound=name, weights="learn")
        assert certificate.risk == 1
        assert "no out-of-bag rows" in certificate.reason
        assert certificate.verify()


def test_coin_flips_are_never_certified_below_one_half():
    """Labels that nobody can predict: every vote errs half of the time."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(300, 3)), rng.integers(2, size=300)
        forest = RandomForestClassifier(20, max_depth=3, random_state=seed).fit(X, y)
        for name in BOUND_IDS:
            assert certify_oob(forest, X, y, bound=name, weights="learn", delta=0.2).risk >= 0.5


def test_ensembles_that_look_at_all_rows_are_refused(forest_and_rows):
    _, X, y = forest_and_rows
    small = RandomForestClassifier(3, random_state=0)
    for wrapped in (make_pipeline(StandardScaler(), small), GridSearchCV(small, {"max_depth": [1, 2]}, cv=2)):
        with pytest.raises(TypeError, match="made ready before"):
            certify_oob(wrapped.fit(X, y), X, y)
    with pytest.raises(TypeError, match="remember their bags"):
        certify_oob(GaussianNB().fit(X, y), X, y)
    with pytest.raises(ValueError, match="bootstrap=True"):
        certify_oob(ExtraTreesClassifier(3, random_state=0).fit(X, y), X, y)


def test_bad_input_says_what_to_do(forest_and_rows):
    forest, X, y = forest_and_rows
    with pytest.raises(ValueError, match="do not hold out of bag"):
        certify_oob(forest, X, y, bound="occam")
    with pytest.raises(ValueError, match="exactly"):
        certify_oob(forest, X, y == "benign")
    with pytest.raises(ValueError, match="fitted on 569"):
        certify_oob(forest, X[:-1], y[:-1])
    with pytest.raises(ValueError, match="delta"):
        certify_oob(forest, X, y, delta=0)


def test_a_frozen_forest_is_the_forest(forest_and_rows):
    forest, X, y = forest_and_rows
    assert certify_oob(FrozenEstimator(forest), X, y) == certify_oob(forest, X, y)


def test_what_is_counted_out_of_bag_is_cited(forest_and_rows):
    forest, X, y = forest_and_rows
    assert "lorenzen2019" in certify_oob(forest, X, y, bound="so").cite()
    ordinary = certify(collect_votes(forest, X), y, weights="uniform", bound="so")
    assert "lorenzen2019" not in ordinary.cite()

"""Stumps against their definition, scikit-learn's own checks, and the paper's forest."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from votecert.voters.stumps import DecisionStumps, paper_forest


@parametrize_with_checks(
    [DecisionStumps(), DecisionStumps(n_thresholds=3), DecisionStumps(ranges=(-3.0, 3.0))]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def rows(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(n, p)).astype(float)
    return X, np.where(X[:, 1] + rng.normal(size=n) > 5, "yes", "no")


def slow_votes(X, lows, highs, n_thresholds, classes):
    """Every stump written out from the definition, one row and one threshold at a time."""
    table = []
    for x in X:
        line = []
        for value, low, high in zip(x, lows, highs, strict=True):
            thresholds = [low + (high - low) / n_thresholds * j for j in range(n_thresholds)]
            line += [classes[1] if value <= t else classes[0] for t in thresholds]
            line += [classes[1] if value > t else classes[0] for t in thresholds]
        table.append(line)
    return np.array(table)


@pytest.mark.parametrize("n_thresholds", [1, 2, 6])
def test_votes_follow_the_definition(n_thresholds):
    X, y = rows()
    stumps = DecisionStumps(n_thresholds).fit(X, y)
    expected = slow_votes(X, X.min(axis=0), X.max(axis=0), n_thresholds, ["no", "yes"])
    np.testing.assert_array_equal(stumps.votes(X), expected)
    assert stumps.votes(X).shape == (60, 2 * n_thresholds * 3)


def test_paper_has_36_stumps_for_three_features():
    X, y = rows()
    assert DecisionStumps().fit(X, y).votes(X).shape == (60, 36)


def test_declared_ranges_make_the_votes_independent_of_the_rows():
    X, y = rows()
    ranges = [(0, 12), (-1, 20), (3, 3)]
    one = DecisionStumps(ranges=ranges).fit(X[:20], y[:20])
    two = DecisionStumps(ranges=ranges).fit(X[20:] * 5, y[20:])
    np.testing.assert_array_equal(one.votes(X), two.votes(X))
    np.testing.assert_array_equal(one.votes(X), slow_votes(X, [0, -1, 3], [12, 20, 3], 6, ["no", "yes"]))
    assert not one.depends_on_rows
    assert DecisionStumps().depends_on_rows


def test_one_pair_of_ranges_serves_all_features():
    X, y = rows()
    np.testing.assert_array_equal(
        DecisionStumps(ranges=(0, 12)).fit(X, y).votes(X),
        DecisionStumps(ranges=[(0, 12)] * 3).fit(X, y).votes(X),
    )


def test_thresholds_start_at_the_lowest_value_and_stop_short_of_the_highest():
    stumps = DecisionStumps(n_thresholds=4, ranges=[(0, 8)]).fit([[0], [8]], [0, 1])
    np.testing.assert_array_equal(stumps.thresholds_, [[0, 2, 4, 6]])


def test_complements_disagree_on_every_row_and_cover_every_voter():
    X, y = rows()
    stumps = DecisionStumps(4).fit(X, y)
    votes = stumps.votes(np.random.default_rng(1).normal(6, 9, size=(500, 3)))
    left, right = stumps.complements_.T
    assert (votes[:, left] != votes[:, right]).all()
    np.testing.assert_array_equal(np.sort(stumps.complements_, axis=None), np.arange(24))


@pytest.mark.parametrize("flip", [False, True])
def test_predict_is_the_stump_with_the_fewest_errors(flip):
    X, y = rows()
    y = np.where(y == "yes", "no", "yes") if flip else y
    stumps = DecisionStumps().fit(X, y)
    errors = (stumps.votes(X) != y[:, None]).sum(axis=0)
    assert errors[stumps.best_] == errors.min()
    np.testing.assert_array_equal(stumps.predict(X), stumps.votes(X)[:, stumps.best_])
    assert stumps.score(X, y) > 0.8


@pytest.mark.parametrize("labels", [(False, True), (0, 1), (-1, 1), ("a", "b")])
def test_labels_of_any_kind(labels):
    X, y = rows()
    y = np.array(labels)[(y == "yes").astype(int)]
    stumps = DecisionStumps().fit(X, y)
    assert stumps.votes(X).dtype == stumps.predict(X).dtype == y.dtype
    assert set(stumps.votes(X).ravel()) == set(labels)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_give_the_same_votes_and_remember_names(library):
    X, y = rows()
    named = pytest.importorskip(library).DataFrame({f"f{j}": X[:, j] for j in range(3)})
    stumps = DecisionStumps().fit(named, y)
    np.testing.assert_array_equal(stumps.votes(named), DecisionStumps().fit(X, y).votes(X))
    assert stumps.feature_names_in_.tolist() == ["f0", "f1", "f2"]


def test_clone_pickle_and_parameters():
    X, y = rows()
    stumps = DecisionStumps(3, ranges=(0, 12)).fit(X, y)
    copy = pickle.loads(pickle.dumps(stumps))
    np.testing.assert_array_equal(copy.votes(X), stumps.votes(X))
    assert not hasattr(clone(stumps), "thresholds_")
    assert clone(stumps).set_params(n_thresholds=2).get_params() == {"n_thresholds": 2, "ranges": (0, 12)}


def test_in_pipelines_and_searches():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), DecisionStumps())
    search = GridSearchCV(pipeline, {"decisionstumps__n_thresholds": [1, 6]}, cv=3).fit(X, y)
    assert search.best_params_ == {"decisionstumps__n_thresholds": 6}
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.85


def test_reducing_memory_does_not_change_the_choice_of_many_features():
    X, y = load_breast_cancer(return_X_y=True)
    stumps = DecisionStumps().fit(X, y)
    assert stumps.best_ == np.argmin((stumps.votes(X) != y[:, None]).sum(axis=0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_thresholds": 0}, "at least 1"),
        ({"n_thresholds": 2.5}, "whole number"),
        ({"ranges": [[0, 1], [0, 1]]}, r"each of the 3 features.*\(2, 2\)"),
        ({"ranges": [[0, 1], [5, 4], [0, 1]]}, r"feature 1 is \(5\.0, 4\.0\)"),
        ({"ranges": (0, np.inf)}, "must be finite"),
        ({"ranges": (-1.7e308, 1.7e308)}, "must be finite"),
        ({"ranges": (np.nan, 1)}, "must be finite"),
    ],
)
def test_bad_options_say_what_to_do(options, message):
    X, y = rows()
    with pytest.raises(ValueError, match=message):
        DecisionStumps(**options).fit(X, y)


@pytest.mark.parametrize("labels", [[0] * 60, [0, 1, 2] * 20])
def test_only_two_classes(labels):
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        DecisionStumps().fit(rows()[0], labels)


def test_votes_need_a_fit_and_the_right_features():
    X, y = rows()
    with pytest.raises(NotFittedError):
        DecisionStumps().votes(X)
    with pytest.raises(ValueError, match="X has 2 features, but DecisionStumps is expecting 3"):
        DecisionStumps().fit(X, y).votes(X[:, :2])


def test_paper_forest_is_ten_deep_trees_on_half_size_bags():
    X, y = load_breast_cancer(return_X_y=True)
    forest = paper_forest(random_state=0).fit(X, y)
    assert isinstance(forest, RandomForestClassifier)
    assert len(forest.estimators_) == 10
    assert {len(bag) for bag in forest.estimators_samples_} == {round(len(y) / 2)}
    assert {tree.max_features_ for tree in forest.estimators_} == {5}
    assert all(tree.tree_.impurity[tree.tree_.children_left < 0].max() == 0 for tree in forest.estimators_)


def test_paper_forest_takes_options_of_the_authors_program():
    forest = paper_forest(25, random_state=3, class_weight="balanced_subsample", max_samples=None)
    assert (forest.n_estimators, forest.random_state) == (25, 3)
    assert (forest.class_weight, forest.max_samples) == ("balanced_subsample", None)

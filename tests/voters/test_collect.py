"""Votes of every kind of ensemble against the slow, obvious way to get them."""

import pickle
import tracemalloc
import warnings

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from votecert.voters.collect import collect_scores, collect_votes, out_of_bag_votes, voter_classes
from votecert.voters.stumps import DecisionStumps

# said of models that are asked by themselves; what is said is tested in test_third_party.py
pytestmark = pytest.mark.filterwarnings("ignore:.* is one voter", "ignore:The members of StackingClassifier")

LABELS = {
    "text": np.array(["ant", "bee", "cat"]),
    "int8": np.array([5, 7, 9], dtype=np.int8),
    "codes": np.array([0, 1, 2]),
    "shifted": np.array([1, 2, 3]),
    "negative": np.array([-1, 0, 1]),
    "float": np.array([0.0, 1.0, 2.0]),
}


def iris(kind="text"):
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], LABELS[kind][y[order]]


def three_models():
    return [
        ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
        ("bayes", GaussianNB()),
        ("ridge", RidgeClassifier()),
    ]


ENSEMBLES = {
    "forest": RandomForestClassifier(7, max_depth=3, random_state=0),
    "extra trees": ExtraTreesClassifier(7, max_depth=3, random_state=0),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=2), 7, random_state=0),
    "bagging on some features": BaggingClassifier(GaussianNB(), 7, max_features=2, random_state=0),
    "bagging that loses classes": BaggingClassifier(
        KNeighborsClassifier(1), 7, max_samples=3, random_state=0
    ),
    "bagging of forests": BaggingClassifier(RandomForestClassifier(3, max_depth=1), 4, random_state=0),
    "boosting": AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=7, random_state=0),
    "voting": VotingClassifier(three_models()),
    "voting without one": VotingClassifier([*three_models(), ("gone", "drop")]),
    "stacking": StackingClassifier(three_models(), cv=3),
}


def slow_member_votes(ensemble, X):
    """Each member on its own features, one row at a time, each answer looked up by itself."""
    columns = []
    for j, member in enumerate(ensemble.estimators_):
        own = X[:, ensemble.estimators_features_[j]] if hasattr(ensemble, "estimators_features_") else X
        said = member.predict(own)
        labelled = isinstance(ensemble, AdaBoostClassifier)
        columns.append([label if labelled else ensemble.classes_[int(label)] for label in said])
    return np.array(columns, dtype=ensemble.classes_.dtype).T


@pytest.mark.parametrize("kind", ["text", "int8", "negative", "float"])
@pytest.mark.parametrize("name", ENSEMBLES)
def test_members_vote_in_labels(name, kind):
    X, y = iris(kind)
    ensemble = ENSEMBLES[name].fit(X[:90], y[:90])
    votes = collect_votes(ensemble, X[90:], block_size=17)
    expected = slow_member_votes(ensemble, X[90:])
    np.testing.assert_array_equal(votes, expected)
    assert votes.dtype == y.dtype
    assert votes.shape == (60, len(ensemble.estimators_))
    if name != "bagging that loses classes":
        assert (votes == y[90:, None]).mean() > 0.6  # labels, not merely consistent codes


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"min_weight_fraction_leaf": 0.2}])
def test_trees_vote_as_they_predict_also_where_leaves_are_tied(forest, options):
    """Every value comes with two labels, equally often."""
    X, y = np.repeat(np.arange(12.0), 2)[:, None], np.array([[v % 3, (v + 1) % 3] for v in range(12)]).ravel()
    fitted = forest(20, bootstrap=False, random_state=0, **options).fit(X, y)
    values = np.concatenate([tree.tree_.value[:, 0] for tree in fitted.estimators_])
    assert ((values == values.max(axis=1, keepdims=True)).sum(axis=1) > 1).any()
    np.testing.assert_array_equal(collect_votes(fitted, X), slow_member_votes(fitted, X))


class Contrarian(DecisionTreeClassifier):
    """A tree that does not predict what its leaves say."""

    def predict(self, X, check_input=True):
        return len(self.classes_) - 1 - super().predict(X, check_input)


def test_trees_of_another_kind_are_asked_themselves():
    X, y = iris()
    forest = RandomForestClassifier(3, random_state=0)
    forest.estimator = Contrarian()
    forest.fit(X, y)
    np.testing.assert_array_equal(collect_votes(forest, X), slow_member_votes(forest, X))
    assert (collect_votes(forest, X) == y[:, None]).mean() < 0.5


def test_the_mutilated_bags_do_lose_classes():
    X, y = iris()
    bagging = ENSEMBLES["bagging that loses classes"].fit(X[:90], y[:90])
    assert {len(member.classes_) for member in bagging.estimators_} >= {2}


@pytest.mark.parametrize("labels", [(False, True), ("no", "yes"), (0, 1), (-1, 1)])
@pytest.mark.parametrize("name", ["forest", "bagging", "boosting", "voting", "stacking"])
def test_two_classes(name, labels):
    X, y = iris("codes")
    y = np.array(labels)[(y == 1).astype(int)]
    ensemble = ENSEMBLES[name].fit(X[:90], y[:90])
    votes = collect_votes(ensemble, X[90:])
    np.testing.assert_array_equal(votes, slow_member_votes(ensemble, X[90:]))
    assert votes.dtype == y.dtype


def test_object_labels_stay_objects():
    X, y = iris()
    forest = RandomForestClassifier(3, random_state=0).fit(X, y.astype(object))
    votes = collect_votes(forest, X)
    assert votes.dtype == object
    np.testing.assert_array_equal(votes, slow_member_votes(forest, X))
    np.testing.assert_array_equal(collect_votes([forest], X)[:, 0], forest.predict(X))


def test_plain_votes_of_a_hard_voting_classifier_are_its_predictions():
    X, y = iris()
    ensemble = ENSEMBLES["voting"].fit(X[:90], y[:90])
    votes = collect_votes(ensemble, X[90:])
    plurality = [max(np.unique(row), key=lambda label, row=row: (row == label).sum()) for row in votes]
    np.testing.assert_array_equal(plurality, ensemble.predict(X[90:]))


# --- wrappers ---


def test_a_pipeline_transforms_and_its_last_step_votes():
    X, y = iris()
    pipeline = make_pipeline(StandardScaler(), MaxAbsScaler(), ENSEMBLES["forest"]).fit(X[:90], y[:90])
    expected = slow_member_votes(pipeline[-1], pipeline[:-1].transform(X[90:]))
    np.testing.assert_array_equal(collect_votes(pipeline, X[90:], block_size=11), expected)


def test_wrappers_around_ensembles_give_the_same_votes():
    X, y = iris()
    forest = RandomForestClassifier(5, random_state=0)
    search = GridSearchCV(make_pipeline(forest), {"randomforestclassifier__max_depth": [1, 3]}, cv=2).fit(
        X, y
    )
    expected = slow_member_votes(search.best_estimator_[-1], X)
    for wrapped in [search, FrozenEstimator(search), make_pipeline(FrozenEstimator(search))]:
        np.testing.assert_array_equal(collect_votes(wrapped, X), expected)


def test_every_stump_votes_also_behind_a_scaler():
    X, y = iris()
    y = np.where(y == "bee", "yes", "no")
    pipeline = make_pipeline(StandardScaler(), DecisionStumps()).fit(X, y)
    votes = collect_votes(pipeline, X, block_size=7)
    np.testing.assert_array_equal(votes, pipeline[-1].votes(pipeline[0].transform(X)))
    assert votes.shape == (150, 48)


def test_text_goes_through_a_pipeline_in_blocks():
    pd = pytest.importorskip("pandas")
    texts = ["good fine", "bad poor", "fine", "poor poor bad", "good"]
    pipeline = make_pipeline(TfidfVectorizer(), RandomForestClassifier(4, random_state=0))
    pipeline.fit(texts, ["+", "-", "+", "-", "+"])
    expected = slow_member_votes(pipeline[-1], pipeline[0].transform(texts))
    np.testing.assert_array_equal(collect_votes(pipeline, texts, block_size=2), expected)
    np.testing.assert_array_equal(collect_votes(pipeline, pd.Series(texts), block_size=2), expected)


@pytest.mark.parametrize("kind", ["text", "shifted"])
def test_prefit_and_frozen_members_keep_their_own_labels(kind):
    X, y = iris(kind)
    models = [(name, model.fit(X, y)) for name, model in three_models()]
    frozen = [(name, FrozenEstimator(model)) for name, model in models]
    inside = [(name, make_pipeline(StandardScaler().fit(X), model)) for name, model in frozen]
    expected = np.column_stack([model.predict(X) for _, model in models])
    stacking = StackingClassifier(models, LogisticRegression(), cv="prefit").fit(X, y)
    np.testing.assert_array_equal(collect_votes(stacking, X), expected)
    np.testing.assert_array_equal(collect_votes(VotingClassifier(frozen).fit(X, y), X), expected)
    scaled = np.column_stack([model.predict(StandardScaler().fit_transform(X)) for _, model in models])
    np.testing.assert_array_equal(collect_votes(VotingClassifier(inside).fit(X, y), X), scaled)


def test_frozen_members_with_foreign_labels_are_refused():
    X, y = iris("shifted")
    member = FrozenEstimator(GaussianNB().fit(X, y - 1))
    with pytest.raises(ValueError, match=r"labels \[0\], which are not among the classes \[1, 2, 3\]"):
        collect_votes(VotingClassifier([("a", member)]).fit(X, y), X)


# --- lists and single classifiers ---


class Outsider:
    """A model in the style of the boosting libraries: no scikit-learn base class, a column of labels."""

    def __init__(self, threshold, classes):
        self.threshold = threshold
        self.classes_ = classes

    def predict(self, X):
        return np.where(np.asarray(X)[:, :1] > self.threshold, self.classes_[0], self.classes_[1])


def test_a_list_of_all_sorts_has_one_vote_each():
    X, y = iris()
    only_two = y != "ant"
    models = [
        FrozenEstimator(RandomForestClassifier(5, random_state=0).fit(X, y)),
        ("boosted", GradientBoostingClassifier(n_estimators=3).fit(X, y)),
        HistGradientBoostingClassifier(max_iter=3).fit(X, y),
        make_pipeline(StandardScaler(), KNeighborsClassifier()).fit(X, y),
        CalibratedClassifierCV(GaussianNB(), cv=2).fit(X, y),
        GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2).fit(X, y),
        LogisticRegression().fit(X[only_two], y[only_two]),
        Outsider(5.8, ["dog", "bee"]),
    ]
    bare = [model[1] if isinstance(model, tuple) else model for model in models]
    expected = np.column_stack([np.ravel(model.predict(X)) for model in bare])
    np.testing.assert_array_equal(collect_votes(models, X, block_size=40), expected)
    np.testing.assert_array_equal(collect_votes(tuple(models), X), expected)
    assert voter_classes(models).tolist() == ["ant", "bee", "cat", "dog"]


@pytest.mark.parametrize(
    "model",
    [
        CalibratedClassifierCV(GaussianNB(), cv=2),
        OneVsRestClassifier(GaussianNB()),
        DecisionTreeClassifier(max_depth=2),
        DummyClassifier(),
    ],
)
def test_any_other_classifier_is_one_voter(model):
    X, y = iris()
    model.fit(X, y)
    np.testing.assert_array_equal(collect_votes(model, X), model.predict(X)[:, None])
    np.testing.assert_array_equal(collect_scores(model, X)[:, 0], model.predict_proba(X))


def test_models_of_other_libraries_need_only_classes_and_predict():
    X, _ = iris()
    model = Outsider(5.8, np.array([3, 1]))  # classes need not be sorted
    np.testing.assert_array_equal(collect_votes(model, X), np.where(X[:, :1] > 5.8, 3, 1))
    np.testing.assert_array_equal(collect_scores(model, X)[:, 0], (X[:, :1] > 5.8) == [True, False])


# --- ways to hand in rows ---


FRAMES = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pytest.importorskip("polars").from_pandas(frame),
    "lists": lambda frame: frame.to_numpy().tolist(),
    "memory order": lambda frame: np.asfortranarray(frame.to_numpy()),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", ["forest", "bagging on some features", "boosting", "voting", "stacking"])
def test_tables_give_the_votes_of_arrays(name, frame):
    pd = pytest.importorskip("pandas")
    X, y = iris()
    named = pd.DataFrame(X, columns=list("abcd"), index=np.arange(150) * 7 + 3)
    table = FRAMES[frame](named)
    plain = collect_votes(ENSEMBLES[name].fit(X, y), X)
    ensemble = ENSEMBLES[name].fit(table, y)
    votes = collect_votes(ensemble, table, block_size=31)  # no complaints about feature names
    np.testing.assert_array_equal(votes, plain)


@pytest.mark.parametrize(
    "container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.bsr_array]
)
@pytest.mark.parametrize("name", ["forest", "bagging", "boosting"])
def test_sparse_rows(name, container):
    X, y = iris()
    X = np.where(X > 2, X, 0)
    ensemble = ENSEMBLES[name].fit(X, y)
    votes = collect_votes(ensemble, container(X), block_size=31)
    np.testing.assert_array_equal(votes, collect_votes(ensemble, X))


def test_missing_values_go_where_the_forest_sends_them():
    X, y = iris()
    X[::5, 1] = np.nan
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(collect_votes(forest, X), slow_member_votes(forest, X))
    monotonic = RandomForestClassifier(5, monotonic_cst=[0, 1, 0, 0], random_state=0).fit(
        X[1:5], y[1:5] == "ant"
    )
    with pytest.raises(ValueError, match="contains NaN"):
        collect_votes(monotonic, X)
    with pytest.raises(ValueError, match="contains NaN"):
        collect_votes(forest, sparse.csr_array(X))


@pytest.mark.parametrize("block_size", [1, 2, 49, 50, 51, 10_000])
@pytest.mark.parametrize("n_rows", [1, 50])
def test_blocks_do_not_change_votes_or_scores(block_size, n_rows):
    X, y = iris()
    forest = RandomForestClassifier(19, max_depth=2, random_state=0).fit(X, y)
    rows = X[:n_rows]
    seen = []
    votes = collect_votes(forest, rows, block_size=block_size, progress=lambda *done: seen.append(done))
    np.testing.assert_array_equal(votes, slow_member_votes(forest, rows))
    np.testing.assert_array_equal(
        collect_scores(forest, rows, block_size=block_size), collect_scores(forest, rows)
    )
    assert seen == [(min(end, n_rows), n_rows) for end in range(block_size, n_rows + block_size, block_size)]


def test_long_work_shows_a_bar_and_short_work_does_not(monkeypatch, capsys):
    X, y = iris()
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    collect_votes(forest, X, block_size=50, progress=True)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("votecert._progress.PATIENCE", 0.0)
    monkeypatch.setattr("votecert._progress.BETWEEN", 0.0)
    collect_votes(forest, X, block_size=50, progress=False)
    assert capsys.readouterr() == ("", "")
    collect_scores(forest, X, block_size=50, progress=True)
    out, shown = capsys.readouterr()
    assert out == ""
    assert [picture[-5:] for picture in shown.split("\r")[1:]] == [" 33 %", " 67 %", "00 %\n"]
    assert "asking 3 voters [==========          " in shown


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_parallel_votes_are_the_same(n_jobs):
    X, y = iris()
    forest = RandomForestClassifier(40, random_state=0).fit(X, y)
    np.testing.assert_array_equal(collect_votes(forest, X, n_jobs=n_jobs), slow_member_votes(forest, X))


def test_a_configured_backend_of_processes_changes_nothing():
    X, y = iris()
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    with joblib.parallel_config("loky", n_jobs=2):
        np.testing.assert_array_equal(collect_votes(forest, X, block_size=80), slow_member_votes(forest, X))


def test_memory_stays_at_the_size_of_the_votes():
    X, y = make_classification(20_000, 50, random_state=0)
    forest = RandomForestClassifier(40, max_depth=3, random_state=0).fit(X[:200], y[:200])
    collect_votes(forest, X[:10])
    tracemalloc.start()
    votes = collect_votes(forest, X, block_size=500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * votes.nbytes


def test_compact_labels_stay_compact():
    X, y = iris("int8")
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    assert collect_votes(forest, X).nbytes == 150 * 3


def test_more_than_256_classes():
    y = np.repeat(np.arange(300), 2) * 3
    X = y[:, None].astype(float)
    forest = RandomForestClassifier(3, bootstrap=False).fit(X, y)
    np.testing.assert_array_equal(collect_votes(forest, X), np.tile(y[:, None], 3))
    np.testing.assert_array_equal(collect_votes([forest], X), y[:, None])


# --- scores ---


@pytest.mark.parametrize("name", ENSEMBLES)
def test_scores_are_the_members_probabilities(name):
    X, y = iris()
    ensemble = ENSEMBLES[name].fit(X[:90], y[:90])
    scores = collect_scores(ensemble, X[90:], block_size=17)
    votes = collect_votes(ensemble, X[90:])
    assert scores.shape == (60, len(ensemble.estimators_), 3)
    for j, member in enumerate(ensemble.estimators_):
        own = X[90:, ensemble.estimators_features_[j]] if "bagging" in name else X[90:]
        expected = np.zeros((60, 3))
        if hasattr(member, "predict_proba"):
            for column, label in enumerate(member.classes_):
                code = ensemble.classes_.tolist().index(label) if name == "boosting" else int(label)
                expected[:, code] = member.predict_proba(own)[:, column]
        else:
            expected[np.arange(60), np.searchsorted(ensemble.classes_, votes[:, j])] = 1
        np.testing.assert_array_equal(scores[:, j], expected)


def test_mean_scores_are_the_forests_probabilities():
    X, y = iris()
    forest = RandomForestClassifier(20, max_depth=2, random_state=0).fit(X[:90], y[:90])
    scores = collect_scores(forest, X[90:])
    np.testing.assert_allclose(scores.mean(axis=1), forest.predict_proba(X[90:]), atol=1e-14)


def test_scores_of_a_list_are_put_on_all_classes():
    X, y = iris()
    only_two = y != "bee"
    first, second = GaussianNB().fit(X, y), GaussianNB().fit(X[only_two], y[only_two])
    scores = collect_scores([first, second], X)
    np.testing.assert_array_equal(scores[:, 0], first.predict_proba(X))
    np.testing.assert_array_equal(scores[:, 1, [0, 2]], second.predict_proba(X))
    assert not scores[:, 1, 1].any()


def test_stumps_score_one_for_the_class_they_vote_for():
    X, y = iris()
    y = np.where(y == "bee", "yes", "no")
    stumps = DecisionStumps(2).fit(X, y)
    scores = collect_scores(stumps, X)
    assert scores.shape == (150, 16, 2)
    np.testing.assert_array_equal(stumps.classes_[scores.argmax(axis=2)], stumps.votes(X))
    np.testing.assert_array_equal(scores.sum(axis=2), 1)


def test_scores_in_single_precision():
    X, y = iris()
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)
    scores = collect_scores(forest, X, dtype=np.float32)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, collect_scores(forest, X), atol=1e-7)


# --- out of bag ---


@pytest.mark.parametrize(
    "ensemble",
    [
        RandomForestClassifier(9, max_samples=0.5, random_state=0),
        ExtraTreesClassifier(9, bootstrap=True, random_state=0),
        BaggingClassifier(GaussianNB(), 9, max_features=2, random_state=0),
        BaggingClassifier(GaussianNB(), 9, bootstrap=False, max_samples=0.3, random_state=0),
    ],
)
def test_out_of_bag_votes_are_missing_in_the_bag(ensemble):
    X, y = iris()
    ensemble.fit(X, y)
    votes = out_of_bag_votes(ensemble, X, block_size=40)
    everything = slow_member_votes(ensemble, X)
    for j, bag in enumerate(ensemble.estimators_samples_):
        out = np.setdiff1d(np.arange(150), bag)
        assert 0 < len(out) < 150
        np.testing.assert_array_equal(np.flatnonzero(~votes.mask[:, j]), out)
        np.testing.assert_array_equal(votes.data[out, j], everything[out, j])
    assert (votes.data[votes.mask] == "ant").all()  # no in-bag vote hides under the mask


def test_out_of_bag_votes_follow_the_forests_own_estimate():
    X, y = iris("codes")
    forest = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    votes = out_of_bag_votes(forest, X)
    # Trees are grown until leaves are pure, so that their probabilities are their votes.
    shares = (
        np.stack([(votes == k).sum(axis=1) for k in range(3)], axis=1) / (~votes.mask).sum(axis=1)[:, None]
    )
    np.testing.assert_allclose(shares.data, forest.oob_decision_function_, atol=1e-12)


def test_out_of_bag_votes_through_pipelines_and_searches():
    X, y = iris()
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0))
    search = GridSearchCV(pipeline, {"randomforestclassifier__max_depth": [2, 4]}, cv=2).fit(X, y)
    best = search.best_estimator_
    expected = out_of_bag_votes(best[-1], best[0].transform(X))
    votes = out_of_bag_votes(search, X)
    np.testing.assert_array_equal(votes.mask, expected.mask)
    np.testing.assert_array_equal(votes.data, expected.data)


def test_out_of_bag_votes_need_bags_and_the_fitting_rows():
    X, y = iris()
    with pytest.raises(ValueError, match="X has 149 rows and the ensemble was fitted on 150"):
        out_of_bag_votes(RandomForestClassifier(3).fit(X, y), X[1:])
    with pytest.raises(ValueError, match="bootstrap=True"):
        out_of_bag_votes(ExtraTreesClassifier(3).fit(X, y), X)
    for without_bags in [ENSEMBLES["voting"].fit(X, y), [GaussianNB().fit(X, y)], GaussianNB().fit(X, y)]:
        with pytest.raises(TypeError, match="Only forests and BaggingClassifier"):
            out_of_bag_votes(without_bags, X)


# --- refusals ---


@pytest.mark.parametrize(
    "model", [GradientBoostingClassifier(n_estimators=2), HistGradientBoostingClassifier(max_iter=2)]
)
def test_gradient_boosting_has_no_voters_but_is_one(model):
    X, y = iris()
    expected = model.fit(X, y).predict(X)[:, None]
    for wrapped in [model, FrozenEstimator(model), make_pipeline(None, model)]:
        with pytest.warns(UserWarning, match=r"one voter: the outputs of its trees are added up.*list"):
            votes = collect_votes(wrapped, X)
        np.testing.assert_array_equal(votes, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(collect_votes([model], X), expected)


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (RandomForestRegressor(2), "regressor"),
        (IsolationForest(n_estimators=2), "outlier_detector"),
        (KMeans(2), "clusterer"),
    ],
)
def test_only_classifiers_vote(model, kind):
    X, y = iris("codes")
    model.fit(X, y)
    for given in [model, [model], [("name", model)], make_pipeline(StandardScaler(), model)]:
        with pytest.raises(TypeError, match=f"cannot vote: .* '{kind}', and only classifiers give labels"):
            collect_votes(given, X)


def test_members_that_are_regressors_are_refused():
    X, y = iris("codes")
    stacking = StackingClassifier([("bayes", GaussianNB()), ("forest", RandomForestRegressor(2))], cv=2).fit(
        X, y
    )
    with pytest.raises(
        TypeError, match=r"Member 1 of StackingClassifier \(RandomForestRegressor\) cannot vote"
    ):
        collect_votes(stacking, X)


@pytest.mark.parametrize(
    "model",
    [
        *ENSEMBLES.values(),
        GaussianNB(),
        DecisionStumps(),
        make_pipeline(StandardScaler(), GaussianNB()),
        GridSearchCV(GaussianNB(), {}),
        FrozenEstimator(GaussianNB()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_ensembles_must_be_fitted(model):
    X, _ = iris()
    unfitted = clone(model)
    for given in [unfitted, [unfitted], [GaussianNB().fit(*iris()), unfitted]]:
        with pytest.raises(NotFittedError):
            collect_votes(given, X)


@pytest.mark.parametrize(
    "given",
    [
        None,
        3,
        "forest",
        RandomForestClassifier,
        StandardScaler(),
        [None],
        [("name", "drop")],
        ("name", GaussianNB()),
    ],
)
def test_things_that_cannot_predict_are_named(given):
    with pytest.raises(TypeError, match="is not a fitted classifier"):
        collect_votes(given, iris()[0])


def test_a_predictor_without_classes_is_not_a_classifier():
    class Mute:
        def predict(self, X):
            return np.zeros(len(X))

    with pytest.raises(TypeError, match=r"Voter 0 \(Mute\) cannot vote: it has no classes_"):
        collect_votes([Mute()], iris()[0])


def test_an_empty_list_is_refused():
    with pytest.raises(ValueError, match="at least one fitted classifier"):
        collect_votes([], iris()[0])


def test_several_outputs_are_refused():
    X, y = iris("codes")
    forest = RandomForestClassifier(2).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="several outputs"):
        collect_votes(forest, X)
    several_labels = OneVsRestClassifier(GaussianNB()).fit(X, np.column_stack([y == 0, y > 0]))
    with pytest.raises(ValueError, match="several labels a row"):
        collect_votes(several_labels, X)


def test_text_and_numbers_do_not_mix():
    X, y = iris()
    models = [GaussianNB().fit(X, y), GaussianNB().fit(X, iris("codes")[1])]
    with pytest.raises(TypeError, match=r"text labels, others on numbers"):
        collect_votes(models, X)


class Liar(ClassifierMixin, BaseEstimator):
    """Says what it was told to say, whatever its classes are."""

    def __init__(self, says, proba=None):
        self.says = says
        self.proba = proba
        self.classes_ = np.array(["a", "b"])

    def predict(self, X):
        return np.full(len(X), self.says)

    def predict_proba(self, X):
        return np.full((len(X), self.proba), 1.0)


@pytest.mark.parametrize("says", ["c", 0, "aa"])
def test_labels_out_of_nowhere_are_refused(says):
    with pytest.raises(ValueError, match=r"Liar predicted .*, which is not one of its classes_ \['a', 'b'\]"):
        collect_votes(Liar(says), iris()[0])


def test_probabilities_need_a_column_a_class():
    with pytest.raises(
        ValueError, match=r"shape \(150, 3\); they must have one column for each of its 2 classes"
    ):
        collect_scores(Liar("a", proba=3), iris()[0])


@pytest.mark.parametrize("name", ["forest", "bagging", "boosting", "voting", "stacking"])
def test_bad_rows_get_scikit_learns_message(name):
    X, y = iris()
    ensemble = ENSEMBLES[name].fit(X, y)
    with pytest.raises(ValueError, match=r"X has 3 features, but \w+ is expecting 4 features"):
        collect_votes(ensemble, X[:, :3])
    with pytest.raises(ValueError, match="0 sample"):
        collect_votes(ensemble, X[:0])
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        collect_votes(ensemble, X[0])


def test_block_size_must_be_positive():
    X, y = iris()
    with pytest.raises(ValueError, match="block_size must be at least 1"):
        collect_votes(GaussianNB().fit(X, y), X, block_size=0)


def test_pickled_ensembles_vote_the_same():
    X, y = iris()
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        collect_votes(pickle.loads(pickle.dumps(forest)), X), collect_votes(forest, X)
    )

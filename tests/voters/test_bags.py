"""Members that may have seen the rows outside their bags are refused, those that have not are certified."""

from __future__ import annotations

import json
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils import compute_sample_weight

from votecert import Certificate, CertifiedVotingClassifier, collect_votes
from votecert.certificate.out_of_bag import certify_oob
from votecert.voters.bags import _leaves_hold
from votecert.voters.collect import out_of_bag_votes
from votecert.voters.panels import panel_of

X, Y = make_classification(90, 6, n_informative=4, n_classes=3, flip_y=0.2, random_state=0)
NAMES = np.array(["ant", "bee", "cow"])[Y]
WEIGHTS = np.where(Y == 0, 2.0, 1.0)
SIMULATION = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "out_of_bag.py"))

ALL_ROWS = "was handed all rows"
WEIGHTED = "class_weight='balanced_subsample'"


def bagged(member, rows=X, labels=NAMES, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # members that do not converge, or options that will change
        return BaggingClassifier(member, 3, random_state=0, **options).fit(rows, labels)


class OwnTree(DecisionTreeClassifier):
    """A tree that could do anything in its fit."""


class OwnBagging(BaggingClassifier):
    """An ensemble that could draw bags in any way."""


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the rows that it was handed; the first feature tells which."""

    def __init__(self, inner=None):
        self.inner = inner

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.handed_ = X[:, 0]
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class WeightedRecorder(Recorder):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


def noisy_rows(n_rows: int, seed: int):
    """A plane of two classes in which 35 % of all labels are wrong."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, size=(n_rows, 2))
    return points, (points[:, 0] > 0) ^ (rng.random(n_rows) < 0.35)


NEIGHBOUR = CalibratedClassifierCV(KNeighborsClassifier(1), ensemble=False)
SEEN_ALL = [
    NEIGHBOUR,
    LogisticRegression(),
    LogisticRegressionCV(Cs=2, cv=2),
    SGDClassifier(early_stopping=True),
    GradientBoostingClassifier(n_estimators=2, n_iter_no_change=1),
    HistGradientBoostingClassifier(max_iter=1),
    AdaBoostClassifier(n_estimators=2),
    RandomForestClassifier(2),
    SVC(gamma="scale"),
    GaussianNB(),
    DecisionTreeClassifier(class_weight="balanced"),
    ExtraTreeClassifier(class_weight={0: 1, 1: 2, 2: 1}),
    OwnTree(),
    WeightedRecorder(),
]


@pytest.mark.parametrize("member", SEEN_ALL, ids=lambda member: type(member).__name__)
def test_members_that_are_handed_all_rows_are_refused(member):
    ensemble = bagged(member)
    with pytest.raises(ValueError, match=rf"{ALL_ROWS}.*make_pipeline\({type(member).__name__}"):
        certify_oob(ensemble, X, NAMES)
    declared = certify_oob(ensemble, X, NAMES, members_saw_only_their_bags=True)
    assert type(member).__name__ in declared.assumptions[-1]
    assert certify_oob(bagged(make_pipeline(member)), X, NAMES).declared == ()


def test_a_number_that_would_be_wrong_is_not_given():
    """Calibrated nearest neighbours know the label of every row, those outside their bags too."""
    rows, labels = noisy_rows(2000, 0)
    ensemble = bagged(NEIGHBOUR, rows, labels)
    with pytest.raises(ValueError, match=ALL_ROWS):
        certify_oob(ensemble, rows, labels)
    new_rows, new_labels = noisy_rows(4000, 1)
    lied = certify_oob(ensemble, rows, labels, members_saw_only_their_bags=True)
    error = np.mean(lied.predict(collect_votes(ensemble, new_rows)) != new_labels)
    assert lied.risk < 0.1 < 0.4 < error
    honest = certify_oob(bagged(make_pipeline(NEIGHBOUR), rows, labels), rows, labels)
    assert honest.risk > error


@pytest.mark.parametrize("member", [Recorder(), make_pipeline(Recorder()), make_pipeline(WeightedRecorder())])
def test_members_without_weights_are_handed_the_rows_of_their_bag(member):
    numbered = np.column_stack([np.arange(90.0), X])
    ensemble = bagged(member, numbered)
    for fitted, bag in zip(ensemble.estimators_, ensemble.estimators_samples_, strict=True):
        recorder = fitted[-1] if hasattr(fitted, "steps") else fitted
        np.testing.assert_array_equal(recorder.handed_, bag)
    assert certify_oob(ensemble, numbered, NAMES).declared == ()


def test_members_with_weights_are_handed_all_rows():
    """Why they are refused."""
    numbered = np.column_stack([np.arange(90.0), X])
    for fitted in bagged(WeightedRecorder(), numbered).estimators_:
        np.testing.assert_array_equal(fitted.handed_, np.arange(90))


def test_routed_weights_make_a_pipeline_see_all_rows():
    with sklearn.config_context(enable_metadata_routing=True):
        member = make_pipeline(WeightedRecorder().set_fit_request(sample_weight=True))
        ensemble = bagged(member)
    assert len(ensemble.estimators_[0][-1].handed_) == 90
    with pytest.raises(ValueError, match=ALL_ROWS):
        certify_oob(ensemble, X, NAMES)


@pytest.mark.parametrize(
    "wrap", [lambda model: model, make_pipeline, lambda model: Recorder(inner={"models": [model]})]
)
def test_frozen_members_are_refused(wrap):
    ensemble = bagged(wrap(FrozenEstimator(KNeighborsClassifier(1).fit(X, NAMES))))
    with pytest.raises(ValueError, match="was not fitted on its bag: FrozenEstimator"):
        certify_oob(ensemble, X, NAMES)


TREE_ENSEMBLES = [
    RandomForestClassifier(3, random_state=0),
    RandomForestClassifier(3, random_state=0, class_weight="balanced_subsample", max_samples=0.5),
    RandomForestClassifier(3, random_state=0, ccp_alpha=0.02, criterion="entropy"),
    RandomForestClassifier(3, random_state=0, max_leaf_nodes=5, min_weight_fraction_leaf=0.02),
    ExtraTreesClassifier(3, random_state=0, bootstrap=True, max_depth=4),
    BaggingClassifier(DecisionTreeClassifier(), 3, random_state=0, max_features=0.5, bootstrap_features=True),
    BaggingClassifier(ExtraTreeClassifier(), 3, random_state=0, bootstrap=False, max_samples=0.4),
]


def rows_for_trees():
    dots = np.where(np.random.default_rng(0).random(X.shape) < 0.5, X, 0)
    holes = X.copy()
    holes[:3, 0] = holes[50, 2] = np.nan  # missing in few bags
    return [X, dots, csr_matrix(dots), holes]


@pytest.mark.parametrize("rows", rows_for_trees(), ids=["dense", "zeros", "sparse", "missing"])
@pytest.mark.parametrize("ensemble", TREE_ENSEMBLES)
def test_trees_are_those_that_their_bags_alone_would_give(ensemble, rows):
    """The evidence for the list of accepted members, on the scikit-learn that is installed."""
    ensemble = clone(ensemble).fit(rows, NAMES)
    old = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
    if rows is not X and not hasattr(rows, "tocsr") and np.isnan(rows).any() and old:
        with pytest.raises(ValueError, match="before scikit-learn"):
            certify_oob(ensemble, rows, NAMES)
        return
    assert certify_oob(ensemble, rows, NAMES, n_jobs=2).declared == ()
    panel = panel_of(ensemble)
    ready = panel.ready(rows)
    for member, bag in zip(panel.members, ensemble.estimators_samples_, strict=True):
        weights = np.bincount(bag, minlength=90).astype(float)
        if getattr(ensemble, "class_weight", None):
            weights *= compute_sample_weight("balanced", Y, indices=bag)
        own = np.flatnonzero(weights)
        alone = clone(member.estimator).fit(
            member.own_columns(ready)[own], Y[own], sample_weight=weights[own]
        )
        for part in ("feature", "threshold", "value", "children_left", "missing_go_to_left"):
            expected = getattr(alone.tree_, part)
            np.testing.assert_array_equal(getattr(member.estimator.tree_, part), expected)


def test_monotone_trees_are_certified_and_checked():
    rows, labels = noisy_rows(200, 0)
    forest = RandomForestClassifier(3, monotonic_cst=[1, 0], max_depth=4, random_state=0).fit(rows, labels)
    assert certify_oob(forest, rows, labels).is_guarantee
    forest.fit(rows, labels, sample_weight=np.where(labels, 2.0, 1.0))
    with pytest.raises(ValueError, match=WEIGHTED):
        certify_oob(forest, rows, labels)


def weighted_forest(**options):
    return RandomForestClassifier(3, random_state=0, **options)


@pytest.mark.parametrize(
    "ensemble",
    [
        weighted_forest(class_weight="balanced").fit(X, NAMES),
        weighted_forest(class_weight={"ant": 1, "bee": 2, "cow": 1}).fit(X, NAMES),
        weighted_forest().fit(X, NAMES, sample_weight=WEIGHTS),
        weighted_forest(class_weight="balanced_subsample").fit(X, NAMES, sample_weight=WEIGHTS),
        weighted_forest(class_weight="balanced").fit(X, NAMES).set_params(class_weight=None),
        ExtraTreesClassifier(3, bootstrap=True).fit(X, NAMES, sample_weight=WEIGHTS),
        BaggingClassifier(DecisionTreeClassifier(), 3).fit(X, NAMES, sample_weight=WEIGHTS),
    ],
    ids=["balanced", "dict", "sample", "both", "hidden", "extra trees", "bagged trees"],
)
@pytest.mark.parametrize("declared", [False, True])
def test_ensembles_fitted_with_weights_are_refused(ensemble, declared):
    with pytest.raises(ValueError, match=WEIGHTED):
        certify_oob(ensemble, X, NAMES, members_saw_only_their_bags=declared)


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8), reason="weights need members that take them"
)
def test_bags_drawn_by_weight_are_refused_whatever_the_members():
    ensemble = BaggingClassifier(KNeighborsClassifier(), 3).fit(X, NAMES, sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match=WEIGHTED):
        certify_oob(ensemble, X, NAMES, members_saw_only_their_bags=True)


def test_bags_that_are_not_the_trees_own_are_refused():
    forest = RandomForestClassifier(3, random_state=0).fit(X, NAMES)
    order = np.random.default_rng(0).permutation(90)
    changed = NAMES.copy()
    changed[:2] = "bee", "cow"
    for rows, labels in [(X[order], NAMES[order]), (X, changed), (X + 0.5, NAMES)]:
        with pytest.raises(ValueError, match="exactly the rows"):
            certify_oob(forest, rows, labels)
    seen_all = RandomForestClassifier(3, bootstrap=False, random_state=0).fit(X, NAMES)
    seen_all._n_samples_bootstrap = 90
    with pytest.raises(ValueError, match="exactly the rows"):
        certify_oob(seen_all.set_params(bootstrap=True), X, NAMES)


def test_a_leaf_remembers_how_many_rows_it_holds():
    """The same weight of each class in every leaf, but of other rows."""
    (member,) = panel_of(RandomForestClassifier(1, max_depth=1, bootstrap=False).fit(X, NAMES)).members
    weights = np.ones(90)
    rows = X.astype(np.float32)
    assert _leaves_hold(member, rows, Y, weights)
    leaves = member.estimator.apply(rows)
    first, second = np.flatnonzero((leaves == leaves[0]) & (Y[0] == Y))[:2]
    weights[first], weights[second] = 2, 0
    assert not _leaves_hold(member, rows, Y, weights)


def test_warm_starts_are_fine_on_the_same_rows_only():
    forest = RandomForestClassifier(2, warm_start=True, random_state=0).fit(X, NAMES)
    assert certify_oob(forest.set_params(n_estimators=4).fit(X, NAMES), X, NAMES).terms.n_voters == 4
    forest.set_params(n_estimators=5).fit(X[::-1], NAMES[::-1])
    with pytest.raises(ValueError, match="several fits"):
        certify_oob(forest, X, NAMES)

    bagging = BaggingClassifier(KNeighborsClassifier(), 2, warm_start=True).fit(X, NAMES)
    with pytest.raises(ValueError, match="warm_start=False"):
        certify_oob(bagging, X, NAMES)
    bagging.set_params(n_estimators=4).fit(X, NAMES)
    with pytest.raises(ValueError, match="remembers 2 bags of its 4 members"):
        out_of_bag_votes(bagging, X)


def test_derived_ensembles_are_refused():
    ensemble = OwnBagging(DecisionTreeClassifier(), 3).fit(X, NAMES)
    with pytest.raises(TypeError, match="OwnBagging may look at the rows"):
        certify_oob(ensemble, X, NAMES, members_saw_only_their_bags=True)


class UnweightedTree(DecisionTreeClassifier):
    def fit(self, X, y):
        return super().fit(X, y)


@pytest.mark.parametrize("tree", [OwnTree(), UnweightedTree()])
def test_forests_of_other_members_are_refused(tree):
    """A forest hands all rows to its members, whatever their fit takes."""
    forest = RandomForestClassifier(3, random_state=0)
    forest.estimator = tree
    with pytest.raises(ValueError, match=ALL_ROWS):
        certify_oob(forest.fit(X, NAMES), X, NAMES)


def test_trees_with_criteria_of_their_own_are_refused():
    for setting in ("criterion", "splitter"):
        ensemble = bagged(DecisionTreeClassifier())
        setattr(ensemble.estimators_[1], setting, object())
        with pytest.raises(ValueError, match=f"Member 1 .* {ALL_ROWS}"):
            certify_oob(ensemble, X, NAMES)


def test_rows_and_labels_of_different_length_are_refused():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        certify_oob(RandomForestClassifier(3).fit(X, NAMES), X[:-1], NAMES)


def test_a_declaration_is_kept_and_printed():
    ensemble = bagged(GaussianNB())
    certificate = certify_oob(ensemble, X, NAMES, weights="learn", members_saw_only_their_bags=True)
    assert certificate.origin == "learned"
    (declaration,) = certificate.declared
    assert "GaussianNB" in declaration
    assert "declared, not checked" in declaration
    again = Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.intact
    assert again.declared == (declaration,)
    assert declaration in json.loads(certificate.to_json())["assumptions"]
    assert declaration in certificate.to_markdown()
    assert again.verify(out_of_bag_votes(ensemble, X), NAMES)


def test_a_prior_may_be_learned_out_of_bag_from_any_members():
    """Fitting rows do not certify, so that what members saw of them does no harm."""
    ensemble = BaggingClassifier(GaussianNB(), 3, random_state=0)
    classifier = CertifiedVotingClassifier(ensemble, prior="oob", random_state=0).fit(X, NAMES)
    assert classifier.certificate_.is_guarantee


@pytest.mark.parametrize("kind", SIMULATION["KINDS"])
@pytest.mark.filterwarnings("ignore")
def test_only_members_that_saw_their_bags_alone_are_certified(kind):
    certified, fit = SIMULATION["KINDS"][kind]
    rows, labels = SIMULATION["draw"](100, SIMULATION["LOUD"], 0)
    assert SIMULATION["is_certified"](fit(rows, labels, 0), rows, labels) == certified


def test_certified_members_keep_their_word():
    """A small run of the simulation of ``benchmarks/out_of_bag.py``, in a world with known errors."""
    runs = 8

    def simulate(kind):
        return SIMULATION["simulate"](SIMULATION["KINDS"][kind][1], SIMULATION["LOUD"], 300, runs)

    for kind in ("random forest", "trees"):
        found = simulate(kind)
        assert found["risk"] < 1
        assert max(found["broken"], found["halves broken"]) <= SIMULATION["limit"](runs)
    lied = simulate("frozen neighbour")
    assert lied["broken"] > SIMULATION["limit"](runs)
    assert lied["certified"] == 0

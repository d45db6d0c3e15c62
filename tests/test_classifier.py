from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from votecert import CertifiedVotingClassifier, DecisionStumps

FOREST = RandomForestClassifier(10, random_state=0)


@parametrize_with_checks(
    [
        CertifiedVotingClassifier(FOREST, random_state=0),
        CertifiedVotingClassifier(FOREST, voting="soft", random_state=0),
        CertifiedVotingClassifier(FOREST, objective="uniform", random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def panel():
    return VotingClassifier(
        [
            ("tree", DecisionTreeClassifier(random_state=0)),
            ("bayes", GaussianNB()),
            ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
        ]
    )


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("prior", ["auto", "cv", "split", "none"])
def test_predict_is_the_certified_vote_on_strings(voting, prior):
    X, y = load_wine(return_X_y=True)
    names = np.array(["red", "rosé", "white"])[y]
    classifier = CertifiedVotingClassifier(panel(), voting=voting, prior=prior, random_state=0).fit(X, names)
    certificate = classifier.certificate_
    assert certificate.predictor.kind == voting
    assert set(classifier.predict(X)) <= set(names)
    shares = classifier.predict_proba(X)
    assert shares.shape == (len(X), 3)
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.mean(classifier.classes_[shares.argmax(axis=1)] == classifier.predict(X)) > 0.99
    assert classifier.weights_.shape == (3,)
    assert len(classifier.voters_) == 3
    assert certificate.verify()


def test_out_of_bag_votes_cost_no_certifying_rows():
    X, y = load_breast_cancer(return_X_y=True)
    fitted = CertifiedVotingClassifier(FOREST, prior="oob", random_state=0).fit(X, y)
    choice = fitted.certificate_.terms.choice
    assert choice["list"] == "other"
    assert fitted.certificate_.terms.n_rows == round(0.5 * len(y))


@pytest.mark.parametrize(
    "ensemble",
    [
        BaggingClassifier(DecisionTreeClassifier(), 8, max_features=0.5, random_state=0),
        AdaBoostClassifier(n_estimators=8, random_state=0),
        make_pipeline(StandardScaler(), RandomForestClassifier(8, random_state=0)),
    ],
)
def test_ensembles_of_all_kinds(ensemble):
    X, y = load_breast_cancer(return_X_y=True)
    fitted = CertifiedVotingClassifier(ensemble, random_state=0).fit(X, y)
    assert fitted.certificate_.risk < 0.25
    assert fitted.score(X, y) > 0.9


def test_a_frozen_ensemble_is_certified_on_all_rows():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X[::2], y[::2])
    fitted = CertifiedVotingClassifier(FrozenEstimator(forest), random_state=0).fit(X[1::2], y[1::2])
    assert fitted.certificate_.terms.n_rows == len(y[1::2])
    assert fitted.voters_ == list(forest.estimators_)


def test_stumps_with_declared_ranges_use_all_rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    stumps = DecisionStumps(n_thresholds=5, ranges=[(-1, 1), (-1, 1)])
    fitted = CertifiedVotingClassifier(stumps, random_state=0).fit(X, y)
    assert fitted.certificate_.terms.n_rows == 300
    assert fitted.certificate_.risk < 0.2


def test_works_in_searches_and_pipelines_and_is_deterministic():
    X, y = load_iris(return_X_y=True)
    classifier = CertifiedVotingClassifier(RandomForestClassifier(5, random_state=0), random_state=0)
    search = GridSearchCV(classifier, {"estimator__max_depth": [1, 3], "delta": [0.05]}, cv=2).fit(X, y)
    assert search.best_params_["delta"] == 0.05
    assert cross_val_score(make_pipeline(StandardScaler(), classifier), X, y, cv=2).mean() > 0.8
    first, second = clone(classifier).fit(X, y), clone(classifier).fit(X, y)
    assert first.certificate_ == second.certificate_
    assert pickle.loads(pickle.dumps(first)).certificate_ == first.certificate_


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_keep_feature_names(library):
    frames = pytest.importorskip(library)
    X, y = load_iris(return_X_y=True)
    table = frames.DataFrame({f"f{k}": X[:, k] for k in range(4)})
    fitted = CertifiedVotingClassifier(FOREST, random_state=0).fit(table, y)
    assert fitted.feature_names_in_.tolist() == ["f0", "f1", "f2", "f3"]
    assert fitted.predict(table).shape == (150,)


def test_sample_weights_go_to_the_members_only():
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.where(y == 0, 1.0, 1e-6)
    fitted = CertifiedVotingClassifier(FOREST, random_state=0).fit(X, y, sample_weight=weight)
    plain = CertifiedVotingClassifier(FOREST, random_state=0).fit(X, y)
    assert fitted.certificate_.terms.n_rows == plain.certificate_.terms.n_rows
    assert not np.array_equal(fitted.predict(X), plain.predict(X))


def test_another_bound_can_certify_learned_weights():
    X, y = make_classification(600, random_state=0)
    fitted = CertifiedVotingClassifier(FOREST, objective="f2", bound="dirichlet", random_state=0).fit(X, y)
    assert fitted.certificate_.bound == "dirichlet"
    assert fitted.certificate_.risk < 1


def test_bad_parameters_say_what_to_do():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="certify_size"):
        CertifiedVotingClassifier(FOREST, certify_size=1.5).fit(X, y)
    with pytest.raises(ValueError, match="two classes"):
        CertifiedVotingClassifier(FOREST).fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="hard votes"):
        CertifiedVotingClassifier(FOREST, voting="soft", prior="oob").fit(X, y)

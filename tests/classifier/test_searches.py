"""Parameter searches: inside they are part of the fit, around they choose on the rows that certify."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from votecert import Certificate, CertifiedVotingClassifier

FOREST = RandomForestClassifier(5, random_state=0)
CLASSIFIER = CertifiedVotingClassifier(FOREST, random_state=0)
GRID = {"estimator__max_depth": [1, 2, 3, None]}
PAID = r"chose among 4 candidates .* 1/4 of delta.*CertifiedVotingClassifier\(\w+SearchCV\(\.\.\.\)\)"


class OwnSearch(GridSearchCV):
    """A search whose candidates may depend on anything."""


def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(CLASSIFIER, {**GRID, "delta": [0.05]}, cv=2),
        RandomizedSearchCV(CLASSIFIER, GRID, n_iter=4, cv=2, random_state=0, n_jobs=2),
        GridSearchCV(
            make_pipeline(StandardScaler(), CLASSIFIER),
            {f"certifiedvotingclassifier__{name}": values for name, values in GRID.items()},
            cv=2,
        ),
    ],
    ids=["grid", "random", "pipeline"],
)
def test_a_search_around_is_paid_for(search):
    X, y = cancer()
    with pytest.warns(UserWarning, match=PAID) as said, parallel_config("threading"):
        search.fit(X, y)
    assert len(said) == 1  # and not one a fold
    best = search.best_estimator_
    best = best[-1] if hasattr(best, "steps") else best
    paid = best.certificate_
    assert len(paid.notes) == 1
    assert paid.delta == 0.05
    assert sum(paid.ledger.values()) == pytest.approx(0.05, rel=1e-12)
    assert paid.terms.delta < 0.05 / 4 * 1.001
    assert paid.verify(best.votes(X), y).problems  # not all rows certify
    assert paid.verify()
    assert Certificate.from_json(paid.to_json()) == paid


def test_halving_counts_all_that_was_tried():
    X, y = cancer()
    search = HalvingGridSearchCV(CLASSIFIER, GRID, cv=2, random_state=0)
    with pytest.warns(UserWarning, match="HalvingGridSearchCV chose among [4-9] candidates"):
        search.fit(X, y)
    assert search.best_estimator_.certificate_.terms.delta <= 0.05 / 4


@pytest.mark.parametrize(
    "search",
    [OwnSearch(CLASSIFIER, GRID, cv=2), GridSearchCV(CLASSIFIER, {"delta": [0.01, 0.1]}, cv=2)],
    ids=["own", "delta"],
)
def test_what_cannot_be_paid_for_is_void(search):
    X, y = cancer()
    with pytest.warns(UserWarning, match="voids the certificate"):
        search.fit(X, y)
    assert "voids the certificate" in search.best_estimator_.certificate_.to_markdown()


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_where_nothing_was_chosen():
    X, y = cancer()
    plain = CLASSIFIER.fit(X, y).certificate_
    assert GridSearchCV(CLASSIFIER, {"delta": [0.05]}, cv=2).fit(X, y).best_estimator_.certificate_ == plain
    cross_val_score(CLASSIFIER, X, y, cv=2)
    folds = cross_validate(CLASSIFIER, X, y, cv=2, return_estimator=True)["estimator"]
    assert not any(one.certificate_.notes for one in folds)
    inside = GridSearchCV(FOREST, {"max_depth": [1, None]}, cv=2)
    assert not CertifiedVotingClassifier(inside, random_state=0).fit(X, y).certificate_.notes
    assert GridSearchCV(CLASSIFIER, GRID, cv=2, refit=False).fit(X, y).best_params_


class Coin(ClassifierMixin, BaseEstimator):
    """Answers by a coin that was tossed for each row in advance; its risk is one half."""

    def __init__(self, seed=0):
        self.seed = seed

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.random.default_rng(self.seed).integers(2, size=10_000)[np.asarray(X)[:, 0].astype(int)]


def test_certificates_of_searched_classifiers_hold():
    """Among many coins one is lucky on these rows: without payment its certificate is wrong."""
    coins = [FrozenEstimator(VotingClassifier([("coin", Coin(seed))])) for seed in range(15)]
    for coin in coins:
        coin.estimator.fit([[0], [1]], [0, 1])
    wrong, unpaid, repeats = 0, 0, 25
    rng = np.random.default_rng(0)
    for _ in range(repeats):
        X, y = rng.choice(10_000, size=(60, 1), replace=False), rng.integers(2, size=60)
        everything = [(np.arange(60), np.arange(60))]
        search = GridSearchCV(CertifiedVotingClassifier(), {"estimator": coins}, cv=everything)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            best = search.fit(X, y).best_estimator_
            wrong += best.certificate_.risk < 0.5
            unpaid += clone(best).fit(X, y).certificate_.risk < 0.5
    limit = binom.isf(1e-9, repeats, 0.05)
    assert wrong <= limit < unpaid

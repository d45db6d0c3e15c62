"""From rows to a certificate that keeps its word: worlds whose true errors are known exactly.

A world is a finite set of rows; data are draws from it with replacement, so the true error of a classifier is
its error on the whole set. A true error may lie above the certificate in a share delta of the draws.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from draws import violated_too_often
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from votecert import Certificate, CertifiedVotingClassifier, DecisionStumps, collect_votes
from votecert.certificate.out_of_bag import certify_oob
from votecert.datasets import load

DELTA = 0.1
DRAWS = 16


@cache
def world(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "noisy":
        return make_classification(300, 6, n_informative=4, n_classes=3, flip_y=0.4, random_state=0)
    data = load(name)
    return data.X, data.y


def broken(name: str, certified, n_rows: int = 200) -> bool:
    """Whether the true error lies above the certificate in too many draws."""
    X, y = world(name)

    def violated(seed: int) -> bool:
        rows = np.random.default_rng(seed).integers(len(y), size=n_rows)
        certificate, votes = certified(X[rows], y[rows], X, seed)
        return np.mean(certificate.predict(votes) != y) > certificate.risk

    return violated_too_often(map(violated, range(DRAWS)), DRAWS, DELTA)


def fitted_with(estimator, **options):
    def certified(X, y, everything, seed):
        classifier = CertifiedVotingClassifier(estimator, delta=DELTA, random_state=seed, **options).fit(X, y)
        return classifier.certificate_, classifier.votes(everything)

    return certified


FOREST = RandomForestClassifier(9, random_state=0)
PANEL = VotingClassifier(
    [("tree", DecisionTreeClassifier(max_depth=3)), ("bayes", GaussianNB()), ("line", LogisticRegression())]
)


@pytest.mark.parametrize(
    ("name", "certified"),
    [
        ("noisy", fitted_with(FOREST)),
        ("noisy", fitted_with(FOREST, voting="soft")),
        ("noisy", fitted_with(FOREST, objective="uniform")),
        ("noisy", fitted_with(FOREST, prior="oob")),
        ("noisy", fitted_with(FOREST, objective="fo")),
        ("noisy", fitted_with(PANEL)),
        ("tictactoe", fitted_with(DecisionStumps(2))),
        ("tictactoe", fitted_with(DecisionStumps(2, ranges=(-1, 1)))),
    ],
    ids=["hard", "soft", "uniform", "oob", "fo", "panel", "stumps", "fixed stumps"],
)
def test_certificates_keep_their_word(name, certified):
    assert not broken(name, certified)


def test_out_of_bag_certificates_keep_their_word():
    def certified(X, y, everything, seed):
        forest = RandomForestClassifier(9, max_depth=4, random_state=seed).fit(X, y)
        certificate = certify_oob(forest, X, y, weights="learn", delta=DELTA)
        return certificate, collect_votes(forest, everything)

    assert not broken("noisy", certified)


def test_a_classifier_certified_on_its_own_fitting_rows_is_caught():
    """The test above can fail: freezing a forest hides from us that it has seen the rows."""

    def certified(X, y, everything, seed):
        forest = RandomForestClassifier(9, random_state=seed).fit(X, y)
        return fitted_with(FrozenEstimator(forest))(X, y, everything, seed)

    assert broken("noisy", certified)


def test_a_certificate_goes_through_a_file_and_predicts_the_same(tmp_path):
    data = load("breast-cancer")
    classifier = CertifiedVotingClassifier(FOREST, random_state=0).fit(data.X[:400], data.y[:400])
    path = tmp_path / "certificate.json"
    path.write_text(classifier.certificate_.to_json(), encoding="utf-8")
    read = Certificate.from_json(path.read_text(encoding="utf-8"))
    assert read == classifier.certificate_
    assert read.verify()
    new = data.X[400:]
    assert np.array_equal(read.predict(classifier.votes(new)), classifier.predict(new))
    assert np.mean(classifier.predict(new) != data.y[400:]) < read.risk

"""Rows that fit do not certify: where voters and labels toss coins, a leak is a risk below one half."""

from __future__ import annotations

import numpy as np
import pytest
from draws import violated_too_often
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

import votecert as vc
from votecert.rows.split import default_looks, in_fitting_part

DELTA = 0.01
DRAWS = 6


def coins(seed: int, m: int = 120, d: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Votes and labels without any connection: whatever is learned errs half of the time."""
    rng = np.random.default_rng([seed, m])
    return rng.integers(2, size=(m, d)), rng.integers(2, size=m)


def check(certificate) -> None:
    """Of a seed: it must not often say less than one half."""
    assert not violated_too_often((certificate(seed).risk < 0.5 for seed in range(DRAWS)), DRAWS, DELTA)


def test_a_list_that_was_fitted_on_some_rows_is_certified_on_the_others():
    check(lambda seed: vc.certify(*coins(seed), classes=[0, 1], delta=DELTA))


@pytest.mark.parametrize("m", [120, 300])
def test_a_voter_that_copies_the_label_on_the_fitting_rows_only_gains_nothing(m):
    """Every kind of vote believes it, and is wrong half of the time where it counts."""

    def certificate(seed):
        votes, y = coins(seed, m)
        fits = in_fitting_part(len(y), default_looks(*votes.shape, 2)[0], 0)
        votes[fits, 0] = y[fits]
        return vc.certify(votes, y, classes=[0, 1], delta=DELTA, validate=False)

    check(certificate)


def test_copies_of_voters_gain_nothing():
    """As many voters as before, but only four that differ: what they say together is no better."""

    def certificate(seed):
        votes, y = coins(seed)
        return vc.certify(votes[:, np.arange(80) % 4], y, classes=[0, 1], delta=DELTA, validate=False)

    check(certificate)


@pytest.mark.parametrize("m", [60, 120])
def test_rows_without_labels_gain_nothing_where_nobody_knows_anything(m):
    others = coins(99, m=300)[0]
    check(lambda seed: vc.certify(*coins(seed, m), classes=[0, 1], delta=DELTA, prior_votes=others))


def test_a_list_for_other_rows_is_fitted_on_them():
    def certificate(seed):
        other = dict(zip(("prior_votes", "prior_y"), coins(seed, m=150), strict=True))
        return vc.certify(*coins(seed), classes=[0, 1], delta=DELTA, **other)

    check(certificate)


@pytest.mark.parametrize("prior", ["split", "cv"])
def test_a_classifier_certifies_on_rows_that_fitted_nothing(prior):
    def certificate(seed):
        rng = np.random.default_rng(seed)
        members = BaggingClassifier(DecisionTreeClassifier(), 9, max_samples=0.8, random_state=0)
        model = vc.CertifiedVotingClassifier(members, delta=DELTA, prior=prior, random_state=0)
        return model.fit(rng.normal(size=(150, 4)), rng.integers(2, size=150)).certificate_

    check(certificate)

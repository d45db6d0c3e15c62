"""Certificates of groups: each with its share of delta, by a vote that was not fitted on its rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

import votecert as vc
from votecert.bounds.occam import Occam

DELTA = 0.03


def limit(errors: int, rows: int, level: float) -> float:
    """Clopper and Pearson's limit."""
    return 1.0 if errors == rows else float(beta.isf(level, errors + 1, rows - errors))


@pytest.fixture(scope="module")
def weak_voters():
    """Many weak voters of differing quality: a fitted vote beats every simple one. Three groups."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    skills = np.where(np.arange(60) < 20, 0.66, 0.52)
    votes = np.where(rng.random((3000, 60)) < skills, y[:, None], 1 - y[:, None])
    return votes, y, np.array(["a", "b", "c"])[rng.integers(3, size=3000)]


@pytest.fixture(scope="module")
def learned(weak_voters):
    votes, y, groups = weak_voters
    return vc.certify(votes, y, groups=groups, delta=DELTA, random_state=1)


def test_a_fixed_vote_has_clopper_and_pearsons_limit_at_a_share_of_delta(weak_voters):
    votes, y, groups = weak_voters
    for certificate in vc.certify(votes, y, weights="uniform", groups=groups, delta=DELTA):
        rows = groups == certificate.group
        errors = int(np.count_nonzero((votes[rows].sum(axis=1) > 30) != y[rows]))
        assert certificate.delta == pytest.approx(DELTA / 3, rel=1e-12)
        assert certificate.risk == pytest.approx(limit(errors, int(rows.sum()), DELTA / 3), rel=1e-10)


def test_a_learned_vote_pays_its_prior_out_of_the_share_of_its_group(weak_voters, learned):
    votes, y, groups = weak_voters
    for certificate in learned:
        vote, rows = certificate.predictor, groups == certificate.group
        errors = int(np.count_nonzero(certificate.predict(votes[rows]) != y[rows]))
        level = DELTA / 3 * float(Occam().prior.probability(vote.votes, vote.offsets))
        assert certificate.delta == pytest.approx(DELTA / 3, rel=1e-12)
        assert certificate.risk == pytest.approx(limit(errors, int(rows.sum()), level), rel=1e-9)
        assert certificate.verify(votes[rows], y[rows])


def test_without_groups_a_fitted_vote_wins(weak_voters):
    """So that the tests above and below are about something."""
    votes, y, _ = weak_voters
    whole = vc.certify(votes, y, delta=DELTA, random_state=1)
    assert whole.terms.choice["statement"] == "list"


def test_no_group_is_certified_by_a_list_that_was_fitted_on_some_of_the_rows(learned):
    for certificate in learned:
        assert certificate.terms.choice["statement"] == "whole"
        assert certificate.terms.choice["list"] == "none"
        assert "fitted list" not in certificate.ledger


def test_a_group_with_such_a_list_does_not_verify(weak_voters):
    """Which rows of the group it was fitted on is not what a split of the group's rows says."""
    votes, y, _ = weak_voters
    whole = vc.certify(votes, y, delta=DELTA, random_state=1)
    assert whole.verify()
    assert not replace(whole, group="a").verify()

"""Certificates of groups: each with its share of delta, by a vote that was not fitted on its rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, binom

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


def precise_votes(rng, m, soft=False):
    y = rng.integers(3, size=m)
    votes = np.where(rng.random((m, 5)) < 0.7, y[:, None], rng.integers(3, size=(m, 5)))
    return (np.eye(3)[votes] if soft else votes), y


@pytest.mark.parametrize("soft", [False, True])
def test_groups_by_what_the_vote_says_are_those_of_predict(soft):
    rows, y = precise_votes(np.random.default_rng(0), 600, soft)
    given = {"scores": rows} if soft else {"votes": rows}
    table = vc.certify(y=y, weights="uniform", groups="predicted", classes=[0, 1, 2], **given)
    assert [one.group for one in table] == ["0", "1", "2"]
    for one in table:
        said = one.predict(rows) == int(one.group)
        assert one.terms.n_rows == said.sum()
        assert one.delta == pytest.approx(0.05 / 3)
        assert one.verify(rows[said], y[said])
        assert any("answer that the vote gives" in line for line in one.assumptions)


def test_a_class_that_is_never_said_keeps_its_share():
    votes, y = np.zeros((200, 3), dtype=int), np.arange(200) % 2
    table = vc.certify(votes, y, weights="uniform", groups="predicted")
    assert [one.group for one in table] == ["0"]
    assert table[0].delta == 0.025
    assert "Never said on these rows: 1" in repr(table)
    mixed = votes.astype(object)
    mixed[:50] = None  # nobody votes, and predict answers with the first class
    assert vc.certify(mixed, y, weights="uniform", groups="predicted")["0"].terms.n_rows == 200


def test_several_groupings_at_once_share_delta():
    pandas = pytest.importorskip("pandas")
    votes, y = precise_votes(np.random.default_rng(1), 300)
    site = pandas.Series(np.where(np.arange(300) % 3, "a", "b"), name="site")
    table = vc.certify(votes, y, weights="uniform", groups=["class", "predicted", site])
    names = ["class: 0", "class: 1", "class: 2", *(f"predicted: {k}" for k in range(3)), "site: a", "site: b"]
    assert [one.group for one in table] == names
    assert sum(one.delta for one in table) == pytest.approx(0.05)
    assert table["site: a"].delta == pytest.approx(0.05 / 3 / 2)
    named = vc.certify(votes, y, weights="uniform", groups={"said": "predicted", "true": "class"})
    assert named["said: 1"].errors == table["predicted: 1"].errors
    learned = vc.certify(votes, y, groups=["class", "predicted"])
    assert len({one.predictor for one in learned}) == 1
    assert all(one.verify() for one in learned)


def test_groups_by_what_the_vote_says_need_a_bound_that_counts_errors():
    votes, y = precise_votes(np.random.default_rng(2), 100)
    with pytest.raises(ValueError, match="bound='occam'"):
        vc.certify(votes, y, weights=[0.2] * 5, groups="predicted")
    assert vc.certify(votes, y, weights=[0.2] * 5, groups="predicted", bound="occam")
    with pytest.raises(ValueError, match="'class', 'predicted' or"):
        vc.certify(votes, y, weights="uniform", groups="predictd")


def test_precision_is_missed_no_more_often_than_allowed():
    """A learned vote chooses what it says; each class pays for that."""
    rng, delta, draws, missed = np.random.default_rng(3), 0.2, 40, 0
    for _ in range(draws):
        y = rng.integers(2, size=60)
        votes = rng.integers(2, size=(60, 6))  # coins: whatever is said is wrong half of the time
        table = vc.certify(votes, y, groups="predicted", delta=delta, classes=[0, 1], can_abstain=False)
        missed += any(one.risk < 0.5 for one in table)
    assert missed <= binom.isf(1e-9, draws, delta)

"""Sentences name the vote that is certified, no other, and numbers are never printed too small."""

from __future__ import annotations

import numpy as np
import pytest

import votecert as vc
from votecert.bounds.dirichlet import Dirichlet
from votecert.bounds.partition import Partition
from votecert.certificate.text import percent, rounded_up


def one_good_voter(m=400):
    """The first voter is always right, the three others are alike and wrong on more than a third."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=m)
    others = np.where(rng.random(m) < 0.36, 1 - y, y)
    return np.column_stack([y, others, others, others]), y


def test_weights_that_were_rounded_are_named():
    votes, y = one_good_voter()
    weights = [0.28, 0.24, 0.24, 0.24]
    certificate = vc.certify(votes, y, weights=weights, bound="occam")
    assert certificate.predictor.votes == (1, 0, 0, 0)
    assert certificate.risk < 0.1 < np.mean((votes[:, 1:] == y[:, None]).mean(axis=1) < 0.5)
    sentence = certificate.statement
    assert "with given weights" not in sentence
    assert "voter number 1 alone, of 4 voters, with the given weights rounded" in sentence
    assert "to whole numbers: 1, 0, 0, 0" in sentence
    best = vc.certify(votes, y, weights=weights, bound="best")
    compared = vc.compare(votes, y, weights=weights, bounds=["occam"])["occam"]
    for other in (best, compared):
        assert other.bound == "occam"
        assert "rounded to whole numbers: 1, 0, 0, 0" in other.statement
    assert "rounded to whole numbers" in certificate.to_markdown()


def test_other_bounds_keep_the_weights_as_they_are():
    votes, y = one_good_voter()
    sentence = vc.certify(votes, y, weights=[0.28, 0.24, 0.24, 0.24]).statement
    assert "the hard vote of 4 voters with given weights" in sentence


def test_groups_share_one_rounding():
    """Each group by itself would round in its own way: in one the first voter is the better one."""
    y = np.arange(400) // 2 % 2
    groups = np.where(np.arange(400) % 2, "odd", "even")
    wrong = (np.arange(400) % 10 < 4) & (y == 0)
    votes = np.column_stack([y, y, y])
    votes[wrong & (groups == "odd"), 1:] = 1
    votes[wrong & (groups == "even"), 0] = 1
    options = {"weights": [0.4, 0.3, 0.3], "bound": "occam"}
    parts = {name: (votes[groups == name], y[groups == name]) for name in ("odd", "even")}
    alone = {name: vc.certify(*part, **options).predictor for name, part in parts.items()}
    assert alone["odd"] != alone["even"]
    table = vc.certify(votes, y, groups=groups, **options)
    assert table["odd"].predictor == table["even"].predictor
    assert all(table[name].verify(*part) for name, part in parts.items())


def test_one_voter_with_all_the_weight_is_called_by_name():
    votes, y = one_good_voter()
    names = ["w1730", "w2", "w3", "w4"]
    certificate = vc.certify(votes, y, voters=names, split=0)
    assert "voter w1730 alone, of 4 voters, with learned weights" in certificate.statement
    assert "Voter w1730 alone" in certificate.to_markdown()


def test_some_voters_with_weight_are_counted():
    votes, y = one_good_voter()
    sentence = vc.certify(votes, y, weights=[0.5, 0.5, 0, 0], bound="occam").statement
    assert "the hard vote of 2 of 4 voters" in sentence


def test_a_vote_that_always_answers_the_same_says_so():
    y = np.array([1] * 195 + [0] * 5)
    votes = np.random.default_rng(0).integers(2, size=(200, 3))
    sentence = vc.certify(votes, y, split=0).statement
    assert "the answer 1 to everything, which outvotes all 3 voters" in sentence


@pytest.mark.parametrize("risk", [0.1, 0.1 + 5e-14, 0.12341, 1e-9, 0.99999, 1.0, 0.3 + 1e-16])
def test_printed_numbers_are_not_below_the_risk(risk):
    assert float(rounded_up(risk)) >= risk
    assert float(percent(risk).removesuffix(" %")) / 100 >= risk * (1 - 1e-15)
    assert float(rounded_up(risk)) <= risk + 1e-4


def complementary(m=200):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=m)
    first = np.where(rng.random(m) < 0.9, y, 1 - y)
    return np.column_stack([first, 1 - first, first]), y


@pytest.mark.parametrize("bound", [Dirichlet, Partition])
def test_declared_complements_are_stated_and_checked(bound):
    votes, y = complementary()
    weights = [0.5, 0.2, 0.3]
    certificate = vc.certify(votes, y, weights=weights, bound=bound(complements=((0, 1),)))
    assert any("at most one is right" in line for line in certificate.assumptions)
    outcome = certificate.verify(votes, y)
    assert outcome
    assert any("complements" in line for line in outcome.on_trust)
    with pytest.raises(ValueError, match="both are right on"):
        vc.certify(votes, y, weights=weights, bound=bound(complements=((0, 2),)))
    with pytest.raises(ValueError, match="places from 0 to 2"):
        vc.certify(votes, y, weights=weights, bound=bound(complements=((0, 3),)))


def test_a_chance_that_rounds_to_zero_is_vacuous():
    """Around another centre a sampled vote may never err where theta does; that is no bound, and no error."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=50)
    votes = np.column_stack([y, 1 - y, y])
    rows = vc.Ballots.from_votes(votes, y)
    choice = {"concentration": 1e8, "margin": 0.0, "prior_scale": 1.0, "smoothed": 1.0}
    found = Dirichlet().at(rows, np.array([0.5 - 1e-6, 0.5 + 1e-6, 0.0]), 0.05, choice)
    assert found.risk == 1.0
    assert found.details["error_chance"] == 0.0

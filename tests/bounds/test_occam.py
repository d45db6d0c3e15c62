"""The ``occam`` bound: exact against many digits, honest about its masses, valid for learned votes."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from draws import violated_too_often
from hypothesis import given, settings
from hypothesis import strategies as st

from votecert.bounds.base import Terms
from votecert.bounds.occam import (
    MEMBERS,
    NO_LIST,
    FittedMass,
    Occam,
    counted_votes,
    whole_choice,
)
from votecert.bounds.occam_prior import OccamPrior
from votecert.learning.whole_votes import WholeVotes
from votecert.numerics import exact
from votecert.numerics.binomial import clopper_pearson_upper
from votecert.rows.ballots import Ballots
from votecert.rows.scores import Scores
from votecert.rows.split import STREAM, STREAM_OF_0_1, in_fitting_part
from votecert.rows.vote_sums import total_votes

SPLIT = {"list": "split", "split": 0.25, "seed": 0}


CERTIFYING, CERTIFYING_IN_0_1 = (
    1000 - int(in_fitting_part(1000, SPLIT["split"], SPLIT["seed"], stream=stream).sum())
    for stream in (STREAM, STREAM_OF_0_1)
)


def terms_of(choice, errors: int, rows: int, delta: float = 0.05) -> Terms:
    votes = np.array(choice["votes"])
    return Terms(
        n_rows=rows,
        n_voters=len(votes),
        n_classes=len(choice["offsets"]),
        n_outputs=len(choice["offsets"]),
        delta=delta,
        weights=tuple(votes / votes.sum()),
        choice=choice,
        statistics={"errors": errors, "rows": rows, "ties": 0},
    )


@settings(max_examples=60, deadline=None)
@given(
    votes=st.lists(st.integers(0, 12), min_size=1, max_size=10).filter(any),
    offsets=st.lists(st.integers(0, 3), min_size=2, max_size=4),
    rows=st.integers(1, 5000),
    share=st.floats(0, 1),
    delta=st.sampled_from([1e-6, 0.05, 0.5]),
    declared=st.sampled_from([NO_LIST, SPLIT]),
)
def test_outward_against_forty_digits(votes, offsets, rows, share, delta, declared):
    choice = whole_choice(np.array(votes), np.array(offsets), declared=declared)
    terms = terms_of(choice, errors=int(share * rows), rows=rows, delta=delta)
    outward = Occam().from_terms(terms).risk
    precise = min(1, Occam().formula(exact(40), terms).risk)
    assert precise <= outward <= precise + 1e-11


def test_fitted_votes_cost_their_share_and_nothing_for_their_numbers():
    for member, share in MEMBERS.items():
        choice = whole_choice(np.array([123456, 7, 999]), np.array([0, 31]), declared=SPLIT)
        choice |= {"statement": "list", "member": member}
        rows = CERTIFYING if member == "fitted" else CERTIFYING_IN_0_1
        terms = terms_of(choice, errors=3, rows=rows)
        found = Occam().from_terms(replace(terms, n_rows=1000))
        expected = clopper_pearson_upper(3, rows, math.log(0.05 * 0.55 * share))
        assert found.risk == pytest.approx(float(expected), rel=1e-9)


def test_a_table_belongs_to_the_fitted_vote_and_to_its_influence():
    table = [[[2, 0], [0, 2]], [[0, 0], [0, 6]], [[5, 0], [0, 0]]]
    choice = whole_choice(np.array([2, 3, 3]), np.array([0, 0]), declared=SPLIT) | {"table": table}
    fitted = choice | {"statement": "list", "member": "fitted"}
    terms = replace(terms_of(fitted, errors=3, rows=CERTIFYING), n_rows=1000)
    assert Occam().from_terms(terms).risk < 0.1
    with pytest.raises(ValueError, match="none of the whole-number votes"):
        Occam().from_terms(terms_of(choice, errors=3, rows=1000))
    with pytest.raises(ValueError, match="influence"):
        Occam().from_terms(replace(terms, choice=fitted | {"votes": [3, 2, 3]}))


def test_shares_sum_to_at_most_one():
    assert MEMBERS["fitted"] == 1
    assert sum(share for name, share in MEMBERS.items() if name != "fitted") == 1  # as in version 0.1
    other = NO_LIST | {"list": "other"}
    for declared, mass in ((NO_LIST, 0), (SPLIT, 0.55), (other, 0.95), (other | {"unlabelled": True}, 0.75)):
        fitted = {"statement": "list", "member": "fitted", **declared}
        assert Occam().share(fitted) == Fraction(mass)
        assert Occam().whole_mass(declared) == 1 - Fraction(mass)
        assert Occam(list_mass=0.3).whole_mass(declared) == (1 - Fraction(0.3) if mass else 1)


def test_everybody_is_nearly_the_test_set_bound():
    choice = whole_choice(np.ones(100, dtype=int), np.zeros(2, dtype=int), declared=SPLIT)
    risk = Occam().from_terms(terms_of(choice, errors=2261, rows=13024)).risk
    assert risk < 1.01 * float(clopper_pearson_upper(2261, 13024, math.log(0.05)))


def test_options_are_plain_values_and_make_the_bound_again():
    for mass in (0.1, FittedMass(split=0.4), FittedMass()):
        bound = Occam(prior=OccamPrior(everybody=0.5, single=0.2), list_mass=mass)
        assert Occam(**json.loads(json.dumps(bound.options()))) == bound
    assert set(Occam().options()["list_mass"]) == {"split", "other", "unlabelled"}  # files say what was spent


@pytest.mark.parametrize("mass", [1.0, -0.1, math.nan, FittedMass(other=1.0), {"split": -0.1}])
def test_refuses_a_list_mass_of_one(mass):
    with pytest.raises(ValueError, match="list_mass"):
        Occam(list_mass=mass)


@pytest.mark.parametrize("mass", [None, "0.5", True, FittedMass(split="0.5"), {"apart": 0.5}])
def test_refuses_a_list_mass_that_is_no_number(mass):
    with pytest.raises(TypeError, match=r"list_mass|apart"):
        Occam(list_mass=mass)


def test_a_vote_outside_the_prior_says_nothing():
    choice = whole_choice(np.array([1, 2]), np.array([1, 1]))
    assert Occam().from_terms(terms_of(choice, errors=0, rows=100)).risk == 1.0


def test_all_rows_wrong_gives_one_and_says_why():
    choice = whole_choice(np.array([1]), np.array([0, 0]))
    found = Occam().from_terms(terms_of(choice, errors=9, rows=9))
    assert found.risk == 1.0
    assert "wrong" in found.reason


class TestGivenWeights:
    votes, y = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 0], [1, 0, 1]] * 50), np.array([0, 1, 0, 1] * 50)

    def test_are_rounded_and_the_rounded_vote_is_certified(self):
        ballots = Ballots.from_votes(self.votes, self.y)
        found = Occam().evaluate(ballots, np.array([0.5, 0.3, 0.2]), 0.05)
        votes = found.terms.choice["votes"]
        assert found.terms.weights == tuple(np.array(votes) / sum(votes))
        assert found.terms.statistics["errors"] == ballots.errors(votes)
        assert found.ledger == {"whole-number votes": 0.05}

    def test_voter_order_does_not_matter(self):
        weights, order = np.array([0.47, 0.32, 0.21]), [2, 0, 1]
        one = Occam().evaluate(Ballots.from_votes(self.votes, self.y), weights, 0.05)
        other = Occam().evaluate(Ballots.from_votes(self.votes[:, order], self.y), weights[order], 0.05)
        assert one.risk == other.risk

    def test_soft_votes_too(self):
        scores = np.stack([1 - 0.8 * self.votes, 0.2 + 0.8 * self.votes], axis=-1)
        found = Occam().evaluate(Scores.from_scores(scores, self.y), np.array([0.6, 0.2, 0.2]), 0.05)
        assert found.terms.statistics["errors"] == 0
        assert found.risk < 0.1


def test_the_certifying_rows_of_a_split_are_the_others():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    votes = np.where(rng.random((400, 3)) < 0.8, y[:, None], 1 - y[:, None])
    choice = whole_choice(np.array([3, 2, 2]), np.array([0, 0]), declared=SPLIT)
    choice |= {"statement": "list", "member": "fitted"}
    counted = Occam().measure(Ballots.from_votes(votes, y), np.ones(3) / 3, choice)
    rows = ~in_fitting_part(400, 0.25, 0)
    assert counted["rows"] == rows.sum()
    majority = (votes[rows].sum(axis=1) >= 2).astype(int)
    assert counted["errors"] == np.sum(majority != y[rows])


class Population:
    """A finite population: rows of votes with a probability of label 1, all equally likely."""

    def __init__(self, seed: int, n_points: int, d: int) -> None:
        rng = np.random.default_rng(seed)
        self.votes = rng.integers(2, size=(n_points, d))
        self.one = rng.choice([0.3, 0.5, 0.7], size=n_points)

    def draw(self, rng: np.random.Generator, m: int) -> Ballots:
        points = rng.integers(len(self.votes), size=m)
        labels = (rng.random(m) < self.one[points]).astype(int)
        return Ballots.from_votes(self.votes[points], labels, classes=[0, 1])

    def risk(self, choice) -> float:
        """The exact error of the vote: ties go to class 0."""
        totals = total_votes(self.votes.astype(np.uint8), 2, counted_votes(choice), choice["offsets"])
        return float(np.mean(np.where(totals[:, 1] > totals[:, 0], 1 - self.one, self.one)))


@pytest.mark.parametrize("split", [0.0, 0.25])
def test_learned_certificates_hold(split):
    delta, n_draws = 0.1, 24
    population = Population(seed=1, n_points=400, d=100)
    bound = Occam(OccamPrior(everybody=0.3, single=0.4))  # so that there is much to search

    @cache
    def learned(draw):
        rows = population.draw(np.random.default_rng([2, draw]), 60 if split else 30)
        found = WholeVotes(split=split, random_state=draw).learn(rows, bound, delta)
        return found, population.risk(found.terms.choice)

    def violated(draw):
        found, truth = learned(draw)
        return truth > found.risk

    def unpaid(draw):
        found, truth = learned(draw)
        counted = found.terms.statistics
        return truth > clopper_pearson_upper(counted["errors"], counted["rows"], math.log(delta))

    assert not violated_too_often(map(violated, range(n_draws)), n_draws, delta)
    if split == 0.0:  # the same test catches a certificate that does not pay for the search
        assert violated_too_often(map(unpaid, range(n_draws)), n_draws, delta)


def test_coin_flip_pool():
    # a thousand voters that toss coins, and labels that do: whatever is learned errs half of the time
    delta, n_draws = 0.2, 20

    def below(draw):
        rng = np.random.default_rng([3, draw])
        y = rng.integers(2, size=20)
        ballots = Ballots.from_votes(rng.integers(2, size=(20, 1000)), y, classes=[0, 1])
        return WholeVotes().learn(ballots, Occam(), delta).risk < 0.5

    assert not violated_too_often(map(below, range(n_draws)), n_draws, delta)

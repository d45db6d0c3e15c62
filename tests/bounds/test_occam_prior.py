"""The prior is a sub-probability, exactly, and its fast version for searching agrees with it."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from votecert.bounds.occam_prior import PARTS, OccamPrior, log_of_reciprocal
from votecert.learning._prior_scores import PriorScores
from votecert.numerics import OUTWARD, exact

mpmath = pytest.importorskip("mpmath")

ONE_PART_EACH = [OccamPrior(**{part: float(part == chosen) for part in PARTS}) for chosen in PARTS]


def total_probability(prior: OccamPrior, d: int, c: int, most_votes: int, most_offsets: int) -> Fraction:
    """Sum over all votes up to a size; the order of voters and of classes does not matter (see below)."""
    votes = Counter(tuple(sorted(n)) for n in itertools.product(range(most_votes + 1), repeat=d) if any(n))
    offsets = Counter(tuple(sorted(b)) for b in itertools.product(range(most_offsets + 1), repeat=c))
    pairs = itertools.product(votes.items(), offsets.items())
    return sum((i * j * prior.probability(n, b) for (n, i), (b, j) in pairs), Fraction(0))


@pytest.mark.parametrize("prior", [OccamPrior(), *ONE_PART_EACH], ids=["mixture", *PARTS])
@pytest.mark.parametrize(("d", "c"), [(1, 1), (1, 2), (2, 2), (2, 3), (3, 2)])
def test_sums_to_at_most_one(prior, d, c):
    assert total_probability(prior, d, c, most_votes=6, most_offsets=5) <= 1


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("constants", [0.0, 0.15])
def test_each_part_is_nearly_all_there(part, constants):
    # what is missing are the votes and offsets beyond those enumerated: 1/(t + 1) of them have more than t
    prior = OccamPrior(**{name: float(name == part) for name in PARTS}, constants=constants)
    total = float(total_probability(prior, d=2, c=2, most_votes=20, most_offsets=4 if constants else 3))
    missing = (1 / 21 if part in ("multinomial", "polya") else 1e-5) + constants / 5
    assert 1 - missing - 1e-9 <= total <= 1


def test_everybody_costs_little_and_a_larger_vote_costs_more():
    prior = OccamPrior()
    chances = [prior.probability((v, 1, 1, 0, 0), (0, 0)) for v in (1, 2, 3, 4)]
    assert prior.probability((1,) * 5, (0, 0)) > 0.7
    assert chances == sorted(chances, reverse=True)


def test_the_order_of_voters_and_of_classes_does_not_matter():
    prior = OccamPrior()
    assert prior.probability((3, 0, 1, 2), (0, 2, 1)) == prior.probability((0, 1, 2, 3), (2, 0, 1))


@pytest.mark.parametrize("votes", [(0, 0), (1, -1)])
def test_refuses_votes_that_are_none(votes):
    with pytest.raises(ValueError, match="at least one voter"):
        OccamPrior().probability(votes, (1, 0))


@pytest.mark.parametrize(
    "masses",
    [{"everybody": 0.97}, {"single": -0.1}, {"constants": 1.5}, {"urn": 0.0}, {"urn": math.inf}],
)
def test_refuses_masses_that_are_no_probabilities(masses):
    with pytest.raises(ValueError, match="prior"):
        OccamPrior(**masses)


@settings(max_examples=60, deadline=None)
@given(
    votes=st.lists(st.integers(0, 30), min_size=1, max_size=8).filter(any),
    offsets=st.lists(st.integers(0, 9), min_size=1, max_size=4),
)
def test_fast_version_agrees(votes, offsets):
    probability = OccamPrior().probability(votes, offsets)
    fast = PriorScores(OccamPrior(), len(votes), len(offsets)).of_many(np.array([votes + offsets]))[0]
    expected = float(-log_of_reciprocal(exact(30), probability)) if probability else -math.inf
    assert fast == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    votes=st.lists(st.integers(0, 4), min_size=3, max_size=6).filter(any),
    offsets=st.lists(st.integers(0, 2), min_size=2, max_size=3),
    steps=st.tuples(st.sampled_from([-2, -1, 1, 2]), st.sampled_from([-1, 1])),
)
def test_fast_version_after_changes(votes, offsets, steps):
    scores = PriorScores(OccamPrior(), len(votes), len(offsets))
    vote = np.array(votes + offsets)
    who = np.arange(len(vote))

    def direct(changed):
        possible = changed.min() >= 0 and changed[: len(votes)].any()
        return scores.of_many(changed[None])[0] if possible else -math.inf

    unit = np.eye(len(vote), dtype=int)
    single, double = scores.after(vote, steps), scores.after_pairs(vote, steps, who)
    for i in who:
        np.testing.assert_allclose(single[:, i], [direct(vote + step * unit[i]) for step in steps], atol=1e-9)
        for j in who:
            expected = -math.inf if i == j else direct(vote + steps[0] * unit[i] + steps[1] * unit[j])
            np.testing.assert_allclose(double[i, j], expected, atol=1e-9)


@pytest.mark.parametrize(
    "probability",
    [
        Fraction(1),
        Fraction(7, 10),
        Fraction(1, 3),
        Fraction(1, 7**300),
        Fraction(3, 10**2000),
        Fraction(0.05),
    ],
)
def test_logarithm_is_rounded_up(probability):
    with mpmath.workdps(60):
        truth = mpmath.log(probability.denominator) - mpmath.log(probability.numerator)
        assert abs(log_of_reciprocal(exact(40), probability) - truth) <= 1e-40 * (1 + truth)
        assert truth <= log_of_reciprocal(OUTWARD, probability) <= truth + 1e-14 * (1 + truth)


def test_very_large_votes_have_a_prior():
    assert OccamPrior().probability((10_000, 1), (0, 0)) > 0

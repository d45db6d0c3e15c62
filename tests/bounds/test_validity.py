"""Guarantees hold in simulation, and the checks that say so catch bounds that are broken on purpose."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
import pytest
from checks import (
    FiniteWorld,
    check_coin_flips,
    check_divergence_is_paid,
    check_envelope,
    check_payment,
    check_rounding,
    lucky_weights,
)
from draws import violated_too_often
from problems import ballots, weights

from votecert.bounds import BOUNDS
from votecert.bounds.bin_margin import BinMargin
from votecert.bounds.dirichlet import Dirichlet
from votecert.bounds.dirichlet.margin import DirichletMargin
from votecert.bounds.margins import BiggsGuedjPlus
from votecert.bounds.occam import Occam
from votecert.bounds.test_set import TestSet
from votecert.learning import find_learners
from votecert.rows.predictor import scaled_votes

GUARANTEED = [name for name, bound in BOUNDS.items() if bound.is_guarantee]
LEARNABLE = [name for name in GUARANTEED if name != "test-set"]


@pytest.mark.parametrize("name", LEARNABLE)
def test_lucky_coins_are_not_certified(name):
    check_coin_flips(BOUNDS[name])


@pytest.mark.parametrize("name", LEARNABLE)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_adversarial_weights_on_a_known_distribution(name, n_classes):
    """An adversary who knows the truth looks for weights whose bound is too small."""
    bound, delta, n_draws = BOUNDS[name], 0.05, 12
    world = FiniteWorld(d=8, c=n_classes, n_atoms=40, seed=n_classes)
    if bound.problem_with(world.atoms):
        pytest.skip("the theorem does not cover this problem")
    rng = np.random.default_rng(0)
    candidates = [*rng.dirichlet(np.full(8, 0.3), size=3), np.eye(8)[0], np.full(8, 1 / 8)]

    def violated(rows):
        for theta in [*candidates, *lucky_weights(rows)[:3]]:
            found = bound.evaluate(rows, theta, delta)
            votes = found.terms.choice.get("votes", scaled_votes(theta))
            if found.risk < world.risk(votes, found.terms.choice.get("offsets")):
                return True
        return False

    assert not violated_too_often((violated(world.sample(60, rng)) for _ in range(n_draws)), n_draws, delta)


@pytest.mark.parametrize(
    "name", [name for name in LEARNABLE if name == "occam" or BOUNDS[name].differentiable]
)
def test_learned_weights_on_a_known_distribution(name):
    """The learner is the adversary: it sees the rows and makes the bound as small as it can."""
    delta, n_draws = 0.05, 10
    world = FiniteWorld(d=6, c=2, n_atoms=30, seed=4)
    rng = np.random.default_rng(1)
    (learner,) = find_learners([BOUNDS[name]], {})

    def violated(rows):
        found = learner.learn(rows, BOUNDS[name], delta)
        votes = found.terms.choice.get("votes", scaled_votes(found.terms.weights))
        return found.risk < world.risk(votes, found.terms.choice.get("offsets"))

    assert not violated_too_often((violated(world.sample(50, rng)) for _ in range(n_draws)), n_draws, delta)


PAID = [
    ("bg", {"margins": "margin"}),
    ("bg+", {"margins": "margin"}),
    ("bg++", {"margins": "margin"}),
    ("dirichlet-margin", {"margins": "margin"}),
    ("dirichlet-stochastic", {"margins": "margin"}),
    ("ccpbb", {"offsets": "offset"}),
]


@pytest.mark.parametrize(("name", "single"), PAID)
def test_grids_are_paid_for(name, single):
    rows = ballots("two classes")
    check_payment(BOUNDS[name], rows, weights("uneven", rows.n_voters), **single)


def test_offsets_of_ccpbb_spend_delta_once():
    bound = BOUNDS["ccpbb"]
    assert sum(1 / bound.parts(mu) for mu in bound.offsets) == pytest.approx(1, abs=1e-12)
    for few in ((0.0,), (0.1,), (-0.1, 0.1), (0.0, 0.2, 0.3)):
        some = replace(bound, offsets=few)
        assert sum(1 / some.parts(mu) for mu in few) == pytest.approx(1, abs=1e-12)


class DroppedKl:
    """Outward arithmetic that forgets the divergence from the prior."""

    def __init__(self, ar):
        self.ar = ar

    def __getattr__(self, name):
        return getattr(self.ar, name)

    def categorical_kl(self, theta, pi):
        return self.ar.number(0)

    def dirichlet_kl(self, alpha, beta):
        return self.ar.number(0)


def without_kl(kind):
    @dataclass(frozen=True)
    class Mutant(kind):
        def formula(self, ar, terms):
            return super().formula(DroppedKl(ar), terms)

        def search(self, ballots, weights, delta, prior):
            """K costs nothing now, so take it as large as helps."""
            choice = super().search(ballots, weights, delta, prior)
            if "concentration" not in choice:
                return choice
            others = [{**choice, "concentration": K} for K in (30.0, 300.0, 3000.0)]
            return min(others, key=lambda other: self.at(ballots, weights, delta, other).risk)

    return Mutant()


WITHOUT_GIVEN_PRIOR = ("bg", "bg+", "dirichlet")
"""BG and BG+ always charge log d; dirichlet mixes a given prior with its own, and coin flips catch it."""

WITH_PRIOR = [name for name in LEARNABLE if BOUNDS[name].posterior and name not in WITHOUT_GIVEN_PRIOR]


@pytest.mark.parametrize("name", WITH_PRIOR)
def test_divergences_are_paid_for(name):
    check_divergence_is_paid(BOUNDS[name])


@pytest.mark.parametrize("name", WITH_PRIOR)
def test_an_unpaid_divergence_is_caught(name):
    with pytest.raises(AssertionError, match="does not pay"):
        check_divergence_is_paid(without_kl(type(BOUNDS[name])))


@pytest.mark.parametrize("kind", [Dirichlet, BinMargin])
def test_a_dropped_divergence_is_caught(kind):
    with pytest.raises(AssertionError, match="violated"):
        check_coin_flips(without_kl(kind))


def test_a_dropped_occam_prior_is_caught():
    @dataclass(frozen=True)
    class Mutant(Occam):
        def formula(self, ar, terms):
            return TestSet().formula(ar, terms)

    with pytest.raises(AssertionError, match="violated"):
        check_coin_flips(Mutant())


def test_an_unpaid_grid_is_caught():
    @dataclass(frozen=True)
    class Mutant(BiggsGuedjPlus):
        def formula(self, ar, terms):
            return super().formula(ar, replace(terms, delta=terms.delta * len(self.margins)))

    rows = ballots("two classes")
    with pytest.raises(AssertionError, match="does not pay"):
        check_payment(Mutant(), rows, weights("uniform", rows.n_voters), margins="margin")


@pytest.mark.parametrize("kind", [Occam, Dirichlet, DirichletMargin, TestSet])
def test_inward_rounding_is_caught(kind):
    pytest.importorskip("mpmath")

    @dataclass(frozen=True)
    class Mutant(kind):
        def from_terms(self, terms):
            found = super().from_terms(terms)
            return replace(found, risk=found.risk - 1e-8)

    rows = ballots("two classes")
    for bound, caught in ((kind(), nullcontext()), (Mutant(), pytest.raises(AssertionError))):
        found = bound.evaluate(rows, weights("uneven", rows.n_voters), 0.05)
        with caught:
            check_rounding(bound, found)


def ten_times_delta(kind):
    @dataclass(frozen=True)
    class Mutant(kind):
        def evaluate(self, ballots, weights, delta, *, prior=None):
            return super().evaluate(ballots, weights, min(0.99, 10 * delta), prior=prior)

    return Mutant()


@pytest.mark.parametrize("kind", [Occam, TestSet])
def test_ten_times_delta_is_caught(kind):
    check_envelope(kind(), 20)
    with pytest.raises(AssertionError, match="below"):
        check_envelope(ten_times_delta(kind), 20)

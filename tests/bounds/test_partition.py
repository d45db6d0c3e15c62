"""The partition bound: the bounds it improves on, its refusals."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from problems import ballots, independent, weights

from votecert.bounds import BOUNDS
from votecert.bounds.partition import Partition
from votecert.numerics import beta_cdf, log_maurer
from votecert.rows.ballots import Ballots

DELTA = 0.05
CATEGORICAL, DIRICHLET = Partition(family="categorical"), Partition(family="dirichlet")


def test_single_draws_are_the_first_order_bound_with_a_better_factor():
    rows, theta = ballots("two classes"), np.full(10, 0.1)
    theta[0], theta[1] = 0.15, 0.05
    delta = DELTA * math.exp(math.log(2 * math.sqrt(rows.n_rows)) - log_maurer(rows.n_rows))
    ours = CATEGORICAL.evaluate(rows, theta, DELTA)
    theirs = BOUNDS["fo"].evaluate(rows, theta, delta)
    assert ours.details["error_chance"] == pytest.approx(0.5)
    assert ours.risk == pytest.approx(theirs.risk, abs=2e-9)
    odd = np.full(9, 1 / 9)
    rows = independent(400, np.full(9, 0.85)).ballots()
    assert CATEGORICAL.evaluate(rows, odd, DELTA).details["error_chance"] == pytest.approx(5 / 9)


@pytest.mark.parametrize("where", ["two voters", "two classes", "three classes", "duplicated voters"])
def test_dirichlet_draws_are_at_most_the_factor_two_bound(where):
    rows = ballots(where)
    theta = weights("uneven", rows.n_voters)
    assert (
        DIRICHLET.evaluate(rows, theta, DELTA).risk <= BOUNDS["f2"].evaluate(rows, theta, DELTA).risk + 1e-6
    )


@pytest.mark.parametrize("where", ["two voters", "two classes", "anti-correlated voters", "always wrong"])
def test_best_is_the_better_of_both_at_half_of_delta(where):
    rows = ballots(where)
    theta = weights("uneven", rows.n_voters)
    best = Partition().evaluate(rows, theta, DELTA)
    each = [bound.evaluate(rows, theta, DELTA / 2).risk for bound in (CATEGORICAL, DIRICHLET)]
    assert best.risk == pytest.approx(min(each), rel=1e-9)
    assert math.fsum(best.ledger.values()) == pytest.approx(DELTA)


def test_odd_juries_gain_over_the_factor_two_bound():
    rows = independent(500, [0.9, 0.85, 0.8]).ballots()
    theta = np.full(3, 1 / 3)
    assert (
        Partition().evaluate(rows, theta, DELTA).risk < 0.85 * BOUNDS["f2"].evaluate(rows, theta, DELTA).risk
    )


@pytest.mark.parametrize("family", ["categorical", "dirichlet"])
def test_complements_give_a_floor_that_no_row_is_below(family):
    rows = ballots("anti-correlated voters")  # voters 2 and 3 contradict 0 and 1
    theta = np.array([0.5, 0.25, 0.15, 0.1])
    plain, floored = (Partition(family=family, complements=c) for c in ((), ((0, 2), (1, 3))))
    without, found = (bound.evaluate(rows, theta, DELTA) for bound in (plain, floored))
    assert found.risk <= without.risk
    right = rows.correct_weight(theta)
    K = found.terms.choice.get("concentration")
    losses = 1 - right if K is None else beta_cdf(0.5, K * right, K * (1 - right))
    assert 0 < found.details["floor"] <= losses.min()


@pytest.mark.parametrize("family", ["categorical", "dirichlet"])
@pytest.mark.parametrize("where", ["perfect voters", "two classes"])
def test_a_floor_above_the_bound_is_not_used(where, family):
    """Complements that are not borne out by the rows must not turn the certificate negative."""
    rows = ballots(where)
    pairs = tuple((i, i + 1) for i in range(0, rows.n_voters, 2))
    theta = weights("uniform", rows.n_voters)
    plain = Partition(family=family).evaluate(rows, theta, DELTA)
    floored = Partition(family=family, complements=pairs).at(rows, theta, DELTA, plain.terms.choice)
    assert floored.risk == plain.risk > 0
    assert floored.details["floor"] == 0


def test_a_tie_is_an_error():
    rows = Ballots.from_votes(np.tile([0, 1], (1000, 1)), np.zeros(1000, dtype=int), classes=[0, 1])
    assert Partition().evaluate(rows, np.array([0.5, 0.5]), DELTA).risk == 1


def test_zero_weights_are_left_to_single_draws():
    theta = np.zeros(10)
    theta[-2:] = 0.5
    found = Partition().evaluate(ballots("two classes"), theta, DELTA)
    assert found.terms.choice == {"family": "categorical"}
    assert found.risk < 1


def test_refusals():
    with pytest.raises(ValueError, match="family"):
        Partition(family="gaussian")
    found = CATEGORICAL.evaluate(ballots("two classes"), weights("uneven", 10), DELTA)
    with pytest.raises(ValueError, match="posterior"):
        DIRICHLET.from_terms(found.terms)
    with pytest.raises(ValueError, match="'family' is 'both'"):
        Partition().from_terms(replace(found.terms, choice={"family": "both"}))
    for pairs in [((0, 1), (0, 2)), ((0, 1), (1, 0)), ((0, 0),)]:
        with pytest.raises(ValueError, match="one complement only"):
            Partition(complements=pairs)
    bound = Partition(complements=((0, 1),))
    assert Partition(**json.loads(json.dumps(bound.options()))) == bound


@pytest.mark.parametrize("heaviest", [0, 3.0])
@pytest.mark.parametrize(
    "choice", [{"family": "categorical"}, {"family": "dirichlet", "concentration": 40.0}]
)
def test_gradient_equals_finite_differences(choice, heaviest):
    rows, bound = ballots("three classes"), Partition()
    theta = np.random.default_rng(0).dirichlet(np.full(10, 5.0))
    theta[3] += heaviest
    theta /= theta.sum()
    at = bound.objective(rows, theta, choice, DELTA)
    assert at.value == pytest.approx(bound.at(rows, theta, DELTA, choice).risk, abs=1e-6) or at.value > 1
    direction = np.random.default_rng(1).normal(size=10)
    direction -= direction.mean()
    step = 1e-7
    ahead, behind = (bound.objective(rows, theta + s * direction, choice, DELTA).value for s in (step, -step))
    assert at.d_weights @ direction == pytest.approx((ahead - behind) / (2 * step), rel=1e-4)
    if "concentration" in choice:
        up, down = (
            bound.objective(rows, theta, choice | {"concentration": 40.0 * math.exp(s)}, DELTA).value
            for s in (1e-5, -1e-5)
        )
        assert at.d_log_concentration == pytest.approx((up - down) / 2e-5, rel=1e-4)
    else:
        assert at.d_log_concentration == 0

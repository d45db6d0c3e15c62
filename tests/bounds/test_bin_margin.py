"""The binomial margin bound: what it improves on, its search and refusals."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from problems import ballots, independent, weights
from scipy.stats import binom

from votecert.bounds import BOUNDS
from votecert.bounds.bin_margin import BinMargin
from votecert.rows.ballots import Ballots

DELTA = 0.05


def test_the_measured_loss_is_the_binomial_tail():
    rows, theta = ballots("three classes"), weights("uneven", 10)
    choice = {"draws": 27, "threshold": 11}
    expected = rows.mean(binom.sf(10, 27, np.clip(rows.wrong_weight(theta), 0, 1)))
    found = BinMargin().measure(rows, theta, choice)["empirical"]
    assert expected <= found <= expected + 1e-9


def test_every_error_is_shared_with_the_stated_chance():
    """All ways in which few voters can be right: where the vote errs, the sampled vote does often enough."""
    rng = np.random.default_rng(0)
    for d in (2, 3, 5):
        theta = rng.dirichlet(np.ones(d))
        found = BinMargin().evaluate(independent(50, np.full(d, 0.8)).ballots(), theta, DELTA)
        T, k0 = found.terms.choice["draws"], found.terms.choice["threshold"]
        for right in itertools.product([0, 1], repeat=d):
            wrong = 1 - theta @ np.array(right)
            if wrong >= 0.5:
                assert binom.sf(k0 - 1, T, min(1, wrong)) >= found.details["error_chance"]


def test_grid_is_made_of_margins_at_most_one_half():
    bound = BinMargin()
    assert len(set(bound.grid)) == len(bound.grid)
    assert all(1 <= k0 <= math.ceil(T / 2) for T, k0 in bound.grid)
    assert BinMargin(draws=(100,), offsets=(0.0,)).grid == ((100, 50),)


def test_at_half_of_the_draws_it_beats_the_binomial_bound():
    rows, theta = ballots("two classes"), weights("uneven", 10)
    ours = BinMargin(draws=(100,), offsets=(0.0,), inequality="kl").evaluate(rows, theta, DELTA)
    assert ours.risk < BOUNDS["bin"].evaluate(rows, theta, DELTA).risk


def test_margins_pay():
    rows, theta = ballots("two classes"), np.full(10, 0.1)
    assert (
        BinMargin().evaluate(rows, theta, DELTA).risk
        < BinMargin(offsets=(0.0,)).evaluate(rows, theta, DELTA).risk
    )


def test_zero_weights_cost_nothing_extra():
    rows = ballots("two classes")
    sparse, nearly = np.zeros(10), np.full(10, 1e-9)
    sparse[-3:], nearly[-3:] = 1 / 3, (1 - 7e-9) / 3
    risks = [BinMargin().evaluate(rows, theta, DELTA).risk for theta in (sparse, nearly)]
    assert risks[0] < 1
    assert risks[0] == pytest.approx(risks[1], rel=1e-5)


def test_search_finds_the_best_pair():
    for where in ("two classes", "ten classes", "300 voters", "100 000 rows"):
        rows = ballots(where)
        theta = 0.5 * weights("uneven", rows.n_voters) + 0.5 / rows.n_voters
        bound = BinMargin()
        each = [bound.at(rows, theta, DELTA, {"draws": T, "threshold": k0}).risk for T, k0 in bound.grid]
        assert bound.evaluate(rows, theta, DELTA).risk <= min(each) * 1.001


def test_a_tie_is_an_error():
    rows = Ballots.from_votes(np.tile([0, 1], (1000, 1)), np.zeros(1000, dtype=int), classes=[0, 1])
    assert BinMargin().evaluate(rows, np.array([0.5, 0.5]), DELTA).risk == 1


def test_an_informed_prior_helps():
    rows, theta = ballots("two classes"), weights("uneven", 10)
    blind, informed = (BinMargin().evaluate(rows, theta, DELTA, prior=prior) for prior in (None, theta))
    assert informed.risk < blind.risk
    assert informed.details["kl"] == pytest.approx(0, abs=1e-11)


def test_ledger_and_refusals():
    bound, rows, theta = BinMargin(), ballots("two classes"), weights("uneven", 10)
    found = bound.evaluate(rows, theta, DELTA)
    assert math.fsum(found.ledger.values()) <= DELTA * (1 + 1e-12)
    with pytest.raises(ValueError, match="grid"):
        bound.from_terms(replace(found.terms, choice={"draws": 9, "threshold": 1}))
    assert BinMargin(**json.loads(json.dumps(bound.options()))) == bound


@pytest.mark.parametrize(
    "options",
    [
        *({"draws": draws} for draws in [(), (0,), (-1,), (10**7,)]),
        *({"offsets": offsets} for offsets in [(), (-1.0,), (math.inf,), (math.nan,)]),
        {"inequality": "pinsker"},
    ],
)
def test_impossible_options_are_refused(options):
    with pytest.raises(ValueError, match=r"draws must|inequality"):
        BinMargin(**options)


@pytest.mark.parametrize("inequality", ["mixture", "kl"])
@pytest.mark.parametrize("heaviest", [0, 3.0])
@pytest.mark.parametrize("where", ["three classes", "anti-correlated voters"])
def test_gradient_equals_finite_differences(inequality, heaviest, where):
    rows, bound = ballots(where), BinMargin(inequality=inequality)
    rng = np.random.default_rng(1)
    theta = rng.dirichlet(np.full(rows.n_voters, 5.0))
    theta[1] += heaviest
    theta /= theta.sum()
    for choice in ({"draws": 9, "threshold": 3}, {"draws": 243, "threshold": 106}):
        at = bound.objective(rows, theta, choice, DELTA)
        risk = bound.at(rows, theta, DELTA, choice).risk
        assert at.value > 1 or risk - 1e-7 <= at.value <= risk * 1.05
        direction = rng.normal(size=len(theta))
        direction -= direction.mean()
        step = 1e-7
        ahead, behind = (
            bound.objective(rows, theta + s * direction, choice, DELTA).value for s in (step, -step)
        )
        assert at.d_weights @ direction == pytest.approx((ahead - behind) / (2 * step), rel=1e-4)

"""The contract: what holds for every registered bound on every problem."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from checks import check_envelope, check_rounding
from problems import PROBLEMS, WEIGHTS, Problem, ballots, independent, problem, weights

from votecert.bounds import BOUNDS, UnsupportedProblemError
from votecert.rows.ballots import Ballots
from votecert.rows.predictor import scaled_votes

DELTA = 0.05
GUARANTEED = [name for name, bound in BOUNDS.items() if bound.is_guarantee]
SMOOTH = [name for name, bound in BOUNDS.items() if bound.differentiable]
SURROGATES = ("dirichlet", "bin-margin", "partition")
"""Their certificates also use which sums of weights are possible, which no gradient can follow."""
SMALL = ("two voters", "two classes", "three classes", "duplicated voters", "abstentions, three classes")


def evaluate(name: str, rows: Ballots, theta: np.ndarray, delta: float = DELTA):
    bound = BOUNDS[name]
    if bound.problem_with(rows):
        with pytest.raises(UnsupportedProblemError, match=name.replace("+", r"\+")):
            bound.evaluate(rows, theta, delta)
        pytest.skip("the theorem does not cover this problem, and says so")
    return bound.evaluate(rows, theta, delta)


@cache
def evaluated(name: str, where: str, kind: str = "uneven", delta: float = DELTA):
    """On one of the problems, with one of the kinds of weights."""
    rows = ballots(where)
    return evaluate(name, rows, weights(kind, rows.n_voters), delta)


def own_errors(name, found, rows, theta) -> int:
    """Errors of the vote that the bound speaks about: by the tie rule, or with ties as errors."""
    if "votes" in found.terms.choice:
        return rows.errors(found.terms.choice["votes"], found.terms.choice["offsets"])
    if BOUNDS[name].counts_errors:
        return rows.errors(scaled_votes(theta))
    return int(rows.counts[rows.margins(theta) < -1e-9].sum())


def test_all_ids_of_the_design_are_registered():
    expected = (
        "fo so bin f2 gz bg bg+ bg++ cctnd ccpbb c-bound dirichlet-margin dirichlet-margin-published "
        "dirichlet-stochastic dirichlet-stochastic-published occam dirichlet bin-margin partition test-set"
    )
    assert set(BOUNDS) == set(expected.split())
    assert {name for name, bound in BOUNDS.items() if not bound.is_guarantee} == {
        "gz",
        "dirichlet-margin-published",
        "dirichlet-stochastic-published",
    }


@pytest.mark.parametrize("where", PROBLEMS)
@pytest.mark.parametrize("name", BOUNDS)
def test_is_a_probability_and_not_below_its_own_errors(name, where):
    rows = ballots(where)
    for kind in WEIGHTS:
        theta = weights(kind, rows.n_voters)
        found = evaluated(name, where, kind)
        assert 0 <= found.risk <= 1
        assert all(not math.isnan(value) for value in found.details.values())
        assert sum(found.ledger.values()) <= DELTA * (1 + 1e-12)
        assert (found.reason is not None) == (found.risk == 1)
        if BOUNDS[name].is_guarantee:
            assert found.risk >= own_errors(name, found, rows, theta) / rows.n_rows


@pytest.mark.parametrize("where", SMALL)
@pytest.mark.parametrize("name", BOUNDS)
def test_order_of_rows_and_voters_and_names_of_labels_do_not_matter(name, where):
    p = problem(where)
    rng = np.random.default_rng(0)
    rows, voters = rng.permutation(len(p.y)), rng.permutation(p.votes.shape[1])
    names = np.array([f"class {k}" for k in range(p.n_classes)] + [None], dtype=object)
    renamed = names[np.where(np.isnan(p.votes), p.n_classes, p.votes).astype(int)]
    theta = weights("uneven", p.votes.shape[1])
    base = evaluated(name, where).risk
    shuffled = Problem(p.votes[rows], p.y[rows], p.n_classes).ballots()
    other = Problem(p.votes[:, voters], p.y, p.n_classes).ballots()
    relabelled = Ballots.from_votes(renamed, names[p.y], classes=list(names[:-1]))
    tolerance = 1e-9
    assert abs(evaluate(name, shuffled, theta).risk - base) <= tolerance
    assert abs(evaluate(name, other, theta[voters]).risk - base) <= tolerance
    assert abs(evaluate(name, relabelled, theta).risk - base) <= tolerance


@pytest.mark.parametrize("where", SMALL)
@pytest.mark.parametrize("name", BOUNDS)
def test_compressed_and_uncompressed_rows_agree(name, where):
    rows = problem(where).ballots(compress=False)
    assert rows.n_patterns > ballots(where).n_patterns
    plain = evaluate(name, rows, weights("uneven", rows.n_voters)).risk
    assert abs(evaluated(name, where).risk - plain) <= 1e-9


@pytest.mark.parametrize("where", ["two voters", "two classes", "three classes"])
@pytest.mark.parametrize("name", BOUNDS)
def test_more_confidence_costs_more(name, where):
    risks = [evaluated(name, where, delta=delta).risk for delta in (0.5, 0.1, 0.01, 1e-4, 1e-9)]
    assert all(later >= earlier - 1e-6 for earlier, later in itertools.pairwise(risks))
    assert risks[-1] > risks[0] or risks[0] == 1


@pytest.mark.parametrize("m", [1, 2, 3, 6, 15, 50])
@pytest.mark.parametrize("name", GUARANTEED)
def test_one_voter_is_never_certified_below_clopper_pearson(name, m):
    check_envelope(BOUNDS[name], m, DELTA)


@pytest.mark.parametrize("where", ["two voters", "two classes", "three classes", "anti-correlated voters"])
@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_equals_finite_differences(name, where):
    rows = ballots(where)
    bound = BOUNDS[name]
    theta = 0.5 * weights("uneven", rows.n_voters) + 0.5 / rows.n_voters
    found = evaluate(name, rows, theta)
    choice = found.terms.choice
    at = bound.objective(rows, theta, choice, DELTA)
    assert math.isfinite(at.value)
    if found.risk < 1:
        close = {"rel": 0.02} if name in SURROGATES else {"abs": 2e-7}
        assert at.value == pytest.approx(found.risk, **close)
    rng = np.random.default_rng(1)
    for _ in range(3):
        direction = rng.normal(size=rows.n_voters)
        direction -= direction.mean()
        step = 1e-6 / np.abs(direction).max()
        ahead, behind = (
            bound.objective(rows, theta + s * direction, choice, DELTA).value for s in (step, -step)
        )
        assert at.d_weights @ direction == pytest.approx((ahead - behind) / (2 * step), rel=1e-3, abs=1e-5)
    if "concentration" in choice and found.risk < 1:
        factor = math.exp(1e-5)
        up, down = (
            bound.objective(
                rows, theta, {**choice, "concentration": choice["concentration"] * f}, DELTA
            ).value
            for f in (factor, 1 / factor)
        )
        assert at.d_log_concentration == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize(
    "where", ["one voter", "two voters", "two classes", "three classes", "abstentions, two classes"]
)
@pytest.mark.parametrize("name", BOUNDS)
def test_outward_value_is_never_below_the_exact_one(name, where):
    pytest.importorskip("mpmath")
    rows = ballots(where)
    if BOUNDS[name].problem_with(rows):
        pytest.skip("the theorem does not cover this problem")
    for kind in WEIGHTS:
        check_rounding(BOUNDS[name], evaluated(name, where, kind))


def test_multiclass_problems_are_refused_with_advice():
    rows = independent(50, [0.8, 0.7], 3).ballots()
    for name in ("gz", "bg", "bg+", "bg++", "c-bound"):
        with pytest.raises(UnsupportedProblemError, match="occam"):
            BOUNDS[name].evaluate(rows, np.array([0.5, 0.5]), DELTA)


@pytest.mark.parametrize("name", ["dirichlet-margin", "dirichlet-stochastic", "bg", "bg+", "bg++"])
@pytest.mark.parametrize("margins", [(), (0.0,), (0.5,), (0.1, -0.1), (math.nan,)])
def test_margins_that_the_theorem_does_not_cover_are_refused(name, margins):
    with pytest.raises(ValueError, match=r"in \(0, 1/2\)"):
        replace(BOUNDS[name], margins=margins)


@pytest.mark.parametrize("offsets", [(), (0.5,), (0.0, 0.7), (math.nan,)])
def test_offsets_that_the_theorem_does_not_cover_are_refused(offsets):
    with pytest.raises(ValueError, match="below 1/2"):
        replace(BOUNDS["ccpbb"], offsets=offsets)


def test_the_first_form_of_the_c_bound_can_be_learned_where_voters_never_disagree():
    """The disagreement is a difference, which rounding may leave a little below zero."""
    rows = Ballots.from_votes(np.tile([[0], [1], [1], [1]], (50, 6)), [0, 1, 1, 0] * 50)
    for seed in range(100):
        theta = np.random.default_rng(seed).dirichlet(np.ones(6))
        found = replace(BOUNDS["c-bound"], form=1).objective(rows, theta, {}, DELTA)
        assert 0 < found.value <= 1
        assert np.isfinite(found.d_weights).all()


def test_one_row_says_nothing_whatever_the_offsets_of_ccpbb():
    found = replace(BOUNDS["ccpbb"], offsets=(0.25, -0.125)).evaluate(
        ballots("one row"), np.ones(2) / 2, DELTA
    )
    assert found.risk == 1
    assert found.terms.choice["offset"] == -0.125

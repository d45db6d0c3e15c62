"""How many rows a certificate takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

import votecert as vc
from votecert.planning import certificate_curve, rows_needed
from votecert.planning.fixed import _typical_errors


def is_enough(m: int, target: float, error: float, level: float, assurance: float) -> bool:
    """Whether the errors that are not exceeded with the asked chance leave the certificate small enough."""
    return bool(binom.cdf(binom.ppf(assurance, m, error), m, target) <= level)


@pytest.mark.parametrize("assurance", [0.2, 0.501, 0.9])
@pytest.mark.parametrize(
    ("target", "error"), [(0.05, 0.03), (0.1, 0.0), (0.3, 0.1), (0.6, 0.5), (0.02, 0.001)]
)
@pytest.mark.parametrize("delta", [0.05, 0.001])
def test_fixed_votes_against_brute_force(target, error, delta, assurance):
    found = rows_needed(target, error, 7, delta, vote="fixed", assurance=assurance)
    assert is_enough(found, target, error, delta, assurance)
    first = next(m for m in range(1, 5000) if is_enough(m, target, error, delta, assurance))
    assert first <= found <= 1.05 * first


@pytest.mark.parametrize(("target", "error"), [(0.05, 0.03), (0.2, 0.0), (0.5, 0.4)])
def test_so_many_rows_certify_the_target(target, error):
    rows = rows_needed(target, error, 5, fitted_list=False)
    errors = int(binom.ppf(0.5, rows, error))
    y = np.arange(rows) % 2
    votes = np.repeat(y[:, None], 5, axis=1)
    votes[:errors] = 1 - votes[:errors]
    plain = [0.2] * 5
    assert vc.certify(votes, y, weights=plain, bound="occam").risk <= target
    curve = certificate_curve(error, 5, [rows], fitted_list=False)
    assert curve[0] == pytest.approx(vc.certify(votes, y, weights=plain, bound="occam").risk, abs=1e-9)


def test_the_curve_reaches_the_target_where_it_was_planned():
    rows = rows_needed(0.05, 0.03, 10)
    assert certificate_curve(0.03, 10, [rows])[0] <= 0.05 < certificate_curve(0.03, 10, [rows // 2])[0]


@pytest.mark.parametrize("assurance", [0.05, 0.5, 0.99])
@pytest.mark.parametrize("error", [0.0, 1e-6, 0.01, 0.3, 0.77])
def test_typical_errors_are_quantiles(error, assurance):
    rows = np.array([1, 2, 10, 777, 100_000])
    found = _typical_errors(rows, error, assurance)
    assert found.tolist() == binom.ppf(assurance, rows, error).tolist()


def test_what_costs_rows():
    fixed = rows_needed(0.05, 0.03, 10, vote="fixed")
    without_list = rows_needed(0.05, 0.03, 10, fitted_list=False)
    learned = rows_needed(0.05, 0.03, 10)
    sure = rows_needed(0.05, 0.03, 10, assurance=0.95)
    safe = rows_needed(0.05, 0.03, 10, delta=0.001)
    assert fixed < without_list < learned < sure
    assert learned < safe
    assert rows_needed(0.01, 0.0, 10, vote="fixed") == math.ceil(math.log(0.05) / math.log(0.99))


def test_curves_fall_towards_the_error():
    curve = certificate_curve(0.1, 20, [100, 1000, 10_000, 1_000_000])
    assert (np.diff(curve) < 0).all()
    assert 0.1 < curve[-1] < 0.101


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target_risk": 0.03}, "must lie above the expected error"),
        ({"target_risk": 1.0}, "below 1"),
        ({"expected_error": -0.1}, "at least 0"),
        ({"n_voters": 0}, "at least one voter"),
        ({"delta": 0.0}, "delta must be"),
        ({"assurance": 1.0}, "assurance"),
        ({"vote": "other"}, "'learned' or 'fixed'"),
        ({"expected_error": 0.05 - 1e-9}, "too close"),
    ],
)
def test_refusals(arguments, message):
    plan = {"target_risk": 0.05, "expected_error": 0.03, "n_voters": 10} | arguments
    with pytest.raises(ValueError, match=message):
        rows_needed(**plan)


def test_curves_need_rows():
    with pytest.raises(ValueError, match="at least 1"):
        certificate_curve(0.1, 5, [0, 10])
    with pytest.raises(ValueError, match="at least 1"):
        certificate_curve(0.1, 5, [])

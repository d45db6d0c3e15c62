"""What holds at all times: against brute force, forty digits in plain Python, and exact expectations."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, getcontext

import numpy as np
import pytest

from votecert.numerics import clopper_pearson_upper
from votecert.numerics.sequential import (
    LEAST_LIMIT,
    UNITS,
    always_valid_limits,
    bets,
    fed,
    log_cut_mixture,
    log_evidence,
    log_factors,
    reserve,
    sequential_upper,
)


def evidence(updates: list[dict[int, int]], limit: float) -> float:
    capital = None
    for place, losses in enumerate(updates):
        capital = fed(capital, place, losses, limit)
    return float(log_evidence(capital, len(updates), limit))


def in_forty_digits(updates: list[dict[int, int]], limit: float) -> Decimal:
    """The formula of the docstring, start by start and bet by bet, in plain Python."""
    getcontext().prec = 50
    r, half = Decimal(limit), Decimal(1) / 2
    places = [k for k in range(-8, 60) if k <= 0 or 1 - (1 - r) ** (Decimal(2) ** (k - 1)) < Decimal(15) / 16]
    weight = sum(1 / Decimal(1 + k * k) for k in places)
    left = [Decimal(1)] + [half / (1 + Decimal(u).ln()) for u in range(1, len(updates) + 1)]
    total = left[-1]
    for k in places:
        bet = 1 - (1 - r) ** (Decimal(2) ** k)
        for start in range(len(updates)):
            product = (left[start] - left[start + 1]) / (1 + k * k) / weight
            for losses in updates[start:]:
                for units, count in losses.items():
                    product *= (1 + bet * (Decimal(units) / UNITS - r) / r) ** count
            total += product
    return total


@pytest.mark.parametrize("limit", [1e-9, 0.001, 0.05, 0.3, 0.5, 0.97])
def test_evidence_in_forty_digits(limit):
    rng = np.random.default_rng(7)
    updates = []
    for _ in range(12):
        errors = int(rng.binomial(60, min(0.9, 1.6 * limit)))
        updates.append({0: 60 - errors, UNITS: errors, 512: int(rng.integers(3)), 17: int(rng.integers(2))})
    for n in (1, 2, 5, 12):
        want, found = float(in_forty_digits(updates[:n], limit).ln()), evidence(updates[:n], limit)
        assert want - 1e-10 * (1 + abs(want)) <= found <= want


def test_a_limit_of_nothing_is_taken_as_the_least_one():
    assert bets(0.0) == bets(LEAST_LIMIT)
    assert evidence([{0: 1000}], 0.0) == evidence([{0: 1000}], LEAST_LIMIT) < 0
    assert evidence([{0: 1000, UNITS: 1}], 0.0) > math.log(1e5)  # what cannot happen has happened
    with pytest.raises(ValueError, match="below one"):
        log_factors({0: 1}, 1.0)


@pytest.mark.parametrize("limit", [0.02, 0.3, 0.6])
@pytest.mark.parametrize("sizes", [(1,) * 9, (3, 1, 5), (9,)])
def test_the_expectation_at_the_limit_is_one(limit, sizes):
    """Over all sequences of errors; fewer at a smaller chance. This is what Ville's inequality needs."""
    ends = np.cumsum(sizes)
    for chance, most in ((limit, 1.0), (0.8 * limit, 0.999)):
        mean = 0.0
        for row in itertools.product((0, 1), repeat=9):
            parts = np.split(np.array(row), ends[:-1])
            updates = [{0: int(len(p) - p.sum()), UNITS: int(p.sum())} for p in parts]
            mean += chance ** sum(row) * (1 - chance) ** (9 - sum(row)) * math.exp(evidence(updates, limit))
        assert mean <= most
        assert chance < limit or mean == pytest.approx(1, abs=1e-11)


def test_the_expectation_of_losses_between_zero_and_one_is_one():
    sizes, chances = (0, 256, 1024), (0.5, 0.4, 0.1)
    limit = sum(s * c for s, c in zip(sizes, chances, strict=True)) / UNITS
    mean = 0.0
    for row in itertools.product(range(3), repeat=6):
        updates = [{sizes[i]: 1} for i in row]
        mean += math.prod(chances[i] for i in row) * math.exp(evidence(updates, limit))
    assert mean == pytest.approx(1, abs=1e-11)


def test_shares_are_spent_once():
    for u in (1, 2, 10, 10**6):
        assert reserve(u) < reserve(u - 1)
    assert sum(bets(0.1)[1]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("k", "t"), [(0, 1), (1, 1), (0, 50), (7, 200), (200, 200), (123, 4567), (31.5, 1000)]
)
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_limits_are_where_the_mixture_reaches_its_level(k, t, alpha):
    mpmath = pytest.importorskip("mpmath")
    low, high = (float(end) for end in always_valid_limits(k, k, t, alpha))
    with mpmath.workdps(40):
        level = mpmath.log(mpmath.beta(k + 0.5, t - k + 0.5) / mpmath.pi) - mpmath.log(1 / mpmath.mpf(alpha))

        def gap(p):
            return level - (k * mpmath.log(p) if k else 0) - ((t - k) * mpmath.log(1 - p) if k < t else 0)

        for end, outward in ((low, -1), (high, 1)):
            if end in (0, 1):
                assert end == (0 if outward < 0 else 1)
                continue
            assert gap(mpmath.mpf(end)) >= 0  # outside, and hardly
            assert gap(mpmath.mpf(end) * (1 - outward * 1e-9)) < 0
    assert low <= k / t <= high


def test_limits_without_rows_say_nothing():
    assert [float(end) for end in always_valid_limits(0, 0, 0, 0.05)] == [0, 1]


def test_the_expectation_of_the_cut_mixture_is_one():
    """M_t(p) itself, by quadrature of its defining integral; at a larger error it is smaller."""
    scipy_integrate = pytest.importorskip("scipy.integrate")
    p, n = 0.4, 8

    def mixture(k):
        law = 2 * math.asin(math.sqrt(p))
        value, _ = scipy_integrate.quad(
            lambda q: (q / p) ** k * ((1 - q) / (1 - p)) ** (n - k) / math.sqrt(q * (1 - q)) / law, 0, p
        )
        return value

    for chance in (0.4, 0.5):
        mean = sum(math.comb(n, k) * chance**k * (1 - chance) ** (n - k) * mixture(k) for k in range(n + 1))
        assert mean == pytest.approx(1, abs=1e-8) if chance == p else mean < 0.99
    for k in (0, 1, 2):
        assert math.exp(float(log_cut_mixture(k, n, p))) == pytest.approx(mixture(k), rel=1e-7)


@pytest.mark.parametrize(
    ("k", "t"), [(0, 1), (0, 59), (1, 59), (7, 200), (199, 200), (200, 200), (300, 10_000), (5, 10**7)]
)
@pytest.mark.parametrize("delta", [0.9, 0.05, 1e-6])
def test_the_upper_limit_is_the_root_and_everything_above_is_excluded(k, t, delta):
    mpmath = pytest.importorskip("mpmath")
    found = float(sequential_upper(k, t, math.log(delta)))
    start = min(1.0, (k + 0.5) / t)
    assert k / t < found <= 1 or k == t

    def log_mixture(p):
        below = mpmath.betainc(k + 0.5, t - k + 0.5, 0, p)
        at = (k * mpmath.log(p) if k else 0) + (t - k) * mpmath.log(1 - p)
        return mpmath.log(below) - mpmath.log(2 * mpmath.asin(mpmath.sqrt(p))) - at

    if k == t:
        assert found == 1
        return
    with mpmath.workdps(40):
        assert (
            log_mixture(mpmath.mpf(found) if found < 1 else 1 - mpmath.mpf(10) ** -30)
            >= -math.log(delta) - 1e-12
        )
        inside = found * (1 - 1e-6)
        assert inside <= start or log_mixture(mpmath.mpf(inside)) < -math.log(delta)


def test_the_upper_limit_pays_for_looking_and_no_more_than_the_two_sided_one():
    for k, t in ((0, 100), (3, 100), (30, 1000), (300, 10_000)):
        once = clopper_pearson_upper(k, t, math.log(0.05))
        assert once < sequential_upper(k, t, math.log(0.05)) < always_valid_limits(k, k, t, 0.05)[1]


@pytest.mark.parametrize(("k", "t", "log_delta"), [(-1, 5, -1.0), (6, 5, -1.0), (0, 0, -1.0), (1, 5, 0.1)])
def test_refusals(k, t, log_delta):
    with pytest.raises(ValueError, match="must"):
        sequential_upper(k, t, log_delta)

"""Maurer's constant: the definition, both regimes, and the bound that replaces 2 sqrt(m)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from votecert.numerics import exact, log_maurer
from votecert.numerics import maurer as module


def by_definition(m: int) -> float:
    """Sum C(m,k) (k/m)^k (1-k/m)^(m-k) as a fraction."""
    total = sum(math.comb(m, k) * k**k * (m - k) ** (m - k) for k in range(m + 1))
    return float(Fraction(total, m**m))


@pytest.mark.parametrize("m", [*range(1, 12), 50, 99, 200])
def test_small_m_is_the_sum_of_the_definition_rounded_up(m: int) -> None:
    gap = log_maurer(m) - math.log(by_definition(m))
    assert 0.0 < gap < 1e-11


@pytest.mark.parametrize("m", [10**3, 12_345, 10**6, 10**6 + 1, 10**7, 10**9])
def test_large_m_agrees_with_the_exact_sum(m: int) -> None:
    pytest.importorskip("mpmath")
    gap = float(log_maurer(m) - exact(40).log_maurer(m))
    assert 0.0 < gap < 5e-11


def test_the_closed_bound_is_above_the_exact_sum_for_every_small_m(monkeypatch: pytest.MonkeyPatch) -> None:
    exact_values = np.array([log_maurer(m) for m in range(1, 3000)])
    monkeypatch.setattr(module, "_EXACT_UP_TO", 0)
    closed = np.array([module.log_maurer.__wrapped__(m) for m in range(1, 3000)])
    gap = closed - exact_values
    assert np.all(gap > 0.0)
    # theta_m - 1/3 is about 4/(135 m): the price of the bound.
    assert np.all(gap[10:] * np.exp(exact_values[10:]) * np.arange(11, 3000) < 0.06)


def test_it_lies_between_the_known_bounds() -> None:
    for m in (8, 100, 10**5, 10**8):
        assert (
            math.log(math.sqrt(math.pi * m / 2.0) + 2.0 / 3.0) < log_maurer(m) < math.log(2.0 * math.sqrt(m))
        )


def test_zero_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        log_maurer(0)

"""The two functions that keep the divergences from cancelling."""

from __future__ import annotations

import numpy as np
import pytest

from votecert.numerics._arrays import in_blocks
from votecert.numerics._series import (
    excess,
    stirling_remainder,
    stirling_remainder_slope,
    trigamma_excess,
)

mpmath = pytest.importorskip("mpmath")

ARGUMENTS = [1e-12, 1e-3, 0.5, 1.0, 3.7, 11.999, 12.0, 12.5, 40.0, 1e3, 1e6, 1e12]


@pytest.mark.parametrize("ratio", [1e-8, 0.3, 0.9, 0.91, 1 - 1e-9, 1.0, 1 + 1e-12, 1.0999, 1.1, 2.0, 1e9])
def test_excess_keeps_its_relative_precision(ratio: float) -> None:
    with mpmath.workdps(40):
        want = float(mpmath.mpf(ratio) - 1 - mpmath.log(mpmath.mpf(ratio)))
    assert float(excess(ratio, 1.0)) == pytest.approx(want, rel=1e-13, abs=0.0)


def test_excess_uses_a_given_difference() -> None:
    assert float(excess(1.0, 1.0, 1e-20)) == pytest.approx(5e-41, rel=1e-12)


@pytest.mark.parametrize("x", ARGUMENTS)
def test_stirling_remainders_and_trigamma(x: float) -> None:
    with mpmath.workdps(60):
        y = mpmath.mpf(x)
        remainder = mpmath.loggamma(y) - (y - 0.5) * mpmath.log(y) + y - mpmath.log(2 * mpmath.pi) / 2
        slope = mpmath.psi(0, y) - mpmath.log(y) + 1 / (2 * y)
        second = mpmath.psi(1, y) - 1 / y
    assert float(stirling_remainder(x)) == pytest.approx(float(remainder), rel=1e-12, abs=2e-15)
    assert float(stirling_remainder_slope(x)) == pytest.approx(float(slope), rel=1e-12, abs=2e-16)
    assert float(trigamma_excess(x)) == pytest.approx(float(second), rel=1e-12)


def test_large_arguments_keep_their_relative_precision() -> None:
    assert float(stirling_remainder(1e10)) * 12e10 == pytest.approx(1.0, rel=1e-14)
    assert float(stirling_remainder_slope(1e10)) * -12e20 == pytest.approx(1.0, rel=1e-14)


def test_blocks_join_values_and_stacks_in_order() -> None:
    x = np.arange(20_000.0).reshape(100, 200)
    assert np.array_equal(in_blocks(np.sqrt, x), np.sqrt(x))
    stacked = in_blocks(lambda v: np.stack([v, -v]), x)
    assert stacked.shape == (2, 100, 200)
    assert np.array_equal(stacked[1], -x)
    assert in_blocks(np.sqrt, np.array(4.0)).shape == ()
    assert in_blocks(np.sqrt, np.zeros((3, 0))).shape == (3, 0)

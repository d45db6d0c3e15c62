"""kl, its inverses and the closed forms: against 40 digits, at the ends, and for a million pairs."""

from __future__ import annotations

import numpy as np
import pytest

from votecert.numerics import (
    binary_kl,
    exact,
    kl_inverse_lower,
    kl_inverse_lower_gradient,
    kl_inverse_upper,
    kl_inverse_upper_gradient,
)

pytest.importorskip("mpmath")


def risks_and_complexities(seed: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (q, c) of all magnitudes: ends, tiny, near one, middle; c from 1e-20 to 1000."""
    rng = np.random.default_rng(seed)
    kinds = np.stack(
        [
            np.zeros(size),
            np.ones(size),
            rng.uniform(size=size),
            10.0 ** rng.uniform(-17, 0, size),
            1.0 - 10.0 ** rng.uniform(-15, 0, size),
            10.0 ** rng.uniform(-290, 0, size),
        ]
    )
    q = kinds[rng.integers(len(kinds), size=size), np.arange(size)]
    c = np.where(
        rng.uniform(size=size) < 0.5, 10.0 ** rng.uniform(-20, 3, size), 10.0 ** rng.uniform(-4, 0, size)
    )
    return q, c


def exact_kl(q: float, p: float) -> float:
    import mpmath

    with mpmath.workdps(60):
        q, p = mpmath.mpf(q), mpmath.mpf(p)
        value = q * mpmath.log(q / p) if q else mpmath.mpf(0)
        return value + ((1 - q) * mpmath.log((1 - q) / (1 - p)) if q < 1 else 0)


def test_binary_kl_keeps_its_digits_when_the_arguments_are_close() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        q = float(rng.choice([rng.uniform(0.01, 0.99), 10.0 ** rng.uniform(-12, -1)]))
        p = min(q * (1.0 + 10.0 ** rng.uniform(-12, 1)), 0.999)
        want = exact_kl(q, p)
        assert abs(float(binary_kl(q, p)) / float(want) - 1.0) < 1e-12, (q, p)


def test_binary_kl_at_the_ends() -> None:
    assert binary_kl([0.0, 1.0, 0.0, 1.0, 0.5], [0.0, 1.0, 1.0, 0.0, 1.0]).tolist() == [
        0,
        0,
        np.inf,
        np.inf,
        np.inf,
    ]
    assert float(binary_kl(0.0, 0.25)) == pytest.approx(-np.log(0.75), rel=1e-15)


@pytest.mark.parametrize("side", ["upper", "lower"])
def test_inverses_enclose_the_exact_value(side: str) -> None:
    function, sign = (kl_inverse_upper, 1) if side == "upper" else (kl_inverse_lower, -1)
    reference = getattr(exact(40), f"kl_inverse_{side}")
    q, c = risks_and_complexities(1, 250)
    for value, one_q, one_c in zip(function(q, c).tolist(), q.tolist(), c.tolist(), strict=True):
        excess = sign * float(value - reference(one_q, one_c))
        assert 0.0 <= excess <= 1e-8, (one_q, one_c, value)
        if one_c > 1e-6:
            assert excess <= 5e-12, (one_q, one_c, value)


def test_inverses_at_the_ends() -> None:
    assert kl_inverse_upper([0, 0.3, 1, 0.3, 0], [0, 0, 0.1, np.inf, np.inf]).tolist() == [0, 0.3, 1, 1, 1]
    assert kl_inverse_lower([0, 0.3, 1, 0.3, 0], [0.1, 0, 0, np.inf, np.inf]).tolist() == [0, 0.3, 1, 0, 0]
    assert kl_inverse_upper(0.2, np.zeros((2, 0))).shape == (2, 0)
    assert kl_inverse_upper(np.full((2, 1), 0.2), np.full(3, 0.1)).shape == (2, 3)


@pytest.mark.parametrize("function", [kl_inverse_upper, kl_inverse_lower])
def test_inverses_refuse_nonsense(function) -> None:  # type: ignore[no-untyped-def]
    for q, c in [(-0.1, 0.1), (1.1, 0.1), (np.nan, 0.1), (0.5, -1.0), (0.5, np.nan)]:
        with pytest.raises(ValueError, match="must"):
            function(q, c)


def test_inverses_on_a_million_pairs_are_never_nan_and_monotone() -> None:
    q, c = risks_and_complexities(2, 1_000_000)
    upper, lower = kl_inverse_upper(q, c), kl_inverse_lower(q, c)
    assert np.all((lower >= 0.0) & (lower <= q) & (q <= upper) & (upper <= 1.0))
    assert np.all(kl_inverse_upper(q, 1.01 * c) >= upper)
    assert np.all(kl_inverse_lower(q, 1.01 * c) <= lower)


@pytest.mark.parametrize("function", [kl_inverse_upper_gradient, kl_inverse_lower_gradient])
def test_inverse_gradients_match_differences(function) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(3)
    q, c = rng.uniform(0.01, 0.99, 500), 10.0 ** rng.uniform(-4, -0.5, 500)
    value, slope_q, slope_c = function(q, c)
    step_q, step_c = 1e-5 * np.minimum(q, 1 - q), 1e-5 * c
    numeric_q = (function(q + step_q, c)[0] - function(q - step_q, c)[0]) / (2 * step_q)
    numeric_c = (function(q, c + step_c)[0] - function(q, c - step_c)[0]) / (2 * step_c)
    room = np.minimum(value, 1 - value) > 1e-9
    np.testing.assert_allclose(slope_q[room], numeric_q[room], rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(slope_c[room], numeric_c[room], rtol=2e-6, atol=1e-6)


def test_a_value_of_one_still_has_a_slope_down() -> None:
    value, slope_q, slope_c = kl_inverse_upper_gradient(0.5, 400.0)
    assert value == 1.0
    assert 1e-8 < slope_c < 1e-6
    assert slope_q > 0


@pytest.mark.parametrize("function", [kl_inverse_upper_gradient, kl_inverse_lower_gradient])
def test_inverse_gradients_are_finite_everywhere(function) -> None:  # type: ignore[no-untyped-def]
    q, c = risks_and_complexities(4, 5000)
    q, c = np.append(q, [0, 0.5, 1, 0, 0.5, 1]), np.append(c, [0, 0, 0, np.inf, np.inf, np.inf])
    for part in function(q, c):
        assert np.all(np.isfinite(part))

"""The mixture of kl and Catoni inequalities: its inverse, its validity, its derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest

from votecert.numerics import (
    binary_kl,
    catoni_grid,
    exact,
    kl_inverse_upper,
    log_maurer,
    mixture_inverse,
    mixture_inverse_gradient,
)

pytest.importorskip("mpmath")


def log_mixture(q: float, p: float, m: int) -> float:
    """m Delta_m(q, p), written out."""
    terms = [-m * (math.log(1 - p * (1 - math.exp(-C))) + C * q) for C in catoni_grid(m)]
    terms.append(m * float(binary_kl(q, p)) - log_maurer(m))
    return float(np.logaddexp.reduce(terms)) - math.log(17)


def test_inverse_encloses_the_exact_one() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        m = int(10.0 ** rng.uniform(0, 9))
        q = float(rng.choice([0.0, rng.uniform(), 10.0 ** rng.uniform(-9, 0)]))
        c = 10.0 ** rng.uniform(-1, 4) / m
        excess = float(float(mixture_inverse(q, c, m)) - exact(40).mixture_inverse(q, c, m))
        assert 0.0 <= excess <= 1e-9, (q, c, m)


@pytest.mark.parametrize(("q", "c", "m"), [(0.936, 0.0026, 1), (0.9976, 2.7e-5, 55), (0.98, 0.0285, 5)])
def test_a_start_that_rounds_to_one_is_not_the_answer(q: float, c: float, m: int) -> None:
    assert float(mixture_inverse(q, c, m)) == pytest.approx(
        float(exact(40).mixture_inverse(q, c, m)), abs=1e-10
    )


@pytest.mark.parametrize("m", [1, 2, 7, 40])
@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.97])
def test_the_mixture_has_expectation_at_most_one(m: int, p: float) -> None:
    """Exhaustive over the binomial: this is the whole proof of validity for one weight vector."""
    total = 0.0
    for k in range(m + 1):
        total += math.comb(m, k) * p**k * (1 - p) ** (m - k) * math.exp(log_mixture(k / m, p, m))
    assert total <= 1.0 + 1e-12
    assert total > 0.5  # and little is given away


def test_the_inverse_covers_the_true_risk_often_enough() -> None:
    m, p, delta = 60, 0.2, 0.1
    k = np.arange(m + 1)
    bounds = mixture_inverse(k / m, math.log(1 / delta) / m, m)
    mass = np.array([math.comb(m, j) * p**j * (1 - p) ** (m - j) for j in k])
    assert mass[bounds < p].sum() <= delta


def test_inverse_at_the_ends() -> None:
    assert mixture_inverse([1.0, 0.2, 1.0], [0.1, np.inf, 0.0], 10).tolist() == [1.0, 1.0, 1.0]
    assert 0.0 < float(mixture_inverse(0.0, 0.0, 10)) < 0.1
    assert mixture_inverse(np.zeros((2, 1)), np.full(3, 0.1), 5).shape == (2, 3)
    for q, c in [(-0.1, 0.1), (1.1, 0.1), (np.nan, 0.1), (0.5, -1.0), (0.5, np.nan)]:
        with pytest.raises(ValueError, match="must"):
            mixture_inverse(q, c, 10)


@pytest.mark.parametrize("m", [1, 3, 100, 10**5, 10**9])
def test_inverse_is_monotone_and_close_to_the_better_part(m: int) -> None:
    q = np.linspace(0.0, 1.0, 201)[:, None]
    c = np.geomspace(0.1, 2000.0, 40) / m
    value = mixture_inverse(q, c, m)
    assert np.all((value >= q) & (value <= 1.0))
    assert np.all(np.diff(value, axis=0) >= 0.0)
    assert np.all(np.diff(value, axis=1) >= 0.0)
    assert np.all(value <= kl_inverse_upper(q, c + (math.log(17) + log_maurer(m)) / m) + 1e-10)


def test_neither_part_alone_is_always_better() -> None:
    def gain(q: float, c: float, m: int) -> float:
        return float(kl_inverse_upper(q, c + log_maurer(m) / m) - mixture_inverse(q, c, m))

    assert gain(0.1, 0.005, 1000) > 1e-4
    assert gain(0.23, 0.2835, 1000) < -1e-4


def test_gradient_matches_differences() -> None:
    rng = np.random.default_rng(1)
    for m in (5, 300, 10**5):
        q, c = rng.uniform(0.01, 0.9, 200), 10.0 ** rng.uniform(0, 2, 200) / m
        value, slope_q, slope_c = mixture_inverse_gradient(q, c, m)
        step_q, step_c = 1e-5 * q, 1e-5 * c
        numeric_q = (mixture_inverse(q + step_q, c, m) - mixture_inverse(q - step_q, c, m)) / (2 * step_q)
        numeric_c = (mixture_inverse(q, c + step_c, m) - mixture_inverse(q, c - step_c, m)) / (2 * step_c)
        inside = value < 1.0 - 1e-6
        np.testing.assert_allclose(slope_q[inside], numeric_q[inside], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(slope_c[inside], numeric_c[inside], rtol=1e-5, atol=1e-6)
        assert np.all(slope_q >= 0.0)
        assert np.all(slope_c >= 0.0)


def test_gradient_is_finite_at_the_ends() -> None:
    for m in (1, 1000):
        for part in mixture_inverse_gradient([0.0, 0.0, 1.0, 0.5, 0.0], [0.0, np.inf, 0.1, 1e5, 1e-9], m):
            assert np.all(np.isfinite(part))

"""Dirichlet and categorical divergences: all concentrations, no cancellation, right slopes."""

from __future__ import annotations

import numpy as np
import pytest

from votecert.numerics import (
    categorical_kl,
    categorical_kl_gradient,
    dirichlet_kl,
    dirichlet_kl_gradient,
    exact,
)

pytest.importorskip("mpmath")


def parameter_pairs(seed: int, size: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Posteriors of total 1e-6 to 1e12 (skewed and even) against flat and arbitrary priors."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(size):
        d = int(rng.choice([2, 3, 10, 60]))
        prior = np.full(d, rng.choice([1 / 16, 1 / 4, 1, 4, 64, 4096]))
        if rng.uniform() < 0.4:
            prior = 10.0 ** rng.uniform(-3, 5, d)
        weights = rng.dirichlet(np.full(d, 10.0 ** rng.uniform(-1, 2))) + 1e-30
        posterior = 10.0 ** rng.uniform(-6, 12) * weights
        if rng.uniform() < 0.25:  # close to the prior, where the divergence is tiny
            posterior = (
                prior * 10.0 ** rng.uniform(-2, 2) * (1 + rng.normal(size=d) * 10.0 ** rng.uniform(-9, -2))
            )
        pairs.append((posterior, prior))
    return pairs


def test_dirichlet_kl_agrees_with_forty_digits() -> None:
    for alpha, beta in parameter_pairs(0, 250):
        want = exact(40).dirichlet_kl(alpha.tolist(), beta.tolist())
        got = float(dirichlet_kl(alpha, beta))
        assert abs(float(got - want)) <= 1e-11 * (1.0 + float(want)), (alpha, beta)


@pytest.mark.parametrize("total", [1e-6, 1.0, 1e4, 1e8, 1e10, 1e12])
@pytest.mark.parametrize("prior", [1 / 16, 1.0, 4096.0])
def test_dirichlet_kl_with_many_voters(total: float, prior: float) -> None:
    d = 500
    alpha = total * np.random.default_rng(1).dirichlet(np.ones(d))
    want = float(exact(40).dirichlet_kl(alpha.tolist(), [prior] * d))
    assert float(dirichlet_kl(alpha, np.full(d, prior))) == pytest.approx(want, rel=1e-11, abs=1e-10)


def test_single_precision_noise_of_the_published_program_does_not_happen() -> None:
    """Ten voters at K = 1e8: the divergence is about 78 there, single precision made it 2.9."""
    theta = np.full(10, 0.1)
    grid = np.geomspace(1e2, 1e10, 400)
    values = dirichlet_kl(grid[:, None] * theta, np.ones(10))
    growth = np.diff(values) / np.diff(np.log(grid))
    # D grows like (d-1)/2 log K; noise would break monotonicity at once.
    assert np.all(growth > 4.0)
    assert np.all(growth[200:] == pytest.approx(4.5, abs=1e-3))


def test_dirichlet_kl_stacks_and_broadcasts() -> None:
    rng = np.random.default_rng(2)
    alpha, beta = rng.uniform(0.1, 9, (4, 5, 3)), rng.uniform(0.1, 9, 3)
    stacked = dirichlet_kl(alpha, beta)
    assert stacked.shape == (4, 5)
    assert float(stacked[2, 3]) == pytest.approx(float(dirichlet_kl(alpha[2, 3], beta)), rel=1e-13)
    assert dirichlet_kl(alpha[0, 0], rng.uniform(0.1, 9, (7, 3))).shape == (7,)


def test_dirichlet_kl_special_cases() -> None:
    assert float(dirichlet_kl([2.0, 5.0], [2.0, 5.0])) == 0.0
    assert float(dirichlet_kl([0.0, 1.0], [1.0, 1.0])) == np.inf
    assert float(dirichlet_kl([0.0, 0.0], [1.0, 1.0])) == np.inf
    assert float(dirichlet_kl([1e-300, 1e-300], [1.0, 1.0])) > 1e290
    assert float(dirichlet_kl([np.inf, 1.0], [1.0, 1.0])) == np.inf
    assert float(dirichlet_kl([7.0], [1.0])) == 0.0
    for alpha, beta in [([-1.0, 1.0], [1.0, 1.0]), ([1.0, 1.0], [0.0, 1.0]), ([np.nan, 1.0], [1.0, 1.0])]:
        with pytest.raises(ValueError, match="must be"):
            dirichlet_kl(alpha, beta)


def test_dirichlet_kl_gradient_agrees_with_high_precision_differences() -> None:
    import mpmath

    for alpha, beta in parameter_pairs(3, 60):
        value, slope = dirichlet_kl_gradient(alpha, beta)
        assert float(value) == float(dirichlet_kl(alpha, beta))
        with mpmath.workdps(60):
            a, b = [mpmath.mpf(x) for x in alpha], [mpmath.mpf(x) for x in beta]
            total = (sum(a) - sum(b)) * mpmath.psi(1, sum(a))
            for i in range(min(len(a), 4)):
                want = float((a[i] - b[i]) * mpmath.psi(1, a[i]) - total)
                # Rounding of the inputs alone moves the slope by about eps * beta / alpha.
                scale = abs(want) + float(b[i] / a[i] + sum(b) / sum(a)) * 1e-4
                assert abs(float(slope[i]) - want) <= 1e-10 * scale, (alpha, beta, i)


def test_dirichlet_kl_gradient_is_finite_at_zero() -> None:
    _, slope = dirichlet_kl_gradient([0.0, 1.0, 2.0], [1.0, 1.0, 1.0])
    assert np.all(np.isfinite(slope))


def test_categorical_kl_and_entropy() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        theta, pi = rng.dirichlet(np.ones(40)), rng.dirichlet(np.full(40, 2.0))
        theta[:3] = 0.0
        want = float(exact(40).categorical_kl(theta.tolist(), pi.tolist()))
        assert float(categorical_kl(theta, pi)) == pytest.approx(want, abs=1e-14)
    uniform = np.full(8, 1 / 8)
    weights = rng.dirichlet(np.ones(8))
    assert float(categorical_kl(weights, uniform)) == pytest.approx(
        np.log(8) + float(weights @ np.log(weights)), abs=1e-14
    )
    assert float(categorical_kl([0.5, 0.5], [1.0, 0.0])) == np.inf
    assert float(categorical_kl(uniform, uniform)) == 0.0
    assert categorical_kl(rng.dirichlet(np.ones(8), size=3), uniform).shape == (3,)


def test_categorical_kl_gradient() -> None:
    rng = np.random.default_rng(5)
    theta, pi = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
    value, slope = categorical_kl_gradient(theta, pi)
    assert float(value) == float(categorical_kl(theta, pi))
    for i in range(6):
        step = np.zeros(6)
        step[i] = 1e-6 * theta[i]
        # The plain sum, not clipped at zero, is what is differentiated.
        ahead, behind = ((t * np.log(t / pi)).sum() for t in (theta + step, theta - step))
        assert float(slope[i]) == pytest.approx((ahead - behind) / (2 * step[i]), rel=1e-5, abs=1e-5)
    assert np.all(np.isfinite(categorical_kl_gradient([0.0, 1.0], [0.5, 0.5])[1]))

"""The incomplete beta function and its derivatives, from tiny to huge parameters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betainc

from votecert.numerics import beta_cdf, beta_cdf_gradient, dirichlet_tail, exact

pytest.importorskip("mpmath")

Case = tuple[float, float, float]


def cases(seed: int, size: int, smallest: float, largest: float) -> list[Case]:
    """Points (x, a, b): the bulk of the distribution and the margins 1/2 + r that bounds use."""
    rng = np.random.default_rng(seed)
    found: list[Case] = []
    while len(found) < size:
        a, b = 10.0 ** rng.uniform(np.log10(smallest), np.log10(largest), 2)
        if rng.uniform() < 0.4:
            b = a * 10.0 ** rng.uniform(-1, 1)
        centre, spread = np.log(a / b), np.sqrt((a + b) / a / b)
        x = 1.0 / (1.0 + np.exp(-np.clip(centre + 1.3 * spread * rng.normal(), -600, 600)))
        if rng.uniform() < 0.5:
            x = rng.uniform(0.5, 0.95)
        if 1e-250 < x < 1.0 - 1e-9:
            found.append((float(x), float(a), float(b)))
    return found


def slopes(x: float, a: float, b: float) -> tuple[float, float, float]:
    """Central differences in 55 digits: as good as exact here."""
    arithmetic = exact(30)
    point = [arithmetic.number(value) for value in (x, a, b)]
    result = []
    for i in range(3):
        step = point[i] * arithmetic.number(10) ** -14
        ahead = arithmetic.beta_cdf_up(*[v + step * (j == i) for j, v in enumerate(point)])
        behind = arithmetic.beta_cdf_up(*[v - step * (j == i) for j, v in enumerate(point)])
        result.append(float((ahead - behind) / (2 * step)))
    return result[0], result[1], result[2]


@pytest.mark.parametrize(("smallest", "largest", "size"), [(1e-8, 1e4, 250), (1.0, 1e8, 60), (1e8, 5e9, 6)])
def test_beta_cdf_error_is_far_below_the_slack(smallest: float, largest: float, size: int) -> None:
    for x, a, b in cases(0, size, smallest, largest):
        error = abs(float(beta_cdf(x, a, b) - exact(40).beta_cdf_up(x, a, b)))
        assert error <= 0.05e-10 * (1.0 + (a + b) / 1e10), (x, a, b)


@pytest.mark.parametrize("total", [1e6, 1e8, 1e9])
def test_whole_number_parameters_are_as_good_as_others(total: float) -> None:
    """SciPy alone is off by 1e-9 and more here: it rounds 1 - x and takes a high power of it."""
    rng = np.random.default_rng(1)
    worst, worst_plain = 0.0, 0.0
    for _ in range(25):
        a = float(rng.integers(2, 40))
        x = (a + rng.normal() * np.sqrt(a) * 0.7) / total
        want = exact(40).beta_cdf_up(x, a, total)
        worst = max(worst, abs(float(beta_cdf(x, a, total) - want)))
        worst_plain = max(worst_plain, abs(float(betainc(a, total, x) - want)))
        mirrored = abs(float(beta_cdf(1.0 - x, total, a) - exact(40).beta_cdf_up(1.0 - x, total, a)))
        worst = max(worst, mirrored)
    assert worst < 1e-13
    assert worst <= worst_plain


def test_limits_of_the_parameters() -> None:
    x = np.array([0.0, 0.3, 0.5, 1.0])
    assert beta_cdf(x, 0.0, 2.0).tolist() == [1.0, 1.0, 1.0, 1.0]
    assert beta_cdf(x, 2.0, 0.0).tolist() == [0.0, 0.0, 0.0, 1.0]
    assert beta_cdf(x, 0.0, 0.0).tolist() == [1.0, 1.0, 1.0, 1.0]
    assert beta_cdf(x[:, None], np.ones(5), 1.0).shape == (4, 5)


def test_dirichlet_tail_is_the_complement_and_sub_gaussian() -> None:
    K = np.geomspace(1e-3, 1e9, 40)[:, None]
    g = np.linspace(0.0, 0.5, 21)
    tail = dirichlet_tail(K, g)
    np.testing.assert_allclose(tail, 1.0 - beta_cdf(0.5 + g, K / 2, K / 2), atol=2e-12)
    np.testing.assert_allclose(tail[:, 0], 0.5, rtol=1e-10)
    assert np.all(tail <= np.exp(-2.0 * (K + 1.0) * g**2) + 1e-300)


def test_the_printed_lemma_is_violated_where_the_errata_say() -> None:
    assert float(dirichlet_tail(100.0, 0.1493)) == pytest.approx(1.15e-3, rel=0.01)
    assert np.exp(-4.0 * 101 * 0.1493**2) == pytest.approx(1.23e-4, rel=0.01)


@pytest.mark.parametrize(
    ("smallest", "largest", "size"), [(1e-9, 1e-2, 60), (1e-3, 1e3, 120), (1.0, 1e7, 40), (1e7, 3e9, 2)]
)
def test_gradient_agrees_with_high_precision_differences(smallest: float, largest: float, size: int) -> None:
    points = cases(2, size, smallest, largest)
    x, a, b = np.array(points).T
    value, slope_x, slope_a, slope_b = beta_cdf_gradient(x, a, b)
    np.testing.assert_allclose(value, beta_cdf(x, a, b), atol=1e-7)
    for i, point in enumerate(points):
        want_x, want_a, want_b = slopes(*point)
        total = a[i] + b[i]
        spread_a, spread_b = np.sqrt(a[i] * total / b[i]), np.sqrt(b[i] * total / a[i])
        assert float(slope_x[i]) == pytest.approx(want_x, rel=1e-8 + 1e-15 * total, abs=1e-20 / x[i]), point
        assert float(slope_a[i]) == pytest.approx(want_a, rel=1e-6, abs=1e-6 / spread_a), point
        assert float(slope_b[i]) == pytest.approx(want_b, rel=1e-6, abs=1e-6 / spread_b), point


def test_gradient_is_finite_everywhere() -> None:
    x = np.array([0.0, 1e-300, 1e-9, 0.3, 0.5, 0.9, 1.0 - 1e-9, 1.0])[:, None, None]
    parameters = np.array([0.0, 1e-12, 1e-6, 1e-3, 0.5, 1.0, 40.0, 1e4, 1e7, 1e10])
    parts = beta_cdf_gradient(x, parameters[:, None], parameters)
    for part in parts:
        assert part.shape == (8, 10, 10)
        assert np.all(np.isfinite(part))
    value = parts[0]
    assert np.all((value >= -1e-9) & (value <= 1.0 + 1e-9))
    assert np.all(parts[1] >= 0.0)
    # I_x(a, b) falls in a and grows in b.
    assert np.all(parts[2] <= 1e-12)
    assert np.all(parts[3] >= -1e-12)


def test_gradient_at_a_zero_parameter_is_the_slope_of_the_limit() -> None:
    _, _, slope_a, _ = beta_cdf_gradient(0.6, 0.0, 2.0)
    # I_x(a, 2) = 1 - a * integral_x^1 (1-t)/t dt + ...
    assert float(slope_a) == pytest.approx(-(-np.log(0.6) - 0.4), rel=1e-6)
    _, _, _, slope_b = beta_cdf_gradient(0.6, 2.0, 0.0)
    assert float(slope_b) == pytest.approx(-np.log(0.4) - 0.6, rel=1e-6)


def test_gradient_in_blocks_equals_one_by_one() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0.1, 50.0, (2, 20_000))
    whole = beta_cdf_gradient(0.55, a, b)
    for i in (0, 8191, 8192, 19_999):
        for part, single in zip(whole, beta_cdf_gradient(0.55, a[i], b[i]), strict=True):
            assert float(part[i]) == pytest.approx(float(single), rel=1e-13)

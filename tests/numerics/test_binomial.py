"""Binomial tails in log space and Clopper-Pearson limits, from one row to a billion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from votecert.numerics import (
    binomial_tail,
    binomial_tail_slope,
    clopper_pearson_upper,
    exact,
    kl_inverse_upper,
    log_binomial_cdf,
    log_binomial_coefficient,
)

pytest.importorskip("mpmath")


def counts_and_levels(seed: int, size: int, most: float) -> list[tuple[int, int, float]]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(size):
        m = int(10.0 ** rng.uniform(0, most))
        k = int(
            rng.choice([0, m, rng.integers(0, m + 1), m * 10.0 ** rng.uniform(-most, 0), rng.integers(0, 60)])
        )
        found.append((min(k, m), m, -(10.0 ** rng.uniform(-2, 4))))
    return found


def test_upper_limit_encloses_the_exact_one() -> None:
    for k, m, log_delta in [*counts_and_levels(0, 150, 6), (7, 10**9, -3.0), (123_456_789, 10**9, -50.0)]:
        want = exact(40).clopper_pearson_upper(k, m, log_delta)
        excess = float(float(clopper_pearson_upper(k, m, log_delta)) - want)
        assert 0.0 <= excess <= 1e-10, (k, m, log_delta)
        # Few errors among very many rows: the limit itself is tiny and must be good relative to that.
        assert excess <= 1e-9 * float(want)


@pytest.mark.parametrize("m", [1, 2, 5, 13])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
def test_upper_limit_solves_the_plain_sum(m: int, delta: float) -> None:
    for k in range(m):
        p = float(clopper_pearson_upper(k, m, math.log(delta)))
        tail = sum(math.comb(m, j) * p**j * (1 - p) ** (m - j) for j in range(k + 1))
        assert tail == pytest.approx(delta, rel=1e-9)


def test_limits_at_the_ends() -> None:
    assert clopper_pearson_upper([5, 0, 3], [5, 5, 5], [-3.0, -np.inf, -1e308]).tolist() == [1.0, 1.0, 1.0]
    assert float(clopper_pearson_upper(0, 10, math.log(0.05))) == pytest.approx(1 - 0.05**0.1, rel=1e-11)
    assert float(clopper_pearson_upper(3, 10, 0.0)) < 0.05
    assert clopper_pearson_upper(np.zeros((2, 1)), 10, np.full(3, -1.0)).shape == (2, 3)
    for k, m, log_delta in [(-1, 5, -1.0), (6, 5, -1.0), (0, 0, -1.0), (1, 5, 0.1), (1, 5, np.nan)]:
        with pytest.raises(ValueError, match="must"):
            clopper_pearson_upper(k, m, log_delta)


def test_many_limits_at_once_are_monotone_and_below_chernoff() -> None:
    m = 5000
    k = np.arange(m + 1)
    limits = clopper_pearson_upper(k[:, None], m, np.array([-0.1, -3.0, -40.0, -900.0, -5000.0]))
    assert np.all(np.diff(limits, axis=0) >= 0.0)
    assert np.all(np.diff(limits, axis=1) >= 0.0)
    assert np.all(limits[:, 1] >= k / m)
    assert np.all(limits[:, 2] <= kl_inverse_upper(k / m, 40.0 / m) + 1e-9)


def test_log_cdf_agrees_with_forty_digits_in_bulk_and_far_tail() -> None:
    rng = np.random.default_rng(2)
    for k, m, _ in counts_and_levels(3, 120, 6):
        p = float(rng.choice([rng.uniform(0.001, 0.999), min(0.999, (k + 1) / (m + 2) * 1.1)]))
        if k == m:
            assert float(log_binomial_cdf(k, m, p)) == 0.0
            continue
        cdf = exact(40).beta_cdf_up(1 - exact(40).number(p), m - k, k + 1)
        want = float(exact(40).log(cdf))
        assert float(log_binomial_cdf(k, m, p)) == pytest.approx(want, rel=1e-12, abs=1e-12), (k, m, p)


def test_log_cdf_at_the_ends() -> None:
    assert log_binomial_cdf([-1, 0, 3, 3, 2], 3, [0.5, 0.0, 0.5, 1.0, 1.0]).tolist() == [
        -np.inf,
        0,
        0,
        0,
        -np.inf,
    ]


def test_coefficient_agrees_with_whole_numbers() -> None:
    for n in (1, 2, 7, 40, 1000):
        for k in {0, 1, n // 3, n - 1, n}:
            assert float(log_binomial_coefficient(n, k)) == pytest.approx(
                math.log(math.comb(n, k)), rel=1e-14, abs=1e-14
            )
    big = float(exact(40).log_binomial(10**9, 1234))
    assert float(log_binomial_coefficient(10**9, 1234)) == pytest.approx(big, rel=1e-14)


def test_tail_is_the_plain_sum_and_has_the_right_slope() -> None:
    w = np.linspace(0.0, 1.0, 21)
    for n, k in [(1, 1), (5, 3), (6, 3), (20, 1), (20, 20)]:
        plain = sum(math.comb(n, j) * w**j * (1 - w) ** (n - j) for j in range(k, n + 1))
        np.testing.assert_allclose(binomial_tail(n, k, w), plain, atol=1e-14)
        inner = w[1:-1]
        numeric = (binomial_tail(n, k, inner + 1e-6) - binomial_tail(n, k, inner - 1e-6)) / 2e-6
        np.testing.assert_allclose(binomial_tail_slope(n, k, inner), numeric, rtol=1e-6, atol=1e-8)
    assert binomial_tail(4, [0, 5, -1], 0.3).tolist() == [1.0, 0.0, 1.0]
    assert binomial_tail_slope(4, [0, 5, -1], 0.3).tolist() == [0.0, 0.0, 0.0]
    assert binomial_tail_slope(4, [1, 4], [0.0, 1.0]) == pytest.approx([4.0, 4.0])


def test_the_hundred_draw_vote_is_a_coin_flip_or_worse_at_the_tie() -> None:
    """The published code had the parameters the wrong way round and got 0.46 here."""
    assert float(binomial_tail(100, 50, 0.5)) == pytest.approx(0.5397946, abs=1e-7)

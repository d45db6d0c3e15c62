"""The multiple-precision arithmetic itself, against independent routes: mpmath, fractions, quadrature."""

from __future__ import annotations

import math

import pytest

from votecert.numerics import exact

mpmath = pytest.importorskip("mpmath")

E = exact(40)


def close(got: object, want: object, digits: int = 38) -> bool:
    with mpmath.workdps(60):
        got, want = (mpmath.mpf(x) if isinstance(x, float | int) else mpmath.mpf(str(x)) for x in (got, want))
        return bool(abs(got - want) <= mpmath.mpf(10) ** -digits * (1 + abs(want)))


def test_precision_of_the_global_context_is_left_alone() -> None:
    before = mpmath.mp.dps
    exact(77).log(3)
    assert mpmath.mp.dps == before
    assert exact(40) is exact(40)


def test_floats_are_taken_as_exact_numbers() -> None:
    assert E.number(0.1) != E.number(1) / 10
    assert float(E.number(0.1)) == 0.1


@pytest.mark.parametrize(
    ("a", "b", "x"), [(2.5, 3.5, 0.3), (0.01, 7.0, 0.6), (300.0, 200.0, 0.61), (50.0, 51.0, 0.5)]
)
def test_beta_cdf_agrees_with_the_hypergeometric_series(a: float, b: float, x: float) -> None:
    with mpmath.workdps(70):
        want = mpmath.betainc(a, b, 0, mpmath.mpf(x), regularized=True)
    assert close(E.beta_cdf_up(x, a, b), want)
    assert E.beta_cdf_up(x, a, b) == E.beta_cdf_down(x, a, b)


def test_beta_cdf_agrees_with_quadrature_at_a_billion() -> None:
    a, b, x = 4e8, 6e8, 0.40001
    with mpmath.workdps(60):
        a, b, end = mpmath.mpf(a), mpmath.mpf(b), mpmath.mpf(x)
        front = mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b)
        spread = mpmath.sqrt(a * b / (a + b) ** 3)
        points = [end - k * spread for k in (22, 17, 12, 8, 5, 2, 0)]
        want = mpmath.quad(
            lambda t: mpmath.exp(front + (a - 1) * mpmath.log(t) + (b - 1) * mpmath.log(1 - t)), points
        )
    assert close(E.beta_cdf_up(x, 4e8, 6e8), want, digits=36)


def test_beta_cdf_limits() -> None:
    assert E.beta_cdf_up(0.4, 0, 2) == 1
    assert E.beta_cdf_up(0.4, 2, 0) == 0
    assert E.beta_cdf_up(0.4, 0, 0) == 1
    assert E.beta_cdf_up(0, 2, 3) == 0
    assert E.beta_cdf_up(1, 2, 3) == 1


def test_binomial_functions_agree_with_fractions() -> None:
    n, k = 17, 5
    w = mpmath.mpf(3) / 8
    want = sum(math.comb(n, j) * w**j * (1 - w) ** (n - j) for j in range(k, n + 1))
    assert close(E.binomial_tail_down(n, k, 0.375), want, digits=14)
    assert E.binomial_tail_down(n, 0, 0.375) == 1
    assert E.binomial_tail_down(n, n + 1, 0.375) == 0
    assert close(E.log_binomial(60, 25), mpmath.mp.clone().log(math.comb(60, 25)), digits=14)


@pytest.mark.parametrize(
    ("k", "m", "log_delta"), [(0, 10, -3.0), (4, 30, -2.0), (29, 30, -70.0), (100, 9000, -800.0)]
)
def test_clopper_pearson_solves_its_equation(k: int, m: int, log_delta: float) -> None:
    p = E.clopper_pearson_upper(k, m, log_delta)
    tail = sum(math.comb(m, j) * p**j * (1 - p) ** (m - j) for j in range(k + 1))
    assert close(E.log(tail), log_delta, digits=32)
    assert E.clopper_pearson_upper(m, m, log_delta) == 1
    assert E.clopper_pearson_upper(k, m, 0) == 0


@pytest.mark.parametrize("log_delta", [-100.0, -130.0, -149.0, -151.0, -160.0, -5000.0])
def test_clopper_pearson_ends_where_one_minus_p_is_below_the_precision(log_delta: float) -> None:
    delta = E.exp(log_delta)
    assert close(E.clopper_pearson_upper(0, 2, log_delta), 1 - E.sqrt(delta))
    assert close(E.clopper_pearson_upper(1, 2, log_delta), E.sqrt(1 - delta))


@pytest.mark.parametrize(("q", "c"), [(0.1, 0.02), (0.0, 0.5), (0.9, 3.0), (1e-9, 1e-12), (0.4, 1e-18)])
def test_kl_inverses_solve_their_equation(q: float, c: float) -> None:
    def kl(p: mpmath.mpf) -> mpmath.mpf:
        x = E.number(q)
        return (x * E.log(x / p) if q else 0) + (1 - x) * E.log((1 - x) / (1 - p))

    assert close(kl(E.kl_inverse_upper(q, c)), c)
    if q:
        assert E.kl_inverse_lower(q, c) < q < E.kl_inverse_upper(q, c)
        assert close(kl(E.kl_inverse_lower(q, c)), c)


def test_inverses_at_the_ends() -> None:
    inf = float("inf")
    assert E.kl_inverse_upper(1.0 + 1e-12, 0.1) == 1
    assert E.kl_inverse_upper(0.3, inf) == 1
    assert float(E.kl_inverse_upper(0.3, 0.0)) == 0.3
    assert float(E.kl_inverse_upper(0.3, 1e6)) == 1.0
    assert E.kl_inverse_lower(-1e-12, 0.1) == 0
    assert E.kl_inverse_lower(0.3, inf) == 0
    assert E.mixture_inverse(0.3, inf, 9) == 1
    assert E.mixture_inverse(1.0, 0.1, 9) == 1


def test_maurer_is_the_sum_of_the_definition() -> None:
    for m in (1, 2, 9, 40):
        total = sum(math.comb(m, k) * k**k * (m - k) ** (m - k) for k in range(m + 1))
        assert close(E.log_maurer(m), E.log(E.number(total) / m**m))


def test_divergences_agree_with_closed_forms() -> None:
    # Beta(2, 1) from Beta(1, 1): E log(2t) = log 2 - 1/2.
    assert close(E.dirichlet_kl([2, 1], [1, 1]), E.log(2) - E.number(1) / 2)
    assert E.dirichlet_kl([3], [1]) == 0
    assert E.dirichlet_kl([0, 1], [1, 1]) == float("inf")
    assert close(E.categorical_kl([0.5, 0.5, 0], [0.25, 0.5, 0.25]), E.log(2) / 2)
    assert E.categorical_kl([0.5, 0.5], [1, 0]) == float("inf")

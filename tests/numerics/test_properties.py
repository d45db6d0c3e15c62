"""Laws that hold for every input, searched for counter-examples."""

from __future__ import annotations

import numpy as np
import pytest

from votecert.numerics import (
    beta_cdf,
    binary_kl,
    clopper_pearson_upper,
    dirichlet_kl,
    kl_inverse_lower,
    kl_inverse_upper,
    log_binomial_cdf,
    mixture_inverse,
)

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

risk = st.floats(0.0, 1.0)
complexity = st.floats(0.0, 50.0)
parameter = st.floats(1e-8, 1e9)
settings = hypothesis.settings(max_examples=120, deadline=None, derandomize=True)


@settings
@hypothesis.given(risk, complexity)
def test_kl_inverses_surround_q_and_reach_the_complexity(q: float, c: float) -> None:
    lower, upper = float(kl_inverse_lower(q, c)), float(kl_inverse_upper(q, c))
    assert 0.0 <= lower <= q <= upper <= 1.0
    if c > 0.0:
        assert upper == 1.0 or float(binary_kl(q, upper)) >= c * (1.0 - 1e-9)
        assert lower == 0.0 or float(binary_kl(q, lower)) >= c * (1.0 - 1e-9)


@settings
@hypothesis.given(risk, complexity)
def test_kl_inverses_mirror_each_other(q: float, c: float) -> None:
    assert float(kl_inverse_lower(1.0 - q, c)) == pytest.approx(1.0 - float(kl_inverse_upper(q, c)), abs=3e-8)


@settings
@hypothesis.given(risk, risk, st.floats(0.0, 5.0), st.integers(1, 10**7))
def test_mixture_inverse_grows_with_the_loss(first: float, second: float, c: float, m: int) -> None:
    low, high = sorted((first, second))
    values = mixture_inverse([low, high], c, m)
    assert low <= values[0] <= values[1] + 1e-12 <= 1.0 + 1e-12


@settings
@hypothesis.given(st.integers(1, 10**6), st.floats(0.0, 1.0), st.floats(-2000.0, 0.0))
def test_clopper_pearson_is_above_the_frequency(m: int, share: float, log_delta: float) -> None:
    k = round(share * m)
    upper = float(clopper_pearson_upper(k, m, log_delta))
    assert 0.0 <= upper <= 1.0
    if log_delta < -1.0:
        assert k / m <= upper
    if 0.0 < upper < 1.0:
        assert float(log_binomial_cdf(k, m, upper)) <= log_delta


@settings
@hypothesis.given(st.lists(st.tuples(parameter, st.floats(1e-3, 1e4)), min_size=1, max_size=6))
def test_dirichlet_kl_is_never_negative_and_ignores_order(pairs: list[tuple[float, float]]) -> None:
    alpha, beta = np.array(pairs).T
    value = float(dirichlet_kl(alpha, beta))
    assert value >= 0.0
    assert float(dirichlet_kl(alpha[::-1], beta[::-1])) == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert float(dirichlet_kl(beta, beta)) == pytest.approx(0.0, abs=1e-12)


@settings
@hypothesis.given(st.lists(parameter, min_size=3, max_size=6), st.floats(0.1, 100.0))
def test_merging_components_never_raises_the_divergence(alpha: list[float], b: float) -> None:
    beta = [b] * len(alpha)
    merged = dirichlet_kl([alpha[0] + alpha[1], *alpha[2:]], [2 * b, *beta[2:]])
    whole = float(dirichlet_kl(alpha, beta))
    assert float(merged) <= whole * (1.0 + 1e-9) + 1e-9


@settings
@hypothesis.given(st.floats(1e-6, 1.0 - 1e-6), st.floats(0.0, 1e10), st.floats(0.0, 1e10))
def test_beta_cdf_is_a_probability(x: float, a: float, b: float) -> None:
    value = float(beta_cdf(x, a, b))
    assert 0.0 <= value <= 1.0
    if a > 0.0 and b > 0.0:
        assert value + float(beta_cdf(1.0 - x, b, a)) == pytest.approx(1.0, abs=1e-6)

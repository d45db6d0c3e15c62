"""OUTWARD never falls on the wrong side of the exact value, and never far from it."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from votecert.numerics import OUTWARD, Arithmetic, exact

pytest.importorskip("mpmath")

E = exact(40)
RNG = np.random.default_rng(0)


def assert_above(got: float, want: object, room: float) -> None:
    assert isinstance(got, float)
    assert 0.0 <= float(got - want) <= room  # type: ignore[operator]


def assert_below(got: float, want: object, room: float) -> None:
    assert isinstance(got, float)
    assert 0.0 <= float(want - got) <= room  # type: ignore[operator]


@pytest.mark.parametrize("x", [1e-300, 0.3, 1.0, 2.0, 1e10])
def test_elementary_functions_round_up(x: float) -> None:
    assert_above(OUTWARD.log(x), E.log(x), 1e-12)
    assert_above(OUTWARD.sqrt(x), E.sqrt(x), 1e-9)
    assert_above(OUTWARD.exp(-x), E.exp(-x), 1e-12)
    assert OUTWARD.number(x) == x


@pytest.mark.parametrize("m", [1, 7, 8, 1000, 10**6, 10**6 + 1, 10**8])
def test_log_maurer(m: int) -> None:
    assert_above(OUTWARD.log_maurer(m), E.log_maurer(m), 5e-11)


@pytest.mark.parametrize(("n", "k"), [(5, 0), (5, 5), (10, 3), (1500, 700), (10**5, 40)])
def test_log_binomial(n: int, k: int) -> None:
    assert_above(OUTWARD.log_binomial(n, k), E.log_binomial(n, k), 2e-11)


def test_inverses() -> None:
    for _ in range(40):
        q = float(RNG.choice([0.0, 1.0, 1.0 + 1e-10, RNG.uniform()]))
        c = float(10.0 ** RNG.uniform(-5, 1))
        assert_above(OUTWARD.kl_inverse_upper(q, c), E.kl_inverse_upper(q, c), 1e-11)
        assert_below(OUTWARD.kl_inverse_lower(min(q, 1.0), c), E.kl_inverse_lower(min(q, 1.0), c), 1e-11)
    for m in (1, 60, 10**5):
        for c in (0.1 / m, 9.0 / m, 300.0 / m):
            assert_above(OUTWARD.mixture_inverse(0.13, c, m), E.mixture_inverse(0.13, c, m), 1e-11)
    for inverse in (OUTWARD.kl_inverse_upper(0.3, math.inf), OUTWARD.mixture_inverse(0.3, math.inf, 9)):
        assert inverse == 1.0


def test_categorical_kl() -> None:
    for d in (1, 2, 30, 1500):
        theta, pi = RNG.dirichlet(np.ones(d)).tolist(), RNG.dirichlet(np.ones(d)).tolist()
        assert_above(OUTWARD.categorical_kl(theta, pi), E.categorical_kl(theta, pi), 1e-11)
        assert_above(OUTWARD.categorical_kl(theta, theta), E.categorical_kl(theta, theta), 1e-11)


def test_dirichlet_kl() -> None:
    for d in (1, 2, 30):
        for total in (1e-6, 1.0, 1e5, 1e12):
            alpha, beta = (total * RNG.dirichlet(np.ones(d))).tolist(), [1.0] * d
            want = E.dirichlet_kl(alpha, beta)
            assert_above(OUTWARD.dirichlet_kl(alpha, beta), want, 2e-9 + 3e-9 * float(want))
    assert OUTWARD.dirichlet_kl([0.0, 1.0], [1.0, 1.0]) == math.inf


def test_beta_and_binomial_tails() -> None:
    for total in (0.01, 3.0, 200.0, 1e6, 1e8):
        for share in (0.0, 1e-3, 0.4, 0.5, 0.62, 1.0):
            x, a, b = float(RNG.uniform(0.5, 0.7)), total * share, total * (1.0 - share)
            assert_above(OUTWARD.beta_cdf_up(x, a, b), E.beta_cdf_up(x, a, b), 1.1e-10)
            assert_below(OUTWARD.beta_cdf_down(x, a, b), E.beta_cdf_down(x, a, b), 1.1e-10)
    for n, k in [(1, 1), (100, 50), (101, 20), (7, 0), (7, 8)]:
        w = float(RNG.uniform())
        assert_below(OUTWARD.binomial_tail_down(n, k, w), E.binomial_tail_down(n, k, w), 1.1e-10)


def test_tails_stay_inside_the_unit_interval() -> None:
    assert OUTWARD.beta_cdf_up(0.5, 0.0, 1.0) == 1.0
    assert OUTWARD.beta_cdf_down(0.5, 1.0, 0.0) == 0.0
    assert OUTWARD.binomial_tail_down(5, 6, 0.3) == 0.0


@pytest.mark.parametrize(("k", "m"), [(0, 1), (1, 1), (0, 50), (13, 50), (400, 10**5)])
@pytest.mark.parametrize("log_delta", [-0.1, -3.0, -500.0])
def test_clopper_pearson(k: int, m: int, log_delta: float) -> None:
    want = E.clopper_pearson_upper(k, m, log_delta)
    assert_above(OUTWARD.clopper_pearson_upper(k, m, log_delta), want, 1e-11)


@pytest.mark.parametrize("K", [10.0, 1e5, 1e9])
def test_a_whole_formula_is_outward_too(K: float) -> None:
    """The shape of a real bound: rounded arguments inside, rounded arithmetic outside."""
    theta, r, m, delta = (0.1, 0.2, 0.3, 0.4), 0.01, 3000, 0.05

    def formula(ar):  # type: ignore[no-untyped-def]
        alpha = [ar.number(K) * t for t in theta]
        x = ar.number(0.5) + r
        loss = ar.beta_cdf_up(x, ar.number(K) * 0.7, ar.number(K) * 0.3)
        complexity = (ar.dirichlet_kl(alpha, [1.0] * 4) + ar.log(1 / ar.number(delta))) / m
        return ar.mixture_inverse(loss, complexity, m) / ar.beta_cdf_down(
            x, ar.number(K) / 2, ar.number(K) / 2
        )

    assert 0.0 <= float(formula(OUTWARD) - formula(E)) <= 2e-9


def test_missing_mpmath_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpmath", None)
    with pytest.raises(ImportError, match="pip install mpmath"):
        exact.__wrapped__(31)


def test_they_say_who_they_are() -> None:
    assert repr(OUTWARD) == "OUTWARD"
    assert repr(exact(40)) == "exact(40)"


def test_the_exact_arithmetic_has_functions_of_its_own():
    """None is taken over from float64: then nothing would be verified."""
    names = [name for name in vars(Arithmetic) if not name.startswith("__")]
    assert len(names) > 12
    assert set(names) <= vars(type(E)).keys()

"""The limit on the mean of bounded losses: outward, valid, and close where it should be."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from votecert.numerics import (
    OUTWARD,
    STAKES,
    bounded_mean_upper,
    clopper_pearson_upper,
    exact,
    kl_inverse_upper,
)

LOG = math.log(0.05)


def on_grid(losses: np.ndarray) -> tuple[list[Fraction], list[int]]:
    """Losses rounded up to multiples of 1/1024, and how often each is there."""
    places, counts = np.unique(np.ceil(losses * 1024).astype(int), return_counts=True)
    return [Fraction(int(place), 1024) for place in places], counts.tolist()


def some_losses(rng: np.random.Generator, n: int) -> list[np.ndarray]:
    return [
        np.clip(rng.normal(0.1, 0.05, n), 0, 1),
        rng.random(n) ** 8,
        (rng.random(n) < 0.05).astype(float),
        np.full(n, rng.choice([0.0, 0.5, 1.0])),
    ]


@pytest.mark.parametrize("n", [1, 3, 100, 10**5])
@pytest.mark.parametrize("level", [0.5, 0.05, 1e-12])
def test_it_encloses_the_exact_limit(n: int, level: float) -> None:
    pytest.importorskip("mpmath")
    for losses in some_losses(np.random.default_rng(n), n):
        values, counts = on_grid(losses)
        want = exact(40).bounded_mean_upper(values, counts, math.log(level))
        got = OUTWARD.bounded_mean_upper(values, counts, math.log(level))
        assert 0.0 <= float(got - want) <= 1e-11 or got == want == 1
    third = [Fraction(1, 3), Fraction(0), Fraction(2, 7)]  # which no float is
    want = exact(40).bounded_mean_upper(third, [n, 2, 3], math.log(level))
    assert 0.0 <= float(bounded_mean_upper(third, [n, 2, 3], math.log(level)) - want) <= 1e-11


def test_with_sizes_it_encloses_the_exact_limit() -> None:
    pytest.importorskip("mpmath")
    rng = np.random.default_rng(1)
    for n, most in ((1, 3), (40, 7), (1000, 30)):
        size = rng.integers(1, most + 1, size=n)
        wrong = rng.binomial(size, 0.1)
        units, counts = np.unique(np.stack([size, wrong]), axis=1, return_counts=True)
        sizes, losses = ([Fraction(int(x), most) for x in part] for part in units)
        want = exact(40).bounded_mean_upper(losses, counts.tolist(), LOG, sizes)
        got = bounded_mean_upper(losses, counts.tolist(), LOG, sizes)
        assert 0.0 <= float(got - want) <= 1e-11
        assert wrong.sum() / size.sum() < got


def test_the_definition() -> None:
    """The limit is where the mixture, written out, reaches one over half the level, or the kl limit."""
    losses, counts = [0.0, 0.2, 0.7], [30, 20, 10]
    got = bounded_mean_upper(losses, counts, LOG)

    def mixture(r: float) -> float:
        each = np.repeat(losses, counts)
        return float(np.mean([np.prod(1 + stake * (r - each) / (1 - r)) for stake in STAKES]))

    limit = float(kl_inverse_upper(np.repeat(losses, counts).mean(), math.log(40) / 60))
    assert mixture(got) == pytest.approx(40, rel=1e-9)
    assert got < limit
    assert bounded_mean_upper([0.0], [1000], -30.0) < limit


@pytest.mark.parametrize("level", [0.3, 0.05])
def test_no_distribution_on_three_losses_is_missed_too_often(level: float) -> None:
    """Exhaustive: every sample of five losses, weighed by its probability, for many distributions."""
    n, values = 5, (0.0, 0.5, 1.0)
    samples = [(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]
    limits = np.array([bounded_mean_upper(values, counts, math.log(level)) for counts in samples])
    ways = np.array([math.factorial(n) / math.prod(map(math.factorial, counts)) for counts in samples])
    worst = 0.0
    for p, q in itertools.product(np.linspace(0, 1, 26), repeat=2):
        if p + q <= 1:
            chances = ways * np.prod(np.array([p, q, 1 - p - q]) ** np.array(samples), axis=1)
            worst = max(worst, float(chances[limits < q / 2 + (1 - p - q)].sum()))
    assert 0 < worst <= level


def test_rounding_up_never_lowers_it_and_order_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    losses = rng.random(200) ** 4
    exactly = bounded_mean_upper(losses.tolist(), [1] * 200, LOG)
    assert exactly <= bounded_mean_upper(*on_grid(losses), LOG) <= exactly + 2 / 1024
    assert bounded_mean_upper(losses[::-1].tolist(), [1] * 200, LOG) == pytest.approx(exactly, abs=1e-12)


@pytest.mark.parametrize(("n", "at_most"), [(100, 0.052), (1000, 0.0075)])
def test_even_losses_are_limited_far_better_than_by_kl(n: int, at_most: float) -> None:
    losses = 0.1 + 0.05 * np.where(np.arange(n) % 2, 1, -1)
    excess = bounded_mean_upper(*on_grid(losses), LOG) - 0.1
    by_kl = float(kl_inverse_upper(0.1, -LOG / n)) - 0.1
    assert excess <= at_most
    assert excess <= 0.6 * by_kl


def test_clopper_and_pearson_are_better_for_errors() -> None:
    for k, n in ((0, 20), (5, 100), (50, 1000)):
        mixture = bounded_mean_upper([0.0, 1.0], [n - k, k], LOG)
        assert clopper_pearson_upper(k, n, LOG) < mixture < clopper_pearson_upper(k, n, LOG) * 1.6


def test_extremes() -> None:
    assert bounded_mean_upper([1.0], [7], LOG) == 1.0
    assert bounded_mean_upper([0.0], [7], -math.inf) == 1.0
    assert 0 < bounded_mean_upper([0.0], [10**9], LOG) < 1e-8
    assert 0.5 <= bounded_mean_upper([0.5], [10**9], 0.0) < 0.501
    for wrong in (([0.1], [0], -1.0), ([1.1], [1], -1.0), ([0.1], [1], 0.5), ([0.5], [1], -1.0, [0.4])):
        with pytest.raises(ValueError, match="must"):
            bounded_mean_upper(*wrong)

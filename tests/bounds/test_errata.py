"""What is wrong in print, as tests: each statement is refuted with numbers, and its correction holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import binom

from votecert.bounds import BOUNDS
from votecert.bounds.dirichlet.margin import (
    DirichletMargin,
    DirichletMarginPublished,
    DirichletStochastic,
    DirichletStochasticPublished,
)
from votecert.bounds.gibbs import Binomial
from votecert.numerics import dirichlet_kl, dirichlet_tail
from votecert.rows.ballots import Ballots

# Which of ten trees are right (bits) on 122 rows of Haberman's survival data, with counts, and the weights
# that the first-order bound led to in the paper's own program.
HABERMAN_PATTERNS = {
    0: 4, 5: 1, 22: 1, 33: 1, 55: 1, 67: 1, 113: 1, 128: 2, 195: 1, 212: 1, 246: 1, 288: 1, 293: 1,
    320: 1, 321: 1, 327: 1, 367: 1, 370: 1, 374: 1, 383: 1, 397: 1, 401: 1, 439: 1, 440: 1, 441: 1,
    448: 1, 490: 1, 511: 2, 564: 1, 569: 1, 572: 1, 582: 1, 622: 1, 629: 1, 639: 1, 652: 1, 653: 1,
    666: 1, 692: 1, 695: 1, 697: 1, 722: 1, 723: 1, 726: 1, 730: 1, 731: 4, 764: 1, 767: 2, 771: 2,
    815: 3, 828: 1, 830: 1, 831: 2, 832: 1, 863: 2, 878: 1, 882: 1, 894: 2, 895: 3, 923: 1, 958: 1,
    959: 1, 960: 1, 961: 1, 967: 1, 970: 1, 982: 1, 983: 1, 990: 1, 999: 1, 1015: 1, 1017: 2, 1018: 2,
    1019: 2, 1020: 1, 1022: 1, 1023: 26,
}  # fmt: skip
HABERMAN_WEIGHTS = np.array(
    [
        0.006837646942585707, 0.11299101263284683, 0.0016282497672364116, 0.0009582855855114758,
        0.09416324645280838, 0.00617903470993042, 0.030354754999279976, 0.006222269497811794,
        0.018685298040509224, 0.7219801545143127,
    ]
)  # fmt: skip


def haberman() -> tuple[Ballots, np.ndarray]:
    patterns = np.repeat(list(HABERMAN_PATTERNS), list(HABERMAN_PATTERNS.values()))
    right = (patterns[:, None] >> np.arange(10)) & 1
    rows = Ballots.from_votes(right, np.ones(len(right), dtype=int), classes=[0, 1])
    return rows, HABERMAN_WEIGHTS / HABERMAN_WEIGHTS.sum()


@pytest.mark.parametrize(
    ("K", "g", "left", "right"), [(100, 0.1493, 1.15e-3, 1.23e-4), (1000, 0.0632, 3.0e-5, 1.13e-7)]
)
def test_e1_printed_lemma_is_violated(K, g, left, right):
    """The lemma claims tau_K(g) <= exp(-4 (K + 1) g^2) for a tied vote."""
    tail, claimed = float(dirichlet_tail(K, g)), math.exp(-4 * (K + 1) * g**2)
    assert tail == pytest.approx(left, rel=0.01)
    assert claimed == pytest.approx(right, rel=0.01)
    assert tail > 5 * claimed
    assert tail <= math.exp(-2 * (K + 1) * g**2)


def test_e1_second_half_of_the_lemma_is_violated():
    K, g = 1000, 0.0632
    sampled = betainc(K * (0.5 + 2 * g), K * (0.5 - 2 * g), 0.5 + g)
    assert sampled == pytest.approx(2.4e-5, rel=0.02)
    assert sampled > 100 * math.exp(-4 * (K + 1) * g**2)
    assert sampled <= math.exp(-2 * (K + 1) * g**2)


def test_e1_corrected_exponent_holds_on_a_grid():
    K = np.geomspace(1e-3, 1e7, 81)[:, None]
    g = np.linspace(0, 0.499, 120)
    assert np.all(dirichlet_tail(K, g) <= np.exp(-2 * (K + 1) * g**2) * (1 + 1e-9))


@pytest.mark.parametrize("v", [(0.3, 0.3, 0.4), (0.2, 0.5, 0.3), (0.1, 0.3, 0.3, 0.3), (0.5, 0.5)])
@pytest.mark.parametrize("K", [3.0, 30.0, 300.0])
def test_e3_corrected_lemma_holds_by_monte_carlo_for_any_number_of_classes(v, K):
    """Class votes V ~ Dir(K v), the true class first: both halves of the corrected lemma."""
    n = 200_000
    sampled = np.random.default_rng(0).dirichlet(K * np.array(v), size=n)
    margins = (sampled[:, 0] - sampled[:, 1:].max(axis=1)) / 2
    own = (v[0] - max(v[1:])) / 2
    for g in (0.02, 0.05, 0.1):
        e = math.exp(-2 * (K + 1) * g**2)
        count, noise = int((margins <= g).sum()), 1e-9
        low, high = binom.isf(1 - noise, n, count / n) / n, binom.isf(noise, n, count / n) / n
        assert (own <= 0) <= high + e
        assert low <= (own <= 2 * g) + (len(v) - 1) * e


def two_voters(m: int = 10_000) -> Ballots:
    votes = np.tile([1, 0], (m, 1))
    return Ballots.from_votes(votes, np.ones(m, dtype=int), classes=[0, 1])


def test_e2_two_voters_refute_the_printed_theorem():
    """One voter always right, one always wrong, equal weights: the vote ties, and a tie is an error."""
    rows, theta = two_voters(), np.array([0.5, 0.5])
    choice, prior = {"concentration": 1000.0, "margin": 0.04}, np.array([500.0, 500.0])
    printed = DirichletStochasticPublished(margins=(0.04,)).at(rows, theta, 0.05, choice, prior=prior)
    corrected = DirichletStochastic(margins=(0.04,)).at(rows, theta, 0.05, choice, prior=prior)
    assert printed.details["kl"] <= 1e-8
    assert printed.risk == pytest.approx(0.99853, abs=1e-5)
    assert corrected.risk == 1.0


def test_e2_no_guaranteed_bound_is_refuted_by_two_voters():
    rows, theta = two_voters(), np.array([0.5, 0.5])
    for name, bound in BOUNDS.items():
        if bound.is_guarantee and name not in ("occam", "test-set"):  # these count ties by the actual rule
            assert bound.evaluate(rows, theta, 0.05).risk == 1.0, name


def test_e6_ties_among_an_even_number_of_draws_are_errors():
    rows = two_voters(10)
    loss, _ = Binomial().loss(rows, np.array([0.5, 0.5]))
    assert loss == pytest.approx(betainc(50, 51, 0.5), rel=1e-12)
    assert loss > 0.5 > betainc(51, 50, 0.5)


def test_e7_valid_entropy_version_is_far_tighter_than_bg_plus():
    rng = np.random.default_rng(0)
    y = np.ones(1000, dtype=int)
    votes = (rng.random((1000, 100)) < 0.9).astype(int)
    rows, theta = Ballots.from_votes(votes, y, classes=[0, 1]), np.full(100, 0.01)
    plus, entropy = (BOUNDS[name].evaluate(rows, theta, 0.05).risk for name in ("bg+", "bg++"))
    assert entropy < 0.3 * plus


@pytest.mark.parametrize("d", [1, 2, 8])
def test_e8_kth_margin_says_nothing_for_few_voters(d):
    rows = Ballots.from_votes(np.ones((1000, d), dtype=int), np.ones(1000, dtype=int), classes=[0, 1])
    assert BOUNDS["gz"].evaluate(rows, np.full(d, 1 / d), 0.05).risk == 1.0


def test_e9_divergence_does_not_cancel():
    """In 32 bits the divergence at this point comes out as 2.9; it is 78.0."""
    _, theta = haberman()
    kl = float(dirichlet_kl(105849963.92919639 * theta, np.ones(10)))
    assert kl == pytest.approx(78.0095770, rel=1e-8)


def test_e9_haberman_gives_the_exact_optimum_of_the_printed_formula():
    rows, theta = haberman()
    found = DirichletMarginPublished().in_paper_search().evaluate(rows, theta, 0.05)
    assert found.risk == pytest.approx(0.6538, abs=2e-4)
    at = {"concentration": 105849963.92919639, "margin": 0.0002974871154063676}
    same_point = DirichletMarginPublished().in_paper_search().at(rows, theta, 0.05, at)
    assert same_point.risk == pytest.approx(0.826740305126119, abs=1e-7)


def test_default_search_is_never_looser_than_the_papers():
    rows, theta = haberman()
    for bound in (DirichletMargin(), DirichletMarginPublished()):
        default = bound.evaluate(rows, theta, 0.05).risk
        assert default <= bound.in_paper_search().evaluate(rows, theta, 0.05).risk


def test_e10_true_margins_are_tighter_than_total_wrong_weight():
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=3000)
    votes = np.where(rng.random((3000, 10)) < 0.7, y[:, None], rng.integers(10, size=(3000, 10)))
    rows, theta = Ballots.from_votes(votes, y, classes=list(range(10))), np.full(10, 0.1)
    by_margin, by_weight = DirichletMargin().row_errors(rows, theta, np.array([0.05]))[:, 0]
    assert by_margin < 0.7 * by_weight

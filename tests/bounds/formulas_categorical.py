"""Independent formulas of the bounds with votes drawn from the categorical weights: see ``formulas``."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import precise
from formula_case import HALF, Case, klinv, sampled_risk, share_of_margin
from mpmath import mp, mpf
from precise import real


def first_order(case: Case):
    gibbs, m = case.gibbs(), case.fewest_rows(1)
    cost = case.categorical_kl() + case.seeger(m=m) if m else mp.inf
    return 2 * klinv(gibbs, cost / max(m, 1)), {"empirical": gibbs, "rows": m}


def second_order(case: Case):
    tandem, m = case.tandem(), case.fewest_rows(2)
    cost = 2 * case.categorical_kl() + case.seeger(m=m) if m else mp.inf
    return 4 * klinv(tandem, cost / max(m, 1)), {"empirical": tandem, "rows": m}


def binomial(case: Case):
    """N draws err when at least half of them are wrong: a tie among them is an error."""
    N = case.bound.n_draws
    least = min(j for j in range(N + 1) if 2 * j >= N)
    loss = case.mean(lambda votes, y: precise.binomial_tail(N, least, real(1 - case.right(votes, y))))
    complexity = (N * case.categorical_kl() + case.seeger()) / case.m
    return 2 * klinv(loss, complexity), {"empirical": loss, "rows": case.m}


def binomial_margin(case: Case):
    """Lost when k0 of T draws are wrong; every error has at least the weight 1 - s* of wrong votes."""
    T, k0 = case.choice["draws"], case.choice["threshold"]
    options = itertools.product(case.bound.draws, case.bound.offsets)
    grid = {(draws, math.ceil(draws / 2 - offset * math.sqrt(draws) / 2)) for draws, offset in options}
    n_pairs = sum(threshold >= 1 for _, threshold in grid)
    loss = case.mean(lambda votes, y: precise.binomial_tail(T, k0, real(1 - case.right(votes, y))))
    cost = T * case.categorical_kl() + mp.log(n_pairs / real(case.delta))
    wrong = 1 - max(s for s in case.subset_sums() if s <= HALF)
    return sampled_risk(case, loss, cost) / precise.binomial_tail(T, k0, real(wrong)), {"empirical": loss}


def chebyshev_tandem(case: Case):
    mu, kl = real(case.choice["offset"]), case.categorical_kl()
    tandem, gibbs = case.tandem(), case.gibbs()
    m, pairs = case.fewest_rows(1), case.fewest_rows(2)
    if pairs == 0:
        return mpf(1), {"rows": m, "pair_rows": 0}
    T = klinv(tandem, (2 * kl + mp.log(4 * mp.sqrt(pairs) / real(case.delta))) / pairs)
    inverse = precise.kl_inverse_lower if mu >= 0 else klinv
    G = inverse(real(gibbs), (kl + mp.log(4 * mp.sqrt(m) / real(case.delta))) / m)
    counted = {"tandem": tandem, "gibbs": gibbs, "rows": m, "pair_rows": pairs}
    return (T - 2 * mu * G + mu**2) / (mpf(1) / 2 - mu) ** 2, counted


def chebyshev_bennett(case: Case):
    """The unbiased variance of the mu-tandem loss of every pair, and the two grids, paid for."""
    m, mu = case.fewest_rows(2), Fraction(case.choice["offset"])
    if m <= 1:
        return mpf(1), {"pair_rows": m}
    loss = variance = Fraction(0)
    for i, j in itertools.product(range(case.d), repeat=2):
        losses = [((one - mu) * (two - mu), n) for (one, two), n in case.judged(i, j)]
        rows = sum(n for _, n in losses)
        mean = sum(n * x for x, n in losses) / rows
        spread = sum(n * (x - mean) ** 2 for x, n in losses) / (rows - 1)
        loss += case.theta[i] * case.theta[j] * mean
        variance += case.theta[i] * case.theta[j] * spread
    t = real(case.choice["variance_scale"])
    K = real(max(1 - mu, 1 - 2 * mu))
    g = real(case.choice["bennett_scale"]) / K

    def grid_size(low, high) -> int:
        """From high down by the ratio 1.05 until low is reached."""
        return 1 + next(j for j in itertools.count() if high / mpf("1.05") ** j <= low)

    offsets = case.bound.offsets
    w = Fraction(1, len(offsets))
    if 0 in offsets and len(offsets) > 1:
        w = HALF if mu == 0 else HALF / (len(offsets) - 1)
    least = 1 / mp.sqrt(m)
    d1 = real(case.delta) * real(w) / (2 * grid_size(min(mpf("0.25"), least), mpf("0.5")))
    d2 = real(case.delta) * real(w) / (2 * grid_size(min(mpf(1), least), mpf(4)))
    kl = case.categorical_kl()
    V = real(variance) / (1 - t) + K**2 * (2 * kl - mp.log(d1)) / (2 * (m - 1) * t * (1 - t))
    phi = mp.exp(K * g) - K * g - 1
    U = real(loss) + phi / (g * K**2) * min(V, K**2 / 4) + (2 * kl - mp.log(d2)) / (g * m)
    counted = {"loss": loss, "variance": variance, "pair_rows": m}
    return U / (mpf(1) / 2 - real(mu)) ** 2, counted


def c_bound(case: Case):
    gibbs, joint = case.gibbs(), case.tandem()
    counted = {"gibbs": gibbs, "joint": joint}
    kl, xi = case.categorical_kl(), precise.maurer(case.m)
    r, e, s = real(gibbs), real(joint), real(2 * (gibbs - joint))
    if case.bound.form == 1:
        constant = mp.log(2 * xi / real(case.delta))
        r = klinv(r, (kl + constant) / case.m)
        s = precise.kl_inverse_lower(s, (2 * kl + constant) / case.m)
        return (mpf(1) if r >= 0.5 else 1 - (1 - 2 * r) ** 2 / (1 - 2 * s)), counted
    C = (2 * kl + mp.log((xi + case.m) / real(case.delta))) / case.m
    return worst_c_bound(e, s, C), counted


def worst_c_bound(e, s, C):
    """The largest 1 - (1 - 2e' - s')^2 / (1 - 2s') with trinomial divergence at most C from (e, s)."""

    def divergence(e2, s2):
        pairs = ((e, e2), (s, s2), (1 - e - s, 1 - e2 - s2))
        return mp.fsum(a * mp.log(a / b) for a, b in pairs if a)

    def value(s2):
        low, high = e / (1 - s) * (1 - s2), 1 - s2  # the nearest e' for this s' is the low one
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if divergence(middle, s2) <= C else (low, middle)
        return mpf(1) if 2 * low + s2 >= 1 else 1 - (1 - 2 * low - s2) ** 2 / (1 - 2 * s2)

    ends = [precise.kl_inverse_lower(s, C), min(klinv(s, C), mpf(1) / 2)]
    golden = (mp.sqrt(5) - 1) / 2
    while ends[1] - ends[0] > mpf(10) ** -9:  # quasi-concave in s', and flat at the top
        one, two = (ends[i] + golden * (ends[1 - i] - ends[i]) for i in (1, 0))
        at_one, at_two = value(one), value(two)
        if max(at_one, at_two) == 1:
            return mpf(1)
        ends = [one, ends[1]] if at_one < at_two else [ends[0], two]
    return max(at_one, at_two)


# Margins


def biggs_guedj(case: Case):
    m, g = case.m, real(case.choice["margin"])
    error = case.lost_by(case.choice["margin"])
    delta = real(case.delta) * real(share_of_margin(case))
    C = 2 * mp.log(2 / delta) + mpf(19) / 4 * mp.log(case.d) * mp.log(m) / g**2
    q = real(error)
    return q + mp.sqrt(C * q / m) + (C + mp.sqrt(C) + 2) / m, {"margin_error": error}


def biggs_guedj_plus(case: Case):
    m, g = case.m, real(case.choice["margin"])
    error = case.lost_by(case.choice["margin"])
    T = mp.ceil(2 * mp.log(m) / g**2)
    complexity = (T * mp.log(case.d) + case.seeger(share_of_margin(case))) / m
    return klinv(error + Fraction(1, m), complexity) + mpf(1) / m, {"margin_error": error}


def biggs_guedj_plus_plus(case: Case):
    m, g, T = case.m, real(case.choice["margin"]), case.choice["draws"]
    error = case.lost_by(case.choice["margin"])
    delta = real(case.delta) * real(share_of_margin(case))
    e = mp.exp(-T * g**2 / 2)
    cost = T * case.categorical_kl() + mp.log(T * (T + 1)) + mp.log(precise.maurer(m) / delta)
    return klinv(real(error) + e, cost / m) + e, {"margin_error": error}


def gao_zhou(case: Case):
    """For g > sqrt(2/d) and m >= 5 only, which leaves no margin for d <= 8."""
    m, d, g = case.m, case.d, real(case.choice["margin"])
    error = case.lost_by(case.choice["margin"])
    if d <= 8 or m < 5:
        return mpf(1), {"margin_error": error}
    assert mp.sqrt(mpf(2) / d) < g < 0.5
    cost = 2 * mp.log(2 * d) / g**2 * mp.log(2 * m**2 / mp.log(d)) + mp.log(d * m / real(case.delta))
    return klinv(error, cost / m) + mp.log(d) / m, {"margin_error": error}

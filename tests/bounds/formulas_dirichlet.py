"""Independent formulas of the bounds with votes drawn from a Dirichlet distribution: see ``formulas``."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import precise
from formula_case import HALF, Case, klinv, sampled_risk, share_of_margin
from mpmath import mp, mpf
from precise import real
from scipy.integrate import quad
from scipy.stats import beta


def sampled_loss(case: Case, K, g):
    """Mean of I_{1/2+g}(K v_y, K (1 - v_y))."""

    def loss(votes, y):
        right = real(case.right(votes, y))
        return precise.beta_cdf(mpf(1) / 2 + g, K * right, K * (1 - right))

    return case.mean(loss)


def dirichlet_margin(case: Case):
    K, g = real(case.choice["concentration"]), real(case.choice["margin"])
    half, e = mpf(1) / 2, mp.exp(-(K + 1) * g**2 / 2)
    inside = precise.beta_cdf(half + g / 2, K * (half + g), K * (half - g))
    two = case.n_outputs == 2
    outside = 1 - precise.beta_cdf(half + g / 2, K / 2, K / 2) if two else e

    def cost(votes, y):
        if case.margin(votes, y) <= Fraction(case.choice["margin"]):
            return mpf(1)
        if two:
            return inside
        few_wrong = 1 - case.right(votes, y) < HALF - Fraction(case.choice["margin"])
        return min(mpf(1), e if few_wrong else (case.n_outputs - 1) * e)

    complexity = (case.dirichlet_kl() + case.seeger(share_of_margin(case))) / case.m
    counted = {"margin_error": case.lost_by(case.choice["margin"])}
    return klinv(case.mean(cost), complexity) + outside, counted


def dirichlet_margin_published(case: Case):
    K, g = real(case.choice["concentration"]), real(case.choice["margin"])
    error, e = case.lost_by(case.choice["margin"]), mp.exp(-(K + 1) * g**2)
    complexity = (case.dirichlet_kl() + case.seeger(share_of_margin(case))) / case.m
    return klinv(real(error) + e, complexity) + e, {"margin_error": error}


def factor_two(case: Case):
    loss = sampled_loss(case, real(case.choice["concentration"]), 0)
    return 2 * klinv(loss, (case.dirichlet_kl() + case.seeger()) / case.m), {"empirical": loss}


def dirichlet_stochastic(case: Case):
    K, g = real(case.choice["concentration"]), real(case.choice["margin"])
    e = mp.exp(-2 * (K + 1) * g**2)
    if case.n_outputs == 2:
        e = 1 - precise.beta_cdf(mpf(1) / 2 + g, K / 2, K / 2)
    return stochastic(case, e)


def dirichlet_stochastic_published(case: Case):
    K, g = real(case.choice["concentration"]), real(case.choice["margin"])
    return stochastic(case, mp.exp(-4 * (K + 1) * g**2))


def stochastic(case: Case, e):
    loss = sampled_loss(case, real(case.choice["concentration"]), real(case.choice["margin"]))
    complexity = (case.dirichlet_kl() + case.seeger(share_of_margin(case))) / case.m
    return klinv(loss, complexity) + e, {"empirical": loss}


def partition(case: Case):
    """(B - b) / (p - b): every error has a true class with at most s* of the weight."""
    s = max(s for s in case.subset_sums() if s <= HALF)
    lost = sum((min(case.theta[i], case.theta[j]) for i, j in case.bound.complements), Fraction(0))
    if case.choice["family"] == "categorical":
        kl, loss, p, b = case.categorical_kl(), case.gibbs(), real(1 - s), real(lost)
    else:
        K, half = real(case.choice["concentration"]), mpf(1) / 2
        kl, loss = case.dirichlet_kl(), sampled_loss(case, K, 0)
        p = precise.beta_cdf(half, K * real(s), K * real(1 - s))
        b = precise.beta_cdf(half, K * real(1 - lost), K * real(lost))
    share = real(case.delta) / (2 if case.bound.family == "best" else 1)
    B = klinv(loss, (kl + mp.log(precise.maurer(case.m) / share)) / case.m)
    return ((B - b) / (p - b) if b < min(p, B) else B / p), {"empirical": loss}


def dirichlet(case: Case):
    bound, choice, d = case.bound, case.choice, case.d
    K, g = real(choice["concentration"]), real(choice["margin"])
    centre = sampling_centre(case)
    alive = [(t, pi) for t, pi in zip(centre, case.pi, strict=True) if t > 0]
    kl = mpf(0)
    if len(alive) > 1:
        scale = Fraction(choice["prior_scale"]) * d
        kl = precise.dirichlet_kl([K * real(t) for t, _ in alive], [real(scale * pi) for _, pi in alive])
    w = real(bound.prior_shares[bound.prior_scales.index(choice["prior_scale"])]) / len(bound.margins)
    if len(alive) < d:
        w *= real(bound.subset_share) / ((d - 1) * math.comb(d, len(alive)))
    elif d > 1:
        w *= 1 - real(bound.subset_share)
    loss = case.mean(lambda votes, y: lost_row(case, votes, y, centre))
    B = sampled_risk(case, loss, kl - mp.log(w * real(case.delta)))
    e = sum(abs(t - u) for t, u in zip(case.theta, centre, strict=True)) / 2
    t = min(s for s in case.subset_sums() if s >= Fraction(1, case.n_outputs) and s >= max(case.theta))
    if bound.loss != "ratio" and not e:
        t = max(t, HALF)
    p = precise.beta_cdf(mpf(1) / 2 + g, K * real(min(t, 1 - t) + e), K * real(t - e))
    f = mpf(0)
    if case.n_outputs == 2:  # of complementary voters exactly one is right on any row
        wrong = sum((min(centre[i], centre[j]) for i, j in bound.complements), Fraction(0))
        f = precise.beta_cdf(mpf(1) / 2 + g, K * real(1 - wrong), K * real(wrong))
    return ((B - f) / (p - f) if f < min(p, B) else B / p), {"empirical": loss}


def sampling_centre(case: Case) -> list[Fraction]:
    """The weights without the lightest voters, or mixed with uniform ones."""
    dropped, smoothed = (Fraction(case.choice.get(name, 0)) for name in ("dropped", "smoothed"))
    kept = [t if t >= dropped / case.d else Fraction(0) for t in case.theta]
    return [(1 - smoothed) * t / sum(kept) + smoothed / case.d for t in kept]


def lost_row(case: Case, votes, y, centre):
    """The chance that a sampled vote loses this row: to one rival or another, or to all others at once."""
    K, g = real(case.choice["concentration"]), real(case.choice["margin"])
    exponent = {"ratio": 0, "root": mpf(1) / 2, "difference": 1}[case.bound.loss]
    half, right = mpf(1) / 2, real(case.right(votes, y, centre))
    together = precise.beta_cdf(half + g, K * right, K * (1 - right))
    if case.n_outputs == 2 or together < mpf(10) ** -13 or not right:
        return together
    rivals = [real(case.weight(votes, k, centre)) for k in case.outputs() if k != y]
    return min(together, mp.fsum(lost_to(K, g, exponent, right, rival) for rival in rivals if rival))


def lost_to(K, g, exponent, right, rival):
    """P(V_y / S <= 1/2 + g / S^e), S = V_y + V_k ~ Beta(K s, K (1 - s)) independent of V_y / S.

    By quadrature in double precision, where there is no closed form: the library's sum is coarser by far.
    """
    half, s = mpf(1) / 2, right + rival
    if g == 0 or exponent == 0 or s == 1:
        return precise.beta_cdf(half + g, K * right, K * rival)
    of_s, of_ratio = beta(float(K * s), float(K * (1 - s))), beta(float(K * right), float(K * rival))
    always = float((2 * g) ** (1 / exponent))  # below this S the rival cannot but win

    def density(S: float) -> float:
        return float(of_s.pdf(S) * of_ratio.cdf(0.5 + float(g) * S ** -float(exponent)))

    lost = of_s.cdf(always)
    middle = [x for x in of_s.ppf([1e-9, 0.01, 0.5, 0.99, 1 - 1e-9]) if x > always]
    for low, high in itertools.pairwise([always, *middle, 1.0]):
        lost += quad(density, low, high, epsabs=1e-12)[0]
    return mpf(lost)

"""The ingredients of the bounds in forty digits, written from the textbook formulas.

Independent of the library's own multiple-precision arithmetic: nothing is imported from it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from mpmath import mp, mpf

DIGITS = 40


def real(x):
    """A whole number, a float or a fraction as a number with forty digits."""
    return mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else mpf(x)


def kl(q, p):
    return (q * mp.log(q / p) if q else 0) + ((1 - q) * mp.log((1 - q) / (1 - p)) if q < 1 else 0)


def largest(holds, low):
    """Largest p in [low, 1], up to 1e-24, where a statement holds that is true at low and false near one."""
    low, high = mpf(low), mpf(1)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def kl_inverse(q, c):
    return largest(lambda p: kl(mpf(q), p) <= c, q) if q < 1 else mpf(1)


def kl_inverse_lower(q, c):
    return 1 - kl_inverse(1 - q, c)


@cache
def maurer(m: int):
    return mp.fsum(mp.binomial(m, k) * (mpf(k) / m) ** k * (1 - mpf(k) / m) ** (m - k) for k in range(m + 1))


def mixture_inverse(q, c, m: int):
    if q >= 1:
        return mpf(1)
    q, start = mpf(q), mp.sqrt(mpf(6) / m)
    grid = [start * (6 / start) ** (mpf(j) / 15) for j in range(16)]
    xi = maurer(m)

    def holds(p):
        terms = [mp.exp(-m * (mp.log(1 - p * (1 - mp.exp(-C))) + C * q)) for C in grid]
        return mp.log((mp.fsum(terms) + mp.exp(m * kl(q, p)) / xi) / 17) <= m * c

    return largest(holds, q)


def dirichlet_kl(alpha, beta):
    a, b = [mpf(x) for x in alpha], [mpf(x) for x in beta]
    value = mp.loggamma(mp.fsum(a)) - mp.loggamma(mp.fsum(b))
    for x, y in zip(a, b, strict=True):
        value += mp.loggamma(y) - mp.loggamma(x) + (x - y) * (mp.digamma(x) - mp.digamma(mp.fsum(a)))
    return value


def categorical_kl(theta, pi):
    return mp.fsum(mpf(t) * mp.log(mpf(t) / mpf(p)) for t, p in zip(theta, pi, strict=True) if t)


def beta_cdf(x, a, b):
    """I_x(a, b) with the limits I_x(0, b) = 1 and I_x(a, 0) = 0 for 0 < x < 1."""
    if not a or not b:
        return mpf(0 if a else 1)
    if x > (a + 1) / (a + b + 2):  # from the other side, where the terms below fall from the first on
        return 1 - _beta_series(1 - x, b, a)
    return _beta_series(x, a, b)


@cache
def _beta_series(x, a, b):
    """x^a (1-x)^b / (a B(a,b)) times the sum over n of prod_{j<n} (a+b+j)/(a+1+j) x^n, all positive."""
    x, a, b = mpf(x), mpf(a), mpf(b)
    total = term = mpf(1)
    n = 0
    while term > total * mpf(10) ** -DIGITS:
        term *= (a + b + n) / (a + 1 + n) * x
        total += term
        n += 1
    log_beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return mp.exp(a * mp.log(x) + b * mp.log(1 - x) - log_beta) / a * total


@cache
def binomial_tail(n: int, k: int, w):
    """P(Bin(n, w) >= k)."""
    w = real(w)
    return mp.fsum(mp.binomial(n, j) * w**j * (1 - w) ** (n - j) for j in range(k, n + 1))


def clopper_pearson(k: int, m: int, level):
    """The largest p with P(Bin(m, p) <= k) >= level."""
    if k >= m:
        return mpf(1)
    ways = [mp.binomial(m, j) for j in range(k + 1)]

    def holds(p):
        return mp.fsum(w * p**j * (1 - p) ** (m - j) for j, w in enumerate(ways)) >= level

    return largest(holds, mpf(k) / m)

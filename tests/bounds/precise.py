"""The ingredients of the sampled-vote bounds in forty digits, written from the textbook formulas.

Independent of the library's own multiple-precision arithmetic: nothing is imported from it.
"""

from __future__ import annotations

from mpmath import mp, mpf

DIGITS = 40


def kl(q, p):
    return (q * mp.log(q / p) if q else 0) + ((1 - q) * mp.log((1 - q) / (1 - p)) if q < 1 else 0)


def largest(holds, low):
    """Largest p in [low, 1] for which a statement holds that is true at low and false near one."""
    low, high = mpf(low), mpf(1)
    for _ in range(140):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def kl_inverse(q, c):
    return largest(lambda p: kl(mpf(q), p) <= c, q) if q < 1 else mpf(1)


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
    return mp.betainc(a, b, 0, x, regularized=True)


def binomial_tail(n: int, k: int, w):
    w = mpf(w)
    return mp.fsum(mp.binomial(n, j) * w**j * (1 - w) ** (n - j) for j in range(k, n + 1))

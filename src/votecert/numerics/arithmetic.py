"""One vocabulary, two precisions: a bound writes its formula once and it is evaluated twice.

`OUTWARD` is double precision with every error of the special functions covered by a slack that points
outward (a certificate may be a little too large, never too small).  `votecert.numerics.exact` evaluates the
same formula in multiple precision and takes given floats as exact numbers; verification and the tests compare
with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from votecert.numerics.beta import beta_cdf
from votecert.numerics.binomial import binomial_tail, clopper_pearson_upper, log_binomial_coefficient
from votecert.numerics.bounded import bounded_mean_upper
from votecert.numerics.divergences import categorical_kl, dirichlet_kl
from votecert.numerics.kl import kl_inverse_lower, kl_inverse_upper
from votecert.numerics.maurer import log_maurer
from votecert.numerics.mixture import mixture_inverse
from votecert.numerics.sequential import sequential_upper

__all__ = ["OUTWARD", "PLAIN", "Arithmetic", "Number"]

# A float or a multiple-precision number; formulas only add, subtract, multiply, divide and compare them.
Number = Any
Numbers = Sequence[Number]

_ULPS = 8.0 * 2.0**-53


class Arithmetic:
    """The functions a bound's formula may use, besides ``+ - * /``; scalars in, scalar out.

    Here in double precision, rounded up (functions named ``lower`` or ``down``: rounded down).
    """

    def __repr__(self) -> str:
        return "OUTWARD"

    def number(self, x: Number) -> Number:
        """Return ``x`` as a number of this arithmetic."""
        return float(x)

    def log(self, x: Number) -> Number:
        """Return the natural logarithm of ``x > 0``."""
        return _nudge(math.log(x))

    def exp(self, x: Number) -> Number:
        """Return ``e`` to the power ``x``."""
        return _nudge(math.exp(x))

    def sqrt(self, x: Number) -> Number:
        """Return the square root of ``x >= 0``."""
        return _nudge(math.sqrt(x))

    def log_maurer(self, m: int) -> Number:
        """Return the logarithm of Maurer's constant."""
        return log_maurer(m)

    def log_binomial(self, n: int, k: int) -> Number:
        """Return the logarithm of the binomial coefficient ``C(n, k)``."""
        return float(log_binomial_coefficient(n, k)) * (1.0 + 1e-14) + 1e-13

    def kl_inverse_upper(self, q: Number, c: Number) -> Number:
        """Return the largest ``p`` with ``kl(q, p) <= c``; ``q`` above one counts as one."""
        return float(kl_inverse_upper(min(1.0, q), c))

    def kl_inverse_lower(self, q: Number, c: Number) -> Number:
        """Return the smallest ``p`` with ``kl(q, p) <= c``; ``q`` below zero counts as zero."""
        return float(kl_inverse_lower(max(0.0, q), c))

    def mixture_inverse(self, q: Number, c: Number, m: int) -> Number:
        """Return the inverse of the mixture of kl and Catoni inequalities."""
        return float(mixture_inverse(min(1.0, q), c, m))

    def categorical_kl(self, theta: Numbers, pi: Numbers) -> Number:
        """Return the divergence of two categorical distributions."""
        return float(categorical_kl(theta, pi)) * (1.0 + 1e-12) + 1e-12

    def dirichlet_kl(self, alpha: Numbers, beta: Numbers) -> Number:
        """Return the divergence of two Dirichlet distributions."""
        return float(dirichlet_kl(alpha, beta)) * (1.0 + 2e-9) + 1e-9

    def beta_cdf_up(self, x: Number, a: Number, b: Number) -> Number:
        """Return the distribution function of Beta(a, b), not below the true value."""
        return min(1.0, float(beta_cdf(x, a, b)) + _beta_slack(a + b))

    def beta_cdf_down(self, x: Number, a: Number, b: Number) -> Number:
        """Return the distribution function of Beta(a, b), not above the true value."""
        return max(0.0, float(beta_cdf(x, a, b)) - _beta_slack(a + b))

    def beta_tail_up(self, x: Number, a: Number, b: Number) -> Number:
        """Return the chance of Beta(a, b) to be above ``x``, not below the true value."""
        return 1 - self.beta_cdf_down(x, a, b)

    def binomial_tail_down(self, n: int, k: int, w: Number) -> Number:
        """Return ``P(Bin(n, w) >= k)``, not above the true value."""
        return max(0.0, float(binomial_tail(n, k, w)) - _beta_slack(n))

    def clopper_pearson_upper(self, k: int, m: int, log_delta: Number) -> Number:
        """Return the largest ``p`` with ``log P(Bin(m, p) <= k) >= log_delta``."""
        return float(clopper_pearson_upper(k, m, log_delta))

    def sequential_upper(self, k: int, m: int, log_delta: Number) -> Number:
        """Return the upper limit of the error that holds at all times, from the mixture cut off at ``p``."""
        return float(sequential_upper(k, m, log_delta))

    def bounded_mean_upper(
        self, losses: Numbers, counts: Sequence[int], log_level: Number, sizes: Numbers | None = None
    ) -> Number:
        """Return an upper limit on the mean of losses in [0, 1]; losses and sizes may be fractions."""
        return bounded_mean_upper(losses, counts, log_level, sizes)


OUTWARD = Arithmetic()

PLAIN: Any = SimpleNamespace(
    number=np.asarray,
    log=np.log,
    exp=np.exp,
    sqrt=np.sqrt,
    log_maurer=log_maurer,
    kl_inverse_upper=lambda q, c: kl_inverse_upper(np.minimum(1.0, q), c),
    mixture_inverse=lambda q, c, m: mixture_inverse(np.minimum(1.0, q), c, m),
    categorical_kl=categorical_kl,
    dirichlet_kl=dirichlet_kl,
    beta_cdf_up=beta_cdf,
    beta_cdf_down=beta_cdf,
    beta_tail_up=lambda x, a, b: beta_cdf(1 - x, b, a),
    binomial_tail_down=binomial_tail,
)
"""Some of these functions for arrays, not rounded: to look at many choices of a formula at once."""


def _nudge(value: float) -> float:
    """Move up by a few units in the last place: library functions may be off by one or two."""
    return value if math.isinf(value) else value + _ULPS * abs(value)


def _beta_slack(K: Number) -> float:
    """Cover the error of the incomplete beta function and of its rounded arguments at total ``K``."""
    return float(1e-10 * (1.0 + K / 1e10))

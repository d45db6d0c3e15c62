"""The multiple-precision side of `votecert.numerics.arithmetic`: textbook formulas, bisection, many digits.

Nothing here shares code with the double-precision functions, so agreement of the two is evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import fsum, log, log1p

from votecert.numerics.arithmetic import Arithmetic, Number, Numbers

__all__ = ["exact"]

# The formulas lose up to about 14 digits (Dirichlet divergence at total 1e12), so they get more than that.
_GUARD_DIGITS = 25
_N_CATONI = 16
_STAKES = (0.05, 0.13, 0.35, 0.9)


class ExactArithmetic(Arithmetic):
    """Multiple-precision functions with results good to about ``digits`` digits.

    Examples
    --------
    >>> arithmetic = ExactArithmetic(30)
    >>> float(arithmetic.beta_cdf_up(0.5, 3, 3))
    0.5
    """

    def __init__(self, digits: int = 40) -> None:
        try:
            import mpmath
        except ImportError as error:
            raise ImportError("verification needs mpmath: python -m pip install mpmath") from error
        self.digits = digits
        self._mp = mpmath.mp.clone()
        self._mp.dps = digits + _GUARD_DIGITS

    def __repr__(self) -> str:
        return f"exact({self.digits})"

    def number(self, x: Number) -> Number:
        if isinstance(x, Fraction):  # which mpmath 1.3 does not take
            return self._mp.mpf(x.numerator) / x.denominator
        return self._mp.mpf(x)

    def log(self, x: Number) -> Number:
        return self._mp.log(x)

    def exp(self, x: Number) -> Number:
        return self._mp.exp(x)

    def sqrt(self, x: Number) -> Number:
        return self._mp.sqrt(x)

    def _log_sum_exp(self, values: Numbers) -> Number:
        numbers = [self.number(value) for value in values]
        peak = max(numbers)
        if self._mp.isinf(peak):
            return peak
        return peak + self._mp.log(self._mp.fsum(self._mp.exp(value - peak) for value in numbers))

    def log_maurer(self, m: int) -> Number:
        """Sum ``prod_{l<i} (1 - l/m)`` over ``i`` in fixed point, until a term vanishes."""
        unit = 10 ** (self._mp.dps + 10)
        total, term, i = 0, unit, 0
        while term:
            total += term
            term = term * (m - i) // m
            i += 1
        return self._mp.log(self.number(total) / unit)

    def log_binomial(self, n: int, k: int) -> Number:
        gamma = self._mp.loggamma
        return gamma(n + 1) - gamma(k + 1) - gamma(n - k + 1)

    def kl_inverse_upper(self, q: Number, c: Number) -> Number:
        return self._kl_inverse(min(self.number(1), self.number(q)), c, self.number(1))

    def kl_inverse_lower(self, q: Number, c: Number) -> Number:
        return self._kl_inverse(max(self.number(0), self.number(q)), c, self.number(0))

    def mixture_inverse(self, q: Number, c: Number, m: int) -> Number:
        q, c = min(self.number(1), self.number(q)), self.number(c)
        if q == 1 or self._mp.isinf(c):
            return self.number(1)
        log_mean = m * c + self._mp.log(_N_CATONI + 1)
        log_xi = self.log_maurer(m)
        low = self._mp.sqrt(self.number(6) / m)
        grid = [low * (6 / low) ** (self.number(j) / (_N_CATONI - 1)) for j in range(_N_CATONI)]
        shrink = [1 - self._mp.exp(-C) for C in grid]

        def gap(p: Number) -> Number:
            terms = [-m * (self._mp.log(1 - p * s) + C * q) for C, s in zip(grid, shrink, strict=True)]
            return self._log_sum_exp([*terms, m * self._kl(q, p) - log_xi]) - log_mean

        return self._root(gap, q, self.number(1))

    def categorical_kl(self, theta: Numbers, pi: Numbers) -> Number:
        pairs = [(self.number(t), self.number(p)) for t, p in zip(theta, pi, strict=True) if t > 0]
        if any(p == 0 for _, p in pairs):
            return self._mp.inf
        return max(self.number(0), self._mp.fsum(t * self._mp.log(t / p) for t, p in pairs))

    def dirichlet_kl(self, alpha: Numbers, beta: Numbers) -> Number:
        a, b = [self.number(x) for x in alpha], [self.number(x) for x in beta]
        if len(a) == 1:
            return self.number(0)
        if min(a) <= 0:
            return self._mp.inf
        gamma, psi = cache(self._mp.loggamma), cache(self._mp.digamma)  # slow, and equal weights are common
        total_a, total_b = self._mp.fsum(a), self._mp.fsum(b)
        middle = psi(total_a)
        value = gamma(total_a) - gamma(total_b)
        for x, y in zip(a, b, strict=True):
            value += gamma(y) - gamma(x) + (x - y) * (psi(x) - middle)
        return max(self.number(0), value)

    def beta_cdf_up(self, x: Number, a: Number, b: Number) -> Number:
        x, a, b = self.number(x), self.number(a), self.number(b)
        if a == 0 or x >= 1:
            return self.number(1)
        if b == 0 or x <= 0:
            return self.number(0)
        if x > (a + 1) / (a + b + 2):
            return 1 - self._beta_fraction(1 - x, b, a)
        return self._beta_fraction(x, a, b)

    def beta_cdf_down(self, x: Number, a: Number, b: Number) -> Number:
        return self.beta_cdf_up(x, a, b)

    def beta_tail_up(self, x: Number, a: Number, b: Number) -> Number:
        return 1 - self.beta_cdf_up(x, a, b)

    def binomial_tail_down(self, n: int, k: int, w: Number) -> Number:
        if k <= 0 or k > n:
            return self.number(1 if k <= 0 else 0)
        return self.beta_cdf_up(w, k, n - k + 1)

    def clopper_pearson_upper(self, k: int, m: int, log_delta: Number) -> Number:
        """Newton's method from above on the tail's logarithm, which is concave in ``p``."""
        log_delta = self.number(log_delta)
        if k >= m or self._mp.isinf(log_delta):
            return self.number(1)
        if log_delta == 0:
            return self.number(0)
        log_ways = self.log_binomial(m, k)
        p = self.kl_inverse_upper(self.number(k) / m, -log_delta / m)
        # The error after a step is its square over the width of the tail, which is at least 1e-6 min(p, 1-p).
        stop, least = self.number(10) ** -(self.digits / 2 + 8), self.number(10) ** -(self.digits + 8)
        while p < 1:  # at one the limit is closer to one than the working precision
            room = 1 - p
            log_tail = self._mp.log(self.beta_cdf_up(room, m - k, k + 1))
            log_slope = log_ways + (m - k - 1) * self._mp.log(room) + self._mp.log(m - k)
            log_slope += k * self._mp.log(p) if k else 0
            step = (log_delta - log_tail) * self._mp.exp(log_tail - log_slope)
            p -= step
            if abs(step) <= max(stop * min(p, room), least * p):
                break
        return min(p, self.number(1))

    def sequential_upper(self, k: int, m: int, log_delta: Number) -> Number:
        """The root of the mixture's logarithm, which grows from the start on."""
        half, log = self.number(1) / 2, self._mp.log
        start, goal = (k + half) / m, -self.number(log_delta)
        if start >= 1 or self._mp.isinf(goal):
            return self.number(1)
        whole = self._mp.loggamma(k + half) + self._mp.loggamma(m - k + half) - self._mp.loggamma(m + 1)

        def gap(p: Number) -> Number:
            if p >= 1:
                return self._mp.inf
            below = whole + log(self.beta_cdf_up(p, k + half, m - k + half))
            return below - log(2 * self._mp.asin(self._mp.sqrt(p))) - k * log(p) - (m - k) * log(1 - p) - goal

        return start if gap(start) >= 0 else self._root(gap, start, self.number(1))

    def bounded_mean_upper(
        self, losses: Numbers, counts: Sequence[int], log_level: Number, sizes: Numbers | None = None
    ) -> Number:
        """The mixture, solved by bisection in plain floats first, and the kl inverse of the mean."""
        cost = -self.number(log_level) + (self._mp.log(2) if sizes is None else 0)
        if self._mp.isinf(cost):
            return self.number(1)
        units = zip(losses, [1] * len(losses) if sizes is None else sizes, counts, strict=True)
        seen = [(self.number(L), self.number(s), count) for L, s, count in units if count]
        target = cost + self._mp.log(len(_STAKES))

        def gap(r: Number) -> Number:
            sums = [
                self._mp.fsum(n * self._mp.log(1 + stake * (r * s - L) / (1 - r)) for L, s, n in seen)
                for stake in map(self.number, _STAKES)
            ]
            return self._log_sum_exp(sums) - target

        best = self._refined(gap, self._rough_limit(seen, float(target)))
        if sizes is None:
            n = sum(counts)
            mean = self._mp.fsum(L * count for L, _, count in seen) / n
            best = min(best, self.kl_inverse_upper(mean, cost / n))
        return best

    def _rough_limit(self, seen: Sequence[tuple[Number, Number, int]], target: float) -> float:
        """Where the mixture reaches its target, in floats: forty digits of that would take seconds."""
        units, low, high = [(float(L), float(s), n) for L, s, n in seen], 0.0, 1.0
        while (r := (low + high) / 2) not in (low, high):
            sums = [fsum(n * log1p(x * (r * s - L) / (1 - r)) for L, s, n in units) for x in _STAKES]
            peak = max(sums)
            total = peak + log(fsum(self._mp.exp(value - peak) for value in sums))
            low, high = (low, r) if total >= target else (r, high)
        return high

    def _refined(self, gap: Callable[[Number], Number], near: float) -> Number:
        """The root of a growing function near a float, between bounds at which its sign is seen to change."""
        width, one = self.number(2) ** -48, self.number(1)
        if near >= 1:
            return one
        low, high = self.number(near), self.number(near)
        while low > 0 and gap(low) >= 0:
            low, width = max(self.number(0), low - width * max(low, width)), 4 * width
        width = self.number(2) ** -48
        while high < 1 and gap(high) < 0:
            high, width = min(one, high + width * min(high, one - high)), 4 * width
        if high >= 1 or low <= 0:
            return min(high, one)
        tolerance = self.number(10) ** -(self.digits + 10)
        return self._mp.findroot(gap, (low, high), solver="anderson", tol=tolerance, verify=False)

    def _kl_inverse(self, q: Number, c: Number, end: Number) -> Number:
        c = self.number(c)
        if q == end or self._mp.isinf(c):
            return end
        return self._root(lambda p: self._kl(q, p) - c, q, end)

    def _kl(self, q: Number, p: Number) -> Number:
        if (p == 0 and q > 0) or (p == 1 and q < 1):
            return self._mp.inf
        wrong = q * self._mp.log(q / p) if q > 0 else 0
        right = (1 - q) * self._mp.log((1 - q) / (1 - p)) if q < 1 else 0
        return wrong + right

    def _root(self, gap: Callable[[Number], Number], inside: Number, outside: Number) -> Number:
        """Return the root of ``gap`` between ``inside`` (zero or less) and ``outside`` (above, or infinite).

        Bisection until the ends are close and finite, then the bracketing method of Anderson and Bjorck.
        """
        for i in range(int(3.33 * self._mp.dps) + 2):
            if i >= 24 and not self._mp.isinf(gap(outside)):
                break
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if gap(middle) <= 0 else (inside, middle)
        else:
            return inside
        tolerance = self.number(10) ** -(self.digits + 10)
        return self._mp.findroot(gap, (inside, outside), solver="anderson", tol=tolerance, verify=False)

    def _beta_fraction(self, x: Number, a: Number, b: Number) -> Number:
        """Evaluate ``I_x(a, b)`` left of the mode by the continued fraction DLMF 8.17.22."""
        gamma, log = self._mp.loggamma, self._mp.log
        log_front = a * log(x) + b * log(1 - x) + gamma(a + b) - gamma(a) - gamma(b) - log(a)
        upper, lower = self.number(1), 1 / (1 - (a + b) * x / (a + 1))
        value, i, factor = lower, 0, self.number(0)
        stop = self.number(10) ** -(self.digits + 8)
        while abs(factor - 1) > stop:
            i += 1
            for coefficient in (
                i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i)),
                -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1)),
            ):
                lower = 1 / (1 + coefficient * lower)
                upper = 1 + coefficient / upper
                factor = lower * upper
                value *= factor
        return value * self._mp.exp(log_front)


@lru_cache(maxsize=8)
def exact(digits: int = 40) -> Arithmetic:
    """Return multiple-precision arithmetic with results good to about ``digits`` digits (needs mpmath).

    Examples
    --------
    >>> from votecert.numerics import OUTWARD
    >>> float(exact(40).kl_inverse_upper(0.0, 1.0)), OUTWARD.kl_inverse_upper(0.0, 1.0)
    (0.63212055882855..., 0.63212055882...)
    """
    return ExactArithmetic(digits)

"""Two functions that make cancelling sums harmless: the excess ``r - 1 - log r`` and Stirling's remainder.

Divergences are differences of huge terms.  Written with these two functions the huge parts cancel on
paper, and what is left is a sum of terms that are all of the size of the answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln

from votecert.numerics._arrays import Array, floats

_HALF_LOG_TWO_PI = 0.5 * np.log(2.0 * np.pi)

# Below this argument Stirling's series stops converging to 16 digits and the functions are taken directly.
_SERIES_FROM = 12.0

# Bernoulli numbers B_2, B_4, ... of Stirling's series.
_BERNOULLI = np.array([1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510])
_ORDER = 2.0 * np.arange(1, len(_BERNOULLI) + 1)
_REMAINDER = _BERNOULLI / (_ORDER * (_ORDER - 1.0))
_REMAINDER_SLOPE = -_BERNOULLI / _ORDER


def excess(numerator: ArrayLike, denominator: ArrayLike, difference: ArrayLike | None = None) -> Array:
    """Return ``r - 1 - log r`` for ``r = numerator / denominator``, to full relative precision.

    It is never negative and zero only at ``r = 1``.  Around ``r = 1`` the plain expression cancels, so
    there ``log(1 + x) = 2 artanh(s)`` with ``s = x / (2 + x)`` is summed and its first term is combined
    with ``x`` by hand.  Give ``difference = numerator - denominator`` when it is known more exactly than the
    two numbers tell.

    Examples
    --------
    >>> float(excess(2.0, 1.0))
    0.3068528194400547
    >>> float(excess(1.0 + 1e-8, 1.0))
    4.99999990...e-17
    """
    top = floats(numerator)
    bottom = floats(denominator)
    gap = top - bottom if difference is None else floats(difference)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = top / bottom
        direct = ratio - 1.0 - np.log(ratio)
        x = gap / bottom
        near = np.abs(x) < 0.1
        x = np.where(near, x, 0.0)
    s = x / (2.0 + x)
    square = s * s
    tail = np.zeros_like(square)
    for odd in range(15, 1, -2):
        tail = tail * square + 1.0 / odd
    return np.where(near, s * (x - 2.0 * square * tail), direct)


def stirling_remainder(x: ArrayLike) -> Array:
    """Return ``S(x) = log Gamma(x) - (x - 1/2) log x + x - log(2 pi)/2`` for ``x > 0``.

    Examples
    --------
    >>> float(stirling_remainder(1e6)) * 12e6
    0.99999999999...
    """
    return _joined(
        x,
        lambda large: _inverse_square_series(large, _REMAINDER) / large,
        lambda low: gammaln(low) - (low - 0.5) * np.log(low) + low - _HALF_LOG_TWO_PI,
    )


def stirling_remainder_slope(x: ArrayLike) -> Array:
    """Return ``S'(x) = digamma(x) - log x + 1/(2x)`` for ``x > 0``.

    Examples
    --------
    >>> float(stirling_remainder_slope(1e3)) * -12e6
    0.9999999...
    """
    return _joined(
        x,
        lambda large: _inverse_square_series(large, _REMAINDER_SLOPE) / large / large,
        lambda low: digamma(low) - np.log(low) + 0.5 / low,
    )


def trigamma_excess(x: ArrayLike) -> Array:
    """Return ``trigamma(x) - 1/x`` for ``x > 0``.

    Examples
    --------
    >>> float(trigamma_excess(1e6)) * 2e12
    1.0000003...
    """

    def series(large: Array) -> Array:
        return (0.5 + _inverse_square_series(large, _BERNOULLI) / large) / large / large

    def recurrence(low: Array) -> Array:
        # Far enough up the recurrence trigamma(x) = trigamma(x + 1) + 1/x^2 the series is good.
        far = low + _SERIES_FROM
        steps = np.square(1.0 / (low + np.arange(_SERIES_FROM)[:, None])).sum(axis=0)
        return np.asarray(series(far) + 1.0 / far - 1.0 / low + steps)

    return _joined(x, series, recurrence)


def _joined(x: ArrayLike, series: Callable[[Array], Array], direct: Callable[[Array], Array]) -> Array:
    """Take ``series`` where it converges and ``direct`` below."""
    points = np.atleast_1d(floats(x))
    small = points < _SERIES_FROM
    values = series(np.maximum(points, _SERIES_FROM))
    values[small] = direct(points[small])
    return values.reshape(np.shape(x))


def _inverse_square_series(x: Array, coefficients: Array) -> Array:
    """Sum ``coefficients[j] * x**(-2 j)``."""
    y = 1.0 / np.square(x)
    total = np.zeros_like(y)
    for coefficient in coefficients[::-1]:
        total = total * y + coefficient
    return total

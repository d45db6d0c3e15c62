r"""Binomial tails in log space and the Clopper-Pearson limits.

``k`` errors among ``m`` rows, true risk ``p``; the confidence is given as ``log_delta`` because the level of
one of very many classifiers is far too small for a floating point number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, xlog1py, xlogy

from votecert.numerics._arrays import EPS, TINY, Array, floats
from votecert.numerics._series import stirling_remainder
from votecert.numerics.beta import incomplete_beta, incomplete_beta_complement
from votecert.numerics.kl import binary_kl, kl_inverse_upper

__all__ = [
    "binomial_tail",
    "binomial_tail_slope",
    "clopper_pearson_upper",
    "log_binomial_cdf",
    "log_binomial_coefficient",
]

_UNDERFLOW = 1e-280
_MAX_NEWTON_STEPS = 100
_MAX_FRACTION_TERMS = 400


def log_binomial_coefficient(n: ArrayLike, k: ArrayLike) -> Array:
    r"""Return :math:`\log\binom nk` for ``0 <= k <= n``.

    Notes
    -----
    ``n H(k/n)`` plus Stirling's corrections: a difference of ``log Gamma`` would lose all digits of a small
    result.

    Examples
    --------
    >>> float(np.exp(log_binomial_coefficient(10, 3)))
    119.99999999...
    """
    n, k = floats(n), floats(k)
    log_likelihood = np.asarray(xlogy(k, k / n) + xlog1py(n - k, -k / n))  # at its peak
    return -log_likelihood + _log_peak_mass(k, n)


def log_binomial_cdf(k: ArrayLike, m: ArrayLike, p: ArrayLike) -> Array:
    r"""Return :math:`\log P(Bin(m,p)\le k)`, finite far below the smallest floating point number.

    Examples
    --------
    >>> round(float(np.exp(log_binomial_cdf(0, 3, 0.5))), 12)
    0.125
    >>> float(log_binomial_cdf(10, 1_000_000, 0.5))
    -693024.129...
    """
    k, m, p = np.broadcast_arrays(floats(k), floats(m), floats(p))
    inside = (k >= 0) & (k < m) & (p > 0.0) & (p < 1.0)
    value = np.where((k >= m) | ((p <= 0.0) & (k >= 0)), 0.0, -np.inf)
    k, m = k[inside], m[inside]
    value[inside] = _log_cdf(k, m, p[inside], _log_peak_mass(k, m))[0]
    return value


def clopper_pearson_upper(k: ArrayLike, m: ArrayLike, log_delta: ArrayLike) -> Array:
    r"""Return the largest ``p`` with :math:`P(Bin(m,p)\le k)\ge\delta`, rounded up.

    Parameters
    ----------
    k, m : array_like of int
        Errors and rows, ``0 <= k <= m``.
    log_delta : array_like
        Logarithm of the level, at most zero; minus infinity gives one.

    Notes
    -----
    The logarithm of the tail is concave in ``p`` (it is the survival function of a Beta density, which is
    log-concave), so a step of Newton's method never ends below the root.  Chernoff's bound
    ``kl(k/m, p) <= -log_delta/m`` limits it from above.

    References
    ----------
    C. J. Clopper and E. S. Pearson, Biometrika 26, 1934.  J. Langford, JMLR 6, 2005.

    Examples
    --------
    >>> float(clopper_pearson_upper(0, 10, np.log(0.05)))
    0.25886555...
    >>> clopper_pearson_upper([10, 3], 10, [-1.0, -10_000.0])
    array([1., 1.])
    """
    k, m, log_delta = checked_counts(k, m, log_delta)
    # The slack covers the error of the logarithm of the tail: see the tests against 40 digits.
    target = log_delta - 1e-12 * (1.0 + np.minimum(np.abs(log_delta), 1e300))
    value = kl_inverse_upper(k / m, -target / m)
    active = (k < m) & (value < 1.0)
    value[active] = _solve(k[active], m[active], target[active], value[active])
    return np.minimum(1.0, value * (1.0 + 4.0 * EPS))


def checked_counts(k: ArrayLike, m: ArrayLike, log_delta: ArrayLike) -> tuple[Array, Array, Array]:
    """Return errors, rows and the logarithm of a level as arrays of one shape, if there can be such."""
    k, m, log_delta = np.broadcast_arrays(floats(k), floats(m), floats(log_delta))
    if not (np.all(k >= 0) and np.all(k <= m) and np.all(m >= 1)):
        raise ValueError("k errors among m rows must satisfy 0 <= k <= m and m >= 1")
    if not np.all(log_delta <= 0.0):
        raise ValueError("log_delta must be zero or less")
    return k, m, log_delta


def binomial_tail(n: ArrayLike, k: ArrayLike, w: ArrayLike) -> Array:
    r"""Return :math:`P(Bin(n,w)\ge k) = I_w(k, n-k+1)`.

    Examples
    --------
    >>> binomial_tail(3, [0, 2, 4], 0.5)
    array([1. , 0.5, 0. ])
    """
    n, k, w = np.broadcast_arrays(floats(n), floats(k), floats(w))
    inside = (k >= 1) & (k <= n)
    value = incomplete_beta(np.where(inside, k, 1.0), np.where(inside, n - k + 1.0, 1.0), w)
    return np.where(inside, value, np.where(k <= 0, 1.0, 0.0))


def binomial_tail_slope(n: ArrayLike, k: ArrayLike, w: ArrayLike) -> Array:
    r"""Return the derivative of `binomial_tail` in ``w``, :math:`k\binom nk w^{k-1}(1-w)^{n-k}`.

    Examples
    --------
    >>> round(float(binomial_tail_slope(3, 2, 0.5)), 12)
    1.5
    """
    n, k, w = np.broadcast_arrays(floats(n), floats(k), floats(w))
    inside = (k >= 1) & (k <= n)
    n, k = np.where(inside, n, 1.0), np.where(inside, k, 1.0)
    log_slope = np.log(k) + log_binomial_coefficient(n, k) + xlogy(k - 1.0, w) + xlog1py(n - k, -w)
    return np.where(inside, np.exp(log_slope), 0.0)


def _log_peak_mass(k: Array, m: Array) -> Array:
    """Return ``log P(Bin(m, k/m) = k)``: of the factorials only roots and Stirling's remainders are left."""
    inner = (k > 0) & (k < m)
    a, b = np.where(inner, k, 1.0), np.where(inner, m - k, 1.0)
    n = np.where(inner, m, 2.0)
    remainders = stirling_remainder(n) - stirling_remainder(a) - stirling_remainder(b)
    return np.where(inner, 0.5 * np.log(n / (2.0 * np.pi) / a / b) + remainders, 0.0)


def _log_cdf(k: Array, m: Array, p: Array, log_peak: Array) -> tuple[Array, Array]:
    """Return the logarithm of ``P(Bin(m,p) <= k)`` and minus its slope in ``p``, for ``k < m``."""
    log_mass = log_peak - m * binary_kl(k / m, p)
    plain = incomplete_beta_complement(k + 1.0, m - k, p)
    far = plain < _UNDERFLOW
    value = np.log(np.where(far, 1.0, plain))
    if np.any(far):
        value[far] = log_mass[far] + np.log(_tail_over_mass(k[far], m[far], p[far]))
    hazard = (m - k) / (1.0 - p) * np.exp(np.minimum(log_mass - value, 0.0))
    return value, hazard


def _tail_over_mass(k: Array, m: Array, p: Array) -> Array:
    """Return ``P(Bin <= k)/P(Bin = k)`` in the far tail by the continued fraction of the incomplete beta.

    This is ``p`` times the fraction 8.17.22 of the Digital Library of Mathematical Functions at
    ``x = 1 - p``, ``a = m - k``, ``b = k + 1``, evaluated with Lentz's method.
    """
    a, b, x = m - k, k + 1.0, 1.0 - p
    upper = np.ones_like(x)
    lower = 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    value = lower
    for i in range(1, _MAX_FRACTION_TERMS):
        for coefficient in (
            i * (b - i) * x / ((a + 2.0 * i - 1.0) * (a + 2.0 * i)),
            -(a + i) * (a + b + i) * x / ((a + 2.0 * i) * (a + 2.0 * i + 1.0)),
        ):
            lower = 1.0 / (1.0 + coefficient * lower)
            upper = 1.0 + coefficient / upper
            factor = lower * upper
            value = value * factor
        if np.all(np.abs(factor - 1.0) < 4.0 * EPS):
            break
    return p * value


def _solve(k: Array, m: Array, target: Array, chernoff: Array) -> Array:
    """Newton's method on the concave logarithm of the tail: after its first step it comes from above."""
    p = _saddlepoint_start(k, m, target, chernoff)
    log_peak = _log_peak_mass(k, m)
    active = np.arange(p.size)
    for _ in range(_MAX_NEWTON_STEPS):
        here = np.minimum(p[active], 1.0 - EPS / 2)
        value, hazard = _log_cdf(k[active], m[active], here, log_peak[active])
        step = (target[active] - value) / np.maximum(hazard, TINY)
        p[active] = np.clip(here - step, 0.0, chernoff[active])
        active = active[np.abs(p[active] - here) > 1e-12 * here]
        if active.size == 0:
            break
    return p


def _saddlepoint_start(k: Array, m: Array, target: Array, chernoff: Array) -> Array:
    """Solve the normal tail at ``z = sqrt(2 m kl((k + 1/2)/m, p))``, which is close to the binomial one.

    With ``y = z^2/2`` the tail is ``exp(-y) erfcx(sqrt y)/2``; ``y`` is found by fixed-point steps.
    """
    y = -target
    for _ in range(4):
        y = np.maximum(-target + np.log(0.5 * erfcx(np.sqrt(y))), 0.0)
    return np.minimum(kl_inverse_upper((k + 0.5) / m, y / m), chernoff)

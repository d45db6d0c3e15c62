r"""The Bernoulli divergence ``kl(q, p)``, and its two inverses.

Symbols of the paper: ``q`` is an empirical risk, ``p`` a true risk and ``c`` the complexity term.
Inverses are rounded outward: they enclose the exact value.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from votecert.numerics._arrays import EPS, TINY, Array, floats, in_blocks
from votecert.numerics._series import excess

__all__ = [
    "binary_kl",
    "kl_inverse_lower",
    "kl_inverse_lower_gradient",
    "kl_inverse_upper",
    "kl_inverse_upper_gradient",
]

_SMALLEST_RISK = 1e-290
_NEXT_TO_ONE = 1.0 - 2.0**-24


def binary_kl(q: ArrayLike, p: ArrayLike) -> Array:
    r"""Return :math:`kl(q,p) = q\log(q/p) + (1-q)\log((1-q)/(1-p))`.

    Notes
    -----
    Computed as ``q e(p/q) + (1-q) e((1-p)/(1-q))`` with ``e(r) = r - 1 - log r``: a sum of two terms that
    are never negative, so nothing cancels when ``p`` is close to ``q``.

    Examples
    --------
    >>> float(binary_kl(0.1, 0.2))
    0.0366900140...
    >>> float(binary_kl(0.0, 1.0)), float(binary_kl(1.0, 1.0))
    (inf, 0.0)
    """
    q, p = floats(q), floats(p)
    with np.errstate(invalid="ignore"):
        wrong = np.where(q > _SMALLEST_RISK, q * excess(p, q), p)
        right = np.where(q < 1.0, (1.0 - q) * excess(1.0 - p, 1.0 - q, q - p), 1.0 - p)
    return np.asarray(wrong + right)


def kl_inverse_upper(q: ArrayLike, c: ArrayLike) -> Array:
    r"""Return :math:`\sup\{p : kl(q,p) \le c\}`, rounded up.

    Notes
    -----
    ``kl(q, .)`` is convex and grows on ``[q, 1]``, so one Newton step from *any* point ends above the root:
    the last step, with the accurate divergence and the slightly enlarged complexity
    ``c(1 + 1e-12) + 1e-15``, rounds outward by itself.

    Examples
    --------
    >>> float(kl_inverse_upper(0.1, 0.0366900140347506))
    0.2000000000...
    >>> kl_inverse_upper([0.0, 0.3, 1.0], [0.0, np.inf, 0.1])
    array([0., 1., 1.])
    """
    q, c = checked(q, c)
    # Next to zero the formulas underflow; a slightly larger risk is outward.
    root = in_blocks(partial(_solve, side=1.0), np.where(q > 0.0, np.maximum(q, _SMALLEST_RISK), 0.0), c)
    rounded = np.minimum(1.0, root * (1.0 + 4.0 * EPS))
    return np.where(c == 0.0, q, rounded)


def kl_inverse_lower(q: ArrayLike, c: ArrayLike) -> Array:
    r"""Return :math:`\inf\{p : kl(q,p) \le c\}`, rounded down.

    Examples
    --------
    >>> float(kl_inverse_lower(0.2, 0.0444030075868))
    0.1000000000...
    >>> kl_inverse_lower([0.0, 0.3, 1.0], [0.1, np.inf, 0.0])
    array([0., 0., 1.])
    """
    q, c = checked(q, c)
    root = in_blocks(partial(_solve, side=-1.0), np.maximum(q, _SMALLEST_RISK), c)
    rounded = np.where(q < _SMALLEST_RISK, 0.0, root * (1.0 - 4.0 * EPS))
    return np.where(c == 0.0, q, rounded)


def kl_inverse_upper_gradient(q: ArrayLike, c: ArrayLike) -> tuple[Array, Array, Array]:
    """Return ``kl_inverse_upper(q, c)`` and its derivatives in ``q`` and in ``c``.

    Infinite slopes (``q = 0``, ``c = 0``) come out as large finite numbers. Where ``c`` makes the value one
    up to rounding, slopes are those at ``1 - 6e-8``: without any, a learner that strayed there would stay.

    Examples
    --------
    >>> value, slope_q, slope_c = kl_inverse_upper_gradient(0.0, 0.5)
    >>> float(value), float(slope_c)
    (0.39346934..., 0.60653065...)
    """
    q, value = floats(q), kl_inverse_upper(q, c)
    return (value, *_implicit_slopes(q, np.where(q < 0.9, np.minimum(value, _NEXT_TO_ONE), value)))


def kl_inverse_lower_gradient(q: ArrayLike, c: ArrayLike) -> tuple[Array, Array, Array]:
    """Return ``kl_inverse_lower(q, c)`` and its derivatives in ``q`` and in ``c``.

    Examples
    --------
    >>> value, slope_q, slope_c = kl_inverse_lower_gradient(1.0, 0.5)
    >>> float(value), float(slope_c)
    (0.60653065..., -0.60653065...)
    """
    value = kl_inverse_lower(q, c)
    return (value, *_implicit_slopes(floats(q), value))


def checked(q: ArrayLike, c: ArrayLike) -> tuple[Array, Array]:
    """Return risk and complexity as arrays of one shape, if there can be such."""
    q, c = np.broadcast_arrays(floats(q), floats(c))
    if not (np.all(q >= 0.0) and np.all(q <= 1.0)):
        raise ValueError("q must lie in [0, 1]")
    if not np.all(c >= 0.0):
        raise ValueError("c must be zero or more")
    return q, c


def _enlarge(c: Array) -> Array:
    """Add the outward slack; below 1e-15 doubling ``c`` is enough and keeps the result within 1e-8.

    Beyond 1e6 the answer is 0 or 1 in floating point, so ``c`` is cut there to keep squares finite.
    """
    return np.minimum(np.maximum(c, _SMALLEST_RISK), 1e6) * (1.0 + 1e-12) + np.minimum(c, 1e-15)


def _solve(q: Array, c: Array, side: float) -> Array:
    """Solve ``kl(q, p) = c``, enlarged, above (``side = 1``) or below (``side = -1``) ``q``.

    Three Halley steps with plain logarithms bring every start within 1e-7 of the distance ``|p - q|``, one
    Newton step with the accurate divergence finishes.  Where ``c`` is below 1e-8 of the variance ``q(1-q)``
    plain logarithms cancel, but ``|p - q| = sqrt(2cq(1-q))`` is within 1e-4 already.
    """
    c, entropy, variance = _enlarge(c), _entropy(q), q * (1.0 - q)
    low, high = (q, np.ones_like(q)) if side > 0.0 else (np.zeros_like(q), q)
    # At the two ends the logarithms are infinite.
    floor, ceiling = np.maximum(low, TINY), np.minimum(high, 1.0 - EPS / 2)
    p = q + side * _starting_distance(q, c, entropy, side)
    for _ in range(3):
        p = np.minimum(np.maximum(p, floor), ceiling)
        gap = -entropy - c - q * np.log(p) - (1.0 - q) * np.log1p(-p)
        distance = _distance(p, q, side)
        bend = 0.5 * (gap + (gap / distance) * (variance / distance))
        p -= gap * (p / distance) * (1.0 - p) / np.maximum(1.0 - bend, 0.5)
    p = np.where(c < 1e-8 * variance, q + side * np.sqrt(2.0 * c * variance), p)
    p = np.minimum(np.maximum(p, floor), ceiling)
    p -= (binary_kl(q, p) - c) * (p / _distance(p, q, side)) * (1.0 - p)
    return np.minimum(np.maximum(p, low), high)


def _distance(p: Array, q: Array, side: float) -> Array:
    """Return ``p - q``, but at least one unit in the last place: there the slope must not vanish."""
    return side * np.maximum(side * (p - q), EPS / 2 * np.maximum(q, TINY))


def _starting_distance(q: Array, c: Array, entropy: Array, side: float) -> Array:
    """Bound ``|p - q|`` from above by closed forms.

    With ``wall`` the distance from ``q`` to the end of the interval, ``kl(q,p) >= -H(q) - wall log|end - p|``
    and ``kl(q,p) >= (p-q)^2/(2 wall)``; the others are Pinsker's and ``c + sqrt(2cq + c^2)``,
    which solves ``(p-q)^2 = 2cp``: for ``p >= q``, ``kl(q,p) >= (p-q)^2/(2p)``.
    """
    wall, back = (1.0 - q, q) if side > 0.0 else (q, 1.0 - q)
    exponent = -(c + entropy) / np.maximum(wall, TINY)
    to_wall = np.where(wall < 0.5, wall - np.exp(exponent), -np.expm1(exponent) - back)
    quadratic = np.sqrt(c * np.minimum(0.5, 2.0 * wall))
    closed = np.minimum(quadratic, c + np.sqrt(c) * np.sqrt(2.0 * back + c))
    return np.asarray(np.minimum(closed, to_wall))


def _entropy(q: Array) -> Array:
    inner = np.maximum(q, TINY)
    return -inner * np.log(inner) - (1.0 - q) * np.log1p(-np.minimum(q, 1.0 - EPS))


def _implicit_slopes(q: Array, value: Array) -> tuple[Array, Array]:
    """Differentiate ``kl(q, v(q, c)) = c``: slopes of ``v`` in ``q`` and in ``c``."""
    distance = value - q
    room = np.maximum(np.abs(distance), EPS * np.maximum(q, TINY) + TINY)
    slope_c = value * (1.0 - value) / np.copysign(room, distance)
    slope_q = np.where(np.abs(distance) > 1e-14, (log_odds(value) - log_odds(q)) * slope_c, 1.0)
    return slope_q, slope_c


def log_odds(p: Array) -> Array:
    """Return ``log(p / (1 - p))``, finite at both ends."""
    return np.log(np.maximum(p, TINY)) - np.log(np.maximum(1.0 - p, TINY))

r"""The regularised incomplete beta function :math:`I_x(a,b)`, the distribution function of Beta(a, b)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc

from votecert.numerics._arrays import EPS, Array, floats, in_blocks
from votecert.numerics._series import stirling_remainder, stirling_remainder_slope

__all__ = ["beta_cdf", "beta_cdf_gradient", "dirichlet_tail"]

_SMALLEST_PARAMETER = 1e-20
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(24)
_NODES, _NODE_WEIGHTS = (_NODES + 1.0) / 2.0, _NODE_WEIGHTS / 2.0

# The density is followed until it has fallen by exp(-30) ...
_DROP = 30.0
# ... or until it is a pure exponential in log-odds up to this relative error.
_STRAIGHT = 1e-9

# So few rows are integrated at all nodes at once.
_FEW = 500

# Below this total the finite sum of `_off_whole_number` is as good as any other method.
_SUM_IS_FINE = 1e3


def beta_cdf(x: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    r"""Return :math:`I_x(a,b)` for ``x`` in [0, 1] and ``a, b >= 0``.

    The limits are those of a loss that must not be counted too low: ``I_x(0, b) = 1``, ``I_x(a, 0) = 0``
    for ``x < 1`` and ``I_x(0, 0) = 1``.

    Examples
    --------
    >>> float(beta_cdf(0.5, 3.0, 3.0))
    0.5
    >>> beta_cdf(0.5, [0.0, 2.0, 0.0], [2.0, 0.0, 0.0])
    array([1., 0., 1.])
    """
    x, a, b = np.broadcast_arrays(floats(x), floats(a), floats(b))
    value = incomplete_beta(np.where(a > 0.0, a, 1.0), np.where(b > 0.0, b, 1.0), x)
    return _with_limits(value, x, a, b)


def dirichlet_tail(K: ArrayLike, g: ArrayLike) -> Array:
    r"""Return :math:`\tau_K(g) = P(Beta(K/2,K/2) > 1/2+g)` for ``0 <= g <= 1/2``.

    Examples
    --------
    >>> float(dirichlet_tail(2.0, 0.25))
    0.25
    """
    half = floats(K) / 2.0
    return beta_cdf(0.5 - floats(g), half, half)


def beta_cdf_gradient(x: ArrayLike, a: ArrayLike, b: ArrayLike) -> tuple[Array, Array, Array, Array]:
    r"""Return :math:`I_x(a,b)` and its derivatives in ``x``, ``a`` and ``b``, for learning.

    The value is good to about 1e-8 and the derivatives to 1e-6 of their scale, for ``a + b`` from 1e-6 to
    1e10; certificates use `beta_cdf`.  A zero parameter gets the slope of the limit, two zeros slope zero.

    Notes
    -----
    With ``h`` the density of the log-odds ``u`` of a Beta variable ``t``,

    .. math:: \partial_a I_x = \int_{-\infty}^{logit(x)} (\log t - \psi(a) + \psi(a+b))\,h(u)\,du,

    the same with ``log(1-t)`` and ``b``, and both change sign over the other side of ``x``.  The side without
    the mode is integrated by 24 Gauss-Legendre nodes from ``x`` to where ``h`` is negligible or a pure
    exponential; the exponential tail is added in closed form.  Around the mode ``u_0 = log(a/b)``, with
    ``e = log(1 + (a/(a+b))(exp(u-u_0) - 1))``, the density is ``h(u_0) exp(a(u-u_0) - (a+b)e)``, which keeps
    its digits at large parameters; arguments are swapped so that ``a <= b``.

    Examples
    --------
    >>> value, slope_x, slope_a, slope_b = beta_cdf_gradient(0.5, 1.0, 1.0)
    >>> np.round([value, slope_x, slope_a, slope_b], 6)
    array([ 0.5     ,  1.      , -0.346574,  0.346574])
    """
    x, a, b = np.broadcast_arrays(floats(x), floats(a), floats(b))
    value, slope_x, slope_a, slope_b = in_blocks(_integrate, x, a, b)
    nowhere = (a == 0.0) & (b == 0.0)
    slope_x = np.where((a == 0.0) | (b == 0.0), 0.0, slope_x)
    slope_a, slope_b = np.where(nowhere, 0.0, slope_a), np.where(nowhere, 0.0, slope_b)
    return _with_limits(value, x, a, b), slope_x, slope_a, slope_b


def _with_limits(value: Array, x: Array, a: Array, b: Array) -> Array:
    value = np.where((b == 0.0) & (x < 1.0), 0.0, value)
    return np.where((a == 0.0) | (x >= 1.0), 1.0, value)


def _integrate(x: Array, a: Array, b: Array) -> Array:
    """Return value and derivatives, stacked, for one block of rows."""
    x = np.clip(x, 1e-200, 1.0 - EPS / 2)
    swapped = a > b
    small = np.maximum(np.minimum(a, b), _SMALLEST_PARAMETER)
    large = np.maximum(np.maximum(a, b), _SMALLEST_PARAMETER)
    log_odds = np.where(swapped, -1.0, 1.0) * (np.log(x) - np.log1p(-x))
    below, density, slope_small, slope_large = _lower_tail(log_odds, small, large)
    return np.stack(
        [
            np.where(swapped, 1.0 - below, below),
            density / (x * (1.0 - x)),
            np.where(swapped, -slope_large, slope_small),
            np.where(swapped, -slope_small, slope_large),
        ]
    )


def _lower_tail(log_odds: Array, a: Array, b: Array) -> tuple[Array, Array, Array, Array]:
    """Return probability below, density and the two integrals of `beta_cdf_gradient`, for ``a <= b``."""
    K = a + b
    mode = np.log(a / b)
    at = log_odds - mode
    left = at < 0.0
    end = _far_end(at, left, a, b, mode)
    length = at - end
    share = a / K
    shift = 0.5 / K - stirling_remainder_slope(K)
    shift_a = 0.5 / a - stirling_remainder_slope(a) - shift
    shift_b = 0.5 / b - stirling_remainder_slope(b) - shift

    mass, moment, log_room = np.zeros_like(K), np.zeros_like(K), np.zeros_like(K)
    few = K.size <= _FEW  # then all nodes at once: the time goes into calls, not into numbers
    steps = [(_NODES[:, None], _NODE_WEIGHTS[:, None])] if few else zip(_NODES, _NODE_WEIGHTS, strict=True)
    for node, weight in steps:
        u = end + node * length
        e = np.log1p(share * np.expm1(u))
        height = weight * np.exp(a * u - K * e)
        for total, part in ((mass, height), (moment, height * u), (log_room, height * e)):
            total += part.sum(axis=0) if few else part
    # Beyond the end the density falls like exp(-rate |u - end|); the other logarithm is constant there.
    e = np.log1p(share * np.expm1(end))
    rate = np.where(left, a, -b)
    tail = np.exp(a * end - K * e) / rate
    mass = mass * length + tail
    moment = moment * length + tail * (end - 1.0 / rate)
    log_room = log_room * length + tail * (e - np.where(left, 0.0, 1.0 / rate))

    remainders = stirling_remainder(K) - stirling_remainder(a) - stirling_remainder(b)
    peak = np.sqrt(share * b / (2.0 * np.pi)) * np.exp(remainders)
    density = peak * np.exp(a * at - K * np.log1p(share * np.expm1(at)))
    slope_a = peak * (shift_a * mass + moment - log_room)
    slope_b = peak * (shift_b * mass - log_room)
    return np.where(left, peak * mass, 1.0 + peak * mass), density, slope_a, slope_b


def _far_end(at: Array, left: NDArray[np.bool_], a: Array, b: Array, mode: Array) -> Array:
    """Return where the integration away from the mode may stop, as a distance from the mode in log-odds.

    The density falls by ``(a+b) kl(t_0, t)`` from its mode ``t_0``.  Closed-form bounds on the inverse of
    ``kl`` tell where that reaches the wanted drop: ``q + c + sqrt(2cq + c^2)``, and
    ``-H(q) - (1-q) log(1-p)`` with its mirror image; a Gaussian plus an exponential width does too.
    """
    K = a + b
    straight = np.log(K / _STRAIGHT + 1.0)
    gaussian = np.sqrt(2.0 * _DROP * K / a / b)
    fall = _DROP + b * np.log1p(a / b) - a * np.log(a / K)
    c = _DROP / K
    sharper = np.minimum(a / K + c + np.sqrt(2.0 * c * a / K + c * c), 1.0 - EPS)
    by_left, by_right = (fall / side + np.log(-np.expm1(-fall / side)) for side in (a, b))
    by_kl = np.log(sharper) - np.log1p(-sharper) - mode
    right_end = np.minimum.reduce([gaussian + _DROP / b, by_kl, by_right - mode, straight - mode])
    left_end = -np.minimum.reduce([gaussian + _DROP / a, by_left + mode, straight + mode])
    return np.where(left, np.minimum(left_end, at), np.maximum(right_end, at))


def incomplete_beta(a: Array, b: Array, x: Array) -> Array:
    """Return ``I_x(a, b)`` for positive ``a`` and ``b``.

    Examples
    --------
    >>> float(incomplete_beta(np.array(1.0), np.array(2.0), np.array(0.5)))
    0.75
    """
    return np.asarray(betainc(_off_whole_number(a, b), b, x))


def incomplete_beta_complement(a: Array, b: Array, x: Array) -> Array:
    """Return ``1 - I_x(a, b)`` for positive ``a`` and ``b``, without cancellation.

    Examples
    --------
    >>> float(incomplete_beta_complement(np.array(1.0), np.array(2.0), np.array(0.5)))
    0.25
    """
    return np.asarray(betaincc(_off_whole_number(a, b), b, x))


def _off_whole_number(a: Array, b: Array) -> Array:
    """Return ``a``, moved by one unit in the last place where SciPy's function would lose digits.

    For two whole-number parameters, ``a`` below 40 and ``b`` large, the Boost routine behind it sums binomial
    terms starting from a power ``(1-x)**n`` with a rounded base: at ``n = 1e9`` that leaves eight digits.
    One unit in the last place added to ``a`` avoids that branch; it changes the result by less than 1e-15 and
    brings the relative error back to 1e-14.  (With ``a`` large and ``b`` small the base is ``x`` itself.)
    """
    return np.where((a > 1.0) & (a < 50.0) & (b > _SUM_IS_FINE), np.nextafter(a, np.inf), a)

r"""The regularised incomplete beta function :math:`I_x(a,b)`, the distribution function of Beta(a, b)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from votecert.numerics._arrays import Array, floats

__all__ = ["beta_cdf", "dirichlet_tail"]


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
    x, a, b = np.broadcast_arrays(*(floats(v) for v in (x, a, b)))
    value = betainc(np.where(a > 0.0, a, 1.0), np.where(b > 0.0, b, 1.0), x)
    value = np.where((b == 0.0) & (x < 1.0), 0.0, value)
    return np.where((a == 0.0) | (x >= 1.0), 1.0, value)


def dirichlet_tail(K: ArrayLike, g: ArrayLike) -> Array:
    r"""Return :math:`\tau_K(g) = P(Beta(K/2,K/2) > 1/2+g)` for ``0 <= g <= 1/2``.

    Examples
    --------
    >>> float(dirichlet_tail(2.0, 0.25))
    0.25
    """
    half = floats(K) / 2.0
    return beta_cdf(0.5 - floats(g), half, half)

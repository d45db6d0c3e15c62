r"""The mixture of kl and Catoni inequalities and its inverse (one inequality, nothing else to pay).

For a loss in [0, 1] with mean ``p`` and average ``q`` over ``m`` independent rows put

.. math:: \Delta_m(q,p) = \frac1m\log\Big(\tfrac1{17}\sum_{j=1}^{16}e^{m e_j(q,p)}
          + \tfrac1{17}e^{m\,kl(q,p)}/\xi(m)\Big), \qquad e_j = -\log(1-p(1-e^{-C_j})) - C_j q,

with ``C_j`` geometric from ``sqrt(6/m)`` to 6.

*Each term has expectation at most one.*  ``exp(-Cx) <= 1 - x(1-exp(-C))`` on [0, 1] by convexity, so
:math:`E e^{-Cmq} \le (1-p(1-e^{-C}))^m`; and :math:`E e^{m\,kl(q,p)} \le \xi(m)` (Maurer 2004).  Hence the
mixture has expectation at most one for every weight vector, and under every prior.

*Joint convexity.*  Every ``e_j`` is convex in ``p`` plus linear in ``q``, ``kl`` is jointly convex, and the
logarithm of a sum of exponentials of convex functions is convex.  With Jensen's inequality, the change of
measure and Markov's inequality, with probability ``1 - delta`` for all posteriors at once,
:math:`m\Delta_m(E\hat L, E L) \le D + \log(1/\delta)`.

*Inverse.*  On ``p >= q`` all terms grow with ``p``, and at ``p = q`` each ``e_j <= 0`` (again convexity), so
``Delta_m(q, q) <= 0 <= c``: the largest ``p`` with ``Delta_m <= c`` is the only root above ``q``.  There
every term falls with ``q``, so the root grows with ``q``, and an upper bound on the average loss may be put
in its place.
"""

from __future__ import annotations

from functools import lru_cache, partial
from math import log

import numpy as np
from numpy.typing import ArrayLike

from votecert.numerics._arrays import EPS, TINY, Array, floats, in_blocks
from votecert.numerics.kl import binary_kl, checked, kl_inverse_upper, log_odds
from votecert.numerics.maurer import log_maurer

__all__ = ["catoni_grid", "mixture_inverse", "mixture_inverse_gradient"]

_N_CATONI = 16
_LOG_TERMS = log(_N_CATONI + 1.0)
_MAX_STEPS = 50


@lru_cache(maxsize=256)
def catoni_grid(m: int) -> tuple[float, ...]:
    """Return the 16 Catoni parameters, geometric from ``sqrt(6/m)`` to 6: fixed by ``m`` alone.

    Examples
    --------
    >>> catoni_grid(600)[0], catoni_grid(600)[-1]
    (0.1, 6.0)
    """
    return tuple(float(C) for C in np.geomspace(np.sqrt(6.0 / m), 6.0, _N_CATONI))


def mixture_inverse(q: ArrayLike, c: ArrayLike, m: int) -> Array:
    r"""Return the largest ``p`` with :math:`\Delta_m(q,p)\le c`, rounded up.

    Parameters
    ----------
    q, c : array_like
        Average loss (or an upper bound on it) in [0, 1] and complexity ``(D + log(1/delta))/m``; an infinite
        complexity gives one.
    m : int
        The number of rows.

    Notes
    -----
    Each single term is at most ``17 exp(mc)``, so the smallest of the 17 single inverses at
    ``c + log(17)/m`` is above the root.  From there Newton's method on a convex function descends to the
    root and never passes it.

    Examples
    --------
    >>> float(mixture_inverse(0.1, 0.02, 1000))
    0.1752...
    >>> mixture_inverse([0.0, 1.0, 0.2], [0.0, 0.1, np.inf], 10)
    array([0.0056..., 1.        , 1.        ])
    """
    return in_blocks(partial(_solve, m=m), *checked(q, c))


def mixture_inverse_gradient(q: ArrayLike, c: ArrayLike, m: int) -> tuple[Array, Array, Array]:
    """Return ``mixture_inverse(q, c, m)`` and its derivatives in ``q`` and in ``c``.

    Examples
    --------
    >>> value, slope_q, slope_c = mixture_inverse_gradient(0.1, 0.02, 1000)
    >>> float(slope_q), float(slope_c)
    (1.247..., 1.963...)
    """
    value = mixture_inverse(q, c, m)
    q = np.broadcast_to(floats(q), value.shape)
    _, slope_p, slope_q = _mixture(q, np.clip(value, TINY, 1.0 - EPS / 2), m)
    inside = value < 1.0
    return value, np.where(inside, -slope_q / slope_p, 0.0), np.where(inside, 1.0 / slope_p, 0.0)


def _solve(q: Array, c: Array, m: int) -> Array:
    # Plain logarithms are good to a few 1e-16, hence the additive slack; beyond 1e6 the answer is one anyway.
    enlarged = np.minimum(c, 1e6) * (1.0 + 1e-12) + 4e-15
    # A start that rounds to one says nothing about the root: go on from the number below one.
    p = np.clip(_upper_start(q, enlarged, m), TINY, 1.0 - EPS / 2)
    active = np.flatnonzero(q < 1.0)
    for _ in range(_MAX_STEPS):
        here = p[active]
        value, slope, _ = _mixture(q[active], here, m)
        gap = np.maximum(value - enlarged[active], 0.0)
        step = gap / slope
        p[active] = np.maximum(here - step, np.maximum(q[active], TINY))
        noise = (gap <= 1e-15 + 1e-13 * enlarged[active]) | (step <= EPS * here)
        active = active[~noise]
        if active.size == 0:
            break
    return np.minimum(1.0, p * (1.0 + 4.0 * EPS))


def _upper_start(q: Array, c: Array, m: int) -> Array:
    start = kl_inverse_upper(q, c + (_LOG_TERMS + log_maurer(m)) / m)
    single = c + _LOG_TERMS / m
    for C in catoni_grid(m):
        start = np.minimum(start, np.expm1(-single - C * q) / np.expm1(-C))
    return start


def _mixture(q: Array, p: Array, m: int) -> tuple[Array, Array, Array]:
    """Return ``Delta_m(q, p)`` and its derivatives in ``p`` and in ``q``, for inner ``p``."""
    C = np.array(catoni_grid(m)).reshape(-1, *([1] * q.ndim))
    shrink = -np.expm1(-C)
    room = 1.0 - p * shrink
    exponents = np.concatenate([-np.log1p(-p * shrink) - C * q, (binary_kl(q, p) - log_maurer(m) / m)[None]])
    peak = exponents.max(axis=0)
    shares = np.exp(m * (exponents - peak))
    total = shares.sum(axis=0)
    value = peak + (np.log(total) - _LOG_TERMS) / m
    shares /= total
    kl_slope_q = log_odds(q) - log_odds(p)
    slope_p = (shares[:-1] * (shrink / room)).sum(axis=0) + shares[-1] * (p - q) / (p * (1.0 - p))
    slope_q = shares[-1] * kl_slope_q - (shares[:-1] * C).sum(axis=0)
    return value, slope_p, slope_q

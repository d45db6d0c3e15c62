r"""An upper limit on the mean of losses between 0 and 1: costs, errors by cluster, differences.

Let :math:`L_1..L_n` be independent in [0, 1] with average mean R. For r in (0, 1) and a stake
:math:`0\le\lambda<1` put

.. math:: e_\lambda(r) = \prod_i \Big(1 + \lambda\frac{r - L_i}{1 - r}\Big), \qquad
          M(r) = \sum_\lambda w_\lambda e_\lambda(r).

*Validity.*  Each factor is at least :math:`1-\lambda>0`, and :math:`E e_\lambda(R)\le 1`: the means of the
factors average to one, and a product of positive numbers is at most the power of their average.  ``M`` does
not fall in r, for :math:`(r-L)/(1-r)` has the slope :math:`(1-L)/(1-r)^2`.  So
:math:`U=\inf\{r: M(r)\ge 1/e\}` is an upper limit on R at level e: if U < R then :math:`M(R)\ge 1/e`, which
Markov's inequality allows with probability e.  Losses rounded up only make U larger.

*Beside it* ``kl_inverse_upper(mean, log(1/e)/n)`` is a limit at level e for the same losses (Hoeffding).  Two
statements at half the level each; the smaller counts.

*Sizes.*  Units with a size :math:`s_i\le 1` and a loss :math:`0\le L_i\le s_i`, independent and alike, have
the factors :math:`1+\lambda(r s_i-L_i)/(1-r)`, and the same proof gives an upper limit on
:math:`R=E L/E s`: the mean of :math:`R s - L` is zero.  There the mixture has the whole level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from votecert.numerics._arrays import EPS, floats
from votecert.numerics.kl import kl_inverse_upper

__all__ = ["STAKES", "bounded_mean_upper"]

STAKES = (0.05, 0.13, 0.35, 0.9)
"""The stakes of the mixture, with equal shares."""

_LOG_2 = math.log(2.0)


def bounded_mean_upper(
    losses: Sequence[Any], counts: Sequence[int], log_level: float, sizes: Sequence[Any] | None = None
) -> float:
    """Return an upper limit on the mean of independent losses in [0, 1], rounded up.

    Parameters
    ----------
    losses : numbers or fractions in [0, 1]
        Different losses.
    counts : whole numbers
        How often each was seen, one in all at least.
    log_level : float
        Logarithm of the level, at most zero; minus infinity gives one.
    sizes : numbers or fractions in (0, 1], optional
        Sizes of the units, each at least its loss: then the limit is on the mean loss by the mean size.

    References
    ----------
    W. Hoeffding, JASA 58, 1963.  I. Waudby-Smith and A. Ramdas, Estimating means of bounded random
    variables by betting, JRSS B 86, 2024.

    Examples
    --------
    A hundred losses around .1, half of them at .05 and half at .15:

    >>> round(bounded_mean_upper([0.05, 0.15], [50, 50], math.log(0.05)), 3)
    0.15
    >>> round(float(kl_inverse_upper(0.1, -math.log(0.05) / 100)), 3)
    0.189
    """
    loss, count = floats([float(x) for x in losses]), floats(counts)
    size = np.ones_like(loss) if sizes is None else floats([float(x) for x in sizes])
    if not (loss.shape == count.shape == size.shape and np.all(count >= 0) and count.sum() >= 1):
        raise ValueError("losses, counts and sizes must be as many, and there must be a count of one or more")
    if not (np.all(loss >= 0) and np.all(loss <= size) and np.all(size <= 1) and np.all(size > 0)):
        raise ValueError("losses must lie between 0 and their sizes, and these between 0 and 1")
    if not log_level <= 0.0:
        raise ValueError("log_level must be zero or less")
    n = float(count.sum())
    if sizes is not None:
        return _mixture_limit(loss, size, count, -log_level)
    cost = _LOG_2 * (1 + EPS) - log_level
    # the mean is rounded by a few units for each of its terms
    mean = min(1.0, float(loss @ count) / n * (1.0 + (4.0 + len(loss)) * EPS))
    return min(_mixture_limit(loss, size, count, cost), float(kl_inverse_upper(mean, cost / n)))


def _mixture_limit(loss: Any, size: Any, count: Any, cost: float) -> float:
    """The smallest r, up to the last digit, at which the mixture is surely ``exp(cost)`` or more."""
    stakes = np.array(STAKES)[:, None]
    low, high = 0.0, 1.0
    target = cost + math.log(len(STAKES)) * (1 + EPS)
    if math.isinf(target):
        return 1.0

    def is_above(r: float) -> bool:
        gain = stakes * (r * size - loss) / (1.0 - r)
        terms = np.log1p(gain)
        # r s - L cancels, which (1 - r) magnifies; then come the logarithm, the product and the sum
        noise = 4.0 * EPS * (stakes * (r * size + loss) / (1.0 - r) / (1.0 + gain) + 1.0)
        noise += (8.0 + len(loss)) * EPS * np.abs(terms)
        sums = (terms - noise) @ count
        peak = float(sums.max())
        total = peak + math.log(float(np.exp(sums - peak).sum()))
        return total >= target * (1 + 1e-13) + 1e-13

    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return high

r"""What stays valid however often one looks: an e-process against a limit, and limits for all times.

``r`` is the limit, ``L_1, L_2, ...`` losses in [0, 1] in the order in which they are fed.

*Evidence against the limit.*  For a bet ``0 < l < 1`` put ``F(L) = 1 + l (L - r)/r = (1 - l) + l L/r``. It is
positive, linear and increasing in ``L``.  If, given everything fed before, the next loss has mean at most
``r``, then ``F(L)`` has mean at most one, so a product of such factors from any time on that is fixed by what
was fed before is a non-negative supermartingale that starts at one.  With shares :math:`w_j` of the bets and
:math:`v_u` of the starts, before update u, that sum to at most one each,

.. math:: E_t = \sum_j w_j\sum_u v_u\prod_{s\text{ fed since update }u}\big(1 + l_j(L_s - r)/r\big)
          + \sum_{\text{later }u}v_u

is one, too, and :math:`P(E_t\ge1/\alpha\text{ for some }t)\le\alpha` (Ville).  Losses may be rounded down:
every factor falls.  For errors, ``L`` zero or one, the bet ``l`` is the likelihood ratio of the error ``p = r
+ l (1 - r)`` to ``r``.

*Bets* follow from ``r`` alone: ``l_k = 1 - (1 - r)^(2^k)``, that is ``1 - p = (1 - r)^(1 + 2^k)``: about ``1
+ 2^k`` times the limit, for k from -8 (so that any lasting excess is found) to where ``l`` is 15/16, with
shares in proportion to ``1/(1 + k^2)``, the most for twice the limit.

*Starts.*  Half is for the very start.  Of the other half, ``1/(1 + log(1 + u))`` is left after update u: so a
long good time costs a few nats, and not all that the bets have lost in it, when the world changes after it.
The sum over starts needs no memory: before each update its share is added to the capital of every bet, which
then is multiplied by the factors of the new losses.

*Limits for all times.*  For ``k`` errors among ``t`` rows with a constant error ``p`` the beta mixture
:math:`B(k+\frac12,t-k+\frac12)/B(\frac12,\frac12)\,/\,(p^k(1-p)^{t-k})` is a martingale (Robbins): the ``p``
at which it stays below :math:`1/\alpha` cover the error at all times.  A loss ``x`` between 0 and 1 with mean
``p`` may take the place of an error: :math:`(q/p)^x((1-q)/(1-p))^{1-x}\le xq/p+(1-x)(1-q)/(1-p)`, which has
mean one.

*An upper limit for all times.*  If only a small error is to be shown, no ``q`` above ``p`` need be in the
mixture.  With the arcsine law cut off at ``p`` and normalised,

.. math:: M_t(p) = \frac{B(k+\frac12,t-k+\frac12)\,I_p(k+\frac12,t-k+\frac12)}
          {B(\frac12,\frac12)\,I_p(\frac12,\frac12)\;p^k(1-p)^{t-k}}

is a supermartingale as long as each row errs with chance at least ``p``, given those before (each factor
falls with that chance and has mean one at ``p``).  So :math:`U_t=\sup\{p: M_t(p)<1/\delta\}` is below the
error at any time with probability at most ``delta``.  *Where it is found:* with ``f`` and ``F`` the density
and distribution function of the arcsine law, :math:`M' = (f/F)(1-M) + M(tp-k)/(p(1-p))`, and :math:`p(1-p)f/F
= \sqrt{p(1-p)}/(2\arcsin\sqrt p)\le\frac12`.  So ``M`` grows for ``p >= (k + 1/2)/t``, and the larger of that
point and of the root above it is not below ``U``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, logsumexp, xlog1py, xlogy

from votecert.numerics._arrays import Array, floats
from votecert.numerics.beta import beta_cdf
from votecert.numerics.binomial import checked_counts
from votecert.numerics.kl import kl_inverse_lower, kl_inverse_upper

UNITS = 1024
"""Losses are counted in whole parts of so many: 0 is no loss, this many is a whole one."""

LEAST_LIMIT = 1e-12
"""A smaller limit is taken as this one, which is valid as well and keeps all numbers finite."""

_LOWEST = -8
_LARGEST_BET = 15 / 16
_LOG_PI = math.log(math.pi)  # the arcsine law has the density 1/(pi sqrt(q(1-q))): B(1/2, 1/2) is pi
_STEPS = 200
_SLACK = 2e-15  # what a few operations may be off by, relative to the terms


@lru_cache(maxsize=256)
def bets(limit: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the logarithms of ``1 - l_k`` and the shares ``w_k`` of the bets against a limit.

    Examples
    --------
    >>> logs, shares = bets(0.05)
    >>> 1 - 0.95 * math.exp(logs[8])  # k = 0: the error that this bet is best against
    0.0975...
    >>> round(sum(shares), 12)
    1.0
    """
    row = math.log1p(-max(limit, LEAST_LIMIT))
    highest = 0
    while -math.expm1(2.0**highest * row) < _LARGEST_BET:
        highest += 1
    places = range(_LOWEST, highest + 1)
    raw = [1.0 / (1 + k * k) for k in places]
    return tuple(2.0**k * row for k in places), tuple(w / math.fsum(raw) for w in raw)


def reserve(updates: int) -> float:
    """Return the share of the starts that is left after so many updates.

    Examples
    --------
    >>> reserve(0), reserve(1), reserve(1000)  # all of it before the first update
    (1.0, 0.5, 0.063...)
    """
    return 0.5 / (1.0 + math.log(updates)) if updates else 1.0


def _share_of_start(update: int) -> float:
    """Return ``reserve(update) - reserve(update + 1)`` without cancellation."""
    if update == 0:
        return 0.5
    return 0.5 * math.log1p(1 / update) / ((1.0 + math.log(update)) * (1.0 + math.log1p(update)))


def log_factors(losses: Mapping[int, ArrayLike], limit: float) -> Array:
    r"""Return, for each bet, the logarithm of the product of ``F`` over losses, rounded down.

    Parameters
    ----------
    losses : mapping
        How many losses there were of each size, in parts of `UNITS`: numbers, or arrays of one shape.
    limit : float
        The limit ``r``, below one.

    Examples
    --------
    >>> log_factors({0: 90, UNITS: 10}, 0.05).shape, log_factors({0: [90, 95], UNITS: [10, 5]}, 0.05).shape
    ((15,), (2, 15))
    """
    limit = max(float(limit), LEAST_LIMIT)
    if not limit < 1:
        raise ValueError("limit must be below one: nothing can be above it")
    log_rest = floats(bets(limit)[0])
    rest, bet = np.exp(log_rest), -np.expm1(log_rest)
    counts = np.broadcast_arrays(*(floats(count) for count in losses.values())) if losses else [np.zeros(())]
    total, size = np.zeros((2, *counts[0].shape, len(bet)))
    for units, count in zip(losses, counts, strict=bool(losses)):
        factor = log_rest if units == 0 else np.log(rest + bet * (units / UNITS / limit))
        total += count[..., None] * factor
        size += count[..., None] * np.abs(factor)
    return np.asarray(total - _SLACK * size)


def fed(capital: ArrayLike | None, update: int, losses: Mapping[int, ArrayLike], limit: float) -> Array:
    """Return the logarithms of the capital of each bet after one more update, rounded down.

    Parameters
    ----------
    capital : array_like or None
        The same before it; None before the first update.
    update : int
        Number of updates before it.
    losses, limit
        As for `log_factors`.
    """
    factors = log_factors(losses, limit)
    before = np.full(factors.shape[-1:], -np.inf) if capital is None else floats(capital)
    before = np.logaddexp(before, math.log(_share_of_start(update)))
    return np.asarray(before - _SLACK * (1 + np.abs(before)) + factors)


def log_evidence(capital: ArrayLike | None, updates: int, limit: float) -> Array:
    r"""Return the logarithm of :math:`E_t`, rounded down.

    Parameters
    ----------
    capital : array_like or None
        What `fed` returned; None before the first update.
    updates : int
        Number of updates.
    limit : float
        The limit ``r``.

    Examples
    --------
    >>> first = fed(None, 0, {0: 90, UNITS: 10}, 0.05)  # ten errors among a hundred, limit 5 %
    >>> float(np.exp(log_evidence(first, 1, 0.05)))
    2.76...
    """
    left = math.log(reserve(updates))
    if capital is None:
        return np.asarray(left)
    found = np.logaddexp(logsumexp(floats(capital) + np.log(floats(bets(limit)[1])), axis=-1), left)
    return np.asarray(found - _SLACK * (1 + np.abs(found)) * 10)


def always_valid_limits(
    least: ArrayLike, most: ArrayLike, rows: ArrayLike, alpha: float
) -> tuple[Array, Array]:
    """Return limits that cover a constant error at all times with probability ``1 - alpha``, rounded outward.

    Parameters
    ----------
    least, most : array_like
        Sum of the losses, rounded down and up; both are the number of errors where losses are errors.
    rows : array_like
        Number of losses; without any the limits are 0 and 1.
    alpha : float
        Chance that the error is ever outside.

    Examples
    --------
    >>> [round(float(end), 4) for end in always_valid_limits(10, 10, 200, 0.05)]
    [0.0136, 0.1207]
    """
    least, most, rows = np.broadcast_arrays(floats(least), floats(most), np.maximum(floats(rows), 1e-300))
    low, high = (_peak_over_mixture(total, rows) for total in (least, most))
    room = -math.log(alpha)
    lower = kl_inverse_lower(np.clip(least / rows, 0, 1), (room + low) / rows)
    upper = kl_inverse_upper(np.clip(most / rows, 0, 1), (room + high) / rows)
    none = rows < 1
    return np.where(none, 0.0, lower), np.where(none, 1.0, upper)


def _peak_over_mixture(total: Array, rows: Array) -> Array:
    """Return the logarithm of the largest likelihood over the mixed one, rounded up."""
    share = total / rows
    peak, mixed = xlogy(total, share) + xlog1py(rows - total, -share), betaln(total + 0.5, rows - total + 0.5)
    return np.asarray(peak - mixed + _LOG_PI + 4e-15 * (np.abs(peak) + np.abs(mixed)) + 1e-13)


def log_cut_mixture(k: ArrayLike, rows: ArrayLike, p: ArrayLike) -> Array:
    """Return the logarithm of ``M_t(p)``, rounded down, for ``p`` of at least ``(k + 1/2)/rows``.

    Examples
    --------
    >>> float(np.exp(log_cut_mixture(0, 59, 0.05)))
    10.38...
    """
    k, rows, p = np.broadcast_arrays(floats(k), floats(rows), floats(p))
    below = np.maximum(beta_cdf(p, k + 0.5, rows - k + 0.5) - 1e-10 * (1.0 + rows / 1e10), 1e-300)
    whole = betaln(k + 0.5, rows - k + 0.5)
    at, law = xlogy(k, p) + xlog1py(rows - k, -p), np.log(2.0 * np.arcsin(np.sqrt(p)))
    slack = 4e-15 * (np.abs(whole) + np.abs(at)) + 1e-13
    return np.asarray(whole + np.log(below) - law - at - slack)


def sequential_upper(k: ArrayLike, rows: ArrayLike, log_delta: ArrayLike) -> Array:
    r"""Return an upper limit of the error that holds at all times together, rounded up.

    Parameters
    ----------
    k, rows : array_like of int
        Errors and rows, ``0 <= k <= rows`` and ``rows >= 1``.
    log_delta : array_like
        Logarithm of the chance that the limit is ever below the error.

    Examples
    --------
    >>> float(sequential_upper(0, 59, math.log(0.05)))  # Clopper and Pearson, for one look only: 0.0495
    0.0621...
    """
    k, rows, log_delta = checked_counts(k, rows, log_delta)
    low, high = np.minimum((k + 0.5) / rows, 1.0), np.ones(k.shape)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        with np.errstate(divide="ignore"):
            above = log_cut_mixture(k, rows, np.minimum(middle, 1 - 2.0**-53)) >= -log_delta
        low, high = np.where(above, low, middle), np.where(above, middle, high)
        if np.all(high - low <= 4e-16 * high):
            break
    return np.minimum(1.0, high * (1 + 1e-15))

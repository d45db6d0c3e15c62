"""How many labels it takes to look after each row and to stop as soon as the certificate is small enough.

Symbols: t rows, k errors among them, e the expected error of the vote, R the target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, xlog1py, xlogy

from votecert.certificate.triage.rules import MOST_ROWS
from votecert.numerics.sequential import log_cut_mixture
from votecert.planning.fixed import check_target
from votecert.rows.read import check_delta

REST = 1e-6
"""Stops are followed up until no more than such a chance is left."""

MOST_ERRORS = 4096
"""Plans in which that takes more errors are refused: they would take minutes to compute."""


@dataclass(frozen=True)
class SequentialPlan:
    """When one can stop, and how likely that is.

    Attributes
    ----------
    rows : (n,) int array
        ``rows[k]``: so many rows are enough if k of them are wrong.
    chances : (n,) array
        Chance of stopping just then; all but a millionth in all.
    """

    rows: npt.NDArray[np.int64]
    chances: npt.NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Rows that it takes in the mean."""
        return float(self.rows @ self.chances / self.chances.sum())

    def quantile(self, chance: float) -> int:
        """So many rows are enough with this chance."""
        if not 0 < chance < 1 - REST:
            raise ValueError(f"The chance must be between 0 and {1 - REST}, both excluded, not {chance!r}.")
        return int(self.rows[np.searchsorted(self.chances.cumsum(), chance)])


def sequential_plan(target_risk: float, expected_error: float, delta: float = 0.05) -> SequentialPlan:
    r"""Say how many labels it takes to stop as soon as the certificate of a fixed vote reaches a target.

    Parameters
    ----------
    target_risk : float
        The risk R that the certificate should not exceed.
    expected_error : float
        The true error e that the vote is expected to have, below the target.
    delta : float, default=0.05
        All certificates on the way hold together with probability 1 - delta.

    Returns
    -------
    SequentialPlan

    Notes
    -----
    With k errors one stops at the smallest :math:`t_k` at which ``certify(..., sequential=True)`` gives at
    most R. Errors do not vanish, so one stops at :math:`t_k` with k errors exactly, with the
    chance, if :math:`b(k,t)` is that of k errors among t rows,
    :math:`s_k=b(k,t_k)-\sum_{j<k}s_j\,b(k-j,t_k-t_j)`.

    Examples
    --------
    >>> plan = sequential_plan(0.05, 0.02)
    >>> int(plan.rows[0]), plan.quantile(0.5) < plan.mean < plan.quantile(0.9)
    (74, True)
    """
    check_delta(delta)
    check_target(target_risk, expected_error)
    n = 32
    while True:
        rows = _enough(np.arange(n), target_risk, -math.log(delta))
        chances = _chances(rows, expected_error)
        done = np.flatnonzero(chances.cumsum() >= 1 - REST)
        if len(done):
            return SequentialPlan(rows[: done[0] + 1], chances[: done[0] + 1])
        n *= 2
        if n > MOST_ERRORS:
            raise ValueError(
                f"This takes more than {int(rows[-1]):,} rows: the target is too close to the expected error."
            )


def _enough(errors: npt.NDArray[np.int64], target: float, level: float) -> npt.NDArray[np.int64]:
    """The smallest number of rows at which so many errors are few enough, by bisection."""
    low = np.ceil((errors + 0.5) / target).astype(np.int64) - 1  # before that nothing is
    high = np.maximum(2 * low, 64)
    while not np.all(above := log_cut_mixture(errors, high, target) >= level):
        high = np.where(above, high, 2 * high)
        if high.max() > MOST_ROWS:
            raise ValueError(f"This takes more than {MOST_ROWS:.0e} rows: the target is too small.")
    while np.any(high - low > 1):
        middle = (low + high) // 2
        above = log_cut_mixture(errors, np.maximum(middle, 1), target) >= level
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray(high)


def _chances(rows: npt.NDArray[np.int64], error: float) -> npt.NDArray[np.float64]:
    """The chance of stopping at each of these numbers of rows."""
    log_factorials = gammaln(np.arange(len(rows) + 1) + 1.0)
    found = np.zeros(len(rows))

    def binomial(k: npt.NDArray[np.int64], t: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        ways = gammaln(t + 1.0) - gammaln(t - k + 1.0) - log_factorials[k]
        return np.where(k <= t, np.exp(ways + xlogy(k, error) + xlog1py(t - k, -error)), 0.0)

    whole = binomial(np.arange(len(rows)), rows)
    for k in range(len(rows)):
        before = np.arange(k)
        found[k] = max(0.0, whole[k] - found[:k] @ binomial(k - before, rows[k] - rows[:k]))
    return found

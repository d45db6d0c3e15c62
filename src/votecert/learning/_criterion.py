"""Which of many votes has the smallest certificate, without computing the certificate of each.

Symbols: k errors on m rows, pi the prior probability of the vote, B a value of the bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betainccinv

from votecert.bounds.base import Floats
from votecert.numerics.binomial import clopper_pearson_upper, log_binomial_cdf
from votecert.rows.patterns import IntArray

_SMALLEST_LOG = -600.0  # below, the level is too small for floats and the slower, exact way is taken
_LEAST_GAIN = 1e-9  # nats below which a vote is not called better


@dataclass(frozen=True)
class Criterion:
    """Compares votes by the bound ``CP(k, m, share * pi)``.

    Parameters
    ----------
    n_rows : int
        Rows m that certify.
    log_share : float
        Logarithm of the part of delta that all these votes share.
    scale : float
        Certifying rows for each row that was counted: above one when errors are counted on a sample.
    """

    n_rows: int
    log_share: float
    scale: float = 1.0

    def risk(self, errors: int, log_prior: float) -> float:
        """The bound of one vote, good to about twelve digits: a guide, not a certificate."""
        k, log_level = float(self._scaled(errors)), self.log_share + log_prior
        if log_prior == -np.inf or k == self.n_rows:
            return 1.0
        if log_level < _SMALLEST_LOG:
            return float(clopper_pearson_upper(k, self.n_rows, log_level))
        return float(betainccinv(k + 1, self.n_rows - k, np.exp(log_level)))

    def gains(self, errors: IntArray, log_priors: Floats, bound: float) -> Floats:
        """How many nats each vote could lose and still be as good as ``bound``.

        ``CP(k, m, share * pi) < B`` if and only if ``log P(Bin(m, B) <= k) < log(share * pi)``: the binomial
        tail is needed once for every different k, and no equation is solved.
        """
        different, place = np.unique(errors, return_inverse=True)
        tails = log_binomial_cdf(self._scaled(different), self.n_rows, min(bound, 1.0 - 1e-15))
        return np.asarray(self.log_share + log_priors - tails[place].reshape(errors.shape))

    def best(self, errors: IntArray, log_priors: Floats, below: float) -> tuple[int, float] | None:
        """Flat index and bound of the best vote, or None when none is better than ``below``.

        The vote with the largest gain at B is better than B, so B falls until no vote gains: Dinkelbach's way
        of minimising an implicit function.

        Examples
        --------
        >>> criterion = Criterion(n_rows=100, log_share=np.log(0.05))
        >>> index, risk = criterion.best(np.array([9, 4, 5]), np.array([-1.0, -9.0, -2.0]), below=1.0)
        >>> index, round(risk, 4)
        (2, 0.1311)
        """
        front = _pareto_front(errors.ravel(), log_priors.ravel())
        k, log_prior = errors.flat[front], log_priors.flat[front]
        best = None
        while True:
            gains = self.gains(k, log_prior, below)
            place = int(np.argmax(gains))
            if not gains[place] > _LEAST_GAIN:
                return best
            risk = self.risk(int(k[place]), float(log_prior[place]))
            if not risk < below:
                return best
            best, below = (int(front[place]), risk), risk

    def _scaled(self, errors: int | IntArray) -> Floats:
        return np.minimum(np.ceil(np.asarray(errors) * self.scale), self.n_rows)


def _pareto_front(errors: IntArray, log_priors: Floats) -> npt.NDArray[np.intp]:
    """Votes that no other beats in both errors and prior; the first of equal ones."""
    order = np.lexsort((-log_priors, errors))
    highest = np.maximum.accumulate(log_priors[order])
    return np.asarray(order[np.concatenate([[True], highest[1:] > highest[:-1]])])

"""What voters say when a class is true: from rows with labels, and from rows without.

Without labels, what the voters agree on tells who is right how often (Dawid and Skene 1979). Given the true
class, voters answer independently, each with confusions of its own: that is the model, and it fails where
voters share their mistakes. A class is what most voters mean by it: the search starts from the plain vote.
Expectation: chances of the classes on each row from the confusions. Maximisation: confusions, shrunk to those
of all voters together, from these chances.

Symbols: n patterns, d voters, s answers, c classes.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp, softmax

from votecert.bounds.base import Floats
from votecert.learning.budget import Budget
from votecert.rows.patterns import Codes, IntArray

_ROUNDS = 200
_SMALLEST_GAIN = 1e-6  # of the mean log-likelihood of a row, below which it has converged
_SMOOTHING = 1.0


def log_confusions(confusions: Floats, shares: Floats, smoothing: float) -> tuple[Floats, Floats]:
    """Logarithms of smoothed confusions (P, d, s, c), and of how often each class occurs, (P, c)."""
    s, c = confusions.shape[2:]
    common = confusions.sum(axis=1) + 0.5 + 2.0 * np.eye(s, c)
    common /= common.sum(axis=1, keepdims=True)
    said = confusions.sum(axis=2, keepdims=True)
    tables = np.log(confusions + smoothing * common[:, None]) - np.log(said + smoothing)
    return tables, np.log(shares + 1.0)


def dawid_skene(
    codes: Codes, counts: IntArray, n_classes: int, budget: Budget, *, one_coin: bool
) -> tuple[Floats, Floats]:
    """The table (d, c, c) and the offsets (c,) of the most likely vote of several starts.

    Parameters
    ----------
    codes : (n, d) class indices; the number of classes, or more, is an abstention and says nothing
    counts : (n,) how many rows each pattern stands for
    n_classes : int
    budget : Budget
        Ends the work when its time is over.
    one_coin : bool
        Whether a voter has one chance of being right, and errs in all ways alike, or confusions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=500)
    >>> right = rng.random((500, 5)) < [0.95, 0.7, 0.6, 0.55, 0.55]
    >>> codes = np.where(right, truth[:, None], 1 - truth[:, None])
    >>> table, _ = dawid_skene(codes, np.ones(500, dtype=int), 2, Budget(), one_coin=True)
    >>> bool(table[0, 0, 0] > table[1, 0, 0] > table[4, 0, 0])
    True
    """
    answers = _one_hot(codes, n_classes)
    votes = np.stack([answers[:, k::n_classes].sum(axis=1) for k in range(n_classes)], axis=1)
    sure = votes == votes.max(axis=1, keepdims=True)
    starts = [softmax(votes, axis=1), sure / sure.sum(axis=1, keepdims=True), softmax(votes / 4, axis=1)]
    found = [_climb(answers, counts, start, budget, one_coin) for start in starts]
    return max(found, key=lambda one: one[0])[1:]


def _one_hot(codes: Codes, n_classes: int) -> csr_array:
    """The answers of each row, (n, d c), as few numbers as there are votes."""
    n, d = codes.shape
    row, voter = np.nonzero(codes < n_classes)
    place = voter * n_classes + codes[row, voter]
    return csr_array((np.ones(len(row)), (row, place)), (n, d * n_classes))


def _climb(
    answers: csr_array, counts: IntArray, chances: Floats, budget: Budget, one_coin: bool
) -> tuple[float, Floats, Floats]:
    """Log-likelihood, table and offsets where expectation and maximisation lead from these chances."""
    c = chances.shape[1]
    likelihood = -np.inf
    for _ in range(_ROUNDS):
        budget.check()
        weighted = counts[:, None] * chances
        confusions = np.asarray(answers.T @ weighted).reshape(-1, c, c)
        table, offsets = _logs(confusions, weighted.sum(axis=0), one_coin)
        totals = np.asarray(answers @ table.reshape(-1, c)) + offsets
        before, likelihood = likelihood, float(counts @ logsumexp(totals, axis=1))
        chances = softmax(totals, axis=1)
        if likelihood - before < _SMALLEST_GAIN * counts.sum():
            break
    return likelihood, table, offsets


def _logs(confusions: Floats, shares: Floats, one_coin: bool) -> tuple[Floats, Floats]:
    """Logarithms of smoothed confusions and class shares."""
    c = len(shares)
    offsets = np.log((shares + 1) / (shares.sum() + c))
    if not one_coin:
        return log_confusions(confusions[None], shares[None], _SMOOTHING)[0][0], offsets
    right = np.einsum("ikk->i", confusions)
    cast = confusions.sum(axis=(1, 2))
    rate = (right.sum() + 2) / (cast.sum() + 3)
    record = (right + _SMOOTHING * rate) / (cast + _SMOOTHING)
    each_wrong = (1 - record) / max(c - 1, 1)
    table = np.where(np.eye(c, dtype=bool), record[:, None, None], each_wrong[:, None, None])
    return np.log(np.maximum(table, 1e-12)), offsets

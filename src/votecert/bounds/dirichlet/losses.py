r"""How often a vote sampled from Dir(K theta) errs on a row, by some margin: upper bounds, row by row.

Symbols: ``v_y`` the weight of the true class on the row, ``v_k`` of a rival class k, ``s = v_y + v_k``; V the
class votes of the sampled weights, so V ~ Dir(K v); ``S = V_y + V_k`` and ``rho = V_y / S``. Then
rho ~ Beta(K v_y, K v_k) and S ~ Beta(K s, K (1 - s)) are independent.

The sampled vote *loses* by margin g, with exponent e, when for some rival ``rho <= 1/2 + g / S^e``:

* e = 0, "ratio": ``V_y <= (1/2 + g) (V_y + V_k)``;
* e = 1/2, "root": ``V_y - V_k <= 2 g sqrt(V_y + V_k)``;
* e = 1, "difference": ``V_y - V_k <= 2 g``.

With two classes S = 1 and the three are the same. A rival without votes never matters: another one has more,
or the true class has all. The probability of losing is at most the sum over the rivals, and at most
``I_{1/2+g}(K v_y, K (1 - v_y))``, because for given V_y a rival is strongest when it has all the rest.

For learning there are the same losses with derivatives. There S is put in the middle of its distribution,
which is exact for two classes and off by a small fraction of a percent for more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import log, sqrt
from typing import Self

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

import votecert.numerics as nx
from votecert.bounds.base import MARGIN_SLACK, Floats, Indices, Objective
from votecert.bounds.gibbs import mean_gradient
from votecert.bounds.pac_bayes import dirichlet_divergence_gradient
from votecert.numerics._arrays import in_blocks
from votecert.rows.ballots import Ballots

EXPONENTS = {"ratio": 0.0, "root": 0.5, "difference": 1.0}
"""How the margin scales with the share S of the two classes that compete."""

NEGLIGIBLE = 1e-13
"""Rows that lose more rarely than this are not worth a closer look."""

FEW = 4096
"""Below this many rows (or pairs of class votes) looking for equal ones does not pay."""

_CELLS = 2**16

_ENDS = (-7.5, 3.0)
"""First and last node for S, in standard deviations from its mean."""

_FAR = (-25.0, -18.0, -13.0, -10.0)
"""Further nodes: for small K the distribution of S has a long tail to the left."""

_MOST_EVALUATIONS = 4_000_000
"""Nodes times pairs that are affordable."""

NODES = 257
"""Nodes of the table that stands for the loss when there are many more rows than that."""

_REACH = 9.0
"""Standard deviations around the threshold beyond which the loss is flat."""


@dataclass(frozen=True)
class RowVotes:
    """Class votes seen from the true class: one line for each pattern of votes.

    Attributes
    ----------
    right : (n,) array
        Weight of the true class.
    rivals : (n, r) array
        Weights of the other outputs.
    share : (n,) array
        Share of the rows that are this pattern; sums to one.
    """

    right: Floats
    rivals: Floats
    share: Floats

    @classmethod
    def of(cls, ballots: Ballots, weights: Floats) -> Self:
        """The class votes of these ballots."""
        if ballots.n_outputs == 2:
            return cls.right_or_wrong(ballots, weights)
        votes = np.clip(ballots.class_votes(weights), 0, 1)
        is_right = np.arange(votes.shape[1]) == ballots.labels[:, None]
        share = ballots.counts / ballots.n_rows
        return cls(votes[is_right], votes[~is_right].reshape(len(votes), -1), share)

    @classmethod
    def right_or_wrong(cls, ballots: Ballots, weights: Floats) -> Self:
        """All wrong outputs taken together as one rival."""
        right = np.clip(ballots.correct_weight(weights), 0, 1)
        return cls(right, (1 - right)[:, None], ballots.counts / ballots.n_rows)


def mean_loss_upper(votes: RowVotes, K: float, margin: float, exponent: float) -> float:
    """Bound the share of lost rows, expected over the sampled vote, from above; rounding included.

    Examples
    --------
    >>> votes = RowVotes(np.array([0.5, 1.0]), np.array([[0.5], [0.0]]), np.array([0.5, 0.5]))
    >>> round(mean_loss_upper(votes, K=10.0, margin=0.0, exponent=0.5), 9)
    0.25
    """
    if votes.rivals.shape[1] == 1:
        right, share = merged(votes.right, votes.share)
        losses = _beaten_by_the_rest(right, K, margin)
    else:
        share = votes.share
        losses = _beaten_by_the_rest(votes.right, K, margin)
        rows = np.flatnonzero(losses > NEGLIGIBLE)
        losses[rows] = np.minimum(losses[rows], _sum_over_rivals(votes, rows, K, margin, exponent))
    return min(1.0, float(share @ losses) + 1e-10 * (1 + K / 1e10))


def pair_loss_upper(right: Floats, rival: Floats, K: float, margin: float, exponent: float) -> Floats:
    """Bound ``P(rho <= 1/2 + g / S^e)`` from above for each pair of class votes.

    Notes
    -----
    The conditional probability ``h(S) = I_{1/2 + g/S^e}(K v_y, K v_k)`` falls with S. Cutting at nodes
    ``0 = t_0 < t_1 < ... < t_J`` and putting the left end for S in each piece,
    ``E h(S) <= h(t_J) + sum_j F(t_j) (h(t_{j-1}) - h(t_j))`` with F the distribution function of S.
    """
    least = np.asarray(nx.beta_cdf(0.5 + margin, K * right, K * rival))
    if exponent == 0 or margin == 0:
        return least
    cut = partial(_cut, K=K, margin=margin, exponent=exponent)
    losses = in_blocks(partial(cut, nodes=np.array(_ENDS)), right, rival)
    open_ = np.flatnonzero((losses > NEGLIGIBLE) & (least < 1 - NEGLIGIBLE))
    # So many nodes that S moves the threshold by 0.01 standard deviations of rho from one to the next, which
    # costs less than a thousandth; fewer when that would take many seconds.
    wanted = 8 + int((_ENDS[1] - _ENDS[0]) * 2 * exponent * margin / 0.01)
    near = np.linspace(*_ENDS, min(wanted, 60, max(12, _MOST_EVALUATIONS // max(1, len(open_)))))
    nodes = np.concatenate([_FAR, near])
    losses[open_] = in_blocks(partial(cut, nodes=nodes), right[open_], rival[open_])
    return losses


def _cut(right: Floats, rival: Floats, *, nodes: Floats, K: float, margin: float, exponent: float) -> Floats:
    """The bound of :func:`pair_loss_upper` with nodes in standard deviations from the mean of S."""
    together = right + rival
    rest = np.maximum(1 - together, 0)
    cuts = np.clip(together + nodes[:, None] * np.sqrt(together * rest / (K + 1)), 1e-300, 1)
    lost = nx.beta_cdf(np.minimum(1, 0.5 + margin * cuts**-exponent), K * right, K * rival)
    below = np.where(rest > 0, nx.beta_cdf(cuts, K * together, K * rest), 0)
    steps = -np.diff(lost, axis=0, prepend=1)
    return np.asarray(lost[-1] + (below * steps).sum(axis=0))


def merged(right: Floats, share: Floats) -> tuple[Floats, Floats]:
    """The same rows with equal weights of the true class joined, when there are few different ones.

    Equal weights give few values on many rows; cells are used instead of sorting, which takes longer than all
    the rest. The least weight stands for its cell: the loss falls with it, so the result is never too small.
    """
    if len(right) < FEW:
        return right, share
    cell = (right * _CELLS).astype(np.intp)
    low, high = np.full(_CELLS + 1, 2.0), np.full(_CELLS + 1, -1.0)
    np.minimum.at(low, cell, right)
    np.maximum.at(high, cell, right)
    if np.any(high - low > MARGIN_SLACK):
        return right, share
    used = np.flatnonzero(high >= 0)
    return low[used], np.asarray(np.bincount(cell, weights=share)[used], dtype=np.float64)


def _beaten_by_the_rest(right: Floats, K: float, margin: float) -> Floats:
    """The chance of losing to all other classes taken together."""
    low = np.clip(right - MARGIN_SLACK, 0, 1)
    return np.asarray(nx.beta_cdf(0.5 + margin, K * low, K * (1 - low)))


def _sum_over_rivals(votes: RowVotes, rows: Indices, K: float, margin: float, exponent: float) -> Floats:
    """The chances of losing to each rival, added up."""
    rivals = votes.rivals[rows]
    line, column = np.nonzero(rivals)
    low = np.maximum(votes.right[rows][line] - MARGIN_SLACK, 0)
    high = rivals[line, column] + MARGIN_SLACK
    low, high, index = _merged_pairs(low, high)
    losses = pair_loss_upper(low, high, K, margin, exponent)
    return np.asarray(np.bincount(line, weights=losses[index], minlength=len(rows)), dtype=np.float64)


def _merged_pairs(right: Floats, rival: Floats) -> tuple[Floats, Floats, Indices]:
    """The different pairs, and which one each pair is.

    Pairs are told apart by one number on a fine lattice. Should two different ones ever share it, the worse
    of each weight stands for both, so the result is an upper bound come what may.
    """
    if len(right) < FEW:
        return right, rival, np.arange(len(right))
    lattice = (right * 2.0**40).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    keys, index = np.unique(lattice + (rival * 2.0**40).astype(np.uint64), return_inverse=True)
    low, high = np.ones(len(keys)), np.zeros(len(keys))
    np.minimum.at(low, index, right)
    np.maximum.at(high, index, rival)
    return low, high, index


def loss_slopes(ballots: Ballots, weights: Floats, K: float, margin: float, exponent: float) -> Objective:
    """Mean chance that the sampled vote loses a row, with its gradient."""
    if ballots.n_outputs == 2:
        return wrong_weight_slopes(ballots, weights, K, margin)
    votes = RowVotes.of(ballots, weights)
    loss, d_right, d_rivals, d_log_K = _against_rivals(votes, K, margin, exponent)
    is_right = np.arange(ballots.n_outputs) == ballots.labels[:, None]
    d_votes = np.empty(is_right.shape)
    d_votes[is_right], d_votes[~is_right] = d_right, d_rivals.ravel()
    d_weights = ballots.sum_over_votes(votes.share[:, None] * d_votes)
    return Objective(min(1.0, float(votes.share @ loss)), d_weights, float(votes.share @ d_log_K))


def wrong_weight_slopes(ballots: Ballots, weights: Floats, K: float, margin: float) -> Objective:
    """The same when all wrong votes are taken together; exact for two outputs."""
    votes = RowVotes.right_or_wrong(ballots, weights)
    many = len(votes.right) > 4 * NODES
    loss, d_right, d_log_K = (_tabulated if many else _against_the_rest)(votes.right, K, margin)
    d_weights = ballots.sum_over_correct(votes.share * d_right)
    return Objective(min(1.0, float(votes.share @ loss)), d_weights, float(votes.share @ d_log_K))


def _against_the_rest(right: Floats, K: float, margin: float) -> tuple[Floats, Floats, Floats]:
    """``I_{1/2+g}(K v_y, K (1 - v_y))`` and its derivatives in v_y and log K."""
    a, b = K * right, K * (1 - right)
    loss, _, d_a, d_b = nx.beta_cdf_gradient(0.5 + margin, a, b)
    return loss, K * (d_a - d_b), a * d_a + b * d_b


def _tabulated(right: Floats, K: float, margin: float) -> tuple[Floats, Floats, Floats]:
    """The same by interpolation: the loss is one smooth function of v_y for all rows."""
    threshold = 0.5 + margin
    width = _REACH * np.sqrt(threshold * (1 - threshold) / (K + 1))
    nodes = np.linspace(max(0.0, threshold - width), min(1.0, threshold + width), NODES)
    loss, slope, d_log_K = _against_the_rest(nodes, K, margin)
    inside = np.clip(right, nodes[0], nodes[-1])
    spline = CubicHermiteSpline(nodes, loss, slope)
    flat = inside != right
    d_right = np.where(flat, 0, spline(inside, 1))
    return spline(inside), d_right, np.where(flat, 0, CubicSpline(nodes, d_log_K)(inside))


def _against_rivals(
    votes: RowVotes, K: float, margin: float, exponent: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """The smaller of the losses to all rivals together and to each, with derivatives.

    Returns the loss and its derivatives in v_y, in the rivals' weights and in log K.
    """
    loss, d_right, d_log_K = _against_the_rest(votes.right, K, margin)
    d_rivals = np.zeros_like(votes.rivals)
    there = (votes.rivals > 0) & (loss > NEGLIGIBLE)[:, None]
    row, column = np.nonzero(there)
    pair, d_pair_right, d_pair_rival, d_pair_log_K = _pair_slopes(
        votes.right[row], votes.rivals[row, column], K, margin, exponent
    )

    def summed(values: Floats) -> Floats:
        return np.asarray(np.bincount(row, weights=values, minlength=len(loss)), dtype=np.float64)

    added = summed(pair)
    better = (added < loss) & there.any(axis=1)
    for target, values in ((loss, added), (d_right, summed(d_pair_right)), (d_log_K, summed(d_pair_log_K))):
        target[better] = values[better]
    d_rivals[row, column] = np.where(better[row], d_pair_rival, 0)
    return loss, d_right, d_rivals, d_log_K


def _pair_slopes(
    right: Floats, rival: Floats, K: float, margin: float, exponent: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """``I_{1/2 + g/s^e}(K v_y, K v_k)`` and its derivatives in v_y, v_k and log K."""
    together = right + rival
    reach = margin * together**-exponent
    open_ = reach < 0.5  # otherwise lost for certain, whatever the weights
    x = np.where(open_, 0.5 + reach, 1.0)
    a, b = K * right, K * rival
    pair, d_x, d_a, d_b = nx.beta_cdf_gradient(x, a, b)
    d_together = np.where(open_, -exponent * d_x * reach / together, 0)
    d_log_K = np.where(open_, a * d_a + b * d_b, 0)
    return (pair, np.where(open_, K * d_a, 0) + d_together, np.where(open_, K * d_b, 0) + d_together, d_log_K)


def sampled_margin_loss(ballots: Ballots, weights: Floats, K: float, margin: float) -> float:
    """Mean of ``I_{1/2+g}(K v_y, K (1 - v_y))``, rounded up.

    This bounds the chance that a vote drawn from Dir(K theta) has margin at most g, exactly so for two
    classes.
    """
    mean = ballots.mean(_beaten_by_the_rest(ballots.correct_weight(weights), K, margin))
    return min(1.0, mean + 1e-10 * (1 + K / 1e10))


def sampled_objective(
    ballots: Ballots, weights: Floats, K: float, margin: float, delta: float, prior: Floats | None
) -> Objective:
    """Value and gradient of ``klinv(mean I_{1/2+g}(K v_y, K (1-v_y)), (D + log(2 sqrt(m)/delta)) / m)``."""
    m = ballots.n_rows
    right = ballots.correct_weight(weights)
    loss, d_x, d_a, d_b = nx.beta_cdf_gradient(0.5 + margin, K * right, K * (1 - right))
    d_loss = mean_gradient(ballots, K * (d_a - d_b))
    d_loss_log_K = ballots.mean(K * (right * d_a + (1 - right) * d_b))
    kl, d_alpha = dirichlet_divergence_gradient(weights, K, prior)
    complexity = (kl + log(2 * sqrt(m) / delta)) / m
    value, d_q, d_c = nx.kl_inverse_upper_gradient(ballots.mean(loss), complexity)
    return Objective(
        float(value),
        d_q * d_loss + d_c * K * d_alpha / m,
        float(d_q * d_loss_log_K + d_c * K * (weights @ d_alpha) / m),
        float(d_q * ballots.mean(d_x)),
    )

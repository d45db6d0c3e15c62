"""The losses of :mod:`._row_losses` with derivatives, for learning weights.

The share S of two competing classes is put in the middle of its distribution, which is exact for two
classes and off by a small fraction of a percent for more; everything else is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from votecert.bounds._row_losses import NEGLIGIBLE, RowVotes
from votecert.bounds.base import Floats
from votecert.numerics import beta_cdf_gradient
from votecert.rows.ballots import Ballots

NODES = 257
"""Nodes of the table that stands for the loss when there are many more rows than that."""

_REACH = 9.0
"""Standard deviations around the threshold beyond which the loss is flat."""


@dataclass(frozen=True)
class LossSlopes:
    """A mean loss and its derivatives in the weights and in log K."""

    value: float
    d_weights: Floats
    d_log_concentration: float


def loss_slopes(ballots: Ballots, weights: Floats, K: float, margin: float, exponent: float) -> LossSlopes:
    """Mean chance that the sampled vote loses a row, with its gradient."""
    if ballots.n_outputs == 2:
        return wrong_weight_slopes(ballots, weights, K, margin)
    votes = RowVotes.of(ballots, weights)
    loss, d_right, d_rivals, d_log_K = _against_rivals(votes, K, margin, exponent)
    is_right = np.arange(ballots.n_outputs) == ballots.labels[:, None]
    d_votes = np.empty(is_right.shape)
    d_votes[is_right], d_votes[~is_right] = d_right, d_rivals.ravel()
    d_weights = ballots.sum_over_votes(votes.share[:, None] * d_votes)
    return LossSlopes(min(1.0, float(votes.share @ loss)), d_weights, float(votes.share @ d_log_K))


def wrong_weight_slopes(ballots: Ballots, weights: Floats, K: float, margin: float) -> LossSlopes:
    """The same when all wrong votes are taken together; exact for two outputs."""
    votes = RowVotes.right_or_wrong(ballots, weights)
    many = len(votes.right) > 4 * NODES
    loss, d_right, d_log_K = (_tabulated if many else _against_the_rest)(votes.right, K, margin)
    d_weights = ballots.sum_over_correct(votes.share * d_right)
    return LossSlopes(min(1.0, float(votes.share @ loss)), d_weights, float(votes.share @ d_log_K))


def _against_the_rest(right: Floats, K: float, margin: float) -> tuple[Floats, Floats, Floats]:
    """``I_{1/2+g}(K v_y, K (1 - v_y))`` and its derivatives in v_y and log K."""
    a, b = K * right, K * (1 - right)
    loss, _, d_a, d_b = beta_cdf_gradient(0.5 + margin, a, b)
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
    pair, d_x, d_a, d_b = beta_cdf_gradient(x, a, b)
    d_together = np.where(open_, -exponent * d_x * reach / together, 0)
    d_log_K = np.where(open_, a * d_a + b * d_b, 0)
    return (
        pair,
        np.where(open_, K * d_a, 0) + d_together,
        np.where(open_, K * d_b, 0) + d_together,
        d_log_K,
    )

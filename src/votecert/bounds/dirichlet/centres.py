"""Sampled weights need not lie around the weights that are certified: other centres, and what they cost.

A voter with a tiny weight makes the divergence from a prior large, though it hardly matters to the vote, and
a vote that wins by a clear margin would win with somewhat different weights, too. So sampling around weights
without the lightest voters, or around weights mixed with uniform ones, is often cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np

from votecert.bounds.base import Choice, Floats
from votecert.bounds.dirichlet.losses import RowVotes
from votecert.rows.ballots import Ballots

DROPPED = (0.01, 0.1, 0.3)
"""Centres without the voters whose weight is below these shares of the mean weight."""

SMOOTHED = (0.02, 0.15, 0.5, 1.0)
"""Centres that are mixtures of the weights with these shares of uniform ones."""

NEAR = (0.4, 0.6, 0.8, 1.3, 1.7)
"""Factors for such a share, to look around the best."""

EVEN = 1e-9
"""Weights that differ by less, as a share of their mean, have no other centre."""


def centre_of(weights: Floats, choice: Choice) -> Floats:
    """The weights around which votes are sampled.

    Examples
    --------
    >>> weights = np.array([0.6, 0.399, 0.001])
    >>> centre_of(weights, {"dropped": 0.01}).round(3)
    array([0.601, 0.399, 0.   ])
    >>> centre_of(weights, {"smoothed": 0.03}).round(3)
    array([0.592, 0.397, 0.011])
    """
    dropped, smoothed = choice.get("dropped", 0.0), choice.get("smoothed", 0.0)
    if not (0 <= dropped < 1 and 0 <= smoothed <= 1):
        raise ValueError("The share that is dropped must be in [0, 1), the one that is smoothed in [0, 1].")
    if not dropped and not smoothed:
        return weights
    kept = np.where(weights >= dropped / len(weights), weights, 0.0)
    return np.asarray((1 - smoothed) * kept / kept.sum() + smoothed / len(weights))


def distance(weights: Floats, centre: Floats) -> float:
    """Total variation distance, rounded up: how much more, or less, any group of voters can weigh.

    Examples
    --------
    >>> round(distance(np.array([0.5, 0.5]), np.array([0.6, 0.4])), 9)
    0.1
    """
    change = centre - weights
    return (1 + 1e-12) * max(fsum(change[change > 0]), -fsum(change[change < 0]))


def centres(weights: Floats) -> list[Choice]:
    """Centres worth trying: the weights themselves and, unless these are even, others.

    Examples
    --------
    >>> centres(np.full(4, 0.25))
    [{}]
    >>> {"dropped": 0.1} in centres(np.array([0.99, 0.01])), len(centres(np.array([0.6, 0.4])))
    (True, 5)
    """
    mean = 1 / len(weights)
    if np.ptp(weights) <= EVEN * mean:
        return [{}]
    light = [0, *(int(np.sum((weights > 0) & (weights < share * mean))) for share in DROPPED)]
    dropping = [
        {"dropped": share} for share, n, before in zip(DROPPED, light[1:], light, strict=False) if n > before
    ]
    return [{}, *dropping, *({"smoothed": share} for share in SMOOTHED)]


def nearby(choice: Choice) -> list[Choice]:
    """Centres around one that is promising.

    Examples
    --------
    >>> nearby({"smoothed": 1.0})
    [{'smoothed': 0.4}, {'smoothed': 0.6}, {'smoothed': 0.8}]
    >>> nearby({})
    []
    """
    share = choice.get("smoothed", 0.0)
    return [{"smoothed": factor * share} for factor in NEAR if 0 < factor * share < 1]


@dataclass(frozen=True)
class Surroundings:
    """Class votes of the rows for weights around given ones. Those of mixtures are mixtures, quickly made."""

    ballots: Ballots
    weights: Floats

    @cached_property
    def _own(self) -> RowVotes:
        return RowVotes.of(self.ballots, self.weights)

    @cached_property
    def _uniform(self) -> RowVotes:
        return RowVotes.of(self.ballots, np.full_like(self.weights, 1 / len(self.weights)))

    def votes(self, choice: Choice) -> RowVotes:
        """Class votes of a centre."""
        if choice.get("dropped"):
            return RowVotes.of(self.ballots, centre_of(self.weights, choice))
        share, own = choice.get("smoothed", 0.0), self._own
        if not share:
            return own
        right = (1 - share) * own.right + share * self._uniform.right
        return RowVotes(right, (1 - share) * own.rivals + share * self._uniform.rivals, own.share)

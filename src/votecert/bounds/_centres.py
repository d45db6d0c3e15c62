"""Sampled weights need not lie around the weights that are certified: other centres, and what they cost.

A voter with a tiny weight makes the divergence from a prior large, though it hardly matters to the vote.
Sampling around weights without it, or around weights mixed with a little of everybody, is often cheaper.
"""

from __future__ import annotations

from math import fsum

import numpy as np

from votecert.bounds.base import Choice, Floats

OTHERS: tuple[Choice, ...] = (
    *({"dropped": share} for share in (1e-3, 0.01, 0.1, 0.3, 0.5)),
    *({"smoothed": share} for share in (3e-3, 0.01, 0.03, 0.1, 0.2)),
)
"""Other centres to try: without weights below a share of the mean weight, or mixed with uniform weights."""

SMALL = 0.1
"""When all weights are above this share of their mean, other centres have nothing to offer."""


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
    if not (0 <= dropped < 1 and 0 <= smoothed < 1):
        raise ValueError("Shares that are dropped or smoothed must be in [0, 1).")
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


def other_centres(weights: Floats) -> list[Choice]:
    """Centres worth trying for these weights; none if they are even."""
    if weights.min() * len(weights) >= SMALL:
        return []
    found: dict[bytes, Choice] = {weights.tobytes(): {}}
    for choice in OTHERS:
        found.setdefault(centre_of(weights, choice).tobytes(), choice)
    return [choice for choice in found.values() if choice]

"""Searching the concentration K (and a margin) of a Dirichlet bound: global, vectorised, never binding.

The theorems hold for every K at once, so the search is free of charge and its quality is only a
matter of tightness. The value at the chosen point is always recomputed exactly afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from votecert.bounds.base import Choice, Floats
from votecert.bounds.kinds import Real
from votecert.numerics import beta_cdf
from votecert.rows.ballots import Ballots

CONCENTRATIONS = (0.1, 1e8)
"""Default range of K. Beyond it the divergence outweighs anything that is gained."""

CONCENTRATION = Real(1e-6, 1e10)
"""The K for which the slacks of the special functions are sufficient."""

COARSE = 32
"""Points of the first pass over K: between three and four a decade."""

MOST_BINS = 256
"""Rows are summarised by at most this many correct weights while searching."""


@dataclass(frozen=True)
class Summary:
    """The distribution of the correct weight v_y over the rows, in at most a few hundred points."""

    right: Floats
    share: Floats

    @classmethod
    def of(cls, ballots: Ballots, weights: Floats) -> Self:
        """Summarise the rows; binned when there are many different correct weights."""
        right = np.clip(ballots.correct_weight(weights), 0, 1)
        values, index = np.unique(np.round(right, 12), return_inverse=True)
        share = np.asarray(np.bincount(index, weights=ballots.counts) / ballots.n_rows, dtype=np.float64)
        if len(values) <= MOST_BINS:
            return cls(values, share)
        bins = np.minimum((values * MOST_BINS).astype(np.int64), MOST_BINS - 1)
        mass = np.asarray(np.bincount(bins, weights=share, minlength=MOST_BINS), dtype=np.float64)
        centre = np.bincount(bins, weights=share * values, minlength=MOST_BINS)
        used = mass > 0
        return cls(centre[used] / mass[used], mass[used])

    def sampled_loss(self, K: Any, margin: Any) -> Floats:
        """Mean of ``I_{1/2+g}(K v_y, K (1 - v_y))``, broadcast over K and the margin."""
        K, margin = np.broadcast_arrays(K, margin)
        a = K[..., None] * self.right
        losses = beta_cdf(0.5 + margin[..., None], a, K[..., None] * (1 - self.right)) @ self.share
        return np.minimum(1.0, losses)  # the shares sum to one only up to rounding


def best_concentration(values: Callable[[Floats], Floats]) -> float:
    """Minimise over K by a grid on the log scale and repeated zooming around its best point."""
    low, high = CONCENTRATIONS
    while True:
        grid = np.geomspace(low, high, COARSE)
        best = int(np.argmin(values(grid)))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, COARSE - 1)]
        if high / low < 1.001:
            return float(grid[best])


def zoom(
    values: Callable[..., Floats], margins: Sequence[float], concentrations: tuple[float, float]
) -> Choice:
    """Minimise over a grid of margins and all K.

    ``values(K, chosen)`` gives the bound for an array of K (rows) and the chosen margins (columns). A
    coarse grid of K serves all margins; only the most promising margins are refined.
    """
    grid = np.geomspace(*concentrations, COARSE)
    coarse = values(grid)
    candidates = np.argsort(coarse.min(axis=0), kind="stable")[:3]
    best: tuple[float, float, float] = (np.inf, 0.0, 0.0)
    for column in candidates:
        row = int(np.argmin(coarse[:, column]))
        low, high = grid[max(row - 1, 0)], grid[min(row + 1, COARSE - 1)]
        while high / low > 1.002:
            fine = np.geomspace(low, high, 12)
            at = values(fine, int(column))[:, 0]
            row = int(np.argmin(at))
            low, high = fine[max(row - 1, 0)], fine[min(row + 1, 11)]
            best = min(best, (float(at[row]), float(fine[row]), margins[column]))
    return {"concentration": best[1], "margin": best[2]}

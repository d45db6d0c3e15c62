"""Searching the concentration K and the margin of a Dirichlet bound: roughly, quickly, never binding.

The theorems hold for every K at once, so the search is free of charge and its quality is only a matter of
tightness: whatever it picks is measured properly afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc, ndtr

import votecert.numerics as nx
from votecert.bounds.base import Choice, Floats, Indices
from votecert.bounds.dirichlet.losses import RowVotes
from votecert.bounds.kinds import Real
from votecert.rows.ballots import Ballots

CONCENTRATIONS = (0.1, 1e8)
"""Default range of K. Beyond it the divergence outweighs anything that is gained."""

CONCENTRATION = Real(1e-6, 1e10)
"""The K for which the slacks of the special functions are sufficient."""

MOST_BINS = 256
"""Rows are summarised by at most this many correct weights while searching."""

LANDSCAPE = (0.05, 1e8)
"""Range of K in a landscape. Below, a sampled vote is one voter; above, nothing is gained."""

COARSE = 32
"""Points of the first pass over K."""

GLANCED, GLANCED_BLOCKS = 12, 64
"""Points of K, and blocks of rows, for a glance."""

FINALISTS = (6, 2, 1)
"""Valleys in the running: before the first of the finer passes, and after each of them."""

OFFSETS = np.array([-0.75, -0.25, 0.25, 0.75])
"""Points of a finer pass, in steps of the pass before."""

CELLS = 2**14
"""Cells of the true class's weight, for two outputs and more rows than that."""

BLOCKS = 384
"""Blocks of rows of similar margin; the more the better."""

ROUGH_BLOCKS = 96
"""Blocks for the first pass, which looks at many points."""

RIVALS = 3
"""Strongest rivals of a row that are looked at."""

_TINY = 1e-300


def sketch(votes: RowVotes, blocks: int = BLOCKS) -> RowVotes:
    """Summarise the rows by about as many as there are blocks, each with its share.

    Rows are sorted by margin and neighbours are joined, fewer where margins are small: the few rows that are
    lost, or nearly so, decide the bound.

    Examples
    --------
    >>> right = np.linspace(0, 1, 100_001)
    >>> small = sketch(RowVotes(right, 1 - right[:, None], np.full(right.shape, 1 / right.size)))
    >>> len(small.right) < 2 * BLOCKS, round(float(small.share @ small.right), 6)
    (True, 0.5)
    """
    if votes.rivals.shape[1] == 1:
        if len(votes.right) > CELLS:  # sorting that many takes longer than the whole search
            votes = _averaged(votes, (votes.right * CELLS).astype(np.intp))
        margins = votes.right
    else:
        strongest = -np.sort(-votes.rivals, axis=1)[:, :RIVALS]
        votes = RowVotes(votes.right, strongest, votes.share)
        margins = votes.right - strongest[:, 0] if strongest.size else votes.right
    order = np.lexsort((votes.right, margins))
    position = np.sqrt(np.minimum(1, np.cumsum(votes.share[order])))
    grown = np.diff((blocks * position).astype(np.intp), prepend=0) > 0
    apart = np.diff(margins[order], prepend=-1) > 1 / blocks
    block = np.empty(len(order), dtype=np.intp)
    block[order] = np.cumsum(grown | apart)
    return _averaged(votes, block)


def _averaged(votes: RowVotes, cell: Indices) -> RowVotes:
    """Join the rows of each cell to one with their mean votes."""
    total = np.asarray(np.bincount(cell, weights=votes.share), dtype=np.float64)
    used = np.flatnonzero(total)

    def mean(values: Floats) -> Floats:
        return np.asarray(np.bincount(cell, weights=votes.share * values)[used] / total[used])

    rivals = np.empty((len(used), votes.rivals.shape[1]))
    for k in range(rivals.shape[1]):
        rivals[:, k] = mean(votes.rivals[:, k])
    return RowVotes(mean(votes.right), rivals, total[used])


def rough_losses(votes: RowVotes, K: Floats, margins: Floats, exponent: float) -> Floats:
    """Mean losses for all K (rows) and margins (columns), by the arcsine approximation.

    ``2 sqrt(K s) arcsin(sqrt(rho))`` is roughly normal with variance one.
    """
    together = np.maximum(votes.right[:, None] + votes.rivals, _TINY)
    centre = np.arcsin(np.sqrt(np.clip(votes.right[:, None] / together, 0, 1)))
    threshold = np.minimum(1, 0.5 + margins[:, None, None] * together**-exponent)
    distance = (np.arcsin(np.sqrt(threshold)) - centre) * 2 * np.sqrt(together)
    distance[:, votes.right <= 0] = np.inf  # nobody is right: lost for certain, however small K is
    losses = (ndtr(np.sqrt(K)[:, None, None, None] * distance) * (votes.rivals > 0)).sum(axis=3)
    return np.asarray(np.minimum(1, np.minimum(1, losses) @ votes.share))


def central_losses(votes: RowVotes, K: Floats, margins: Floats, exponent: float) -> Floats:
    """Mean losses at the points (K, margin), with S in the middle of its distribution: nearly exact."""
    K, margins = K[:, None, None], margins[:, None, None]
    together = np.maximum(votes.right[:, None] + votes.rivals, _TINY)
    threshold = np.minimum(1, 0.5 + margins * together**-exponent)
    a, b = np.maximum(K * votes.right[:, None], _TINY), np.maximum(K * votes.rivals, _TINY)
    pairs = betainc(a, b, threshold) * (votes.rivals > 0)
    losses = np.minimum(1, pairs.sum(axis=2))
    if votes.rivals.shape[1] > 1:
        rest = np.maximum(K * (1 - votes.right[:, None]), _TINY)
        losses = np.minimum(losses, betainc(a, rest, 0.5 + margins)[:, :, 0])
    return np.asarray(np.minimum(1, losses @ votes.share))


@dataclass(frozen=True)
class Landscape:
    """A bound as a function of K, margin and prior scale, to be searched for its lowest point.

    Attributes
    ----------
    votes : RowVotes
        A sketch of the rows.
    margins, exponent
        The grid of margins and how they scale.
    n_scales : int
        How many prior scales there are.
    complexity : function
        From K and the number of the prior scale to the complexity.
    invert : function
        From mean loss and complexity to a bound on the sampled vote's risk.
    error_chance : function
        From K and margin to p, the chance that a sampled vote shares an error.
    """

    votes: RowVotes
    margins: Floats
    exponent: float
    n_scales: int
    complexity: Callable[[Floats, Indices], Floats]
    invert: Callable[[Floats, Floats], Floats]
    error_chance: Callable[[Floats, Floats], Floats]

    def lowest(self) -> tuple[float, int, int]:
        """Return K, the number of the margin and the number of the prior scale.

        All margins and prior scales compete on a coarse grid of K with rough losses; the best few valleys are
        looked at properly, on ever finer grids.
        """
        K = np.geomspace(*LANDSCAPE, COARSE)
        complexities = self.complexity(K[:, None], np.arange(self.n_scales)[None])
        losses = rough_losses(sketch(self.votes, ROUGH_BLOCKS), K, self.margins, self.exponent)
        values = nx.kl_inverse_upper(losses, complexities.min(axis=1)[:, None])
        with np.errstate(divide="ignore", over="ignore"):  # with no chance of an error nothing is said
            values = values / self.error_chance(K[:, None], self.margins)
        row, margin = _lowest_valleys(values, FINALISTS[0])
        centre, scale, step = K[row], complexities[row].argmin(axis=1), K[1] / K[0]
        for survivors in FINALISTS[1:]:
            grid = centre[:, None] * step**OFFSETS
            values = self._values(grid, margin[:, None], scale[:, None])
            best = np.argsort(values.min(axis=1), kind="stable")[:survivors]
            margin, scale, grid, values = margin[best], scale[best], grid[best], values[best]
            centre = grid[np.arange(len(best)), values.argmin(axis=1)]
            step **= OFFSETS[1] - OFFSETS[0]
        return float(centre[0] * step ** _vertex(values[0])), int(margin[0]), int(scale[0])

    def glance(self) -> float:
        """About the lowest value: good enough to compare landscapes, and cheap."""
        K = np.geomspace(*LANDSCAPE, GLANCED)
        complexities = self.complexity(K[:, None], np.arange(0, self.n_scales, 2)[None]).min(axis=1)[:, None]
        losses = rough_losses(sketch(self.votes, GLANCED_BLOCKS), K, self.margins, self.exponent)
        with np.errstate(over="ignore"):  # next to no weight on a voter may cost any amount
            values = losses + complexities + np.sqrt(2 * complexities * losses + complexities**2)
        with np.errstate(divide="ignore", over="ignore"):
            return float((values / self.error_chance(K[:, None], self.margins)).min())

    def _values(self, K: Floats, margin: Indices, scale: Indices) -> Floats:
        """The bound at the given points."""
        K, margin, scale = np.broadcast_arrays(K, margin, scale)
        margins = self.margins[margin]
        losses = central_losses(self.votes, K.ravel(), margins.ravel(), self.exponent).reshape(K.shape)
        return self.invert(losses, self.complexity(K, scale)) / self.error_chance(K, margins)


def _lowest_valleys(values: Floats, most: int) -> tuple[Indices, Indices]:
    """Rows and columns of the lowest entries that no neighbour in their column is below."""
    walls = np.pad(values, ((1, 1), (0, 0)), constant_values=np.inf)
    row, column = np.nonzero((values <= walls[:-2]) & (values <= walls[2:]))
    best = np.argsort(values[row, column], kind="stable")[:most]
    return row[best], column[best]


def _vertex(values: Floats) -> float:
    """How many steps away from the least of equally spaced values the parabola around it has its vertex."""
    here = int(values.argmin())
    if not 0 < here < len(values) - 1:
        return 0.0
    before, least, after = values[here - 1 : here + 2]
    bend = before - 2 * least + after
    return float((before - after) / (2 * bend)) if bend > 0 else 0.0


def sampled_losses(ballots: Ballots, weights: Floats) -> Callable[[Any, Any], Floats]:
    """Mean of ``I_{1/2+g}(K v_y, K (1 - v_y))`` as a function of K and the margin, which are broadcast.

    The rows are summarised by their different correct weights v_y, binned when there are many.
    """
    right = np.clip(ballots.correct_weight(weights), 0, 1)
    values, index = np.unique(np.round(right, 12), return_inverse=True)
    share = np.asarray(np.bincount(index, weights=ballots.counts) / ballots.n_rows, dtype=np.float64)
    rows = RowVotes(values, np.empty((len(values), 0)), share)
    if len(values) > MOST_BINS:
        rows = _averaged(rows, np.minimum((values * MOST_BINS).astype(np.intp), MOST_BINS - 1))

    def mean(K: Any, margin: Any) -> Floats:
        K, margin = np.broadcast_arrays(K, margin)
        a, b = K[..., None] * rows.right, K[..., None] * (1 - rows.right)
        losses = nx.beta_cdf(0.5 + margin[..., None], a, b) @ rows.share
        return np.minimum(1.0, losses)  # the shares sum to one only up to rounding

    return mean


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
            at = values(fine, slice(column, column + 1))[:, 0]
            row = int(np.argmin(at))
            low, high = fine[max(row - 1, 0)], fine[min(row + 1, 11)]
            best = min(best, (float(at[row]), float(fine[row]), margins[column]))
    return {"concentration": best[1], "margin": best[2]}

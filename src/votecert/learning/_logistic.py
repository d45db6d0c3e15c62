r"""Logistic regression of the label on what the voters say, many problems at once.

With a row's answers x (one place for each answer of each voter), the plain vote v, row weights u, and totals
``T = x W + b + t v``,

.. math:: F(W, b, t) = \sum_{rows} u \Bigl(\log\sum_k e^{T_k} - T_y\Bigr) + \frac{1}{2 C} |W|^2,

where t is 0, or free: then a strong penalty leads to the plain vote instead of to nothing. Problems differ in
u (the folds of a cross-validation), in C and in whether t is free, and share the answers. So they are solved
together, with one matrix product a step for all of them. The answers are rotated first, which does not change
the penalty, such that their columns are orthogonal; directions in which rows hardly differ are left out. In
these coordinates the curvature is almost diagonal, and L-BFGS that starts from there needs few steps.

Symbols: n patterns, p answers, r directions, c classes, B problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from votecert.bounds.base import Floats
from votecert.learning.budget import Budget

_MOST_DIRECTIONS = 400
_LEAST_VARIANCE = 1e-6  # directions with less, relative to the largest, are left out
_FIXED = 1e9  # the penalty of a t that is not free
_ALMOST_FREE = 1e-3  # the penalty of offsets, and of a t that is free
_MEMORY = 8  # steps that L-BFGS remembers
_STEPS = 60
_SMALLEST_GAIN = 1e-5  # relative to the loss: below, a problem is solved
_TRIALS = 12  # lengths of a step that are tried

Objective = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Directions:
    """Answers in orthogonal coordinates: ``answers @ back = rows``."""

    rows: Floats
    back: Floats
    variances: Floats

    @classmethod
    def of(cls, answers: npt.NDArray[np.floating], counts: Floats) -> Directions:
        """The directions of answers (n, p) of which each row counts so often."""
        scaled = answers * np.sqrt(counts)[:, None].astype(answers.dtype)
        tall = len(scaled) >= scaled.shape[1]
        gram = (scaled.T @ scaled if tall else scaled @ scaled.T).astype(np.float64)
        size = len(gram)
        variances, vectors = eigh(gram, subset_by_index=(max(0, size - _MOST_DIRECTIONS), size - 1))
        used = variances > _LEAST_VARIANCE * max(variances[-1], 1e-12)
        variances, vectors = variances[used], vectors[:, used]
        back = vectors if tall else scaled.T @ (vectors / np.sqrt(variances))
        return cls(np.asarray(answers @ back, dtype=np.float64), back, variances)


@dataclass(frozen=True)
class LogisticProblems:
    """What B problems share, and in what they differ.

    Attributes
    ----------
    directions : Directions
        The answers.
    plain : (n, c)
        Votes for each class.
    labels : (n,) class indices
    weights : (B, n)
        How often each pattern counts in each problem.
    penalties : (B,)
        ``1/C``.
    anchored : (B,) bool
        Whether t is free.
    budget : Budget
        Ends the work when its time is over.
    """

    directions: Directions
    plain: Floats
    labels: npt.NDArray[np.intp]
    weights: Floats
    penalties: Floats
    anchored: npt.NDArray[np.bool_]
    budget: Budget

    def solve(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Totals (n, B, c), rotated tables (B, r, c), offsets (B, c) and t (B,)."""
        c = self.plain.shape[1]
        b, r = len(self.weights), len(self.directions.variances)
        counted = self.weights.sum(axis=1)
        share = counted / max(1.0, float(counted.max()))
        spread = self.weights @ self.plain.var(axis=1)
        shrunk = np.empty((b, (r + 1) * c + 1))
        shrunk[:, : r * c] = self.penalties[:, None]
        shrunk[:, r * c : -1] = _ALMOST_FREE
        shrunk[:, -1] = np.where(self.anchored, _ALMOST_FREE, _FIXED)
        curved = np.append(np.repeat(self.directions.variances, c), np.full(c, counted.max()))
        curvature = shrunk + np.column_stack([np.outer(share, curved / 4), spread])
        found = minimise_many(self._objective(shrunk), np.zeros(shrunk.shape), curvature)
        theta = found[:, :-1].reshape(b, r + 1, c)
        return self._totals(found), theta[:, :-1], theta[:, -1], found[:, -1]

    def _totals(self, points: Floats) -> Floats:
        n, c = self.plain.shape
        b = len(points)
        theta = points[:, :-1].reshape(b, -1, c).transpose(1, 0, 2)
        totals = (self.directions.rows @ theta[:-1].reshape(-1, b * c)).reshape(n, b, c)
        totals += theta[-1]
        totals += points[:, -1, None] * self.plain[:, None]
        return totals

    def _objective(self, shrunk: Floats) -> Objective:
        n, c = self.plain.shape
        b, u = len(shrunk), np.ascontiguousarray(self.weights.T)
        rows = np.arange(n)[:, None], np.arange(b), self.labels[:, None]

        def objective(points: Floats) -> tuple[Floats, Floats]:
            self.budget.check()
            totals = self._totals(points)
            totals -= totals.max(axis=2, keepdims=True)
            own = totals[rows]
            chance = np.exp(totals, out=totals)
            norm = chance.sum(axis=2)
            loss = (u * (np.log(norm) - own)).sum(axis=0)
            chance *= (u / norm)[:, :, None]
            chance[rows] -= u
            by_direction = self.directions.rows.T @ chance.reshape(n, b * c)
            slope = np.empty_like(points)
            slope[:, : -c - 1] = by_direction.reshape(-1, b, c).transpose(1, 0, 2).reshape(b, -1)
            slope[:, -c - 1 : -1] = chance.sum(axis=0)
            slope[:, -1] = np.einsum("nbk,nk->b", chance, self.plain)
            drag = shrunk * points
            return loss + (drag * points).sum(axis=1) / 2, slope + drag

        return objective


def minimise_many(objective: Objective, start: Floats, curvature: Floats) -> Floats:
    """Minimise B convex functions at once by L-BFGS.

    Parameters
    ----------
    objective : function
        Values (B,) and gradients (B, q) at points (B, q).
    start : (B, q)
    curvature : (B, q)
        The diagonal from which each function's curvature is learned.

    Examples
    --------
    >>> target = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> squares = lambda x: (((x - target) ** 2).sum(axis=1), 2 * (x - target))
    >>> minimise_many(squares, np.zeros((2, 2)), np.ones((2, 2))).round(6)
    array([[1., 2.],
           [3., 4.]])
    """
    point, (value, slope) = start, objective(start)
    steps: list[tuple[Floats, Floats, Floats]] = []
    active = np.ones(len(start), dtype=bool)
    for _ in range(_STEPS):
        step = -_times_inverse_curvature(slope, steps, curvature)
        fall = (step * slope).sum(axis=1)
        length = active.astype(np.float64)
        for trial in range(_TRIALS):
            there = point + length[:, None] * step
            new_value, new_slope = objective(there)
            too_long = ~(new_value <= value + 1e-4 * length * fall + 1e-12 * np.abs(value))
            if not too_long.any():
                break
            length[too_long] *= 0.4 if trial < _TRIALS - 2 else 0.0
        moved, bent = there - point, new_slope - slope
        along = (moved * bent).sum(axis=1)
        inverse = np.where(along > 1e-12, 1 / np.maximum(along, 1e-12), 0.0)
        steps = [*steps[1 - _MEMORY :], (moved, bent, inverse)]
        active &= value - new_value > _SMALLEST_GAIN * np.abs(new_value)
        point, value, slope = there, new_value, new_slope
        if not active.any():
            break
    return point


def _times_inverse_curvature(
    slope: Floats, steps: list[tuple[Floats, Floats, Floats]], curvature: Floats
) -> Floats:
    """The two loops of L-BFGS, for each problem by itself."""
    q, factors = slope.copy(), []
    for moved, bent, inverse in reversed(steps):
        factors.append(inverse * (moved * q).sum(axis=1))
        q -= factors[-1][:, None] * bent
    q /= curvature
    for (moved, bent, inverse), factor in zip(steps, reversed(factors), strict=True):
        q += (factor - inverse * (bent * q).sum(axis=1))[:, None] * moved
    return q

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
_STEPS = 50
_FEWER = 0.75  # of the problems: when only so many are unsolved, the others are left out
_SMALLEST_GAIN = 1e-4  # relative to the loss: below, a problem is solved
_ROUNDING = 1e-7  # relative error of a loss: products are made in float32
_TRIALS = 12  # lengths of a step that are tried

Objective = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Directions:
    """Answers in orthogonal coordinates: ``answers @ back = rows``."""

    rows: npt.NDArray[np.float32]
    back: Floats
    variances: Floats

    @classmethod
    def of(cls, answers: npt.NDArray[np.floating], counts: Floats) -> Directions:
        """The directions of answers (n, p) of which each row counts so often."""
        scaled = answers * np.sqrt(counts)[:, None].astype(answers.dtype)
        tall = len(scaled) >= scaled.shape[1]
        gram = (scaled.T @ scaled if tall else scaled @ scaled.T).astype(np.float64)
        size = len(gram)
        if size <= 3 * _MOST_DIRECTIONS:  # finding all of them, in another way, is faster then
            variances, vectors = eigh(gram, driver="evd")
            variances, vectors = variances[-_MOST_DIRECTIONS:], vectors[:, -_MOST_DIRECTIONS:]
        else:
            variances, vectors = eigh(gram, subset_by_index=(size - _MOST_DIRECTIONS, size - 1))
        used = variances > _LEAST_VARIANCE * max(variances[-1], 1e-12)
        variances, vectors = variances[used], vectors[:, used]
        back = vectors if tall else scaled.T @ (vectors / np.sqrt(variances))
        return cls(np.asarray(answers @ back, dtype=np.float32), back, variances)


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
        found = minimise_many(lambda some: self._objective(shrunk, some), np.zeros(shrunk.shape), curvature)
        theta = found[:, :-1].reshape(b, r + 1, c)
        return self._totals(found), theta[:, :-1], theta[:, -1], found[:, -1]

    def _totals(self, points: Floats) -> Floats:
        n, c = self.plain.shape
        b = len(points)
        theta = points[:, :-1].reshape(b, -1, c).transpose(1, 0, 2)
        by_direction = theta[:-1].reshape(-1, b * c).astype(np.float32)
        totals = (self.directions.rows @ by_direction).reshape(n, b, c).astype(np.float64)
        totals += theta[-1]
        totals += points[:, -1, None] * self.plain[:, None]
        return totals

    def _objective(self, shrunk: Floats, some: npt.NDArray[np.intp]) -> Objective:
        """Values and gradients of some of the problems."""
        n, c = self.plain.shape
        shrunk, u = shrunk[some], np.ascontiguousarray(self.weights[some].T)
        b = len(some)
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
            by_direction = self.directions.rows.T @ chance.reshape(n, b * c).astype(np.float32)
            slope = np.empty_like(points)
            slope[:, : -c - 1] = by_direction.reshape(-1, b, c).transpose(1, 0, 2).reshape(b, -1)
            slope[:, -c - 1 : -1] = chance.sum(axis=0)
            slope[:, -1] = np.einsum("nbk,nk->b", chance, self.plain)
            drag = shrunk * points
            return loss + (drag * points).sum(axis=1) / 2, slope + drag

        return objective


def minimise_many(
    objective_of: Callable[[npt.NDArray[np.intp]], Objective], start: Floats, curvature: Floats
) -> Floats:
    """Minimise B convex functions at once by L-BFGS; those that are solved are left out.

    Parameters
    ----------
    objective_of : function
        Of the places of some functions: a function that gives values (b,) and gradients (b, q) of these at
        points (b, q).
    start : (B, q)
    curvature : (B, q)
        The diagonal from which each function's curvature is learned.

    Examples
    --------
    >>> target = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> squares = lambda some: lambda x: (((x - target[some]) ** 2).sum(axis=1), 2 * (x - target[some]))
    >>> minimise_many(squares, np.zeros((2, 2)), np.ones((2, 2))).round(6)
    array([[1., 2.],
           [3., 4.]])
    """
    found, some = start.copy(), np.arange(len(start))
    objective, point = objective_of(some), start
    value, slope = objective(point)
    steps: list[tuple[Floats, Floats, Floats]] = []
    for _ in range(_STEPS):
        there, new_value, new_slope = _line_search(
            objective, point, value, slope, -_times_inverse_curvature(slope, steps, curvature)
        )
        moved, bent = there - point, new_slope - slope
        along = (moved * bent).sum(axis=1)
        steps = [
            *steps[1 - _MEMORY :],
            (moved, bent, np.where(along > 1e-12, 1 / np.maximum(along, 1e-12), 0.0)),
        ]
        active = value - new_value > _SMALLEST_GAIN * np.abs(new_value)
        point, value, slope, found[some] = there, new_value, new_slope, there
        if not active.any():
            break
        if active.sum() <= _FEWER * len(active):
            some, curvature = some[active], curvature[active]
            point, value, slope = point[active], value[active], slope[active]
            steps = [tuple(x[active] for x in step) for step in steps]  # type: ignore[misc]
            objective = objective_of(some)
    return found


def _line_search(
    objective: Objective, point: Floats, value: Floats, slope: Floats, step: Floats
) -> tuple[Floats, Floats, Floats]:
    """Points, values and gradients further down: steps are shortened until they lead there."""
    fall = (step * slope).sum(axis=1)
    length = np.ones(len(point))
    for trial in range(_TRIALS):
        there = point + length[:, None] * step
        new_value, new_slope = objective(there)
        too_long = ~(new_value <= value + 1e-4 * length * fall + _ROUNDING * np.abs(value))
        if not too_long.any():
            break
        length[too_long] *= 0.4 if trial < _TRIALS - 2 else 0.0
    return there, new_value, new_slope


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

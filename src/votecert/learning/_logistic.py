r"""Logistic regression of the label on what the voters say, many problems at once.

With a row's answers x (one place for each answer of each voter), the plain vote v, row weights u, and totals
``T = x W + b + t v``,

.. math:: F(W, b, t) = \sum_{rows} u \Bigl(\log\sum_k e^{T_k} - T_y\Bigr) + \frac{1}{2 C} |W|^2,

where t is 0, or free: then a strong penalty leads to the plain vote instead of to nothing. Problems differ in
u (the folds of a cross-validation), in C and in whether t is free, and share the answers. So they are solved
together, with one matrix product a step for all of them. The answers are rotated first, which does not change
the penalty, such that their columns are orthogonal; directions in which rows hardly differ are left out. In
these coordinates the curvature is almost diagonal, and L-BFGS that starts from there needs few steps.

A constant added to the totals of all classes changes nothing, and the penalty is least where they sum to
zero: two classes have one free total, whose negative is that of the other class.

Symbols: n patterns, p answers, r directions, c classes, f free totals, B problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

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
_SMALLEST_GAIN = 3e-4  # relative to the loss: below, a problem is solved
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
        """Totals (n, c, B), rotated tables (B, r, c), offsets (B, c) and t (B,)."""
        f, classes = self._free_plain.shape[1], 2 if self._is_binary else 1  # that each number counts for
        b, r = len(self.weights), len(self.directions.variances)
        counted = self.weights.sum(axis=1)
        share = counted / max(1.0, float(counted.max()))
        spread = self.weights @ self.plain.var(axis=1)
        shrunk = np.empty((b, (r + 1) * f + 1))
        shrunk[:, : r * f] = classes * self.penalties[:, None]
        shrunk[:, r * f : -1] = classes * _ALMOST_FREE
        shrunk[:, -1] = np.where(self.anchored, _ALMOST_FREE, _FIXED)
        curved = classes * np.append(np.repeat(self.directions.variances, f), np.full(f, counted.max()))
        curvature = shrunk + np.column_stack([np.outer(share, curved / 4), spread])
        found = minimise_many(lambda some: self._objective(shrunk, some), np.zeros(shrunk.shape), curvature)
        theta = self._of_all_classes(found[:, :-1].reshape(b, r + 1, f), axis=2)
        return self._of_all_classes(self._totals(found), axis=1), theta[:, :-1], theta[:, -1], found[:, -1]

    @property
    def _is_binary(self) -> bool:
        return bool(self.plain.shape[1] == 2)

    @cached_property
    def _free_plain(self) -> Floats:
        """The plain vote in free totals, (n, f)."""
        return np.diff(self.plain) / 2 if self._is_binary else self.plain

    def _of_all_classes(self, free: Floats, axis: int) -> Floats:
        return np.concatenate([-free, free], axis=axis) if self._is_binary else free

    def _totals(self, points: Floats) -> Floats:
        """Free totals (n, f, b)."""
        n, f = self._free_plain.shape
        b = len(points)
        theta = points[:, :-1].reshape(b, -1, f).transpose(1, 2, 0)
        by_direction = theta[:-1].reshape(-1, f * b).astype(np.float32)
        totals = (self.directions.rows @ by_direction).reshape(n, f, b).astype(np.float64)
        totals += theta[-1]
        totals += points[:, -1] * self._free_plain[:, :, None]
        return totals

    def _objective(self, shrunk: Floats, some: npt.NDArray[np.intp]) -> Objective:
        """Values and gradients of some of the problems."""
        n, f = self._free_plain.shape
        shrunk, u = shrunk[some], np.ascontiguousarray(self.weights[some].T)
        b = len(some)
        loss_of = _two_class_loss if self._is_binary else _loss

        def objective(points: Floats) -> tuple[Floats, Floats]:
            self.budget.check()
            loss, pull = loss_of(self._totals(points), self.labels, u)
            by_direction = self.directions.rows.T @ pull.reshape(n, f * b).astype(np.float32)
            slope = np.empty_like(points)
            slope[:, : -f - 1] = by_direction.reshape(-1, b).T
            slope[:, -f - 1 : -1] = pull.sum(axis=0).T
            slope[:, -1] = np.einsum("nkb,nk->b", pull, self._free_plain)
            drag = shrunk * points
            return loss + _dots(drag, points) / 2, slope + drag

        return objective


def _loss(totals: Floats, labels: npt.NDArray[np.intp], u: Floats) -> tuple[Floats, Floats]:
    """The log-loss (b,) of totals (n, c, b), which are overwritten, and its gradient in them."""
    own_place = np.arange(len(labels)), labels
    totals -= totals.max(axis=1, keepdims=True)
    own = totals[own_place]
    chance = np.exp(totals, out=totals)
    norm = chance.sum(axis=1)
    loss = (u * (np.log(norm) - own)).sum(axis=0)
    chance *= (u / norm)[:, None]
    chance[own_place] -= u
    return loss, chance


def _two_class_loss(totals: Floats, labels: npt.NDArray[np.intp], u: Floats) -> tuple[Floats, Floats]:
    """The same for the free totals (n, 1, b) of two classes."""
    sign = np.where(labels == 1, -1.0, 1.0)[:, None]
    behind = 2 * sign * totals[:, 0]  # how far the own class is
    odds = np.exp(-np.abs(behind))
    loss = (u * (np.maximum(behind, 0) + np.log1p(odds))).sum(axis=0)
    missed = np.where(behind > 0, 1.0, odds) / (1 + odds)
    return loss, (2 * sign * u * missed)[:, None]


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
        along = _dots(moved, bent)
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
    fall = _dots(step, slope)
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
        factors.append(inverse * _dots(moved, q))
        q -= factors[-1][:, None] * bent
    q /= curvature
    for (moved, bent, inverse), factor in zip(steps, reversed(factors), strict=True):
        q += (factor - inverse * _dots(bent, q))[:, None] * moved
    return q


def _dots(first: Floats, second: Floats) -> Floats:
    """The product of each row with the same one of the other."""
    return np.asarray(np.einsum("bq,bq->b", first, second))

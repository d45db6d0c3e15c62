"""Descending on a differentiable bound: quasi-Newton at a fixed choice, then the best choice again.

A *point* is weights with the free choices of the bound (K, a margin, an offset, ...). At a fixed choice the
bound is a smooth function of the weights and of K; the other choices come from grids, or have closed forms
that ``bound.search`` knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize

from votecert.bounds.base import Bound, Choice, Evaluation, Floats, Objective, categorical_prior
from votecert.learning._smooth_rows import ClassVotesNeeded, QuickBallots, RightOrWrong
from votecert.learning.budget import Budget
from votecert.learning.coordinates import coordinates_of, gradient_at, weights_at
from votecert.rows.ballots import Ballots

MEMORY = 30
"""Steps that the quasi-Newton method remembers."""

LINE_SEARCH = 8
"""Evaluations of one line search: some bounds have kinks, where more of them only waste time."""

PROGRESS = 1e-5
"""Relative gain below which another round of choosing and descending is not worth it."""

OUT_OF_REACH = 1e3
"""Stands for a bound that is infinite or not a number, so that a line search turns back."""

CONCENTRATIONS = (1e-3, 1e9)
"""Values of K outside are out of reach."""


@dataclass(frozen=True, eq=False)
class Point:
    """Weights, the free choices of the bound, and its smooth value there; or its exact one, when judged."""

    value: float
    weights: Floats
    choice: Choice
    exact: Evaluation | None = None


@dataclass
class Descent:
    """A bound on some rows, with what was found so far.

    Attributes
    ----------
    rows, bound, delta, prior
        What is minimised.
    best : Point
        The lowest point so far; at first the weights of the prior.
    budget : Budget
        Hears of every evaluation and ends the descent when its time is over.
    """

    rows: QuickBallots
    bound: Bound
    delta: float
    prior: Floats | None
    best: Point
    budget: Budget

    @classmethod
    def on(
        cls,
        ballots: Ballots,
        bound: Bound,
        delta: float,
        prior: Floats | None = None,
        budget: Budget | None = None,
    ) -> Self:
        """Begin on the fewest patterns that the bound can work with; which ones is found out by trying."""
        weights = categorical_prior(prior, ballots.n_voters)
        for kind in (RightOrWrong, QuickBallots):
            rows = kind.of(ballots)
            with suppress(ClassVotesNeeded):
                choice = bound.search(rows, weights, delta, prior)
                value = bound.objective(rows, weights, choice, delta, prior).value
                break
        return cls(rows, bound, delta, prior, Point(value, weights, choice), budget or Budget())

    def at(self, weights: Floats, choice: Choice | None = None) -> Point:
        """The point with these weights, at the best choice unless one is given."""
        if choice is None:
            self.budget.check()
            choice = self.bound.search(self.rows, weights, self.delta, self.prior)
        return self._evaluate(weights, choice)[0]

    def descend(self, start: Point, max_iter: int, tolerance: float = 1e-7) -> Point:
        """The lowest point met on the way down from a start, at the same choice but for K."""
        lowest = start
        has_K = "concentration" in start.choice

        def value_and_gradient(x: Floats) -> tuple[float, Floats]:
            nonlocal lowest
            weights, K = weights_at(x)
            if has_K and not CONCENTRATIONS[0] < K < CONCENTRATIONS[1]:
                return OUT_OF_REACH, np.zeros_like(x)
            point, objective = self._evaluate(
                weights, start.choice | {"concentration": K} if has_K else start.choice
            )
            if point.value < lowest.value:
                lowest = point
            return point.value, gradient_at(x, objective)

        x = coordinates_of(start.weights, start.choice.get("concentration", 1.0))
        options: Any = {"maxiter": max_iter, "maxcor": MEMORY, "maxls": LINE_SEARCH}
        options |= {"ftol": tolerance, "gtol": 1e-8}
        minimize(value_and_gradient, x, jac=True, method="L-BFGS-B", options=options)
        return lowest

    def judged(self, point: Point) -> Point:
        """The same point with the exact value of the bound, rounded outward (and at most one)."""
        if point.exact is not None:
            return point
        exact = self.bound.at(self.rows, point.weights, self.delta, point.choice, prior=self.prior)
        return replace(point, value=exact.risk, exact=exact)

    def best_voters(self, n: int) -> Floats:
        """Equal weights on the n voters with the fewest errors."""
        best = np.argsort(self.rows.voter_errors(), kind="stable")[:n]
        weights = np.zeros(self.rows.n_voters)
        weights[best] = 1 / len(best)
        return weights

    def settle(self, start: Point, max_iter: int) -> Point:
        """Descend, choose again, and so on until neither helps."""
        point = start
        while True:
            point = self.descend(point, max_iter)
            options = [self.at(point.weights)]
            options += [self.at(point.weights, other) for other in neighbours(self.bound, point.choice)]
            other = min(options, key=lambda option: option.value)
            if other.value > point.value * (1 - PROGRESS):
                return point
            point = other

    def _evaluate(self, weights: Floats, choice: Choice) -> tuple[Point, Objective]:
        objective = self.bound.objective(self.rows, weights, choice, self.delta, self.prior)
        numbers = np.array([objective.value, objective.d_log_concentration, *objective.d_weights])
        if not np.all(np.isfinite(numbers)):
            objective = Objective(OUT_OF_REACH, np.zeros_like(weights))
        point = Point(float(objective.value), weights, choice)
        if point.value < self.best.value:
            self.best = point
        self.budget.tell(self.best.value)
        return point, objective


def neighbours(bound: Bound, choice: Choice) -> Iterator[Choice]:
    """The choices next to this one on the grids of the bound.

    A choice called ``margin`` comes from the bound's option ``margins``, and so on; a bound with an attribute
    ``grid`` takes all its choices from there together.
    """
    for values in _adjacent(tuple(choice.values()), getattr(bound, "grid", ())):
        yield dict(zip(choice, values, strict=True))
    for name, value in choice.items():
        for other in _adjacent(value, getattr(bound, name + "s", ())):
            yield choice | {name: other}


def _adjacent(value: Any, grid: Sequence[Any]) -> list[Any]:
    ordered = sorted(grid)
    if value not in ordered:
        return []
    here = ordered.index(value)
    return ordered[max(here - 1, 0) : here] + ordered[here + 1 : here + 2]

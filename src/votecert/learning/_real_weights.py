"""What learners of real-valued weights share: which rows they look at in their time, and how they end."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from votecert.bounds.base import Bound, Evaluation, Floats, UnsupportedProblemError, categorical_prior
from votecert.learning._smooth_descent import Descent, Point
from votecert.learning.base import Learner
from votecert.learning.budget import Budget, now
from votecert.rows.ballots import Ballots
from votecert.rows.patterns import content_sample
from votecert.rows.read import Rows
from votecert.rows.scores import Scores

SAMPLE_ENTRIES = 1 << 24
"""Votes that weights are learned on, if the rows are on disk; all rows certify them."""

PROBED = 8000
"""Patterns on which the cost of an evaluation is measured; of so many or fewer none is left out."""

EVALUATIONS = 60
"""Searches and evaluations that a budget must have room for, or fewer rows are searched."""


@dataclass(frozen=True, kw_only=True)
class RealWeights(Learner):
    """Learns any differentiable bound: it looks for the lowest point of a smooth function."""

    purpose: ClassVar[str] = (
        "objectives with real-valued weights, as 'f2' or 'dirichlet' ('occam' has one search, of its own)"
    )

    @classmethod
    def learns(cls, bound: Bound) -> bool:
        return bound.differentiable

    @abstractmethod
    def search(self, descent: Descent) -> Point:
        """The best point that is found in the time there is."""

    def learn(
        self,
        rows: Rows,
        bound: Bound,
        delta: float,
        *,
        prior: Floats | None = None,
        fallback: int | None = None,
    ) -> Evaluation:
        if isinstance(rows, Scores):
            raise UnsupportedProblemError(f"The bound {bound.id!r} does not cover soft votes; use 'occam'.")
        if problem := bound.problem_with(rows):
            raise UnsupportedProblemError(problem)
        budget = Budget(self.time_budget, self.callback, math.inf)
        sample = rows.in_memory(SAMPLE_ENTRIES)
        if sample is not rows and self.time_budget is not None:  # going over all rows once more comes last
            budget = replace(budget, time_budget=max(0.0, self.time_budget - budget.seconds))
        # Far from the optimum exponents overflow; such points come out as infinite and are left again.
        with np.errstate(all="ignore"):
            looked_at = affordable(sample, bound, delta, prior, budget)
            best = self.search(Descent.on(looked_at, bound, delta, prior, budget))
        if sample is not rows:
            return budget.marked(bound.evaluate(rows, best.weights, delta, prior=prior))
        return lowest_certificate(rows, bound, delta, best, prior, budget)


def affordable(ballots: Ballots, bound: Bound, delta: float, prior: Floats | None, budget: Budget) -> Ballots:
    """The ballots, or a sample on which a descent gets somewhere in the time that there is.

    Whatever is searched, the certificate is counted on all rows; the time that takes is set aside, too.
    """
    if math.isinf(budget.left) or ballots.n_patterns <= PROBED:
        return ballots
    weights = categorical_prior(prior, ballots.n_voters) * np.linspace(0.5, 1.5, ballots.n_voters)
    weights /= weights.sum()  # different ones, as they will be: with equal weights, rows are merged
    some = _sample(ballots, PROBED)
    scale = ballots.n_patterns / some.n_patterns
    descent = Descent.on(some, bound, delta, prior)
    began = now()
    choice = bound.search(descent.rows, weights, delta, prior)
    bound.objective(descent.rows, weights, choice, delta, prior)
    searched = now()
    bound.at(some, weights, delta, choice, prior=prior)
    budget.reserve(min(scale * (now() - searched), 0.8 * budget.left))
    seconds = max(searched - began, 1e-9)
    n_affordable = int(some.n_patterns * max(budget.left, 0.0) / (EVALUATIONS * seconds))
    return ballots if n_affordable >= ballots.n_patterns else _sample(ballots, max(PROBED, n_affordable))


def lowest_certificate(
    ballots: Ballots, bound: Bound, delta: float, point: Point, prior: Floats | None, budget: Budget
) -> Evaluation:
    """The exact bound at the weights that were found: with their choice or, in time, with the best one."""
    same = bound.at(ballots, point.weights, delta, point.choice, prior=prior)
    if budget.has_time() and not math.isinf(budget.left) and ballots.n_patterns > PROBED:
        some, began = _sample(ballots, PROBED), now()
        bound.evaluate(some, point.weights, delta, prior=prior)
        budget.reserve(ballots.n_patterns / some.n_patterns * (now() - began))
    if not budget.has_time():
        return budget.marked(same)
    searched = bound.evaluate(ballots, point.weights, delta, prior=prior)
    return budget.marked(min(same, searched, key=lambda found: found.risk))


def _sample(ballots: Ballots, n_wanted: int) -> Ballots:
    """Patterns whose contents hash lowest."""
    rows = content_sample([(ballots.codes, ballots.labels, ballots.counts)], n_wanted)
    return Ballots(*rows, ballots.classes, ballots.classes_declared, ballots.can_abstain)

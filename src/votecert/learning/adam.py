"""The paper's way of learning weights: Adam on mini-batches of rows.

Kept for reproduction and comparison: :func:`votecert.learning.smooth.minimise` is faster and finds lower
bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from votecert.bounds.base import Bound, Choice, Evaluation, Floats, UnsupportedProblemError
from votecert.learning._affordable import affordable, lowest_certificate
from votecert.learning._smooth_descent import Descent, Point
from votecert.learning._smooth_rows import QuickBallots
from votecert.learning.budget import Budget, Callback
from votecert.rows.ballots import Ballots
from votecert.rows.patterns import IntArray

FIRST_CONCENTRATION = 2.0
"""K at the start, as in the paper."""

BETAS = (0.9, 0.999)
TINY = 1e-8


def adam(
    ballots: Ballots,
    bound: Bound,
    delta: float,
    *,
    prior: Floats | None = None,
    random_state: int = 0,
    batch_size: int = 100,
    learning_rate: float = 0.1,
    epochs: int = 100,
    patience: int = 25,
    factor: float = 10.0,
    plateau_patience: int = 2,
    margin: float = 0.01,
    time_budget: float | None = None,
    callback: Callback | None = None,
) -> Evaluation:
    """Minimise a differentiable bound by the protocol of the paper's experiments.

    Parameters
    ----------
    ballots : Ballots
        The certifying rows.
    bound : Bound
        A differentiable bound.
    delta : float
        The bound holds with probability at least 1 - delta.
    prior : array of shape (d,), optional
        Positive numbers fixed without looking at the rows.
    random_state : int, default=0
        Seed of the order of the rows.
    batch_size, learning_rate, epochs
        Rows in a batch, first step size, most passes over the rows.
    patience : int, default=25
        Epochs without a lower bound after which learning ends.
    factor, plateau_patience : float, int
        The step size is divided by ``factor`` after more than ``plateau_patience`` epochs without progress.
    margin : float, default=0.01
        For bounds with a grid of margins: the one nearest to this is used, as the paper's margin is fixed.
    time_budget : float, optional
        Seconds after which the weights of the best epoch so far are returned.
    callback : callable, optional
        Called after each epoch with a dictionary: ``iteration``, ``value`` (the smallest so far) and
        ``seconds``.

    Returns
    -------
    Evaluation
        The exact, outward rounded bound at the weights of the best epoch. An interrupt from the keyboard
        ends the search, not the program. ``details["interrupted"]`` is 1 if the search was cut short.

    Notes
    -----
    Weights start uniform, K at 2; steps are taken in ``log(K theta)``, or in the logarithms of the weights
    for bounds without a K. A batch stands for all rows: its mean loss goes into the bound with the complexity
    of m rows. What else the bound leaves free is searched at the beginning of each epoch.

    References
    ----------
    Biggs, Zantedeschi and Guedj (2022), On margins and generalisation for voting classifiers.
    Kingma and Ba (2015), Adam: a method for stochastic optimization.

    Examples
    --------
    >>> from votecert.bounds import BOUNDS
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> votes = np.where(rng.random((300, 3)) < [0.95, 0.6, 0.6], y[:, None], 1 - y[:, None])
    >>> found = adam(Ballots.from_votes(votes, y), BOUNDS["fo"], delta=0.05, epochs=10)
    >>> int(np.argmax(found.terms.weights))
    0
    """
    if problem := bound.problem_with(ballots):
        raise UnsupportedProblemError(problem)
    budget = Budget(time_budget, callback, math.inf)
    with np.errstate(all="ignore"):
        rows = affordable(ballots, bound, delta, prior, budget)
        descent = Descent.on(rows, bound, delta, prior)
        schedule = Schedule(learning_rate, patience, factor, plateau_patience)
        learner = _epochs(descent, schedule, np.random.default_rng(random_state), batch_size, margin, budget)
        with budget.cut_short():
            for _, point in zip(range(epochs), learner, strict=False):
                schedule.note(point)
                budget.tell(point.value)
                if schedule.is_over:
                    break
        best = schedule.best or descent.best
        if budget.has_time():
            searched = descent.at(best.weights)
            best = min(descent.judged(best), descent.judged(searched), key=lambda point: point.value)
    return lowest_certificate(ballots, bound, delta, best, prior, budget)


def _epochs(
    descent: Descent,
    schedule: Schedule,
    rng: np.random.Generator,
    batch_size: int,
    margin: float,
    budget: Budget,
) -> Iterator[Point]:
    """The point after each epoch, for ever; the last one may end before its time."""
    rows, d = descent.rows, descent.rows.n_voters
    choice = _started(descent.bound, descent.best.choice, margin)
    steps = Steps(np.full(d, np.log(choice.get("concentration", 1.0) / d)))
    pattern_of_row = np.repeat(np.arange(rows.n_patterns), rows.counts)
    while True:
        order = rng.permutation(pattern_of_row)
        for first in range(0, len(order), batch_size):
            if budget.left < 0:
                break
            batch = Batch.standing_for(rows, order[first : first + batch_size])
            weights, choice = _at(steps.z, choice)
            objective = descent.bound.objective(batch, weights, choice, descent.delta, descent.prior)
            slopes = objective.d_weights - weights @ objective.d_weights + objective.d_log_concentration
            steps.take(weights * slopes, schedule.learning_rate)
        point = descent.at(*_at(steps.z, choice))
        yield point
        choice = _searched(descent, point)


def _started(bound: Bound, choice: Choice, margin: float) -> Choice:
    """The choice of the first epoch: K = 2 and the fixed margin where there are such."""
    if "concentration" in choice:
        choice = choice | {"concentration": FIRST_CONCENTRATION}
    if "margin" in choice:
        grid = getattr(bound, "margins", (choice["margin"],))
        choice = choice | {"margin": min(grid, key=lambda other: abs(other - margin))}
    return choice


def _searched(descent: Descent, point: Point) -> Choice:
    """The best choice at a point, but for K and the margin, which stay."""
    kept = {name: point.choice[name] for name in ("concentration", "margin") if name in point.choice}
    if len(kept) == len(point.choice):
        return point.choice
    searched = descent.bound.search(descent.rows, point.weights, descent.delta, descent.prior)
    return point.choice if searched.keys() != point.choice.keys() else searched | kept


def _at(z: Floats, choice: Choice) -> tuple[Floats, Choice]:
    """Weights, and the choice with its K, at ``z = log(K theta)``."""
    top = z.max()
    parts = np.exp(z - top)
    total = float(parts.sum())
    if "concentration" in choice:
        choice = choice | {"concentration": float(np.exp(np.clip(top + np.log(total), -20, 20)))}
    return parts / total, choice


@dataclass
class Steps:
    """Adam's running means of slopes and squared slopes."""

    z: Floats
    n_steps: int = 0
    mean: Floats = field(init=False)
    square: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.mean, self.square = np.zeros_like(self.z), np.zeros_like(self.z)

    def take(self, slopes: Floats, learning_rate: float) -> None:
        """One step; a batch on which the bound has no finite slope is passed over."""
        if not np.all(np.isfinite(slopes)):
            return
        self.n_steps += 1
        self.mean += (1 - BETAS[0]) * (slopes - self.mean)
        self.square += (1 - BETAS[1]) * (slopes**2 - self.square)
        mean = self.mean / (1 - BETAS[0] ** self.n_steps)
        square = self.square / (1 - BETAS[1] ** self.n_steps)
        self.z = self.z - learning_rate * mean / (np.sqrt(square) + TINY)


@dataclass
class Schedule:
    """Step size and end of learning, from the bounds after each epoch."""

    learning_rate: float
    patience: int
    factor: float
    plateau_patience: int
    best: Point | None = None
    since_best: int = 0
    since_progress: int = 0

    def note(self, point: Point) -> None:
        """Take note of the bound after an epoch."""
        if self.best is None or point.value < self.best.value:
            self.best, self.since_best, self.since_progress = point, 0, 0
            return
        self.since_best += 1
        self.since_progress += 1
        if self.since_progress > self.plateau_patience:
            self.learning_rate /= self.factor
            self.since_progress = 0

    @property
    def is_over(self) -> bool:
        """Whether the patience is used up."""
        return self.since_best >= self.patience


@dataclass(frozen=True, eq=False, repr=False)
class Batch(QuickBallots):
    """A few rows that stand for all m: each counts as m divided by the size of the batch."""

    @classmethod
    def standing_for(cls, rows: QuickBallots, patterns: NDArray[np.intp]) -> Batch:
        """The batch with these patterns, one for each of its rows."""
        share = np.full(len(patterns), rows.n_rows / len(patterns))
        rest = (rows.classes, rows.classes_declared, rows.can_abstain)
        return cls(rows.codes[patterns], rows.labels[patterns], share, *rest)

    @property
    def n_rows(self) -> int:
        return round(float(self.counts.sum()))

    def voter_errors(self) -> IntArray:
        return np.asarray(self.counts @ ~self.correct)

    def tandem_counts(self) -> IntArray:
        wrong = (~self.correct).astype(np.float64)
        return np.asarray((wrong.T * self.counts) @ wrong)

"""The paper's way of learning weights: Adam on mini-batches of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from votecert.bounds.base import Bound, Choice, Floats
from votecert.learning._real_weights import RealWeights
from votecert.learning._smooth_descent import Descent, Point
from votecert.learning._smooth_rows import QuickBallots
from votecert.learning.base import check_whole
from votecert.learning.budget import Budget
from votecert.rows.patterns import IntArray

FIRST_CONCENTRATION = 2.0
"""K at the start, as in the paper."""

BETAS = (0.9, 0.999)
TINY = 1e-8


@dataclass(frozen=True, kw_only=True)
class Adam(RealWeights):
    """Learn real-valued weights by the protocol of the paper's experiments: Adam on mini-batches of rows.

    Kept for reproduction and comparison: :class:`LBFGS` is faster and finds lower bounds.

    Parameters
    ----------
    batch_size : int, default=100
        Rows in a batch.
    learning_rate : float, default=0.1
        First step size.
    epochs : int, default=100
        Most passes over the rows.
    patience : int, default=25
        Epochs without a lower bound after which learning ends.
    factor, plateau_patience : float, int
        The step size is divided by ``factor`` after more than ``plateau_patience`` epochs without progress.
    margin : float, default=0.01
        For bounds with a grid of margins: the one nearest to this is used, as the paper's margin is fixed.
    random_state : int, default=0
        Seed of the order of the rows.
    time_budget : float, optional
        Seconds after which the weights of the best epoch so far are returned.
    callback : callable, optional
        Called after each epoch with a dictionary: ``iteration``, ``value`` (the smallest so far) and
        ``seconds``.

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
    >>> import numpy as np, votecert as vc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> votes = np.where(rng.random((300, 3)) < [0.95, 0.6, 0.6], y[:, None], 1 - y[:, None])
    >>> found = vc.learn(votes, y, objective="fo", method=vc.Adam(epochs=10))
    >>> int(found.weights.argmax())
    0
    """

    batch_size: int = 100
    learning_rate: float = 0.1
    epochs: int = 100
    patience: int = 25
    factor: float = 10.0
    plateau_patience: int = 2
    margin: float = 0.01

    id: ClassVar[str] = "adam"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "batch_size", "epochs", "patience", "plateau_patience")
        for name in ("learning_rate", "factor", "margin"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not 0 < value < math.inf:
                raise ValueError(f"{name} must be a positive number, not {value!r}.")

    def search(self, descent: Descent) -> Point:
        budget, descent = descent.budget, replace(descent, budget=Budget())  # what is told is each epoch
        schedule = Schedule(self.learning_rate, self.patience, self.factor, self.plateau_patience)
        with budget.cut_short():
            for _, point in zip(range(self.epochs), self._epochs(descent, schedule, budget), strict=False):
                schedule.note(point)
                budget.tell(point.value)
                if schedule.is_over:
                    break
        best = schedule.best or descent.best
        if budget.has_time():
            searched = descent.at(best.weights)
            best = min(descent.judged(best), descent.judged(searched), key=lambda point: point.value)
        return best

    def _epochs(self, descent: Descent, schedule: Schedule, budget: Budget) -> Iterator[Point]:
        """The point after each epoch, for ever; the last one may end before its time."""
        rows, rng = descent.rows, np.random.default_rng(self.random_state)
        choice = _started(descent.bound, descent.best.choice, self.margin)
        steps = Steps(np.full(rows.n_voters, np.log(choice.get("concentration", 1.0) / rows.n_voters)))
        pattern_of_row = np.repeat(np.arange(rows.n_patterns), rows.counts)
        while True:
            order = rng.permutation(pattern_of_row)
            for first in range(0, len(order), self.batch_size):
                if budget.left < 0:
                    break
                batch = Batch.standing_for(rows, order[first : first + self.batch_size])
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
    mean: Floats | float = 0.0
    square: Floats | float = 0.0

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

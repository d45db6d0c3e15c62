"""The paper's way of learning weights: Adam on mini-batches of rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from scipy import special

from votecert.bounds.base import Choice, Floats, Indices, Objective
from votecert.learning._real_weights import RealWeights
from votecert.learning._smooth_descent import Descent, Point
from votecert.learning._smooth_rows import QuickBallots
from votecert.learning.base import check_whole
from votecert.learning.budget import Budget
from votecert.rows.patterns import IntArray

FIRST_CONCENTRATION = 2.0
"""K at the start, if the weights start equal."""

SMALLEST_ALPHA = 1e-6
BETAS = (0.9, 0.999)
TINY = 1e-8
PROGRESS = 1e-4
"""Relative gain below which an epoch counts as one without progress."""

STILL = 1e-5
"""Part of the first step size below which nothing moves any more."""


@dataclass(frozen=True, kw_only=True)
class Adam(RealWeights):
    """Learn real-valued weights by the protocol of the paper's experiments: Adam on mini-batches of rows.

    Kept for reproduction and comparison: :class:`LBFGS` is faster and finds lower bounds.

    Parameters
    ----------
    start : {"random", "equal"} or sequence of float
        Where to start: ``alpha = K theta`` drawn uniformly from (0, 2), as the authors' program does; equal
        weights and K = 2, as the text of the paper says; or the alpha that is given.
    learn_margin : bool, default=True
        For bounds that are smooth in their margin, as theorem 2: step in its log-odds, too, and move to the
        best margin of the grid at the end. Otherwise, and for other bounds, the margin of the grid nearest to
        ``margin`` is kept.
    margin : float, default=0.01
        The margin to start from.
    batch_size : int, default=100
        Rows in a batch.
    learning_rate : float, default=0.1
        First step size.
    epochs : int, default=100
        Most passes over the rows.
    patience : int, default=25
        Epochs without a lower bound after which learning ends.
    factor, plateau_patience : float, int
        The step size is divided by ``factor`` after more than ``plateau_patience`` epochs in which the bound
        fell by less than a ten-thousandth of itself. Learning also ends when it is a hundred-thousandth of
        what it was.
    random_state : int, default=0
        Seed of the start and of the order of the rows.
    time_budget : float, optional
        Seconds after which the weights of the best epoch so far are returned.
    callback : callable, optional
        Called after each epoch with a dictionary: ``iteration``, ``value`` (the smallest so far) and
        ``seconds``.

    Notes
    -----
    Steps are taken in ``alpha = K theta`` itself, kept above 1e-6, or in the logarithms of the weights for
    bounds without a K. A batch stands for all rows: its mean loss goes into the bound with the complexity of
    m rows. What else the bound leaves free is searched at the beginning of each epoch.

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

    start: Literal["random", "equal"] | Sequence[float] = "random"
    learn_margin: bool = True
    margin: float = 0.01
    batch_size: int = 100
    learning_rate: float = 0.1
    epochs: int = 100
    patience: int = 25
    factor: float = 10.0
    plateau_patience: int = 2

    id: ClassVar[str] = "adam"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "batch_size", "epochs", "patience", "plateau_patience")
        for name, most in (("learning_rate", math.inf), ("factor", math.inf), ("margin", 0.5)):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not 0 < value < most:
                below = "" if most == math.inf else f" below {most}"
                raise ValueError(f"{name} must be a positive number{below}, not {value!r}.")
        if not isinstance(self.learn_margin, bool):
            raise TypeError(f"learn_margin must be True or False, not {self.learn_margin!r}.")
        if isinstance(self.start, str):
            if self.start not in ("random", "equal"):
                raise ValueError(f"start must be 'random', 'equal' or numbers, not {self.start!r}.")
            return
        alpha = np.asarray(self.start)
        if alpha.ndim != 1 or alpha.dtype.kind not in "iuf" or not np.all((alpha > 0) & (alpha < math.inf)):
            raise ValueError("The numbers to start from must be a list of positive ones, one a voter.")

    def search(self, descent: Descent) -> Point:
        budget, descent = descent.budget, replace(descent, budget=Budget())  # what is told is each epoch
        first = descent.best
        schedule = Schedule(self, self.learning_rate)
        with budget.cut_short():
            for _, point in zip(range(self.epochs), self._epochs(descent, schedule, budget), strict=False):
                schedule.note(point)
                budget.tell(point.value)
                if schedule.is_over:
                    break
        best = _on_the_grid(descent, schedule.best or first)
        if budget.has_time():
            searched = descent.at(best.weights)
            best = min(descent.judged(best), descent.judged(searched), key=lambda point: point.value)
        return best

    def _epochs(self, descent: Descent, schedule: Schedule, budget: Budget) -> Iterator[Point]:
        """The point after each epoch, for ever; the last one may end before its time."""
        rows, rng = descent.rows, np.random.default_rng(self.random_state)
        path, choice = self._beginning(descent, rng)
        steps = Steps(path.start)
        pattern_of_row = np.repeat(np.arange(rows.n_patterns), rows.counts)
        while True:
            order = rng.permutation(pattern_of_row)
            for first in range(0, len(order), self.batch_size):
                if budget.left < 0:
                    break
                batch = Batch.standing_for(rows, order[first : first + self.batch_size])
                weights, choice = path.at(steps.z, choice)
                objective = descent.bound.objective(batch, weights, choice, descent.delta, descent.prior)
                steps.take(path.gradient(weights, choice, objective), schedule.learning_rate)
                steps.z = path.inside(steps.z)
            point = descent.at(*path.at(steps.z, choice))
            yield point
            choice = _searched(descent, point)

    def _beginning(self, descent: Descent, rng: np.random.Generator) -> tuple[Path, Choice]:
        """Where the path starts, and the choice there."""
        bound, choice, alpha = descent.bound, descent.best.choice, self._first_alpha(descent.rows, rng)
        has_K = "concentration" in choice
        choice = choice | {"concentration": float(alpha.sum())} if has_K else choice
        if "margin" not in choice:
            return Path(alpha, has_K, None), choice
        weights = alpha / alpha.sum()
        there = bound.objective(descent.rows, weights, choice, descent.delta, descent.prior)
        if self.learn_margin and there.d_margin is not None:
            return Path(alpha, has_K, self.margin), choice
        grid = getattr(bound, "margins", (choice["margin"],))
        return Path(alpha, has_K, None), choice | {"margin": min(grid, key=lambda g: abs(g - self.margin))}

    def _first_alpha(self, rows: QuickBallots, rng: np.random.Generator) -> Floats:
        if isinstance(self.start, str):
            equal = np.full(rows.n_voters, FIRST_CONCENTRATION / rows.n_voters)
            drawn = rng.uniform(0, 2, rows.n_voters)
            return np.maximum(drawn if self.start == "random" else equal, SMALLEST_ALPHA)
        if len(self.start) != rows.n_voters:
            raise ValueError(f"There are {rows.n_voters} voters and {len(self.start)} numbers to start from.")
        return np.array(self.start, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Path:
    """Coordinates in which the steps are taken.

    They are ``alpha = K theta``, or ``log theta`` for a bound without a K, and at the end the log-odds of
    twice the margin, if it is learned.
    """

    alpha: Floats
    has_concentration: bool
    margin: float | None

    @property
    def start(self) -> Floats:
        """The coordinates of the start."""
        z = self.alpha if self.has_concentration else np.log(self.alpha)
        return z if self.margin is None else np.append(z, special.logit(2 * self.margin))

    def at(self, z: Floats, choice: Choice) -> tuple[Floats, Choice]:
        """The weights, and the choice with K and margin."""
        if self.margin is not None:
            z, choice = z[:-1], choice | {"margin": float(special.expit(z[-1])) / 2}
        if not self.has_concentration:
            return special.softmax(z), choice
        K = float(z.sum())
        return z / K, choice | {"concentration": K}

    def gradient(self, weights: Floats, choice: Choice, objective: Objective) -> Floats:
        """The gradient of the bound in these coordinates."""
        slopes = objective.d_weights - weights @ objective.d_weights
        if self.has_concentration:
            slopes = (slopes + objective.d_log_concentration) / choice["concentration"]
        else:
            slopes = weights * slopes
        if self.margin is None or objective.d_margin is None:
            return np.asarray(slopes)
        margin = choice["margin"]
        return np.append(slopes, objective.d_margin * margin * (1 - 2 * margin))

    def inside(self, z: Floats) -> Floats:
        """The nearest coordinates that are allowed."""
        if not self.has_concentration:
            return z
        n_voters = len(self.alpha)
        return np.append(np.maximum(z[:n_voters], SMALLEST_ALPHA), z[n_voters:])


def _on_the_grid(descent: Descent, point: Point) -> Point:
    """The point itself or, if its margin is not one that is paid for, the best one with its weights."""
    grid = getattr(descent.bound, "margins", ())
    if "margin" not in point.choice or not grid or point.choice["margin"] in grid:
        return point
    return descent.at(point.weights)


def _searched(descent: Descent, point: Point) -> Choice:
    """The best choice at a point, but for K and the margin, which stay."""
    kept = {name: point.choice[name] for name in ("concentration", "margin") if name in point.choice}
    if len(kept) == len(point.choice):
        return point.choice
    searched = descent.bound.search(descent.rows, point.weights, descent.delta, descent.prior)
    return point.choice if searched.keys() != point.choice.keys() else searched | kept


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

    options: Adam
    learning_rate: float
    best: Point | None = None
    plateau: float = math.inf
    since_best: int = 0
    since_progress: int = 0

    def note(self, point: Point) -> None:
        """Take note of the bound after an epoch."""
        self.since_best += 1
        if self.best is None or point.value < self.best.value:
            self.best, self.since_best = point, 0
        self.since_progress += 1
        if point.value < self.plateau * (1 - PROGRESS):
            self.plateau, self.since_progress = point.value, 0
        if self.since_progress > self.options.plateau_patience:
            self.learning_rate /= self.options.factor
            self.since_progress = 0

    @property
    def is_over(self) -> bool:
        """Whether the patience is used up, or nothing moves any more."""
        is_still = self.learning_rate < STILL * self.options.learning_rate
        return self.since_best >= self.options.patience or is_still


@dataclass(frozen=True, eq=False, repr=False)
class Batch(QuickBallots):
    """A few rows that stand for all m: each counts as m divided by the size of the batch."""

    @classmethod
    def standing_for(cls, rows: QuickBallots, patterns: Indices) -> Batch:
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

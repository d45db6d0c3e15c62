r"""Stacking weights: non-negative logistic or softmax regression on the votes, with L1 and L2 penalties.

With weights x >= 0 for the columns of an error counter, ``T_k = sum of x_j over columns that vote k`` and

.. math:: F(x) = \frac1m \sum_{rows} \Bigl(\log\sum_k e^{T_k} - T_y\Bigr)
          + \lambda_1 \sum_j x_j + \tfrac12 \lambda_2 \sum_j x_j^2

is convex. For two classes the row loss is ``log(1 + exp(-margin))``. With an L1 penalty only a few columns
end up with weight, so the problem is solved on a working set of columns that grows until no other would
lower F.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csc_array
from scipy.special import expit

from votecert.bounds.base import Floats
from votecert.learning._error_counter import BinaryErrorCounter, ErrorCounter, MulticlassErrorCounter
from votecert.learning._soft_error_counter import SoftErrorCounter
from votecert.learning.budget import Budget

Loss = Callable[[Floats], tuple[float, Floats]]


class Penalty(NamedTuple):
    """Factors of the sum and of half the sum of squares of the weights."""

    l1: float = 0.0
    l2: float = 0.0


PENALTIES = (Penalty(l1=0.005), Penalty(l1=0.0015), Penalty(l1=0.00015), Penalty(l2=0.1), Penalty(l2=0.01))
"""What worked best over many data sets: few voters for small penalties L1, many for L2."""

_LARGEST_WEIGHT = 50.0
_CONSTANTS_PENALTY = 0.01  # of that of the voters: an intercept should be almost free, but finite
_L2_TOLERANCE = 1e-5  # of the gradient, where no L1 penalty sets its scale
_NEW_COLUMNS = 64
_MAX_ROUNDS = 12
_MAX_ITERATIONS = 200
_TOLERANCE = 0.02  # of the penalty: how far a column outside the working set may be from optimal


@dataclass(frozen=True)
class StackingProblem:
    """A design matrix and a row loss.

    Attributes
    ----------
    design : (r, q) array or sparse array
        ``design @ x`` are the margins (two classes) or all class totals, row by row.
    loss : function
        Mean loss of ``design @ x`` and its gradient there.
    penalised : (q,) array
        Penalty of each column, relative to the path's.
    budget : Budget
        Ends the work when its time is over.
    """

    design: Any
    loss: Loss
    penalised: Floats
    budget: Budget = field(default_factory=Budget)


def stacking_weights(
    counter: ErrorCounter,
    penalties: Sequence[Penalty] = PENALTIES,
    *,
    budget: Budget | None = None,
) -> list[Floats]:
    """Weights of voters and constants, (d + c,), for each penalty; some class has no constant votes."""
    problem = stacking_problem(counter)
    if budget is not None:
        problem = replace(problem, budget=budget)
    found = [counter.by_voter(x) for x in stacking_path(problem, penalties)]
    for weights in found:
        weights[counter.n_voters :] -= weights[counter.n_voters :].min()
    return found


def stacking_problem(counter: ErrorCounter) -> StackingProblem:
    """The regression of the true labels on the votes of an error counter."""
    share = counter.counts / counter.n_rows
    penalised = np.ones(counter.n_columns)
    penalised[counter.column_of[counter.n_voters :]] = _CONSTANTS_PENALTY
    if isinstance(counter, BinaryErrorCounter):
        design = np.where(counter.right, np.float32(1), np.float32(-1))
        return StackingProblem(design, lambda margins: logistic_loss(margins, share), penalised)
    design = _soft_design(counter) if isinstance(counter, SoftErrorCounter) else _hard_design(counter)
    return StackingProblem(design, lambda totals: softmax_loss(totals, counter.labels, share), penalised)


def _hard_design(counter: MulticlassErrorCounter) -> Any:
    """Which class (a row of the design) each column votes for, on every row of votes."""
    c = counter.n_classes
    voted = counter.codes < c
    place = np.arange(len(voted))[:, None] * c + counter.codes.astype(np.int64)
    column = np.broadcast_to(np.arange(counter.n_columns), voted.shape)[voted]
    ones = np.ones(len(column), dtype=np.float32)
    return csc_array((ones, (place[voted], column)), (len(voted) * c, counter.n_columns))


def _soft_design(counter: SoftErrorCounter) -> npt.NDArray[np.float32]:
    by_class = counter.values.transpose(0, 2, 1).astype(np.float32)
    return np.ascontiguousarray(by_class).reshape(-1, counter.n_columns)


def logistic_loss(margins: Floats, share: Floats) -> tuple[float, Floats]:
    """Mean of ``log(1 + exp(-margin))`` and its gradient."""
    return float(share @ np.logaddexp(0.0, -margins)), -share * expit(-margins)


def softmax_loss(totals: Floats, labels: npt.NDArray[np.intp], share: Floats) -> tuple[float, Floats]:
    """Mean cross entropy of the softmax of the class totals, given flat, and its gradient, flat."""
    by_row = totals.reshape(len(labels), -1)
    rows = np.arange(len(labels))
    by_row = by_row - by_row.max(axis=1, keepdims=True)
    gradient = np.exp(by_row)
    norm = gradient.sum(axis=1)
    loss = np.log(norm) - by_row[rows, labels]
    gradient *= (share / norm)[:, None]
    gradient[rows, labels] -= share
    return float(share @ loss), gradient.ravel()


def stacking_path(problem: StackingProblem, penalties: Sequence[Penalty]) -> list[Floats]:
    """Weights of the columns for each penalty, each started from the one before.

    Examples
    --------
    >>> votes = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    >>> problem = StackingProblem(votes, lambda margins: logistic_loss(margins, np.full(5, 0.2)), np.ones(2))
    >>> strong, weak = stacking_path(problem, (Penalty(l1=0.2), Penalty(l1=0.05)))
    >>> bool(strong[1] == 0.0 < strong[0] < weak[0])
    True
    """
    x = np.zeros(problem.design.shape[1])
    path = []
    for penalty in penalties:
        x = _solve(problem, penalty, x)
        path.append(x)
    return path


def _solve(problem: StackingProblem, penalty: Penalty, start: Floats) -> Floats:
    if penalty.l1 == 0:
        return _minimise(problem, penalty, start, np.arange(len(start)))
    x = start.copy()
    price = penalty.l1 * problem.penalised
    working = np.flatnonzero((x > 0) | (problem.penalised < 1))
    for _ in range(_MAX_ROUNDS):
        if len(working):
            x[working] = _minimise(problem, penalty, x[working], working)
        slope = _loss_and_slope(problem, problem.design, x)[1] + price
        slope[working] = 0.0
        candidates = np.argsort(slope, kind="stable")[:_NEW_COLUMNS]
        added = candidates[slope[candidates] < -_TOLERANCE * price[candidates]]
        if not len(added):
            break
        working = np.sort(np.concatenate([working, added]))
    return x


def _loss_and_slope(problem: StackingProblem, design: Any, x: Floats) -> tuple[float, Floats]:
    """Mean loss and its gradient in the weights of the columns of this part of the design."""
    problem.budget.check()
    value, residual = problem.loss(_times(design, x))
    return value, _times(design.T, residual)


def _times(matrix: Any, vector: Floats) -> Floats:
    # BLAS may compute on unused lanes of its registers and report what happens there
    with np.errstate(all="ignore"):
        return np.asarray(matrix @ vector.astype(np.float32), dtype=np.float64)


def _minimise(
    problem: StackingProblem, penalty: Penalty, start: Floats, working: npt.NDArray[np.intp]
) -> Floats:
    """Minimise F over the weights of the working columns, the others being zero."""
    design = problem.design if len(working) == len(problem.penalised) else problem.design[:, working]
    l1, l2 = penalty.l1 * problem.penalised[working], penalty.l2 * problem.penalised[working]

    def objective(x: Floats) -> tuple[float, Floats]:
        value, slope = _loss_and_slope(problem, design, x)
        return value + float(l1 @ x + l2 @ (x * x) / 2), slope + l1 + l2 * x

    tolerance = 0.01 * penalty.l1 if penalty.l1 > 0 else _L2_TOLERANCE
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, _LARGEST_WEIGHT)] * len(start),
        options={"maxiter": _MAX_ITERATIONS, "maxcor": 20, "ftol": 1e-8, "gtol": tolerance},
    )
    return np.asarray(found.x)

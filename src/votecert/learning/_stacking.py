r"""Stacking weights: non-negative logistic or softmax regression on the votes, along a path of L1 penalties.

With weights x >= 0 for the columns of an electorate, ``T_k = sum of x_j over columns that vote k`` and

.. math:: F_\lambda(x) = \frac1m \sum_{rows} \Bigl(\log\sum_k e^{T_k} - T_y\Bigr) + \lambda \sum_j x_j

is convex. For two classes the row loss is ``log(1 + exp(-margin))``. Only a few columns end up with weight,
so the problem is solved on a working set of columns that grows until no other column would lower F.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csc_array
from scipy.special import expit, logsumexp

from votecert.learning._electorate import BinaryElectorate, PluralElectorate
from votecert.learning._soft_electorate import SoftElectorate

Floats = npt.NDArray[np.float64]
Fittable = BinaryElectorate | PluralElectorate | SoftElectorate

PENALTIES = (0.02, 0.005, 0.0015, 0.0005, 0.00015)
"""L1 penalties of the path, largest first."""

_LARGEST_WEIGHT = 50.0
_CONSTANTS_PENALTY = 0.01  # of that of the voters: an intercept should be almost free, but finite
_NEW_COLUMNS = 64
_MAX_ROUNDS = 12
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
    """

    design: Any
    loss: Callable[[Floats], tuple[float, Floats]]
    penalised: Floats


def stacking_weights(electorate: Fittable, penalties: Sequence[float] = PENALTIES) -> list[Floats]:
    """Weights of voters and constants, (d + c,), for each penalty; some class has no constant votes."""
    found = [electorate.by_voter(x) for x in stacking_path(stacking_problem(electorate), penalties)]
    for weights in found:
        weights[electorate.n_voters :] -= weights[electorate.n_voters :].min()
    return found


def stacking_problem(electorate: Fittable) -> StackingProblem:
    """The regression of the true labels on the votes of an electorate."""
    share = electorate.counts / electorate.n_rows
    penalised = np.ones(electorate.n_columns)
    penalised[electorate.column_of[electorate.n_voters :]] = _CONSTANTS_PENALTY
    if isinstance(electorate, BinaryElectorate):
        design = np.where(electorate.right, np.float32(1), np.float32(-1))
        return StackingProblem(design, lambda margins: logistic_loss(margins, share), penalised)
    design = _soft_design(electorate) if isinstance(electorate, SoftElectorate) else _hard_design(electorate)
    return StackingProblem(design, lambda totals: softmax_loss(totals, electorate.labels, share), penalised)


def _hard_design(electorate: PluralElectorate) -> Any:
    """Which class (a row of the design) each column votes for, on every row of votes."""
    c = electorate.n_classes
    voted = electorate.codes < c
    place = np.arange(len(voted))[:, None] * c + electorate.codes.astype(np.int64)
    column = np.broadcast_to(np.arange(electorate.n_columns), voted.shape)[voted]
    ones = np.ones(len(column), dtype=np.float32)
    return csc_array((ones, (place[voted], column)), (len(voted) * c, electorate.n_columns))


def _soft_design(electorate: SoftElectorate) -> npt.NDArray[np.float32]:
    by_class = electorate.values.transpose(0, 2, 1).astype(np.float32)
    return np.ascontiguousarray(by_class).reshape(-1, electorate.n_columns)


def logistic_loss(margins: Floats, share: Floats) -> tuple[float, Floats]:
    """Mean of ``log(1 + exp(-margin))`` and its gradient."""
    return float(share @ np.logaddexp(0.0, -margins)), -share * expit(-margins)


def softmax_loss(totals: Floats, labels: npt.NDArray[np.intp], share: Floats) -> tuple[float, Floats]:
    """Mean cross entropy of the softmax of the class totals, given flat, and its gradient, flat."""
    by_row = totals.reshape(len(labels), -1)
    rows = np.arange(len(labels))
    norm = logsumexp(by_row, axis=1)
    gradient = np.exp(by_row - norm[:, None])
    gradient[rows, labels] -= 1.0
    return float(share @ (norm - by_row[rows, labels])), (gradient * share[:, None]).ravel()


def stacking_path(
    problem: StackingProblem, penalties: Sequence[float], max_iterations: int = 200
) -> list[Floats]:
    """Weights of the columns for each penalty, largest first, each started from the one before.

    Examples
    --------
    >>> votes = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0], [1.0, -1.0]])
    >>> loss = lambda margins: logistic_loss(margins, np.full(5, 0.2))
    >>> strong, weak = stacking_path(StackingProblem(votes, loss, np.ones(2)), (0.2, 0.05))
    >>> bool(strong[1] == 0.0 < strong[0] < weak[0])
    True
    """
    x = np.zeros(problem.design.shape[1])
    path = []
    for penalty in penalties:
        x = _solve(problem, penalty * problem.penalised, x, max_iterations)
        path.append(x)
    return path


def _solve(problem: StackingProblem, penalties: Floats, start: Floats, max_iterations: int) -> Floats:
    x = start.copy()
    working = np.flatnonzero((x > 0) | (penalties < penalties.max()))
    for _ in range(_MAX_ROUNDS):
        if len(working):
            x[working] = _minimise(problem, penalties[working], x[working], working, max_iterations)
        slope = _slope(problem, x) + penalties
        slope[working] = 0.0
        candidates = np.argsort(slope, kind="stable")[:_NEW_COLUMNS]
        added = candidates[slope[candidates] < -_TOLERANCE * penalties[candidates]]
        if not len(added):
            break
        working = np.sort(np.concatenate([working, added]))
    return x


def _slope(problem: StackingProblem, x: Floats) -> Floats:
    """Gradient of the mean loss in all weights."""
    _, residual = problem.loss(_times(problem.design, x))
    return _times(problem.design.T, residual)


def _times(matrix: Any, vector: Floats) -> Floats:
    return np.asarray(matrix @ vector.astype(np.float32), dtype=np.float64)


def _minimise(
    problem: StackingProblem,
    penalties: Floats,
    start: Floats,
    working: npt.NDArray[np.intp],
    max_iterations: int,
) -> Floats:
    design = problem.design[:, working]

    def objective(x: Floats) -> tuple[float, Floats]:
        value, residual = problem.loss(_times(design, x))
        return value + float(penalties @ x), _times(design.T, residual) + penalties

    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, _LARGEST_WEIGHT)] * len(start),
        options={
            "maxiter": max_iterations,
            "maxcor": 20,
            "ftol": 1e-9,
            "gtol": 1e-3 * float(penalties.max()),
        },
    )
    return np.asarray(found.x)

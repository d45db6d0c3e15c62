"""The fitted list: a few weighted votes fitted on rows that do not certify them.

Each is one hypothesis, however many numbers it consists of, so it costs its share of delta and nothing else.
Weights are stored as whole numbers: the same votes give the same label on every machine.
"""

from __future__ import annotations

import numpy as np

from votecert.bounds.base import Floats
from votecert.bounds.occam import MEMBERS
from votecert.learning._error_counter import ErrorCounter, error_counter
from votecert.learning._fitting_rows import FittingRows
from votecert.learning._stacking import stacking_weights
from votecert.learning._starts import log_odds_weights
from votecert.learning.budget import Budget
from votecert.rows.patterns import IntArray
from votecert.rows.read import Rows
from votecert.rows.scores import Scores

RESOLUTION = 1_000_000
"""Votes of the largest fitted weight."""

FITTED_ENTRIES = 1 << 22
"""Votes that real weights are fitted on."""


def fit_members(
    rows: Rows,
    budget: Budget,
    *,
    classes_declared: bool,
    abstention_declared: bool,
    missing_is_unasked: bool = False,
) -> dict[str, IntArray]:
    """Fit the :data:`~votecert.bounds.occam.MEMBERS` on rows that will not certify them.

    Parameters
    ----------
    rows : Ballots or Scores
        The fitting rows. Nothing but them and what was declared decides what is fitted; see
        :mod:`votecert.learning._fitting_rows`.
    budget : Budget
        Gets progress, ends the fit when its time is over.
    classes_declared, abstention_declared : bool
        Whether the classes, and whether voters abstain, were declared.
    missing_is_unasked : bool, default=False
        As for :func:`fit_list`.

    Returns
    -------
    dict
        By name, votes of length d + c: the voters, then the constants. Empty for scores of undeclared classes
        of which some do not occur: then these rows alone do not tell which place stands for which label.
    """
    if isinstance(rows, Scores):
        if not classes_declared and len(np.unique(rows.labels)) < rows.n_classes:
            return {}
        return fit_list(error_counter(rows, FITTED_ENTRIES), budget)
    fitting = FittingRows.of(rows, classes_declared, abstention_declared, budget)
    fitted = fit_list(
        fitting.error_counter(FITTED_ENTRIES),
        budget,
        missing_is_unasked=missing_is_unasked and fitting.can_abstain,
    )
    return {name: fitting.with_all_classes(votes) for name, votes in fitted.items()}


def fit_list(
    counter: ErrorCounter, budget: Budget | None = None, *, missing_is_unasked: bool = False
) -> dict[str, IntArray]:
    """Fit the :data:`~votecert.bounds.occam.MEMBERS` on an counter of rows that will not certify them.

    Parameters
    ----------
    counter : ErrorCounter
        The fitting rows.
    budget : Budget, optional
        Gets progress, ends the fit when its time is over.
    missing_is_unasked : bool, default=False
        Whether voters whose vote is missing on a fitting row would vote on a new one, as out of bag. By
        default they are taken to abstain there just as often.

    Returns
    -------
    dict
        By name, votes of length d + c: the voters, then the constants.

    Notes
    -----
    *best single*: the voter with fewest errors. *log-odds*: weights of independent voters with their error
    rates. *stacking*: non-negative logistic (two classes) or softmax regression with L1 penalties.

    Examples
    --------
    >>> from votecert.rows.ballots import Ballots
    >>> from votecert.learning._error_counter import error_counter
    >>> votes = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 0], [1, 1, 0]] * 5)
    >>> fitted = fit_list(error_counter(Ballots.from_votes(votes, [0, 1, 0, 1] * 5)))
    >>> fitted["best single"].tolist()
    [1, 0, 0, 0, 0]
    """
    budget = budget or Budget()
    d, c = counter.n_voters, counter.n_classes
    log_odds = log_odds_weights(counter)  # of the votes that were cast
    single = np.zeros(d + c)
    single[np.argmax(log_odds[:d]) if missing_is_unasked else np.argmin(counter.voter_errors())] = 1.0
    budget.tell(stage="fitted list")
    stacked = stacking_weights(counter, missing_is_unasked=missing_is_unasked, budget=budget)
    weights = [single, log_odds, *stacked]
    budget.tell(stage="fitted list")
    return {name: whole_numbers(w, d) for name, w in zip(MEMBERS, weights, strict=True)}


def whole_numbers(weights: Floats, n_voters: int) -> IntArray:
    """Real weights as whole numbers of votes, the largest a million.

    Where no voter has any weight the vote is a constant: then everybody has one vote and is outvoted.

    Examples
    --------
    >>> whole_numbers(np.array([0.5, 0.25, 0.0, 0.125]), n_voters=2).tolist()
    [4, 2, 0, 1]
    >>> whole_numbers(np.array([0.0, 0.0, 0.0, 0.1]), n_voters=2).tolist()
    [1, 1, 0, 3]
    """
    votes: IntArray = np.rint(weights / max(weights.max(), np.finfo(np.float64).tiny) * RESOLUTION).astype(
        np.int64
    )
    if votes[:n_voters].any():
        return np.asarray(votes // np.gcd.reduce(votes))
    constant = np.zeros_like(votes)
    constant[:n_voters] = 1
    constant[n_voters + int(np.argmax(weights[n_voters:]))] = n_voters + 1
    return constant

"""Which rows fit the members, which certify the vote, and which a prior is learned on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from votecert.bounds.base import Bound, Floats, Indices
from votecert.bounds.gibbs import SecondOrder
from votecert.certificate.out_of_bag import lowest_weights
from votecert.classifier.parameters import Prior
from votecert.learning.learn import learn
from votecert.rows.ballots import Ballots
from votecert.voters.panels import Panel
from votecert.voters.stumps import DecisionStumps

N_FOLDS = 5
"""Folds for out-of-fold votes."""

NEVER_HELD_OUT = -1
"""The fold of rows that are the only ones of their class."""

UNIFORM_SHARE = 0.1
"""Share of uniform weights in a prior's centre that was learned."""


def voters_are_fixed(estimator: Any) -> bool:
    """Whether fitting the ensemble leaves its voters as they are, so that every row may certify.

    Examples
    --------
    >>> voters_are_fixed(DecisionStumps(ranges=(0, 1))), voters_are_fixed(DecisionStumps())
    (True, False)
    """
    if isinstance(estimator, DecisionStumps):
        return not estimator.depends_on_rows
    if isinstance(estimator, Pipeline):
        *steps, (_, last) = estimator.steps
        return all(_is_frozen(step) for _, step in steps) and voters_are_fixed(last)
    if isinstance(estimator, VotingClassifier | StackingClassifier):
        return all(member == "drop" or _is_frozen(member) for _, member in estimator.estimators)
    return _is_frozen(estimator)


def _is_frozen(estimator: Any) -> bool:
    if isinstance(estimator, Pipeline):
        return all(_is_frozen(step) for _, step in estimator.steps)
    return isinstance(estimator, FrozenEstimator) or estimator is None or estimator == "passthrough"


def split_rows(
    labels: NDArray[Any],
    certify_size: float,
    random: np.random.RandomState,
    weighted: NDArray[np.bool_] | None = None,
) -> tuple[Indices, Indices]:
    """Rows to fit on and rows to certify.

    Rows are taken one after the other in a random order, to fit on until they are enough and of two classes,
    all others to certify. So when to stop depends on rows to fit on only, and given those the others are
    still independent draws: a stratified split would not leave them so.

    Parameters
    ----------
    labels : (n,) array
        True labels, of two classes or more.
    certify_size : float
        Share of the rows that certify; fewer do if the first rows to fit on are all of one class.
    random : RandomState
        Draws the order.
    weighted : (n,) array of bool, optional
        Rows that members do see when they are fitted: those whose sample weight is positive.

    Examples
    --------
    >>> [part.tolist() for part in split_rows(np.array([0, 1] * 3), 0.5, np.random.RandomState(0))]
    [[0, 3, 4], [1, 2, 5]]
    >>> [part.tolist() for part in split_rows(np.array([1, 0, 1, 1, 1, 0]), 0.5, np.random.RandomState(0))]
    [[0, 1, 3, 4], [2, 5]]
    """
    n = len(labels)
    if n < 4:
        raise ValueError(
            f"Found array with n_samples = {n} sample(s) while a minimum of 4 is required: "
            "members are fitted on some rows and certified on others."
        )
    order = random.permutation(n)[::-1]
    n_certify = min(max(round(certify_size * n), 1), n - 2)
    seen = order if weighted is None else order[weighted[order]]
    second = seen[np.argmax(labels[seen] != labels[seen[0]])]  # the first row of another class
    n_fit = max(n - n_certify, int(np.argmax(order == second)) + 1)
    if n_fit == n:
        raise ValueError(
            "All rows but one are of one class, so there are no two classes to fit members on and another "
            "row to certify them: give two rows or more of a second class."
        )
    return np.sort(order[:n_fit]), np.sort(order[n_fit:])


def where_to_learn(prior: Prior, panel: Panel, *, voting: str, fixed: bool, has_list: bool) -> Prior:
    """What ``prior`` comes to for the members of a fitted ensemble: "oob", "cv", "split" or "none".

    Parameters
    ----------
    has_list : bool
        Whether the objective has a list of votes to fit; the others only have a centre of their prior.
    """
    if fixed and prior in ("oob", "cv"):
        raise ValueError(
            f"prior={prior!r} needs rows that the voters were fitted on, but these voters are fixed and all "
            "rows certify them. Use prior='split' or 'none'."
        )
    if prior == "oob" and voting == "soft":
        raise ValueError(
            "prior='oob' is for hard votes; use prior='cv', 'split' or 'none' with voting='soft'."
        )
    if prior == "split" and not has_list:
        raise ValueError("prior='split' is for the objective 'occam'; others take 'cv', 'oob' or 'none'.")
    if prior != "auto":
        return prior
    if not fixed and panel.mixed:
        return "cv"
    return "split" if has_list else "none"


def prior_centre(
    votes: NDArray[Any], y: NDArray[Any], objective: Bound, where: Prior, **options: Any
) -> Floats:
    """A prior over voters from other rows: weights learned there, mixed with uniform ones.

    The mixture keeps the prior of every voter positive: a voter that did badly there is not lost. Out-of-bag
    votes give weights with a small bound on the errors of pairs of voters: other objectives would take a vote
    that is missing in the bag for a wrong one.
    """
    if where == "oob":
        ballots = Ballots.from_votes(votes, y, classes=options["classes"], can_abstain=True)
        weights = lowest_weights(ballots, SecondOrder(out_of_bag=True), options["delta"], None)
    else:
        weights = learn(votes, y, objective=objective, **options).weights
    return np.asarray((1 - UNIFORM_SHARE) * len(weights) * weights + UNIFORM_SHARE)


def out_of_fold(
    ask: Callable[[Indices, Indices], NDArray[Any]], fitting: Indices, y: NDArray[Any], seed: int
) -> tuple[NDArray[Any], Indices]:
    """Answers on fitting rows that were not used for them, and those rows.

    Parameters
    ----------
    ask : function
        Gets rows to fit on and rows to answer on; gives the answers, one row each.
    """
    answers, asked = [], []
    fold = _folds(y[fitting], seed)
    for held_out in np.unique(fold[fold != NEVER_HELD_OUT]):
        answers.append(ask(fitting[fold != held_out], fitting[fold == held_out]))
        asked.append(fitting[fold == held_out])
    if not answers:
        raise ValueError(
            "No class has two rows among those that the members are fitted on, so there are no out-of-fold "
            "votes; give more rows, or use prior='split' or 'none'."
        )
    if len({part.shape[1] for part in answers}) > 1:
        raise ValueError(
            "The number of members differs from fold to fold, so out-of-fold votes are not those of the same "
            "members; use prior='split' or 'none'."
        )
    return np.concatenate(answers), np.concatenate(asked)


def _folds(labels: NDArray[Any], seed: int) -> Indices:
    """A fold for each row, such that every class is in every fitting part: a lonely row is never held out.

    These rows do not certify, so their labels may be looked at.

    Examples
    --------
    >>> _folds(np.array(["a"] * 5 + ["b"] * 2 + ["a"] * 3), seed=0).tolist()
    [0, 2, 1, 3, 0, 4, 3, 2, 1, 4]
    >>> _folds(np.array(["a", "a", "b"]), seed=0).tolist()
    [0, 1, -1]
    """
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % N_FOLDS
    _, which, rows = np.unique(labels, return_inverse=True, return_counts=True)
    fold[rows[which] == 1] = NEVER_HELD_OUT
    return fold

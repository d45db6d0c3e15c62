"""Which rows fit the members, which certify the vote, and which a prior is learned on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from votecert._panels import panel_of
from votecert.bounds.base import Bound
from votecert.learning.learn import learn
from votecert.stumps import DecisionStumps

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Prior = Literal["auto", "oob", "cv", "split", "none"]

PRIORS = ("auto", "oob", "cv", "split", "none")

N_FOLDS = 5
"""Folds for out-of-fold votes."""

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
        return all(_is_frozen(step) for _, step in estimator.steps[:-1]) and voters_are_fixed(
            estimator.steps[-1][1]
        )
    if isinstance(estimator, VotingClassifier | StackingClassifier):
        return all(member == "drop" or _is_frozen(member) for _, member in estimator.estimators)
    return _is_frozen(estimator)


def _is_frozen(estimator: Any) -> bool:
    if isinstance(estimator, Pipeline):
        return all(_is_frozen(step) for _, step in estimator.steps)
    return isinstance(estimator, FrozenEstimator) or estimator is None or estimator == "passthrough"


def split_rows(n: int, certify_size: float, random: np.random.RandomState) -> tuple[Indices, Indices]:
    """Rows to fit on and rows to certify, drawn without looking at them.

    Examples
    --------
    >>> [part.tolist() for part in split_rows(6, 0.5, np.random.RandomState(0))]
    [[0, 3, 4], [1, 2, 5]]
    """
    if n < 4:
        raise ValueError(
            f"Found array with n_samples = {n} sample(s) while a minimum of 4 is required: "
            "members are fitted on some rows and certified on others."
        )
    order = random.permutation(n)
    n_certify = min(max(round(certify_size * n), 1), n - 2)
    return np.sort(order[n_certify:]), np.sort(order[:n_certify])


def where_to_learn(prior: Prior, ensemble: Any, *, voting: str, fixed: bool, has_list: bool) -> Prior:
    """What ``prior`` comes to for a fitted ensemble: "oob", "cv", "split" or "none".

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
    if prior in ("oob", "split") and not has_list:
        raise ValueError(f"prior={prior!r} is for the objective 'occam'; others take 'cv' or 'none'.")
    if prior != "auto":
        return prior
    source = panel_of(ensemble).source
    if not fixed and isinstance(source, VotingClassifier | StackingClassifier | DecisionStumps):
        return "cv"
    return "split" if has_list else "none"


def prior_centre(votes: NDArray[Any], y: NDArray[Any], objective: str | Bound, **options: Any) -> Floats:
    """A prior over voters from other rows: weights learned there, mixed with uniform ones.

    The mixture keeps the prior of every voter positive: a voter that did badly there is not lost.
    """
    weights = learn(votes, y, objective=objective, **options).weights
    d = len(weights)
    return np.asarray((1 - UNIFORM_SHARE) * d * weights + UNIFORM_SHARE)


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
    for held_out in np.unique(fold):
        answers.append(ask(fitting[fold != held_out], fitting[fold == held_out]))
        asked.append(fitting[fold == held_out])
    if len({part.shape[1] for part in answers}) > 1:
        raise ValueError(
            "The number of members differs from fold to fold, so out-of-fold votes are not those of the same "
            "members; use prior='split' or 'none'."
        )
    return np.concatenate(answers), np.concatenate(asked)


def _folds(labels: NDArray[Any], seed: int) -> Indices:
    """A fold for each row, such that two rows of a class suffice for it to be in every fitting part.

    These rows do not certify, so their labels may be looked at.

    Examples
    --------
    >>> _folds(np.array(["a"] * 5 + ["b"] * 2 + ["a"] * 3), seed=0).tolist()
    [0, 2, 1, 3, 0, 4, 3, 2, 1, 4]
    """
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), dtype=np.intp)
    fold[order] = np.arange(len(labels)) % N_FOLDS
    return fold

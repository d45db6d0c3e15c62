"""The classifier's parameters: what it refuses before any work is done, and what they come to."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from votecert.bounds import find_bound
from votecert.bounds.base import Bound
from votecert.rows.read import check_delta
from votecert.voters.panels import Panel

Prior = Literal["auto", "oob", "cv", "split", "none"]


def check_parameters(classifier: Any) -> None:
    """Refuse parameters of a CertifiedVotingClassifier that make no sense, alone or together."""
    check_delta(classifier.delta)
    if not 0 < classifier.certify_size < 1:
        raise ValueError(
            f"certify_size must be between 0 and 1, both excluded, not {classifier.certify_size!r}."
        )
    for name, known in (("voting", ("hard", "soft")), ("prior", get_args(Prior))):
        if getattr(classifier, name) not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {getattr(classifier, name)!r}.")
    if classifier.estimator is not None and not hasattr(classifier.estimator, "fit"):
        raise TypeError(
            f"estimator must be a scikit-learn classifier, not a {type(classifier.estimator).__name__}. Put "
            "several models into a VotingClassifier, each in a FrozenEstimator if they are fitted already."
        )
    objective, bound = single_bound(classifier.objective), single_bound(classifier.bound)
    if classifier.objective != "uniform" and bound is not None and "learned" not in bound.origins:
        raise ValueError(
            f"bound={bound.id!r} does not cover weights learned on the certifying rows. Leave bound out, or "
            "use objective='uniform'."
        )
    _refuse_unused(classifier)
    if classifier.voting == "soft":
        for used in (objective, bound):
            if used is not None and not used.counts_errors:
                raise ValueError(f"The bound {used.id!r} does not cover soft votes; use 'occam'.")


def _refuse_unused(classifier: Any) -> None:
    """Refuse parameters that the objective has no use for."""
    if classifier.objective == "uniform":
        for name, usual in (("prior", ("auto", "none")), ("time_budget", (None,))):
            if (value := getattr(classifier, name)) not in usual:
                raise ValueError(
                    f"{name}={value!r} would be ignored here: objective='uniform' learns nothing. Leave it "
                    "out, or use another objective."
                )
    if classifier.objective == "best" and classifier.prior in ("oob", "cv"):
        raise ValueError(
            f"prior={classifier.prior!r} would be ignored here: objective='best' tries several bounds. Use "
            "'split' or 'none', or one bound as objective."
        )


def seeded(ensemble: Any, seed: int) -> Any:
    """A clone with the seed wherever a ``random_state`` was left to chance.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> seeded(BaggingClassifier(DecisionTreeClassifier(random_state=3)), 7)
    BaggingClassifier(estimator=DecisionTreeClassifier(random_state=3), random_state=7)
    """
    copy = clone(ensemble)
    given = copy.get_params()
    left = [name for name in given if name.split("__")[-1] == "random_state" and given[name] is None]
    copy.set_params(**dict.fromkeys(left, seed))
    return copy


def single_bound(named: str | Bound | None) -> Bound | None:
    """The bound that a parameter names, or None if it does not stand for a single one."""
    return None if named is None or named in ("uniform", "best") else find_bound(named)


def read_labels(y: Any, sample_weight: Any) -> NDArray[Any]:
    """The labels as an array; at least two classes, also among the rows with a positive weight."""
    labels = np.asarray(column_or_1d(y, warn=True))
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    if len(np.unique(labels)) < 2:
        raise ValueError("CertifiedVotingClassifier needs two classes or more, but y has one class only.")
    if sample_weight is not None:
        check_consistent_length(labels, sample_weight)
        if len(np.unique(labels[np.asarray(sample_weight) > 0])) < 2:
            raise ValueError("sample_weight leaves one class only; two or more need positive weights.")
    return labels


def voter_names(panel: Panel) -> list[str] | None:
    """Names of the voters, if the ensemble has any for them."""
    named = getattr(panel.source, "estimators", None)
    return None if named is None else [name for name, member in named if member != "drop"]

"""Fitted ensembles taken apart: a panel is their classes, their members, and what members get to see.

Members of scikit-learn's ensembles answer in labels or in codes of the labels, on all features or some of
them, on data frames or on the arrays that the ensemble makes of them. Here each kind is put right once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from votecert.voters import third_party
from votecert.voters.members import (
    TREES,
    ForestTree,
    Labels,
    SingleVoter,
    StumpVoters,
    classes_of,
    labelled_voter,
    member_voter,
)
from votecert.voters.stumps import DecisionStumps

Prepare = Callable[[Any], Any]
Member = SingleVoter | StumpVoters | third_party.XGBTrees


@dataclass(frozen=True)
class Panel:
    """Classes in their fixed order, members, and how rows are made ready for them.

    ``source`` is the ensemble that the members belong to, once pipelines and searches are taken off,
    ``mixed`` says that its members differ in kind, and ``caution`` what a user may not expect of them.
    """

    classes: Labels
    members: tuple[Member, ...]
    source: Any = None
    prepare: Prepare | None = None
    mixed: bool = False
    caution: str = ""

    @property
    def n_voters(self) -> int:
        """How many voters, d."""
        return sum(member.n_voters for member in self.members)

    def ready(self, X: Any) -> Any:
        """The rows as the members get to see them."""
        return X if self.prepare is None else self.prepare(X)

    def warn(self) -> None:
        """Say what a user may not expect, at the line that called the caller."""
        if self.caution:
            warnings.warn(self.caution, stacklevel=3)


def panel_of(ensemble: Any) -> Panel:
    """Take a fitted ensemble, or a list of fitted classifiers, apart."""
    if isinstance(ensemble, list | tuple):
        return _panel_of_list(ensemble)
    if isinstance(ensemble, FrozenEstimator):
        return panel_of(ensemble.estimator)
    if isinstance(ensemble, Pipeline):
        return _panel_of_pipeline(ensemble)
    if hasattr(ensemble, "best_estimator_"):
        return panel_of(ensemble.best_estimator_)
    return _panel_of_ensemble(ensemble)


def _panel_of_ensemble(ensemble: Any) -> Panel:
    name = type(ensemble).__name__
    classes = classes_of(ensemble, name)
    if isinstance(ensemble, DecisionStumps):
        return Panel(classes, (StumpVoters(ensemble),), ensemble, mixed=True)
    if isinstance(ensemble, VotingClassifier | StackingClassifier):
        cv = getattr(ensemble, "cv", None)
        prefit = isinstance(cv, str) and cv == "prefit"
        caution = _not_the_stack(name) if isinstance(ensemble, StackingClassifier) else ""
        members = _members(ensemble, encoded=not prefit)
        return Panel(classes, members, ensemble, mixed=True, caution=caution)
    # These hand arrays to their members, so rows are converted once and in the way they do it themselves.
    if isinstance(ensemble, RandomForestClassifier | ExtraTreesClassifier):
        return _panel_of_forest(ensemble)
    if isinstance(ensemble, BaggingClassifier):
        convert = _converter(ensemble, dtype=None, accept_sparse=["csr", "csc"], ensure_all_finite=False)
        return Panel(classes, _members(ensemble, encoded=True), ensemble, convert)
    if isinstance(ensemble, AdaBoostClassifier):
        convert = _converter(ensemble, dtype=None, accept_sparse=["csr", "csc"], allow_nd=True)
        return Panel(classes, _members(ensemble, encoded=False), ensemble, convert)
    if found := third_party.members_of(ensemble, name, classes):
        caution = _not_the_stack(name) if third_party.is_stack(ensemble) else ""
        mixed = third_party.is_from(ensemble, "mlxtend")
        return Panel(classes, found, ensemble, mixed=mixed, caution=caution)
    return Panel(classes, (labelled_voter(ensemble, name, classes),), ensemble, caution=_one_voter(ensemble))


def _not_the_stack(name: str) -> str:
    return (
        f"The members of {name} vote here, and its final classifier has no say: a certificate of their vote "
        "is not about the stack's predictions. For these let the stack be one voter: put it in a list, "
        "[stack], or in a VotingClassifier."
    )


def _one_voter(model: Any) -> str:
    boosted = isinstance(model, GradientBoostingClassifier | HistGradientBoostingClassifier)
    if boosted or any(third_party.is_from(model, library) for library in third_party.BOOSTING):
        why = "the outputs of its trees are added up, and are no votes"
    else:
        why = "it has no members whose votes are counted"
    return (
        f"{type(model).__name__} is one voter: {why}. One voter that casts labels has no weights to learn, "
        "so certify gives the exact test-set bound. If that is what you want, say so by putting it in a "
        "list, [model], or in a VotingClassifier; there it can also vote with others."
    )


def _panel_of_forest(forest: RandomForestClassifier | ExtraTreesClassifier) -> Panel:
    takes_missing = get_tags(forest).input_tags.allow_nan and forest.monotonic_cst is None

    def convert(X: Any) -> Any:
        finite: Any = "allow-nan" if takes_missing and not issparse(X) else True
        options = {"dtype": np.float32, "accept_sparse": "csr", "ensure_all_finite": finite}
        return validate_data(forest, X, reset=False, **options)

    # Checked once for all trees, as the forest does it: a tree's own check can take as long as its vote.
    trees = [replace(tree, options={"check_input": False}) for tree in _members(forest, encoded=True)]
    trees = [ForestTree(**vars(tree)) if type(tree.estimator) in TREES else tree for tree in trees]
    return Panel(forest.classes_, tuple(trees), forest, convert)


def _panel_of_list(entries: Sequence[Any]) -> Panel:
    if not entries:
        raise ValueError("The list of classifiers is empty; it needs at least one fitted classifier.")
    voters: list[tuple[str, Any]] = []
    for position, entry in enumerate(entries):
        named = isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str)
        label, estimator = entry if named else (position, entry)
        voters.append((f"Voter {label!r} ({type(estimator).__name__})", estimator))
    own = [classes_of(estimator, name) for name, estimator in voters]
    if len({labels.dtype.kind in "OSU" for labels in own}) > 1:
        raise TypeError(
            "Some voters were fitted on text labels, others on numbers; fit all on the same labels."
        )
    classes = np.unique(np.concatenate(own))
    return Panel(classes, tuple(labelled_voter(estimator, name, classes) for name, estimator in voters))


def _panel_of_pipeline(pipeline: Pipeline) -> Panel:
    panel = panel_of(pipeline.steps[-1][1])
    # Samplers choose the rows to fit on, and leave alone what is predicted.
    steps = [entry for entry in pipeline.steps[:-1] if not hasattr(entry[1], "fit_resample")]
    if not steps:
        return panel
    before = pipeline[:-1] if len(steps) == len(pipeline.steps) - 1 else Pipeline(steps)
    return replace(panel, prepare=lambda X: panel.ready(before.transform(X)))


def _converter(ensemble: Any, **options: Any) -> Prepare:
    return lambda X: validate_data(ensemble, X, reset=False, **options)


def _members(ensemble: Any, encoded: bool) -> tuple[SingleVoter, ...]:
    """The members of a scikit-learn ensemble, fitted on codes of its classes or on its labels."""
    features = getattr(ensemble, "estimators_features_", [None] * len(ensemble.estimators_))
    members = []
    for position, (estimator, columns) in enumerate(zip(ensemble.estimators_, features, strict=True)):
        saw_codes = encoded and not _keeps_its_labels(estimator)
        member = member_voter(estimator, position, ensemble, ensemble.classes_, saw_codes)
        if columns is not None and not np.array_equal(columns, np.arange(ensemble.n_features_in_)):
            member = replace(member, features=columns)
        members.append(member)
    return tuple(members)


def _keeps_its_labels(estimator: Any) -> bool:
    """Whether fitting the ensemble left this member alone, so that it never saw codes."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return isinstance(estimator, FrozenEstimator)

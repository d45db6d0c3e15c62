"""Fitted ensembles taken apart: a panel is their classes, their members, and what members get to see.

Members of scikit-learn's ensembles answer in labels or in codes of the labels, on all features or some of
them, on data frames or on the arrays that the ensemble makes of them. Here each kind is put right once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
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
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from votecert.voters.stumps import DecisionStumps

Labels = NDArray[Any]
Codes = NDArray[np.unsignedinteger[Any]]
Floats = NDArray[np.float64]
Prepare = Callable[[Any], Any]

TREES = (DecisionTreeClassifier, ExtraTreeClassifier)
"""Trees whose ways are known, exact types: a derived class may fit or look in a way of its own."""


@dataclass(frozen=True)
class SingleVoter:
    """One fitted classifier. It gives votes, class codes of the panel, and scores, class probabilities.

    ``own`` are its classes in the order of its probabilities, ``codes`` what they are in the panel.
    ``encoded`` says that it was fitted on codes of the panel's classes, not on labels; ``options`` go
    to its methods.
    """

    estimator: Any
    name: str
    own: Labels
    codes: Codes
    n_classes: int
    encoded: bool = False
    features: NDArray[np.integer[Any]] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    n_voters: int = 1

    def votes(self, X: Any) -> Codes:
        said = np.asarray(self.estimator.predict(self.own_columns(X), **self.options))
        if said.ndim == 2 and said.shape[1] == 1:
            said = said[:, 0]  # some libraries answer with a column
        if said.ndim != 1:
            raise ValueError(f"{self.name} predicts several labels a row; a voter gives one.")
        if self.encoded:
            return said.astype(self.codes.dtype)[:, None]
        codes = np.full(said.shape, self.n_classes, dtype=self.codes.dtype)
        for label, code in zip(self.own, self.codes, strict=True):
            codes[said == label] = code
        unknown = codes == self.n_classes
        if unknown.any():
            raise ValueError(
                f"{self.name} predicted {said[unknown][0]!r}, which is not one of its classes_ "
                f"{self.own.tolist()}."
            )
        return codes[:, None]

    def scores(self, X: Any) -> Floats:
        if not hasattr(self.estimator, "predict_proba"):
            return _one_hot(self.votes(X), self.n_classes)
        probabilities = np.asarray(self.estimator.predict_proba(self.own_columns(X), **self.options))
        if probabilities.shape[1:] != self.own.shape:
            raise ValueError(
                f"{self.name} gives probabilities of shape {probabilities.shape}; they must have "
                f"one column for each of its {len(self.own)} classes."
            )
        scores = np.zeros((len(probabilities), 1, self.n_classes))
        scores[:, 0, self.codes] = probabilities
        return scores

    def own_columns(self, X: Any) -> Any:
        """The features that it was fitted on."""
        return X if self.features is None else X[:, self.features]


@dataclass(frozen=True)
class ForestTree(SingleVoter):
    """A tree of a forest. All rows in a leaf get the same vote, so it is looked up instead of computed."""

    @cached_property
    def _leaf_votes(self) -> Codes:
        """The vote of each node: the class with most weight there, the first of those that are tied."""
        votes: Codes = self.codes[np.argmax(self.estimator.tree_.value[:, 0], axis=1)]
        return votes

    def votes(self, X: Any) -> Codes:
        leaves: NDArray[np.intp] = self.estimator.apply(X, **self.options)
        return self._leaf_votes[leaves][:, None]


@dataclass(frozen=True)
class StumpVoters:
    """All stumps of a DecisionStumps at once: one call instead of one for each."""

    stumps: DecisionStumps

    @property
    def n_voters(self) -> int:
        return 2 * self.stumps.thresholds_.size

    def votes(self, X: Any) -> Codes:
        second: NDArray[np.bool_] = self.stumps.votes(X) == self.stumps.classes_[1]
        return second.astype(np.uint8)

    def scores(self, X: Any) -> Floats:
        return _one_hot(self.votes(X), 2)


Member = SingleVoter | StumpVoters


@dataclass(frozen=True)
class Panel:
    """Classes in their fixed order, members, and how rows are made ready for them.

    ``source`` is the ensemble that the members belong to, once pipelines and searches are taken off.
    """

    classes: Labels
    members: tuple[Member, ...]
    source: Any = None
    prepare: Prepare | None = None

    @property
    def n_voters(self) -> int:
        """How many voters, d."""
        return sum(member.n_voters for member in self.members)

    def ready(self, X: Any) -> Any:
        """The rows as the members get to see them."""
        return X if self.prepare is None else self.prepare(X)


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
    if isinstance(ensemble, GradientBoostingClassifier | HistGradientBoostingClassifier):
        raise TypeError(
            f"{name} has no voters: its members are regression trees whose outputs are added up. "
            "It can be one voter among others: put it in a list, as in collect_votes([model, ...], X)."
        )
    classes = classes_of(ensemble, name)
    if isinstance(ensemble, DecisionStumps):
        return Panel(classes, (StumpVoters(ensemble),), ensemble)
    if isinstance(ensemble, VotingClassifier | StackingClassifier):
        cv = getattr(ensemble, "cv", None)
        prefit = isinstance(cv, str) and cv == "prefit"
        return Panel(classes, _members(ensemble, encoded=not prefit), ensemble)
    # These hand arrays to their members, so rows are converted once and in the way they do it themselves.
    if isinstance(ensemble, RandomForestClassifier | ExtraTreesClassifier):
        return _panel_of_forest(ensemble)
    if isinstance(ensemble, BaggingClassifier):
        convert = _converter(ensemble, dtype=None, accept_sparse=["csr", "csc"], ensure_all_finite=False)
        return Panel(classes, _members(ensemble, encoded=True), ensemble, convert)
    if isinstance(ensemble, AdaBoostClassifier):
        convert = _converter(ensemble, dtype=None, accept_sparse=["csr", "csc"], allow_nd=True)
        return Panel(classes, _members(ensemble, encoded=False), ensemble, convert)
    return Panel(classes, (_labelled(ensemble, name, classes),), ensemble)


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
    return Panel(classes, tuple(_labelled(estimator, name, classes) for name, estimator in voters))


def _panel_of_pipeline(pipeline: Pipeline) -> Panel:
    panel = panel_of(pipeline.steps[-1][1])
    if len(pipeline.steps) == 1:
        return panel
    steps = pipeline[:-1]
    return replace(panel, prepare=lambda X: panel.ready(steps.transform(X)))


def _converter(ensemble: Any, **options: Any) -> Prepare:
    return lambda X: validate_data(ensemble, X, reset=False, **options)


def _members(ensemble: Any, encoded: bool) -> tuple[SingleVoter, ...]:
    """The members of a scikit-learn ensemble, fitted on codes of its classes or on its labels."""
    features = getattr(ensemble, "estimators_features_", [None] * len(ensemble.estimators_))
    members = []
    for position, (estimator, columns) in enumerate(zip(ensemble.estimators_, features, strict=True)):
        name = f"Member {position} of {type(ensemble).__name__} ({type(estimator).__name__})"
        if encoded and not _keeps_its_labels(estimator):
            member = _encoded(estimator, name, ensemble.classes_)
        else:
            member = _labelled(estimator, name, ensemble.classes_)
        if columns is not None and not np.array_equal(columns, np.arange(ensemble.n_features_in_)):
            member = replace(member, features=columns)
        members.append(member)
    return tuple(members)


def _keeps_its_labels(estimator: Any) -> bool:
    """Whether fitting the ensemble left this member alone, so that it never saw codes."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return isinstance(estimator, FrozenEstimator)


def _encoded(estimator: Any, name: str, classes: Labels) -> SingleVoter:
    own = classes_of(estimator, name)
    return SingleVoter(estimator, name, own, own.astype(_code_type(classes)), len(classes), encoded=True)


def _labelled(estimator: Any, name: str, classes: Labels) -> SingleVoter:
    own = classes_of(estimator, name)
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    strangers = [label for label in own.tolist() if label not in code_of]
    if strangers:
        raise ValueError(
            f"{name} was fitted on the labels {strangers}, which are not among the classes "
            f"{classes.tolist()} of the ensemble. Pass the fitted classifiers themselves, as a list."
        )
    codes = np.array([code_of[label] for label in own.tolist()], dtype=_code_type(classes))
    return SingleVoter(estimator, name, own, codes, len(classes))


def classes_of(estimator: Any, name: str) -> Labels:
    """The classes of a fitted single-output classifier, or an error that says what it is instead."""
    tagged = hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type)
    kind = get_tags(estimator).estimator_type if tagged else None
    if kind not in ("classifier", None):
        raise TypeError(
            f"{name} cannot vote: scikit-learn calls it {kind!r}, and only classifiers give labels."
        )
    # Some scikit-learn classifiers cannot predict until they are fitted, and should say just that.
    if isinstance(estimator, type) or not (hasattr(estimator, "predict") or kind == "classifier"):
        raise TypeError(f"{name} is not a fitted classifier: {estimator!r:.100} cannot predict.")
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        if hasattr(estimator, "fit"):
            check_is_fitted(estimator)
        raise TypeError(f"{name} cannot vote: it has no classes_, which say what labels it can give.")
    if isinstance(classes, list) and classes and np.ndim(classes[0]) > 0:
        raise ValueError(
            f"{name} has several outputs a row, and a voter has one: fit one ensemble an output."
        )
    return np.asarray(classes)


def _code_type(classes: Labels) -> np.dtype[Any]:
    """Smallest whole numbers that hold every class code and, one above, "no class at all"."""
    return np.min_scalar_type(len(classes))


def _one_hot(votes: Codes, n_classes: int) -> Floats:
    return np.eye(n_classes)[votes]

"""What votes: single classifiers, trees of forests, stumps; their answers as codes of the panel's classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from votecert.voters.stumps import DecisionStumps

Labels = NDArray[Any]
Codes = NDArray[np.unsignedinteger[Any]]
Floats = NDArray[np.float64]

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

    estimator: DecisionStumps

    @property
    def n_voters(self) -> int:
        return 2 * self.estimator.thresholds_.size

    def votes(self, X: Any) -> Codes:
        second: NDArray[np.bool_] = self.estimator.votes(X) == self.estimator.classes_[1]
        return second.astype(np.uint8)

    def scores(self, X: Any) -> Floats:
        return _one_hot(self.votes(X), 2)


def member_voter(estimator: Any, position: int, ensemble: Any, classes: Labels, encoded: bool) -> SingleVoter:
    """A member of an ensemble, which was fitted on codes of its classes, or on labels."""
    name = f"Member {position} of {type(ensemble).__name__} ({type(estimator).__name__})"
    if not encoded:
        return labelled_voter(estimator, name, classes)
    own = classes_of(estimator, name)
    return SingleVoter(estimator, name, own, own.astype(_code_type(classes)), len(classes), encoded=True)


def labelled_voter(estimator: Any, name: str, classes: Labels) -> SingleVoter:
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

"""The voters of the paper: evenly spread decision stumps, and a small forest of half-size bags.

Symbols: p features, M thresholds a feature, so d = 2 p M stumps.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from votecert._types import AnyArray, BoolArray, FloatArray, Indices


class DecisionStumps(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Decision stumps with evenly spread thresholds: voters that need no training.

    Feature f with range :math:`[a_f, b_f]` gets M thresholds
    :math:`t_{fj} = a_f + (b_f - a_f)\, j / M`, j = 0, ..., M - 1, and each threshold two voters: one
    says the second class when :math:`x_f \le t_{fj}`, its complement when :math:`x_f > t_{fj}`.

    The stumps are meant as voters (:meth:`votes`, or :func:`votecert.collect_votes`). Their plain vote
    says nothing, since each stump is cancelled by its complement, so :meth:`predict` answers with the
    one stump that makes the fewest errors on the rows given to :meth:`fit`.

    Parameters
    ----------
    n_thresholds : int, default=6
        M, thresholds per feature and sign.
    ranges : array-like of shape (n_features, 2) or (2,), default=None
        Lowest and highest value of each feature, or one pair for all features, known in advance.
        None takes them from the rows given to ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels.
    thresholds_ : ndarray of shape (n_features, n_thresholds)
        The thresholds of each feature.
    complements_ : ndarray of shape (n_features * n_thresholds, 2)
        The pairs of voters (columns of ``votes``) that disagree on every row there can be.
    best_ : int
        Column of the voter that ``predict`` uses.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when ``fit`` saw names.

    Notes
    -----
    Voters must be fixed without looking at the rows that certify them. With ``ranges`` declared the
    stumps do not depend on the rows at all, and every row may certify. Without, the thresholds come
    from the smallest and largest values in the rows given to ``fit``: those rows must not certify
    (the paper uses them for both; see :attr:`depends_on_rows`).

    The voters are ordered by feature; within a feature come the M stumps that say the second class at
    or below their thresholds, then their M complements.

    References
    ----------
    F. Biggs, V. Zantedeschi, B. Guedj. On Margins and Generalisation for Voting Classifiers.
    NeurIPS 2022.

    Examples
    --------
    >>> from votecert.voters.stumps import DecisionStumps
    >>> stumps = DecisionStumps(n_thresholds=2, ranges=[[0, 10]])
    >>> stumps.fit([[1], [9]], ["low", "top"]).votes([[3], [7]])
    array([['low', 'top', 'top', 'low'],
           ['low', 'low', 'top', 'top']], dtype='<U3')
    >>> stumps.complements_.tolist(), stumps.depends_on_rows
    ([[0, 2], [1, 3]], False)
    """

    classes_: AnyArray
    thresholds_: FloatArray
    complements_: Indices
    best_: int
    n_features_in_: int

    def __init__(self, n_thresholds: int = 6, ranges: ArrayLike | None = None) -> None:
        self.n_thresholds = n_thresholds
        self.ranges = ranges

    @property
    def depends_on_rows(self) -> bool:
        """Whether the thresholds come from the rows given to ``fit``, which then must not certify."""
        return self.ranges is None

    def fit(self, X: Any, y: Any) -> Self:
        """Lay out the thresholds and pick the stump that ``predict`` uses.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; their ranges are used only if none were declared.
        y : array-like of shape (n_samples,)
            Labels, exactly two different ones.

        Returns
        -------
        self : DecisionStumps
        """
        n_thresholds: Any = self.n_thresholds
        if not isinstance(n_thresholds, Integral) or n_thresholds < 1:
            raise ValueError(f"n_thresholds must be a whole number, at least 1; got {n_thresholds!r}.")
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(
                "Only binary classification is supported: a stump tells two classes apart, and y has "
                f"{len(self.classes_)} class(es): {self.classes_[:10].tolist()}."
            )
        low, high = self._check_ranges(X).T
        self.thresholds_ = np.linspace(low, high, n_thresholds, endpoint=False, axis=-1)
        columns = np.arange(2 * self.thresholds_.size).reshape(-1, 2, n_thresholds)
        self.complements_ = columns.transpose(0, 2, 1).reshape(-1, 2)
        self.best_ = int(np.argmin(self._count_errors(X, codes)))
        return self

    def votes(self, X: Any) -> AnyArray:
        """The label that each stump gives each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        votes : ndarray of shape (n_samples, 2 * n_features * n_thresholds)
        """
        X = self._check_rows(X)
        above = X[:, :, None] > self.thresholds_
        return self.classes_[np.concatenate([~above, above], axis=2).reshape(len(X), -1).astype(np.intp)]

    def predict(self, X: Any) -> AnyArray:
        """The labels that the best stump on the fitting rows gives.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        X = self._check_rows(X)
        n_thresholds = self.thresholds_.shape[1]
        feature, sign, threshold = np.unravel_index(self.best_, (X.shape[1], 2, n_thresholds))
        above = X[:, feature] > self.thresholds_[feature, threshold]
        says_second: BoolArray = above == bool(sign)
        return self.classes_[says_second.astype(np.intp)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _check_rows(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        rows: FloatArray = validate_data(self, X, dtype=np.float64, reset=False)
        return rows

    def _check_ranges(self, X: FloatArray) -> FloatArray:
        if self.ranges is None:
            ranges = np.column_stack([X.min(axis=0), X.max(axis=0)])
        else:
            ranges = np.asarray(self.ranges, dtype=np.float64)
            if ranges.shape not in {(2,), (X.shape[1], 2)}:
                raise ValueError(
                    f"ranges must hold a (lowest, highest) pair for each of the {X.shape[1]} features, or "
                    f"one pair for all of them; got an array of shape {ranges.shape}."
                )
            ranges = np.broadcast_to(ranges, (X.shape[1], 2))
        with np.errstate(over="ignore", invalid="ignore"):
            width = ranges[:, 1] - ranges[:, 0]
        bad = np.flatnonzero(~(np.isfinite(width) & (width >= 0)))
        if bad.size:
            raise ValueError(
                f"The range of feature {bad[0]} is {tuple(ranges[bad[0]].tolist())}; it must be finite, the "
                "lowest value first."
            )
        return ranges

    def _count_errors(self, X: FloatArray, codes: Indices) -> Indices:
        # One feature at a time, so that memory stays at the size of X and not of all votes.
        errors = []
        for values, thresholds in zip(X.T, self.thresholds_, strict=True):
            above = values[:, None] > thresholds
            wrong = np.count_nonzero(above == codes[:, None].astype(bool), axis=0)
            errors += [wrong, len(X) - wrong]
        return np.concatenate(errors)


def paper_forest(n_estimators: int = 10, random_state: Any = None, **options: Any) -> RandomForestClassifier:
    """The forest of the paper: few deep trees, each grown on a bag of half as many rows as there are.

    Gini impurity, square root of the number of features tried at each split, unbounded depth.

    Parameters
    ----------
    n_estimators : int, default=10
        Number of trees.
    random_state : int, RandomState or None, default=None
        Seed of the bags and of the features tried.
    **options
        Further options of :class:`sklearn.ensemble.RandomForestClassifier`; they win over the paper's.
        The authors' program, unlike their text, sets ``class_weight="balanced_subsample"``.

    Returns
    -------
    forest : RandomForestClassifier
        Not fitted.

    Examples
    --------
    >>> from votecert.voters.stumps import paper_forest
    >>> paper_forest(random_state=0)
    RandomForestClassifier(max_samples=0.5, n_estimators=10, random_state=0)
    """
    settings = {"criterion": "gini", "max_features": "sqrt", "max_depth": None, "max_samples": 0.5}
    return RandomForestClassifier(n_estimators, random_state=random_state, **{**settings, **options})

"""A scikit-learn classifier that carries the certificate of its own vote."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing, check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_method_params, _num_samples, check_is_fitted, column_or_1d

from votecert._panels import panel_of
from votecert.bounds.base import Bound
from votecert.certificate import Certificate, certify
from votecert.inputs import check_delta
from votecert.stumps import DecisionStumps
from votecert.voters import collect_scores, collect_votes, out_of_bag_votes, voter_classes

Prior = Literal["auto", "oob", "cv", "split", "none"]

PRIORS = ("auto", "oob", "cv", "split", "none")
VOTING = ("hard", "soft")

N_FOLDS = 5
"""Folds for out-of-fold votes."""


class CertifiedVotingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit an ensemble on some rows; learn the weights of its vote, with a certificate, on the others.

    Parameters
    ----------
    estimator : classifier, default=RandomForestClassifier()
        The ensemble whose members vote: anything :func:`votecert.collect_votes` takes apart. A
        :class:`~sklearn.frozen.FrozenEstimator` is taken as it is and all rows certify it; so are voters that do not
        depend on the rows, such as :class:`DecisionStumps` with declared ranges.
    objective : str or Bound, default="occam"
        The bound that the weights minimise, or "uniform" for the plain vote.
    bound : str or Bound, optional
        The bound that certifies the learned weights; by default the objective itself, and the test-set
        bound for the plain vote.
    voting : {"hard", "soft"}, default="hard"
        Whether members cast labels, or class probabilities that are added up, as forests do.
    delta : float, default=0.05
        The certificate holds with probability at least 1 - delta.
    certify_size : float, default=0.5
        Share of the rows that certify. They are drawn at random, not stratified: the certificate needs
        independent rows.
    prior : {"auto", "oob", "cv", "split", "none"}, default="auto"
        Where the list of fitted votes of the objective "occam" is learned. "oob": on out-of-bag votes of the fitting
        rows; "cv": on out-of-fold votes of the fitting rows (fits the ensemble five more times); "split": on a
        quarter of the certifying rows; "none": nowhere. "auto" is "oob" for bagged hard votes and "split"
        otherwise.
    time_budget : float, optional
        Seconds for learning the weights.
    n_jobs : int, optional
        Members asked at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of the split and of the learning. It must not be tuned for a small certificate.

    Attributes
    ----------
    certificate_ : Certificate
        The certificate of exactly this predictor.
    weights_ : ndarray of shape (d,)
        Weights of the voters.
    voters_ : list
        The fitted members.
    estimator_ : classifier
        The fitted ensemble.
    classes_ : ndarray
        Class labels. Ties go to the first of the tied ones.
    n_features_in_, feature_names_in_
        As seen by the ensemble.

    Notes
    -----
    Sample weights, like other fit parameters, go to the training of the members only: a weighted copy of a row is
    not new evidence, so the certificate counts every certifying row once.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0)
    >>> classifier = CertifiedVotingClassifier(forest, random_state=0).fit(X, y)
    >>> classifier.certificate_.risk < 0.15
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        objective: str | Bound = "occam",
        bound: str | Bound | None = None,
        voting: Literal["hard", "soft"] = "hard",
        delta: float = 0.05,
        certify_size: float = 0.5,
        prior: Prior = "auto",
        time_budget: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.objective = objective
        self.bound = bound
        self.voting = voting
        self.delta = delta
        self.certify_size = certify_size
        self.prior = prior
        self.time_budget = time_budget
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit the members, learn their weights and certify the vote.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
        y : array-like of shape (n,)
            Labels of two classes or more.
        **params : dict
            Parameters of the ensemble's ``fit``, such as ``sample_weight``.
        """
        self._check_parameters()
        X, y = indexable(X, y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        random = check_random_state(self.random_state)
        seed = int(random.randint(np.iinfo(np.int32).max))
        fitting, certifying = self._split_rows(_num_samples(X), random)
        self.estimator_ = self._fit_ensemble(X, y, fitting, params)
        self._check_classes()
        rows = _safe_indexing(X, certifying), _safe_indexing(y, certifying)
        self.certificate_ = self._certify(*rows, self._list_rows(X, y, fitting, params), seed)
        self.weights_ = self.certificate_.weights
        self.voters_ = [getattr(member, "estimator", member) for member in panel_of(self.estimator_).members]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels by exactly the certified vote."""
        check_is_fitted(self)
        return self.certificate_.predict(self._ask(self.estimator_, X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Share of the votes (or mean score) of each class, in the order of ``classes_``."""
        check_is_fitted(self)
        return self.certificate_.predictor.totals(self._ask(self.estimator_, X))

    def _check_parameters(self) -> None:
        check_delta(self.delta)
        if not 0 < self.certify_size < 1:
            raise ValueError(f"certify_size must be between 0 and 1, both excluded, not {self.certify_size!r}.")
        for name, known in (("voting", VOTING), ("prior", PRIORS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}.")

    def _split_rows(self, n: int, random: np.random.RandomState) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows to fit the members on and rows to certify; all rows certify what is not fitted on any."""
        everything = np.arange(n)
        if self._voters_are_fixed():
            return everything, everything
        if n < 4:
            raise ValueError(
                f"Found array with n_samples = {n} sample(s) while a minimum of 4 is required: "
                "members are fitted on some rows and certified on others."
            )
        order = random.permutation(n)
        n_certify = min(max(round(self.certify_size * n), 1), n - 2)
        return np.sort(order[n_certify:]), np.sort(order[:n_certify])

    def _voters_are_fixed(self) -> bool:
        if isinstance(self.estimator, FrozenEstimator):
            return True
        return isinstance(self.estimator, DecisionStumps) and not self.estimator.depends_on_rows

    def _fit_ensemble(self, X: Any, y: Any, fitting: NDArray[np.intp], params: dict[str, Any]) -> Any:
        estimator = RandomForestClassifier(random_state=0) if self.estimator is None else clone(self.estimator)
        if _routing_enabled():
            params = dict(process_routing(self, "fit", **params).estimator.fit)
        params = _check_method_params(X, params, indices=fitting)
        return estimator.fit(_safe_indexing(X, fitting), _safe_indexing(y, fitting), **params)

    def _check_classes(self) -> None:
        known = voter_classes(self.estimator_)
        if len(self.classes_) < 2:
            raise ValueError("CertifiedVotingClassifier needs two classes or more, but the data has one class only.")
        self.classes_ = np.union1d(self.classes_, known)

    def _list_rows(
        self, X: Any, y: Any, fitting: NDArray[np.intp], params: dict[str, Any]
    ) -> dict[str, Any]:
        """Options that say where the fitted list is learned."""
        if self.objective != "occam" or self._voters_are_fixed():
            return {} if self.objective != "occam" or self.prior != "none" else {"split": 0.0}
        kind = self.prior
        if kind == "auto":
            bagged = hasattr(panel_of(self.estimator_).source, "estimators_samples_") and self.voting == "hard"
            kind = "oob" if bagged and self._has_out_of_bag_rows() else "split"
        if kind in ("split", "none"):
            return {} if kind == "split" else {"split": 0.0}
        rows, labels = _safe_indexing(X, fitting), _safe_indexing(y, fitting)
        if kind == "oob":
            if self.voting == "soft":
                raise ValueError("prior='oob' is for hard votes; use prior='cv' or 'split' with voting='soft'.")
            votes = out_of_bag_votes(self.estimator_, rows, n_jobs=self.n_jobs)
            return {"prior_votes": votes, "prior_y": labels}
        return self._out_of_fold(X, y, fitting, params)

    def _has_out_of_bag_rows(self) -> bool:
        source = panel_of(self.estimator_).source
        return bool(getattr(source, "bootstrap", False)) or getattr(source, "max_samples", 1.0) not in (None, 1.0)

    def _out_of_fold(self, X: Any, y: Any, fitting: NDArray[np.intp], params: dict[str, Any]) -> dict[str, Any]:
        """Votes of the members on fitting rows that copies of them were not fitted on."""
        answers, labels = [], []
        n_folds = min(N_FOLDS, len(fitting))
        for fit_part, held_out in KFold(n_folds, shuffle=True, random_state=0).split(fitting):
            copy = self._fit_ensemble(X, y, fitting[fit_part], params)
            answers.append(self._ask(copy, _safe_indexing(X, fitting[held_out])))
            labels.append(_safe_indexing(y, fitting[held_out]))
        return {"prior_votes": np.concatenate(answers), "prior_y": np.concatenate(labels)}

    def _ask(self, ensemble: Any, X: Any) -> NDArray[Any]:
        """Votes or scores of the members, scores in the order of ``classes_``."""
        if self.voting == "hard":
            return collect_votes(ensemble, X, n_jobs=self.n_jobs)
        scores = collect_scores(ensemble, X, n_jobs=self.n_jobs)
        known = voter_classes(ensemble)
        if len(known) == len(self.classes_):
            return scores
        spread = np.zeros((*scores.shape[:2], len(self.classes_)))
        spread[:, :, np.searchsorted(self.classes_, known)] = scores
        return spread

    def _certify(self, X: Any, y: Any, learning: dict[str, Any], seed: int) -> Certificate:
        answers = self._ask(self.estimator_, X)
        votes, scores = (answers, None) if self.voting == "hard" else (None, answers)
        common: dict[str, Any] = {"scores": scores, "classes": self.classes_, "delta": self.delta}
        if self.objective == "uniform":
            found = certify(votes, y, weights="uniform", bound=self.bound, **common)
        else:
            options = {"random_state": seed, "time_budget": self.time_budget, **learning}
            found = certify(votes, y, bound=self.objective, **options, **common)
            if self.bound is not None and self.bound != self.objective:
                found = certify(votes, y, weights=found.weights, bound=self.bound, **common)
        assert isinstance(found, Certificate)
        return found

    def get_metadata_routing(self) -> MetadataRouter:
        """Fit parameters go to the ensemble."""
        estimator = RandomForestClassifier() if self.estimator is None else self.estimator
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(estimator=estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        estimator = RandomForestClassifier() if self.estimator is None else self.estimator
        inner = get_tags(estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.classifier_tags.multi_class = inner.classifier_tags is None or inner.classifier_tags.multi_class
        tags.non_deterministic = False
        return tags

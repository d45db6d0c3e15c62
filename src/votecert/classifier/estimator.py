"""A scikit-learn classifier that carries the certificate of its own vote."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import _safe_indexing, check_random_state, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.validation import _check_method_params, _num_samples, check_is_fitted

from votecert.bounds.base import Bound, Indices
from votecert.certificate import Certificate, certify
from votecert.classifier import parameters, rows
from votecert.classifier.parameters import Prior, single_bound
from votecert.classifier.searches import certified_in_search
from votecert.rows.ballots import Ballots
from votecert.rows.read import KnownWeights
from votecert.rows.scores import Scores
from votecert.rows.tables import refuse_lazy
from votecert.voters.collect import out_of_bag_votes, scores_of, votes_of
from votecert.voters.panels import Panel, panel_of


class CertifiedVotingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit an ensemble on some rows; learn the weights of its vote, with a certificate, on the others.

    Search parameters inside, ``CertifiedVotingClassifier(GridSearchCV(forest, ...))``, not around it: a
    choice made by looking at the certifying rows voids the certificate, unless it is paid for.

    Parameters
    ----------
    estimator : classifier, default=RandomForestClassifier()
        The ensemble whose members vote: anything :func:`votecert.collect_votes` takes apart. A
        :class:`~sklearn.frozen.FrozenEstimator` is taken as it is and all rows certify it; so are voters
        that do not depend on the rows, such as :class:`DecisionStumps` with declared ranges.
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
        independent rows. Fewer certify if more are needed to have two classes to fit on.
    prior : {"auto", "oob", "cv", "split", "none"}, default="auto"
        Where the prior is learned: the fitted vote of "occam", or the centre of the prior of an
        objective with real-valued weights. "cv": on out-of-fold votes of the fitting rows, for which the
        ensemble is fitted five more times; "oob": on the votes of bagged members on fitting rows outside
        their bags; "split": on a quarter of the certifying rows, or a little more ("occam" only); "none":
        nowhere. "auto" is "cv" for members that differ in kind (those of VotingClassifier and
        StackingClassifier, and stumps), otherwise "split" for "occam" and "none" for the rest: the trees of a
        forest are hardly worth weighing; "oob" gains little for them, and can lose with few rows.
    time_budget : float, optional
        Seconds for learning the weights.
    n_jobs : int, optional
        Members asked at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of the split, of the learning, and of the ensemble where that has no seed of its own. It must not
        be tuned for a small certificate.

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
    Sample weights, like other fit parameters, go to the training of the members only: a weighted copy of a
    row is not new evidence, so the certificate counts every certifying row once.

    A model that is one voter, such as gradient boosting, has no weights to learn if it casts labels: the
    exact test-set bound certifies it, whatever the objective.

    ``GridSearchCV(CertifiedVotingClassifier(...))`` refits the candidate that did best on all rows, those
    that certify it among them. If the k candidates of a search of scikit-learn were fixed in advance, as they
    are unless ``delta`` is searched, all their certificates at delta / k hold together, and the refit gets
    just that, with a warning and a note; with other searches derived from scikit-learn's the note says that
    the certificate is void. Searches that call ``fit`` by themselves (Optuna, a loop of yours) cannot be told
    from a plain fit.

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

    classes_: NDArray[Any]

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
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            What the ensemble takes.
        y : array-like of shape (n,)
            Labels of two classes or more.
        **params : dict
            Parameters of the ensemble's ``fit``, such as ``sample_weight``; those with one entry a row are
            cut to the fitting rows.

        Returns
        -------
        self : CertifiedVotingClassifier
        """
        parameters.check_parameters(self)
        refuse_lazy(X)
        X, y = indexable(X, y)
        weights = params.get("sample_weight")
        y = parameters.read_labels(y, weights)
        random = check_random_state(self.random_state)
        seed = int(random.randint(np.iinfo(np.int32).max))
        unfitted = self._ensemble()
        if self.random_state is not None:
            unfitted = parameters.seeded(unfitted, seed)
        fixed = rows.voters_are_fixed(unfitted)
        fitting = certifying = np.arange(_num_samples(X))
        if not fixed:
            weighted = None if weights is None else np.asarray(weights) > 0
            fitting, certifying = rows.split_rows(y, self.certify_size, random, weighted)
        if _routing_enabled():
            params = dict(process_routing(self, "fit", **params).estimator.fit)

        def fitted_on(part: Indices) -> Any:
            options = _check_method_params(X, params, indices=part)
            return clone(unfitted).fit(_safe_indexing(X, part), y[part], **options)

        self.estimator_ = fitted_on(fitting)
        panel = panel_of(self.estimator_)
        panel.warn()
        self.classes_ = np.union1d(y, panel.classes)
        learning = None
        if self.objective != "uniform" and not (self.voting == "hard" and panel.n_voters == 1):
            learning = self._learning_options(panel, X, y, fitting, fitted_on, seed, fixed)
        known = _safe_indexing(X, certifying), y[certifying]
        self.certificate_ = certified_in_search(
            lambda delta: self._certify(panel, *known, learning, delta), self.delta
        )
        self.weights_ = self.certificate_.weights
        self.voters_ = [one.estimator for one in panel.members]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels by exactly the certified vote.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)

        Returns
        -------
        labels : ndarray of shape (n,)
        """
        votes = self.votes(X)
        vote = self.certificate_.predictor
        winners = np.searchsorted(vote.labels, vote.predict(votes))
        return np.asarray(self.classes_[winners])  # in the type of the labels that were given to fit

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Share of the votes, or of the scores, that each class gets.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)

        Returns
        -------
        shares : ndarray of shape (n, n_classes)
            In the order of ``classes_``. They are the outcome of the vote, not calibrated probabilities.
        """
        votes = self.votes(X)
        return self.certificate_.predictor.totals(votes)

    def votes(self, X: Any) -> NDArray[Any]:
        """What each member says: the input of ``certificate_.predict`` and ``certificate_.verify``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)

        Returns
        -------
        votes : ndarray of shape (n, d), or (n, d, n_classes) with voting="soft"
            Labels, or class probabilities in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self._ask(panel_of(self.estimator_), X)

    def _ensemble(self) -> Any:
        return RandomForestClassifier() if self.estimator is None else self.estimator

    def _learning_options(
        self, panel: Panel, X: Any, y: NDArray[Any], fitting: Indices, fitted_on: Any, seed: int, fixed: bool
    ) -> dict[str, Any]:
        """Options of the learning, among them the prior that was learned on other rows."""
        options: dict[str, Any] = {"random_state": seed, "time_budget": self.time_budget}
        objective = single_bound(self.objective)
        has_list = objective is None or objective.has_list
        where = self.prior
        if objective is not None:
            where = rows.where_to_learn(where, panel, voting=self.voting, fixed=fixed, has_list=has_list)
        if where == "none":
            return {**options, "split": 0.0} if has_list else options
        if where == "split" or objective is None:
            return options
        votes: NDArray[Any]
        if where == "oob":
            votes = out_of_bag_votes(self.estimator_, _safe_indexing(X, fitting), n_jobs=self.n_jobs)
            known_y = y[fitting]
        else:
            votes, asked = rows.out_of_fold(
                lambda fit, ask: self._ask(panel_of(fitted_on(fit)), _safe_indexing(X, ask)), fitting, y, seed
            )
            known_y = y[asked]
        if has_list:
            return {**options, "prior_votes": votes, "prior_y": known_y}
        known = np.union1d(y[fitting], panel.classes)  # without a look at certifying rows
        known_here = {"classes": known, "delta": self.delta, **options}
        return {**options, "prior": rows.prior_centre(votes, known_y, objective, where, **known_here)}

    def _ask(self, panel: Panel, X: Any) -> NDArray[Any]:
        """Votes or scores of the members, scores in the order of ``classes_``."""
        (X,) = indexable(X)
        if self.voting == "hard":
            return votes_of(panel, X, n_jobs=self.n_jobs)
        scores = scores_of(panel, X, n_jobs=self.n_jobs)
        if len(panel.classes) == len(self.classes_):
            return scores
        spread = np.zeros((*scores.shape[:2], len(self.classes_)))
        spread[:, :, np.searchsorted(self.classes_, panel.classes)] = scores
        return spread

    def _certify(
        self, panel: Panel, X: Any, y: NDArray[Any], learning: dict[str, Any] | None, delta: float
    ) -> Certificate:
        """The certificate; of the plain vote if nothing is to be learned."""
        answers = self._ask(panel, X)
        certifying: Ballots | Scores
        if self.voting == "hard":
            certifying = Ballots.from_votes(answers, y, classes=self.classes_, can_abstain=False)
        else:
            certifying = Scores.from_scores(answers, y, classes=self.classes_)
        # the classes are those of all labels, the certifying ones too
        certifying = replace(certifying, classes_declared=False)
        common: dict[str, Any] = {"delta": delta, "voters": parameters.voter_names(panel)}
        if learning is None:
            plain: Certificate = certify(certifying, weights="uniform", bound=self.bound, **common)
            return plain
        found: Certificate = certify(certifying, bound=self.objective, **learning, **common)
        if self.bound is None or self.bound == self.objective:
            return found
        other = single_bound(self.bound)
        if other is None or other.posterior is not None:
            common["prior"] = learning.get("prior")
        learned = KnownWeights(found.weights, "learned")
        interrupted = found.details["interrupted"]
        found = certify(certifying, weights=learned, bound=self.bound, **common)
        return replace(found, details={**found.details, "interrupted": interrupted})

    def get_metadata_routing(self) -> MetadataRouter:
        """Fit parameters go to the ensemble."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(
            estimator=self._ensemble(), method_mapping=mapping
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._ensemble())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.classifier_tags.multi_class = inner.classifier_tags is None or inner.classifier_tags.multi_class
        return tags

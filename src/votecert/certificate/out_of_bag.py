"""Out-of-bag certificates: a bagged ensemble is certified on its own fitting rows, none are held out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_consistent_length, column_or_1d

from votecert.bounds import BOUNDS
from votecert.bounds.base import Bound, Floats
from votecert.bounds.tallies import OutOfBagTallies
from votecert.certificate import Certificate, certify
from votecert.learning.coordinates import coordinates_of, gradient_at, weights_at
from votecert.rows.ballots import Ballots
from votecert.rows.read import KnownWeights, Weights, check_delta, read_prior
from votecert.voters.bags import check_bags
from votecert.voters.collect import out_of_bag_votes
from votecert.voters.panels import Panel, panel_of

OutOfBagBound = Literal["fo", "so", "cctnd", "ccpbb"]

ROUNDS = 10
"""Descents between which the bound's free choices are searched again, at most."""


def certify_oob(
    forest: Any,
    X: Any,
    y: Any,
    *,
    bound: OutOfBagBound = "fo",
    weights: Weights = "uniform",
    delta: float = 0.05,
    prior: npt.ArrayLike | None = None,
    members_saw_only_their_bags: bool = False,
    n_jobs: int | None = None,
) -> Certificate:
    r"""Bound the true error of a bagged ensemble's vote on the rows it was fitted on.

    Each member is judged on the rows outside its bag, each pair of members on the rows outside both bags.

    Parameters
    ----------
    forest : fitted RandomForestClassifier, ExtraTreesClassifier or BaggingClassifier
        Fitted on bags that leave rows out, without sample or class weights, which may depend on all rows.
        ``class_weight="balanced_subsample"`` is fine. The members of a BaggingClassifier must be
        ``DecisionTreeClassifier`` or ``ExtraTreeClassifier``, or have a ``fit`` without ``sample_weight``, as
        pipelines and ``KNeighborsClassifier`` have; the notes say why.
    X, y : the rows and labels that it was fitted on, in the same order
    bound : {"fo", "so", "cctnd", "ccpbb"}, default="fo"
        Bounds on single members ("fo") or on pairs of them, which have fewer rows. Others, such as "occam",
        are about the whole vote and do not hold out of bag.
    weights : "uniform", "learn" or (d,) array, default="uniform"
        Weights of the members. "learn" minimises the bound, which holds for all weights at once.
    delta : float, default=0.05
        The certificate holds with probability at least 1 - delta.
    prior : (d,) positive numbers, optional
        Prior over the members, fixed in advance. Default: all ones.
    members_saw_only_their_bags : bool, default=False
        Declare that the fit of each member looked at no row outside its bag, for members of which that is not
        known. It is not checked, and the certificate lists it among its assumptions.
    n_jobs : int, optional
        Members asked at the same time.

    Returns
    -------
    Certificate
        About the vote ``certificate.predict(collect_votes(forest, X_new))`` in which every member has its
        say. Its ``empirical_risk`` is the out-of-bag error of the vote. It is verified from its rows with
        ``certificate.verify(out_of_bag_votes(forest, X), y)``.

    Notes
    -----
    The bounds are those of :data:`votecert.BOUNDS` with errors counted out of bag and m the smallest number
    of rows that any member (or pair) was judged on; :class:`votecert.bounds.tallies.JudgesVoters` has the
    proof. About a third of the rows lie outside a bag drawn with replacement, about a seventh outside two.

    These bounds pay at least twice the error of a member, so a certificate on rows that were held out, as
    :class:`CertifiedVotingClassifier` makes it, is usually several times smaller. This one is for ensembles
    that exist already and have seen all there is.

    ``BaggingClassifier`` hands members whose ``fit`` takes ``sample_weight`` *all* rows, those outside the
    bag with weight zero. A member that ignores the weights, chooses, stops or calibrates on all rows or
    computes statistics of them has then seen the rows that judge it, and the number would be wrong. So such
    members are refused, except trees, which drop rows of weight zero before anything else; of these it is
    checked that every leaf holds what the bag puts there. Any classifier is handed its bag only if it is in
    a pipeline: ``BaggingClassifier(make_pipeline(GaussianNB()))``.

    The rows must be independent draws, and nothing about the ensemble may have been chosen by looking at
    them: no tuning by out-of-bag scores, no preprocessing fitted on the same rows.

    References
    ----------
    S. S. Lorenzen, C. Igel, Y. Seldin. On PAC-Bayesian bounds for random forests. Machine Learning 108, 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> certificate = certify_oob(forest, X, y, bound="fo")
    >>> certificate.empirical_risk < 0.05 < certificate.risk < 0.4
    True
    >>> bool(certificate.verify())
    True
    """
    check_delta(delta)
    variants = {name: variant for name, one in BOUNDS.items() if (variant := one.out_of_bag_variant())}
    if bound not in variants:
        known = ", ".join(variants)
        raise ValueError(f"bound must be one of {known}, not {bound!r}: others do not hold out of bag.")
    method = variants[bound]
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    panel = _bagged(forest, labels)
    check_bags(panel, X, labels, members_saw_only_their_bags, n_jobs)
    votes = out_of_bag_votes(panel.source, X, n_jobs=n_jobs)
    ballots = Ballots.from_votes(votes, labels, can_abstain=True)
    if isinstance(weights, str) and weights == "learn":
        lowest = lowest_weights(ballots, method, delta, read_prior(prior, ballots.n_voters))
        weights = KnownWeights(lowest, "learned")
    found: Certificate = certify(ballots, weights=weights, bound=method, delta=delta, prior=prior)
    return replace(found, declared=(_declaration(panel),)) if members_saw_only_their_bags else found


def _bagged(forest: Any, labels: npt.NDArray[Any]) -> Panel:
    """The ensemble taken apart, if nothing stands before its bags and these labels may be its own."""
    ensemble = forest.estimator if isinstance(forest, FrozenEstimator) else forest
    panel = panel_of(ensemble)
    if panel.source is not ensemble:
        raise TypeError(
            f"{type(ensemble).__name__} looks at all fitting rows before its members are fitted on bags, so "
            "no row is out of bag. Pass a forest or BaggingClassifier fitted on rows made ready before; "
            "steps that are fitted belong into its members, as in BaggingClassifier(pipeline)."
        )
    if not np.array_equal(np.unique(labels), panel.classes):
        raise ValueError("y has other labels than those that the ensemble was fitted on; pass exactly those.")
    return panel


def _declaration(panel: Panel) -> str:
    kinds = ", ".join(sorted({type(member).__name__ for member in panel.source.estimators_}))
    return f"The fit of each voter ({kinds}) looked at no row outside its bag: declared, not checked."


def lowest_weights(ballots: Ballots, bound: Bound, delta: float, prior: Floats | None) -> Floats:
    """Weights with a small out-of-bag bound: descents at a fixed choice, and the best choice in between."""
    rows = cast(Ballots, OutOfBagTallies(ballots))  # counts once; all that these bounds ask for

    def value_and_gradient(x: Floats) -> tuple[float, Floats]:
        objective = bound.objective(rows, weights_at(x)[0], choice, delta, prior)
        return objective.value, gradient_at(x, objective)

    weights = np.full(rows.n_voters, 1 / rows.n_voters)
    value = np.inf
    for _ in range(ROUNDS):
        choice = bound.search(rows, weights, delta, prior)
        found = minimize(value_and_gradient, coordinates_of(weights), jac=True, method="L-BFGS-B")
        if found.fun >= value * (1 - 1e-6):
            break
        value, weights = found.fun, weights_at(found.x)[0]
    return weights

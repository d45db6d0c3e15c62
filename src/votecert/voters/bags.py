"""Whether the members of a bagged ensemble saw their bags and nothing else.

scikit-learn hands bags over in two ways. A member whose ``fit`` takes no ``sample_weight`` gets the rows of
its bag. Every other member gets *all* rows, those outside its bag with weight zero, and many look at them:
they ignore the weights, choose, stop or calibrate on all rows, or compute statistics of them. Then no row is
new to the member. Only trees are known to drop rows of weight zero before anything else, and they bear
witness: each leaf remembers how many rows of which class it holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from votecert._types import AnyArray, FloatArray, Indices
from votecert.voters.members import TREES, SingleVoter
from votecert.voters.panels import Member, Panel

Bag = NDArray[np.integer[Any]]

# Exact types: a derived class may draw, fit or look in a way of its own.
ENSEMBLES = (RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier)

MASKS_ALL_ROWS = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9)
"""Whether it makes a difference to trees that a feature is missing in rows of weight zero."""

HOLD_OUT = "Or hold rows out: CertifiedVotingClassifier certifies any ensemble."


def bags_of(panel: Panel, n_rows: int) -> list[Bag]:
    """The rows that each member was fitted on, repeated as often as they were drawn."""
    bags: list[Bag] | None = getattr(panel.source, "estimators_samples_", None)
    if bags is None:
        raise TypeError(
            "Only forests and BaggingClassifier remember their bags, so only they have out-of-bag votes."
        )
    fitted_on = panel.source._n_samples
    if n_rows != fitted_on:
        raise ValueError(
            f"X has {n_rows} rows and the ensemble was fitted on {fitted_on}; out-of-bag votes need exactly "
            "the fitting rows, in their order."
        )
    if len(bags) != len(panel.members):
        raise ValueError(
            f"The ensemble remembers {len(bags)} bags of its {len(panel.members)} members: a warm start "
            "forgets those before it. Fit all members at once, with warm_start=False."
        )
    if all(len(np.unique(bag)) == n_rows for bag in bags):
        raise ValueError(
            "Every row is in every bag; fit the ensemble with bootstrap=True or a smaller max_samples."
        )
    return bags


def check_bags(panel: Panel, X: Any, labels: AnyArray, declared: bool, n_jobs: int | None) -> None:
    """Refuse an ensemble unless its bags ignored the rows and its members ignored the rows outside.

    Parameters
    ----------
    panel : Panel
        Of a fitted forest or BaggingClassifier.
    X, labels : its fitting rows
    declared : bool
        Whether the user vouches for members that are not known to ignore rows outside their bags. What can
        be checked is checked all the same.
    n_jobs : int or None
        Trees checked at the same time.
    """
    ensemble = panel.source
    bags = bags_of(panel, len(labels))
    _check_draws(ensemble, bags, len(labels))
    trees = []
    for member, bag in zip(panel.members, bags, strict=True):
        if _is_plain_tree(member):
            trees.append((member, bag))
        elif not declared:
            _check_handed_its_bag_only(ensemble, member)
    if trees:
        _check_leaves(trees, panel, X, labels, n_jobs)


def _check_draws(ensemble: Any, bags: list[Bag], n_rows: int) -> None:
    """Rows left out are a fair sample only if the draw of the bags did not look at them."""
    if type(ensemble) not in ENSEMBLES:
        raise TypeError(
            f"{type(ensemble).__name__} may look at the rows to draw its bags. RandomForestClassifier, "
            "ExtraTreesClassifier and BaggingClassifier are known not to; classes derived from them are not. "
            f"{HOLD_OUT}"
        )
    if type(ensemble) is BaggingClassifier:
        if ensemble.warm_start:
            raise ValueError(
                "With warm_start=True the ensemble may have been fitted on other rows before, and its bags "
                "are not known. Fit all members at once, with warm_start=False."
            )
        ignored = getattr(ensemble, "_sample_weight", None) is None
    else:
        ignored = ensemble.class_weight in (None, "balanced_subsample") and all(
            np.array_equal(np.random.RandomState(tree.random_state).randint(0, n_rows, len(bag)), bag)
            for tree, bag in zip(ensemble.estimators_, bags, strict=True)
        )
    if not ignored:
        raise ValueError(
            "The ensemble was fitted with sample or class weights, which may depend on all rows and decide "
            "what is drawn, so the rows left out of a bag are no fair sample. Fit without weights, or a "
            f"forest with class_weight='balanced_subsample'. {HOLD_OUT}"
        )


def _is_plain_tree(member: Member) -> TypeGuard[SingleVoter]:
    """Whether it is a tree of scikit-learn whose fit begins by dropping rows of weight zero.

    Balanced class weights are computed before that, and criteria written by users could do anything.
    """
    if not isinstance(member, SingleVoter) or type(member.estimator) not in TREES:
        return False
    tree = member.estimator
    return tree.class_weight is None and isinstance(tree.criterion, str) and isinstance(tree.splitter, str)


def _check_handed_its_bag_only(ensemble: Any, member: Member) -> None:
    """Refuse a member unless BaggingClassifier handed it the rows of its bag and no others."""
    assert isinstance(member, SingleVoter)  # as all members of forests and BaggingClassifier are
    estimator = member.estimator
    if type(ensemble) is not BaggingClassifier or _takes_weights(estimator):
        kind = type(estimator).__name__
        raise ValueError(
            f"{member.name} was handed all rows, those outside its bag with weight zero, and is not known to "
            f"leave them alone, so no row is new to it. Bag a pipeline instead, as in "
            f"BaggingClassifier(make_pipeline({kind}(...))): pipelines are handed their bag only. {HOLD_OUT} "
            "Or, if you know that its fit looks at no row outside the bag, declare it with "
            "members_saw_only_their_bags=True, and the certificate lists it as an assumption."
        )
    frozen = [part for part in _parts(estimator) if _keeps_its_fit(part)]
    if frozen:
        raise ValueError(
            f"{member.name} was not fitted on its bag: {type(frozen[0]).__name__} keeps what it learned "
            f"before, perhaps from these very rows. Bag the classifier that is not frozen. {HOLD_OUT} Or, if "
            "it has not seen these rows, declare it with members_saw_only_their_bags=True."
        )


def _takes_weights(estimator: Any) -> bool:
    """Whether BaggingClassifier passes bags on as weights, with or without metadata routing."""
    if has_fit_parameter(estimator, "sample_weight"):
        return True
    try:
        return bool(get_routing_for_object(estimator).consumes("fit", ("sample_weight",)))
    except NotImplementedError:  # then it cannot have been fitted with routing
        return False


def _parts(value: Any) -> Iterator[Any]:
    """A setting and, if it is an estimator or a collection, what is inside of it."""
    yield value
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list | tuple):
        inner = value
    elif hasattr(value, "get_params") and not isinstance(value, type):
        inner = value.get_params(deep=False).values()
    for part in inner:
        yield from _parts(part)


def _keeps_its_fit(part: Any) -> bool:
    """Whether a clone of it may be fitted already: FrozenEstimator and others with a rule of their own."""
    plain = BaseEstimator.__sklearn_clone__
    return getattr(type(part), "__sklearn_clone__", plain) is not plain


def _check_leaves(
    trees: list[tuple[SingleVoter, Bag]], panel: Panel, X: Any, labels: AnyArray, n_jobs: int | None
) -> None:
    """Refuse trees whose leaves hold anything but their bag: weights, other rows, bags made up later."""
    rows = panel.ready(X)
    dense = not issparse(rows)
    rows = np.asarray(rows, dtype=np.float32) if dense else rows.tocsr()  # as trees see them
    if MASKS_ALL_ROWS and dense and np.isnan(rows).any():
        raise ValueError(
            "X has missing values, and before scikit-learn 1.9 trees look for them in all rows, those "
            "outside the bag too. Use scikit-learn 1.9 or newer, or bag trees in pipelines, which are handed "
            "their bag only: BaggingClassifier(make_pipeline(DecisionTreeClassifier()))."
        )
    codes = np.searchsorted(panel.classes, labels)
    balanced = getattr(panel.source, "class_weight", None) == "balanced_subsample"

    def agrees(tree: SingleVoter, bag: Bag) -> bool:
        weights = np.bincount(bag, minlength=len(codes)).astype(np.float64)
        if balanced:
            weights *= compute_sample_weight("balanced", codes, indices=bag)
        return _leaves_hold(tree, rows, codes, weights)

    agreed = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(agrees)(tree, bag) for tree, bag in trees)
    for (tree, _), holds in zip(trees, agreed, strict=True):
        if not holds:
            raise ValueError(
                f"{tree.name} does not hold in its leaves what its bag of these rows would put there. Either "
                "X and y are not exactly the rows that the ensemble was fitted on, in their order, or it was "
                "fitted with sample or class weights, or in several fits with warm_start. Fit it once, "
                "without weights (class_weight='balanced_subsample' is fine), and pass those rows. "
                f"{HOLD_OUT}"
            )


def _leaves_hold(member: SingleVoter, X: Any, codes: Indices, weights: FloatArray) -> bool:
    """Whether each leaf of a tree holds as many rows, and as much weight a class, as are sent there."""
    held, bag = member.estimator.tree_, np.flatnonzero(weights)
    leaves = member.estimator.apply(member.own_columns(X[bag]), **member.options)
    is_leaf = held.children_left == held.children_right
    n_nodes, n_classes = held.value.shape[0], held.value.shape[2]
    n_rows = np.bincount(leaves, minlength=n_nodes)
    cells = np.bincount(leaves * n_classes + codes[bag], weights[bag], minlength=n_nodes * n_classes)
    sent: FloatArray = cells.reshape(n_nodes, n_classes).astype(np.float64)
    kept = held.value[:, 0] * held.weighted_n_node_samples[:, None]
    if member.estimator.monotonic_cst is not None:  # shares of classes are bent to be monotone
        sent, kept = sent.sum(axis=1), held.weighted_n_node_samples
    return np.array_equal(n_rows[is_leaf], held.n_node_samples[is_leaf]) and np.allclose(
        sent[is_leaf], kept[is_leaf], rtol=1e-6, atol=1e-6
    )

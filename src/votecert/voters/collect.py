"""Votes and scores of the members of fitted ensembles, in the labels the user knows.

Rows are asked for in blocks, members in parallel, so that memory stays at the size of the answer.
Symbols: m rows, d voters, c classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import gen_even_slices
from sklearn.utils.parallel import Parallel, delayed

from votecert._progress import Progress, as_progress
from votecert.rows.blocks import is_dask
from votecert.rows.blocks.dask import current_client, in_rows, is_array
from votecert.rows.tables import n_rows_of, refuse_lazy
from votecert.voters.bags import bags_of
from votecert.voters.panels import Member, Panel, panel_of

Labels = NDArray[Any]
Floats = NDArray[np.floating[Any]]
Say = Callable[[Member, Any], NDArray[Any]]

BLOCK_SIZE = 32_768
"""Rows asked for at a time: large enough to hide the cost of a call, small enough to stay in cache."""

GROUPS_PER_JOB = 8
"""Members are asked in groups: a task each costs time, too few of them leave workers idle at the end."""


def collect_votes(
    ensemble: Any,
    X: Any,
    *,
    n_jobs: int | None = None,
    block_size: int = BLOCK_SIZE,
    progress: Progress | bool | None = None,
) -> Labels:
    """The label that each member of a fitted ensemble gives each row.

    Parameters
    ----------
    ensemble : fitted classifier, or sequence of fitted classifiers
        - RandomForest, ExtraTrees, Bagging, AdaBoost, Voting and Stacking classifiers: their members vote;
        - ensembles of imbalanced-learn, forests of XGBoost and LightGBM (``XGBRFClassifier``,
          ``boosting_type="rf"``), voting and stacking classifiers of mlxtend: their members vote;
        - :class:`~votecert.voters.stumps.DecisionStumps`: every stump votes;
        - a pipeline, a parameter search or a FrozenEstimator around one of these: the same votes;
        - a list or tuple of fitted classifiers, or of (name, classifier) pairs: each is one voter,
          even if it is an ensemble itself;
        - any other fitted classifier with ``classes_`` and ``predict``, gradient boosting too: one voter.
    X : array-like, data frame or sparse matrix of shape (m, n_features)
        What ``ensemble.predict`` takes. Or a Dask array or dataframe of that: the ensemble is sent to the
        workers once, and the votes are a Dask array that is not computed yet.
    n_jobs : int or None, default=None
        Members asked at the same time, as in scikit-learn. They run in threads.
    block_size : int, default=32768
        Rows asked for at a time.
    progress : bool or callable, default=None
        True shows a bar on the standard error if it takes longer than two seconds. A function is called as
        ``progress(rows done, rows in all)`` after each block.

    Returns
    -------
    votes : ndarray of shape (m, d), or Dask array
        Labels, with the dtype of the classes.

    Raises
    ------
    TypeError
        If members are not classifiers.
    NotFittedError
        If the ensemble, or a member of the list, is not fitted.

    Warns
    -----
    UserWarning
        If the model by itself, not in a list, is but one voter, and if it is a stack, whose final classifier
        has no say in the votes of its members.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from votecert.voters.collect import collect_votes
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, random_state=0).fit(X[::2], y[::2])
    >>> collect_votes(forest, X[1::2]).shape
    (75, 5)
    """
    panel = panel_of(ensemble)
    panel.warn()
    if is_dask(X):
        return _dask_votes(ensemble, X, panel, n_jobs=n_jobs, block_size=block_size)
    return votes_of(panel, X, n_jobs=n_jobs, block_size=block_size, progress=progress)


def votes_of(panel: Panel, X: Any, **asking: Any) -> Labels:
    """:func:`collect_votes` of an ensemble that was taken apart, without a word."""
    votes = np.empty((_n_rows(X), panel.n_voters), dtype=panel.classes.dtype)
    _ask(panel, X, lambda member, rows: panel.classes.take(member.votes(rows)), votes, **asking)
    return votes


def _dask_votes(ensemble: Any, X: Any, panel: Panel, **asking: Any) -> Labels:
    """:func:`collect_votes` on Dask features: the ensemble goes to the workers once, rows stay there.

    Nothing is computed yet. Chunks have the rows of those of ``X``; for dataframes their sizes are unknown.
    """
    import dask
    import dask.array as da

    if is_array(X):
        sizes = X.chunks[0]
        blocks = in_rows(X, "X", "features").to_delayed().ravel()
    else:
        blocks = X.to_delayed()
        sizes = (np.nan,) * len(blocks)
    # One node of the graph, or on all workers of the current cluster, if there is one.
    client = current_client()
    if client is None:
        everywhere = dask.delayed(ensemble, pure=False, traverse=False)
    else:
        everywhere = client.scatter([ensemble], broadcast=True)[0]
    on_block = dask.delayed(partial(_votes_in_block, **asking), pure=False)
    votes = [
        da.from_delayed(on_block(everywhere, block), (size, panel.n_voters), panel.classes.dtype)
        for block, size in zip(blocks, sizes, strict=True)
    ]
    joined: Labels = da.concatenate(votes, allow_unknown_chunksizes=True)
    return joined


def _votes_in_block(ensemble: Any, X: Any, **asking: Any) -> Labels:
    """The votes on one block, which may be empty."""
    panel = panel_of(ensemble)
    if n_rows_of(X) == 0:
        return np.empty((0, panel.n_voters), panel.classes.dtype)
    return votes_of(panel, X, **asking)


def collect_scores(
    ensemble: Any,
    X: Any,
    *,
    dtype: type[np.float32] | type[np.float64] = np.float64,
    n_jobs: int | None = None,
    block_size: int = BLOCK_SIZE,
    progress: Progress | bool | None = None,
) -> Floats:
    """The probability that each member of a fitted ensemble gives each class, for soft votes.

    Members without ``predict_proba`` give all to the class they vote for.

    Parameters
    ----------
    ensemble, X, n_jobs, block_size, progress
        As in :func:`collect_votes`.
    dtype : numpy.float32 or numpy.float64, default=numpy.float64
        Precision of the scores.

    Returns
    -------
    scores : ndarray of shape (m, d, c)
        Classes in the order of :func:`voter_classes`; 0 for classes that a member never saw.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from votecert.voters.collect import collect_scores
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X[::2], y[::2])
    >>> scores = collect_scores(forest, X[1::2])
    >>> bool(abs(scores.mean(axis=1) - forest.predict_proba(X[1::2])).max() < 1e-12)
    True
    """
    panel = panel_of(ensemble)
    panel.warn()
    return scores_of(panel, X, dtype=dtype, n_jobs=n_jobs, block_size=block_size, progress=progress)


def scores_of(panel: Panel, X: Any, dtype: Any = np.float64, **asking: Any) -> Floats:
    """:func:`collect_scores` of an ensemble that was taken apart, without a word."""
    scores = np.empty((_n_rows(X), panel.n_voters, len(panel.classes)), dtype=dtype)
    _ask(panel, X, lambda member, rows: member.scores(rows), scores, **asking)
    return scores


def out_of_bag_votes(
    ensemble: Any,
    X: Any,
    *,
    n_jobs: int | None = None,
    block_size: int = BLOCK_SIZE,
    progress: Progress | bool | None = None,
) -> np.ma.MaskedArray[Any, Any]:
    """The votes of bagged members on the fitting rows that they were not fitted on.

    Parameters
    ----------
    ensemble : fitted forest or BaggingClassifier, or a pipeline or search around one
        It must have been fitted with bags that leave rows out.
    X : array-like, data frame or sparse matrix of shape (m, n_features)
        Exactly the rows that the ensemble was fitted on, in the same order.
    n_jobs, block_size, progress
        As in :func:`collect_votes`.

    Returns
    -------
    votes : numpy.ma.MaskedArray of shape (m, d)
        Labels; masked (a missing vote) where the row was in the member's bag. In-bag votes are not
        kept under the mask.

    Notes
    -----
    Out-of-bag rows are not always new to a member. A step of a pipeline in front of the ensemble was fitted
    on all rows, and BaggingClassifier hands members that take ``sample_weight`` all rows, those outside the
    bag with weight zero, whatever they do with them. :func:`certify_oob` refuses such ensembles; for looking,
    or for a prior that is learned on fitting rows, the votes are good enough.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from votecert.voters.stumps import paper_forest
    >>> from votecert.voters.collect import out_of_bag_votes
    >>> X, y = load_iris(return_X_y=True)
    >>> votes = out_of_bag_votes(paper_forest(random_state=0).fit(X, y), X)
    >>> votes.shape, bool(votes.mask.any(axis=0).all())
    ((150, 10), True)
    """
    panel = panel_of(ensemble)
    in_bag = np.zeros((_n_rows(X), panel.n_voters), dtype=bool)
    for column, bag in enumerate(bags_of(panel, len(in_bag))):
        in_bag[bag, column] = True
    votes = votes_of(panel, X, n_jobs=n_jobs, block_size=block_size, progress=progress)
    votes[in_bag] = panel.classes[0]
    return np.ma.MaskedArray(votes, mask=in_bag)


def voter_classes(ensemble: Any) -> Labels:
    """The labels that the members of a fitted ensemble may give, in the order of their scores.

    Parameters
    ----------
    ensemble : fitted classifier, or sequence of fitted classifiers
        As in :func:`collect_votes`.

    Returns
    -------
    classes : ndarray of shape (c,)
        ``ensemble.classes_``; for a list of classifiers all of their classes together, sorted.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from votecert.voters.collect import voter_classes
    >>> first = DummyClassifier().fit([[0], [1]], ["cat", "dog"])
    >>> second = DummyClassifier().fit([[0], [1]], ["bird", "dog"])
    >>> voter_classes([first, second]).tolist()
    ['bird', 'cat', 'dog']
    """
    return panel_of(ensemble).classes


def _ask(
    panel: Panel,
    X: Any,
    say: Say,
    answers: NDArray[Any],
    n_jobs: int | None = None,
    block_size: int = BLOCK_SIZE,
    progress: Progress | bool | None = None,
) -> None:
    """Let all members write what they say on all rows into ``answers``."""
    if block_size < 1:
        raise ValueError(f"block_size must be at least 1; got {block_size}.")
    if hasattr(X, "tocsr"):
        X = X.tocsr()  # the sparse format whose rows can be cut
    tell = as_progress(progress, f"asking {panel.n_voters} voters")
    n_rows = len(answers)
    groups = _groups(panel.members, GROUPS_PER_JOB * effective_n_jobs(n_jobs))
    # Members write to one array, and processes would be sent every member for every block. scikit-learn's
    # forests predict under the same requirement; most members release the interpreter lock.
    with Parallel(n_jobs=n_jobs, require="sharedmem") as parallel:
        # An empty X makes one block as well: the ensemble itself then says what is wrong with it.
        for start in range(0, max(n_rows, 1), block_size):
            rows = slice(start, min(start + block_size, n_rows))
            block = panel.ready(X.iloc[rows] if hasattr(X, "iloc") else X[rows])
            parallel(
                delayed(_write)(say, members, block, answers[rows, columns]) for columns, members in groups
            )
            if tell is not None:
                tell(rows.stop, n_rows)


def _groups(members: Sequence[Member], n_groups: int) -> list[tuple[slice, Sequence[Member]]]:
    """The members in about equal groups, each with the columns of its voters."""
    groups, column = [], 0
    for part in gen_even_slices(len(members), min(n_groups, len(members))):
        n_voters = sum(member.n_voters for member in members[part])
        groups.append((slice(column, column + n_voters), members[part]))
        column += n_voters
    return groups


def _write(say: Say, members: Sequence[Member], X: Any, out: NDArray[Any]) -> None:
    out[...] = np.concatenate([say(member, X) for member in members], axis=1)


def _n_rows(X: Any) -> int:
    refuse_lazy(X)
    return n_rows_of(X)

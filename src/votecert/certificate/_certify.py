"""``certify`` and ``compare``: from votes and labels to certificates."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from inspect import signature
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from votecert.bounds import BOUNDS, find_bound
from votecert.bounds.base import Bound
from votecert.certificate.make import Maker, best_of, fallback_index, group_masks
from votecert.certificate.table import CertificateTable
from votecert.learning.budget import mark_interrupted
from votecert.learning.options import (
    LEARNING_OPTIONS,
    check_options,
    given,
    in_search,
    refuse_unused,
    used_by,
)
from votecert.rows.ballots import Ballots
from votecert.rows.read import (
    Weights,
    check_delta,
    read_prior,
    read_rows,
    read_weights,
    voter_names,
)
from votecert.rows.scores import Scores
from votecert.rows.tables import column_names, in_order

BEST_OF = tuple(name for name, bound in BOUNDS.items() if bound.in_best)
"""What ``bound="best"`` tries, each with an equal share of delta."""

DEFAULT_BOUND = {origin: name for name, bound in BOUNDS.items() for origin in bound.default_for}


def certify(
    votes: Any = None,
    y: Any = None,
    *,
    weights: Weights = "learn",
    fixed_in_advance: bool = False,
    bound: str | Bound | None = None,
    delta: float = 0.05,
    classes: Any = None,
    can_abstain: bool | None = None,
    fallback: Any = None,
    scores: Any = None,
    prior: npt.ArrayLike | None = None,
    search: Literal["default", "paper"] = "default",
    groups: Any = None,
    voters: Iterable[str] | None = None,
    **learning: Any,
) -> Any:
    """Bound the true error of a weighted majority vote.

    Parameters
    ----------
    votes : (m, d) labels
        What each of the d voters says about each of the m certifying rows. A missing entry is an
        abstention.
    y : (m,) labels
        The true labels.
    weights : "learn", "uniform", (d,) array or dict, default="learn"
        "learn" finds the weights with the smallest bound on these very rows; the certificate covers that.
        "uniform" is the plain vote, fixed in advance. An array may come from anywhere, these rows included;
        a dictionary, or a pandas series, gives the weights by the names of the voters.
    fixed_in_advance : bool, default=False
        Say that the array of weights was fixed without looking at these rows. Nobody can check that from the
        numbers, so without it "test-set", the bound for such weights, is not called a guarantee.
    bound : str or Bound, optional
        A key of ``BOUNDS`` or a bound with options. By default "occam" for learned weights, "dirichlet" for
        given ones and "test-set" for those fixed in advance. "best" splits delta over "occam", "dirichlet"
        and "bin-margin" and returns the smallest.
    delta : float, default=0.05
        The certificate holds with probability at least 1 - delta.
    classes : sequence of labels, optional
        All labels there can be, in the order that breaks ties; inferred from the rows by default.
    can_abstain : bool, optional
        Whether voters can abstain; by default, whether one does on these rows.
    fallback : label, optional
        Prediction where nobody votes, fixed in advance. Without it such rows count as errors.
    scores : (m, d, c) array, optional
        Class scores of the voters in place of ``votes``, for the soft vote (bounds "occam" and "test-set").
    prior : (d,) positive numbers, optional
        Prior over the voters, fixed without looking at these rows, for bounds that have one ("occam" and
        "test-set" do not). Default: all ones.
    search : {"default", "paper"}
        "paper" searches margins and K as the paper's experiments do (1000 margins, all paid for), for bounds
        with a grid of margins.
    groups : (m,) labels or "class", optional
        One certificate for each group of rows, for the same weights, with delta split evenly so that they
        hold together; "class" groups by the true label.
    voters : sequence of str, optional
        Names of the voters; taken from the columns of a table by default.
    **learning
        Options of :func:`votecert.learn` when weights are learned: ``method``, ``random_state``, ``split``,
        ``prior_votes``, ``prior_y``, ``time_budget``, ``callback``. Whatever nothing would use is refused.

    Returns
    -------
    Certificate
        Or, with ``groups``, a CertificateTable of one certificate a group. If learning was cut short, by its
        budget or from the keyboard, ``details["interrupted"]`` is 1.

    See Also
    --------
    compare : every bound at the same weights.

    Examples
    --------
    >>> import numpy as np, votecert as vc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> votes = np.where(rng.random((2000, 5)) < 0.8, y[:, None], 1 - y[:, None])
    >>> certificate = vc.certify(votes, y)
    >>> certificate.empirical_risk < certificate.risk < 0.1
    True
    >>> bool(certificate.verify(votes, y))
    True
    """
    check_delta(delta)
    learning = _checked(learning, votes)
    rows = read_rows(votes, y, scores, classes, can_abstain, learning)
    names = voter_names(votes, voters, rows.n_voters)
    theta, origin = read_weights(weights, rows.n_voters, fixed_in_advance, names)
    tried = BEST_OF if bound == "best" else [bound if bound is not None else DEFAULT_BOUND[origin]]
    methods = in_search(search, [find_bound(name) for name in tried])
    refuse_unused({"prior": prior, **(learning if theta is None else {})}, methods)
    if fallback is not None and isinstance(rows, Scores):
        raise TypeError("fallback= would be ignored here: it is for votes, where all voters may abstain.")
    maker = Maker(
        rows=rows,
        origin=origin,
        prior=read_prior(prior, rows.n_voters),
        fallback=fallback_index(fallback, rows),
        voters=names,
    )
    if groups is not None:
        if bound == "best":
            raise ValueError("groups= need one bound; bound='best' tries several. Name one of them.")
        if isinstance(rows, Ballots) and rows.pattern_of_row is None:
            raise ValueError(
                "Rows that were read in blocks are gone and cannot be grouped: read each group by itself and "
                "certify it with its share of delta."
            )
        masks = group_masks(groups, y if y is not None else _labels(rows), rows.n_rows)
        learning = _for_groups(learning) if theta is None else learning
        return maker.make_groups(methods[0], theta, delta, masks, learning)
    share = delta / len(methods)
    made = [
        maker.make(method, theta, share, used_by(method, learning) if theta is None else learning)
        for method in methods
    ]
    return best_of(made, delta) if bound == "best" else made[0]


def compare(
    votes: Any = None,
    y: Any = None,
    *,
    weights: Weights = "uniform",
    fixed_in_advance: bool = False,
    delta: float = 0.05,
    bounds: Iterable[str | Bound] | None = None,
    simultaneous: bool = False,
    classes: Any = None,
    can_abstain: bool | None = None,
    fallback: Any = None,
    prior: npt.ArrayLike | None = None,
    search: Literal["default", "paper"] = "default",
    voters: Iterable[str] | None = None,
    **learning: Any,
) -> CertificateTable:
    """Evaluate every bound at the same weights.

    Parameters
    ----------
    votes, y, weights, fixed_in_advance, delta, classes, can_abstain, fallback, prior, search, voters
        As for :func:`certify`. With ``weights="learn"`` they are learned once, with "occam"; the other bounds
        are about the vote with these weights, without the constant voters that "occam" may add.
    bounds : iterable of ids or bounds, optional
        Which bounds; all registered ones that cover the problem by default.
    simultaneous : bool, default=False
        False: each row of the table holds on its own with probability 1 - delta; the table is for looking.
        True: delta is split evenly over the guaranteed bounds, so they hold together and the smallest
        may be picked afterwards.
    **learning
        Options of :func:`votecert.learn` when weights are learned.

    Returns
    -------
    CertificateTable
        One certificate a bound, smallest risk first among the guarantees; ``skipped`` says which bounds
        do not cover the problem and why.

    Examples
    --------
    >>> import numpy as np, votecert as vc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=500)
    >>> votes = np.where(rng.random((500, 5)) < 0.8, y[:, None], 1 - y[:, None])
    >>> table = vc.compare(votes, y, weights=[0.3, 0.2, 0.2, 0.2, 0.1])
    >>> table["test-set"].risk < table["dirichlet"].risk < table["fo"].risk
    True
    >>> table["test-set"].is_guarantee, table["dirichlet"].is_guarantee
    (False, True)
    >>> known = vc.compare(votes, y, weights=[0.3, 0.2, 0.2, 0.2, 0.1], fixed_in_advance=True)
    >>> known["test-set"].is_guarantee
    True
    """
    check_delta(delta)
    learning = _checked(learning, votes)
    rows = read_rows(votes, y, None, classes, can_abstain, learning)
    methods = in_search(search, [find_bound(bound) for bound in (bounds if bounds is not None else BOUNDS)])
    refuse_unused({"prior": prior}, methods)
    names = voter_names(votes, voters, rows.n_voters)
    theta, origin = read_weights(weights, rows.n_voters, fixed_in_advance, names)
    maker = Maker(
        rows=rows,
        origin=origin,
        prior=read_prior(prior, rows.n_voters),
        fallback=fallback_index(fallback, rows),
        voters=names,
    )
    skipped = {method.id: problem for method in methods if (problem := maker.problem_with(method))}
    methods = [method for method in methods if method.id not in skipped]
    sharing = max(1, sum(method.covers(origin) for method in methods))
    share = delta / sharing if simultaneous else delta
    certificates = []
    if theta is None:
        occam = next((method for method in methods if method.id == "occam"), BOUNDS["occam"])
        found = maker.evaluate(occam, None, share, learning)
        theta = np.array(found.terms.weights)
        if occam in methods:
            certificates.append(maker.write(occam, found, share))
            methods.remove(occam)
        interrupted = bool(found.details["interrupted"])
        for method in methods:
            found = mark_interrupted(maker.evaluate(method, theta, share, {}), interrupted)
            certificates.append(maker.write(method, found, share))
    else:
        certificates = [maker.make(method, theta, share, learning) for method in methods]
    certificates.sort(key=lambda certificate: (not certificate.is_guarantee, certificate.risk))
    return CertificateTable(tuple(certificates), "bound", skipped, simultaneous)


def _checked(learning: dict[str, Any], votes: Any) -> dict[str, Any]:
    """The options for learning; a table of other rows with the columns in the order of the votes."""
    for name in learning:
        if name not in LEARNING_OPTIONS:
            close = get_close_matches(name, [*LEARNING_OPTIONS, *signature(certify).parameters], n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"There is no option {name!r}.{hint}")
    learning = given(learning)
    check_options(learning)
    if "prior_votes" in learning:
        learning["prior_votes"] = in_order(learning["prior_votes"], column_names(votes))
    return learning


def _for_groups(learning: dict[str, Any]) -> dict[str, Any]:
    """The options for learning by groups, which have no rows to spare for a list."""
    if learning.get("split") and "prior_votes" not in learning:
        raise TypeError(
            "split= would be ignored here: with groups= no list of votes is fitted on some rows. Leave "
            "it out, or give other rows to fit on as prior_votes=."
        )
    return learning


def _labels(rows: Ballots | Scores) -> npt.NDArray[Any]:
    """The true label of each row."""
    if isinstance(rows, Scores):
        return np.asarray(rows.classes[rows.labels])
    assert rows.pattern_of_row is not None
    return np.asarray(rows.classes[rows.labels[rows.pattern_of_row]])

"""``certify`` and ``compare``: from votes and labels to certificates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from votecert.ballots import Ballots
from votecert.bounds import BOUNDS, find_bound
from votecert.bounds.base import Bound, Evaluation, UnsupportedProblemError
from votecert.certificate.record import Certificate, Origin
from votecert.certificate.table import CertificateTable
from votecert.inputs import (
    Floats,
    Rows,
    Weights,
    check_delta,
    read_prior,
    read_rows,
    read_weights,
    voter_names,
)
from votecert.learning.learn import learn_on
from votecert.predictor import WeightedVote, scaled_votes
from votecert.scores import Scores

BEST_OF = ("occam", "dirichlet", "bin-margin")
"""What ``bound="best"`` tries, each with an equal share of delta."""

DEFAULT_BOUND = {"learned": "occam", "given": "dirichlet", "fixed": "test-set"}


def certify(
    votes: Any = None,
    y: Any = None,
    *,
    weights: Weights = "learn",
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
    weights : "learn", "uniform" or (d,) array, default="learn"
        "learn" finds the weights with the smallest bound on these very rows; the certificate covers that.
        "uniform" is the plain vote, fixed in advance. An array may come from anywhere, these rows included.
    bound : str or Bound, optional
        A key of ``BOUNDS`` or a bound with options. By default "occam" for learned weights, "dirichlet" for
        given ones and "test-set" for uniform ones. "best" splits delta over "occam", "dirichlet" and
        "bin-margin" and returns the smallest.
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
        Prior over the voters, fixed without looking at these rows. Default: all ones.
    search : {"default", "paper"}
        "paper" searches margins and K as the paper's experiments do (1000 margins, all paid for).
    groups : (m,) labels or "class", optional
        One certificate for each group of rows, for the same weights, with delta split evenly so that they
        hold together; "class" groups by the true label.
    voters : sequence of str, optional
        Names of the voters; taken from the columns of a table by default.
    **learning
        Options of :func:`votecert.learn` when weights are learned: ``method``, ``random_state``, ``split``,
        ``prior_votes``, ``prior_y``, ``time_budget``, ``callback``.

    Returns
    -------
    Certificate
        Or, with ``groups``, a CertificateTable of one certificate a group.

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
    rows = read_rows(votes, y, scores, classes, can_abstain)
    theta, origin = read_weights(weights, rows.n_voters)
    maker = Maker(
        rows=rows,
        origin=origin,
        prior=read_prior(prior, rows.n_voters),
        fallback=fallback_index(fallback, rows),
        voters=voter_names(votes, voters, rows.n_voters),
    )
    if groups is not None:
        method = find_bound(bound if bound is not None else DEFAULT_BOUND[origin])
        return maker.make_groups(method, theta, delta, group_masks(groups, y, rows.n_rows), learning)
    if bound == "best":
        share = delta / len(BEST_OF)
        return best_of([maker.make(BOUNDS[name], theta, share, learning) for name in BEST_OF], delta)
    method = find_bound(bound if bound is not None else DEFAULT_BOUND[origin])
    return maker.make(method.in_paper_search() if search == "paper" else method, theta, delta, learning)


def compare(
    votes: Any = None,
    y: Any = None,
    *,
    weights: Weights = "uniform",
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
    votes, y, weights, delta, classes, can_abstain, fallback, prior, search, voters, **learning
        As for :func:`certify`. With ``weights="learn"`` they are learned once, with "occam"; the other bounds
        are about the vote with these weights, without the constant voters that "occam" may add.
    bounds : iterable of ids or bounds, optional
        Which bounds; all registered ones that cover the problem by default.
    simultaneous : bool, default=False
        False: each row of the table holds on its own with probability 1 - delta; the table is for looking.
        True: delta is split evenly over the guaranteed bounds, so they hold together and the smallest
        may be picked afterwards.

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
    >>> table = vc.compare(votes, y, weights=[0.2] * 5)
    >>> table["test-set"].risk < table["dirichlet"].risk < table["fo"].risk
    True
    """
    check_delta(delta)
    rows = read_rows(votes, y, None, classes, can_abstain)
    methods = [find_bound(bound) for bound in (bounds if bounds is not None else BOUNDS)]
    if search == "paper":
        methods = [method.in_paper_search() for method in methods]
    theta, origin = read_weights(weights, rows.n_voters)
    maker = Maker(
        rows=rows,
        origin=origin,
        prior=read_prior(prior, rows.n_voters),
        fallback=fallback_index(fallback, rows),
        voters=voter_names(votes, voters, rows.n_voters),
    )
    skipped = {method.id: problem for method in methods if (problem := maker.problem_with(method))}
    methods = [method for method in methods if method.id not in skipped]
    sharing = max(1, sum(method.is_guarantee for method in methods))
    share = delta / sharing if simultaneous else delta
    certificates = []
    if theta is None:
        occam = next((method for method in methods if method.id == "occam"), BOUNDS["occam"])
        found = maker.evaluate(occam, None, share, learning)
        theta = np.array(found.terms.weights)
        if occam in methods:
            certificates.append(maker.write(occam, found, share))
            methods.remove(occam)
    certificates += [maker.make(method, theta, share, {}) for method in methods]
    certificates.sort(key=lambda certificate: (not certificate.is_guarantee, certificate.risk))
    return CertificateTable(tuple(certificates), "bound", skipped, simultaneous)


def group_masks(groups: Any, y: Any, n_rows: int) -> dict[str, npt.NDArray[np.bool_]]:
    """Which rows belong to each group, by the group's name in sorted order."""
    if isinstance(groups, str):
        if groups != "class":
            raise ValueError(f"groups must be 'class' or one label a row, not {groups!r}.")
        groups = y
    names = np.array([str(name) for name in groups])
    if names.shape != (n_rows,):
        raise ValueError(f"groups must have one label a row, {n_rows} in all, but there are {len(names)}.")
    return {str(name): names == name for name in np.unique(names)}


@dataclass(frozen=True)
class Maker:
    """Makes certificates that differ in the bound, the share of delta and the rows only."""

    rows: Rows
    origin: Origin
    prior: Floats | None
    fallback: int | None
    voters: tuple[str, ...] | None
    group: str | None = None

    @property
    def ballots(self) -> Ballots:
        """The rows as bounds take them: those that count errors take scores just as well."""
        return cast(Ballots, self.rows)

    def make(
        self, method: Bound, theta: Floats | None, delta: float, learning: dict[str, Any]
    ) -> Certificate:
        """Evaluate (or learn by) one bound and write the certificate."""
        return self.write(method, self.evaluate(method, theta, delta, learning), delta)

    def problem_with(self, method: Bound) -> str | None:
        """Say why the bound does not cover these rows or weights, or None when it does."""
        if method.id == "test-set" and self.origin == "learned":
            return (
                "The bound 'test-set' does not cover weights learned on these rows. Use bound='occam', or "
                "learn the weights on other rows and pass them as an array."
            )
        if isinstance(self.rows, Scores) and not method.counts_errors:
            return f"The bound {method.id!r} does not cover soft votes; use 'occam'."
        return method.problem_with(self.ballots)

    def evaluate(
        self, method: Bound, theta: Floats | None, delta: float, learning: dict[str, Any]
    ) -> Evaluation:
        """The bound at the given weights, or at learned ones."""
        if problem := self.problem_with(method):
            raise UnsupportedProblemError(problem)
        if theta is None:
            return learn_on(self.rows, method, delta, prior=self.prior, fallback=self.fallback, **learning)
        if learning:
            raise TypeError(f"{', '.join(learning)} can only be used with weights='learn'.")
        found = method.evaluate(self.ballots, theta, delta, prior=self.prior)
        if self.fallback is None or not method.counts_errors:
            return found
        return self.at(method, found, delta)

    def at(self, method: Bound, found: Evaluation, delta: float) -> Evaluation:
        """The bound for an already found vote on these rows, with the fallback in force."""
        choice = {**found.terms.choice, "fallback": self.fallback}
        return method.at(self.ballots, np.array(found.terms.weights), delta, choice, prior=self.prior)

    def make_groups(
        self,
        method: Bound,
        theta: Floats | None,
        delta: float,
        masks: dict[str, npt.NDArray[np.bool_]],
        learning: dict[str, Any],
    ) -> CertificateTable:
        """One certificate a group for one vote, each with an equal share of delta.

        A vote learned on all rows is one of the votes that each group's statement covers, so the groups
        need not be split off before learning. The fitted list would need its own held-out rows in every
        group; it is left out unless it was fitted on other rows.
        """
        share, learned = delta / len(masks), None
        if theta is None:
            if learning.get("prior_votes") is None:
                learning = {**learning, "split": 0.0}
            learned = self.evaluate(method, None, share, learning)
            theta = np.array(learned.terms.weights)
        certificates = []
        for name, mask in masks.items():
            maker = replace(self, rows=self.rows.subset(mask), group=name)
            if learned is not None and method.counts_errors:
                certificates.append(maker.write(method, maker.at(method, learned, share), share))
            else:
                certificates.append(maker.make(method, theta, share, {}))
        return CertificateTable(tuple(certificates), "group", simultaneous=True)

    def write(self, method: Bound, found: Evaluation, delta: float) -> Certificate:
        """The certificate of an evaluated bound."""
        rows, choice = self.rows, found.terms.choice
        vote = WeightedVote(
            votes=tuple(int(n) for n in choice.get("votes", scaled_votes(found.terms.weights))),
            offsets=tuple(int(n) for n in choice.get("offsets", (0,) * rows.n_classes)),
            classes=tuple(rows.classes.tolist()),
            kind="soft" if isinstance(rows, Scores) else "hard",
            fallback=self.fallback,
        )
        return Certificate(
            risk=found.risk,
            delta=delta,
            bound=method.id,
            options=method.options(),
            terms=found.terms,
            predictor=vote,
            origin=self.origin,
            errors=rows.errors(vote.votes, vote.offsets, self.fallback),
            ties=rows.ties(vote.votes, vote.offsets),
            details=found.details,
            ledger=found.ledger,
            classes_declared=rows.classes_declared,
            group=self.group,
            voters=self.voters,
            reason=found.reason,
        )


def best_of(found: list[Certificate], delta: float) -> Certificate:
    """The smallest of several certificates that hold together, with the whole delta and its ledger."""
    best = min(found, key=lambda certificate: certificate.risk)
    others = {f"{c.bound} (not used)": c.delta for c in found if c is not best}
    ledger = {f"{best.bound}: {name}": share for name, share in best.ledger.items()} | others
    return replace(best, delta=delta, ledger=ledger)


def fallback_index(fallback: Any, rows: Rows) -> int | None:
    """Index of the fallback class."""
    if fallback is None:
        return None
    places = np.flatnonzero(rows.classes == fallback)
    if not len(places):
        raise ValueError(f"The fallback {fallback!r} is not one of the classes {rows.classes.tolist()}.")
    return int(places[0])

"""``certify``, ``compare`` and ``compare_at``: from votes and labels to certificates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from votecert.bounds import BOUNDS, find_bound
from votecert.bounds.base import Bound, Origin
from votecert.bounds.test_set import TestSet
from votecert.certificate.certificate import Certificate
from votecert.certificate.certified_rows import certified_rows
from votecert.certificate.groups import read_groupings
from votecert.certificate.losses import certify_losses
from votecert.certificate.make import Maker, best_of
from votecert.certificate.table import CertificateTable
from votecert.learning import check_prior, find_learners, ignored, read_options, splitting
from votecert.learning.base import Learner
from votecert.learning.budget import mark_interrupted
from votecert.rows.ballots import Ballots
from votecert.rows.checks import not_told_of_clusters
from votecert.rows.read import (
    Floats,
    KnownWeights,
    Weights,
    check_delta,
    read_rows,
    read_weights,
    voter_names,
)
from votecert.rows.tables import column_names
from votecert.rows.vote_table import unlabelled_of

BEST_OF = tuple(name for name, bound in BOUNDS.items() if bound.in_best)
"""What ``bound="best"`` tries, each with an equal share of delta."""

DEFAULT_BOUND = {origin: name for name, bound in BOUNDS.items() for origin in bound.default_for}

SEARCHES = ("default", "paper")


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
    costs: Any = None,
    clusters: Any = None,
    largest_cluster: int | None = None,
    sequential: bool = False,
    voters: Iterable[str] | None = None,
    validate: bool = True,
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
        given ones and "test-set" for those fixed in advance, as the weight of a single voter is. "best"
        splits delta over "occam", "dirichlet" and "bin-margin" and returns the smallest.
    delta : float, default=0.05
        The certificate holds with probability at least 1 - delta.
    classes : sequence of labels, optional
        All labels there can be, in the order that breaks ties; inferred from the rows by default.
    can_abstain : bool, optional
        Whether voters can abstain; by default, whether one does on these rows.
    fallback : label, optional
        Prediction where no class has a vote, fixed in advance; without it such rows count as errors. A
        learned vote may have votes for a class, its ``offsets``, even where nobody votes: these come first.
    scores : (m, d, c) array, optional
        Class scores of the voters in place of ``votes``, for the soft vote (bounds "occam" and "test-set").
    prior : (d,) positive numbers, optional
        Prior over the voters, fixed without looking at these rows, for bounds that have one ("occam" and
        "test-set" do not). Default: all ones.
    search : {"default", "paper"}
        "paper" searches margins and K as the paper's experiments do (1000 margins, all paid for), for bounds
        with a grid of margins.
    groups : (m,) labels, "class", "predicted", a list or dict of these, optional
        One certificate for each group of rows, for the same weights, with delta split evenly so that they
        hold together; "class" groups by the true label (recall), "predicted" by what the vote says
        (precision). Several at once: a list, or a dictionary with names.
    sequential : bool, default=False
        Whether one looks while the rows come in: certify all rows so far after each batch, and stop as
        soon as the risk is below the target. They all hold together. For a vote fixed in advance.
    costs : (c, c) or (c, c + 1) numbers, optional
        What each answer (a column) costs for each true class (a row), in the order of the classes, or a table
        with their names; another column is for no answer. The result then limits the expected cost, and
        learned votes are made cheap. For votes that are learned or fixed in advance.
    clusters : (m,) labels, optional
        Which rows belong together: to one patient, conversation or query. Then clusters are the independent
        units, for fitting and certifying, and the error is that on a random row of a random new cluster.
    largest_cluster : int, optional
        The largest size that a cluster can have, declared: then rows count alike, however large their
        clusters.
    voters : sequence of str, optional
        Names of the voters; taken from the columns of a table by default.
    validate : bool, default=True
        Refuse what looks like no table of votes: a column of item numbers, texts or scores among the voters,
        a long table, more labels than a tenth of the rows. What is only unusual is a warning, and among the
        certificate's ``notes``. False asks for neither.
    **learning
        What learns the weights, when they are learned: ``method``, a :class:`WholeVotes`, :class:`LBFGS` or
        :class:`Adam` or the name of one, or their options, such as ``random_state``, ``time_budget`` or
        ``split``, as for :func:`votecert.learn`. Whatever nothing would use is refused. With "best" a method
        is for those bounds that it learns.

    Returns
    -------
    Certificate
        Or, with ``groups``, a CertificateTable of one certificate a group, and with ``costs`` or ``clusters``
        a :class:`LossCertificate`. If learning was cut short, by its
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
    options = read_options(learning, signature(certify).parameters)
    voters = None if voters is None else tuple(voters)
    with not_told_of_clusters(clusters is not None):
        rows = read_rows(votes, y, scores, classes, can_abstain, splitting(options), validate, voters)
    names = voter_names(votes, voters, rows.n_voters)
    theta, origin = read_weights(weights, rows.n_voters, fixed_in_advance, names)
    if theta is None and bound is None and rows.n_voters == 1 and isinstance(rows, Ballots):
        theta, origin, options = np.ones(1), "fixed", {}  # a single voter leaves nothing to learn
    if costs is not None or clusters is not None or largest_cluster is not None:
        others = {"bound": bound, "groups": groups, "prior": prior, "sequential": sequential or None}
        if said := [name for name, value in others.items() if value is not None]:
            raise TypeError(f"{said[0]}= would be ignored here: leave it out with costs= or clusters=.")
        asked = costs, clusters, largest_cluster
        return certify_losses(rows, theta, origin, *asked, delta, fallback, names, options)
    if sequential:
        bound = _sequential(bound, origin, groups)
    tried = BEST_OF if bound == "best" else [bound if bound is not None else DEFAULT_BOUND[origin]]
    methods = _in_search(search, [find_bound(name) for name in tried])
    check_prior(prior, methods)
    maker = Maker.of(rows, origin, prior, fallback, names, learns=theta is None)
    maker.check(methods)
    found_by = _weights(theta, methods, options, votes, groups is not None)
    if groups is not None:
        if bound == "best":
            raise ValueError("groups= need one bound; bound='best' tries several. Name one of them.")
        groupings = read_groupings(groups, y, rows, methods[0])
        return maker.make_groups(methods[0], found_by[0], delta, groupings)
    share = delta / len(methods)
    made = [maker.make(method, how, share) for method, how in zip(methods, found_by, strict=True)]
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
    validate: bool = True,
    **learning: Any,
) -> CertificateTable:
    """Evaluate every bound at the same weights.

    Parameters
    ----------
    votes, y, fixed_in_advance, delta, classes, can_abstain, fallback, prior, search, voters, validate
        As for :func:`certify`.
    weights : "learn", "uniform", (d,) array or dict, default="uniform"
        As for :func:`certify`. With "learn" they are learned once, with "occam"; the other bounds are about
        the vote with these weights, without the offsets and tables that "occam" may add.
    bounds : iterable of ids or bounds, optional
        Which bounds; all registered ones that cover the problem by default.
    simultaneous : bool, default=False
        False: each row of the table holds on its own with probability 1 - delta; the table is for looking.
        True: delta is split evenly over the guaranteed bounds, so they hold together and the smallest
        may be picked afterwards.
    **learning
        ``method`` and options as for :func:`votecert.learn`, when weights are learned.

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
    options = read_options(learning, signature(compare).parameters)
    voters = None if voters is None else tuple(voters)
    rows = read_rows(votes, y, None, classes, can_abstain, splitting(options), validate, voters)
    methods = _in_search(search, [find_bound(bound) for bound in (bounds if bounds is not None else BOUNDS)])
    check_prior(prior, methods)
    names = voter_names(votes, voters, rows.n_voters)
    theta, origin = read_weights(weights, rows.n_voters, fixed_in_advance, names)
    maker = Maker.of(rows, origin, prior, fallback, names, learns=theta is None)
    skipped = {method.id: problem for method in methods if (problem := maker.problem_with(method))}
    methods = [method for method in methods if method.id not in skipped]
    sharing = max(1, sum(method.covers(origin) for method in methods))
    share = delta / sharing if simultaneous else delta
    usual = BOUNDS[DEFAULT_BOUND["learned"]]
    learned = next((method for method in methods if isinstance(method, type(usual))), usual)
    (how,) = _weights(theta, [learned], options, votes)
    found = None
    if isinstance(how, Learner):
        found = maker.evaluate(learned, how, share)
        how = np.array(found.terms.weights)
        methods.sort(key=lambda method: method is not learned)
    certificates = []
    for method in methods:
        here = found if found is not None and method is learned else maker.evaluate(method, how, share)
        if found is not None:
            here = mark_interrupted(here, bool(found.details["interrupted"]))
        certificates.append(maker.write(method, here, share))
    certificates.sort(key=lambda certificate: (not certificate.is_guarantee, certificate.risk))
    return CertificateTable(tuple(certificates), "bound", skipped, simultaneous)


def _sequential(bound: str | Bound | None, origin: Origin, groups: Any) -> Bound:
    """The bound for those who look while the rows come in; refused where something was not fixed before."""
    if groups is not None:
        raise ValueError(
            "sequential=True is not for groups=: how many groups share delta would change with the rows that "
            "have come. Certify each group by itself, with a share of delta fixed in advance as delta=."
        )
    if bound not in (None, TestSet.id) and not isinstance(bound, TestSet):
        raise ValueError("sequential=True is for the test-set bound: leave bound= out.")
    if origin != "fixed":
        raise ValueError(
            "sequential=True is for a vote that was fixed in advance: weights='uniform', or an array with "
            "fixed_in_advance=True. Learn the weights on other rows."
        )
    return TestSet(sequential=True)


def _weights(
    theta: Floats | None,
    methods: Sequence[Bound],
    options: Mapping[str, Any],
    votes: Any,
    in_groups: bool = False,
) -> Sequence[Floats | Learner]:
    """For each bound the given weights, or what learns them."""
    if theta is None:
        # those for groups have no fitted vote, which alone would look at rows without labels
        unlabelled = None if in_groups else unlabelled_of(votes)
        return find_learners(methods, options, column_names(votes), unlabelled)
    if options:
        raise TypeError(f"{', '.join(options)} can only be used with weights='learn'.")
    return [theta] * len(methods)


def _in_search(search: str, bounds: Sequence[Bound]) -> Sequence[Bound]:
    """The bounds with the search that was asked for."""
    if search not in SEARCHES:
        raise ValueError(f"search must be 'default' or 'paper', not {search!r}.")
    if search == "default":
        return bounds
    if all(type(bound).in_paper_search is Bound.in_paper_search for bound in bounds):
        raise ignored("search", "bounds with a grid of margins, as 'dirichlet-margin' or 'bg'", bounds)
    return [bound.in_paper_search() for bound in bounds]


def compare_at(certificate: Certificate, votes: Any, y: Any = None, **options: Any) -> CertificateTable:
    """Every bound at the weights of a certificate, on its own rows, for looking.

    The weights keep their origin: the test-set bound is no guarantee for those learned on the same rows.
    Bounds are about the weights only, without the offsets and tables that "occam" may have
    added.

    Parameters
    ----------
    certificate : Certificate
    votes, y
        The certifying rows, as given to ``certify``, or Ballots.
    **options
        Of :func:`compare`.
    """
    weights = KnownWeights(certificate.weights, certificate.origin)
    own = {"weights": weights, "delta": certificate.delta, "voters": certificate.voters}
    return compare(certified_rows(certificate, votes, y), **{**own, **options})

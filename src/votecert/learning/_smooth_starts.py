"""Where smooth learning starts: weights by single errors, by drawn votes, equal weights of few voters.

Margin losses at a large concentration are close to counting errors and have many local minima. Three families
of starting weights lie in the good regions between them:

* ``theta_i ~ pi_i exp(-t Lhat(h_i))``, from the prior to the best voters: minimisers of first-order bounds;
* weights for which a vote of N voters drawn from them errs least, N growing: a smoothed error count;
* equal weights of a few voters that vote well together, found by adding, removing and exchanging voters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import lgamma, log

import numpy as np
from numpy.typing import NDArray

from votecert.bounds.base import Floats, categorical_prior
from votecert.bounds.gibbs import Binomial
from votecert.learning._smooth_descent import Descent
from votecert.learning._smooth_rows import QuickBallots, RightOrWrong
from votecert.learning.budget import Budget
from votecert.numerics import kl_inverse_upper

Members = NDArray[np.bool_]

DRAWS = (4, 16, 64)
"""Voters drawn for the vote that is optimised; each result is the start for the next."""

AWAKE = 1e-6
"""Share of the prior in every start: a weight of exactly zero would stay zero for ever."""

EXCHANGES = 16
"""Exchanges made for each size of a subset."""

MOVES = ((-1, 1), (1, -1), (-1, -1, 1, 1), (1, 1, -1, -1))
"""Orders in which voters are taken out (-1) and in (+1) for an exchange."""

PATIENCE = 16
"""Sizes without progress after which a longer list of voters is not tried."""

WORK = 10**8
"""Votes looked at, roughly, while subsets are grown."""

PRICE = 12.0
"""Roughly what a certificate pays for its grids, in nats, when subsets of different sizes are compared."""


def by_single_errors(rows: QuickBallots, prior: Floats | None) -> list[Floats]:
    """Weights ``pi_i exp(-t Lhat(h_i))`` for growing t > 0; none if all voters have the same errors."""
    errors = rows.voter_errors() / rows.n_rows
    excess = errors - errors.min()
    centre = categorical_prior(prior, rows.n_voters)
    if excess.max() == 0:
        return []
    # From hardly any preference to one that tells apart voters whose errors differ by one row.
    gentle = np.array([0.5, 1.5, 5.0, 15.0]) / excess.max()
    temperatures = [*gentle, 4.0 * rows.n_rows]
    weights = centre * np.exp(-np.multiply.outer(temperatures, excess))
    weights /= weights.sum(axis=1, keepdims=True)
    return list((1 - AWAKE) * weights + AWAKE * centre)


def by_drawn_votes(descent: Descent) -> Iterator[Floats]:
    """Weights near the minimum of the binomial bound for growing N, each started from the last."""
    weights = descent.best.weights
    for draws in DRAWS:
        proxy = replace(descent, bound=Binomial(draws), budget=descent.budget.silent())
        weights = proxy.descend(proxy.at(weights), max_iter=30, tolerance=1e-6).weights
        yield weights


@dataclass(frozen=True)
class Subset:
    """Voters with equal weights, and the number of rows their vote gets wrong (a tie is half an error)."""

    members: Members
    errors: float

    @property
    def size(self) -> int:
        """Number of voters."""
        return int(self.members.sum())

    @property
    def weights(self) -> Floats:
        """The same weight for each member, zero for the others."""
        return self.members / self.size


def promising_subsets(
    rows: QuickBallots, n_wanted: int, hints: Sequence[Floats], budget: Budget
) -> list[Subset]:
    """The most promising subsets of different sizes: few errors for the price of ``log C(d, k)``.

    With two outputs only odd numbers of voters are asked for: they are never tied, and an error then means
    that clearly more than half of the weight is wrong. The voters with the largest weights in a hint may
    vote well together. The budget may end the search.
    """
    kept: dict[int, tuple[float, Subset]] = {}
    families = (_all_but_few(rows), _grown(rows, budget), *(_heaviest(rows, hint, budget) for hint in hints))
    for family in families:
        lowest, since = np.inf, 0
        for subset in family:
            if not _is_wanted(rows, subset.size):
                continue
            promise = _promise(rows, subset)
            if subset.size not in kept or promise < kept[subset.size][0]:
                kept[subset.size] = (promise, subset)
            lowest, since = (promise, 0) if promise < lowest else (lowest, since + 1)
            if since > PATIENCE:
                break
    best = sorted(kept.values(), key=lambda pair: pair[0])[:n_wanted]
    return [subset for _, subset in best]


def _all_but_few(rows: QuickBallots) -> Iterator[Subset]:
    """All voters, and all but one, two, three."""
    everybody = np.ones(rows.n_voters, dtype=bool)
    subset = Subset(everybody, _errors(rows, everybody))
    yield subset
    for _ in range(min(rows.n_voters - 1, 3)):
        subset = _changed(rows, subset, -1)
        yield subset


def _grown(rows: QuickBallots, budget: Budget) -> Iterator[Subset]:
    """Ever larger subsets, by adding the voter that helps most."""
    subset = Subset(np.zeros(rows.n_voters, dtype=bool), np.inf)
    for size in range(1, _longest(rows) + 1):
        subset = _changed(rows, subset, +1)
        if _is_wanted(rows, size):
            subset = _exchanged(rows, subset, budget)
        yield subset


def _heaviest(rows: QuickBallots, weights: Floats, budget: Budget) -> Iterator[Subset]:
    """The voters with the largest weights, improved by exchanges."""
    rank = np.argsort(np.argsort(-weights, kind="stable"))
    for size in range(1, min(_longest(rows), int(np.count_nonzero(weights))) + 1):
        if _is_wanted(rows, size):
            members = rank < size
            yield _exchanged(rows, Subset(members, _errors(rows, members)), budget)


def _is_wanted(rows: QuickBallots, size: int) -> bool:
    """With two outputs, an odd number of voters or all of them."""
    return not _is_binary(rows) or size % 2 == 1 or size == rows.n_voters


def _longest(rows: QuickBallots) -> int:
    """Size up to which subsets are tried, so that the work stays within bounds."""
    return min(rows.n_voters, max(9, WORK // (rows.n_patterns * rows.n_voters)))


def _exchanged(rows: QuickBallots, subset: Subset, budget: Budget) -> Subset:
    """Improve a subset by exchanging one or two of its voters for others, as long as that helps."""
    for _ in range(EXCHANGES):
        for changes in MOVES:
            budget.check()
            sizes = subset.size + np.cumsum(changes)
            if sizes.min() < 1 or sizes.max() > rows.n_voters:
                continue
            other = subset
            for change in changes:
                other = _changed(rows, other, change)
            if other.errors < subset.errors:
                subset = other
                break
        else:
            break
    return subset


def _changed(rows: QuickBallots, subset: Subset, change: int) -> Subset:
    """Add (+1) or remove (-1) the voter for which the fewest errors remain."""
    errors = _errors_after(rows, subset.members, change)
    errors[subset.members == (change > 0)] = np.inf
    voter = int(np.argmin(errors))
    members = subset.members.copy()
    members[voter] = change > 0
    return Subset(members, float(errors[voter]))


def _promise(rows: QuickBallots, subset: Subset) -> float:
    d, k = rows.n_voters, subset.size
    price = 0.0
    if k < d:
        price = lgamma(d + 1) - lgamma(k + 1) - lgamma(d - k + 1) + log(d)
    return float(kl_inverse_upper(min(1.0, subset.errors / rows.n_rows), (price + PRICE) / rows.n_rows))


def _is_binary(rows: QuickBallots) -> bool:
    return rows.n_outputs <= 2 or isinstance(rows, RightOrWrong)


def _errors(rows: QuickBallots, members: Members) -> float:
    if _is_binary(rows):
        return float(rows.counts @ _cost(_lead(rows, members)))
    votes = _votes(rows, members)
    return float(rows.counts @ _cost(votes[:, 0] - votes[:, 1:].max(axis=1)))


def _errors_after(rows: QuickBallots, members: Members, change: int) -> Floats:
    """Errors of the vote after each voter in turn is added (+1) or removed (-1): one product for all."""
    if _is_binary(rows):
        lead = _lead(rows, members)
        if_wrong = rows.counts * _cost(lead - change)
        if_right = rows.counts * _cost(lead + change)
        return np.asarray(if_wrong.sum() + rows.sum_over_correct(if_right - if_wrong))
    votes = _votes(rows, members)
    right, rivals = votes[:, 0], votes[:, 1:]
    top = rivals.max(axis=1)
    if change > 0:
        tops = np.maximum(top[:, None], rivals + 1)
    else:
        alone = (rivals == top[:, None]).sum(axis=1) == 1
        tops = top[:, None] - (alone[:, None] & (rivals == top[:, None]))
    leads = np.column_stack([right + change - top, right[:, None] - tops])
    return rows.sum_over_votes(rows.counts[:, None] * _cost(leads))


def _lead(rows: QuickBallots, members: Members) -> Floats:
    """Right votes minus wrong ones, whole numbers."""
    d = rows.n_voters
    return np.asarray(np.rint(2 * d * rows.correct_weight(members / d)) - members.sum())


def _votes(rows: QuickBallots, members: Members) -> Floats:
    return np.rint(rows.n_voters * rows.class_votes(members / rows.n_voters))


def _cost(lead: Floats) -> Floats:
    return np.where(lead > 0, 0.0, np.where(lead == 0, 0.5, 1.0))

"""Learning real-valued weights: full-batch descent on any differentiable bound, from many starts.

Symbols: theta the weights, d voters, m rows, K the concentration of a Dirichlet posterior.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from votecert.bounds.base import Floats
from votecert.learning._real_weights import RealWeights
from votecert.learning._smooth_descent import Descent, Point
from votecert.learning._smooth_starts import by_drawn_votes, by_single_errors, promising_subsets
from votecert.learning.base import check_whole
from votecert.learning.budget import Budget

N_STARTS = 3
"""Starts from which a short descent is made; the best of them gets a long one."""

N_HOPS = 2
"""Short descents from random weights around the best ones."""

N_SUBSETS = 5
"""Subsets of voters with equal weights that are looked at."""

N_SEARCHED = 2
"""Points at which, in the end, the choice is searched once more."""

SAME = 1e-3
"""If descents from all starts end within this relative distance, there are no local minima to get out of."""

FEW = 10**5
"""Votes in the patterns up to which looking for subsets takes next to no time."""

IN_THE_RUNNING = 1.03
"""After a short descent weights must be this close to the best subset to be worth a long one."""

SHORT = 12
"""Iterations of a short descent."""


@dataclass(frozen=True, kw_only=True)
class LBFGS(RealWeights):
    """Learn real-valued weights by full-batch descent from many starts: the default for smooth objectives.

    Parameters
    ----------
    max_iter : int, default=200
        Iterations of one descent.
    random_state : int, default=0
        Seed; the same seed gives the same weights.
    time_budget : float, optional
        Seconds after which the best weights so far are returned. Where an evaluation takes long, the search
        looks at a sample of the rows; all rows certify.
    callback : callable, optional
        Called after each evaluation with a dictionary: ``iteration``, ``value`` (the smallest so far, not
        rounded outward) and ``seconds``.

    Notes
    -----
    Weights and K descend together by L-BFGS in the coordinates of :mod:`votecert.learning.coordinates`;
    margins, offsets and other choices are searched in between. Whatever the search does, the returned number
    is the bound at the returned weights, which holds for all weights at once.

    Examples
    --------
    >>> import numpy as np, votecert as vc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1000)
    >>> votes = np.where(rng.random((1000, 5)) < [0.9, 0.6, 0.6, 0.6, 0.6], y[:, None], 1 - y[:, None])
    >>> found = vc.learn(votes, y, objective="fo", method=vc.LBFGS(max_iter=100))
    >>> int(found.weights.argmax()), 0.2 < found.risk < 0.35
    (0, True)
    """

    max_iter: int = 200

    id: ClassVar[str] = "lbfgs"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self, "max_iter")

    def search(self, descent: Descent) -> Point:
        points: list[Point] = []
        with descent.budget.cut_short():
            for point in _improving(descent, np.random.default_rng(self.random_state), self.max_iter):
                points.append(point)
        if descent.budget.interrupted:
            points.append(descent.best)
        return _best(descent, points)


def _improving(descent: Descent, rng: np.random.Generator, max_iter: int) -> Iterator[Point]:
    """Local minima, one after the other."""
    if descent.rows.n_voters == 1:
        yield descent.at(np.ones(1))
        return
    first = descent.best
    starts = by_single_errors(descent.rows, descent.prior)
    starts += by_drawn_votes(descent)
    points = _lowest([first, *(descent.at(weights) for weights in starts)], N_STARTS)
    shorter = _lowest([descent.descend(point, SHORT) for point in points], N_STARTS)
    yield from shorter
    subsets = _subset_points(descent, [starts[-1], shorter[0].weights])
    yield from subsets
    if subsets and _lowest(subsets, 1)[0].value * IN_THE_RUNNING < shorter[0].value:
        return  # where counting is what matters, real-valued weights have no chance
    best = descent.settle(shorter[0], max_iter)
    yield best
    if subsets and (pruned := _pruned(descent, best)) is not best:
        best = descent.settle(pruned, max_iter)
        yield best
    if shorter[-1].value > best.value * (1 + SAME):
        yield from _hopping(descent, best, rng, max_iter)


def _subset_points(descent: Descent, hints: list[Floats]) -> list[Point]:
    """Equal weights on a few voters, with exact values; none if the bound has no use for zero weights.

    Where it takes long to find them, they are looked for only if they are worth more to the bound than its
    smooth value says: because an odd number of equal voters is never nearly tied.
    """
    alone = descent.judged(descent.at(descent.best_voters(1)))
    if alone.exact is None or not math.isfinite(alone.exact.details.get("kl", 0.0)):
        return []
    if descent.rows.codes.size > FEW:
        three = descent.at(descent.best_voters(3))
        if descent.judged(three).value > (1 - SAME) * min(1.0, three.value):
            return [alone]
    subsets = promising_subsets(descent.rows, N_SUBSETS, hints, descent.budget)
    return [alone, *(descent.judged(descent.at(subset.weights)) for subset in subsets)]


def _hopping(descent: Descent, best: Point, rng: np.random.Generator, max_iter: int) -> Iterator[Point]:
    """Leave a local minimum by shaking the weights: for landscapes with many of them."""
    for _ in range(N_HOPS):
        shaken = best.weights * np.exp(0.3 * rng.standard_normal(len(best.weights)))
        hop = descent.descend(descent.at(shaken / shaken.sum(), best.choice), SHORT)
        if hop.value < best.value:
            best = descent.settle(hop, max_iter)
            yield best


def _pruned(descent: Descent, point: Point) -> Point:
    """The best of the points that keep only the largest half, quarter, ... of the weights."""
    order = np.argsort(-point.weights, kind="stable")
    options = [point]
    n_kept = len(order)
    while n_kept > 1:
        n_kept = (n_kept + 1) // 2
        kept = np.zeros_like(point.weights)
        kept[order[:n_kept]] = point.weights[order[:n_kept]]
        options.append(descent.at(kept / kept.sum()))
    return _lowest(options, 1)[0]


def _best(descent: Descent, points: list[Point]) -> Point:
    """The point with the smallest exact bound.

    The smooth value of a bound may leave a refinement out, so the lowest points need not be the best. Each is
    judged at the choice it was found with, and the lowest few at the choice that a search makes there, too.
    """
    if not descent.budget.has_time():
        return _lowest(points, 1)[0]
    descent = replace(descent, budget=Budget())
    different = {(float(f"{point.value:.6g}"), np.count_nonzero(point.weights)): point for point in points}
    points = [*different.values()]
    points += [descent.at(point.weights) for point in _lowest(points, N_SEARCHED)]
    return min(points, key=lambda point: (descent.judged(point).value, point.value))


def _lowest(points: list[Point], n: int) -> list[Point]:
    return sorted(points, key=lambda point: point.value)[:n]

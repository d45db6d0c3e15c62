"""What a vote costs on rows, or in clusters of rows, in whole numbers; and votes that should cost little.

A loss is a whole number of :data:`UNIT` parts of the largest cost, rounded up: exact where it is 0 or 1. In a
cluster it is the mean over the rows, rounded up to a multiple of 1/1024; or, for clusters of at most N rows
and an error that counts rows alike, the sum over the rows with the size of the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import log_softmax

from votecert._types import FloatArray, Indices, IntArray
from votecert.certificate.record import as_tuple
from votecert.certificate.triage.leads import Declared, all_counts, candidate_votes, totals_on
from votecert.rows.clusters import GRID
from votecert.rows.predictor import WeightedVote
from votecert.rows.read import Rows
from votecert.rows.scores import Scores

UNIT = 1 << 40
"""Parts of the largest cost in which losses are counted."""

FINE = 10_000
"""A soft vote is given so many times the votes, for offsets that are whole numbers."""

SCALES = np.geomspace(0.5, 60.0, 25)
"""Totals, as parts of the largest, become log-odds on one of these scales."""

Costs = tuple[tuple[float, ...], ...]
Losses = tuple[tuple[int, int, int], ...]
"""How many rows or clusters have which loss: size (1, or the rows of a cluster), loss in UNITs, number."""


def error_costs(n_classes: int) -> Costs:
    """The costs of a plain error: one, whatever is mistaken for what."""
    return tuple(tuple(float(true != said) for said in range(n_classes)) for true in range(n_classes))


def largest_cost(costs: Costs) -> float:
    """The largest cost: what losses are parts of."""
    return max(map(max, costs))


def are_errors(costs: Costs) -> bool:
    """Whether every cost is nothing or all: then losses are errors, and their number is binomial."""
    return {*sum(costs, ())} <= {0.0, largest_cost(costs)}


def in_units(costs: Costs, *, down: bool = False) -> IntArray:
    """Costs by true class and answer, the last being none, in UNITs of the largest, rounded up or down."""
    scale, sign = Fraction(largest_cost(costs)), 1 if down else -1
    rows = [[*row, *([float(scale)] if len(row) == len(costs) else [])] for row in costs]
    return np.array(
        [[sign * (sign * Fraction(cost) * UNIT // scale) for cost in row] for row in rows], np.int64
    )


def answers_of(vote: WeightedVote, rows: Rows) -> Indices:
    """Place of the answer on each pattern, or row of scores; the number of classes where there is none."""
    winner = rows.predict(vote.numbers, vote.offsets, vote.fallback)
    return np.where(winner < 0, rows.n_classes, winner)


def counted_losses(
    vote: WeightedVote, rows: Rows, costs: Costs, own: Indices | None, largest: int | None
) -> Losses:
    """The losses of a vote on rows, or in the clusters that each row is of."""
    loss = in_units(costs)[rows.labels, answers_of(vote, rows)]
    if own is None:
        value, place = np.unique(loss, return_inverse=True)
        number = np.bincount(place.reshape(-1), all_counts(rows)).astype(np.int64)
        return tuple((1, v, n) for v, n in zip(value.tolist(), number.tolist(), strict=True))
    by_row = loss if isinstance(rows, Scores) else loss[rows.pattern_of_row]
    sizes, sums = np.bincount(own), np.zeros(own.max() + 1, dtype=np.int64)
    np.add.at(sums, own, by_row)
    there = sizes > 0
    sizes, sums = sizes[there], sums[there]
    if largest is None:
        places = -(-sums // (sizes * (UNIT // GRID)))
        sizes = np.ones_like(sizes)
    else:
        places = -(-sums // (UNIT // GRID))
    units, number = np.unique(np.stack([sizes, places]), axis=1, return_counts=True)
    return tuple(
        (size, place * (UNIT // GRID), n)
        for size, place, n in zip(*units.tolist(), number.tolist(), strict=True)
    )


def expected_classes(rows: Rows, totals: Any) -> FloatArray:
    """How many rows of each class each pattern should stand for, (n, c), by the totals of a vote.

    Expensive errors are rare, and on fitting rows too few to be counted: what an answer costs follows more
    surely from the chances of the classes. Totals are taken for log-odds, on the scale on which the labels
    are most likely.
    """
    counts = all_counts(rows).astype(np.float64)
    unit = max(float(np.abs(totals).max()), np.finfo(np.float64).tiny)
    logs = [log_softmax(scale * (totals / unit), axis=1) for scale in SCALES]
    best = max(logs, key=lambda log: float(counts @ log[np.arange(len(log)), rows.labels]))
    return np.asarray(counts[:, None] * np.exp(best))


def cheapest_offsets(vote: WeightedVote, totals: Any, expected: FloatArray, costs: Costs) -> list[int]:
    """Offsets for which a vote with even numbers of votes should cost least, found class by class.

    An offset b of class k wins the rows on which k is behind by less than b: going through them in this
    order, the costs saved so far say where to stop. The offset lies in the middle between the last row that
    is won and the first that is not, where with two classes no row is tied.
    """
    price = in_units(costs)[:, :-1].astype(np.float64) / UNIT
    offsets = np.array(vote.offsets, dtype=np.int64)
    totals = totals - offsets
    for k in [*range(totals.shape[1])] * 2:
        rivals = np.delete(totals + offsets, k, axis=1)
        other = rivals.argmax(axis=1)
        behind = rivals.max(axis=1) - totals[:, k]
        other += other >= k
        saved = (expected * (price[:, other].T - price[:, k])).sum(axis=1)
        order = np.argsort(behind, kind="stable")
        behind, gain = behind[order], np.append(0.0, saved[order].cumsum())
        ends = np.flatnonzero(np.concatenate([[True], np.diff(behind) > 0, [True]]))  # between unequal rows
        best = int(ends[np.argmax(gain[ends])])
        low = behind[best - 1] if best else behind[0] - 2
        high = behind[best] if best < len(behind) else behind[-1] + 2
        middle = int(np.floor((low + high) / 2))
        offsets[k] = middle + ((middle - low) % 2 == 0)
    return [int(number) for number in offsets - offsets.min()]


def total_cost(losses: Losses) -> int:
    """All losses together, in UNITs."""
    return sum(loss * count for _, loss, count in losses)


def expected_cost(vote: WeightedVote, rows: Rows, expected: FloatArray, costs: Costs) -> float:
    """What a vote costs on rows if their classes are as expected."""
    return float((expected * in_units(costs)[:, answers_of(vote, rows)].T).sum())


def read_costs(costs: Any, classes: Sequence[Any]) -> Costs:
    """A table of costs: rows are true classes, columns answers, in the order of the classes or by names.

    Examples
    --------
    >>> read_costs([[0, 1], [50, 0]], ["ok", "fraud"])
    ((0.0, 1.0), (50.0, 0.0))
    """
    if hasattr(costs, "to_dict") and hasattr(costs, "columns"):
        costs = costs.to_dict("index")
    if isinstance(costs, Mapping):
        costs = _by_name(costs, [str(label) for label in classes])
    values = np.asarray(costs, dtype=np.float64)
    c = len(classes)
    if values.shape not in ((c, c), (c, c + 1)):
        raise ValueError(
            f"costs must have a row for each true class and a column for each answer, ({c}, {c}) or, with "
            f"one for no answer, ({c}, {c + 1}), not {values.shape}."
        )
    if not np.isfinite(values).all() or values.min() < 0 or values.max() <= 0:
        raise ValueError("Costs must be finite numbers, zero or more, and not all zero.")
    return tuple(tuple(float(cost) for cost in row) for row in values)


def _by_name(costs: Mapping[Any, Mapping[Any, float]], names: list[str]) -> list[list[float]]:
    """Costs by true class and answer, in the order of the classes; other answers come last."""
    rows = {str(true): {str(said): cost for said, cost in row.items()} for true, row in costs.items()}
    if missing := [name for name in names if name not in rows]:
        raise ValueError(f"The table of costs has no row for the class {missing[0]!r}.")
    others = sorted({said for row in rows.values() for said in row} - {*names})
    if unknown := sorted({*rows} - {*names}):  # its column would be taken for that of no answer
        raise ValueError(
            f"The table of costs has the class {unknown[0]!r}, which these rows have not: declare all "
            "classes with classes=."
        )
    try:
        return [[float(rows[true][said]) for said in (*names, *others)] for true in names]
    except KeyError as error:
        raise ValueError(f"The table of costs has no column for the class {error}.") from None


def fitted_vote(fitting: Rows, costs: Costs, fallback: int | None, declared: Declared) -> WeightedVote:
    """Of the votes that fitting rows and declarations alone decide, the one that should cost least."""
    found = candidate_votes(fitting, fallback, declared)
    if are_errors(costs):
        losses = [counted_losses(vote, fitting, costs, None, None) for vote in found]
        return min(zip(losses, found, strict=True), key=lambda one: total_cost(one[0]))[1]
    for vote in found[:]:  # the classes should have other chances
        finer = times(vote, FINE if isinstance(fitting, Scores) else 2)
        totals = totals_on(finer, fitting)
        expected = expected_classes(fitting, totals)
        found.append(replace(finer, offsets=tuple(cheapest_offsets(finer, totals, expected, costs))))
    # the last one is the fitted vote, if there is one: it knows the chances best
    return min(found, key=lambda vote: expected_cost(vote, fitting, expected, costs))


def times(vote: WeightedVote, factor: int) -> WeightedVote:
    """The same vote with so many times the votes."""
    table = None if vote.table is None else as_tuple((factor * vote.numbers).tolist())
    votes, offsets = (tuple(factor * n for n in numbers) for numbers in (vote.votes, vote.offsets))
    return replace(vote, votes=votes, offsets=offsets, table=table)

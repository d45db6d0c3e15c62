"""From votes, labels, costs and clusters to a certificate of the mean loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from votecert._types import Indices
from votecert.bounds.base import ROUNDING, Origin
from votecert.certificate.losses.counting import (
    Costs,
    are_errors,
    cheapest_offsets,
    counted_losses,
    error_costs,
    expected_classes,
    expected_cost,
    loss_limit,
    read_costs,
    total_cost,
)
from votecert.certificate.losses.counting import Losses as Counted
from votecert.certificate.losses.record import LossCertificate
from votecert.certificate.make import fallback_index
from votecert.certificate.record import as_tuple
from votecert.certificate.triage.leads import FEWEST_ROWS_TO_SPLIT, candidate_votes, vote_of
from votecert.certificate.vote_record import vote_fields
from votecert.numerics.arithmetic import OUTWARD
from votecert.rows.clusters import read_clusters
from votecert.rows.predictor import WeightedVote, scaled_votes
from votecert.rows.read import Floats, Rows
from votecert.rows.scores import Scores, soft_totals
from votecert.rows.split import SPLIT, in_fitting_part

FINE = 10_000
"""A soft vote is given so many times the votes, for offsets that are whole numbers."""


@dataclass(frozen=True)
class Units:
    """Rows with the clusters that they are of, None if they are independent."""

    rows: Rows
    own: Indices | None

    @classmethod
    def of(cls, rows: Rows, clusters: Any) -> Units:
        """The rows, and what the user says about clusters; clusters of single rows are just rows."""
        if clusters is None:
            return cls(rows, None)
        if not isinstance(rows, Scores) and rows.pattern_of_row is None:
            raise ValueError("Rows that were read in blocks are gone: clusters= is for rows in memory.")
        own = read_clusters(clusters, rows.n_rows)
        return cls(rows, own if np.bincount(own).max() > 1 else None)

    @property
    def number(self) -> int:
        """How many rows, or clusters, there are."""
        return self.rows.n_rows if self.own is None else len(np.unique(self.own))

    def parts(self, split: float, seed: int) -> tuple[Units, Units]:
        """Units to fit on, and units to certify on."""
        found: list[Units] = []
        for fitting in (True, False):
            if self.own is None:
                part, own = self.rows.part(split, seed, fitting=fitting), None
            else:
                chosen = in_fitting_part(self.own.max() + 1, split, seed)[self.own] == fitting
                part = self.rows.subset(chosen) if chosen.any() else None
                own = np.unique(self.own[chosen], return_inverse=True)[1].reshape(-1)
            if part is None or self.number < FEWEST_ROWS_TO_SPLIT:
                raise ValueError(
                    f"{self.number} rows, or clusters, are too few to learn a vote on some and certify it on "
                    f"the others: it takes {FEWEST_ROWS_TO_SPLIT}. Use weights='uniform'."
                )
            found.append(Units(part, own))
        return found[0], found[1]


class Losses(NamedTuple):
    """What is counted: costs of answers, clusters of rows, and the largest size of these, if declared."""

    costs: Any
    clusters: Any
    largest: int | None


def certify_losses(
    rows: Rows,
    theta: Floats | None,
    origin: Origin,
    asked: Losses,
    delta: float,
    fallback: Any,
    voters: tuple[str, ...] | None,
    options: Mapping[str, Any],
) -> LossCertificate:
    """Limit the expected cost of a vote, or its error on a row of a new cluster; see :func:`certify`."""
    if origin == "given":
        raise ValueError(
            "costs= and clusters= take a vote that is learned, 'uniform', or fixed without looking at these "
            "rows: say fixed_in_advance=True if the weights were."
        )
    if other := [name for name in options if name not in ("split", "random_state")]:
        raise TypeError(
            f"{other[0]}= would be ignored here: with costs= or clusters= there are split= and random_state=."
        )
    clusters, largest, fallback = asked.clusters, asked.largest, fallback_index(fallback, rows)
    table = None if asked.costs is None else read_costs(asked.costs, rows.classes.tolist())
    units = Units.of(rows, clusters)
    _check_largest(largest, units)
    certifying, n_fitted, split, seed = units, 0, 0.0, 0
    if theta is None:
        split, seed = options.get("split", SPLIT), options.get("random_state", 0)
        if not 0 < split < 1:
            raise ValueError(f"split must be between 0 and 1, both excluded, to learn a vote, not {split!r}.")
        fitting, certifying = units.parts(split, seed)
        n_fitted = fitting.number
        declared = rows.classes_declared, rows.abstention_declared
        vote = fitted_vote(fitting.rows, table or error_costs(rows.n_classes), fallback, *declared)
    else:
        vote = vote_of(rows, scaled_votes(theta), fallback)
    losses = counted(vote, certifying, table, largest)
    made = LossCertificate(
        risk=1.0,
        delta=float(delta),
        costs=table,
        clusters=units.own is not None,
        largest=largest,
        single_rows=clusters is not None and units.own is None,
        losses=losses,
        n_units=certifying.number,
        n_fitted=n_fitted,
        n_rows=certifying.rows.n_rows,
        errors=certifying.rows.errors(vote.numbers, vote.offsets, vote.fallback),
        **vote_fields(vote),
        n_outputs=rows.n_outputs,
        classes_declared=rows.classes_declared,
        abstention_declared=rows.abstention_declared,
        origin="learned" if theta is None else "fixed",
        split=float(split),
        seed=int(seed),
        voters=voters,
    )
    limit = float(loss_limit(OUTWARD, losses, delta, largest=largest, errors=made.counts_errors))
    return replace(made, risk=min(1.0, limit * (1 + ROUNDING)))


def _check_largest(largest: Any, units: Units) -> None:
    if largest is None:
        return
    if not isinstance(largest, int | np.integer):
        raise TypeError(f"largest_cluster must be a whole number, not {largest!r}.")
    if units.own is None or np.bincount(units.own).max() > largest:
        raise ValueError(f"largest_cluster={largest!r} must be the largest size that a cluster can have.")


def counted(vote: WeightedVote, units: Units, costs: Costs | None, largest: int | None) -> Counted:
    """The losses of a vote on rows or clusters."""
    return counted_losses(vote, units.rows, costs or error_costs(units.rows.n_classes), units.own, largest)


def fitted_vote(
    fitting: Rows, costs: Costs, fallback: int | None, classes_declared: bool, abstention_declared: bool
) -> WeightedVote:
    """Of the votes that fitting rows and declarations alone decide, the one that should cost least."""
    found = candidate_votes(fitting, fallback, classes_declared, abstention_declared)
    if are_errors(costs):
        return min(found, key=lambda vote: total_cost(counted_losses(vote, fitting, costs, None, None)))
    for vote in found[:]:  # the classes should have other chances
        finer = times(vote, FINE if isinstance(fitting, Scores) else 2)
        if isinstance(fitting, Scores):
            totals: Any = soft_totals(fitting.values, finer.numbers, finer.offsets)
        else:
            totals = fitting.vote_totals(finer.numbers, finer.offsets)
        expected = expected_classes(fitting, totals)
        found.append(replace(finer, offsets=tuple(cheapest_offsets(finer, totals, expected, costs))))
    # the last one is the fitted vote, if there is one: it knows the chances best
    return min(found, key=lambda vote: expected_cost(vote, fitting, expected, costs))


def times(vote: WeightedVote, factor: int) -> WeightedVote:
    """The same vote with so many times the votes."""
    table = None if vote.table is None else as_tuple((factor * vote.numbers).tolist())
    votes, offsets = (tuple(factor * n for n in numbers) for numbers in (vote.votes, vote.offsets))
    return replace(vote, votes=votes, offsets=offsets, table=table)

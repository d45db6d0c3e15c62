"""From votes, labels, costs and clusters to a certificate of the mean loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from votecert.bounds.base import ROUNDING, Origin
from votecert.certificate.losses.counting import counted_losses, error_costs, fitted_vote, read_costs
from votecert.certificate.losses.record import LossCertificate
from votecert.certificate.make import fallback_index
from votecert.certificate.triage.leads import vote_of
from votecert.certificate.units import Units
from votecert.certificate.vote_record import vote_fields
from votecert.numerics.arithmetic import OUTWARD
from votecert.rows.predictor import scaled_votes
from votecert.rows.read import Floats, Rows
from votecert.rows.split import SPLIT


def certify_losses(
    rows: Rows,
    theta: Floats | None,
    origin: Origin,
    costs: Any,
    clusters: Any,
    largest: int | None,
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
    fallback = fallback_index(fallback, rows)
    table = None if costs is None else read_costs(costs, rows.classes.tolist())
    known = table or error_costs(rows.n_classes)
    units = Units.of(rows, clusters)
    _check_largest(largest, units)
    certifying, n_fitted, split, seed = units, 0, 0.0, 0
    if theta is None:
        split, seed = options.get("split", SPLIT), options.get("random_state", 0)
        fitting, certifying = units.parts(split, seed)
        n_fitted = fitting.number
        vote = fitted_vote(fitting.rows, known, fallback, rows)
    else:
        vote = vote_of(rows, scaled_votes(theta), fallback)
    made = LossCertificate(
        risk=1.0,
        delta=float(delta),
        costs=table,
        clusters=units.own is not None,
        largest=largest,
        single_rows=clusters is not None and units.own is None,
        losses=counted_losses(vote, certifying.rows, known, certifying.own, largest),
        n_units=certifying.number,
        n_fitted=n_fitted,
        n_rows=certifying.rows.n_rows,
        errors=certifying.rows.errors(vote.numbers, vote.offsets, vote.fallback),
        **vote_fields(vote, rows, origin, split, seed, voters),
    )
    limit = float(made.limit(OUTWARD))
    return replace(made, risk=min(1.0, limit * (1 + ROUNDING)))


def _check_largest(largest: Any, units: Units) -> None:
    if largest is None:
        return
    if not isinstance(largest, int | np.integer):
        raise TypeError(f"largest_cluster must be a whole number, not {largest!r}.")
    if units.own is None or np.bincount(units.own).max() > largest:
        raise ValueError(f"largest_cluster={largest!r} must be the largest size that a cluster can have.")

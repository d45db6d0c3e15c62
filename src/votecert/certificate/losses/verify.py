"""Checking a certificate of losses without trusting whoever made it."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

from votecert.certificate.losses.counting import error_costs, loss_limit
from votecert.certificate.losses.make import Units, counted, fitted_vote
from votecert.certificate.losses.record import LossCertificate
from votecert.certificate.text import sentence
from votecert.certificate.triage.verify import rows_of
from votecert.certificate.verify import (
    BELOW_EXACT,
    BELOW_FLOAT64,
    OTHER_WORDS,
    SAME_FIT,
    TOLERANCE,
    Verification,
    fits_differ,
)
from votecert.numerics import OUTWARD, exact


def verify(found: LossCertificate, votes: Any = None, y: Any = None, clusters: Any = None) -> Verification:
    """Recompute a certificate of losses; see :meth:`LossCertificate.verify`."""
    precise = importlib.util.find_spec("mpmath") is not None
    arithmetic = "40 digits" if precise else "float64"
    problem = found.problem_with_fields()
    if not found.intact:
        problem = "the digest does not match: some field was edited after it was made."
    if problem:
        return Verification(math.nan, arithmetic, False, [sentence(problem)])
    problems, on_trust = [], []
    ar, below = (exact(), BELOW_EXACT) if precise else (OUTWARD, BELOW_FLOAT64)
    limit = loss_limit(ar, found.losses, found.delta, largest=found.largest, errors=found.counts_errors)
    recomputed = float(min(1, limit))
    if not recomputed * (1 - below) <= found.risk <= recomputed + TOLERANCE:
        problems.append(f"The risk {found.risk!r} is not the recomputed {recomputed!r}.")
    if found.origin == "learned" and found.seed:
        on_trust.append(f"The seed {found.seed} was chosen once, whatever came of it.")
    if found.origin == "fixed" and len(set(found.votes)) > 1:
        on_trust.append("These weights, which are not equal, were fixed before the rows were seen.")
    if found.costs is not None:
        on_trust.append("The costs were fixed before the rows were seen.")
    if not found.own_words:
        on_trust.append(OTHER_WORDS)
    if votes is not None or y is not None:
        if found.clusters and clusters is None:
            raise ValueError("To count again the clusters are needed, too: verify(votes, y, clusters).")
        units = Units.of(rows_of(found, votes, y), clusters if found.clusters else None)
        counted_problems, trusted = _recount(found, units)
        problems, on_trust = problems + counted_problems, on_trust + trusted
    elif found.origin == "learned":
        on_trust.append("The vote was fitted on the rows, or clusters, that the seed picks.")
    return Verification(recomputed, arithmetic, votes is not None, problems, on_trust)


def _recount(found: LossCertificate, units: Units) -> tuple[list[str], list[str]]:
    """What was counted on these rows must be what the certificate says, and fitted what is fitted again."""
    if (units.number, units.rows.n_voters) != (found.n_units + found.n_fitted, len(found.votes)):
        return ["These are other rows, clusters or voters than it is about."], []
    problems, trusted, vote = [], [], found.predictor
    if found.origin == "learned":
        fitting, units = units.parts(found.split, found.seed)
        costs = found.costs or error_costs(len(found.classes))
        declared = found.classes_declared, found.abstention_declared
        again = fitted_vote(fitting.rows, costs, found.fallback, *declared)
        difference = fits_differ(vote, again)
        if difference > SAME_FIT:
            problems.append("The vote is not the one that is fitted on the rows that the seed picks.")
        elif difference:
            trusted.append(f"The vote was fitted on these rows: again, it differs by {difference:.1e}.")
    if counted(vote, units, found.costs, found.largest) != found.losses:
        problems.append("The losses are others on these rows.")
    if (units.rows.n_rows, units.rows.errors(vote.numbers, vote.offsets, vote.fallback)) != (
        found.n_rows,
        found.errors,
    ):
        problems.append("The errors are others on these rows.")
    return problems, trusted

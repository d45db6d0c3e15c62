"""Checking a result of triage without trusting whoever made it."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

from votecert.certificate.text import sentence
from votecert.certificate.triage.leads import Leads, declared_cuts, fit_vote, fitted_cuts, scale_of
from votecert.certificate.triage.record import Triage
from votecert.certificate.triage.rules import coverage, curve_risks, passing, points, selected
from votecert.certificate.verify import (
    BELOW_EXACT,
    BELOW_FLOAT64,
    OTHER_WORDS,
    SAME_FIT,
    TOLERANCE,
    Verification,
    fits_differ,
)
from votecert.certificate.vote_record import VoteRecord
from votecert.numerics import OUTWARD, exact
from votecert.rows.ballots import Ballots
from votecert.rows.read import Rows, read_rows
from votecert.rows.scores import Scores


def verify(triage: Triage, votes: Any = None, y: Any = None) -> Verification:
    """Recompute a result of triage; see :meth:`Triage.verify`."""
    precise = importlib.util.find_spec("mpmath") is not None
    arithmetic = "40 digits" if precise else "float64"
    problem = triage.problem_with_fields()
    if not triage.intact:
        problem = "the digest does not match: some field was edited after it was made."
    if problem:
        return Verification(math.nan, arithmetic, False, [sentence(problem)])
    problems = _differences(
        triage, exact() if precise else OUTWARD, BELOW_EXACT if precise else BELOW_FLOAT64
    )
    on_trust = []
    if triage.origin == "fixed":
        grids = [declared_cuts(triage.predictor, None, odd) for odd in (False, True)]
        if (triage.cuts, triage.starts) not in grids:
            on_trust.append("The thresholds were declared before the rows were seen.")
        if len(set(triage.votes)) > 1:
            on_trust.append("These weights, which are not equal, were fixed before the rows were seen.")
    elif triage.seed:
        on_trust.append(f"The seed {triage.seed} was chosen once, whatever came of it.")
    if not triage.own_words:
        on_trust.append(OTHER_WORDS)
    if votes is not None or y is not None:
        found, trusted = _recount(triage, rows_of(triage, votes, y))
        problems, on_trust = problems + found, on_trust + trusted
    elif triage.origin == "learned":
        on_trust.append("Vote and thresholds were fitted on the rows that the seed picks.")
    return Verification(triage.risk, arithmetic, votes is not None, problems, on_trust)


def _differences(triage: Triage, ar: Any, below: float) -> list[str]:
    """Every limit must be the recomputed one, and the threshold one that may be used."""
    counts, delta, problems = triage.counts, triage.delta, []
    risks = curve_risks(ar, counts, delta)
    passed = passing(ar, counts, triage.max_risk, delta)
    allowed = selected(counts, triage.max_risk, risks, passed)
    if triage.place is not None and (allowed is None or triage.place > allowed):
        problems.append(f"At the threshold {triage.threshold!r} the risk is not certified.")
    for place, point, risk in zip(points(len(triage.cuts)), triage.curve, risks, strict=True):
        least = coverage(ar, counts, place, delta)
        if not risk * (1 - below) <= point.risk <= risk + TOLERANCE:
            problems.append(
                f"The limit at the threshold {point.threshold!r} is {float(risk)!r}, not {point.risk!r}."
            )
        if not least - TOLERANCE <= point.coverage <= least + below:
            problems.append(
                f"The coverage at {point.threshold!r} is {float(least)!r}, not {point.coverage!r}."
            )
    own = 0 if triage.place is None else coverage(ar, counts, triage.place, delta)
    if not own - TOLERANCE <= triage.coverage <= own + below:
        problems.append(f"The coverage is {float(own)!r}, not {triage.coverage!r}.")
    return problems


def rows_of(triage: VoteRecord, votes: Any, y: Any) -> Rows:
    """The rows, read with the classes and the rule for abstentions of the result."""
    if isinstance(votes, Ballots | Scores):
        return read_rows(votes, y, None, None, None)
    classes, soft = list(triage.classes), triage.kind == "soft"
    abstain = None if soft else triage.n_outputs > len(classes)
    drawn = {"split": triage.split, "random_state": triage.seed}
    return read_rows(None if soft else votes, y, votes if soft else None, classes, abstain, drawn, False)


def _recount(triage: Triage, rows: Rows) -> tuple[list[str], list[str]]:
    """What was counted on these rows must be what the result says, and fitted what is fitted again."""
    if rows.n_rows != triage.n_rows + triage.n_fitted or rows.n_voters != len(triage.votes):
        return [f"These are {rows.n_rows} rows and {rows.n_voters} voters, others than it is about."], []
    certifying: Rows = rows
    problems: list[str] = []
    trusted: list[str] = []
    if triage.origin == "learned":
        parts = [rows.part(triage.split, triage.seed, fitting=which) for which in (True, False)]
        if parts[0] is None or parts[1] is None:
            return ["The rows that the seed picks are too few to fit a vote on."], []
        fitting, certifying = parts[0], parts[1]
        problems, trusted = _refit(triage, fitting, certifying.n_rows)
    counts = Leads.of(triage.predictor, certifying).counts(certifying.n_rows, triage.cuts, triage.starts)
    told = triage.counts
    if (tuple(counts.answered), tuple(counts.errors)) != (told.answered, told.errors):
        problems.append("Answered rows and errors are others on these rows.")
    return problems, trusted


def _refit(triage: Triage, fitting: Rows, n_certifying: int) -> tuple[list[str], list[str]]:
    """Fit vote and thresholds again: sums may be rounded otherwise elsewhere, but not more than that."""
    vote = fit_vote(fitting, triage.fallback, triage.classes_declared, triage.abstention_declared)
    told = triage.predictor
    if vote != told:
        difference = fits_differ(told, vote)
        if difference > SAME_FIT:
            return ["The vote is not the one that is fitted on the rows that the seed picks."], []
        return [], [
            "Vote and thresholds were fixed on the rows that the seed picks: fitted again, the vote differs "
            f"by {difference:.1e}."
        ]
    own = triage.cuts, triage.starts
    if own == fitted_cuts(vote, fitting, n_certifying / fitting.n_rows, triage.max_risk, triage.delta):
        return [], []
    if own == declared_cuts(vote, [cut / scale_of(vote) for cut in triage.cuts], False):
        return [], ["The thresholds were declared before the rows were seen."]
    return ["The thresholds are not those that are fixed on the rows that the seed picks."], []

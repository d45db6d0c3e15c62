"""Checking a certificate without trusting whoever made it."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from votecert.bounds.occam import counted_votes
from votecert.certificate.certificate import Certificate
from votecert.certificate.certified_rows import certified_rows
from votecert.certificate.text import sentence
from votecert.learning.fitted_vote import CROSS_VALIDATED, PLAIN_ERRORS, SHARE
from votecert.learning.whole_votes import refitted_vote
from votecert.numerics import OUTWARD, exact
from votecert.rows.ballots import Ballots
from votecert.rows.predictor import WeightedVote

TOLERANCE = 1e-8
"""A certificate may lie this far above the exact value of its formula, and not at all below it."""

BELOW_EXACT, BELOW_FLOAT64 = 1e-15, 1e-9
"""Relative differences by which it may be below: the last digit, and in float64, what machines differ in."""

MOST_IN_FORTY_DIGITS = 20_000
"""Voters with which forty digits take ten seconds; with more, float64 has to do."""

OTHER_WORDS = "Its sentences were written by another version of votecert and not compared."

SAME_FIT = 0.1
"""Weights fitted again on another machine may differ so much, as a share of all votes, and no more."""


SAME_SHARE = 0.01
"""Errors and shares of kinds of votes may differ by less."""


@dataclass(frozen=True)
class Verification:
    """Outcome of a verification; true in a boolean context when everything agrees.

    Attributes
    ----------
    recomputed : float
        The bound, computed anew from the stored statistics.
    arithmetic : str
        "40 digits" when mpmath is installed and voters are not too many, else "float64".
    rows_recounted : bool
        Whether the statistics were recounted from the rows.
    problems : list of str
        What does not agree.
    on_trust : list of str
        What could not be checked and rests on the word of whoever made the certificate, besides its
        ``assumptions``.
    """

    recomputed: float
    arithmetic: str
    rows_recounted: bool
    problems: list[str] = field(default_factory=list)
    on_trust: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        if self.problems:
            return "The certificate does not verify: " + " ".join(self.problems)
        rows = " and the statistics recounted from the rows" if self.rows_recounted else ""
        trust = f" On its maker's word: {' '.join(self.on_trust)}" if self.on_trust else ""
        return f"The certificate verifies: recomputed with {self.arithmetic}{rows}.{trust}"


def verify(certificate: Certificate, votes: Any = None, y: Any = None) -> Verification:
    """Recompute a certificate; see :meth:`Certificate.verify`."""
    few = isinstance(certificate.terms.n_voters, int) and certificate.terms.n_voters <= MOST_IN_FORTY_DIGITS
    precise = few and importlib.util.find_spec("mpmath") is not None
    arithmetic = "40 digits" if precise else "float64"
    problem = certificate.problem_with_fields() or certificate.problem_with_terms()
    if problem:  # nothing is computed from terms that no bound could have had
        return Verification(math.nan, arithmetic, False, [sentence(problem)])
    problems: list[str] = []
    if not certificate.intact:
        problems.append("The digest does not match: some field was edited after the certificate was made.")
    value = certificate.method.formula(exact() if precise else OUTWARD, certificate.terms)
    recomputed = float(min(1, max(0, value.risk)))
    problems += _differences(certificate, recomputed, BELOW_EXACT if precise else BELOW_FLOAT64)
    problems += _details_that_differ(certificate, {name: float(x) for name, x in value.details.items()})
    on_trust = _on_trust(certificate)
    if votes is not None or y is not None:
        # bounds that count errors take scores just as well
        rows = cast(Ballots, certified_rows(certificate, votes, y))
        problems += _recount(certificate, rows)
        fit_problems, fit_trust = _refit(certificate, rows) if not problems else ([], [])
        problems, on_trust = problems + fit_problems, on_trust + fit_trust
    elif certificate.fitted_on == "part":
        on_trust.append("The vote was fitted on the rows that the seed picks; with the rows this is checked.")
    return Verification(recomputed, arithmetic, votes is not None, problems, on_trust)


def _differences(certificate: Certificate, recomputed: float, below: float) -> list[str]:
    """The risk must be the recomputed one, and fields that repeat each other must agree."""
    problems = []
    if certificate.risk < recomputed * (1 - below):
        problems.append(f"The risk {certificate.risk!r} is below the recomputed {recomputed!r}.")
    elif certificate.risk > recomputed + TOLERANCE:
        problems.append(f"The risk {certificate.risk!r} is above the recomputed {recomputed!r}.")
    spent = math.fsum(certificate.ledger.values())
    if spent > certificate.delta * (1 + 1e-12):
        problems.append(f"The ledger spends {spent!r}, more than delta = {certificate.delta!r}.")
    if certificate.terms.delta > certificate.delta or _left_out(certificate):
        problems.append("The ledger does not have all of what the bound spends.")
    return problems + _counts_that_differ(certificate)


def _left_out(certificate: Certificate) -> set[tuple[str, float]]:
    """Shares of delta that the bound spends and the ledger, plain or with the bound's name, does not have."""
    spent = certificate.method.ledger(certificate.terms).items()
    named = {(f"{certificate.bound}: {name}", share) for name, share in spent}
    return min(set(spent) - set(certificate.ledger.items()), named - set(certificate.ledger.items()), key=len)


def _counts_that_differ(certificate: Certificate) -> list[str]:
    """Errors and ties on all rows against those that the bound counted, on all rows or on a part."""
    statistics, problems = certificate.terms.statistics, []
    others = certificate.terms.n_rows - statistics.get("rows", certificate.terms.n_rows)
    for name in ("errors", "ties"):
        counted = statistics.get(name)
        if counted is not None and not counted <= getattr(certificate, name) <= counted + others:
            problems.append(f"The {name} on all rows do not go with the {counted} that the bound counted.")
    return problems


def _details_that_differ(certificate: Certificate, known: dict[str, float]) -> list[str]:
    """Numbers on the way that are not those of the formula, up to the last digits of another machine."""
    others = (
        "interrupted",
        CROSS_VALIDATED,
        SHARE,
        PLAIN_ERRORS,
    )  # how learning went, on which the number does not rest
    told = {name: x for name, x in certificate.details.items() if not name.startswith(others)}
    if known.keys() != told.keys():
        return ["The details are not those of this bound."]
    return [
        f"The detail {name!r} is {told[name]!r}, not {number!r}."
        for name, number in known.items()
        if not math.isclose(told[name], number, rel_tol=1e-6, abs_tol=1e-7)
    ]


def _fit_that_differs(told: Mapping[str, float], again: Mapping[str, float]) -> list[str]:
    """What is told about how the vote was found, against what was found again; small shares are not told."""
    names = {name for name in (*told, *again) if name.startswith((CROSS_VALIDATED, SHARE))}
    return [
        f"The detail {name!r} is {told.get(name, 0.0)!r}, not {again.get(name, 0.0)!r}."
        for name in sorted(names)
        if not abs(told.get(name, 0.0) - again.get(name, 0.0)) < SAME_SHARE
    ]


def _on_trust(certificate: Certificate) -> list[str]:
    """What the certificate alone cannot show, besides its assumptions."""
    listed = certificate.method.on_trust(certificate.terms)
    needs_fixed = certificate.method.origins == ("fixed",) and certificate.origin == "fixed"
    if needs_fixed and len(set(certificate.weights)) > 1:
        listed.append("These weights, which are not equal, were fixed before the rows were seen.")
    if certificate.group is not None:
        listed.append("The group was fixed, and has a share of delta, whatever its rows show.")
    if certificate.declared:
        listed.append("What its maker declared, see the assumptions.")
    if not certificate.own_words:
        listed.append(OTHER_WORDS)
    return listed


def _recount(certificate: Certificate, rows: Ballots) -> list[str]:
    """What was counted on these rows must be what the certificate says."""
    terms, vote, method = certificate.terms, certificate.predictor, certificate.method
    if (rows.n_rows, rows.n_voters) != (terms.n_rows, terms.n_voters):
        return [
            f"The certificate is about {terms.n_rows} rows and {terms.n_voters} voters, "
            f"not {rows.n_rows} and {rows.n_voters}."
        ]
    if problem := method.problem_with(rows):
        return [problem]
    counted = method.measure(rows, np.array(terms.weights), terms.choice)
    problems = [
        f"The statistic {name!r} is {counted[name]!r} on these rows, not {value!r}."
        for name, value in terms.statistics.items()
        if not method.statistics[name].agrees(value, counted[name])
    ]
    plain = rows.errors(np.ones(rows.n_voters, dtype=np.int64), fallback=terms.choice.get("fallback"))
    if certificate.details.get(PLAIN_ERRORS, plain) != plain:
        problems.append(f"The plain vote errs on {plain} of these rows.")
    for name, number, told in (
        ("errs", rows.errors(vote.numbers, vote.offsets, vote.fallback), certificate.errors),
        ("is tied", rows.ties(vote.numbers, vote.offsets), certificate.ties),
    ):
        if number != told:
            problems.append(f"The predictor {name} on {number} of these rows, not on {told}.")
    return problems


def _refit(certificate: Certificate, rows: Ballots) -> tuple[list[str], list[str]]:
    """Fit the certified vote again, if it was fitted on a part of these rows: problems, and what is on trust.

    The fit is deterministic, but sums are rounded in another order on another machine, and a vote that is the
    same up to that is no forgery.
    """
    if certificate.fitted_on != "part":
        return [], []
    choice = certificate.terms.choice
    if choice["member"] != "fitted":
        return [], [
            "The vote was fitted on the rows that the seed picks by version 0.1, whose fit is no more."
        ]
    if choice.get("unlabelled"):
        return [], ["The vote was fitted on the rows that the seed picks, and on rows without labels."]
    again = refitted_vote(
        rows,
        choice,
        classes_declared=certificate.classes_declared,
        abstention_declared=certificate.abstention_declared,
    )
    if again is None:
        return ["The rows that the seed picks are too few to fit a vote on."], []
    new, told = _all_numbers(again.choice()), _all_numbers(choice)
    if new.shape == told.shape:
        difference = float(np.abs(new / new.sum() - told / told.sum()).sum()) / 2
        if difference == 0:
            return _fit_that_differs(certificate.details, again.details()), []
        if difference <= SAME_FIT:
            return [], [
                f"The vote was fitted on the rows that the seed picks: again, it differs by {difference:.1e}."
            ]
    return ["The vote is not the one that is fitted on the rows that the seed picks."], []


def fits_differ(told: WeightedVote, again: WeightedVote) -> float:
    """By how much two votes differ, as a share of all their numbers; 1 if they are of other kinds."""
    theirs, ours = (np.concatenate([one.numbers.ravel(), one.offsets]) for one in (told, again))
    if told.numbers.shape != again.numbers.shape:
        return 1.0
    return float(np.abs(theirs / theirs.sum() - ours / ours.sum()).sum()) / 2


def _all_numbers(choice: dict[str, Any]) -> npt.NDArray[np.float64]:
    """The numbers of a vote in a row."""
    numbers = counted_votes(choice).astype(np.float64).ravel()
    return np.concatenate([numbers, np.array(choice["offsets"], dtype=np.float64)])

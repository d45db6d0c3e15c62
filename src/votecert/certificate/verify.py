"""Checking a certificate without trusting whoever made it."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from votecert.certificate import verification
from votecert.certificate.certificate import Certificate, certified_vote
from votecert.certificate.certified_rows import certified_rows
from votecert.learning._looks import fit_on_part
from votecert.learning.budget import Budget
from votecert.learning.fitted_vote import CROSS_VALIDATED, PLAIN_ERRORS, SHARE
from votecert.rows.ballots import Ballots

SAME_SHARE = 0.01
"""Errors and shares of kinds of votes may differ by less."""


def verify(certificate: Certificate, votes: Any = None, y: Any = None) -> verification.Verification:
    """Recompute a certificate; see :meth:`Certificate.verify`."""
    terms = certificate.terms
    n_voters = terms.n_voters if isinstance(terms.n_voters, int) else sys.maxsize
    arithmetic, ar, below = verification.best_arithmetic(n_voters)
    if problem := certificate.problem_with_fields() or certificate.problem_with_terms():
        return verification.Verification.refused(arithmetic, problem)
    problems = [] if certificate.intact else [verification.EDITED]
    value = certificate.method.formula(ar, terms)
    recomputed = float(min(1, max(0, value.risk)))
    problems += _differences(certificate, recomputed, below)
    problems += _details_that_differ(certificate, {name: float(x) for name, x in value.details.items()})
    on_trust = _on_trust(certificate)
    if votes is not None or y is not None:
        # bounds that count errors take scores just as well
        rows = cast(Ballots, certified_rows(certificate, votes, y))
        problems += _recount(certificate, rows)
        fit_problems, fit_trust = _refit(certificate, rows) if not problems else ([], [])
        problems, on_trust = problems + fit_problems, on_trust + fit_trust
    elif certificate.fitted_on == "part":
        on_trust.append(f"{verification.FITTED}; with the rows this is checked.")
    return verification.Verification(recomputed, arithmetic, votes is not None, problems, on_trust)


def _differences(certificate: Certificate, recomputed: float, below: float) -> list[str]:
    """The risk must be the recomputed one, and fields that repeat each other must agree."""
    problems = []
    if certificate.risk < recomputed * (1 - below):
        problems.append(f"The risk {certificate.risk!r} is below the recomputed {recomputed!r}.")
    elif certificate.risk > recomputed + verification.TOLERANCE:
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
    statistics = certificate.terms.statistics
    others = certificate.terms.n_rows - statistics.get("rows", certificate.terms.n_rows)
    return [
        f"The {name} on all rows do not go with the {statistics[name]} that the bound counted."
        for name in ("errors", "ties")
        if name in statistics
        and not statistics[name] <= getattr(certificate, name) <= statistics[name] + others
    ]


def _details_that_differ(certificate: Certificate, known: dict[str, float]) -> list[str]:
    """Numbers on the way that are not those of the formula, up to the last digits of another machine."""
    # how learning went, on which the number does not rest
    others = ("interrupted", CROSS_VALIDATED, SHARE, PLAIN_ERRORS)
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
        listed.append(verification.UNEQUAL_WEIGHTS)
    if certificate.group is not None:
        listed.append("The group was fixed, and has a share of delta, whatever its rows show.")
    if certificate.declared:
        listed.append("What its maker declared, see the assumptions.")
    if not certificate.own_words:
        listed.append(verification.OTHER_WORDS)
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
    """Problems, and what is on trust, with a vote fitted on a part of these rows: it is fitted again."""
    if certificate.fitted_on != "part":
        return [], []
    choice = certificate.terms.choice
    if choice["member"] != "fitted":
        return [], [f"{verification.FITTED} by version 0.1, whose fit is no more."]
    if choice.get("unlabelled"):
        return [], [f"{verification.FITTED}, and on rows without labels."]
    told, trust = choice["split"], []
    if "looks" in choice and rows.drawn_split:
        choice = choice | {"looks": [told]}
        trust = [f"{100 * told:.0f} % of the rows were enough to fit on; with all in memory this is checked."]
    split, again = fit_on_part(
        rows,
        choice,
        Budget(),
        fallback=choice["fallback"],
        classes_declared=certificate.classes_declared,
        abstention_declared=certificate.abstention_declared,
    )
    if again is None:
        return ["The rows that the seed picks are too few to fit a vote on."], []
    if split != told:
        if certificate.own_words:
            return [f"{100 * split:.0f} % of the rows are enough to fit on, not {100 * told:.0f} %."], []
        return [], [f"{verification.FITTED} by another version of votecert."]
    terms = replace(certificate.terms, choice=again.choice())
    new = certified_vote(terms, certificate.classes, certificate.kind)
    problems, differs = verification.compared_fits(certificate.predictor, new, certificate.own_words)
    if not problems and not differs and certificate.own_words:
        problems = _fit_that_differs(certificate.details, again.details())
    return problems, differs + trust

"""The tables of the report: numbers with a bar beside each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from votecert.bounds import BOUNDS
from votecert.certificate.certificate import Certificate
from votecert.certificate.table import CertificateTable
from votecert.report.charts import bar, nice_ceiling
from votecert.report.summary import caveat, counted_errors
from votecert.report.text import limit as in_percent
from votecert.report.text import share

SHOWN_VOTERS = 200
"""Only so many voters are listed, those with the largest weights."""

COUNTABLE_VOTES = 100_000
"""Up to so many votes in all they are shown as whole numbers; more are scaled real weights."""


@dataclass(frozen=True)
class Row:
    """A line of a table: a name, a number as text and as a value to sort by, its bar, and remarks."""

    name: str
    number: str
    value: float
    bar: str
    note: str = ""
    kind: str = ""
    rows: int = 0
    errors: int = 0
    identity: str = ""
    own: bool = False


@dataclass(frozen=True)
class Voter:
    """A line of the table of voters."""

    place: int
    name: str
    votes: int
    weight: float
    weight_text: str
    bar: str
    errors: int | None
    errors_text: str


def fixed_vote_limit(certificate: Certificate) -> float:
    """What a vote that was fixed in advance would get with the same errors on the same rows."""
    errors, rows = counted_errors(certificate)
    terms = replace(
        certificate.terms, n_rows=rows, delta=certificate.delta, statistics={"errors": errors}, choice={}
    )
    return BOUNDS["test-set"].from_terms(terms).risk


def steps(certificate: Certificate) -> list[Row]:
    """How the number comes about: errors counted, the luck of the rows, the price of having chosen."""
    errors, rows = counted_errors(certificate)
    limit = fixed_vote_limit(certificate)
    top = nice_ceiling(max(certificate.risk, limit))
    counted, own = share(errors / rows), in_percent(certificate.risk)
    name = "This certificate" if certificate.is_guarantee else "This number"
    lines = [
        ("Counted on the rows", counted, errors / rows, f"{errors:,} of {rows:,} rows are wrong", "plain"),
        (
            "Limit for a vote fixed in advance",
            in_percent(limit),
            limit,
            "adds the luck of the draw: the rows may have been kind",
            "plain",
        ),
        (name, own, certificate.risk, _price(certificate), _fill(certificate)),
    ]
    return [
        Row(name, number, value, bar(value, top, title=f"{name}: {number}", kind=kind), note)
        for name, number, value, note, kind in lines
    ]


def _price(certificate: Certificate) -> str:
    if not certificate.is_guarantee:
        return "is not a proven limit"
    if certificate.method.origins == ("fixed",):
        return "is that limit: nothing was chosen after seeing the rows"
    return "adds the price of choosing weights after seeing the rows, and of the proof"


def _fill(certificate: Certificate) -> str:
    if not certificate.is_guarantee:
        return "warning"
    return "hatched" if certificate.risk >= 1 else "solid"


def comparison(table: CertificateTable, certificate: Certificate) -> list[Row]:
    """One line a bound or group, on an axis that vacuous numbers do not stretch."""
    useful = [other.risk for other in table if other.risk < 1]
    limit = fixed_vote_limit(certificate) if table.by == "bound" else None
    top = nice_ceiling(max([*useful, limit or 0.0], default=1.0)) if useful else 1.0
    rows = [_compared(_with_origin(other, certificate), table.by, certificate, top, limit) for other in table]
    if table.by == "bound" and not any(row.own for row in rows):
        _insert(rows, replace(_compared(certificate, table.by, certificate, top, limit), own=True))
    return rows


def _insert(rows: list[Row], own: Row) -> None:
    """Put the certificate itself where its number belongs; those that are no guarantee come last."""
    later = [(row.kind == "warning" and own.kind != "warning") or row.value > own.value for row in rows]
    rows.insert(later.index(True) if True in later else len(rows), own)


def _with_origin(other: Certificate, certificate: Certificate) -> Certificate:
    """Where the weights come from, put back: handed to ``compare`` as numbers, all look given."""
    unsaid = other.origin == "given" or certificate.origin == "learned"
    if unsaid and same_weights(other, certificate):
        return replace(other, origin=certificate.origin)
    return other


def _compared(other: Certificate, by: str, certificate: Certificate, top: float, limit: float | None) -> Row:
    own = other.bound == certificate.bound and other.risk == certificate.risk
    name = other.method.title if by == "bound" else str(other.group)
    number = in_percent(other.risk)
    remarks = [caveat(other), other.reason or ""]
    if by == "bound" and (difference := _difference(other, certificate)):
        remarks.append(difference)
    elif by == "bound" and (other.bound, other.delta) == (certificate.bound, certificate.delta) and not own:
        remarks.append("The formula of this certificate, without what else was tried for it.")
    drawn = bar(min(other.risk, top), top, title=f"{name}: {number}", kind=_fill(other), limit=limit)
    kind = "" if other.is_guarantee else "warning"
    if by == "bound" and other.is_guarantee and other.risk >= 1:
        kind = "vacuous"
    note = " ".join(remark for remark in remarks if remark)
    return Row(
        name,
        number,
        other.risk,
        drawn,
        note,
        kind,
        other.terms.n_rows,
        other.errors,
        other.bound if by == "bound" else "",
        by == "bound" and own,
    )


def _difference(other: Certificate, certificate: Certificate) -> str:
    """How the vote that another certificate speaks about differs from the reported one, if it does."""
    if other.terms.n_rows != certificate.terms.n_rows or not same_weights(other, certificate):
        return "About another vote (other weights or rows) than this report."
    mine, theirs = certificate.offsets, other.offsets
    if mine.shape != theirs.shape or not np.allclose(mine, theirs, rtol=0, atol=1e-9):
        return "About the same weights with another head start of the classes."
    return ""


def same_weights(one: Certificate, other: Certificate) -> bool:
    """Whether the voters have the same weights in two votes."""
    return one.weights.shape == other.weights.shape and bool(
        np.allclose(one.weights, other.weights, rtol=0, atol=1e-9)
    )


def voters(certificate: Certificate, errors: Sequence[int] | None) -> list[Voter]:
    """The voters with the largest weights, those first."""
    weights, votes = certificate.weights, certificate.predictor.votes
    names = certificate.voters or tuple(f"Voter {place}" for place in range(1, len(votes) + 1))
    order = np.argsort(-weights, kind="stable")[:SHOWN_VOTERS]
    top = float(weights.max()) or 1.0
    found = []
    for i in order.tolist():
        weight = float(weights[i])
        wrong = None if errors is None else int(errors[i])
        text = "" if wrong is None else share(wrong / certificate.terms.n_rows)
        drawn = bar(weight, top, title=f"{names[i]}: {share(weight)}")
        found.append(Voter(i + 1, names[i], votes[i], weight, share(weight), drawn, wrong, text))
    return found


def ledger(certificate: Certificate) -> list[Row]:
    """How delta was spent."""
    return [
        Row(
            name,
            share(spent),
            spent,
            bar(spent, certificate.delta, title=f"{name}: {share(spent)}", kind="plain"),
        )
        for name, spent in certificate.ledger.items()
    ]

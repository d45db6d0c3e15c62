"""The tables of the report: what stands in their lines, and how long the bars are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from votecert.bounds import BOUNDS
from votecert.certificate.certificate import Certificate
from votecert.certificate.table import CertificateTable
from votecert.certificate.words import counted_errors, errors_of_rows
from votecert.report.charts import SQUARES, nice_ceiling

SHOWN_VOTERS = 200
"""Only so many voters are listed, those with the largest weights."""

COUNTABLE_VOTES = 100_000
"""Up to so many votes in all they are shown as whole numbers; more are scaled real weights."""


class Step(NamedTuple):
    """One step from the errors to the certificate."""

    name: str
    value: float
    note: str
    kind: str = "plain"


class Compared(NamedTuple):
    """A line of a comparison: a certificate, its name there, whether it is the reported one, and remarks."""

    certificate: Certificate
    name: str
    own: bool
    note: str

    @property
    def flag(self) -> str:
        """What has to be told before the number is read."""
        if not self.certificate.is_guarantee:
            return "warning"
        return "vacuous" if self.certificate.risk >= 1 and self.certificate.group is None else ""


class Voter(NamedTuple):
    """A line of the table of voters."""

    place: int
    name: str
    votes: int
    weight: float
    errors: int | None


def fixed_vote_limit(certificate: Certificate) -> float:
    """What a vote that was fixed in advance would get with the same errors on the same rows."""
    errors, rows = counted_errors(certificate)
    terms = replace(
        certificate.terms, n_rows=rows, delta=certificate.delta, statistics={"errors": errors}, choice={}
    )
    return BOUNDS["test-set"].from_terms(terms).risk


def steps(certificate: Certificate) -> list[Step]:
    """How the number comes about: errors counted, the luck of the rows, the price of having chosen."""
    errors, rows = counted_errors(certificate)
    if not certificate.is_guarantee:
        price = "is not a proven limit"
    elif certificate.method.origins == ("fixed",):
        price = "is that limit: nothing was chosen after seeing the rows"
    else:
        price = "adds the price of choosing weights after seeing the rows, and of the proof"
    luck = "adds the luck of the draw: the rows may have been kind"
    own = "This certificate" if certificate.is_guarantee else "This number"
    return [
        Step("Counted on the rows", errors / rows, f"{errors_of_rows(certificate)} are wrong"),
        Step("Limit for a vote fixed in advance", fixed_vote_limit(certificate), luck),
        Step(own, certificate.risk, price, fill(certificate)),
    ]


def n_squares(certificate: Certificate) -> int | None:
    """How many squares show the certificate, where it says something and is large enough to be seen."""
    if certificate.risk >= 1 or not certificate.is_guarantee:
        return None
    return next((number for number in SQUARES if certificate.risk * number >= 1), None)


def fill(certificate: Certificate) -> str:
    """How the bar of a certificate is filled: a class of the style sheet."""
    if not certificate.is_guarantee:
        return "warning"
    return "hatched" if certificate.risk >= 1 else "solid"


def axis(values: Iterable[float | None]) -> float:
    """Where an axis ends that vacuous numbers do not stretch."""
    useful = [value for value in values if value is not None and value < 1]
    return nice_ceiling(max(useful)) if useful else 1.0


def comparison(table: CertificateTable, certificate: Certificate) -> list[Compared]:
    """One line a bound or group; among the bounds there is the certificate itself, in its place."""
    if table.by == "group":
        return [Compared(other, str(other.group), False, _remarks(other)) for other in table]
    listed = [_beside(_with_origin(other, certificate), certificate) for other in table]
    if not any(line.own for line in listed):
        listed.append(_beside(certificate, certificate))
        listed.sort(key=lambda line: (line.flag == "warning", line.certificate.risk))
    return listed


def _with_origin(other: Certificate, certificate: Certificate) -> Certificate:
    """A certificate of a given table: where the reported weights come from, the reported one knows better."""
    unsaid = other.origin == "given" or certificate.origin == "learned"
    if unsaid and _same(other.weights, certificate.weights):
        return replace(other, origin=certificate.origin)
    return other


def _beside(other: Certificate, certificate: Certificate) -> Compared:
    """A bound beside the reported certificate, with how the vote that it speaks about differs, if it does."""
    own = other.bound == certificate.bound and other.risk == certificate.risk
    remark = ""
    if other.terms.n_rows != certificate.terms.n_rows or not _same(other.weights, certificate.weights):
        remark = "About another vote (other weights or rows) than this report."
    elif certificate.predictor.table is not None and other.predictor.table is None:
        remark = "About the weights alone, without votes of its own for each answer."
    elif not _same(other.offsets, certificate.offsets):
        remark = "About the same weights with other offsets."
    elif (other.bound, other.delta) == (certificate.bound, certificate.delta) and not own:
        remark = "The formula of this certificate, without what else was tried for it."
    return Compared(other, other.method.title, own, _remarks(other, remark))


def _remarks(certificate: Certificate, *more: str) -> str:
    return " ".join(text for text in (certificate.caveat, certificate.reason, *more) if text)


def _same(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether two votes have the same weights, or offsets, up to rounding."""
    return mine.shape == theirs.shape and np.allclose(mine, theirs, rtol=0, atol=1e-9)


def voters(certificate: Certificate, errors: Sequence[int] | None) -> list[Voter]:
    """The voters with the largest weights, those first."""
    weights, votes = certificate.weights, certificate.predictor.votes
    names = certificate.voters or [f"Voter {place}" for place in range(1, len(votes) + 1)]
    order = np.argsort(-weights, kind="stable")[:SHOWN_VOTERS].tolist()
    return [
        Voter(i + 1, names[i], votes[i], float(weights[i]), None if errors is None else int(errors[i]))
        for i in order
    ]

"""What the certificate says, in words: the verdict, the facts around it, and what must be true."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from votecert.certificate.certificate import Certificate
from votecert.certificate.table import CertificateTable
from votecert.certificate.words import who_votes
from votecert.report.text import amount, confidence, limit, one_in, scalar, sentence, share
from votecert.rows.predictor import TIE_RULE

ORIGINS = {
    "given": "given by the user",
    "fixed": "fixed without looking at the rows",
}
"""Where weights that were not learned come from, for a reader."""

LEARNED = {
    "all": "learned on these rows",
    "part": "fitted on a part of these rows that does not certify them",
    "other": "fitted on other rows",
}
"""Where learned weights come from, for a reader."""

SHOWN_CLASSES = 50
"""More labels than this are counted, not listed."""


class Fact(NamedTuple):
    """A name, what is to be said about it, and user strings that follow."""

    name: str
    text: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The first thing that the reader sees.

    Attributes
    ----------
    kind : {"guarantee", "weak", "vacuous", "warning"}
        "weak": proven, but no better than guessing. "vacuous": the number is 1. "warning": it is not a
        proven limit, whatever its size.
    badge : str
        The verdict in a few words.
    number : str
        The risk in percent, rounded up.
    sentences : tuple of two str
        What it means.
    """

    kind: Literal["guarantee", "weak", "vacuous", "warning"]
    badge: str
    number: str
    sentences: tuple[str, str]


def verdict(certificate: Certificate) -> Verdict:
    """The verdict on a certificate."""
    number = limit(certificate.risk)
    if not certificate.is_guarantee:
        proven = f"This number is not a proven limit. {caveat(certificate) or 'No theorem covers it.'}"
        trust = "Do not rely on it: the true error may well be larger."
        return Verdict("warning", "NOT A GUARANTEE", number, (proven, trust))
    if certificate.risk >= 1:
        nothing = f"The error is at most {number}. That is always true, so it says nothing about this vote."
        return Verdict("vacuous", "SAYS NOTHING", number, (nothing, certificate.reason or ""))
    badge = f"Guarantee at {confidence(certificate.delta)} confidence"
    classes = certificate.terms.n_classes
    if certificate.risk >= 1 - 1 / classes:
        guess = f"The limit holds, but guessing among {amount(classes, 'class')} would do as well."
        return Verdict("weak", badge, number, (_in_words(certificate, number), guess))
    return Verdict("guarantee", badge, number, (_in_words(certificate, number), _although(certificate)))


def _in_words(certificate: Certificate, number: str) -> str:
    n = one_in(certificate.risk)
    odds = f", no more than 1\u00a0in\u00a0{n:,}" if n else ""
    where = "" if certificate.group is None else " of this group"
    return f"Of new rows{where}, the vote gets at most {number} wrong{odds}."


def _although(certificate: Certificate) -> str:
    level = f"This holds with {confidence(certificate.delta)} confidence"
    endings = {
        "all": ", although the weights were learned on the very rows that certify them.",
        "part": ", and pays for every vote that was tried: this one was fitted on some of the rows and is "
        "certified on the others.",
        "other": ", and pays for every vote that was tried: this one was fitted on other rows.",
        "given": ", however the weights were chosen.",
        "fixed": ": the weights were fixed before the rows were seen.",
    }
    return level + endings[certificate.fitted_on or certificate.origin]


def _weights(certificate: Certificate) -> str:
    """Where the weights come from, and what became of them."""
    if certificate.fitted_on is not None:
        return LEARNED[certificate.fitted_on]
    rounded = certificate.method.rounds_weights and len(set(certificate.predictor.votes)) > 1
    ending = ", rounded to whole numbers: the rounded vote is certified" if rounded else ""
    return ORIGINS[certificate.origin] + ending


def among_groups(certificate: Certificate, table: CertificateTable) -> str:
    """How the group that a report is about compares with the others, if their certificates hold together."""
    if not table.simultaneous or len(table) < 2 or certificate not in table.certificates:
        return ""
    largest = certificate.risk >= max(other.risk for other in table)
    place = f"{'the largest' if largest else 'one'} of {len(table):,} groups' limits"
    return f"This is {place}, which hold together with {together(table)} confidence."


def together(table: CertificateTable) -> str:
    """The confidence that all guarantees of a table hold; the shares of a split delta add up to it again."""
    spent = math.fsum(other.delta for other in table if other.is_guarantee)
    return confidence(min(1.0, spent * (1 - 1e-12)))


def caveat(certificate: Certificate) -> str:
    """What the bound itself warns of, as a sentence; empty if nothing or if it does not apply."""
    return sentence((certificate.caveat or "").removeprefix("NOT A GUARANTEE: "))


def counted_errors(certificate: Certificate) -> tuple[int, int]:
    """Errors and rows that the statement is about: not all rows where a part of them was held out."""
    statistics = certificate.terms.statistics
    if "errors" not in statistics:
        return certificate.errors, certificate.terms.n_rows
    return int(statistics["errors"]), int(statistics.get("rows", certificate.terms.n_rows))


def headline_facts(certificate: Certificate) -> list[Fact]:
    """The few numbers that stand under the verdict."""
    terms = certificate.terms
    errors, rows = counted_errors(certificate)
    return [
        Fact(
            "Errors counted",
            f"{errors:,} of {amount(rows, 'row' if rows == terms.n_rows else 'held-out row')}",
        ),
        Fact("Predictor", sentence(who_votes(certificate.predictor, certificate.voters))),
        Fact("Weights", sentence(_weights(certificate))),
        Fact("Bound", certificate.method.title),
    ]


def predictor_facts(certificate: Certificate) -> list[Fact]:
    """Which predictor the certificate speaks about."""
    vote = certificate.predictor
    how = {
        "hard": "Each voter names a class; the class with the most weight wins.",
        "soft": "Each voter gives every class a score; the class with the largest weighted sum wins.",
    }
    facts = [
        Fact("Vote", how[vote.kind]),
        Fact("Weights", f"{sentence(_weights(certificate))}."),
        Fact("Ties", f"Go to {TIE_RULE}. {_ties(certificate)}"),
        _classes(certificate),
    ]
    constants = [
        f"{label}: {share(votes)}"
        for label, votes in zip(vote.classes, certificate.offsets.tolist(), strict=True)
        if votes
    ]
    if constants:
        start = "These classes start with votes, here in percent of all voters' votes:"
        facts.append(Fact("Head start", start, tuple(constants)))
    if certificate.terms.n_outputs > certificate.terms.n_classes or vote.fallback is not None:
        facts.append(_abstentions(certificate))
    return facts


def _ties(certificate: Certificate) -> str:
    if not certificate.ties:
        return "No row is tied."
    verb = "is" if certificate.ties == 1 else "are"
    return f"{amount(certificate.ties, 'row')} {verb} tied."


def _classes(certificate: Certificate) -> Fact:
    labels = tuple(str(label) for label in certificate.predictor.classes)
    source = "declared in advance" if certificate.classes_declared else "inferred from the rows"
    text = f"{len(labels):,}, {source}, in this order:"
    if len(labels) > SHOWN_CLASSES:
        text = f"{len(labels):,}, {source}; the first {SHOWN_CLASSES} in their order:"
    return Fact("Classes", text, labels[:SHOWN_CLASSES])


def _abstentions(certificate: Certificate) -> Fact:
    fallback = certificate.predictor.fallback
    if fallback is None:
        return Fact("Abstentions", "Voters may abstain; a row on which nobody votes counts as an error.")
    return Fact(
        "Abstentions",
        "Voters may abstain; a row on which nobody votes gets this class:",
        (str(certificate.predictor.classes[fallback]),),
    )


def row_facts(certificate: Certificate) -> list[Fact]:
    """Which rows the number was computed on."""
    terms = certificate.terms
    wrong = f"The vote gets {certificate.errors:,} of them wrong, {share(certificate.empirical_risk)}."
    facts = [
        Fact("Certifying rows", f"{terms.n_rows:,}, each with its true label."),
        Fact("Errors", wrong),
    ]
    if certificate.group is not None:
        facts.insert(0, Fact("Group", "Only rows of this group:", (certificate.group,)))
    errors, rows = counted_errors(certificate)
    if rows != terms.n_rows:
        held_out = (
            f"The weights were fitted on some of the rows and certified on the other {rows:,}, "
            f"of which the vote gets {errors:,} wrong."
        )
        facts.append(Fact("Held out", held_out))
    return facts


def assumptions(certificate: Certificate) -> list[str]:
    """What must be true for the statement to hold."""
    warning = caveat(certificate) if certificate.is_guarantee else ""
    return [*certificate.assumptions, *([warning] if warning else [])]


def numbers_on_the_way(certificate: Certificate) -> list[Fact]:
    """The intermediate numbers of the bound, for those who know it."""
    choice = {
        name: value
        for name, value in certificate.terms.choice.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }
    known = {**choice, **certificate.terms.statistics, **certificate.details}
    return [Fact(sentence(name.replace("_", " ")), scalar(value)) for name, value in known.items()]

"""A certificate as a section of a model card, in the Markdown that skops and Hugging Face cards use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from votecert.certificate.certificate import Certificate
from votecert.certificate.losses import LossCertificate
from votecert.certificate.text import INSTALL, at_least, chance, percent, sentence, share, visible
from votecert.certificate.triage import Triage
from votecert.certificate.triage.words import lead
from votecert.certificate.vote_record import AboutVote
from votecert.certificate.words import Fact, Verdict
from votecert.report import facts
from votecert.report.tables import fixed_vote_limit

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"})
_SPECIAL = re.compile(r"([\\`*_\[\]~$@]|:(?=//)|(?<=www)\.)")


def to_markdown(result: AboutVote) -> str:
    """A result as a section of a model card.

    Parameters
    ----------
    result : Certificate, LossCertificate or Triage

    Returns
    -------
    str
        Markdown that starts with a second-level heading. User strings are escaped.

    Examples
    --------
    >>> import votecert as vc
    >>> certificate = vc.certify([[0, 0], [1, 1]] * 100, [0, 1] * 100, weights="uniform")
    >>> print(to_markdown(certificate).splitlines()[2])
    **At most 1.49 % of new rows are wrong** (guarantee at 95 % confidence)
    """
    if isinstance(result, LossCertificate):
        parts = _losses(result)
    elif isinstance(result, Triage):
        parts = _triage(result)
    else:
        parts = _certificate(cast(Certificate, result))
    return "\n\n".join(parts) + "\n"


def _losses(found: LossCertificate) -> list[str]:
    return [
        "## Risk certificate",
        f"**{escaped(sentence(found.claim))}** ({found.verdict.badge.lower()})",
        escaped(found.statement),
        table_of([*found.headline, *_chance_and_ledger(found, {})]),
        "### What must be true",
        listed(found.assumptions),
        *_how_to_check("the certificate", "certificate"),
    ]


def _triage(triage: Triage) -> list[str]:
    said = triage.verdict
    headline = f"> **{said.badge}**"
    if triage.threshold is not None:
        claim = (
            f"Decides at least {said.number} of new rows alone, with at most {percent(triage.risk)} errors"
        )
        headline = f"**{claim}** ({said.badge.lower()})"
    lines = ["| lead at least | wrong at most | answered at least |", "|---|---|---|"]
    lines += [f"| {lead(p.threshold)} | {percent(p.risk)} | {at_least(p.coverage)} |" for p in triage.curve]
    return [
        "## What the vote may decide alone",
        headline,
        escaped(triage.statement),
        table_of([*triage.headline, *_chance_and_ledger(triage, triage.ledger)]),
        "### Other thresholds",
        "\n".join(lines),
        "### What must be true",
        listed(triage.assumptions),
        *_how_to_check("it", "triage"),
    ]


def _certificate(certificate: Certificate) -> list[str]:
    said = certificate.verdict
    about = [
        *certificate.headline,
        Fact("Limit for a vote fixed in advance", percent(fixed_vote_limit(certificate))),
        *facts.predictor_facts(certificate),
        *facts.learning_facts(certificate),
        *_chance_and_ledger(certificate, certificate.ledger),
    ]
    notes = ["### What to think twice about", listed(certificate.notes)] if certificate.notes else []
    return [
        "## Risk certificate",
        _headline(said),
        escaped(" ".join(said.sentences)),
        escaped(certificate.statement),
        table_of(about),
        "### What must be true",
        listed(facts.assumptions(certificate)),
        *notes,
        *_how_to_check("the certificate", "certificate"),
        "### How to cite it",
        f"```bibtex\n{certificate.cite()}\n```",
    ]


def listed(lines: Iterable[str]) -> str:
    """Sentences as a list."""
    return "\n".join(f"- {escaped(line)}" for line in lines)


def _chance_and_ledger(result: Any, ledger: Mapping[str, float]) -> list[Fact]:
    """With which chance the statement is false, and what that was spent on."""
    spent = (Fact(f"Spent on {name}", share(part)) for name, part in ledger.items())
    return [Fact("Chance of a false statement", f"at most {chance(result.delta)}"), *spent]


def _how_to_check(what: str, name: str) -> list[str]:
    """How a result is verified from its file."""
    return [
        "### How to check it",
        f"Save {what} as `{name}.json` (`{name}.to_json()`), then run:",
        f"```shell\n{INSTALL}\nvotecert verify {name}.json\n```",
    ]


def escaped(text: str) -> str:
    r"""Text that Markdown and HTML leave as it is, and do not turn into links.

    Not all kinds of Markdown let a backslash keep HTML and the bars of tables off; entities always do.

    Examples
    --------
    >>> print(escaped("<b>*spam*"))
    &lt;b&gt;\*spam\*
    """
    return _SPECIAL.sub(r"\\\1", " ".join(visible(text).split())).translate(_ENTITIES)


def _headline(said: Verdict) -> str:
    number, badge = escaped(said.number), escaped(said.badge)
    if said.kind in ("guarantee", "weak"):
        return f"**At most {number} of new rows are wrong** ({badge.lower()})"
    return f"> **{badge}**: {number}"


def table_of(about: Iterable[Fact]) -> str:
    """Facts as a table; of those with one name, the last."""
    lines = ["| | |", "|---|---|"]
    for fact in {fact.name: fact for fact in about}.values():
        text = escaped(" ".join([fact.text, ", ".join(fact.labels)]).strip())
        lines.append(f"| {escaped(fact.name)} | {text} |")
    return "\n".join(lines)

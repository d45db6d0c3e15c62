"""A certificate as a section of a model card, in the Markdown that skops and Hugging Face cards use."""

from __future__ import annotations

import re
from collections.abc import Iterable

from votecert.certificate.certificate import Certificate
from votecert.certificate.text import INSTALL, chance, percent, share, visible
from votecert.certificate.words import Verdict, verdict
from votecert.report import facts
from votecert.report.tables import fixed_vote_limit

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"})
_SPECIAL = re.compile(r"([\\`*_\[\]~$@]|:(?=//)|(?<=www)\.)")


def to_markdown(certificate: Certificate) -> str:
    """The certificate as a section of a model card.

    Parameters
    ----------
    certificate : Certificate

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
    said = verdict(certificate)
    parts = [
        "## Risk certificate",
        _headline(said),
        escaped(" ".join(said.sentences)),
        escaped(certificate.statement),
        _facts(certificate),
        "### What must be true",
        "\n".join(f"- {escaped(line)}" for line in facts.assumptions(certificate)),
        *_notes(certificate),
        "### How to check it",
        "Save the certificate as `certificate.json` (`certificate.to_json()`), then run:",
        f"```shell\n{INSTALL}\nvotecert verify certificate.json\n```",
        "### How to cite it",
        f"```bibtex\n{certificate.cite()}\n```",
    ]
    return "\n\n".join(parts) + "\n"


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


def _notes(certificate: Certificate) -> list[str]:
    listed = "\n".join(f"- {escaped(line)}" for line in certificate.notes)
    return ["### What to think twice about", listed] if listed else []


def _facts(certificate: Certificate) -> str:
    limit = percent(fixed_vote_limit(certificate))
    listed = [
        *facts.headline_facts(certificate),
        facts.Fact("Limit for a vote fixed in advance", limit),
        *facts.predictor_facts(certificate),
        *facts.learning_facts(certificate),
        facts.Fact("Chance of a false statement", f"at most {chance(certificate.delta)}"),
        *(facts.Fact(f"Spent on {name}", share(spent)) for name, spent in certificate.ledger.items()),
    ]
    return table_of(listed)


def table_of(listed: Iterable[facts.Fact]) -> str:
    """Facts as a table; of those with one name, the last."""
    lines = ["| | |", "|---|---|"]
    for fact in {fact.name: fact for fact in listed}.values():
        text = escaped(" ".join([fact.text, ", ".join(fact.labels)]).strip())
        lines.append(f"| {escaped(fact.name)} | {text} |")
    return "\n".join(lines)

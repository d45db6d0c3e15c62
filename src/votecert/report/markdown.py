"""A certificate as a section of a model card, in the Markdown that skops and Hugging Face cards use."""

from __future__ import annotations

import re

from votecert.certificate.certificate import Certificate
from votecert.report import summary, tables
from votecert.report.text import chance, limit, visible

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
    verdict = summary.verdict(certificate)
    parts = [
        "## Risk certificate",
        _headline(verdict),
        escaped(" ".join(verdict.sentences)),
        escaped(certificate.statement),
        _facts(certificate),
        "### What must be true",
        "\n".join(f"- {escaped(line)}" for line in summary.assumptions(certificate)),
        "### How to check it",
        "Save the certificate as `certificate.json` (`certificate.to_json()`), then run:",
        "```shell\npip install 'votecert[cli]'\nvotecert verify certificate.json\n```",
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


def _headline(verdict: summary.Verdict) -> str:
    number, badge = escaped(verdict.number), escaped(verdict.badge)
    if verdict.kind in ("guarantee", "weak"):
        return f"**At most {number} of new rows are wrong** ({badge.lower()})"
    return f"> **{badge}**: {number}"


def _facts(certificate: Certificate) -> str:
    lines = ["| | |", "|---|---|"]
    bound = tables.fixed_vote_limit(certificate)
    facts = [
        *summary.headline_facts(certificate),
        summary.Fact("Limit for a vote fixed in advance", limit(bound)),
        *summary.predictor_facts(certificate),
        summary.Fact("Chance of a false statement", f"at most {chance(certificate.delta)}"),
        *(summary.Fact(f"Spent on {row.name}", row.number) for row in tables.ledger(certificate)),
    ]
    for fact in {fact.name: fact for fact in facts}.values():
        text = escaped(" ".join([fact.text, ", ".join(fact.labels)]).strip())
        lines.append(f"| {escaped(fact.name)} | {text} |")
    return "\n".join(lines)

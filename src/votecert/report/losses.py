"""A certificate of costs, or of errors by cluster, to look at: a report, Markdown, and notebooks."""

from __future__ import annotations

from typing import Any

from votecert.certificate.losses import LossCertificate
from votecert.certificate.text import amount, chance, confidence, percent, sentence, share
from votecert.certificate.words import Verdict, who_votes
from votecert.report.facts import ORIGINS, Fact
from votecert.report.markdown import escaped, table_of
from votecert.report.notebook import panel
from votecert.report.page import render


def to_html(found: LossCertificate, path: Any = None, *, title: str | None = None) -> str:
    """Write a report on a verified certificate of losses.

    Examples
    --------
    >>> import votecert as vc
    >>> votes, y = [[0, 0, 0], [1, 1, 0]] * 200, [0, 1] * 200
    >>> found = vc.certify(votes, y, weights="uniform", costs=[[0, 1], [5, 0]])
    >>> "What each answer costs" in to_html(found)
    True
    """
    checked = found.verify()
    if not checked:
        raise ValueError(f"There is no report on a certificate that does not verify. {checked}")
    lead_in = "The vote errs with a chance of at most" if found.costs is None else "An answer costs at most"
    return render(
        "losses.html.jinja",
        path,
        found,
        checked,
        title=title or "Risk certificate",
        verdict=verdict(found),
        lead_in=lead_in,
        listed=headline_facts(found),
        margins=None,
    )


def verdict(found: LossCertificate) -> Verdict:
    """The first thing that the reader sees."""
    number = percent(found.risk) if found.costs is None else f"{found.cost:.4g}"
    if found.risk >= 1:
        return Verdict("vacuous", "SAYS NOTHING", number, (found.statement, ""))
    level = f"{confidence(found.delta)} confidence"
    return Verdict("guarantee", f"Guarantee at {level}", number, (f"The vote {found.claim}.", ""))


def headline_facts(found: LossCertificate) -> list[Fact]:
    """The few numbers that stand under the verdict."""
    counted = share(found.mean) if found.costs is None else f"{found.mean:.4g}"
    units = amount(found.n_units, f"held-out {found.unit}" if found.n_fitted else found.unit)
    if found.clusters:
        units += f" of {amount(found.n_rows, 'row')}"
    return [
        Fact("Counted, in the mean", counted),
        Fact("On", units),
        Fact("Predictor", sentence(who_votes(found.predictor, found.voters))),
        Fact("Weights", sentence(ORIGINS["part" if found.origin == "learned" else "fixed"])),
    ]


def to_markdown(found: LossCertificate) -> str:
    """The certificate as a section of a model card."""
    said = verdict(found)
    facts = [*headline_facts(found), Fact("Chance of a false statement", f"at most {chance(found.delta)}")]
    parts = [
        "## Risk certificate",
        f"**{escaped(sentence(found.claim))}** ({said.badge.lower()})",
        escaped(found.statement),
        table_of(facts),
        "### What must be true",
        "\n".join(f"- {escaped(line)}" for line in found.assumptions),
    ]
    return "\n\n".join(parts) + "\n"


def losses_html(found: LossCertificate) -> str:
    """What a notebook shows."""
    return panel(verdict(found), headline_facts(found))

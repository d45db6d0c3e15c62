"""The result of triage to look at: a report with the curve and a slider, Markdown, and notebooks."""

from __future__ import annotations

import os
from typing import NamedTuple

from votecert.certificate.text import INSTALL, amount, at_least, chance, confidence, percent, sentence, share
from votecert.certificate.triage import Triage
from votecert.certificate.triage.words import lead
from votecert.certificate.words import Verdict, who_votes
from votecert.report.facts import ORIGINS, Fact
from votecert.report.markdown import escaped, table_of
from votecert.report.notebook import panel
from votecert.report.page import render


class Drawn(NamedTuple):
    """A point of the curve: rows answered and their errors, as shares, the limit, and a text."""

    share: float
    counted: float
    risk: float
    label: str


def to_html(triage: Triage, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str:
    """Write a report for somebody who has to decide what the vote may decide.

    Parameters
    ----------
    triage : Triage
        It is verified first.
    path : path-like, optional
        File to write; it is replaced whole or left alone.
    title : str, optional
        What the report is about.

    Examples
    --------
    >>> import votecert as vc
    >>> found = vc.triage([[0, 0, 0], [1, 1, 0]] * 200, [0, 1] * 200, weights="uniform")
    >>> html = to_html(found, title="Three annotators")
    >>> html.count('type="range"'), "://" in html
    (1, False)
    """
    checked = triage.verify()
    if not checked:
        raise ValueError(f"There is no report on a result that does not verify. {checked}")
    drawn = [drawn_point(triage, place) for place in range(len(triage.curve))]
    return render(
        "triage.html.jinja",
        path,
        triage,
        checked,
        title=title or "What the vote may decide",
        triage=triage,
        verdict=verdict(triage),
        listed=headline_facts(triage),
        drawn=drawn,
        described="; ".join(point.label for point in drawn) + ".",
        chosen=nearest(triage),
        lead=lead,
        margins=None,
    )


def verdict(triage: Triage) -> Verdict:
    """The first thing that the reader sees."""
    if triage.threshold is None:
        return Verdict("vacuous", "NOTHING CAN BE ANSWERED", "0 %", (sentence(triage.reason or ""), ""))
    claim = (
        f"It answers where its winner leads by {lead(triage.threshold)} of all votes or more, and hands over "
        f"the rest. Of the new rows that it answers at most {percent(triage.risk)} are wrong."
    )
    level = f"{confidence(triage.delta)} confidence"
    holds = f"Both limits, and all of the curve, hold together with {level}."
    return Verdict("guarantee", f"Guarantee at {level}", at_least(triage.coverage), (claim, holds))


def headline_facts(triage: Triage) -> list[Fact]:
    """The few numbers that stand under the verdict."""
    rows = amount(triage.n_rows, "held-out row" if triage.n_fitted else "row")
    place = triage.place
    answered = "None" if place is None else f"{triage.answered[place]:,} of {rows}"
    wrong = "None" if place is None else f"{triage.errors[place]:,}"
    origin = "part" if triage.origin == "learned" else "fixed"
    return [
        Fact("Answered", answered),
        Fact("Of these wrong", wrong),
        Fact("Predictor", sentence(who_votes(triage.predictor, triage.voters))),
        Fact("Weights", sentence(ORIGINS[origin])),
    ]


def drawn_point(triage: Triage, place: int) -> Drawn:
    """A point of the curve as it is drawn."""
    point = triage.curve[place]
    counted = point.errors / point.answered if point.answered else 0.0
    rows = point.answered / triage.n_rows
    label = f"lead {lead(point.threshold)}: {share(rows)} answered, at most {percent(point.risk)} wrong"
    return Drawn(rows, counted, point.risk, label)


def nearest(triage: Triage) -> int:
    """Place of the point of the curve that is closest to the threshold; the lowest risk without one."""
    if triage.threshold is None:
        return min(range(len(triage.curve)), key=lambda place: triage.curve[place].risk)
    target = triage.threshold
    return min(range(len(triage.curve)), key=lambda place: abs(triage.curve[place].threshold - target))


def to_markdown(triage: Triage) -> str:
    """The result as a section of a model card.

    Examples
    --------
    >>> import votecert as vc
    >>> found = vc.triage([[0, 0, 0], [1, 1, 0]] * 200, [0, 1] * 200, weights="uniform")
    >>> print(to_markdown(found).splitlines()[2])
    **Decides at least 98.34 % of new rows alone, with at most 5.00 % errors** (guarantee at 95 % confidence)
    """
    said = verdict(triage)
    headline = f"> **{said.badge}**"
    if triage.threshold is not None:
        claim = (
            f"Decides at least {said.number} of new rows alone, with at most {percent(triage.risk)} errors"
        )
        headline = f"**{claim}** ({said.badge.lower()})"
    facts = [
        *headline_facts(triage),
        Fact("Chance of a false statement", f"at most {chance(triage.delta)}"),
        *(Fact(f"Spent on {name}", share(spent)) for name, spent in triage.ledger.items()),
    ]
    lines = ["| lead at least | wrong at most | answered at least |", "|---|---|---|"]
    lines += [f"| {lead(p.threshold)} | {percent(p.risk)} | {at_least(p.coverage)} |" for p in triage.curve]
    parts = [
        "## What the vote may decide alone",
        headline,
        escaped(triage.statement),
        table_of(facts),
        "### Other thresholds",
        "\n".join(lines),
        "### What must be true",
        "\n".join(f"- {escaped(line)}" for line in triage.assumptions),
        "### How to check it",
        "Save it as `triage.json` (`triage.to_json()`), then run:",
        f"```shell\n{INSTALL}\nvotecert verify triage.json\n```",
    ]
    return "\n\n".join(parts) + "\n"


def triage_html(triage: Triage) -> str:
    """What a notebook shows.

    Examples
    --------
    >>> import votecert as vc
    >>> found = vc.triage([[0, 0, 0], [1, 1, 0]] * 200, [0, 1] * 200, weights="uniform")
    >>> "Guarantee at 95" in triage_html(found)
    True
    """
    return panel(verdict(triage), headline_facts(triage))

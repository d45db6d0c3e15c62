"""Pages about certificates of losses, and about triage: with the curve and a slider."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from votecert.certificate.losses import LossCertificate
from votecert.certificate.text import percent, share
from votecert.certificate.triage import OperatingPoint, Triage
from votecert.certificate.triage.words import lead
from votecert.certificate.vote_record import VoteRecord
from votecert.report.page import render, verified


class Drawn(NamedTuple):
    """A point of the curve: rows answered and their errors, as shares, the limit, and a text."""

    share: float
    counted: float
    risk: float
    label: str


def record_page(
    result: VoteRecord, path: str | os.PathLike[str] | None = None, *, title: str | None = None
) -> str:
    """Write a report for somebody who has to decide what the vote may decide, or what it may cost.

    Parameters
    ----------
    result : LossCertificate or Triage
        It is verified first.
    path : path-like, optional
        File to write; it is replaced whole or left alone.
    title : str, optional
        What the report is about.

    Examples
    --------
    >>> import votecert as vc
    >>> votes, y = [[0, 0, 0], [1, 1, 0]] * 200, [0, 1] * 200
    >>> found = vc.certify(votes, y, weights="uniform", costs=[[0, 1], [5, 0]])
    >>> "What each answer costs" in record_page(found)
    True
    >>> html = record_page(vc.triage(votes, y, weights="uniform"), title="Three annotators")
    >>> html.count('type="range"'), "://" in html
    (1, False)
    """
    checked, usual = verified(result), "Risk certificate"
    context: dict[str, Any] = {}
    if isinstance(result, LossCertificate):
        errs, costs = "The vote errs with a chance of at most", "An answer costs at most"
        context = {"lead_in": errs if result.costs is None else costs}
    elif isinstance(result, Triage):
        drawn, usual = [drawn_point(result, point) for point in result.curve], "What the vote may decide"
        described = "; ".join(point.label for point in drawn) + "."
        context = {"drawn": drawn, "described": described, "chosen": nearest(result), "lead": lead}
    template = f"{result.kind_of_record}.html.jinja"
    return render(template, path, result, checked, title=title or usual, margins=None, **context)


def drawn_point(triage: Triage, point: OperatingPoint) -> Drawn:
    """A point of the curve as it is drawn."""
    counted = point.errors / point.answered if point.answered else 0.0
    rows = point.answered / triage.n_rows
    label = f"lead {lead(point.threshold)}: {share(rows)} answered, at most {percent(point.risk)} wrong"
    return Drawn(rows, counted, point.risk, label)


def nearest(triage: Triage) -> int:
    """Place of the point of the curve that is closest to the threshold; the lowest risk without one."""
    target = triage.threshold
    far = [one.risk if target is None else abs(one.threshold - target) for one in triage.curve]
    return far.index(min(far))

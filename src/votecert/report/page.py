"""The report as one HTML file that needs nothing else: no network, no fonts, no scripts from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import votecert
from votecert.certificate import text, words
from votecert.certificate.certificate import Certificate
from votecert.certificate.losses import LossCertificate
from votecert.certificate.table import CertificateTable
from votecert.certificate.triage import OperatingPoint, Triage
from votecert.certificate.triage.words import lead
from votecert.certificate.verification import Verification
from votecert.certificate.vote_record import VoteRecord
from votecert.monitoring import Monitor
from votecert.report import charts, facts, tables, watching
from votecert.report.margins import read_margins
from votecert.rows.files.atomic import write_atomically

if TYPE_CHECKING:
    from jinja2 import Environment

Tables = CertificateTable | Sequence[CertificateTable] | None

FILTERS: tuple[Callable[..., Any], ...] = (
    *(text.share, text.chance, text.confidence, text.percent, text.at_least),
    *(charts.across, charts.signed, charts.nice_ceiling),
)
"""What the templates use to write numbers."""

SHOWN_JSON = 200_000
"""A certificate with more characters is only offered for download, not shown as well."""


class Drawn(NamedTuple):
    """A point of the curve: rows answered and their errors, as shares, the limit, and a text."""

    share: float
    counted: float
    risk: float
    label: str


def to_html(
    certificate: Certificate,
    path: str | os.PathLike[str] | None = None,
    *,
    votes: Any = None,
    y: Any = None,
    table: Tables = None,
    monitor: Monitor | None = None,
    max_risk: float | None = None,
    title: str | None = None,
) -> str:
    """Write a report for somebody who has to decide whether to trust the vote.

    Parameters
    ----------
    certificate : Certificate
        It is verified first.
    path : path-like, optional
        File to write; it is replaced whole or left alone.
    votes, y : optional
        The certifying rows, as given to ``certify`` (scores for a soft vote), for the chart of margins.
    table : CertificateTable or sequence of them, optional
        From ``compare`` for the comparison of bounds, from ``certify(..., groups=)`` for the groups.
    monitor : Monitor, optional
        What happened since then: a section with its chart.
    max_risk : float, optional
        A limit that was set for the risk: the report says, in red if need be, whether it is certified.
    title : str, optional
        What the report is about, for example the name of the model.

    Returns
    -------
    str
        The HTML text. The same arguments give the same text.

    Raises
    ------
    ValueError
        If the certificate does not verify, or the rows are not its rows.

    Examples
    --------
    >>> import numpy as np, votecert as vc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=500)
    >>> votes = np.where(rng.random((500, 3)) < 0.9, y[:, None], 1 - y[:, None])
    >>> html = to_html(vc.certify(votes, y, weights="uniform"), votes=votes, y=y, title="Three annotators")
    >>> html.count("<h1>"), "://" in html
    (1, False)
    """
    checked = verified(certificate)
    if monitor is not None and certificate not in monitor.certificates:
        raise ValueError("The monitor watches another certificate than this one.")
    given = [table] if isinstance(table, CertificateTable) else list(table or [])
    margins = None if votes is None and y is None else read_margins(certificate, votes, y)
    return render(
        "report.html.jinja",
        path,
        certificate,
        checked,
        title=title or "Risk certificate",
        margins=margins,
        comparisons=[one for one in given if one.by == "bound"],
        groupings=[one for one in given if one.by == "group"],
        monitor=monitor,
        limit=None if max_risk is None else facts.limit_kept(certificate, max_risk),
    )


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
    label = (
        f"lead {lead(point.threshold)}: {text.share(rows)} answered, at most {text.percent(point.risk)} wrong"
    )
    return Drawn(rows, counted, point.risk, label)


def nearest(triage: Triage) -> int:
    """Place of the point of the curve that is closest to the threshold; the lowest risk without one."""
    target = triage.threshold
    far = [one.risk if target is None else abs(one.threshold - target) for one in triage.curve]
    return far.index(min(far))


def verified(result: Any) -> Verification:
    """The verification of a result that is to be reported."""
    checked: Verification = result.verify()
    if not checked:
        raise ValueError(f"There is no report on a result that does not verify. {checked}")
    return checked


def render(
    template: str, path: str | os.PathLike[str] | None, result: Any, checked: Verification, **context: Any
) -> str:
    """A page about a verified result, written to a file if there is to be one."""
    known = {"certificate": result, "arithmetic": checked.arithmetic, "json": embedded_json(result)}
    return _page(template, path, **known, **context)


def _page(template: str, path: str | os.PathLike[str] | None, **context: Any) -> str:
    html = _environment().get_template(template).render(**context)
    if path is not None:
        write_atomically(path, html)
    return html


def monitor_page(
    monitor: Monitor, path: str | os.PathLike[str] | None = None, *, title: str | None = None
) -> str:
    """Write a page for somebody who has to know whether the vote still keeps what was certified.

    Parameters
    ----------
    monitor : Monitor
    path : path-like, optional
        File to write; it is replaced whole or left alone.
    title : str, optional
        What the page is about.

    Returns
    -------
    str
        The HTML text: complete in itself, it loads nothing.
    """
    return _page("monitor.html.jinja", path, monitor=monitor, title=title or "Certified vote in use")


def embedded_json(result: Any) -> dict[str, Any]:
    """The JSON of a result: to look at unless it is long, to download, and its digest."""
    content = text.visible(result.to_json())
    return {
        "text": content if len(content) <= SHOWN_JSON else None,
        "url": "data:application/json;base64," + base64.b64encode(content.encode()).decode(),
        "digest": json.loads(content)["digest"],
        "kilobytes": max(1, round(len(content) / 1000)),
    }


def sha256(content: str) -> str:
    """How a content security policy calls a style or script that may have an effect."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("The HTML report needs jinja2: python -m pip install jinja2") from error
    environment = Environment(
        loader=PackageLoader("votecert.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: text.visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    modules = {"words": words, "facts": facts, "tables": tables, "geometry": charts, "watching": watching}
    environment.globals.update(modules, growth=charts.growth, asset=_asset)
    environment.globals.update(version=votecert.__version__, install=text.INSTALL)
    environment.filters.update({function.__name__: function for function in (*FILTERS, sha256)})
    return environment


@cache
def _asset(name: str) -> str:
    return files("votecert.report").joinpath("template", name).read_text("utf-8")

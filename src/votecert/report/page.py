"""The report as one HTML file that needs nothing else: no network, no fonts, no scripts from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import votecert
from votecert.certificate import text, words
from votecert.certificate.certificate import Certificate
from votecert.certificate.table import CertificateTable
from votecert.certificate.verification import Verification
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
    for function in (*FILTERS, sha256):
        environment.filters[function.__name__] = function
    return environment


@cache
def _asset(name: str) -> str:
    return files("votecert.report").joinpath("template", name).read_text("utf-8")

"""The report as one HTML file that needs nothing else: no network, no fonts, no scripts from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import votecert
from votecert.certificate.certificate import Certificate
from votecert.certificate.table import CertificateTable
from votecert.certificate.text import chance, confidence, percent, share, visible
from votecert.certificate.words import counted_errors, how_they_hold, verdict
from votecert.report import charts, facts, tables
from votecert.report.growth import growth
from votecert.report.margins import read_margins
from votecert.rows.files.atomic import write_atomically

if TYPE_CHECKING:
    from jinja2 import Environment

Tables = CertificateTable | Sequence[CertificateTable] | None

SHOWN_JSON = 200_000
"""A certificate with more characters is only offered for download, not shown as well."""


def to_html(
    certificate: Certificate,
    path: str | os.PathLike[str] | None = None,
    *,
    votes: Any = None,
    y: Any = None,
    table: Tables = None,
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
    checked = certificate.verify()
    if not checked:
        raise ValueError(f"There is no report on a certificate that does not verify. {checked}")
    given = [table] if isinstance(table, CertificateTable) else list(table or [])
    margins = None if votes is None and y is None else read_margins(certificate, votes, y)
    style, dark, script = (_asset(name) for name in ("report.css", "dark.css", "report.js"))
    template = _environment().get_template("report.html.jinja")
    html = template.render(
        certificate=certificate,
        title=title or "Risk certificate",
        arithmetic=checked.arithmetic,
        verdict=verdict(certificate),
        margins=margins,
        comparisons=[one for one in given if one.by == "bound"],
        groupings=[one for one in given if one.by == "group"],
        more_rows=growth(certificate) if certificate.is_guarantee else [],
        squares=n_squares(certificate),
        json=embedded_json(certificate),
        style=style,
        dark=dark,
        script=script,
        policy=_policy(styles=(style, dark), script=script),
        version=votecert.__version__,
    )
    if path is not None:
        write_atomically(path, html)
    return html


def n_squares(certificate: Certificate) -> int | None:
    """How many squares show the certificate, where it says something and is large enough to be seen."""
    if certificate.risk >= 1 or not certificate.is_guarantee:
        return None
    return next((number for number in charts.SQUARES if certificate.risk * number >= 1), None)


def embedded_json(certificate: Certificate) -> dict[str, Any]:
    """The certificate's JSON: to look at unless it is long, to download, and its digest."""
    text = visible(certificate.to_json())
    return {
        "text": text if len(text) <= SHOWN_JSON else None,
        "url": "data:application/json;base64," + base64.b64encode(text.encode()).decode(),
        "digest": json.loads(text)["digest"],
        "kilobytes": max(1, round(len(text) / 1000)),
    }


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("The HTML report needs jinja2: pip install 'votecert[cli]'.") from error
    environment = Environment(
        loader=PackageLoader("votecert.report", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for name in ("across", "signed", "nice_ceiling"):
        environment.filters[name] = getattr(charts, name)
    for name in ("HEIGHT", "HEADROOM", "SQUARES", "SIDE", "height", "square_path"):
        environment.globals[name] = getattr(charts, name)
    environment.filters.update(share=share, chance=chance, confidence=confidence, percent=percent)
    environment.globals.update(counted_errors=counted_errors, how_they_hold=how_they_hold)
    environment.globals.update(facts=facts, tables=tables)
    return environment


def _policy(styles: tuple[str, ...], script: str) -> str:
    """A content security policy under which only the report's own style and script have any effect."""
    allowed = " ".join(_hash(style) for style in styles)
    return (
        f"default-src 'none'; style-src {allowed}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str) -> str:
    return files("votecert.report").joinpath("template", name).read_text("utf-8")

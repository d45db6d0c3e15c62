"""Certificates in notebooks: a small piece of HTML, without a template, in the notebook's own colours."""

from __future__ import annotations

from html import escape

from votecert.certificate.certificate import Certificate
from votecert.certificate.table import CertificateTable
from votecert.certificate.text import visible
from votecert.certificate.vote_record import AboutVote
from votecert.certificate.words import Verdict, errors_of_rows, how_they_hold, left_out

COLOURS = {"guarantee": "#1a7f37", "weak": "#9a6700", "vacuous": "#9a6700", "warning": "#cf222e"}
"""Readable on white and on black."""

_LEFT, _RIGHT = "text-align:left", "text-align:right"


def notebook_html(result: AboutVote) -> str:
    """The verdict on a result, the few facts under it, and notes.

    Examples
    --------
    >>> from votecert import certify
    >>> shown = notebook_html(certify([[0, 1, 0], [1, 1, 0]] * 50, [0, 1] * 50))
    >>> "Guarantee at 95" in shown, "<script" in shown
    (True, False)
    """
    said = result.verdict
    facts = "".join(
        f'<tr><th style="{_LEFT}">{_text(fact.name)}</th><td style="{_LEFT}">{_text(fact.text)}</td></tr>'
        for fact in result.headline
    )
    sentences = " ".join(said.sentences)
    notes = "".join(f"<p>Note: {_text(line)}</p>" for line in getattr(result, "notes", ()))
    return (
        f'<div style="border-left:4px solid {COLOURS[said.kind]};padding-left:1em;max-width:46em">'
        f'<div style="color:{COLOURS[said.kind]}"><b>{_text(said.badge)}</b></div>'
        f'<div style="font-size:1.8em">{_number(said)}</div>'
        f"<p>{_text(sentences)}</p><table>{facts}</table>{notes}</div>"
    )


def table_html(table: CertificateTable) -> str:
    """One line a certificate."""
    lines = "".join(_line(certificate, table.by) for certificate in table)
    return (
        f'<table><thead><tr><th style="{_LEFT}">{table.by}</th><th>risk</th><th>errors</th>'
        f'<th style="{_LEFT}">note</th></tr></thead><tbody>{lines}</tbody></table>'
        f"<p>{_text(how_they_hold(table) + left_out(table))}</p>"
    )


def _line(certificate: Certificate, by: str) -> str:
    said = certificate.verdict
    badge = "" if said.kind in ("guarantee", "weak") else f"{said.badge}. "
    note = badge + (certificate.caveat or certificate.reason or "")
    cells = [
        (_LEFT, _text(str(getattr(certificate, by)))),
        (_RIGHT, _number(said)),
        (_RIGHT, _text(errors_of_rows(certificate))),
        (_LEFT, _text(note)),
    ]
    return "<tr>" + "".join(f'<td style="{style}">{cell}</td>' for style, cell in cells) + "</tr>"


def _number(said: Verdict) -> str:
    """The risk; struck out if it is not a proven limit."""
    number = _text(said.number)
    return f"<s>{number}</s>" if said.kind == "warning" else number


def _text(text: str) -> str:
    return escape(visible(text))

"""Certificates on the screen and in files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import votecert as vc
from votecert.cli.console import Talk, data, plain, table
from votecert.cli.errors import Code, complain, leave
from votecert.rows.ballots import Ballots
from votecert.rows.files import check_writable, write_atomically

if TYPE_CHECKING:
    from votecert import Certificate, CertificateTable

STDOUT = "-"

SHOWN_VOTERS = 12
"""Up to so many voters are listed with their weights."""

COUNTABLE_VOTES = 1000
"""Up to so many votes in all, whole numbers say more than percentages."""


def percent(risk: float) -> str:
    """A risk in percent, rounded up as certificates do it."""
    from votecert.certificate.text import percent

    return percent(risk)


def rounded_up(risk: float) -> str:
    """A risk as a number, rounded up as certificates do it."""
    from votecert.certificate.text import rounded_up

    return rounded_up(risk)


def check_outputs(*paths: str | Path | None) -> None:
    """Refuse files that cannot be written before any work is done."""
    for path in paths:
        if path is not None and str(path) != STDOUT:
            check_writable(path)


def show_certificate(certificate: Certificate, quiet: bool) -> None:
    """The certificate in a few lines; only its number when quiet."""
    if quiet:
        typer.echo(rounded_up(certificate.risk))
        return
    from votecert.certificate.text import confidence
    from votecert.certificate.words import errors_of_rows

    terms, vote = certificate.terms, certificate.predictor
    used = sum(votes > 0 for votes in vote.votes)
    shown = table("", "")
    shown.show_header = False
    for name, text in (
        ("risk", f"[bold]at most {percent(certificate.risk)}[/]" + _mark(certificate)),
        ("confidence", f"{confidence(certificate.delta)} (delta {certificate.delta:g})"),
        ("errors", errors_of_rows(certificate)),
        ("ties", f"{certificate.ties:,} of {terms.n_rows:,} rows"),
        ("vote", f"{used:,} of {terms.n_voters:,} voters have weight, {terms.n_classes:,} classes"),
        ("weights", certificate.origin + plain(_weights_in_words(certificate))),
        ("bound", f"{certificate.bound} ({plain(certificate.method.title)})"),
    ):
        shown.add_row(name, text)
    data().print(shown)
    data().print(plain(certificate.statement))


def _weights_in_words(certificate: Certificate) -> str:
    """The votes of each voter, and the offsets of the classes, if there are few."""
    vote = certificate.predictor
    if len(vote.votes) > SHOWN_VOTERS:
        return ""
    names = certificate.voters or tuple(f"voter {place}" for place in range(1, len(vote.votes) + 1))
    is_whole = sum(vote.votes) <= COUNTABLE_VOTES

    def said(names: Iterable[str], votes: Sequence[int]) -> str:
        shares = [str(n) if is_whole else f"{100 * n / sum(vote.votes):.3g} %" for n in votes]
        return ", ".join(f"{name} {share}" for name, share in zip(names, shares, strict=True))

    offsets = {label: n for label, n in zip(map(str, vote.classes), vote.offsets, strict=True) if n}
    ending = f"; offsets {said(offsets, list(offsets.values()))}" if offsets else ""
    return f": {said(names, vote.votes)}{ending}"


def show_table(certificates: CertificateTable, quiet: bool, title: str) -> None:
    """Certificates side by side, by bound or by group."""
    from votecert.certificate.words import errors_of_rows, how_they_hold

    shown = table(certificates.by, "risk", "errors", "note", numbers=("risk", "errors"))
    for one in certificates:
        risk = percent(one.risk) if one.is_guarantee else f"[dim]({percent(one.risk)})[/]"
        shown.add_row(plain(getattr(one, certificates.by)), risk, errors_of_rows(one), plain(note_on(one)))
    for name, why in certificates.skipped.items():
        shown.add_row(name, "-", "-", plain(_first_sentence(why)))
    data().print(f"[bold]{title}[/]")
    data().print(shown)
    if not quiet:
        data().print(f"{how_they_hold(certificates)} In parentheses: no guarantee here.")


def note_on(certificate: Certificate) -> str:
    """What to know about a line of a comparison."""
    if certificate.origin not in certificate.method.origins:
        told = (
            "; these were learned."
            if certificate.origin == "learned"
            else ": say --fixed-in-advance if these were."
        )
        return f"The limit for weights fixed in advance{told}"
    return _first_sentence(certificate.caveat or certificate.reason or "")


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".") + "." if text else ""


def _mark(certificate: Certificate) -> str:
    return "" if certificate.is_guarantee else " [bold red]NOT A GUARANTEE[/]"


def to_json(certificates: Certificate | Iterable[Certificate]) -> str:
    """JSON of one certificate, or a list of several."""
    if isinstance(certificates, vc.Certificate):
        return certificates.to_json()
    listed = [json.loads(one.to_json()) for one in certificates]
    return json.dumps(listed, indent=2, ensure_ascii=False) + "\n"


def write_json(path: str | None, text: str, talk: Talk) -> None:
    """Write JSON to a file or to stdout."""
    if path == STDOUT:
        typer.echo(text, nl=False)
    elif path is not None:
        write_atomically(path, text)
        talk.say(f"Wrote {plain(path)}")


def write_html(
    path: Path | None,
    certificate: Certificate,
    talk: Talk,
    *,
    rows: Ballots | None = None,
    tables: Sequence[CertificateTable] = (),
    title: str | None = None,
) -> None:
    """Write the report."""
    if path is None:
        return
    from votecert.report import to_html

    with talk.wait("Writing the report"):
        html = to_html(certificate, votes=rows, table=list(tables), title=title)
        write_atomically(path, html)
    talk.say(f"Wrote {plain(path)}")


def comparison(certificate: Certificate, rows: Ballots, talk: Talk) -> CertificateTable:
    """Every bound at the weights of a certificate, for looking."""
    from votecert.certificate import compare_at

    with talk.wait("Comparing bounds"):
        return compare_at(certificate, rows)


def gate(certificates: Iterable[Certificate], max_risk: float | None) -> None:
    """Leave with code 1 if a certified risk is above the limit."""
    if max_risk is None:
        return
    worst = max(certificates, key=lambda certificate: certificate.risk)
    if not worst.is_guarantee:
        raise ValueError(f"--max-risk needs a guarantee, which the bound {worst.bound!r} does not give here.")
    if worst.risk > max_risk:
        where = "" if worst.group is None else f" of group {worst.group}"
        complain(f"The certified risk{where}, {percent(worst.risk)}, is above --max-risk {max_risk:g}.")
        leave(Code.TOO_RISKY)

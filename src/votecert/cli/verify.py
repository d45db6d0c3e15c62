"""The commands that take certificates: ``verify``, ``report``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import Talk, data, plain
from votecert.cli.errors import Code, complain, leave
from votecert.cli.results import STDOUT, check_outputs, comparison, write_html
from votecert.cli.rows import RowOptions, read_rows, rows_of_group
from votecert.rows.files import VoteFile, write_atomically

if TYPE_CHECKING:
    from votecert import Certificate, CertificateTable

LARGEST_CERTIFICATE = 500_000_000
"""Larger files are no certificates."""


class NotVerifiedError(Exception):
    """A certificate that must not be trusted, with the reason."""


def verify(
    certificate: opt.CertificateFile,
    votes: opt.OptionalVotes = None,
    label: opt.Label = None,
    group: opt.Group = None,
    ignore: opt.Ignore = None,
    no_header: opt.NoHeader = False,
    quiet: opt.Quiet = False,
) -> None:
    """Check a certificate that somebody made.

    The number is recomputed from the stored statistics in exact arithmetic;
    with VOTES the statistics are recounted too. What cannot be checked is said.
    """
    talk = Talk(quiet)
    with or_exit(certificate):
        rows = found = None
        for one in load_certificates(certificate):
            if votes is not None:
                wanted = _rows_of(one, votes, label, group, ignore, not no_header)
                if wanted != rows:  # the groups of one file share their rows
                    rows, found = wanted, read_rows(wanted, talk)
            with talk.wait("Verifying"):
                verdict = check(one, found)
            if not quiet:
                name = one.bound if one.group is None else f"{one.bound}, group {one.group}"
                data().print(f"{plain(name)}: {plain(verdict)}")
                data().print(plain(one.statement))


def report(
    certificate: opt.CertificateFile,
    votes: opt.OptionalVotes = None,
    label: opt.Label = None,
    group: opt.Group = None,
    ignore: opt.Ignore = None,
    no_header: opt.NoHeader = False,
    bound: Annotated[
        str | None,
        typer.Option("--bound", "-b", metavar="ID", help="Which one, if the file holds several bounds."),
    ] = None,
    html: Annotated[
        Path, typer.Option("--html", metavar="FILE", help="The report.", rich_help_panel=opt.RESULT)
    ] = Path("votecert-report.html"),
    markdown: Annotated[
        str | None,
        typer.Option(
            "--markdown",
            metavar="FILE",
            help="Write a section for a model card instead; - is stdout.",
            rich_help_panel=opt.RESULT,
        ),
    ] = None,
    title: opt.Title = None,
    quiet: opt.Quiet = False,
) -> None:
    """Turn a certificate into a report to look at, or into a section of a model card.

    It is verified first. With VOTES the report also shows margins, the
    voters' errors and the other bounds.
    """
    talk = Talk(quiet)
    check_outputs(html if markdown is None else markdown)
    with or_exit(certificate):
        certificates = [one for one in load_certificates(certificate) if bound in (None, one.bound)]
        for one in certificates:
            check(one, None)
    chosen, tables = _chosen(certificates, str(certificate))
    if markdown is not None:
        from votecert.report import to_markdown

        text = to_markdown(chosen)
        if markdown == STDOUT:
            typer.echo(text, nl=False)
        else:
            write_atomically(markdown, text)
            talk.say(f"Wrote {plain(markdown)}")
        return
    rows = None
    if votes is not None:
        found = read_rows(_rows_of(chosen, votes, label, group, ignore, not no_header), talk)
        rows = rows_of_group(chosen, found)
        tables.append(comparison(chosen, rows, talk))
    write_html(html, chosen, talk, rows=rows, tables=tables, title=title)


@contextmanager
def or_exit(path: Path) -> Iterator[None]:
    """Leave with the code for it if a certificate does not verify."""
    try:
        yield
    except NotVerifiedError as reason:
        complain(f"{path}: {reason}")
        leave(Code.NOT_VERIFIED)


def load_certificates(path: Path) -> list[Certificate]:
    """Read the certificates of a file; JSON that is no sound certificate counts as not verified."""
    if path.is_dir() or not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.stat().st_size > LARGEST_CERTIFICATE:
        raise ValueError(f"{path} is too large to be a certificate.")
    try:
        content = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a certificate: it is not JSON ({error}).") from None
    listed = content if isinstance(content, list) else [content]
    if not listed:
        raise ValueError(f"{path} holds no certificate.")
    return [_read(one) for one in listed]


def _read(content: Any) -> Certificate:
    try:
        certificate = vc.Certificate.from_json(json.dumps(content))
    except Exception as error:
        # Whatever an edited field leads to, it must not look like a sound certificate.
        raise NotVerifiedError(f"it does not verify: {error}") from None
    if not certificate.intact:  # nothing in it is used then, so that no value can do harm
        raise NotVerifiedError("it does not verify: some field was edited after the certificate was made.")
    return certificate


def check(certificate: Certificate, found: VoteFile | None) -> str:
    """Verify, and say how; nonsense values may break the arithmetic in any way."""
    try:
        with np.errstate(all="ignore"):  # the verdict tells, NumPy need not warn
            verdict = certificate.verify(None if found is None else rows_of_group(certificate, found))
    except Exception as error:
        raise NotVerifiedError(f"it does not verify: {type(error).__name__}: {error}") from None
    if not verdict:
        raise NotVerifiedError(str(verdict))
    return str(verdict)


def _rows_of(
    certificate: Certificate,
    votes: str,
    label: str | None,
    group: str | None,
    ignore: list[str] | None,
    header: bool,
) -> RowOptions:
    """How to read the rows that a certificate speaks about: with its classes and its rule for abstentions."""
    if certificate.group is not None and group is None:
        raise ValueError(
            "This is a certificate of one group: say with --group which column names the groups."
        )
    return RowOptions(
        votes,
        label,
        None if certificate.group is None else group,
        ignore or (),
        list(certificate.predictor.classes),
        header,
        certificate.terms.n_outputs > certificate.terms.n_classes,
    )


def _chosen(certificates: list[Certificate], source: str) -> tuple[Certificate, list[CertificateTable]]:
    """The certificate that a report is about, and tables of the others."""
    if len(certificates) == 1:
        return certificates[0], []
    if certificates and all(one.group is not None for one in certificates):
        worst = max(certificates, key=lambda one: one.risk)
        return worst, [vc.CertificateTable(tuple(certificates), "group", simultaneous=True)]
    raise ValueError(f"{source} holds certificates by several bounds: choose one with --bound.")

"""``report``: a certificate to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk, plain
from votecert.cli.results import check_outputs, comparison, save, save_report
from votecert.cli.rows import Result, encoding, read_rows, rows_of_group
from votecert.cli.verify import CertifiedRowOptions, sound_results

REPORT = opt.ResultOptions(html=Path("votecert-report.html"))


def report(
    certificate: opt.CertificateFile,
    votes: opt.CertifiedVotes = None,
    *,
    row_options: CertifiedRowOptions,
    bound: Annotated[str | None, typer.Option("--bound", "-b")] = None,
    markdown: Annotated[str | None, typer.Option(rich_help_panel=opt.RESULT)] = None,
    result_options: Annotated[opt.ResultOptions, without("json_file")] = REPORT,
    talk: Talk,
) -> None:
    """Turn a certificate into a report to look at, or into a section of a model card.

    It is verified first. With VOTES the report also shows margins, the
    voters' errors and the other bounds.

    Parameters
    ----------
    bound : ID
        Which one, if the file holds several bounds.
    markdown : FILE
        Write a section for a model card instead; - is stdout.

    Examples
    --------
    votecert report certificate.json votes.csv --label truth --title 'Spam filter'
    votecert report certificate.json --markdown - >> README.md
    """
    check_outputs(result_options if markdown is None else None, markdown)
    results = sound_results(certificate, bound)
    if not results:
        raise ValueError(f"{certificate} holds no certificate by the bound {bound!r}.")
    certificates = [one for one in results if isinstance(one, vc.Certificate)]
    more: dict[str, Any] = {}
    if len(certificates) < len(results):
        chosen: Result = next(one for one in results if not isinstance(one, vc.Certificate))
    else:
        chosen, tables = _chosen(certificates, certificate)
        if votes and markdown is None:
            found = read_rows(votes, row_options, talk, **encoding(chosen, row_options))
            more["votes"] = rows_of_group(chosen, found)
            tables.append(comparison(chosen, more["votes"], talk))
        more["table"] = tables
    if votes and "votes" not in more:
        talk.note(f"{plain(votes[0])} was not read: this shows what the certificate says, and no rows.")
    if markdown is None:
        save_report(chosen, result_options, talk, **more)
    else:
        save(markdown, chosen.to_markdown(), talk)


def _chosen(
    certificates: list[vc.Certificate], source: Path
) -> tuple[vc.Certificate, list[vc.CertificateTable]]:
    """The certificate that a report is about, and tables of the others."""
    if len(certificates) == 1:
        return certificates[0], []
    if all(one.group is not None for one in certificates):
        worst = max(certificates, key=lambda one: one.risk)
        return worst, [vc.CertificateTable(tuple(certificates), "group", simultaneous=True)]
    raise ValueError(f"{source} holds certificates by several bounds: choose one with --bound.")

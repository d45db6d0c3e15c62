"""``predict``: the certified vote on new rows."""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from votecert.cli import options as opt
from votecert.cli.console import Talk, plain, standard_input
from votecert.cli.results import STDOUT, check_outputs
from votecert.cli.verify import check, load_certificates, or_exit
from votecert.rows.files import read_new_votes, write_atomically

if TYPE_CHECKING:
    from votecert import Certificate

HEADER = "prediction"

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Cells that begin so are formulas to spreadsheets."""


def predict(
    certificate: opt.CertificateFile,
    votes: opt.Votes,
    ignore: opt.Ignore = None,
    no_header: opt.NoHeader = False,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="csv file; - is stdout.", rich_help_panel=opt.RESULT
        ),
    ] = STDOUT,
    quiet: opt.Quiet = False,
) -> None:
    """Apply the certified vote to new rows.

    Writes one label a row, in the order of VOTES, by exactly the vote that the
    certificate is about: its weights, its offsets, its rule for ties. The
    voters' columns are found by name and other columns are left out. The
    certificate is verified first.
    """
    talk = Talk(quiet)
    check_outputs(output)
    with or_exit(certificate):
        certificates = load_certificates(certificate)
        for one in certificates:
            check(one, None)
    vote = _only_vote(certificates, certificate)
    with talk.wait(f"Reading {plain('standard input' if votes == '-' else votes)}") as waiting:
        codes = read_new_votes(
            standard_input() if votes == "-" else votes,
            vote.predictor.classes,
            vote.terms.n_voters,
            vote.voters,
            ignore=ignore or (),
            header=not no_header,
            progress=waiting.advance,
        )
    labels = vote.predictor.predict_codes(codes).tolist()
    _write(output, labels, talk)
    _warn_of_formulas(labels, talk)
    counts = ", ".join(f"{plain(label)} {n}" for label, n in Counter(labels).most_common(8))
    talk.say(f"{len(labels)} rows: {counts}")


def _only_vote(certificates: list[Certificate], path: Path) -> Certificate:
    """The one vote that all certificates of a file are about; groups share it."""
    if len({one.predictor for one in certificates}) > 1:
        raise ValueError(f"{path} holds certificates about several votes: give a file with one of them.")
    if certificates[0].predictor.kind == "soft":
        raise ValueError(f"{path} is about a vote with class scores: use Certificate.predict in Python.")
    return certificates[0]


def _write(output: str, labels: list[Any], talk: Talk) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([HEADER])
    writer.writerows([label] for label in labels)
    if output == STDOUT:  # typer.echo would drop escape sequences that are part of a label
        sys.stdout.write(text.getvalue())
    else:
        write_atomically(output, text.getvalue())
        talk.say(f"Wrote {plain(output)}")


def _warn_of_formulas(labels: list[Any], talk: Talk) -> None:
    """Labels are written as they are; whoever opens them in a spreadsheet has to know."""
    formulas = sorted(
        {label for label in labels if isinstance(label, str) and label.startswith(FORMULA_STARTS)}
    )
    if formulas:
        talk.say(
            f"[yellow]Note:[/] a spreadsheet would run labels such as {plain(repr(formulas[0]))} as "
            "formulas: import the column as text."
        )

"""``predict``: the certified vote on new rows."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk, plain, source_of
from votecert.cli.results import STDOUT, check_outputs, save
from votecert.cli.rows import Result
from votecert.cli.verify import sound_results

HEADER = "prediction"

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Cells that begin so are formulas to spreadsheets."""


def predict(
    certificate: opt.CertificateFile,
    votes: opt.Votes,
    *,
    rows: Annotated[opt.RowOptions, without("label", "gold", "group", "classes", "can_abstain", "force")],
    output: Annotated[str, typer.Option("--output", "-o", rich_help_panel=opt.RESULT)] = STDOUT,
    talk: Talk,
) -> None:
    """Apply the certified vote to new rows.

    Writes one label a row, in the order of VOTES, with the --item if there is
    one, by exactly the vote that the certificate is about: its weights, its
    offsets, its rule for ties. The voters' columns are found by name and other
    columns are left out. The certificate is verified first. With what
    [bold]votecert triage[/] wrote, a case that is handed over gets an empty
    cell.

    Parameters
    ----------
    output : FILE
        csv file; - is stdout.

    Examples
    --------
    votecert predict certificate.json new.csv --output labels.csv
    """
    from votecert.rows.files.read import read_new_votes

    check_outputs(None, output)
    vote = _only_vote(sound_results(certificate), certificate)
    name, source = source_of(votes)
    with talk.wait(f"Reading {plain(name)}") as waiting:
        found = read_new_votes(
            source,
            vote.predictor.classes,
            rows.layout(voters=vote.voters, n_voters=len(vote.predictor.votes)),
            abstain=rows.abstain or (),
            header=not rows.no_header,
            progress=waiting.advance,
        )
    for note in found.notes:
        talk.note(plain(note))
    decide, none = vote.predictor.predict_codes, "no answer"
    if isinstance(vote, vc.Triage):
        decide, none = vote.decide_codes, "handed over"
    elif isinstance(vote, vc.LossCertificate):
        decide = vote.predict_codes
    labels = decide(found.votes).tolist()
    save(output, _as_csv(labels, None if found.items is None else found.items.tolist()), talk)
    # labels are written as they are; whoever opens them in a spreadsheet has to know
    formulas = sorted({one for one in labels if isinstance(one, str) and one.startswith(FORMULA_STARTS)})
    if formulas:
        shown = plain(repr(formulas[0]))
        talk.note(f"a spreadsheet would run labels such as {shown} as formulas: import the column as text.")
    named = [none if label is None else plain(label) for label in labels]
    counts = ", ".join(f"{name} {n}" for name, n in Counter(named).most_common(8))
    talk.say(f"{len(labels)} rows: {counts}")


def _only_vote(certificates: list[Result], path: Path) -> Result:
    """The one vote that all certificates of a file are about; groups share it."""
    if len({one.predictor for one in certificates}) > 1:
        raise ValueError(f"{path} holds certificates about several votes: give a file with one of them.")
    if certificates[0].predictor.kind == "soft":
        raise ValueError(
            f"{path} is about a vote with class scores: use Certificate.predict in Python, or Triage.decide."
        )
    return certificates[0]


def _as_csv(labels: list[Any], items: Sequence[str] | None) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = {HEADER: labels} if items is None else {"item": items, HEADER: labels}
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()

"""``certify``: a certificate, or one for each group of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import RESULT, Talk
from votecert.cli.interruption import learning
from votecert.cli.results import (
    STDOUT,
    check_outputs,
    comparison,
    gate,
    save,
    save_report,
    show_certificate,
    show_table,
    to_json,
)
from votecert.cli.rows import read_rows, rows_of_group, vote_of


def certify(
    votes: opt.Votes,
    *,
    row_options: opt.RowOptions,
    vote: opt.VoteOptions,
    delta: opt.Delta = 0.05,
    learning_options: opt.LearningOptions,
    json_file: opt.Json = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report to look at.", rich_help_panel=RESULT)
    ] = None,
    title: opt.Title = None,
    max_risk: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            min=0.0,
            max=1.0,
            help="Exit with code 1 if the certified risk is above R.",
            rich_help_panel=RESULT,
        ),
    ] = None,
    talk: Talk,
) -> None:
    """Bound the true error of a weighted majority vote.

    The number holds with probability 1 - delta although the weights were
    learned on the same rows. With --quiet only the number is printed.
    """
    given = learning_options.given(vote.weights)
    check_outputs(json_file, html)
    found = read_rows(votes, row_options, talk)
    result, interruption = learning(
        vc.certify,
        "Certifying",
        talk,
        found.ballots,
        learns=vote.weights == "learn",
        bound=vote.bound,
        delta=delta,
        groups=found.groups,
        **vote_of(vote, found),
        **given,
    )
    made = list(result) if found.groups is not None else [result]
    if json_file != STDOUT and found.groups is not None:
        show_table(result, talk, "Certificates by group")
    elif json_file != STDOUT:
        show_certificate(result, talk)
    save(json_file, to_json(result), talk)
    if html is not None:
        worst = max(made, key=lambda certificate: certificate.risk)
        rows = rows_of_group(worst, found)
        tables = [comparison(worst, rows, talk), *([] if worst is result else [result])]
        save_report(html, worst, talk, rows=rows, tables=tables, title=title)
    interruption.end(talk, [one.details for one in made])
    gate(made, max_risk)

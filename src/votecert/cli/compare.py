"""``compare``: every bound at the same weights."""

from __future__ import annotations

from typing import Annotated

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import Talk
from votecert.cli.groups import without
from votecert.cli.interruption import learning
from votecert.cli.results import STDOUT, check_outputs, save, show_table, to_json
from votecert.cli.rows import read_rows, vote_of

UNIFORM = opt.VoteOptions(weights="uniform")


def compare(
    votes: opt.Votes,
    *,
    row_options: Annotated[opt.RowOptions, without("group")],
    vote: Annotated[opt.VoteOptions, without("bound")] = UNIFORM,
    bounds: Annotated[
        str | None,
        typer.Option(metavar="ID,ID,...", help="Which bounds; all by default.", rich_help_panel=opt.VOTE),
    ] = None,
    simultaneous: Annotated[
        bool,
        typer.Option(
            "--simultaneous",
            help="Split delta so that the bounds hold together and the smallest may be picked.",
            rich_help_panel=opt.VOTE,
        ),
    ] = False,
    delta: opt.Delta = 0.05,
    learning_options: opt.LearningOptions,
    json_file: opt.Json = None,
    talk: Talk,
) -> None:
    """Evaluate every bound at the same weights.

    Each risk holds on its own with probability 1 - delta: the table is for
    looking, unless --simultaneous.
    """
    given = learning_options.given(vote.weights)
    check_outputs(json_file)
    found = read_rows(votes, row_options, talk)
    result, interruption = learning(
        vc.compare,
        "Comparing bounds",
        talk,
        found.ballots,
        learns=vote.weights == "learn",
        bounds=None if bounds is None else [name.strip() for name in bounds.split(",")],
        simultaneous=simultaneous,
        delta=delta,
        **vote_of(vote, found),
        **given,
    )
    if json_file != STDOUT:
        show_table(result, talk, f"Bounds on the error of the vote, delta {delta:g}")
    save(json_file, to_json(result), talk)
    interruption.end(talk, [one.details for one in result])

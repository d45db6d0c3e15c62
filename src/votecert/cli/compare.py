"""``compare``: every bound at the same weights."""

from __future__ import annotations

from typing import Annotated

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk
from votecert.cli.learning import learning
from votecert.cli.results import check_outputs, show
from votecert.cli.rows import read_rows, vote_of

UNIFORM = opt.VoteOptions(weights="uniform")


def compare(
    votes: opt.Votes,
    *,
    row_options: Annotated[opt.RowOptions, without("group")],
    vote: Annotated[opt.VoteOptions, without("bound")] = UNIFORM,
    bounds: Annotated[str | None, typer.Option(rich_help_panel=opt.VOTE)] = None,
    simultaneous: Annotated[bool, typer.Option("--simultaneous", rich_help_panel=opt.VOTE)] = False,
    delta: opt.Delta = 0.05,
    learning_options: opt.LearningOptions,
    result_options: Annotated[opt.ResultOptions, without("html", "title")],
    talk: Talk,
) -> None:
    """Evaluate every bound at the same weights.

    Each risk holds on its own with probability 1 - delta: the table is for
    looking, unless --simultaneous.

    Parameters
    ----------
    bounds : ID,ID,...
        Which bounds; all by default.
    simultaneous
        Split delta so that the bounds hold together and the smallest may be picked.

    Examples
    --------
    votecert compare votes.csv --label truth --weights learn
    """
    given = learning_options.given(vote.weights)
    check_outputs(result_options)
    found = read_rows(votes, row_options, talk)
    names = None if bounds is None else [name.strip() for name in bounds.split(",")]
    asked = {"bounds": names, "simultaneous": simultaneous, "delta": delta, **vote_of(vote, found), **given}
    result, interruption = learning(vc.compare, "Comparing bounds", talk, found, **asked)
    show(result, result_options, talk, f"Bounds on the error of the vote, delta {delta:g}")
    interruption.end(talk, [one.details for one in result])

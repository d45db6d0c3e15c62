"""``plan``: how many labelled rows a certificate takes."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import data, table
from votecert.cli.results import rounded_up

FACTORS = (0.25, 0.5, 1, 2, 4)
"""Numbers of rows shown, as multiples of those needed."""


def plan(
    target: Annotated[float, typer.Option("--target", "-t")],
    error: Annotated[float, typer.Option("--error", "-e")],
    voters: Annotated[int, typer.Option("--voters", "-n", min=1)],
    classes: Annotated[int, typer.Option(min=1)] = 2,
    delta: opt.Delta = 0.05,
    fixed: bool = False,
    assurance: float = 0.5,
    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False,
) -> None:
    """Say how many labelled rows a certificate takes.

    Parameters
    ----------
    target : R
        The risk that the certificate should reach.
    error : E
        The true error that you expect of the vote.
    voters : N
        Number of voters.
    classes : C
        Number of classes.
    fixed
        The weights are fixed in advance, not learned on the rows.
    assurance : P
        Chance that so many rows are enough.
    quiet
        Print the number of rows only.

    Examples
    --------
    votecert plan --target 0.05 --error 0.03 --voters 10
    """
    vote = "fixed" if fixed else "learned"
    assumed: dict[str, Any] = {"delta": delta, "vote": vote, "n_classes": classes, "assurance": assurance}
    needed = vc.rows_needed(target, error, voters, **assumed)
    if quiet:
        typer.echo(needed)
        return
    amounts = [math.ceil(factor * needed) for factor in FACTORS]
    shown = table("rows", "certificate at most", numbers=("rows", "certificate at most"))
    for amount, risk in zip(amounts, vc.certificate_curve(error, voters, amounts, **assumed), strict=True):
        shown.add_row(f"{amount:,}", rounded_up(float(risk)), style="bold" if amount == needed else None)
    data().print(shown)
    data().print(
        f"{needed:,} labelled rows certify a risk of at most {target:g} with confidence "
        f"{100 * (1 - delta):.6g} %, if the {vote} vote of {voters} voters errs on {100 * error:.6g} % "
        f"of new rows (chance {assurance:g})."
    )

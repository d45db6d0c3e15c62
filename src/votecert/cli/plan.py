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

CHANCES = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Chances that so many rows are enough, shown for sequential plans."""


def plan(
    target: Annotated[float, typer.Option("--target", "-t")],
    error: Annotated[float, typer.Option("--error", "-e")],
    voters: Annotated[int, typer.Option("--voters", "-n", min=1)],
    classes: Annotated[int, typer.Option(min=1)] = 2,
    delta: opt.Delta = 0.05,
    fixed: bool = False,
    assurance: float = 0.5,
    sequential: Annotated[bool, typer.Option("--sequential")] = False,
    answered: float | None = None,
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
    sequential
        Look after each row, and stop as soon as the certificate is small enough: what that takes, against a
        fixed number of rows. For a vote fixed in advance.
    answered : S
        Plan for [bold]votecert triage[/]: the share of rows that you expect the vote to answer; --error is
        then the error among these.
    quiet
        Print the number of rows only.

    Examples
    --------
    votecert plan --target 0.05 --error 0.03 --voters 10
    votecert plan --target 0.02 --error 0.005 --answered 0.6 --voters 5
    votecert plan --target 0.05 --error 0.03 --voters 10 --sequential
    """
    if sequential and answered is not None:
        raise ValueError("--answered does not go with --sequential: triage looks once.")
    if sequential:
        _plan_to_stop(target, error, voters, delta, assurance, quiet)
        return
    vote = "fixed" if fixed else "learned"
    assumed: dict[str, Any] = {"delta": delta, "vote": vote, "n_classes": classes, "assurance": assurance}
    needed = vc.rows_needed(target, error, voters, answered=answered, **assumed)
    if quiet:
        typer.echo(needed)
        return
    if answered is not None:
        data().print(
            f"{needed:,} labelled rows let the {vote} vote of {voters} voters answer {100 * answered:.6g} % "
            f"of the rows with a certified risk of at most {target:g}, if it errs on {100 * error:.6g} % of "
            f"these (confidence {100 * (1 - delta):.6g} %, chance {assurance:g})."
        )
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


def _plan_to_stop(
    target: float, error: float, voters: int, delta: float, assurance: float, quiet: bool
) -> None:
    """What it takes to look after each row, beside numbers of rows that are fixed in advance."""
    found = vc.sequential_plan(target, error, delta)
    if quiet:
        typer.echo(math.ceil(found.mean))
        return
    shown = table("chance", "stopping", "fixed", numbers=("chance", "stopping", "fixed"))
    for chance in sorted({assurance, *CHANCES}):
        fixed = vc.rows_needed(target, error, voters, delta, vote="fixed", assurance=chance)
        shown.add_row(f"{100 * chance:.6g} %", f"{found.quantile(chance):,}", f"{fixed:,}")
    data().print(
        "Rows that are enough with such a chance, if one stops as soon as possible or fixes them in advance."
    )
    data().print(shown)
    data().print(
        f"Stopping as soon as certify --sequential gives at most {target:g} takes {math.ceil(found.mean):,} "
        f"labelled rows in the mean, if the vote errs on {100 * error:.6g} % of new rows. Then it always "
        "comes to an end; a fixed number of rows may turn out to be too few."
    )

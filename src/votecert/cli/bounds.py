"""The commands that need no votes: ``bounds``, ``plan``."""

from __future__ import annotations

import inspect
import json
import math
from typing import Annotated, Literal

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import data, plain, table
from votecert.cli.results import percent

FACTORS = (0.25, 0.5, 1, 2, 4)
"""Numbers of rows shown, as multiples of those needed."""


def bounds(
    bound: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Show one of them in full.", autocompletion=opt.complete_bound),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the bounds, or show one with its reference."""
    if bound is not None:
        _show_bound(bound)
        return
    if as_json:
        listed = [
            {
                "id": one.id,
                "title": one.title,
                "is_guarantee": one.is_guarantee,
                "multiclass": one.multiclass,
                "learnable": one.learnable,
                "references": list(one.references),
            }
            for one in vc.BOUNDS.values()
        ]
        typer.echo(json.dumps(listed, indent=2))
        return
    shown = table("id", "bound", "guarantee", "classes", "learns", "references")
    for one in vc.BOUNDS.values():
        shown.add_row(
            one.id,
            plain(one.title),
            "yes" if one.is_guarantee else "[red]no[/]",
            "any" if one.multiclass else "two",
            "yes" if one.learnable else "",
            ", ".join(one.references),
        )
    data().print(shown)


def _show_bound(name: str) -> None:
    from votecert.bounds import find_bound
    from votecert.references import bibtex

    bound = find_bound(name)
    console = data()
    console.print(f"[bold]{bound.id}[/]: {plain(bound.title)}")
    console.print(
        f"{'A guarantee' if bound.is_guarantee else '[red]Not a guarantee[/]'} for "
        f"{'any number of' if bound.multiclass else 'two'} classes."
    )
    if bound.caveat:
        console.print(plain(bound.caveat))
    explained = inspect.cleandoc(type(bound).__doc__ or "").partition("\nExamples\n")[0]
    console.print(explained, markup=False)
    console.print()
    console.print(bibtex(list(bound.references)), markup=False, soft_wrap=True)


def plan(
    target: Annotated[
        float, typer.Option("--target", "-t", metavar="R", help="The risk that the certificate should reach.")
    ],
    error: Annotated[
        float, typer.Option("--error", "-e", metavar="E", help="The true error that you expect of the vote.")
    ],
    voters: Annotated[int, typer.Option("--voters", "-n", metavar="N", min=1, help="Number of voters.")],
    classes: Annotated[int, typer.Option("--classes", metavar="C", min=1, help="Number of classes.")] = 2,
    delta: opt.Delta = 0.05,
    fixed: Annotated[
        bool, typer.Option("--fixed", help="The weights are fixed in advance, not learned on the rows.")
    ] = False,
    assurance: Annotated[
        float, typer.Option("--assurance", metavar="P", help="Chance that so many rows are enough.")
    ] = 0.5,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the number of rows only.")] = False,
) -> None:
    """Say how many labelled rows a certificate takes."""
    vote: Literal["fixed", "learned"] = "fixed" if fixed else "learned"
    needed = vc.rows_needed(target, error, voters, delta, vote=vote, n_classes=classes, assurance=assurance)
    if quiet:
        typer.echo(needed)
        return
    amounts = [math.ceil(factor * needed) for factor in FACTORS]
    risks = vc.certificate_curve(
        error, voters, amounts, delta, vote=vote, n_classes=classes, assurance=assurance
    )
    shown = table("rows", "certificate at most", numbers=("rows", "certificate at most"))
    for amount, risk in zip(amounts, risks, strict=True):
        style = "bold" if amount == needed else None
        shown.add_row(f"{amount:,}", percent(float(risk)), style=style)
    data().print(shown)
    data().print(
        f"{needed:,} labelled rows certify a risk of at most {target:g} with confidence "
        f"{100 * (1 - delta):.6g} %, if the {vote} vote of {voters} voters errs on {100 * error:.6g} % "
        f"of new rows (chance {assurance:g})."
    )

"""``bounds``: what there is to choose from."""

from __future__ import annotations

import inspect
import json
from typing import Annotated

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import data, plain, table


def bounds(
    bound: Annotated[str | None, typer.Argument(autocompletion=opt.complete_bound)] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """List the bounds, or show one with its reference.

    Parameters
    ----------
    bound : ID
        Show one of them in full.
    as_json
        Print the list as JSON.

    Examples
    --------
    votecert bounds
    votecert bounds dirichlet
    """
    if bound is not None:
        _show_bound(bound)
        return
    if as_json:
        keys = ("id", "title", "is_guarantee", "multiclass", "learnable", "references")
        listed = [{key: getattr(one, key) for key in keys} for one in vc.BOUNDS.values()]
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

"""``bounds``: what there is to choose from."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Annotated

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import data, plain, table

if TYPE_CHECKING:  # help need not wait for SciPy
    from votecert.bounds.base import Bound


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
        Print as JSON.

    Examples
    --------
    votecert bounds
    votecert bounds dirichlet
    """
    from votecert.bounds import find_bound

    chosen = list(vc.BOUNDS.values()) if bound is None else [find_bound(bound)]
    if as_json:
        keys = ("id", "title", "is_guarantee", "multiclass", "learnable", "references")
        typer.echo(json.dumps([{key: getattr(one, key) for key in keys} for one in chosen], indent=2))
        return
    if bound is not None:
        _show_bound(chosen[0])
        return
    shown = table("id", "bound", "guarantee", "classes", "learns", "references")
    for one in chosen:
        shown.add_row(
            one.id,
            plain(one.title),
            "yes" if one.is_guarantee else "[red]no[/]",
            "any" if one.multiclass else "two",
            "yes" if one.learnable else "",
            ", ".join(one.references),
        )
    data().print(shown)


def _show_bound(bound: Bound) -> None:
    from votecert.references import bibtex

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

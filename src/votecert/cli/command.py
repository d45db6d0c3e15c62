"""From functions to commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from votecert.cli.errors import Code, Ending
from votecert.cli.groups import spread


def add_command(
    app: typer.Typer, function: Callable[..., None], *examples: str, name: str | None = None
) -> None:
    """Make a function a command, with its groups of options and with examples in the help.

    If it comes to its end its work is done, which :func:`votecert.cli.app.run` wants to be told.
    """
    run = spread(function)

    @wraps(run)
    def told(**options: Any) -> None:
        run(**options)
        Ending.code = Code.DONE

    shown = "\n\n".join(["[bold]Example[/]", *(f"  {line}" for line in examples)])
    app.command(name, epilog=shown if examples else None)(told)

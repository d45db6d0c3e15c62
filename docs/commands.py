"""The page of all commands and options, made from the program itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

HEAD = """# All commands and options

Made from the program; `votecert COMMAND --help` prints the same.
[The command line](cli.md) explains them in use.
"""
NOT_TOLD = (None, False, ())
"""Defaults that say nothing."""


def page() -> str:
    """Every command: its text, its options by heading, its examples."""
    from typer.main import get_command

    from votecert.cli.app import app

    return HEAD + "".join(f"\n{section(name, one)}" for name, one in commands(get_command(app), "votecert"))


def commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command below a group, with its whole name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def section(name: str, command: Any) -> str:
    """One command."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    called = [stands(one) if one.required else f"[{stands(one)}]" for one in arguments]
    panels: dict[str, list[Any]] = {"Arguments": arguments} if arguments else {}
    for one in command.params:
        if one.param_type_name == "option":
            panels.setdefault(one.rich_help_panel or "Options", []).append(one)
    usage = " ".join([name, *called, "[OPTIONS]"])
    parts = [f"## {name}\n", f"```text\n{usage}\n```\n", marked(command.help or "")]
    for panel, params in panels.items():
        parts += [f"\n| {panel} | |", "|---|---|", *map(line, params)]
    examples = [text.strip() for text in (command.epilog or "").splitlines()[1:] if text.strip()]
    if examples:
        parts += ["\n```shell", *examples, "```"]
    return "\n".join(parts) + "\n"


def line(param: Any) -> str:
    """One argument or option."""
    shown = ", ".join(param.opts) if param.param_type_name == "option" else stands(param)
    value = f" {param.metavar}" if param.param_type_name == "option" and param.metavar else ""
    default = "" if param.default in NOT_TOLD or callable(param.default) else f" Default: `{param.default}`."
    needed = "**Required.** " if param.required and param.param_type_name == "option" else ""
    told = needed + marked(" ".join((param.help or "").split())) + default
    return "| {} | {} |".format(*(cell.replace("|", "\\|") for cell in (f"`{shown}{value}`", told)))


def stands(argument: Any) -> str:
    """What stands for an argument."""
    return str(argument.metavar or argument.name.upper())


def marked(text: str) -> str:
    """Rich's markup as that of Markdown, and options as code."""
    text = re.sub(r"\[bold\](.*?)\[/\]", r"**\1**", text).replace("<", "&lt;")
    return re.sub(r"(?<!\S)(--[a-z][a-z-]*)", r"`\1`", text)

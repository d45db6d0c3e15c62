"""From functions to commands: what their docstrings say is their help, and they share groups of options.

A group is a dataclass. A command that has one as a parameter gets an option for each of its fields, under the
first line of its docstring as heading. Name, type and default of an option are those of the parameter or
field. Its help, and after a colon what stands for its value, are in the docstring. What else there is to
say about it, typer is told: ``seed: Annotated[int | None, typer.Option("--seed", "-s", min=0)] = None``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass, replace
from functools import cache, wraps
from inspect import Parameter
from typing import Annotated, Any, NamedTuple, cast, get_args, get_origin, get_type_hints

import typer

from votecert.cli.errors import Code, Ending


class Described(NamedTuple):
    """A docstring in numpydoc's manner, taken apart; of each name, what stands for its value and the help."""

    text: str
    names: dict[str, tuple[str, str]]
    examples: list[str]

    @classmethod
    def by(cls, documented: object) -> Described:
        """Take apart the docstring of a function or a group."""
        headings = r"^(Parameters|Attributes|Examples)\n-+\n"
        text, *parts = re.split(headings, inspect.getdoc(documented) or "", flags=re.MULTILINE)
        sections = dict(zip(parts[::2], parts[1::2], strict=True))
        names = {}
        for entry in re.split(r"\n(?=\S)", sections.get("Parameters") or sections.get("Attributes") or ""):
            first, _, explained = entry.partition("\n")
            name, _, stands = first.partition(" : ")
            names[name] = stands, " ".join(explained.split())
        return cls(text.strip(), names, sections.get("Examples", "").splitlines())

    def option(self, name: str, hint: Any, default: Any, panel: str | None = None) -> Parameter:
        """A parameter as typer wants it."""
        kind, *told = _parts(hint)
        flag = [f"--{name.replace('_', '-')}"] if kind is bool else []
        info = copy(told[0]) if told else typer.Option(*flag)
        stands, text = self.names.get(name, ("", ""))
        info.metavar, info.help = info.metavar or stands or None, info.help or text
        info.rich_help_panel = info.rich_help_panel or panel
        return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def without(*names: str) -> frozenset[str]:
    """Options of a group that a command does not have: ``Annotated[Group, without("name")]``."""
    return frozenset(names)


def add_command(app: typer.Typer, function: Callable[..., None], name: str | None = None) -> None:
    """Make a function a command.

    If a parameter that is a group has a default, the options have their defaults from it. If the function
    comes to its end its work is done, which :func:`votecert.cli.app.run` wants to be told.
    """
    described = Described.by(function)
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for one in inspect.signature(function, eval_str=True).parameters.values():
        kind, *left_out = _parts(one.annotation)
        if is_dataclass(kind):
            group: Any = one.default if one.default is not Parameter.empty else cast(Any, kind)()
            options = [option for option in _options(group) if not any(option.name in n for n in left_out)]
            groups[one.name] = group, [option.name for option in options]
            parameters += options
        else:
            parameters.append(described.option(one.name, one.annotation, one.default))

    @wraps(function)
    def run(**given: Any) -> None:
        for parameter, (group, names) in groups.items():
            given[parameter] = replace(group, **{name: given.pop(name) for name in names})
        function(**given)
        Ending.code = Code.DONE

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    examples = "\n\n".join(["[bold]Example[/]", *(f"  {line}" for line in described.examples)])
    app.command(name, help=described.text, epilog=examples if described.examples else None)(run)


@cache
def _options(group: Any) -> list[Parameter]:
    """One parameter for each field of a group."""
    described, hints = Described.by(type(group)), get_type_hints(type(group), include_extras=True)
    panel = described.text.partition(".")[0]
    named = {one.name: getattr(group, one.name) for one in fields(group)}
    return [described.option(name, hints[name], default, panel) for name, default in named.items()]


def _parts(hint: Any) -> tuple[Any, ...]:
    """A type, and what it is annotated with."""
    return get_args(hint) if get_origin(hint) is Annotated else (hint,)

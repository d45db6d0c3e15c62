"""Groups of options that commands share: dataclasses, which commands have as parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import field, fields, is_dataclass, replace
from functools import partial, wraps
from inspect import Parameter
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer


def option(*names: str, default: Any = None, **settings: Any) -> Any:
    """A field of a group: the group is a dataclass whose ``panel`` is the heading of its options in the help.

    Parameters
    ----------
    *names : str
        Such as "--label", "-l"; by default made from the name of the field.
    default
        What the field is where the user says nothing.
    **settings
        As for ``typer.Option``.
    """
    return field(default=default, metadata={"typer": partial(typer.Option, *names, **settings)})


def without(*names: str) -> frozenset[str]:
    """Options of a group that a command does not have: ``Annotated[Group, without("name")]``."""
    return frozenset(names)


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """The same function with an option for each field of each group, as typer wants them.

    If a parameter that is a group has a default, the options have their defaults from it.
    """
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        noted = get_origin(parameter.annotation) is Annotated
        kind, *left_out = get_args(parameter.annotation) if noted else [parameter.annotation]
        if is_dataclass(kind):
            group: Any = kind() if parameter.default is Parameter.empty else parameter.default
            options = [one for one in _options(group) if not any(one.name in names for names in left_out)]
            groups[parameter.name] = group, [one.name for one in options]
            parameters += options
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(function)
    def run(**given: Any) -> None:
        for name, (group, names) in groups.items():
            given[name] = replace(group, **{one: given.pop(one) for one in names})
        function(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _options(group: Any) -> list[Parameter]:
    types = get_type_hints(type(group))
    return [
        Parameter(
            one.name,
            Parameter.KEYWORD_ONLY,
            default=getattr(group, one.name),
            annotation=Annotated[types[one.name], one.metadata["typer"](rich_help_panel=group.panel)],
        )
        for one in fields(group)
    ]

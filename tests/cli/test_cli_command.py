"""A command is a function: its docstring is the help, and groups of options are shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from votecert.cli.command import add_command, without
from votecert.cli.errors import Code, Ending


@dataclass(frozen=True)
class Colours:
    """Paint.

    Attributes
    ----------
    shade : NAME
        Which shade.
    no_frame
        Without a frame.
    gloss : G
        How much of it shines,
        from 0 to 1.
    """

    shade: Annotated[str, typer.Option("--shade", "-s")] = "red"
    no_frame: bool = False
    gloss: Annotated[float | None, typer.Option(max=1.0)] = None


BLUE = Colours(shade="blue")


def house(
    street: Annotated[str, typer.Argument()],
    *,
    walls: Colours,
    floors: int = 1,
) -> None:
    """Build a house.

    It has a door.

    Parameters
    ----------
    street : STREET
        Where it is.
    floors : N
        How high it is.

    Examples
    --------
    house Elm --floors 2
    """
    typer.echo(f"{street} {floors} {walls}")


def shed(*, walls: Annotated[Colours, without("gloss")] = BLUE) -> None:
    """Build a shed."""
    typer.echo(walls)


def run(*arguments: str):
    app = typer.Typer(rich_markup_mode="rich")
    add_command(app, house)
    add_command(app, shed, name="hut")
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "120", "NO_COLOR": "1"})


def test_options_of_groups_reach_the_function_as_groups():
    done = run("house", "Elm", "-s", "green", "--no-frame", "--gloss", "0.5", "--floors", "2")
    assert done.stdout == f"Elm 2 {Colours('green', True, 0.5)}\n"
    assert run("house", "Elm").stdout == f"Elm 1 {Colours()}\n"
    assert run("house", "Elm", "--gloss", "2").exit_code == 2
    assert run("house").exit_code == 2


def test_defaults_of_a_command_and_options_it_does_not_have():
    assert run("hut").stdout == f"{BLUE}\n"
    assert run("hut", "--no-frame").stdout == f"{Colours('blue', True)}\n"
    assert run("hut", "--gloss", "1").exit_code == 2


def test_the_docstring_is_the_help():
    shown = run("house", "--help").stdout
    assert "Parameters" not in shown
    for words in ("Build a house.", "It has a door.", "STREET", "How high it is."):
        assert words in shown
    for words in (" Paint ", "--shade", "-s", "NAME", "Which shade.", "[default: red]", "--no-frame"):
        assert words in shown
    assert "How much of it shines, from 0 to 1." in shown
    assert "--no-no-frame" not in shown
    assert "house Elm --floors 2" in shown.partition("Example")[2]
    assert "[default: blue]" in run("hut", "--help").stdout


def test_only_a_command_that_came_to_its_end_is_done():
    Ending.code = None
    run("house")
    assert Ending.code is None
    run("house", "Elm")
    assert Ending.code == Code.DONE

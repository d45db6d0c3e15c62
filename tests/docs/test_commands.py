"""The page of commands, which is made when the site is built, has all of the program."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

get_command = pytest.importorskip("typer.main").get_command
app = pytest.importorskip("votecert.cli.app").app

SCRIPT = Path(__file__).parents[2] / "docs" / "commands.py"


def test_every_command_argument_and_option_is_there():
    spec = importlib.util.spec_from_file_location("commands_page", SCRIPT)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    _, *sections = made.page().split("\n## ")
    shown = {text.partition("\n")[0]: text for text in sections}
    commands = dict(made.commands(get_command(app), "votecert"))
    assert list(shown) == list(commands)
    assert {"votecert certify", "votecert monitor", "votecert paper run"} <= shown.keys()
    for name, command in commands.items():
        rows = [line for line in shown[name].splitlines() if line.startswith("| `")]
        assert len(rows) == len(command.params)
        for param in command.params:
            wanted = param.opts[0] if param.param_type_name == "option" else made.stands(param)
            (row,) = [one for one in rows if one.startswith(f"| `{wanted}") and one[3 + len(wanted)] in "`, "]
            ending = " ".join((param.help or "").split()[-3:]).replace("[/]", "**")[-8:]
            assert ending in row.replace("`", ""), (name, wanted)
        assert f"\n{name} " in shown[name].partition("```shell")[2] or name.startswith("votecert paper")
    assert "[bold]" not in made.page()

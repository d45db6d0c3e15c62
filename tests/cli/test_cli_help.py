"""Help for every command, and documentation that fits it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from votecert.cli.app import app

COMMANDS = [command.callback.__name__ for command in app.registered_commands]
DOCS = Path(__file__).parents[2] / "docs" / "cli.md"


def options_of(text: str) -> set[str]:
    return set(re.findall(r"(?<!\S)(--[a-z][a-z-]*)", text))


@pytest.fixture
def helps(invoke, monkeypatch) -> dict[str, str]:
    monkeypatch.setenv("COLUMNS", "200")
    return {command: invoke(command, "--help").stdout for command in COMMANDS}


def test_every_command_explains_itself_with_an_example(invoke, helps):
    overview = invoke("--help").stdout
    for command, text in helps.items():
        assert f" {command} " in overview
        assert "Example" in text
        assert f"votecert {command}" in text.partition("Example")[2]
        assert "<dict" not in text


def test_examples_use_options_that_exist(helps):
    for text in helps.values():
        for line in text.partition("Example")[2].splitlines():
            found = re.search(r"votecert (\w+)(.*)", line)
            if found:
                assert options_of(found[2]) <= options_of(helps[found[1]])


@pytest.mark.skipif(not DOCS.exists(), reason="the documentation is not part of this installation")
def test_documentation_names_commands_and_options_that_exist(helps):
    text = DOCS.read_text("utf-8").replace("\\\n", " ")
    lines = re.findall(r"votecert ([a-z]+)\b([^\n`|#]*)", text)
    used = {command for command, _ in lines if command in helps}
    assert used == set(COMMANDS)
    for command, rest in lines:
        if command in helps:
            assert options_of(rest) <= options_of(helps[command]), (command, rest)
    known = set.union(*map(options_of, helps.values())) | {"--version", "--install-completion"}
    assert set(re.findall(r"`(--[a-z-]+)", text)) <= known


def test_the_runner_of_the_paper_says_where_it_keeps_votes(invoke):
    from votecert.paper.load import cache_folder

    assert cache_folder().name == "votecert"
    assert "votecert/votes in the user's cache" in " ".join(invoke("paper", "run", "--help").stdout.split())

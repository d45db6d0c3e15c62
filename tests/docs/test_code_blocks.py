"""Every code block of the README and the documentation runs.

The Python blocks of a page are one program. Where a block of plain text follows, it is what the code prints,
but for the digits, which depend on the versions of other libraries. The ``votecert`` commands of shell blocks
run in this process, in a folder with a few files of votes.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from votecert.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

SHELL = ("bash", "shell")

TRIED_ELSEWHERE = re.compile(r"votecert demo")
"""Takes longest, and has tests of its own."""

OWN_FILES = {"cli.md", "scale.md"}
"""Pages whose examples are about files of the reader: only their options are checked."""


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(language, text) for language, text in found if language in languages]


def having(*languages: str) -> list[object]:
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES if blocks(page, *languages)]


def shape(text: str) -> str:
    """A text without its digits."""
    return re.sub(r"\d+(\.\d+)?", "#", text).strip()


@pytest.mark.parametrize("page", having("python"))
def test_python(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    printed = ""
    for language, text in blocks(page, "python", "text"):
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, str(page), "exec"), names)
            printed = output.getvalue()
        else:
            assert shape(text) == shape(printed)


def write_votes(folder: Path) -> None:
    """The files that the guides speak about."""
    rng = np.random.default_rng(0)
    for name, label, classes, missing in (
        ("votes.csv", "truth", ("no", "yes"), 0.0),
        ("judges.csv", "human", ("harmful", "safe"), 0.05),
    ):
        y = rng.integers(2, size=400)
        votes = np.where(rng.random((400, 5)) < 0.85, y[:, None], 1 - y[:, None])
        words = np.array(classes, dtype=object)[votes]
        words[rng.random(votes.shape) < missing] = ""
        lines = [",".join([*row, classes[k]]) for row, k in zip(words, y, strict=True)]
        header = ",".join(["a", "b", "c", "d", "e", label])
        (folder / name).write_text("\n".join([header, *lines, ""]), encoding="utf-8")


def commands(page: Path) -> list[list[str]]:
    """The arguments of every ``votecert`` command of a page."""
    found = []
    for _, text in blocks(page, *SHELL):
        for line in text.replace("\\\n", " ").splitlines():
            for command in re.split(r" && | \|\| | \| | >> | > ", line):
                if command.startswith("votecert "):
                    found.append(shlex.split(command, comments=True)[1:])
    return found


@pytest.mark.parametrize("page", [page for page in having(*SHELL) if page.values[0].name not in OWN_FILES])
def test_shell(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_votes(tmp_path)
    monkeypatch.chdir(tmp_path)
    for arguments in commands(page):
        if not TRIED_ELSEWHERE.match(f"votecert {arguments[0]}"):
            done = CliRunner().invoke(app, arguments)
            assert done.exit_code == 0, f"{arguments}\n{done.output}"


@pytest.mark.parametrize("page", having(*SHELL))
def test_options_exist(page: Path) -> None:
    """Every command and option that a page shows exists."""
    group = get_command(app)
    for arguments in commands(page):
        command = group
        for name in arguments:
            if not hasattr(command, "commands"):
                break
            assert name in command.commands, f"There is no command {name!r}: {arguments}"
            command = command.commands[name]
        known = {option for parameter in command.params for option in parameter.opts} | {"--help", "-h"}
        used = {part for part in arguments if re.fullmatch(r"--?[a-z][a-z-]*", part)}
        assert used <= known, f"{arguments}: {used - known}"


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda script: script.stem)
def test_examples_compile(script: Path) -> None:
    """They run, all of them, when the site is built."""
    compile(script.read_text(encoding="utf-8"), str(script), "exec")

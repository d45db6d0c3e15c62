"""Every code block of the README and the documentation runs.

The Python blocks of a page are one program. Where a block of plain text follows, it is what the code prints,
but for the digits, which depend on the versions of other libraries. The ``votecert`` commands of shell blocks
run in this process, in a folder with a few files of votes. What cannot run is named here, with the reason.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import shlex
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from votecert import bounds

mpl = pytest.importorskip("matplotlib")
get_command = pytest.importorskip("typer.main").get_command
CliRunner = pytest.importorskip("typer.testing").CliRunner
app = pytest.importorskip("votecert.cli.app").app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^\s*(```|~~~)", re.MULTILINE)

SHELL = ("bash", "shell")
NOT_RUN = {
    "py": "needs a cluster, or what tests/voters/test_third_party.py has; must be valid Python",
    "yaml": "steps of somebody's workflow; its votecert commands must exist",
    "text": "what a program prints, or a file",
}
NOT_TRIED = re.compile(
    r"votecert demo$"  # takes long, and has tests of its own
    r"|python -m (pip|venv|pytest)\b|pip install |source |ruff |mypy$|mkdocs "  # CI does these
    r"|python docs/(results|refresh)\.py"  # take an hour
    r"|\.ci/run"
)


def blocks(page: Path, *languages: str) -> list[tuple[str, str]]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(language, text) for language, text in found if language in languages]


def having(*languages: str) -> list[object]:
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES if blocks(page, *languages)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_block_is_overlooked(page: Path) -> None:
    """Indented blocks, and blocks without a language or with another one, would not be found."""
    text = page.read_text(encoding="utf-8")
    assert len(FENCE.findall(text)) == 2 * len(BLOCK.findall(text))
    languages = {language for language, _ in BLOCK.findall(text)}
    assert languages <= {"python", *SHELL, *NOT_RUN}


@pytest.mark.parametrize("page", having("py"))
def test_python_that_does_not_run_compiles(page: Path) -> None:
    for _, text in blocks(page, "py"):
        ast.parse(text)


def shape(text: str) -> str:
    """A text without its digits."""
    return re.sub(r"-?\d+(\.\d+)?", "#", text).strip()


@pytest.mark.parametrize("page", having("python"))
@patch.dict(bounds._REGISTERED)  # a page may register a bound of its own
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
        elif not text.startswith("$ "):  # such a block is of the command it shows: docs/results.py pastes it
            assert shape(text) == shape(printed)


FILES = {  # name, label column, labels, share of missing votes, another column
    "guides": [
        ("votes.csv", "truth", ("no", "yes"), 0.0, None),
        ("judges.csv", "human", ("harmful", "safe"), 0.05, None),
        ("new.csv", "human", ("harmful", "safe"), 0.05, None),
    ],
    "README.md": [
        ("votes.csv", "truth", ("no", "yes"), 0.0, None),
        ("new.csv", "truth", ("no", "yes"), 0.0, None),
    ],
    "watch.md": [
        ("votes.csv", "truth", ("no", "yes"), 0.0, None),
        ("today.csv", "truth", ("no", "yes"), 0.0, None),
        ("labelled.csv", "truth", ("no", "yes"), 0.0, "id"),
    ],
    "llm-jury.md": [
        ("answers.jsonl", "human", ("bad", "good"), 0.05, "id"),
        ("today.jsonl", "human", ("bad", "good"), 0.05, "id"),
    ],
    "cli.md": [
        ("votes.csv", "truth", ("ham", "spam"), 0.05, None),
        ("judges.csv", "human", ("bad", "good"), 0.05, "case"),
        ("annotations.csv", "expert", ("no", "yes"), 0.3, "item"),
        ("new.csv", "truth", ("ham", "spam"), 0.05, None),
    ],
}
"""Files that the pages speak about: those of the guides, and those of a page that has its own."""


WRITE_THEIR_FILES = ("formats.md",)
"""Pages whose commands read what their Python writes."""


def write_votes(folder: Path, page: Path) -> None:
    rng = np.random.default_rng(0)
    for name, label, classes, missing, another in FILES.get(page.name, FILES["guides"]):
        y = rng.integers(2, size=400)
        votes = np.where(rng.random((400, 5)) < 0.85, y[:, None], 1 - y[:, None])
        words = np.array(classes, dtype=object)[votes]
        words[rng.random(votes.shape) < missing] = ""
        columns = {voter: words[:, i] for i, voter in enumerate("abcde")} | {label: [classes[k] for k in y]}
        if another:
            columns = {another: [str(i) for i in range(400)]} | columns
        if name.endswith(".jsonl"):
            lines = [record(another, label, *row) for row in zip(*columns.values(), strict=True)]
        else:
            lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
        (folder / name).write_text("\n".join([*lines, ""]), encoding="utf-8")


def record(item: str, label: str, name: str, *said: str) -> str:
    """A line of JSON: an item with what each voter says, if anything, and the true label."""
    *votes, truth = said
    answers = [{"judge": voter, "verdict": vote} for voter, vote in zip("abcde", votes, strict=True) if vote]
    return json.dumps({item: name, "answers": answers, label: truth})


def lines(page: Path, *languages: str) -> list[str]:
    """Single commands: of a line with several, each one, without where its output goes."""
    found = []
    for _, text in blocks(page, *languages):
        for line in text.replace("\\\n", " ").splitlines():
            parts = re.split(r" && | \|\| | \| | >> | > ", line.split(" #")[0])
            found += [part.strip() for part in parts if part.strip() and not part.strip().endswith(".md")]
    return found


def arguments(command: str) -> list[str]:
    return shlex.split(command)[1:]


@pytest.mark.parametrize("page", having(*SHELL))
def test_shell(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page.name in WRITE_THEIR_FILES:
        names: dict[str, object] = {}
        for _, text in blocks(page, "python"):
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, str(page), "exec"), names)
    else:
        write_votes(tmp_path, page)
    for command in lines(page, *SHELL):
        if command.startswith("python -c "):
            exec(compile(arguments(command)[1], str(page), "exec"), {})
        elif not NOT_TRIED.match(command):
            assert command.startswith("votecert "), f"{command!r} is neither tried nor named as not tried"
            done = CliRunner().invoke(app, arguments(command))
            assert done.exit_code == 0, f"{command}\n{done.output}"


@pytest.mark.parametrize("page", having(*SHELL, "yaml"))
def test_options_exist(page: Path) -> None:
    """Every command and option that a page shows exists."""
    steps = [re.sub(r"^(- )?run: ", "", line) for line in lines(page, "yaml")]
    for command in (*lines(page, *SHELL), *steps):
        if not command.startswith("votecert "):
            continue
        group = get_command(app)
        for name in arguments(command):
            if not hasattr(group, "commands"):
                break
            assert name in group.commands, f"There is no command {name!r}: {command}"
            group = group.commands[name]
        known = {option for parameter in group.params for option in parameter.opts} | {"--help", "-h"}
        used = {part for part in arguments(command) if re.fullmatch(r"--?[a-z][a-z-]*", part)}
        assert used <= known, f"{command}: {used - known}"

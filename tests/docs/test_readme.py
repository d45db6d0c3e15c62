"""What the README says is printed is what is printed, up to how other versions of scikit-learn grow trees."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from votecert import BOUNDS

CliRunner = pytest.importorskip("typer.testing").CliRunner
app = pytest.importorskip("votecert.cli.app").app

README = Path(__file__).parents[2] / "README.md"
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def same(shown: str, printed: str) -> None:
    """The same words, and numbers that are close."""
    shown, printed = " ".join(shown.split()), " ".join(printed.split())
    assert NUMBER.sub("#", shown) == NUMBER.sub("#", printed)
    for one, other in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        # Counts of errors and ties are small; shares of rows are not.
        assert float(one) == pytest.approx(float(other), rel=0.2, abs=0 if "." in one else 3)


def test_the_examples_print_what_is_shown(tmp_path, monkeypatch):
    pytest.importorskip("mpmath")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed, compared = "", 0
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S):
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(text, "README.md", "exec"), names)
            printed = output.getvalue()
        elif language == "text":
            same(text, printed)
            compared += 1
        elif text.startswith("votecert"):
            for command, shown in re.findall(r"^votecert (.*)\n((?:  # .*\n)*)", text, re.M):
                done = CliRunner().invoke(app, shlex.split(command))
                assert done.exit_code == 0, done.output
                same(shown.replace("  # ", ""), done.stdout)
                compared += 1
    assert compared == 7
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "decided.csv").exists()


def test_the_number_of_bounds():
    assert "twenty majority-vote bounds" in README.read_text("utf-8")
    assert len(BOUNDS) == 20

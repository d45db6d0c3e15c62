"""Exit codes mean what they say: a command that did not do its job never ends like one that did."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib

import pytest
from jury_file import ROWS
from test_cli_process import posix

import votecert as vc
from votecert.cli import app as cli_app
from votecert.paper.results import ResultFiles


@pytest.mark.parametrize("code", [None, 0, 1, 3])
@pytest.mark.parametrize(
    "arguments", [["verify", "c.json"], ["certify", "votes.csv", "--max-risk", "0.1"], []]
)
def test_a_framework_that_swallows_the_command(invoke, monkeypatch, code, arguments):
    def swallow(prog_name: str) -> None:
        if code is not None:
            sys.exit(code)

    monkeypatch.setattr(cli_app, "app", swallow)
    done = invoke(*arguments)
    assert done.exit_code == 70
    assert "did not come to its end" in done.stderr


def test_a_framework_that_passes_for_another_verdict(invoke, votes, monkeypatch):
    command = cli_app.app

    def end_well(prog_name: str) -> None:
        with pytest.raises(SystemExit):
            command(prog_name=prog_name)

    monkeypatch.setattr(cli_app, "app", end_well)
    assert invoke("certify", votes, *ROWS, "--max-risk", "0.3", "--quiet").exit_code == 0
    assert invoke("certify", votes, *ROWS, "--max-risk", "0.001").exit_code == 70


def test_help_and_version_end_well(invoke):
    assert invoke("--version") == (0, f"votecert {vc.__version__}\n", "")
    for arguments in (["--help"], ["verify", "-h"]):
        assert invoke(*arguments).exit_code == 0
    for arguments in ([], ["paper"]):
        assert invoke(*arguments).exit_code == 2


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("odd"),
        RecursionError("deep"),
        zlib.error("bits"),
        SystemExit(0),
        SystemExit(1),
        EOFError(),
    ],
)
def test_what_nobody_thought_of_is_a_bug(invoke, votes, monkeypatch, error):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("votecert.certify", fail)
    done = invoke("certify", votes, *ROWS)
    assert (done.exit_code, done.stdout) == (70, "")
    assert done.stderr.splitlines()[-1].startswith(f"votecert: {type(error).__name__}")
    assert "please report it" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_breaks_before_there_is_a_command_is_a_bug(invoke, monkeypatch):
    monkeypatch.setitem(sys.modules, "votecert.cli.app", None)
    done = invoke("--version")
    assert done.exit_code == 70
    assert done.stderr.startswith("votecert: it could not be started: ModuleNotFoundError")


@posix
@pytest.mark.parametrize("arguments", [["bounds", "--json"], ["--help"], ["verify", "--help"]])
def test_a_reader_that_has_enough(start, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    process = start(*arguments, stdout=writer)
    os.close(writer)
    assert process.communicate(timeout=60)[1] == ""
    assert process.returncode == 141


@posix
def test_a_reader_that_has_enough_of_a_certificate(start, votes):
    reader, writer = os.pipe()
    os.close(reader)
    for more in ([], ["--quiet", "--max-risk", "0.0001"]):
        process = start("certify", votes, *ROWS, *more, stdout=writer)
        assert "Traceback" not in process.communicate(timeout=60)[1]
        assert process.returncode == 141
    os.close(writer)


@posix
@pytest.mark.parametrize(
    ("redirected", "message"),
    [(">&-", "standard output is closed: give the result"), (">/dev/full", "No space left on device.")],
)
def test_output_that_goes_nowhere(start, tmp_path, redirected, message):
    """Closed from the start, or a full disk: nothing was delivered, so nothing is done."""
    if redirected == ">/dev/full" and not os.path.exists("/dev/full"):
        pytest.skip("there is no device that is always full")
    shell = ["sh", "-c", f'exec "$@" {redirected}', "sh"]
    command = [*shell, *start.command, "bounds", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert f"votecert: {message}" in done.stderr


@posix
def test_messages_that_nobody_wants(start, votes, tmp_path):
    """Without stderr the result and the exit code are the same; without stdin there is a sentence."""
    for redirected, arguments, code in (
        ("2>&-", ["certify", votes, *ROWS, "--max-risk", "0.001"], 1),
        ("2>&-", ["certify", "nowhere.csv", *ROWS], 2),
        ("<&-", ["certify", "-", *ROWS], 2),
    ):
        shell = ["sh", "-c", f'exec "$@" {redirected}', "sh"]
        done = subprocess.run(
            [*shell, *start.command, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == code
        assert ("at most" in done.stdout) == (code < 2)
        assert ("Standard input is closed" in done.stderr) == (redirected == "<&-")


def test_two_runs_of_the_paper_on_one_folder(invoke, tmp_path):
    with ResultFiles.open(tmp_path / "results"):
        done = invoke("paper", "run", "--datasets", "tictactoe", "--results", "results", "--jobs", "1")
    assert done.exit_code == 2
    assert "votecert: Another run is writing to results: wait for it or stop it." in done.stderr

"""Votes in files, and two ways to run the installed command: in this process, or in one of its own."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

import pytest
from jury_file import jury

pytest.importorskip("typer")
pytest.importorskip("rich")

import votecert.cli


class Result(NamedTuple):
    """What a command left behind."""

    exit_code: int
    stdout: str
    stderr: str


def installed_main() -> Callable[[], int]:
    """What the installed ``votecert`` script calls."""
    found = entry_points(group="console_scripts", name="votecert")
    return next(iter(found)).load() if found else votecert.cli.main


@pytest.fixture
def invoke(tmp_path, monkeypatch) -> Callable[..., Result]:
    """Run the installed command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    main = installed_main()

    def run(*arguments: object, stdin: str | bytes = "") -> Result:
        given = stdin if isinstance(stdin, bytes) else stdin.encode()
        streams = [io.TextIOWrapper(io.BytesIO(content), "utf-8") for content in (given, b"", b"")]
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["votecert", *map(str, arguments)])
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patch.setattr(sys, name, stream)
            code = main()
        for stream in streams[1:]:
            stream.flush()
        return Result(code, *(stream.buffer.getvalue().decode() for stream in streams[1:]))

    return run


@pytest.fixture
def start(tmp_path) -> Callable[..., subprocess.Popen[str]]:
    """Start the installed command in a process of its own."""
    script = Path(sys.executable).parent / "votecert"
    command = [str(script)] if script.exists() else [sys.executable, "-m", "votecert"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    environment.pop("COLUMNS", None)
    started: list[subprocess.Popen[str]] = []

    def run(*arguments: object, **options) -> subprocess.Popen[str]:
        settings = {
            "cwd": tmp_path,
            "env": environment | options.pop("env", {}),
            "text": True,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            # where the tests run in the background of a shell, children would inherit that Ctrl-C is ignored
            "preexec_fn": (lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            if os.name == "posix"
            else None,
        }
        started.append(subprocess.Popen([*command, *map(str, arguments)], **settings | options))
        return started[-1]

    run.command = command
    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def run(start) -> Callable[..., tuple[int, str, str]]:
    """Run the installed command to its end: exit code, stdout, stderr."""

    def finish(*arguments: object, **options) -> tuple[int, str, str]:
        stdin = options.pop("input", None)
        if stdin is not None:
            options["stdin"] = subprocess.PIPE
        process = start(*arguments, **options)
        out, err = process.communicate(stdin, timeout=120)
        return process.returncode, out, err

    return finish


@pytest.fixture
def votes(tmp_path) -> str:
    """Name of a csv file with a jury's votes."""
    (tmp_path / "votes.csv").write_text(jury())
    return "votes.csv"

"""Two voices: data on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Self

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 2.0
"""Seconds after which somebody who waits is told what is going on."""

_WIDTH = 120  # where there is no terminal that has one


def data() -> Console:
    """The console for data: stdout."""
    return _console(stderr=False)


def messages() -> Console:
    """The console for messages and progress: stderr."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH
    return console


def plain(text: object) -> str:
    """Text from a file, safe to print: no markup, no control characters that a terminal would obey.

    Examples
    --------
    >>> plain("[red]\\x1b[2J judge")
    '\\\\[red]?[2J judge'
    """
    return escape("".join(char if char.isprintable() else "?" for char in str(text)))


def table(*columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """An empty table; columns named in ``numbers`` are set flush right."""
    made = Table(header_style="bold", box=None)
    for place, column in enumerate(columns):
        right = column in numbers
        made.add_column(column, justify="right" if right else "left", no_wrap=right or place == 0)
    return made


def source_of(votes: Sequence[str]) -> tuple[str, str | Sequence[str] | BinaryIO]:
    """How messages call files of votes, and where they are read from: "-" is standard input."""
    if len(votes) > 1:
        return f"{votes[0]} and {len(votes) - 1} more", votes
    if votes[0] != "-":
        return votes[0], votes[0]
    if sys.stdin is None:
        raise ValueError("Standard input is closed: give the name of a file, or pipe the votes in.")
    return "standard input", sys.stdin.buffer


def text_of(path: Path, most: int, what: str) -> str:
    """The text of a file, refused where there is none or more of it than ``what`` it should be can have."""
    if path.is_dir() or not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.stat().st_size > most:
        raise ValueError(f"{path} is too large to be {what}.")
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not {what}: it is not text ({error}).") from None


@dataclass(frozen=True)
class Talk:
    """What to do with the result.

    Attributes
    ----------
    quiet
        No messages and no progress on stderr.
    """

    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False

    def say(self, text: str) -> None:
        """Print a message (with rich markup)."""
        if not self.quiet:
            messages().print(text, soft_wrap=True)

    def note(self, text: str) -> None:
        """Print what the user should know."""
        self.say(f"[yellow]Note:[/] {text}")

    def wait(self, what: str) -> Waiting:
        """Tell what is going on while the block runs, if it takes long."""
        return Waiting(what, self.quiet)


class Waiting:
    """Shows, once it has lasted two seconds, what is going on and how far it has come.

    On a terminal that is a moving bar that disappears in the end, elsewhere a single line.
    """

    def __init__(self, what: str, quiet: bool) -> None:
        self._what, self._quiet = what, quiet
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._show)
        self._timer.daemon = True
        self._done = False
        self._state: dict[str, Any] = {"description": what, "completed": 0, "total": None}
        self._progress: Progress | None = None

    def __enter__(self) -> Self:
        if not self._quiet:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._done = True
            if self._progress is not None:
                self._progress.stop()

    def advance(self, done: int, total: int | None, now: str | None = None) -> None:
        """So much of the whole is done, and this comes now."""
        self._update(completed=done, total=total, description=now or self._what)

    def news(self, report: dict[str, Any]) -> None:
        """What a search has found so far: the callback of ``learn``."""
        from votecert.certificate.text import percent

        self._update(description=f"{self._what}: at most {percent(report['value'])} so far")

    def _update(self, **state: Any) -> None:
        self._state |= state
        if self._progress is not None:
            self._progress.update(self._progress.task_ids[0], **state)

    def _show(self) -> None:
        with self._lock:
            if self._done:
                return
            console = messages()
            if not console.is_terminal:
                console.print(f"{self._what} ...", soft_wrap=True)
                return
            from rich import progress as bars  # only now: the start of the program should not wait for it

            columns = (bars.SpinnerColumn(), bars.TextColumn("{task.description}"), bars.BarColumn())
            times = (bars.TimeElapsedColumn(), bars.TimeRemainingColumn())
            progress = bars.Progress(*columns, *times, console=console, transient=True)
            progress.add_task(**self._state)
            progress.start()
            self._progress = progress

"""From whatever goes wrong to one sentence on stderr and an exit code."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import Any

import typer
from typer.core import TyperGroup

from votecert.cli.console import messages, plain


class Code(IntEnum):
    """Exit codes."""

    DONE = 0
    TOO_RISKY = 1
    BAD_INPUT = 2
    NOT_VERIFIED = 3
    INTERRUPTED = 130
    PIPE_CLOSED = 141


class Guarded(TyperGroup):
    """Commands whose errors are told in a sentence. ``VOTECERT_DEBUG=1`` shows the traceback instead."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is leaving already
            complain("Interrupted. No file is left half-written.")
            raise typer.Exit(Code.INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read the output has enough; Python would complain once more when it closes stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(Code.PIPE_CLOSED) from None
        except (ValueError, TypeError, OSError, ImportError, MemoryError, ArithmeticError) as error:
            if os.environ.get("VOTECERT_DEBUG"):
                raise
            complain(sentence(error))
            raise typer.Exit(Code.BAD_INPUT) from None


def complain(text: str) -> None:
    """Say what is wrong."""
    messages().print(f"[bold red]votecert:[/] {plain(text)}", soft_wrap=True)


def sentence(error: BaseException) -> str:
    """The error in words that fit the command line.

    Examples
    --------
    >>> sentence(ValueError("Use bound='occam'. Declare them with classes=[...]."))
    'Use --bound occam. Declare them with --classes A,B,... .'
    """
    if isinstance(error, MemoryError):
        return "There is not enough memory for this. Use fewer rows or voters, or a larger machine."
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror or error}."
    text = " ".join(str(error).split()) or type(error).__name__
    text = text.replace("classes=[...]", "--classes A,B,... ")
    text = re.sub(r"\bfixed_in_advance(=True)?", "--fixed-in-advance", text)
    return re.sub(r"\b(bound|weights|classes|fallback|split|delta)='?([\w-]*)'?", _as_option, text)


def _as_option(found: re.Match[str]) -> str:
    return f"--{found[1]} {found[2]}".rstrip()


class Interruption:
    """Whether Ctrl-C was pressed while something ran that ends well by itself."""

    pressed = False


@contextmanager
def noticing_interruption() -> Iterator[Interruption]:
    """Note Ctrl-C: learning then returns the best so far instead of failing, and nobody else would know."""
    noticed = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield noticed  # Python delivers signals to the main thread only
        return

    def note(number: int, frame: FrameType | None) -> None:
        noticed.pressed = True
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield noticed
    finally:
        signal.signal(signal.SIGINT, before)

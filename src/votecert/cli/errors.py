"""From whatever goes wrong to one sentence on stderr and an exit code."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import Any, ClassVar, NoReturn

import typer
from typer.core import TyperGroup

from votecert.cli.console import messages, plain


class Code(IntEnum):
    """Exit codes."""

    DONE = 0
    TOO_RISKY = 1
    BAD_INPUT = 2
    NOT_VERIFIED = 3
    BUG = 70
    INTERRUPTED = 130
    PIPE_CLOSED = 141


BUG_REPORT = "This is a bug in votecert: please report it with the command and, if you can, the file."

_OF_THE_FRAMEWORK: tuple[type[BaseException], ...] = (
    typer.Exit,
    typer.Abort,
    # wrong usage; newer versions of typer bring a click of their own
    next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"),
)
_OF_THE_INPUT = (ValueError, TypeError, OSError, ImportError, MemoryError, ArithmeticError)

SPELLINGS = {
    "classes=[...]": "--classes A,B,... ",
    "fixed_in_advance=True": "--fixed-in-advance",
    "fixed_in_advance": "--fixed-in-advance",
    "sequential=True": "--sequential",
    "groups=": "--group",
    "clusters=": "--cluster",
    "validate=False": "--force",
    "skip_seen=True": "--skip-seen",
    "items=": "--item",
}
"""Options in the library's messages that have another name here; longer ones first."""

_SAME = (
    "(item|judge|votes?|label|gold|ignore|abstain|group|classes|delta|fallback|split|batch|bound|weights)="
)
_GIVEN = re.compile(rf"\b{_SAME}(['\"])((?:(?!\2).)*)\2(, (?={_SAME}))?")
_OPTION = re.compile(rf"\b{_SAME}")


class NotVerifiedError(Exception):
    """A certificate that must not be trusted, with the reason."""


class Ending:
    """How the command ended: the framework is not trusted to tell (see :func:`votecert.cli.app.run`)."""

    code: ClassVar[int | None] = None


def leave(code: Code, why: str | None = None) -> NoReturn:
    """End the command with this exit code, and say why."""
    if why is not None:
        complain(why)
    Ending.code = code
    raise typer.Exit(code)


class Guarded(TyperGroup):
    """Commands whose errors are told in a sentence. ``VOTECERT_DEBUG=1`` shows the traceback as well."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read the arguments; help is printed here."""
        with guarding():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with guarding():
            return super().invoke(ctx)


@contextmanager
def guarding() -> Iterator[None]:
    """Turn any exception into a sentence and an exit code of its own."""
    try:
        yield
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is leaving already
        leave(Code.INTERRUPTED, "Interrupted. No file is left half-written.")
    except _OF_THE_FRAMEWORK:
        raise
    except NotVerifiedError as error:
        leave(Code.NOT_VERIFIED, str(error))
    except BaseException as error:  # also what libraries do not call an error, such as SystemExit
        if is_about_a_closed_pipe(error):
            leave(Code.PIPE_CLOSED)
        if os.environ.get("VOTECERT_DEBUG"):
            traceback.print_exc()
        if isinstance(error, _OF_THE_INPUT):
            leave(Code.BAD_INPUT, sentence(error))
        leave(Code.BUG, f"{type(error).__name__}: {sentence(error)} {BUG_REPORT}")


def is_about_a_closed_pipe(error: BaseException | None) -> bool:
    """Whether the reader of the output went away; typer and rich then exit with code 1 of their own."""
    while error is not None and not isinstance(error, BrokenPipeError):
        error = error.__context__
    return error is not None


def delivered(code: int) -> int:
    """Hand over what is still to be written: the exit code, or another one if nobody takes it."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = Code.PIPE_CLOSED
    except OSError as error:
        complain(f"Standard output: {sentence(error)}")
        code = Code.BAD_INPUT
    else:
        if code != Code.PIPE_CLOSED:
            return code
    # Python would try again, and complain, when it closes stdout.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def complain(text: str) -> None:
    """Say what is wrong."""
    with suppress(OSError):  # where nobody listens, the exit code has to do
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
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename is not None else f"{error.strerror}."
    return in_options(" ".join(str(error).split()) or type(error).__name__)


def in_options(text: str) -> str:
    """A message of the library with options as they are called here.

    Examples
    --------
    >>> in_options("Leave it out with ignore='item no', or give judge='who', vote='label'. Declare abstain=.")
    "Leave it out with --ignore 'item no', or give --judge who --vote label. Declare --abstain."
    """
    for in_python, here in SPELLINGS.items():
        text = text.replace(in_python, here)
    text = _GIVEN.sub(lambda found: f"--{found[1]} {shlex.quote(found[3])}{' ' if found[4] else ''}", text)
    return _OPTION.sub(r"--\1", text)

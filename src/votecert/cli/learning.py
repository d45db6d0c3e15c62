"""Learning, which Ctrl-C ends: the result is complete and valid, and the exit code tells scripts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from votecert.cli.console import Talk
from votecert.cli.errors import Code, leave


class Interruption:
    """Whether Ctrl-C was pressed while something ran that ends well by itself."""

    pressed = False

    def end(self, talk: Talk, details: Iterable[dict[str, Any]]) -> None:
        """Say whether learning was cut short; if by Ctrl-C, leave with the code for it."""
        if self.pressed:
            talk.say(
                "Interrupted while learning: this is the best vote found until then, and its bound holds."
            )
            leave(Code.INTERRUPTED)
        if any(found.get("interrupted") for found in details):
            talk.say(
                "The time for learning was used up: this is the best vote found until then; its bound holds."
            )


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


def learning(
    make: Callable[..., Any], what: str, talk: Talk, *rows: Any, **options: Any
) -> tuple[Any, Interruption]:
    """The result of ``certify``, ``compare`` or ``learn``, and whether it was interrupted.

    The function is an argument so that it is loaded, which takes a while, before it can be interrupted.
    """
    weights = options.get("weights", "learn")
    with noticing_interruption() as interruption, talk.wait(what) as waiting:
        if isinstance(weights, str) and weights == "learn":
            options["callback"] = waiting.news
        return make(*rows, **options), interruption

"""A bar on the standard error for work that takes longer than a moment; needs no other package."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

Progress = Callable[[int, int], None]

PATIENCE = 2.0
"""Seconds before anything is shown."""

BETWEEN = 0.2
"""Seconds between two pictures."""

WIDTH = 30


def as_progress(wanted: Progress | bool | None, title: str) -> Progress | None:
    """What is called as ``progress(done, in all)``: the user's own function, a bar, or nothing.

    Examples
    --------
    >>> as_progress(False, "votes") is as_progress(None, "votes") is None
    True
    """
    if wanted is None or isinstance(wanted, bool):
        return Bar(title) if wanted else None
    return wanted


class Bar:
    """Draws ``title [=====     ]  50 %`` over itself, and ends the line when the work is done."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._next = time.monotonic() + PATIENCE
        self._shown = False

    def __call__(self, done: int, in_all: int) -> None:
        """Show how much is done."""
        finished = done >= in_all
        if time.monotonic() < self._next and not (finished and self._shown):
            return
        share = min(1.0, done / max(1, in_all))
        filled = "=" * int(WIDTH * share)
        sys.stderr.write(f"\r{self.title} [{filled:<{WIDTH}}] {100 * share:3.0f} %" + "\n" * finished)
        sys.stderr.flush()
        self._next, self._shown = time.monotonic() + BETWEEN, True

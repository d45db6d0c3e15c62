"""Keeping an eye on a search: time that is left, news for whoever waits, and whether it was cut short."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from votecert.bounds.base import Evaluation

Callback = Callable[[dict[str, Any]], None]


class OutOfTime(Exception):  # noqa: N818 - not an error: the search ends with what it has
    """The time budget is used up."""


def now() -> float:
    """Seconds on the clock that budgets are measured by."""
    return time.monotonic()


@dataclass
class Budget:
    """Clock and messenger of one search.

    Parameters
    ----------
    time_budget : float or None
        Seconds after which :meth:`check` raises :class:`OutOfTime`.
    callback : function, optional
        Gets a dictionary now and then: ``iteration``, ``value`` (the smallest bound so far), ``seconds`` and,
        where there are several, the ``stage``.
    value : float
        The smallest bound so far.
    interrupted : bool
        Whether the search was cut short, by its budget or from the keyboard.
    """

    time_budget: float | None = None
    callback: Callback | None = None
    value: float = 1.0
    interrupted: bool = False
    _iteration: int = 0
    _reserved: float = 0.0
    _began: float = field(default_factory=lambda: now())  # looked up when needed: tests have a clock

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return now() - self._began

    @property
    def left(self) -> float:
        """Seconds that the search may still take."""
        return math.inf if self.time_budget is None else self.time_budget - self._reserved - self.seconds

    def reserve(self, seconds: float) -> None:
        """Keep time for what has to follow the search: its result must be counted on all rows."""
        self._reserved = seconds

    def tell(self, value: float = math.inf, stage: str | None = None) -> None:
        """Report progress, and end the search when its time is over."""
        self.value = min(self.value, value)
        self._iteration += 1
        if self.callback is not None:
            news = {"iteration": self._iteration, "value": self.value, "seconds": self.seconds}
            self.callback(news if stage is None else {"stage": stage, **news})
        self.check()

    def check(self) -> None:
        """End the search when its time is over."""
        if self.left < 0:
            raise OutOfTime

    def has_time(self) -> bool:
        """Whether there is time for more; if there is none, what follows is cut short."""
        self.interrupted |= self.left < 0
        return self.left >= 0

    @contextmanager
    def cut_short(self) -> Iterator[None]:
        """For a search that ends early, by its budget or from the keyboard, with the best that it has."""
        try:
            yield
        except (OutOfTime, KeyboardInterrupt):
            self.interrupted = True

    def silent(self) -> Budget:
        """The same clock, for a part of the search that is no news to anybody."""
        return replace(self, callback=None)

    def marked(self, found: Evaluation) -> Evaluation:
        """What was found, with a note on whether the search was cut short."""
        return mark_interrupted(found, self.interrupted)


def mark_interrupted(found: Evaluation, interrupted: bool) -> Evaluation:
    """The same with ``details["interrupted"]``: 1 if learning was cut short, else 0.

    Examples
    --------
    >>> from votecert.bounds.base import Terms
    >>> found = Evaluation(0.5, Terms(9, 1, 2, 2, 0.05, (1.0,)), {"kl": 0.0}, {})
    >>> mark_interrupted(found, True).details
    {'kl': 0.0, 'interrupted': 1.0}
    """
    return replace(found, details={**found.details, "interrupted": float(interrupted)})

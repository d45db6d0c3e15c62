"""Keeping an eye on a search: time that is left, news for whoever is waiting."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Callback = Callable[[dict[str, Any]], None]


class OutOfTime(Exception):  # noqa: N818 - not an error: the search ends with what it has
    """The time budget is used up."""


@dataclass
class Watch:
    """Clock and messenger of one search.

    Parameters
    ----------
    time_budget : float or None
        Seconds after which :meth:`tell` raises :class:`OutOfTime`.
    callback : function, optional
        Gets a dictionary now and then: ``stage``, ``iteration``, ``value`` (the smallest bound so far) and
        ``seconds``.
    """

    time_budget: float | None = None
    callback: Callback | None = None
    value: float = 1.0
    _iteration: int = 0
    _began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return time.monotonic() - self._began

    def tell(self, stage: str, value: float = math.inf) -> None:
        """Report progress, and end the search when its time is over."""
        self.value = min(self.value, value)
        self._iteration += 1
        if self.callback is not None:
            news = {
                "stage": stage,
                "iteration": self._iteration,
                "value": self.value,
                "seconds": self.seconds,
            }
            self.callback(news)
        self.check()

    def check(self) -> None:
        """End the search when its time is over."""
        if self.time_budget is not None and self.seconds > self.time_budget:
            raise OutOfTime

"""A stream of losses with a limit of its own and a share of alpha: what a monitor consists of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from votecert._types import FloatArray
from votecert.numerics import sequential
from votecert.numerics.sequential import UNITS, always_valid_limits


@dataclass(frozen=True)
class Alarm:
    """When a limit was found broken: it stays so, whatever comes later.

    Attributes
    ----------
    rows : int
        Rows that the monitor had been fed.
    when : str
        The time of that update.
    log_evidence : float
        Logarithm of the e-value then.
    """

    rows: int
    when: str
    log_evidence: float


@dataclass(frozen=True)
class Stream:
    """Losses in [0, 1] that were certified to have a mean of at most ``limit``.

    Attributes
    ----------
    name : str
        "error", the group, or "handed over".
    limit : float
        What was certified. 1 says nothing: such a stream is counted, and never alarms.
    alpha : float
        Its share of the chance of a false alarm.
    what : str
        What the mean loss is, in words.
    losses : mapping of int to int
        How many losses there were of each size, in parts of 1024, rounded down. For errors: 0 and 1024.
    rounded : int
        How many of them were rounded.
    updates : int
        Batches with losses for this stream.
    capital : tuple of float
        Logarithms of what each bet against the limit has become; empty before the first update.
    alarm : Alarm or None
        The first time that the evidence reached 1/alpha.

    Notes
    -----
    The e-value is a mixture over bets and over the updates from which on they were made: see
    :mod:`votecert.numerics.sequential` for the formula and the proof.

    Examples
    --------
    >>> stream = Stream("error", limit=0.05, alpha=0.01)
    >>> stream.evidence, stream.interval(0.05)
    (1.0, (0.0, 1.0))
    >>> worse = stream.fed(np.array([1.0] * 20 + [0.0] * 80), rows=100, when="Monday")
    >>> worse.evidence > 1000, worse.alarm.rows, worse.limit < worse.interval(0.05)[0] < worse.mean
    (True, 100, True)
    """

    name: str
    limit: float
    alpha: float
    what: str = "the error"
    losses: Mapping[int, int] = field(default_factory=dict)
    rounded: int = 0
    updates: int = 0
    capital: tuple[float, ...] = ()
    alarm: Alarm | None = None

    def fed(self, losses: FloatArray, rows: int, when: str) -> Self:
        """The stream after more losses, with the alarm set if they are the last that it took.

        One looks after a batch, never within it: the order of the rows in a batch plays no part.
        """
        if not len(losses):
            return self
        parts = losses * UNITS  # exact: a power of two
        units, counts = np.unique(np.floor(parts).astype(np.int64), return_counts=True)
        new = dict(zip(units.tolist(), counts.tolist(), strict=True))
        capital: tuple[float, ...] = ()
        if self.limit < 1:
            capital = tuple(sequential.fed(self.capital or None, self.updates, new, self.limit).tolist())
        fed = replace(
            self,
            losses=dict(sorted((Counter(self.losses) + Counter(new)).items())),
            rounded=self.rounded + int((parts % 1 > 0).sum()),
            updates=self.updates + 1,
            capital=capital,
        )
        if fed.alarm is None and fed.is_above:
            fed = replace(fed, alarm=Alarm(rows, when, fed.log_evidence))
        return fed

    @property
    def rows(self) -> int:
        """Number of losses."""
        return sum(self.losses.values())

    @property
    def total(self) -> float:
        """Sum of the losses, rounded down."""
        return sum(units * count for units, count in self.losses.items()) / UNITS

    @property
    def mean(self) -> float | None:
        """Mean of the losses, rounded down; None before there are any."""
        return self.total / self.rows if self.rows else None

    @property
    def log_evidence(self) -> float:
        """Logarithm of the e-value against the limit, rounded down."""
        if not self.capital:
            return 0.0
        return float(sequential.log_evidence(self.capital, self.updates, self.limit))

    @property
    def evidence(self) -> float:
        """The e-value: how many times more likely such losses are above the limit than at it."""
        return math.exp(min(self.log_evidence, 700.0))

    @property
    def is_above(self) -> bool:
        """Whether the evidence has reached 1/alpha."""
        return self.limit < 1 and self.log_evidence >= -math.log(self.alpha)

    @property
    def seen(self) -> Seen:
        """What is kept of the stream at a look."""
        return Seen(self.rows, round(self.total * UNITS), self.rounded, round(self.log_evidence, 4))

    def interval(self, alpha: float) -> tuple[float, float]:
        """Limits that cover a constant mean loss at all times with probability 1 - alpha."""
        return self.seen.interval(alpha)


class Seen(NamedTuple):
    """What a stream had seen at a look: rows, whole and rounded losses in parts of 1024, log evidence."""

    rows: int
    total: int
    rounded: int
    log_evidence: float

    @property
    def mean(self) -> float:
        """Mean loss; there must have been one."""
        return self.total / UNITS / self.rows

    def interval(self, alpha: float) -> tuple[float, float]:
        """Limits that cover a constant mean at all times."""
        least, most = self.total / UNITS, (self.total + self.rounded) / UNITS
        low, high = always_valid_limits(least, most, self.rows, alpha)
        return float(low), float(high)


class Look(NamedTuple):
    """The monitor after an update: rows in all, the time, and what each stream had seen."""

    rows: int
    when: str
    streams: tuple[Seen, ...]

"""What a bound stores in a certificate: the kind and the range of every choice and statistic.

A certificate may come from anybody. Each bound declares the names and kinds of what its ``search`` picks and
its ``measure`` counts; whatever is not declared, or lies outside its range, is refused before any formula
sees it. The same kinds say how closely a recount on another machine has to agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

MOST_VOTES = 2**53
"""Votes that a voter can have: beyond, a float no longer holds every whole number."""


class Sizes(Protocol):
    """The sizes that a range may refer to by name."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_voters(self) -> int: ...

    @property
    def n_classes(self) -> int: ...


class Kind(Protocol):
    """One kind of stored value."""

    @property
    def required(self) -> bool:
        """Whether the value has to be there."""

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        """Say what is wrong with a stored value, or None."""

    def agrees(self, stored: Any, counted: Any) -> bool:
        """Whether a stored value is what was counted on the rows."""


@dataclass(frozen=True)
class Real:
    """A finite number from ``low`` to ``high``.

    Parameters
    ----------
    low, high : float
    tolerance : float, default=0
        How far a recount may differ: sums are added up in another order on another machine. It is at most
        half of the slack by which the number was rounded outward, so that it stays outward.
    required : bool, default=True

    Examples
    --------
    >>> Real(0, 1).problem(1.5, None)
    'is 1.5, not a number from 0 to 1'
    >>> Real(0, 1).problem(float("nan"), None)
    'is nan, not a number from 0 to 1'
    """

    low: float = -math.inf
    high: float = math.inf
    tolerance: float = 0.0
    required: bool = True

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if is_number(value) and math.isfinite(value) and self.low <= value <= self.high:
            return None
        return f"is {value!r}, not a number from {self.low:g} to {self.high:g}"

    def agrees(self, stored: Any, counted: Any) -> bool:
        return bool(abs(stored - counted) <= self.tolerance * max(1.0, abs(counted)))


@dataclass(frozen=True)
class Whole:
    """A whole number from ``low`` to ``high``; ``high`` may be the name of a size.

    Examples
    --------
    >>> Whole().problem(3.5, None)
    'is 3.5, not a whole number from 0 on'
    """

    low: int = 0
    high: int | str | None = None
    required: bool = True

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        high = getattr(sizes, self.high) if isinstance(self.high, str) else self.high
        if is_whole(value) and self.low <= value and (high is None or value <= high):
            return None
        return f"is {value!r}, not a whole number from {self.low} {'on' if high is None else f'to {high}'}"

    def agrees(self, stored: Any, counted: Any) -> bool:
        return bool(stored == counted)


@dataclass(frozen=True)
class RowShare:
    """A share of the rows: some whole number of them, divided by their number."""

    required: bool = True

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        m = sizes.n_rows
        if is_number(value) and 0 <= value <= 1 and round(value * m) / m == value:
            return None
        return f"is {value!r}, not a share of {m} rows"

    def agrees(self, stored: Any, counted: Any) -> bool:
        return bool(stored == counted)


@dataclass(frozen=True)
class OneOf:
    """One of a few values.

    Examples
    --------
    >>> OneOf("whole", "list").problem("all", None)
    "is 'all', not one of 'whole', 'list'"
    """

    values: tuple[Any, ...]
    required: bool = True

    def __init__(self, *values: Any, required: bool = True) -> None:
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "required", required)

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if any(type(value) is type(one) and value == one for one in self.values):
            return None
        return f"is {value!r}, not one of {', '.join(map(repr, self.values))}"

    def agrees(self, stored: Any, counted: Any) -> bool:
        return bool(stored == counted)


@dataclass(frozen=True)
class Votes:
    """Whole numbers of votes, zero or more, one for each of so many as the named size says."""

    size: str
    required: bool = True

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        n = getattr(sizes, self.size)
        if not isinstance(value, list | tuple) or len(value) != n:
            return f"is not a list of {n} numbers of votes"
        if not all(is_whole(votes) and 0 <= votes <= MOST_VOTES for votes in value):
            return f"has numbers of votes that are not whole numbers from 0 to {MOST_VOTES}"
        if sum(value) >= 2**62:
            return "has more votes than can be counted"
        return None

    def agrees(self, stored: Any, counted: Any) -> bool:
        return list(stored) == list(counted)


@dataclass(frozen=True)
class Index:
    """The place of a class, or None."""

    required: bool = False

    def problem(self, value: Any, sizes: Sizes) -> str | None:
        if value is None or (is_whole(value) and 0 <= value < sizes.n_classes):
            return None
        return f"is {value!r}, not the place of one of {sizes.n_classes} classes"

    def agrees(self, stored: Any, counted: Any) -> bool:
        return bool(stored == counted)


SHARE = Real(0, 1, tolerance=5e-13)
"""A mean of losses in [0, 1], rounded outward by 1e-12."""

SAMPLED = Real(0, 1, tolerance=5e-11)
"""A mean of values of special functions, rounded up by 1e-10 or more."""


def is_number(value: Any) -> bool:
    """Whether a value is a plain number; truth values are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether a value is a plain whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def first_problem(what: str, values: Any, kinds: Mapping[str, Kind], sizes: Sizes) -> str | None:
    """The first thing that is wrong with stored values, as a sentence.

    Examples
    --------
    >>> first_problem("statistic", {"errors": 3, "luck": 1}, {"errors": Whole()}, None)
    "The statistic 'luck' is none that this bound has."
    """
    if not isinstance(values, Mapping):
        return f"There is no table of each {what}."
    for name in values:
        if name not in kinds:
            return f"The {what} {name!r} is none that this bound has."
    for name, kind in kinds.items():
        if name not in values:
            if kind.required:
                return f"The {what} {name!r} is missing."
        elif problem := kind.problem(values[name], sizes):
            return f"The {what} {name!r} {problem}."
    return None

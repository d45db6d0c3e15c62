"""What a bound stores in a certificate: the kind and the range of every choice and statistic.

A certificate may come from anybody. Each bound declares the names and kinds of what its ``search`` picks and
its ``measure`` counts; whatever is not declared, or lies outside its range, is refused before any formula
sees it. The same kinds say how closely a recount on another machine has to agree.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any

MOST_VOTES = 2**53
"""Votes that a voter can have: beyond, a float no longer holds every whole number."""

MOST_IN_TABLE = 5_000_000
"""Numbers that a table of votes can have: it takes ten seconds to write and read as many."""

MOST_FOR_AN_ANSWER = 2**30
"""Votes that one answer of a voter can be worth: those of 500,000 voters still add up exactly."""


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """One kind of stored value; ``required`` says whether the value has to be there."""

    required: bool = True

    @abstractmethod
    def problem(self, value: Any, sizes: Any) -> str | None:
        """Say what is wrong with a stored value, or None; ``sizes`` has those that a range may refer to."""

    def agrees(self, stored: Any, counted: Any) -> bool:
        """Whether a stored value is what was counted on the rows."""
        return bool(stored == counted)


@dataclass(frozen=True)
class Real(Kind):
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

    def problem(self, value: Any, sizes: Any) -> str | None:
        if is_finite(value) and self.low <= value <= self.high:
            return None
        return f"is {value!r}, not a number from {self.low:g} to {self.high:g}"

    def agrees(self, stored: Any, counted: Any) -> bool:
        return bool(abs(stored - counted) <= self.tolerance * max(1.0, abs(counted)))


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number from ``low`` to ``high``; ``high`` may be the name of a size.

    Examples
    --------
    >>> Whole().problem(3.5, None)
    'is 3.5, not a whole number from 0 on'
    """

    low: int = 0
    high: int | str | None = None

    def problem(self, value: Any, sizes: Any) -> str | None:
        high = getattr(sizes, self.high) if isinstance(self.high, str) else self.high
        if is_whole(value) and self.low <= value and (high is None or value <= high):
            return None
        return f"is {value!r}, not a whole number from {self.low} {'on' if high is None else f'to {high}'}"


@dataclass(frozen=True)
class RowShare(Kind):
    """A share of the rows: some whole number of them, divided by their number."""

    def problem(self, value: Any, sizes: Any) -> str | None:
        m = sizes.n_rows
        if is_number(value) and 0 <= value <= 1 and round(value * m) / m == value:
            return None
        return f"is {value!r}, not a share of {m} rows"


@dataclass(frozen=True)
class OneOf(Kind):
    """One of a few values.

    Examples
    --------
    >>> OneOf("whole", "list").problem("all", None)
    "is 'all', not one of 'whole', 'list'"
    """

    values: tuple[Any, ...]

    def __init__(self, *values: Any, required: bool = True) -> None:
        super().__init__(required=required)
        object.__setattr__(self, "values", values)

    def problem(self, value: Any, sizes: Any) -> str | None:
        if any(type(value) is type(one) and value == one for one in self.values):
            return None
        return f"is {value!r}, not one of {', '.join(map(repr, self.values))}"


@dataclass(frozen=True)
class Rising(Kind):
    """Two numbers or more between 0 and 1, each larger than the one before."""

    def problem(self, value: Any, sizes: Any) -> str | None:
        numbers = isinstance(value, list | tuple) and len(value) > 1 and all(map(is_finite, value))
        if numbers and all(low < high for low, high in pairwise([0, *value, 1])):
            return None
        return f"is {str(value)[:100]}, not numbers that rise between 0 and 1"


@dataclass(frozen=True)
class Words(Kind):
    """A few words, or None."""

    required: bool = field(default=False, kw_only=True)

    def problem(self, value: Any, sizes: Any) -> str | None:
        if value is None or (isinstance(value, str) and len(value) <= 100):
            return None
        return f"is {str(value)[:100]!r}, not a few words"


@dataclass(frozen=True)
class Votes(Kind):
    """Whole numbers of votes, zero or more, one for each of so many as the named size says."""

    size: str

    def problem(self, value: Any, sizes: Any) -> str | None:
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
class VoteTable(Kind):
    """What each answer of each voter is worth for each class, in whole numbers; or None."""

    required: bool = field(default=False, kw_only=True)

    def problem(self, value: Any, sizes: Any) -> str | None:
        if value is None:
            return None
        d, s, c = shape = sizes.n_voters, sizes.n_outputs, sizes.n_classes
        if d * s * c > MOST_IN_TABLE:
            return f"has more than {MOST_IN_TABLE} numbers"
        numbers = _items(_items(_items([value], d), s), c)
        if numbers is None:
            return f"is not a table of {shape} numbers of votes"
        if not all(is_whole(votes) and 0 <= votes <= MOST_FOR_AN_ANSWER for votes in numbers):
            return f"has numbers of votes that are not whole numbers from 0 to {MOST_FOR_AN_ANSWER}"
        return None


def _items(lists: list[Any] | None, length: int) -> list[Any] | None:
    """The items of lists that all have this length, or None."""
    if lists is None or not all(isinstance(one, list | tuple) and len(one) == length for one in lists):
        return None
    return [item for one in lists for item in one]


@dataclass(frozen=True)
class Index(Kind):
    """The place of a class, or None."""

    required: bool = field(default=False, kw_only=True)

    def problem(self, value: Any, sizes: Any) -> str | None:
        if value is None or (is_whole(value) and 0 <= value < sizes.n_classes):
            return None
        return f"is {value!r}, not the place of one of {sizes.n_classes} classes"


SHARE = Real(0, 1, tolerance=5e-13)
"""A mean of losses in [0, 1], rounded outward by 1e-12."""

SAMPLED = Real(0, 1, tolerance=5e-11)
"""A mean of values of special functions, rounded up by 1e-10 or more."""


def is_number(value: Any) -> bool:
    """Whether a value is a plain number; truth values are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """Whether a value is a number that a float can hold: JSON may have whole numbers of any length.

    Examples
    --------
    >>> is_finite(0.5), is_finite(10**400), is_finite(float("nan"))
    (True, False, False)
    """
    return is_number(value) and abs(value) <= sys.float_info.max


def is_whole(value: Any) -> bool:
    """Whether a value is a plain whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def first_problem(what: str, values: Any, kinds: Mapping[str, Kind], sizes: Any) -> str | None:
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


SIZES: Mapping[str, Whole] = MappingProxyType(
    {"n_rows": Whole(1, 10**12), "n_voters": Whole(1, 500_000), "n_classes": Whole(1, 10**6)}
)
"""The sizes of a problem; with larger ones a formula would take hours, whoever asks for it."""


def problem_with_sizes(terms: Any) -> str | None:
    """The first size that there cannot be, as a sentence."""
    if problem := first_problem("size", {name: getattr(terms, name) for name in SIZES}, SIZES, terms):
        return problem
    if terms.n_outputs not in (terms.n_classes, terms.n_classes + 1) or isinstance(terms.n_outputs, bool):
        return "Voters name classes and may abstain: there is no other number of outputs."
    if not is_number(terms.delta) or not 0 < terms.delta < 1:
        return f"The share of delta is {terms.delta!r}, not a number between 0 and 1."
    return None


def problem_with_weights(terms: Any) -> str | None:
    """The first thing that is wrong with the weights or the prior, as a sentence."""
    for name, values in {"weight": terms.weights, "prior": terms.prior}.items():
        if values is None and name == "prior":
            continue
        if not isinstance(values, tuple) or len(values) != terms.n_voters:
            return f"There is not one {name} a voter."
        if not all(is_finite(value) for value in values):
            return f"Some {name} is not a finite number."
    if min(terms.weights) < 0 or abs(math.fsum(terms.weights) - 1) > 1e-12:
        return "The weights are not zero or more with the sum one."
    if terms.prior is not None and not min(terms.prior) > 0:
        return "The prior is not positive for every voter."
    return None

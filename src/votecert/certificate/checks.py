"""Whether the fields of a record are what they can be: cheap, and checked first of all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from votecert.bounds.kinds import Kind, OneOf, is_number

MOST_NAMES = 100_000
"""Entries that the ledger or the details may have."""

FLAG = OneOf(True, False)


@dataclass(frozen=True)
class Between(Kind):
    """A number between 0 and 1, both excluded."""

    def problem(self, value: Any, sizes: Any) -> str | None:
        return None if is_number(value) and 0 < value < 1 else f"is {value!r}, not between 0 and 1"


@dataclass(frozen=True)
class Labels(Kind):
    """Different labels in their order."""

    def problem(self, value: Any, sizes: Any) -> str | None:
        if not _is_tuple_of(value, str | int | float) or not 0 < len(set(value)) == len(value):
            return "is not a list of different labels"
        infinite = any(isinstance(label, float) and not math.isfinite(label) for label in value)
        return "has a label that is no number" if infinite else None


@dataclass(frozen=True)
class Text(Kind):
    """A text, or None where there is none."""

    def problem(self, value: Any, sizes: Any) -> str | None:
        return None if isinstance(value, str | None) else "is not a text"


@dataclass(frozen=True)
class Texts(Kind):
    """Several texts, or, if they may be missing, None."""

    what: str
    may_be_missing: bool = False

    def problem(self, value: Any, sizes: Any) -> str | None:
        if _is_tuple_of(value, str) or (value is None and self.may_be_missing):
            return None
        return f"is not a list of {self.what}"


@dataclass(frozen=True)
class Numbers(Kind):
    """Numbers by name, none of them outside of a range."""

    low: float = -math.inf
    high: float = math.inf

    def problem(self, value: Any, sizes: Any) -> str | None:
        if not isinstance(value, Mapping) or len(value) > MOST_NAMES:
            return "is not a table of numbers"
        if not all(is_number(number) and self.low <= number <= self.high for number in value.values()):
            return f"has other values than numbers from {self.low:g} to {self.high:g}"
        return None


def _is_tuple_of(value: Any, kind: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, kind) for item in value)

"""Whether the fields of a certificate are what they can be: cheap, and checked first of all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, get_args

from votecert.bounds.base import Origin
from votecert.bounds.kinds import Kind, Real, Whole, is_number

if TYPE_CHECKING:
    from votecert.certificate.certificate import Certificate

NUMBERS: dict[str, Kind] = {"risk": Real(0, 1), "delta": Real(0, 1), "errors": Whole(), "ties": Whole()}
"""Fields that are numbers, and of which kind."""

MOST_NAMES = 100_000
"""Entries that the ledger or the details may have."""


def problem_with_fields(certificate: Certificate) -> str | None:
    """The first field of the wrong kind, as a sentence, or None. The terms are checked by their bound."""
    return next(_problems(certificate), None)


def _problems(certificate: Certificate) -> Iterator[str]:
    for name, kind in NUMBERS.items():
        if problem := kind.problem(getattr(certificate, name), certificate.terms):
            yield f"{name} {problem}."
    if not 0 < certificate.delta < 1:
        yield "delta is not between 0 and 1."
    if certificate.origin not in get_args(Origin) or certificate.kind not in ("hard", "soft"):
        yield "origin or kind is not one that there can be."
    labels = certificate.classes
    if not _is_tuple_of(labels, str | int | float):
        yield "classes is not a list of labels."
    if len(set(labels)) < len(labels) or any(isinstance(x, float) and not math.isfinite(x) for x in labels):
        yield "the classes are not different labels."
    if certificate.voters is not None and not _is_tuple_of(certificate.voters, str):
        yield "voters is not a list of names."
    for name in ("declared", "notes"):
        if not _is_tuple_of(getattr(certificate, name), str):
            yield f"{name} is not a list of sentences."
    for name in ("group", "reason"):
        if not isinstance(getattr(certificate, name), str | None):
            yield f"{name} is not a text."
    for name in ("classes_declared", "abstention_declared"):
        if getattr(certificate, name) not in (True, False):
            yield f"{name} is not true or false."
    for name in ("ledger", "details"):
        table: Any = getattr(certificate, name)
        if not isinstance(table, Mapping) or len(table) > MOST_NAMES:
            yield f"{name} is not a table of numbers."
    if not all(is_number(share) and 0 <= share <= 1 for share in certificate.ledger.values()):
        yield "the ledger has shares that are not from 0 to 1."
    if not all(is_number(number) and not math.isnan(number) for number in certificate.details.values()):
        yield "the details are not numbers."


def _is_tuple_of(value: Any, kind: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, kind) for item in value)

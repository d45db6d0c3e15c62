"""Whether the fields of a certificate are what they can be: cheap, and checked first of all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from votecert.bounds.base import Origin
from votecert.bounds.kinds import Kind, Real, Whole, is_number

if TYPE_CHECKING:
    from votecert.certificate.certificate import Certificate

MOST_NAMES = 100_000
"""Entries that the ledger or the details may have."""


def problem_with_fields(certificate: Certificate) -> str | None:
    """The first field of the wrong kind, as a sentence, or None. The terms are checked by their bound."""
    return (
        _problem_with_numbers(certificate)
        or _problem_with_names(certificate)
        or _problem_with_tables(certificate)
    )


def _problem_with_numbers(certificate: Certificate) -> str | None:
    kinds: dict[str, Kind] = {"risk": Real(0, 1), "delta": Real(0, 1), "errors": Whole(), "ties": Whole()}
    for name, kind in kinds.items():
        if problem := kind.problem(getattr(certificate, name), certificate.terms):
            return f"{name} {problem}."
    return None if 0 < certificate.delta < 1 else "delta is not between 0 and 1."


def _problem_with_names(certificate: Certificate) -> str | None:
    from votecert.certificate.certificate import VoteKind

    if certificate.origin not in get_args(Origin) or certificate.kind not in get_args(VoteKind):
        return "origin or kind is not one that there can be."
    labels = certificate.classes
    if not isinstance(labels, tuple) or not all(isinstance(label, str | int | float) for label in labels):
        return "classes is not a list of labels."
    if len(set(labels)) < len(labels) or any(isinstance(x, float) and not math.isfinite(x) for x in labels):
        return "the classes are not different labels."
    voters = certificate.voters
    if voters is not None and not (isinstance(voters, tuple) and all(isinstance(v, str) for v in voters)):
        return "voters is not a list of names."
    declared = certificate.declared
    if not isinstance(declared, tuple) or not all(isinstance(text, str) for text in declared):
        return "declared is not a list of sentences."
    for name in ("group", "reason"):
        if not isinstance(getattr(certificate, name), str | None):
            return f"{name} is not a text."
    for name in ("classes_declared", "abstention_declared"):
        if getattr(certificate, name) not in (True, False):
            return f"{name} is not true or false."
    return None


def _problem_with_tables(certificate: Certificate) -> str | None:
    for name in ("ledger", "details"):
        table: Any = getattr(certificate, name)
        if not isinstance(table, Mapping) or len(table) > MOST_NAMES:
            return f"{name} is not a table of numbers."
    if not all(is_number(share) and 0 <= share <= 1 for share in certificate.ledger.values()):
        return "the ledger has shares that are not from 0 to 1."
    if not all(is_number(number) and not math.isnan(number) for number in certificate.details.values()):
        return "the details are not numbers."
    return None

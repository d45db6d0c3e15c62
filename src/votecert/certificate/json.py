"""Certificates as JSON: a schema version, plain values, and a digest over all of them.

Version 1 of the schema stored the predictor beside what it follows from; it is still read, if both agree.
Version 3 has votes with a table, which readers of version 2 would not understand.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeVar

from votecert.bounds import BOUNDS
from votecert.bounds.base import Terms
from votecert.certificate.certificate import Certificate
from votecert.certificate.checks import problem_with_fields
from votecert.certificate.record import (
    INFINITE,
    NOT_STORED,
    as_tuple,
    digest,
    plain,
    read_object,
    this_version,
    written,
)

__all__ = ["as_dict", "digest", "from_json", "to_json"]

SCHEMA = 3
"""Version of the layout that is written."""

READABLE = (1, 2, 3)
"""Versions that are read. Others are refused."""

PROSE = ("statement", "assumptions")
"""Sentences that follow from the other fields and are there for a reader."""

NOT_IN_SCHEMA_1 = ("classes", "kind", "abstention_declared", "declared")
"""Fields that came later; a certificate of the first schema has their defaults."""

OPTIONAL = ("notes",)
"""Fields that are left out where they are empty."""

C = TypeVar("C", bound=Certificate)


def as_dict(certificate: Certificate) -> dict[str, Any]:
    """The certificate's fields as plain JSON values, with what a reader wants to see first."""
    return {
        "votecert_certificate": SCHEMA,
        "votecert_version": this_version(),
        "statement": certificate.statement,
        "is_guarantee": certificate.is_guarantee,
        "assumptions": certificate.assumptions,
        **_fields(certificate),
    }


def _fields(certificate: Certificate) -> dict[str, Any]:
    left_out = {*NOT_STORED, *(name for name in OPTIONAL if not getattr(certificate, name))}
    return plain({name: value for name, value in asdict(certificate).items() if name not in left_out})


def to_json(certificate: Certificate) -> str:
    """JSON text of a certificate."""
    return written(as_dict(certificate))


def from_json(kind: type[C], text: str) -> C:
    """Read a certificate from JSON text; nothing in the text is executed."""
    content = read_object(text, "votecert_certificate", READABLE, "certificate")
    try:
        return _build(kind, content)
    except (AttributeError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(
            f"The certificate is incomplete or has a field of the wrong kind: {error}."
        ) from None


def _build(kind: type[C], content: dict[str, Any]) -> C:
    first = content["votecert_certificate"] == 1
    stored = _from_schema_1(content) if first else content
    fields = {
        name: stored[name] for name in kind.__dataclass_fields__ if name in stored and name not in NOT_STORED
    }
    if fields["bound"] not in BOUNDS:
        raise ValueError(f"The certificate names an unknown bound, {fields['bound']!r}.")
    terms = dict(fields["terms"])
    terms["weights"] = as_tuple(terms["weights"])
    terms["prior"] = as_tuple(terms["prior"])
    fields["terms"] = Terms(**terms)
    fields["options"] = {name: as_tuple(value) for name, value in fields["options"].items()}
    infinite = {word: float(constant) for constant, word in INFINITE.items()}
    fields["details"] = {name: infinite.get(value, value) for name, value in fields["details"].items()}
    certificate = kind(**{name: as_tuple(value) for name, value in fields.items()})
    if problem := problem_with_fields(certificate):
        raise ValueError(f"The certificate has a field of the wrong kind: {problem}")
    own_words = not first and content.get("votecert_version") == this_version()
    object.__setattr__(certificate, "own_words", own_words)
    object.__setattr__(certificate, "intact", _is_intact(certificate, content))
    return certificate


def _is_intact(certificate: Certificate, content: dict[str, Any]) -> bool:
    """Whether the digest is right, and what was read is what the certificate says: no more, no less.

    Sentences that another version wrote may have other words, and are not compared.
    """
    if content.get("digest") != digest(content):
        return False
    if certificate.problem_with_terms():
        return True  # as far as anybody can say: verification refuses it for that
    schema = content["votecert_certificate"]
    known = _as_schema_1(certificate) if schema == 1 else as_dict(certificate)
    known["votecert_certificate"] = schema
    if not certificate.own_words:
        known |= {name: content[name] for name in (*PROSE, "votecert_version") if name in content}
    return digest(content) == digest(known)


def _from_schema_1(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of the first schema, which had the predictor beside the terms that it follows from."""
    vote, terms = content["predictor"], dict(content["terms"])
    if vote["fallback"] is not None:
        terms["choice"] = {**terms["choice"], "fallback": vote["fallback"]}
    return {**content, "terms": terms, "classes": vote["classes"], "kind": vote["kind"]}


def _as_schema_1(certificate: Certificate) -> dict[str, Any]:
    """A certificate as the first schema had it, without its sentences."""
    content, vote = _fields(certificate), certificate.predictor
    for name in NOT_IN_SCHEMA_1:
        del content[name]
    choice = content["terms"]["choice"]
    if not certificate.method.counts_errors:
        choice.pop("fallback", None)
    predictor = {name: value for name, value in asdict(vote).items() if name != "table"}
    return {"is_guarantee": certificate.is_guarantee, **content, "predictor": plain(predictor)}

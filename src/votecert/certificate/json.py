"""Certificates as JSON: a schema version, plain values, and a digest over all of them.

Version 1 of the schema stored the predictor beside what it follows from; it is still read, if both agree.
Version 3 has votes with a table, which readers of version 2 would not understand.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any, Never, TypeVar, cast

from votecert.bounds import BOUNDS
from votecert.bounds.base import Terms
from votecert.certificate.certificate import Certificate, as_tuple
from votecert.certificate.checks import problem_with_fields

SCHEMA = 3
"""Version of the layout that is written."""

READABLE = (1, 2, 3)
"""Versions that are read. Others are refused."""

PROSE = ("statement", "assumptions")
"""Sentences that follow from the other fields and are there for a reader."""

NOT_STORED = ("intact", "own_words")
"""What is known of a certificate by reading it."""

NOT_IN_SCHEMA_1 = ("classes", "kind", "abstention_declared", "declared")
"""Fields that came later; a certificate of the first schema has their defaults."""

INFINITE = {"Infinity": "infinite", "-Infinity": "-infinite"}
"""How a certificate says that a number is infinite, which JSON proper has no number for."""

C = TypeVar("C", bound=Certificate)


def as_dict(certificate: Certificate) -> dict[str, Any]:
    """The certificate's fields as plain JSON values, with what a reader wants to see first."""
    return {
        "votecert_certificate": SCHEMA,
        "votecert_version": _version(),
        "statement": certificate.statement,
        "is_guarantee": certificate.is_guarantee,
        "assumptions": certificate.assumptions,
        **_fields(certificate),
    }


def _fields(certificate: Certificate) -> dict[str, Any]:
    return _plain({name: value for name, value in asdict(certificate).items() if name not in NOT_STORED})


def _plain(content: dict[str, Any]) -> dict[str, Any]:
    """The content as JSON has it: lists for tuples, plain numbers for NumPy's."""
    text = json.dumps(content, default=lambda number: number.item())
    return cast(dict[str, Any], json.loads(text, parse_constant=INFINITE.__getitem__))


def digest(content: dict[str, Any]) -> str:
    """SHA-256 of the canonical JSON text without the digest itself."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def to_json(certificate: Certificate) -> str:
    """JSON text of a certificate."""
    content = as_dict(certificate)
    content["digest"] = digest(content)
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def from_json(kind: type[C], text: str) -> C:
    """Read a certificate from JSON text; nothing in the text is executed."""
    content = parse(text, "a certificate", "votecert_certificate")
    if content["votecert_certificate"] not in READABLE or isinstance(content["votecert_certificate"], bool):
        raise ValueError(
            f"The certificate has schema version {content['votecert_certificate']!r}; "
            f"this votecert reads versions {', '.join(map(str, READABLE))}. Install one that matches."
        )
    try:
        return _build(kind, content)
    except (AttributeError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(
            f"The certificate is incomplete or has a field of the wrong kind: {error}."
        ) from None


def parse(text: str, what: str, mark: str) -> dict[str, Any]:
    """The JSON object of a text that says what it is by a field; nothing in it is executed."""
    try:
        content = json.loads(text, object_pairs_hook=_once_each, parse_constant=_not_finite)
    except RecursionError:
        raise ValueError(f"This is not {what}: its brackets are nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"This is not {what}: it is not valid JSON ({error}).") from None
    if not isinstance(content, dict) or mark not in content:
        raise ValueError(f"This is not {what}: the field {mark!r} is missing.")
    return content


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; two fields of one name would be read differently by different readers."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a field is there twice")
    return content


def _not_finite(name: str) -> Never:
    raise ValueError(f"{name} is not a number of JSON")


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
    own_words = not first and content.get("votecert_version") == _version()
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


def _version() -> str:
    from votecert import __version__

    return __version__


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
    return {"is_guarantee": certificate.is_guarantee, **content, "predictor": _plain(predictor)}

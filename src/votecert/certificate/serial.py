"""Certificates as JSON: a schema version, plain values, and a digest over all of them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any, TypeVar

from votecert.bounds import BOUNDS
from votecert.bounds.base import Terms
from votecert.certificate.record import Certificate
from votecert.predictor import WeightedVote

SCHEMA = 1
"""Version of the layout. Readers refuse a version they do not know."""

C = TypeVar("C", bound=Certificate)


def as_dict(certificate: Certificate) -> dict[str, Any]:
    """The certificate's fields as plain JSON values, with what a reader wants to see first."""
    content = asdict(certificate)
    content.pop("intact")
    if certificate.abstention_declared:  # a later field, absent from files that say nothing about it
        content.pop("abstention_declared")
    content["predictor"]["classes"] = [_plain(label) for label in certificate.predictor.classes]
    return {
        "votecert_certificate": SCHEMA,
        "statement": certificate.statement,
        "is_guarantee": certificate.is_guarantee,
        "assumptions": certificate.assumptions,
        **_jsonable(content),
    }


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
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"This is not a certificate: it is not valid JSON ({error}).") from None
    if not isinstance(content, dict) or "votecert_certificate" not in content:
        raise ValueError("This is not a certificate: the field 'votecert_certificate' is missing.")
    if content["votecert_certificate"] != SCHEMA:
        raise ValueError(
            f"The certificate has schema version {content['votecert_certificate']!r}; "
            f"this votecert reads version {SCHEMA}. Install a version that matches."
        )
    try:
        return _build(kind, content)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"The certificate is incomplete or has a field of the wrong kind: {error}."
        ) from None


def _build(kind: type[C], content: dict[str, Any]) -> C:
    fields = {
        name: content[name] for name in kind.__dataclass_fields__ if name in content and name != "intact"
    }
    if fields["bound"] not in BOUNDS:
        raise ValueError(f"The certificate names an unknown bound, {fields['bound']!r}.")
    terms = dict(fields["terms"])
    terms["weights"] = tuple(terms["weights"])
    terms["prior"] = None if terms["prior"] is None else tuple(terms["prior"])
    fields["terms"] = Terms(**terms)
    fields["predictor"] = WeightedVote(**{name: _tuple(value) for name, value in fields["predictor"].items()})
    fields["voters"] = None if fields["voters"] is None else tuple(fields["voters"])
    fields["options"] = {name: _tuple(value) for name, value in fields["options"].items()}
    certificate = kind(**fields)
    # What was read and not only what was kept must be unchanged, so the digest is over the whole text.
    intact = content.get("digest") == digest(content) == digest(as_dict(certificate))
    object.__setattr__(certificate, "intact", intact)
    return certificate


def _tuple(value: Any) -> Any:
    """Lists back to tuples, so that a bound read from JSON equals the one it was made from."""
    return tuple(_tuple(item) for item in value) if isinstance(value, list) else value


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _jsonable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return _plain(value)


def _plain(value: Any) -> Any:
    """NumPy scalars as Python ones; an infinite number as text, which JSON has no number for."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "infinite" if value > 0 else "-infinite"
    return value

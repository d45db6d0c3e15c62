"""Certificates of the first schema, which stored the predictor beside the terms that it follows from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from votecert.certificate.record import plain

if TYPE_CHECKING:
    from votecert.certificate.certificate import Certificate

CAME_LATER = ("classes", "kind", "abstention_declared", "declared")
"""Fields that it had not; such a certificate has their defaults."""


def from_schema_1(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of the first schema as later ones have them."""
    vote, terms = content["predictor"], dict(content["terms"])
    if vote["fallback"] is not None:
        terms["choice"] = {**terms["choice"], "fallback": vote["fallback"]}
    return {**content, "terms": terms, "classes": vote["classes"], "kind": vote["kind"]}


def as_schema_1(certificate: Certificate, stored: dict[str, Any]) -> dict[str, Any]:
    """A certificate as the first schema had it, without its sentences."""
    content = {name: value for name, value in stored.items() if name not in CAME_LATER}
    if not certificate.method.counts_errors:
        content["terms"]["choice"].pop("fallback", None)
    predictor = {name: value for name, value in asdict(certificate.predictor).items() if name != "table"}
    return {"is_guarantee": certificate.is_guarantee, **content, "predictor": plain(predictor)}

"""How the certificate would fall with more rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from votecert.certificate.certificate import Certificate
from votecert.certificate.text import percent
from votecert.numerics.arithmetic import OUTWARD

FACTORS = (1, 2, 5, 10)
"""How many times the rows."""


class Point(NamedTuple):
    """A value over a position, with the texts that stand below and above it."""

    x: float
    y: float
    name: str
    label: str


def with_more_rows(certificate: Certificate, factor: int) -> float:
    """The bound at ``factor`` times the rows, had the same share of them been wrong.

    The bound's formula is evaluated on the stored statistics: counts, which are whole numbers, grow with the
    rows, shares stay. The choice (weights, K, margin) stays too, so a new search could only do better.
    """
    if factor == 1:
        return certificate.risk
    terms = certificate.terms
    statistics = {
        name: value * factor if isinstance(value, int) else value for name, value in terms.statistics.items()
    }
    # such rows are not there, so nothing is checked about how they were counted
    more = replace(terms, n_rows=terms.n_rows * factor, statistics=statistics)
    return min(1.0, float(certificate.method.formula(OUTWARD, more).risk))


def growth(certificate: Certificate) -> list[Point]:
    """The points of the curve."""
    risks = {factor: with_more_rows(certificate, factor) for factor in FACTORS}
    return [
        Point(0.07 + 0.86 * math.log(factor, FACTORS[-1]), risk, f"{factor}\u00d7 rows", percent(risk))
        for factor, risk in risks.items()
    ]

"""How the certificate would fall with more rows."""

from __future__ import annotations

import math
from dataclasses import replace

from votecert.certificate.certificate import Certificate
from votecert.numerics.arithmetic import OUTWARD
from votecert.report.charts import Point
from votecert.report.text import limit

FACTORS = (1, 2, 5, 10)
"""How many times the rows."""


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
    points = []
    for factor in FACTORS:
        risk = with_more_rows(certificate, factor)
        x = 0.07 + 0.86 * math.log(factor) / math.log(FACTORS[-1])
        points.append(Point(x, risk, f"{factor}\u00d7 rows", limit(risk)))
    return points

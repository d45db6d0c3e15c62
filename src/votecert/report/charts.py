"""Charts of the report: how the certificate would fall with more rows, and the geometry of all of them.

``charts.html.jinja`` draws them as inline SVG. Horizontal positions are percentages of the width, vertical
ones are pixels, so a chart's width follows the page while its text keeps its size, without a script.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from votecert.certificate.certificate import Certificate
from votecert.certificate.text import percent
from votecert.numerics.arithmetic import OUTWARD

HEIGHT = 200
"""Height in pixels of the area that data is drawn in."""

HEADROOM = 26
"""Pixels above that area, for values over the highest mark."""

SQUARES = {100: (10, 24), 1000: (40, 6)}
"""Squares in a row and the distance between them, by the number of squares."""

SIDE = 0.8
"""Side of a square, in distances between squares."""

FACTORS = (1, 2, 4, 8)
"""How many times the rows; evenly spaced, so that labels have room on a phone."""


def across(part: float) -> str:
    """A horizontal position, or a width, that is such a part of the whole."""
    return f"{100 * min(1.0, part):.4g}%"


def signed(value: float) -> str:
    """A lead in percent, with a proper minus sign."""
    return f"{100 * value:.0f} %".replace("-", "\u2212")


def height(value: float, top: float) -> float:
    """The vertical position of a value on an axis from 0 to ``top``."""
    return round(HEADROOM + HEIGHT * (1 - value / top), 2)


def square_path(share: float, whole: int) -> str:
    """The outline of a share of ``whole`` squares; the last one is filled in part."""
    distance, side = SQUARES[whole][1], SIDE * SQUARES[whole][1]
    full, part = divmod(min(share, 1.0) * whole, 1)
    widths = [side] * int(full) + ([part * side] if part * side >= 0.005 else [])
    corners = (divmod(place, SQUARES[whole][0]) for place in range(whole))
    return "".join(
        f"M{x * distance:g} {y * distance:g}h{width:.4g}v{side:g}h-{width:.4g}z"
        for (y, x), width in zip(corners, widths, strict=False)
    )


def nice_ceiling(value: float) -> float:
    """The next number above that is 1, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten.

    Examples
    --------
    >>> nice_ceiling(0.07), nice_ceiling(0.23), nice_ceiling(813)
    (0.08, 0.25, 1000.0)
    """
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    steps = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next(float(f"{step * unit:.6g}") for step in steps if step * unit >= value * (1 - 1e-12))


class Point(NamedTuple):
    """A value over a position, its name, of which the first word stands below, and the text above it."""

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
        Point(0.13 + 0.74 * math.log(factor, FACTORS[-1]), risk, f"{factor}\u00d7 rows", percent(risk))
        for factor, risk in risks.items()
    ]

"""Geometry of the report's charts, which ``charts.html.jinja`` draws as inline SVG.

Horizontal positions are percentages of the width, vertical ones are pixels, so a chart's width follows the
page while its text keeps its size, without a script.
"""

from __future__ import annotations

import math

HEIGHT = 200
"""Height in pixels of the area that data is drawn in."""

HEADROOM = 26
"""Pixels above that area, for values over the highest mark."""

SQUARES = {100: (10, 24), 1000: (40, 6)}
"""Squares in a row and the distance between them, by the number of squares."""

SIDE = 0.8
"""Side of a square, in distances between squares."""


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
    """The next number above that is 1, 2, 2.5 or 5 times a power of ten, or half way between two such.

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

"""The charts of the report: inline SVG whose width follows the page while its text keeps its size.

Horizontal positions are percentages of the width, vertical ones are pixels, so a chart needs no script to fit
a phone. Colours come from classes in the page's style sheet. Elements are built as a tree, which escapes
every string by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.etree import ElementTree

from votecert.report.text import visible

HEIGHT = 200
"""Height in pixels of the area that data is drawn in."""

SQUARES = {100: (10, 24), 1000: (40, 6)}
"""Squares in a row and the distance between them, by the number of squares."""

HEADROOM = 26
"""Pixels above that area, for values over the highest mark."""


@dataclass(frozen=True)
class Bin:
    """Rows whose lead lies in (start, end]: how many the vote gets right and wrong."""

    start: float
    end: float
    right: int
    wrong: int

    @property
    def rows(self) -> int:
        """All rows of the bin."""
        return self.right + self.wrong


@dataclass(frozen=True)
class Point:
    """A value over a position, with the texts that stand below and above it."""

    x: float
    y: float
    name: str
    label: str


def bar(value: float, top: float, *, title: str, kind: str = "solid", limit: float | None = None) -> str:
    """One horizontal bar on an axis from 0 to ``top``, for a cell of a table that also holds the number.

    Parameters
    ----------
    kind : {"solid", "plain", "hatched", "warning"}
        How it is filled: a class of the style sheet.
    limit : float, optional
        Where to draw a reference line.
    """
    svg = ElementTree.Element("svg", {"class": "bar", "width": "100%", "height": "16", "aria-hidden": "true"})
    _add(svg, "rect", x=0, y=0, width="100%", height=16, **{"class": "track"})
    width = _percent(min(1.0, value / top))
    _titled(_add(svg, "rect", x=0, y=0, width=width, height=16, **{"class": f"fill {kind}"}), title)
    if limit is not None:
        place = _percent(min(1.0, limit / top))
        for kind in ("halo", "limit"):
            _add(svg, "line", x1=place, x2=place, y1=-4, y2=20, **{"class": kind})
    return _text(svg)


def squares(certified: float, counted: float, *, whole: int, name: str, title: str, description: str) -> str:
    """The population as ``whole`` squares, with the certified share and, on top, the counted one filled in.

    Parameters
    ----------
    certified, counted : float
        Shares of the whole; the last square of each is filled in part.
    whole : int
        Number of squares: 100 or 1000.
    name : str
        Unique on the page; ids are made from it.
    """
    across, step = SQUARES[whole]
    side = 0.8 * step
    size = f"0 0 {across * step - step + side:g} {whole // across * step - step + side:g}"
    svg = _image("squares", name, title, description, viewBox=size)
    for kind, share in (("rest", 1.0), ("certified", certified), ("counted", counted)):
        full, part = divmod(min(share, 1.0) * whole, 1)
        widths = [side] * int(full) + ([part * side] if part * side >= 0.005 else [])
        steps = (
            f"M{place % across * step:g} {place // across * step:g}h{width:.4g}v{side:g}h-{width:.4g}z"
            for place, width in enumerate(widths)
        )
        if widths:
            _add(svg, "path", d="".join(steps), **{"class": kind})
    return _text(svg)


def histogram(bins: Sequence[Bin], *, name: str, title: str, description: str, cut: float = 0.0) -> str:
    """Rows by their lead, from -1 to 1, with the region up to ``cut`` shaded.

    Parameters
    ----------
    name : str
        Unique on the page; ids are made from it.
    """
    svg = _chart(name, title, description)
    most = max([part.rows for part in bins] + [1])
    top = nice_ceiling(most)
    _add(svg, "rect", x=0, y=HEADROOM, width=_percent((1 + cut) / 2), height=HEIGHT, **{"class": "region"})
    _horizontal_lines(svg, [0, top / 2, top] if top % 2 == 0 else [0, top], top, lambda tick: f"{tick:,.0f}")
    for part in bins:
        _stack(svg, part, top)
    for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
        _x_label(svg, (1 + tick) / 2, f"{100 * tick:+.0f} %".replace("+0", "0").replace("-", "\u2212"))
    place = _percent((1 + cut) / 2)
    _add(svg, "line", x1=place, x2=place, y1=HEADROOM - 8, y2=HEADROOM + HEIGHT, **{"class": "cut"})
    return _text(svg)


def curve(
    points: Sequence[Point], *, name: str, title: str, description: str, floor: float, floor_label: str
) -> str:
    """A falling line through a few labelled points, with a dashed line for where it ends.

    Parameters
    ----------
    floor : float
        What the values approach.
    floor_label : str
        Text of that line.
    """
    svg = _chart(name, title, description)
    top = nice_ceiling(max(point.y for point in points))
    _horizontal_lines(svg, [0, top / 2, top], top, lambda tick: f"{100 * tick:.3g} %")
    low = _height(floor, top)
    _add(svg, "line", x1="0", x2="100%", y1=low, y2=low, **{"class": "floor"})
    _add(svg, "text", x="0.5%", y=round(low + 16, 2), **{"class": "note"}).text = visible(floor_label)
    for left, right in pairwise(points):
        ends = {"x1": _percent(left.x), "x2": _percent(right.x)}
        _add(svg, "line", y1=_height(left.y, top), y2=_height(right.y, top), **ends, **{"class": "curve"})
    for point in points:
        place = _percent(point.x)
        mark = _add(svg, "circle", cx=place, cy=_height(point.y, top), r=5, **{"class": "mark"})
        _titled(mark, f"{point.name}: {point.label}")
        above = round(_height(point.y, top) - 12, 2)
        _add(svg, "text", x=place, y=above, **{"class": "value middle"}).text = visible(point.label)
        _x_label(svg, point.x, point.name)
    return _text(svg)


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


def _stack(svg: ElementTree.Element, part: Bin, top: float) -> None:
    """The bar of one bin: wrong rows at the bottom, right ones on them. A single row stays visible."""
    gap = 0.1
    base = float(HEADROOM + HEIGHT)
    bounds = f"lead {100 * part.start:.0f} % to {100 * part.end:.0f} %".replace("-", "\u2212")
    for kind, rows in (("wrong", part.wrong), ("right", part.right)):
        if not rows:
            continue
        height = max(2.0, HEIGHT * rows / top)
        base -= height
        box = {
            "x": _percent((1 + part.start) / 2 + gap / 100),
            "width": _percent((part.end - part.start) / 2 - gap / 50),
        }
        bar_of_rows = _add(svg, "rect", y=round(base, 2), height=round(height, 2), **box, **{"class": kind})
        _titled(bar_of_rows, f"{rows:,} {kind}, {bounds}")


def _chart(name: str, title: str, description: str) -> ElementTree.Element:
    return _image("chart", name, title, description, width="100%", height=str(HEADROOM + HEIGHT + 28))


def _image(kind: str, name: str, title: str, description: str, **size: str) -> ElementTree.Element:
    labels = {"aria-labelledby": f"{name}-title", "aria-describedby": f"{name}-description"}
    svg = ElementTree.Element("svg", {"class": kind, "role": "img", **labels, **size})
    _add(svg, "title", id=f"{name}-title").text = visible(title)
    _add(svg, "desc", id=f"{name}-description").text = visible(description)
    return svg


def _horizontal_lines(
    svg: ElementTree.Element, ticks: Sequence[float], top: float, label: Callable[[float], str]
) -> None:
    for tick in ticks:
        y = _height(tick, top)
        _add(svg, "line", x1="0", x2="100%", y1=y, y2=y, **{"class": "base" if tick == 0 else "grid"})
        _add(svg, "text", x=-8, y=round(y + 4, 2), **{"class": "tick end"}).text = label(tick)


def _x_label(svg: ElementTree.Element, x: float, label: str) -> None:
    _add(svg, "text", x=_percent(x), y=HEADROOM + HEIGHT + 20, **{"class": "tick middle"}).text = visible(
        label
    )


def _height(value: float, top: float) -> float:
    return round(HEADROOM + HEIGHT * (1 - value / top), 2)


def _add(parent: ElementTree.Element, tag: str, **attributes: str | float) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, {name: str(value) for name, value in attributes.items()})


def _titled(element: ElementTree.Element, title: str) -> None:
    """A text that browsers show while the pointer is over the element."""
    _add(element, "title").text = visible(title)


def _percent(part: float) -> str:
    return f"{100 * part:.4g}%"


def _text(svg: ElementTree.Element) -> str:
    return ElementTree.tostring(svg, encoding="unicode", short_empty_elements=False)

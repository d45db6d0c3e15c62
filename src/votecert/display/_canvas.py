"""What all displays share: axes, colours that colour-blind people can tell apart, percentages.

Nothing is told by colour alone: bars that mean different things differ in hatching as well.
"""

from __future__ import annotations

from typing import Any

from votecert.certificate.text import visible

BLUE = "#0072B2"
RED = "#D55E00"
SKY = "#56B4E9"
GREY = "#595959"
LIGHT = "#F0F0F0"
"""Okabe and Ito's palette, and greys."""

NOT_CLAIMED = {"facecolor": "white", "edgecolor": RED, "hatch": "////"}
"""How a bar looks that is no guarantee."""


def new_axes(ax: Any, height: float = 4.0, width: float = 6.4) -> Any:
    """The given axes, or new ones in a figure of their own."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError(
            "Displays are drawn with matplotlib, which is not installed: pip install 'votecert[plots]'."
        ) from None
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def in_percent(axis: Any) -> None:
    """Label the ticks of an axis in percent."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0))


def tidy(ax: Any, *, grid: str | None = None) -> None:
    """Take away the frame that carries no information; a light grid for reading values off one axis."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid is not None:
        ax.grid(axis=grid, color="#D9D9D9", linewidth=0.8)
        ax.set_axisbelow(True)


def label_bars(ax: Any, names: list[str]) -> None:
    """Name horizontal bars, the first on top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)


def legend_above(ax: Any) -> None:
    """A legend where it can hide nothing."""
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.3, frameon=False)


def as_label(text: Any) -> str:
    """A user's string as a label: nothing hidden, and no dollar sign that would start a formula."""
    return visible(str(text)).replace("$", r"\$")

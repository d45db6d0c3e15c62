"""What all displays share: axes, colours that colour-blind people can tell apart, percentages.

Nothing is told by colour alone: bars that mean different things differ in hatching as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

from votecert.certificate.text import visible

BLUE = "#0072B2"
RED = "#D55E00"
SKY = "#56B4E9"
"""Okabe and Ito's palette."""

BLACK, GREY, PALE, FAINT, WHITE = 1.0, 0.65, 0.15, 0.06, 0.0
"""Shares of ink."""


@dataclass
class Display(ABC):
    """A picture that is made first and drawn later, on given axes or on new ones.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by ``plot``.
    """

    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @abstractmethod
    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""

    def _drawn_on(self, ax: Any) -> Self:
        """The display, drawn at once if there are axes for it."""
        return self if ax is None else self.plot(ax)

    def _axes(self, ax: Any, height: float = 4.0, width: float = 6.4, *, grid: str | None = None) -> Any:
        """The given axes, or new ones in a figure of their own, without a frame that says nothing."""
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise ImportError(
                    "Displays are drawn with matplotlib, which is missing: python -m pip install matplotlib"
                ) from None
            ax = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
        ax.spines[["top", "right"]].set_visible(False)
        if grid is not None:  # a light one, for reading values off one axis
            ax.grid(axis=grid, color=shade(PALE), linewidth=0.8)
            ax.set_axisbelow(True)
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _named(self, x: str, y: str | None = None, *, percent: str, legend: str | None = None) -> Self:
        """The display with names of its axes, percent on those that are listed, and a legend."""
        from matplotlib.ticker import PercentFormatter

        ax = self.ax_
        for axis in percent:
            getattr(ax, f"{axis}axis").set_major_formatter(PercentFormatter(1.0))
        ax.set_xlabel(x)
        if y is not None:
            ax.set_ylabel(y)
        if legend is not None:
            ax.legend(loc=legend, frameon=False)
        return self

    def _named_lines(self, names: list[str]) -> None:
        """Name what lies below each other, the first on top."""
        self.ax_.set_yticks(range(len(names)), names)
        self.ax_.set_ylim(len(names) - 0.4, -0.6)

    def _named_bars(self, names: list[str]) -> None:
        """Name bars, with a legend where it can hide nothing."""
        self._named_lines(names)
        self.ax_.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.3, frameon=False)


def shade(ink: float) -> tuple[float, ...]:
    """A grey with so much of the ink that text has, so that pictures are good on dark paper, too."""
    from matplotlib import colors, rcParams

    text, paper = (colors.to_rgba(rcParams[name]) for name in ("text.color", "axes.facecolor"))
    if paper[3] == 0:  # transparent: what is below is not known, but that text can be read on it
        paper = (float(sum(text[:3]) < 1.5),) * 4
    return tuple(below + ink * (above - below) for above, below in zip(text[:3], paper, strict=False))


def blue() -> str:
    """The blue of lines and words: on dark paper the lighter one, as the other can hardly be seen there."""
    return BLUE if sum(shade(WHITE)) > 1.5 else SKY


def as_label(text: Any) -> str:
    """A user's string as a label: nothing hidden, and no dollar sign that would start a formula."""
    return visible(str(text)).replace("$", r"\$")

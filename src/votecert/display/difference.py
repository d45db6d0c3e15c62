"""Which of two votes is better: the interval of the difference, and zero."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from votecert.certificate.difference import Difference
from votecert.display._canvas import BLACK, BLUE, GREY, WHITE, Display, as_label, shade


@dataclass
class DifferenceDisplay(Display):
    """Intervals of differences of errors; filled points are decided, open ones are not.

    Parameters
    ----------
    differences : list of Difference

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by :meth:`plot`.

    Examples
    --------
    >>> from votecert import difference
    >>> display = DifferenceDisplay.from_difference(difference([0, 1] * 50, [0, 1] * 50, [0, 0] * 50))
    >>> [found.better for found in display.differences]
    ['first']
    """

    differences: list[Difference]

    @classmethod
    def from_difference(cls, found: Difference | Iterable[Difference], *, ax: Any = None) -> Self:
        """Show what :func:`votecert.difference` has found, one or several."""
        return cls([found] if isinstance(found, Difference) else list(found))._drawn_on(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._axes(ax, grid="x", height=1.4 + 0.5 * len(self.differences))
        ax.axvline(0, color=shade(BLACK), linewidth=1.5, linestyle=":")
        for place, found in enumerate(self.differences):
            colour = shade(GREY) if found.better is None else BLUE
            room = [[found.estimate - found.lower], [found.upper - found.estimate]]
            ax.errorbar(found.estimate, place, xerr=room, color=colour, capsize=6, elinewidth=2)
            filled = shade(WHITE) if found.better is None else colour
            ax.plot(found.estimate, place, "o", color=colour, markerfacecolor=filled, markersize=9)
        names = [f"{as_label(found.first)}\nagainst {as_label(found.second)}" for found in self.differences]
        self._named_lines(names)
        what = "\u2190 first errs less       difference of the errors       second errs less \u2192"
        return self._named(what, percent="x")

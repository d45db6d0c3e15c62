"""Decisions: which cases a vote may decide alone, and which of two votes is better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from votecert.certificate.difference import Difference
from votecert.certificate.text import at_least, percent
from votecert.certificate.triage import Triage, triage
from votecert.display._canvas import BLACK, GREY, RED, WHITE, Display, as_label, blue, shade


@dataclass
class TriageDisplay(Display):
    """Limit on the errors against the share of rows answered, at every threshold of the curve.

    Parameters
    ----------
    triage : Triage

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by :meth:`plot`.

    Examples
    --------
    >>> votes, y = [[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]] * 100, [0, 1, 1, 0] * 100
    >>> display = TriageDisplay.from_predictions(votes, y, weights="uniform", max_risk=0.02)
    >>> len(display.triage.curve)
    2
    """

    triage: Triage

    @classmethod
    def from_triage(cls, found: Triage, *, ax: Any = None) -> Self:
        """Show what :func:`votecert.triage` has found."""
        return cls(found)._drawn_on(ax)

    @classmethod
    def from_predictions(cls, votes: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Triage of votes and labels; options as for :func:`votecert.triage`."""
        return cls.from_triage(triage(votes, y, **options), ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        found = self.triage
        ax = self._axes(ax, grid="y")
        curve = [point for point in found.curve if point.answered and point.risk < 1]
        rows = [point.answered / found.n_rows for point in curve]
        ax.plot(rows, [point.risk for point in curve], "o-", color=blue(), label="limit on the errors")
        counted = [point.errors / point.answered for point in curve]
        ax.plot(rows, counted, "o", markerfacecolor="none", color=shade(GREY), label="errors counted")
        ax.axhline(found.max_risk, color=shade(BLACK), linewidth=1.5, linestyle=":", label="target")
        if found.place is not None:
            told = f"answers at least {at_least(found.coverage)}\nwith at most {percent(found.risk)} errors"
            at = found.answered[found.place] / found.n_rows
            ax.plot(at, found.max_risk, "*", color=RED, markersize=16, label=told)
        ax.set_xlim(0, 1.02)
        ax.set_ylim(bottom=0)
        return self._named("rows that the vote answers", "errors among them", percent="xy", legend="best")


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
            colour = shade(GREY) if found.better is None else blue()
            room = [[found.estimate - found.lower], [found.upper - found.estimate]]
            ax.errorbar(found.estimate, place, xerr=room, color=colour, capsize=6, elinewidth=2)
            filled = shade(WHITE) if found.better is None else colour
            ax.plot(found.estimate, place, "o", color=colour, markerfacecolor=filled, markersize=9)
        names = [f"{as_label(found.first)}\nagainst {as_label(found.second)}" for found in self.differences]
        self._named_lines(names)
        what = "\u2190 first errs less       difference of the errors       second errs less \u2192"
        return self._named(what, percent="x")

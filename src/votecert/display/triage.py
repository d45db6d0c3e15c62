"""Deciding more against erring less: the curve of triage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from votecert.certificate.text import at_least, percent
from votecert.certificate.triage import Triage, triage
from votecert.display._canvas import BLACK, BLUE, GREY, RED, Display, shade


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
        ax.plot(rows, [point.risk for point in curve], "o-", color=BLUE, label="limit on the errors")
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

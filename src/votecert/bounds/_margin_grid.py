"""Bounds for one fixed margin, made uniform over a grid of margins by splitting delta."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from votecert.bounds.base import MARGIN_SLACK, Bound, Floats, Terms
from votecert.rows.ballots import Ballots

MARGINS = tuple(0.4 * 1.6**-j for j in range(14))
"""Few margins suffice because the bounds change slowly in them: a ratio of 1.6 costs a few percent."""

_MANY_MARGINS = 100

PAPER_MARGINS = tuple(np.logspace(-4, np.log10(0.5), 1000, endpoint=False).tolist())
"""The thousand margins of the paper's experiments, log-spaced in [1e-4, 0.5)."""


def margin_errors(ballots: Ballots, weights: Floats, margins: Floats) -> Floats:
    """Share of rows with margin at most g, for every g of ``margins``."""
    row_margins = ballots.margins(weights)
    if len(margins) < _MANY_MARGINS:  # placing the rows among the margins is faster than sorting the rows
        order = np.argsort(margins)
        place = np.searchsorted((margins + MARGIN_SLACK)[order], row_margins, side="left")
        rows = np.bincount(place, ballots.counts, minlength=len(margins) + 1)  # exact below 2^53
        errors = np.empty(len(margins))
        errors[order] = np.cumsum(rows[:-1]) / ballots.n_rows
        return errors
    order = np.argsort(row_margins)
    below = np.concatenate(([0], np.cumsum(ballots.counts[order])))
    return below[np.searchsorted(row_margins[order], margins + MARGIN_SLACK, side="right")] / ballots.n_rows


@dataclass(frozen=True)
class OverMargins(Bound):
    """A bound for one fixed margin, with an equal share of delta for every margin of a grid.

    Parameters
    ----------
    margins : tuple of float
        The grid, in (0, 1/2), fixed without looking at the rows.
    """

    margins: tuple[float, ...] = MARGINS

    def __post_init__(self) -> None:
        object.__setattr__(self, "margins", tuple(float(margin) for margin in self.margins))
        if not self.margins or not all(0 < margin < 0.5 for margin in self.margins):
            raise ValueError("margins must be one or more numbers in (0, 1/2).")

    def check_choice(self, terms: Terms) -> None:
        super().check_choice(terms)
        if terms.choice["margin"] not in self.margins:
            raise ValueError(f"The margin {terms.choice['margin']!r} is not in the grid.")

    def share(self, delta: float) -> float:
        """What one margin of the grid may spend."""
        return delta / len(self.margins)

    def ledger(self, terms: Terms) -> dict[str, float]:
        share = self.share(terms.delta)
        ledger = {f"margin {terms.choice['margin']:.4g}": share}
        if len(self.margins) > 1:
            ledger[f"the other {len(self.margins) - 1} margins of the grid"] = terms.delta - share
        return ledger

    def in_paper_search(self) -> Self:
        return replace(self, margins=PAPER_MARGINS)

"""What is to be computed: one cell for each data set, kind of voters, trial and objective."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from votecert.paper.catalogue import CATALOGUE, find_entry

Voters = Literal["rf", "stumps"]

PUBLISHED = "dirichlet-stochastic-published"
"""The paper's own objective, its second theorem as printed."""

TEXT = "-text"
"""Ends the name of an objective that is learned as the text of the paper says, not as its program does."""

OURS = ("dirichlet", "occam")
"""What the library adds to the paper's objectives."""

OBJECTIVES: dict[str, dict[Voters, tuple[str, ...]]] = {
    "margins": {"rf": ("fo", "f2", "occam"), "stumps": ("fo", "f2", "occam")},
    "pac-bayes": {"rf": ("fo", "so", "bin", "f2", "occam")},
    "optimisation": {"rf": ("fo", "so", "bin", "f2", "cctnd", "ccpbb", PUBLISHED, PUBLISHED + TEXT, *OURS)},
    "stumps": {
        "stumps": (
            *("fo", "so", "bin", "bin" + TEXT, "f2", "f2" + TEXT),
            *(PUBLISHED, PUBLISHED + TEXT, *OURS),
        )
    },
}
"""The objectives that each figure needs, by kind of voters."""

FIGURES = (*OBJECTIVES, "comparison")
BINARY_FIGURES = ("margins", "stumps")
PANELS = ((2000, 0.0), (2000, 0.1), (10000, 0.0), (10000, 0.1))
"""Rows and margin error of the panels of the comparison, which needs no data."""

QUICK = ("haberman", "tictactoe", "mushrooms")
"""The data sets of a quick run."""


@dataclass(frozen=True, order=True)
class Group:
    """A data set, split and voted on: what the cells of one trial share."""

    data: str
    voters: Voters
    trial: int


@dataclass(frozen=True, order=True)
class Cell:
    """One objective on one group.

    Examples
    --------
    >>> Cell(Group("adult", "rf", 0), "f2").key
    'adult/rf/0/f2'
    """

    group: Group
    objective: str

    @property
    def key(self) -> str:
        """Its name in the file of results."""
        return f"{self.group.data}/{self.group.voters}/{self.group.trial}/{self.objective}"

    @property
    def file(self) -> str:
        """The file that its result goes to."""
        return f"{self.group.data}.jsonl"


@dataclass(frozen=True, order=True)
class Panel:
    """One panel of the comparison of margin bounds at a fixed margin error."""

    n_rows: int
    margin_error: float

    @property
    def key(self) -> str:
        """Its name in the file of results."""
        return f"comparison/{self.n_rows}/{self.margin_error:g}"

    @property
    def file(self) -> str:
        """The file that its result goes to."""
        return "comparison.jsonl"


def plan(figures: Iterable[str], data: Iterable[str], trials: int) -> list[Cell | Panel]:
    """All cells that the figures need, data set by data set, each cell once.

    Examples
    --------
    >>> [cell.key for cell in plan(["margins"], ["haberman"], trials=1)][:3]
    ['haberman/rf/0/fo', 'haberman/rf/0/f2', 'haberman/rf/0/occam']
    """
    figures, cells = list(figures), dict[Cell | Panel, None]()
    for figure in figures:
        if figure not in FIGURES:
            raise ValueError(f"The paper has no figure {figure!r}. It has: {', '.join(FIGURES)} (or all).")
    if "comparison" in figures:
        cells |= dict.fromkeys(Panel(*panel) for panel in PANELS)
    for name in sorted(data, key=list(CATALOGUE).index):
        for voters in ("rf", "stumps"):
            objectives = dict.fromkeys(
                objective
                for figure in figures
                if figure in OBJECTIVES and (find_entry(name).is_binary or figure not in BINARY_FIGURES)
                for objective in OBJECTIVES[figure].get(voters, ())
            )
            cells |= dict.fromkeys(
                Cell(Group(name, voters, trial), objective)
                for trial in range(trials)
                for objective in objectives
            )
    return list(cells)

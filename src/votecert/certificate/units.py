"""Rows, or clusters of them, that are independent of one another: some to fit on, the others to certify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from votecert._types import Indices
from votecert.rows.clusters import read_clusters
from votecert.rows.read import Rows
from votecert.rows.scores import Scores
from votecert.rows.split import in_fitting_part

FEWEST_ROWS_TO_SPLIT = 40


@dataclass(frozen=True)
class Units:
    """Rows with the clusters that they are of, None if they are independent."""

    rows: Rows
    own: Indices | None

    @classmethod
    def of(cls, rows: Rows, clusters: Any) -> Units:
        """The rows, and what the user says about clusters; clusters of single rows are just rows."""
        if clusters is None:
            return cls(rows, None)
        if not isinstance(rows, Scores) and rows.pattern_of_row is None:
            raise ValueError("Rows that were read in blocks are gone: clusters= is for rows in memory.")
        own = read_clusters(clusters, rows.n_rows)
        return cls(rows, own if np.bincount(own).max() > 1 else None)

    @property
    def number(self) -> int:
        """How many rows, or clusters, there are."""
        return self.rows.n_rows if self.own is None else len(np.unique(self.own))

    def parts(self, split: float, seed: int) -> tuple[Units, Units]:
        """Units to fit on, and units to certify on."""
        if not 0 < split < 1:
            raise ValueError(f"split must be between 0 and 1, both excluded, to learn a vote, not {split!r}.")
        if self.own is None and not self.rows.can_split(split, seed):
            raise ValueError("Which rows are which is not known any more: read them with split= and seed=.")
        found: list[Units] = []
        for fitting in (True, False):
            if self.own is None:
                part, own = self.rows.part(split, seed, fitting=fitting), None
            else:
                chosen = in_fitting_part(int(self.own.max()) + 1, split, seed)[self.own] == fitting
                part = self.rows.subset(chosen) if chosen.any() else None
                own = np.unique(self.own[chosen], return_inverse=True)[1].reshape(-1)
            if part is None or self.number < FEWEST_ROWS_TO_SPLIT:
                what = "rows" if self.own is None else "clusters"
                raise ValueError(
                    f"{self.number} {what} are too few to learn a vote on some and certify it on the others: "
                    f"it takes {FEWEST_ROWS_TO_SPLIT}. Use weights='uniform'."
                )
            found.append(Units(part, own))
        return found[0], found[1]

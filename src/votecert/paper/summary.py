"""From the lines of finished cells to means and standard deviations over trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from votecert.paper.catalogue import CATALOGUE
from votecert.paper.cells import PUBLISHED, TEXT
from votecert.paper.results import Record

TITLES = {
    "fo": "FO",
    "so": "SO",
    "bin": "Bin",
    "f2": "f2",
    "cctnd": "CCTND",
    "ccpbb": "CCPBB",
    PUBLISHED: "theorem 2",
    "dirichlet": "dirichlet",
    "occam": "occam",
}
TITLES |= {name + TEXT: TITLES[name] + " (text)" for name in ("bin", "f2", PUBLISHED)}
"""Objectives as figures and tables call them."""


@dataclass(frozen=True)
class Mean:
    """Mean, standard deviation and number of trials.

    Examples
    --------
    >>> str(Mean.of([0.25, 0.35]))
    '0.300 ± 0.071'
    >>> str(Mean.of([0.25]))  # one trial has no standard deviation
    '0.250'
    >>> str(Mean.of([]))
    ''
    """

    value: float
    spread: float
    count: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Mean:
        """The mean of some numbers; with none of them, not a number."""
        listed = list(values)
        if not listed:
            return cls(float("nan"), 0.0, 0)
        return cls(
            float(np.mean(listed)), float(np.std(listed, ddof=1)) if len(listed) > 1 else 0.0, len(listed)
        )

    def __str__(self) -> str:
        if not self.count:
            return ""
        digits = 3 if self.value >= 0.1 or self.value == 0 else 4
        if self.count == 1:
            return f"{self.value:.{digits}f}"
        return f"{self.value:.{digits}f} ± {self.spread:.{digits}f}"


@dataclass(frozen=True)
class Results:
    """All finished cells, to be asked for means."""

    records: dict[str, Record]

    def cells(
        self, *, data: str | None = None, voters: str | None = None, objective: str | None = None
    ) -> list[Record]:
        """The records of cells with these properties, in the order of data sets and trials."""
        found = [
            record
            for record in self.records.values()
            if "objective" in record
            and data in (None, record["data"])
            and voters in (None, record["voters"])
            and objective in (None, record["objective"])
        ]
        order = list(CATALOGUE)
        return sorted(found, key=lambda record: (order.index(record["data"]), record["trial"]))

    def data_sets(self, voters: str, *, binary: bool = False) -> list[str]:
        """The data sets that have results with these voters."""
        names = {record["data"] for record in self.cells(voters=voters)}
        return [name for name in CATALOGUE if name in names and (CATALOGUE[name].is_binary or not binary)]

    def mean(self, take: Callable[[Record], float | None], **which: str) -> Mean:
        """Mean over the trials of what ``take`` finds in a record."""
        values = [take(record) for record in self.cells(**which)]
        return Mean.of(value for value in values if value is not None)

    def risk(self, bound: str, **which: str) -> Mean:
        """Mean value of a bound."""
        return self.mean(lambda record: risk(record, bound), **which)

    def test_error(self, **which: str) -> Mean:
        """Mean test error."""
        return self.mean(lambda record: float(record["test_error"]), **which)


def risk(record: Record, bound: str) -> float | None:
    """The value of a bound in a record; None if it was not evaluated there."""
    entry = record["bounds"].get(bound)
    return None if entry is None else float(entry["risk"])


def own_bound(objective: str) -> str:
    """The name, in a record, of the bound that the objective stands for."""
    return "occam" if objective == "occam" else "objective"

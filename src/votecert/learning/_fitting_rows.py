"""Rows that a list is fitted on, seen by themselves.

The list is paid for as a few votes that the fitting rows A fix, whatever the certifying rows B are. If B had
a say in them (a missing vote in B makes a third output, a new label in B makes a class more, many patterns in
B send all rows to disk), there would be several possible lists, and only one is paid for. So the fit sees A
and what was declared, and nothing else: which classes there are and whether voters abstain is what A shows
unless it was declared, and A is merged and sampled by its own contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from votecert.learning._error_counter import (
    BinaryErrorCounter,
    MulticlassErrorCounter,
    canonical,
    different_columns,
    hard_error_counter,
)
from votecert.learning.budget import Budget
from votecert.rows.ballots import Ballots
from votecert.rows.patterns import Codes, IntArray, content_sample


@dataclass(frozen=True)
class FittingRows:
    """The fitting rows with what may be known of their outputs.

    Attributes
    ----------
    ballots : Ballots
        The rows, in memory or on disk.
    shown : (k,) integers
        Class indices that the fit knows of, in their order.
    can_abstain : bool
        Whether the fit knows of abstentions.
    budget : Budget
        Ends the work when its time is over.
    """

    ballots: Ballots
    shown: npt.NDArray[np.intp]
    can_abstain: bool
    budget: Budget

    @classmethod
    def of(
        cls, ballots: Ballots, classes_declared: bool, abstention_declared: bool, budget: Budget
    ) -> FittingRows:
        """What was declared; otherwise what these rows show."""
        c = ballots.n_classes
        seen = np.zeros(c + 1, dtype=bool)
        if not (classes_declared and abstention_declared):
            for part in _slices(ballots, budget):
                seen[np.unique(part.codes)] = True
                seen[part.labels] = True
        shown = np.arange(c) if classes_declared else np.flatnonzero(seen[:c])
        can_abstain = ballots.can_abstain if abstention_declared else bool(seen[c])
        return cls(ballots, shown, can_abstain, budget)

    def error_counter(self, most_entries: int) -> BinaryErrorCounter | MulticlassErrorCounter:
        """These rows for the fit, or a sample of them; ballots on disk give the same as those in memory."""
        column_of = self._equal_columns()
        first = np.unique(column_of, return_index=True)[1]
        n_wanted = max(1, most_entries // len(first))
        rows = content_sample(self._pieces(first, n_wanted), n_wanted)
        return hard_error_counter(*rows, len(self.shown), self.can_abstain, column_of)

    def with_all_classes(self, votes: IntArray) -> IntArray:
        """A fitted vote with constants for all classes, none for those that the fit did not know."""
        d = self.ballots.n_voters
        spread = np.zeros(d + self.ballots.n_classes, dtype=np.int64)
        spread[:d] = votes[:d]
        spread[d + self.shown] = votes[d:]
        return spread

    def _equal_columns(self) -> npt.NDArray[np.intp]:
        """For each voter, the number of the first one that votes alike on all of these rows."""
        column_of = np.zeros(self.ballots.n_voters, dtype=np.intp)
        for part in _slices(self.ballots, self.budget):
            both = np.stack([column_of, different_columns(part.codes)[1]]).astype(np.uint64)
            column_of = different_columns(both)[1]
        return column_of

    def _pieces(
        self, columns: npt.NDArray[np.intp], n_wanted: int
    ) -> Iterator[tuple[Codes, npt.NDArray[np.intp], IntArray]]:
        """Codes, labels and counts of different rows, in the codes of the known classes."""
        k = len(self.shown)
        code_of = np.full(self.ballots.n_classes + 1, k, dtype=np.min_scalar_type(k))
        code_of[self.shown] = np.arange(k)
        for part in _slices(self.ballots, self.budget):
            codes, labels = code_of[part.codes[:, columns]], code_of[part.labels].astype(np.intp)
            piece = (codes, labels, part.counts)
            # whether equal rows are merged already was decided by looking at all rows
            yield canonical(*piece, k + self.can_abstain) if len(codes) > n_wanted else piece


def _slices(ballots: Ballots, budget: Budget) -> Iterator[Ballots]:
    for part in ballots.slices():
        budget.check()
        yield part

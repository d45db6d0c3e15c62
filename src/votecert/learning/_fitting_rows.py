"""Rows that a vote is fitted on, seen by themselves.

The fitted vote is paid for as one vote that the fitting rows A fix, whatever the certifying rows B are. If B
had a say in it (a missing vote in B makes a third output, a new label in B makes a class more, many patterns
in B send all rows to disk), there would be several possible votes, and only one is paid for. So the fit sees
A and what was declared, and nothing else: which classes there are and whether voters abstain is what A shows
unless it was declared, and A is merged and sampled by its own contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from votecert.learning._answers import Answers
from votecert.learning._error_counter import canonical
from votecert.learning._soft_error_counter import content_order
from votecert.learning.budget import Budget
from votecert.rows.ballots import Ballots
from votecert.rows.patterns import Codes, IntArray, content_sample
from votecert.rows.read import Rows
from votecert.rows.scores import Scores

Pattern = tuple[Codes, npt.NDArray[np.intp], IntArray]


@dataclass(frozen=True)
class FittingRows:
    """The fitting rows with what may be known of their outputs.

    Attributes
    ----------
    rows : Ballots or Scores
        The rows, in memory or on disk.
    shown : (k,) integers
        Class indices that the fit knows of, in their order.
    can_abstain : bool
        Whether the fit knows of abstentions.
    budget : Budget
        Ends the work when its time is over.
    """

    rows: Rows
    shown: npt.NDArray[np.intp]
    can_abstain: bool
    budget: Budget

    @classmethod
    def of(
        cls,
        rows: Rows,
        classes_declared: bool,
        abstention_declared: bool,
        budget: Budget,
        *,
        labelled: bool = True,
    ) -> FittingRows | None:
        """What was declared; otherwise what these rows show, their labels included if they are ``labelled``.

        None for scores of undeclared classes of which some do not occur: then these rows alone do not tell
        which place stands for which label.
        """
        c = rows.n_classes
        if isinstance(rows, Scores):
            known = classes_declared or len(np.unique(rows.labels)) == c
            return cls(rows, np.arange(c), False, budget) if known else None
        seen = np.zeros(c + 1, dtype=bool)
        if not (classes_declared and abstention_declared):
            for part in _slices(rows, budget):
                seen[np.unique(part.codes)] = True
                if labelled:
                    seen[part.labels] = True
        shown = np.arange(c) if classes_declared else np.flatnonzero(seen[:c])
        return cls(rows, shown, rows.can_abstain if abstention_declared else bool(seen[c]), budget)

    def answers(self, most_entries: int, *, missing_is_unasked: bool = False) -> Answers:
        """These rows for the fit, or a sample of them; ballots on disk give the same as those in memory."""
        k = len(self.shown)
        if isinstance(self.rows, Scores):
            order = content_order(self.rows)[: max(1, most_entries // self.rows.values[0].size)]
            return Answers.of_scores(self.rows.values[order], self.rows.labels[order])
        codes, labels, counts = self.patterns(most_entries // (k + self.can_abstain))
        return Answers.of_votes(
            codes, labels, counts, k, self.can_abstain, missing_is_unasked=missing_is_unasked
        )

    def patterns(self, most_votes: int) -> Pattern:
        """Different rows, in the codes of the known classes, or a sample of them with so many votes."""
        n_wanted = max(1, most_votes // self.rows.n_voters)
        sample = content_sample(self._pieces(n_wanted), n_wanted)
        return canonical(*sample, len(self.shown) + self.can_abstain)

    def with_all_classes(self, numbers: IntArray, n_outputs: int) -> IntArray:
        """Offsets (k,) or a table (d, s, k) of the known classes with zeros for all others."""
        c, k = self.rows.n_classes, len(self.shown)
        spread = np.zeros((*numbers.shape[:-1], c), dtype=numbers.dtype)
        spread[..., self.shown] = numbers
        if numbers.ndim == 1:
            return spread
        table = np.zeros((len(numbers), c + 1, c), dtype=numbers.dtype)
        table[:, [*self.shown, *[c] * (numbers.shape[1] - k)]] = spread
        return table[:, :n_outputs]

    def _pieces(self, n_wanted: int) -> Iterator[Pattern]:
        """Codes, labels and counts of different rows, in the codes of the known classes."""
        assert isinstance(self.rows, Ballots)
        k = len(self.shown)
        code_of = np.full(self.rows.n_classes + 1, k, dtype=np.min_scalar_type(k))
        code_of[self.shown] = np.arange(k)
        for part in _slices(self.rows, self.budget):
            piece = code_of[part.codes], code_of[part.labels].astype(np.intp), part.counts
            # whether equal rows are merged already was decided by looking at all rows
            yield canonical(*piece, k + self.can_abstain) if len(part.codes) > n_wanted else piece


def _slices(ballots: Ballots, budget: Budget) -> Iterator[Ballots]:
    for part in ballots.slices():
        budget.check()
        yield part

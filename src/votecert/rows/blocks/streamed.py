"""Ballots of rows that were read block by block: patterns with counts, and the counts of the fitting part."""

from __future__ import annotations

from dataclasses import dataclass

from votecert.rows.ballots import Ballots
from votecert.rows.blocks.counting import Declaration, PatternCounts
from votecert.rows.patterns import IntArray


@dataclass(frozen=True, eq=False, repr=False)
class StreamedBallots(Ballots):
    """Ballots that have forgotten their rows, but not how many of each pattern are in the fitting part.

    They are the same, array by array, as ``Ballots.from_votes(votes, y, compress=True)`` makes of all rows at
    once; only ``pattern_of_row`` is missing.

    Attributes
    ----------
    split, seed : float, int
        How the fitting part was drawn.
    fitting : (n,) int64 or None
        Number of rows of the fitting part that are each pattern; None if no part was drawn.
    """

    split: float = 0.0
    seed: int = 0
    fitting: IntArray | None = None

    @classmethod
    def of(cls, counts: PatternCounts, declared: Declaration) -> StreamedBallots:
        """The ballots of counted patterns."""
        return cls(
            *counts.unpacked(),
            counts.counts,
            counts.layout.classes,
            declared.classes is not None,
            counts.layout.any_missing if declared.can_abstain is None else declared.can_abstain,
            abstention_declared=declared.can_abstain is not None,
            split=declared.split,
            seed=declared.seed,
            fitting=counts.fitting if declared.split > 0 else None,
        )

    def can_split(self, split: float, seed: int) -> bool:
        """Whether a fitting part was counted; refuses another one than that."""
        if self.fitting is not None:
            refuse_other_split(Declaration(split=self.split, seed=self.seed), split, seed)
        return self.fitting is not None

    def part(self, split: float, seed: int, *, fitting: bool) -> Ballots | None:
        """The fitting or certifying rows, as they were counted; None if either has none."""
        if self.fitting is None or not self.can_split(split, seed):
            return None
        if not 0 < int(self.fitting.sum()) < self.n_rows:
            return None
        counts = self.fitting if fitting else self.counts - self.fitting
        kept = counts > 0
        rest = (self.classes, self.classes_declared, self.can_abstain)
        kept_rows = (self.codes[kept], self.labels[kept], counts[kept])
        return Ballots(*kept_rows, *rest, abstention_declared=self.abstention_declared)


def refuse_other_split(declared: Declaration, split: float, seed: int) -> None:
    """Rows that are gone cannot be drawn again."""
    if (split, seed) != (declared.split, declared.seed):
        raise ValueError(
            f"These rows were read with split={declared.split!r} and seed={declared.seed!r} and are gone: "
            f"they cannot be split with split={split!r} and random_state={seed!r}. Pass the same to both."
        )

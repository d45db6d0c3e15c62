"""Ballots whose patterns are on disk, because there are more of them than the memory budget has limit for.

Whatever is a sum over rows (errors, ties, tandem counts, ...) is added up slice by slice. What is one number
for each pattern (weights of the right votes, margins, ...) comes in one piece, if the memory limit allows it.
On a cluster the workers do the slices: they read them from the folder that they share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from votecert.rows.ballots import Ballots, FloatArray
from votecert.rows.blocks.counting import Declaration
from votecert.rows.blocks.runs import Run
from votecert.rows.blocks.spill_folder import SpillFolder
from votecert.rows.blocks.streamed import refuse_other_split
from votecert.rows.patterns import BoolArray, Codes, IntArray, content_sample

Part = Literal["all", "fitting", "certifying"]

_PARTS: tuple[Part, Part] = ("fitting", "certifying")

COPIES = 8
"""Arrays of the size of an answer that may be needed at a time to find it."""

FEWEST = 64
"""Patterns that are read at a time at least, however small the budget is."""


@dataclass(frozen=True)
class Slices:
    """The patterns of a run in slices, each as ballots of its own. Travels to workers.

    Attributes
    ----------
    run : Run
        The patterns.
    declared : Declaration
        What was fixed before the rows were read.
    memory_budget : int
        Bytes that one slice and the work on it may take.
    which : {"all", "fitting", "certifying"}
        The rows that count.
    """

    run: Run
    declared: Declaration
    memory_budget: int
    which: Part

    @property
    def can_abstain(self) -> bool:
        """Whether voters can abstain."""
        declared = self.declared.can_abstain
        return self.run.layout.any_missing if declared is None else declared

    @property
    def n_bytes(self) -> int:
        """Memory that all patterns would take, unpacked and with their votes weighed."""
        layout = self.run.layout
        weighed = 8 * (len(layout.labels) + self.can_abstain)
        unpacked = layout.n_voters * layout.code_type.itemsize
        return self.run.n_patterns * (self.run.pattern_bytes + unpacked + weighed)

    def starts(self) -> range:
        """Where the slices start."""
        step = max(FEWEST, self.memory_budget // COPIES * self.run.n_patterns // self.n_bytes)
        return range(0, self.run.n_patterns, step)

    def read(self, start: int) -> Ballots:
        """The slice that starts there; it may have no rows."""
        counted = self.run.read(start, min(start + self.starts().step, self.run.n_patterns))
        counts = {
            "all": counted.counts,
            "fitting": counted.fitting,
            "certifying": counted.counts - counted.fitting,
        }[self.which]
        kept = counts > 0
        codes, labels = counted.unpacked()
        if not kept.all():
            codes, labels, counts = codes[kept], labels[kept], counts[kept]
        return Ballots(
            codes,
            labels,
            counts,
            self.run.layout.classes,
            self.declared.classes is not None,
            self.can_abstain,
            abstention_declared=self.declared.can_abstain is not None,
        )


def answer(slices: Slices, start: int, question: Callable[[Ballots], Any]) -> Any:
    """What a slice says; a task for a worker."""
    return question(slices.read(start))


class SpilledBallots(Ballots):
    """Ballots on disk. :func:`~votecert.rows.blocks.read_ballots` makes them of too many patterns.

    Parameters
    ----------
    source : Slices
        The patterns.
    folder : SpillFolder
        Where they are; it stays as long as these ballots do.
    client : distributed.Client, optional
        The cluster whose workers go through the slices. Default: this process does.
    """

    source: Slices
    folder: SpillFolder
    client: Any

    def __init__(self, source: Slices, folder: SpillFolder, client: Any = None) -> None:
        for name, value in {
            "source": source,
            "folder": folder,
            "client": client,
            "classes": source.run.layout.classes,
            "classes_declared": source.declared.classes is not None,
            "can_abstain": source.can_abstain,
            "abstention_declared": source.declared.can_abstain is not None,
            "pattern_of_row": None,
        }.items():
            object.__setattr__(self, name, value)  # ballots are frozen

    def slices(self) -> Iterator[Ballots]:
        """The patterns in order, as many at a time as the budget allows."""
        return map(self.source.read, self.source.starts())

    def can_split(self, split: float, seed: int) -> bool:
        """Whether a fitting part was counted; refuses another one than that."""
        if self.source.which != "all" or self.source.declared.split == 0:
            return False
        refuse_other_split(self.source.declared, split, seed)
        return True

    def part(self, split: float, seed: int, *, fitting: bool) -> Ballots | None:
        """The fitting or certifying rows, as they were counted; None if either has none."""
        if not self.can_split(split, seed):
            return None
        chosen, others = (self._about(which) for which in _PARTS[:: 1 if fitting else -1])
        return chosen if chosen.n_rows and others.n_rows else None

    def _about(self, which: Part) -> SpilledBallots:
        return SpilledBallots(replace(self.source, which=which), self.folder, self.client)

    def in_memory(self, most_entries: int) -> Ballots:
        """A sample of the patterns with about so many votes: those whose contents hash lowest."""
        pieces = ((part.codes, part.labels, part.counts) for part in self.slices())
        codes, labels, counts = content_sample(pieces, max(1, most_entries // self.n_voters))
        rest = (self.classes, self.classes_declared, self.can_abstain)
        return Ballots(codes, labels, counts, *rest, abstention_declared=self.abstention_declared)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows m."""
        whole = self.source.which == "all"
        return self.source.run.n_rows if whole else self._count(lambda part: part.n_rows)

    @cached_property
    def n_patterns(self) -> int:
        """Number of different rows n."""
        whole = self.source.which == "all"
        return self.source.run.n_patterns if whole else self._count(lambda part: part.n_patterns)

    @property
    def n_voters(self) -> int:
        """Number of voters d."""
        return self.source.run.layout.n_voters

    @property
    def codes(self) -> Codes:
        """Votes of each pattern, if there is limit for them."""
        return self._joined(
            lambda part: part.codes, self.n_voters * self.source.run.layout.code_type.itemsize
        )

    @property
    def labels(self) -> npt.NDArray[np.intp]:
        """True class index of each pattern, if there is limit."""
        return self._joined(lambda part: part.labels, 8)

    @property
    def counts(self) -> IntArray:
        """Number of rows of each pattern, if there is limit."""
        return self._joined(lambda part: part.counts, 8)

    @property
    def correct(self) -> BoolArray:
        """Which voters are right on each pattern, if there is limit."""
        return self._joined(lambda part: part.correct, self.n_voters)

    def correct_weight(self, theta: npt.ArrayLike) -> FloatArray:
        return self._joined(lambda part: part.correct_weight(theta), 8)

    def wrong_weight(self, theta: npt.ArrayLike) -> FloatArray:
        return self._joined(lambda part: part.wrong_weight(theta), 8)

    def class_votes(self, theta: npt.ArrayLike) -> FloatArray:
        return self._joined(lambda part: part.class_votes(theta), 8 * self.n_outputs)

    def margins(self, theta: npt.ArrayLike) -> FloatArray:
        return self._joined(lambda part: part.margins(theta), 8)

    def vote_totals(self, n: npt.ArrayLike, offsets: npt.ArrayLike | None = None) -> IntArray:
        return self._joined(lambda part: part.vote_totals(n, offsets), 8 * self.n_classes)

    def predict(
        self, n: npt.ArrayLike, offsets: npt.ArrayLike | None = None, fallback: int | None = None
    ) -> npt.NDArray[np.intp]:
        return self._joined(lambda part: part.predict(n, offsets, fallback), 8)

    def sum_over_correct(self, values: npt.ArrayLike) -> FloatArray:
        return self._sum_with(np.asarray(values, dtype=np.float64), Ballots.sum_over_correct)

    def sum_over_votes(self, values: npt.ArrayLike) -> FloatArray:
        return self._sum_with(np.asarray(values, dtype=np.float64), Ballots.sum_over_votes)

    def voter_errors(self) -> IntArray:
        return self._counts(Ballots.voter_errors)

    def tandem_counts(self) -> IntArray:
        return self._counts(Ballots.tandem_counts)

    def disagreements(self) -> IntArray:
        return self._counts(Ballots.disagreements)

    def _count_errors(self, n: IntArray, offsets: IntArray, fallback: int | None) -> int:
        return self._count(lambda part: part.errors(n, offsets, fallback))

    def _count_ties(self, n: IntArray, offsets: IntArray) -> int:
        return self._count(lambda part: part.ties(n, offsets))

    def _count(self, count: Callable[[Ballots], int]) -> int:
        return sum(self._answers(count))

    def _counts(self, count: Callable[[Ballots], IntArray]) -> IntArray:
        return np.asarray(sum(self._answers(count)))

    def _sum_with(self, values: FloatArray, count: Callable[[Ballots, FloatArray], FloatArray]) -> FloatArray:
        """Sum over slices of the patterns and of the values that belong to them."""
        total, start = np.zeros(self.n_voters), 0
        for part in self.slices():
            total += count(part, values[start : start + part.n_patterns])
            start += part.n_patterns
        return total

    def _joined(self, question: Callable[[Ballots], npt.NDArray[Any]], n_bytes: int) -> npt.NDArray[Any]:
        """The answers on all patterns, so many bytes each, in one array."""
        needed, budget = COPIES * n_bytes * self.n_patterns, self.source.memory_budget
        if needed > budget:
            raise ValueError(
                f"This needs about {needed / 1e9:.2g} GB of memory for {self.n_patterns} different rows and "
                f"the memory_budget is {budget / 1e9:.2g} GB. Bounds that only count errors "
                "('occam', 'test-set', 'fo', 'so') need far less; or read the rows with a larger budget."
            )
        return np.concatenate([*self._answers(question)])

    def _answers(self, question: Callable[[Ballots], Any]) -> Iterable[Any]:
        """What each slice says, in order."""
        if self.client is None or self.client.status != "running":
            return map(question, self.slices())
        import dask

        ask = dask.delayed(answer, pure=False)
        answers: tuple[Any, ...] = dask.compute(
            *(ask(self.source, start, question) for start in self.source.starts()), scheduler=self.client
        )
        return answers

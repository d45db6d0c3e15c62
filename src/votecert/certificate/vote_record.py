"""Results about one vote that was fixed in advance, or fitted on a part of the rows: what they share."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from votecert.bounds.kinds import MOST_FOR_AN_ANSWER, MOST_VOTES, is_number
from votecert.bounds.occam import MOST_DRAWN_ROWS
from votecert.certificate.record import Record
from votecert.certificate.words import VOTERS, who_votes, with_weights
from votecert.rows.predictor import Table, WeightedVote
from votecert.rows.split import in_fitting_part

if TYPE_CHECKING:
    from votecert.certificate.verify import Verification


@dataclass(frozen=True, repr=False)
class VoteRecord(Record):
    """A result about one vote.

    Attributes
    ----------
    votes, offsets, table, classes, kind, fallback
        The vote, as in :attr:`predictor`.
    n_outputs : int
        Different answers a voter can give: one more than classes if it can abstain.
    classes_declared, abstention_declared : bool
        Whether the label set, and whether voters abstain, was declared or inferred from the rows.
    origin : {"learned", "fixed"}
        Whether the vote was fitted on a part of the rows, or fixed without looking at them.
    split, seed
        How the fitting part was drawn.
    voters : tuple of str or None
        Names of the voters.
    """

    votes: tuple[int, ...]
    offsets: tuple[int, ...]
    table: Table | None
    classes: tuple[Any, ...]
    kind: Literal["hard", "soft"]
    fallback: int | None
    n_outputs: int
    classes_declared: bool
    abstention_declared: bool
    origin: Literal["learned", "fixed"]
    split: float
    seed: int
    voters: tuple[str, ...] | None

    group: ClassVar[None] = None  # as certificates of all rows have it

    @cached_property
    def predictor(self) -> WeightedVote:
        """The vote."""
        return WeightedVote(self.votes, self.offsets, self.classes, self.kind, self.fallback, self.table)

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Weights of the voters, summing to one."""
        return self.predictor.weights

    @property
    def who(self) -> str:
        """Whose vote it is, with which weights."""
        equal = self.origin == "fixed" and len(set(self.votes)) == 1
        weights = "with equal weights" if equal else with_weights(self.predictor, self.origin, False)
        return f"{who_votes(self.predictor, self.voters)} {weights}"

    @abstractmethod
    def verify(self, votes: Any = None, y: Any = None) -> Verification:
        """Recompute everything, from the stored counts, and these from the rows if given."""

    @abstractmethod
    def to_markdown(self) -> str:
        """A section for a model card."""

    @abstractmethod
    def to_html(self, path: Any = None, *, title: str | None = None) -> str:
        """A self-contained HTML report."""


def vote_fields(vote: WeightedVote) -> dict[str, Any]:
    """The fields of a vote, to make a record."""
    names = ("votes", "offsets", "table", "classes", "kind", "fallback")
    return {name: getattr(vote, name) for name in names}


def common_assumptions(record: VoteRecord, units: str) -> list[str]:
    """What must be true for every result about a vote."""
    labels = ", ".join(map(str, record.classes[:6])) + ("..." if len(record.classes) > 6 else "")
    inferred = " (inferred from the rows; it is assumed that there are no others)"
    listed = [
        f"The {units} are independent draws from the distribution it is about.",
        VOTERS,
        f"The classes, in this order, are {labels}{'' if record.classes_declared else inferred}.",
    ]
    if not record.abstention_declared and record.n_outputs == len(record.classes):
        listed.append("No voter abstains (inferred from the rows; it is assumed that none ever does).")
    return listed


def problems_with_vote(record: VoteRecord) -> Iterator[str]:
    """What cannot be in the fields of a vote."""
    d, c, labels = len(record.votes), len(record.classes), record.classes
    if record.kind not in ("hard", "soft") or record.origin not in ("learned", "fixed"):
        yield "kind or origin is not one that there can be."
    if not c or not all(isinstance(label, str | int | float) for label in labels) or len(set(labels)) < c:
        yield "the classes are not different labels."
    if any(isinstance(label, float) and not math.isfinite(label) for label in labels):
        yield "a class is not a number."
    if not d or not all(
        is_count(votes) and votes <= MOST_VOTES for votes in (*record.votes, *record.offsets)
    ):
        yield "votes and offsets are not whole numbers, zero or more."
    if len(record.offsets) != c or not 0 < sum(record.votes) + max(record.offsets) <= MOST_VOTES:
        yield "the votes are too many to count, none at all, or not one a class."
    if record.origin == "fixed" and (any(record.offsets) or record.table is not None):
        yield "a vote that was fixed in advance has weights, and neither offsets nor a table."
    if record.n_outputs not in (c, c + 1) or record.fallback not in (None, *range(c)):
        yield "the numbers of classes do not agree."
    names = record.voters
    if names is not None and not (len(names) == d and all(isinstance(name, str) for name in names)):
        yield f"there are not {d} names of voters."
    if record.table is not None:
        shapes = {(len(row), len(votes)) for row in record.table for votes in row}
        if len(record.table) != d or len(shapes) != 1 or not shapes <= {(c, c), (c + 1, c)}:
            yield "the table has not the votes of every answer for every class."
        if not all(is_count(n) and n <= MOST_FOR_AN_ANSWER for row in record.table for x in row for n in x):
            yield "the table has other than whole numbers."
    if not all(
        getattr(record, name) in (True, False) for name in ("classes_declared", "abstention_declared")
    ):
        yield "what was declared is not true or false."
    if not is_finite(record.split) or not 0 <= record.split < 1 or not is_count(record.seed):
        yield "split is not from 0 to 1, or the seed is not a whole number."


def problems_with_split(record: VoteRecord, certifying: int, fitted: int) -> Iterator[str]:
    """Numbers of rows, or clusters, that the seed does not draw."""
    learned = record.origin == "learned"
    if learned != (fitted > 0) or (not learned and (record.split, record.seed) != (0, 0)):
        yield "rows are fitted on if and only if the vote is learned."
    if learned and certifying + fitted <= MOST_DRAWN_ROWS:
        drawn = int(in_fitting_part(certifying + fitted, record.split, record.seed).sum())
        if drawn != fitted:
            yield f"the seed draws {drawn} of {certifying + fitted} to fit on, not {fitted}."


def is_finite(value: Any) -> bool:
    """Whether it is a plain finite number."""
    return is_number(value) and math.isfinite(value)


def is_count(value: Any) -> bool:
    """Whether it is a plain whole number, zero or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0

"""Results about one vote, and those about a vote fixed in advance or fitted on a part of the rows."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from votecert._types import Indices, Origin
from votecert.bounds.kinds import MOST_FOR_AN_ANSWER, MOST_VOTES, Index, Kind, OneOf, Real, Votes, Whole
from votecert.bounds.occam import MOST_DRAWN_ROWS
from votecert.certificate import verification
from votecert.certificate.checks import FLAG, Labels, Texts
from votecert.certificate.record import Record
from votecert.certificate.text import sentence
from votecert.certificate.words import ORIGINS, Fact, Verdict, who_votes, with_weights
from votecert.numerics import Arithmetic
from votecert.references import bibtex
from votecert.rows.ballots import Ballots
from votecert.rows.predictor import Table, WeightedVote
from votecert.rows.read import Rows, read_rows
from votecert.rows.scores import Scores
from votecert.rows.split import in_fitting_part
from votecert.rows.tables import in_order

Found = tuple[list[str], list[str]]
"""What does not agree, and what is taken on trust."""


class AboutVote(Record):
    """A result about one vote, with everything needed to look at it and to check it."""

    @property
    @abstractmethod
    def predictor(self) -> WeightedVote:
        """The vote."""

    @property
    @abstractmethod
    def verdict(self) -> Verdict:
        """The first thing that a reader sees."""

    @property
    @abstractmethod
    def headline(self) -> list[Fact]:
        """The few numbers that stand under the verdict."""

    @abstractmethod
    def works(self) -> list[str]:
        """Keys of what is to be cited."""

    def cite(self) -> str:
        """BibTeX of the works behind this result."""
        return bibtex([*self.works(), "votecert"])

    def to_markdown(self) -> str:
        """A section for a model card."""
        from votecert.report import to_markdown

        return to_markdown(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from votecert.report import notebook_html

        return notebook_html(self)


@dataclass(frozen=True, repr=False)
class VoteRecord(AboutVote):
    """A result about one vote that was fixed in advance, or fitted on a part of the rows.

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

    fitted_on_trust: ClassVar[str]
    is_guarantee: ClassVar[bool] = True
    group: ClassVar[None] = None  # as certificates of all rows have it
    kinds: ClassVar[Mapping[str, Kind]] = {
        "classes": Labels(),
        "votes": Votes("n_voters"),
        "offsets": Votes("n_classes"),
        "kind": OneOf("hard", "soft"),
        "fallback": Index(),
        "n_outputs": Whole(1),
        "classes_declared": FLAG,
        "abstention_declared": FLAG,
        "origin": OneOf("learned", "fixed"),
        "split": Real(0, 1),
        "seed": Whole(),
        "voters": Texts("names", may_be_missing=True),
    }

    @cached_property
    def predictor(self) -> WeightedVote:
        """The vote."""
        return WeightedVote(self.votes, self.offsets, self.classes, self.kind, self.fallback, self.table)

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Weights of the voters, summing to one."""
        return self.predictor.weights

    @property
    def n_voters(self) -> int:
        """Number of voters."""
        return len(self.votes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def who(self) -> str:
        """Whose vote it is, with which weights."""
        equal = self.origin == "fixed" and len(set(self.votes)) == 1
        weights = "with equal weights" if equal else with_weights(self.predictor, self.origin, False)
        return f"{who_votes(self.predictor, self.voters)} {weights}"

    @property
    def headline(self) -> list[Fact]:
        """The few numbers that stand under the verdict."""
        origin = ORIGINS["part" if self.origin == "learned" else "fixed"]
        return [
            *self._counted(),
            Fact("Predictor", sentence(who_votes(self.predictor, self.voters))),
            Fact("Weights", sentence(origin)),
        ]

    @abstractmethod
    def _counted(self) -> list[Fact]:
        """What was counted, for the headline."""

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str:
        """A self-contained HTML report; needs the extra ``votecert[cli]``.

        Parameters
        ----------
        path : path, optional
            Where to write the report.
        title : str, optional
            Heading of the report.
        """
        from votecert.report import record_page

        return record_page(self, path, title=title)

    def totals(self, votes: Any) -> Any:
        """Votes of each class on new rows of the same voters; columns of a table are found by their names."""
        return self.predictor.count(in_order(votes, self.voters))

    def _said(self, places: Indices) -> npt.NDArray[np.object_]:
        """The labels at these places among the classes, None for -1."""
        return np.array([*self.predictor.labels.tolist(), None], dtype=object)[places]

    @abstractmethod
    def _recomputed(self, ar: Arithmetic, below: float) -> tuple[float, list[str]]:
        """The limit from the stored counts, and what does not agree with these."""

    @abstractmethod
    def _on_trust(self) -> list[str]:
        """What the counts alone cannot show, besides the assumptions."""

    def _verified(self, votes: Any, y: Any, recount: Callable[[Rows], Found]) -> verification.Verification:
        """Recompute everything from the stored counts, and count again on the rows if given."""
        arithmetic, ar, below = verification.best_arithmetic()
        if problem := self.problem_with_fields() if self.intact else verification.EDITED:
            return verification.Verification.refused(arithmetic, problem)
        recomputed, problems = self._recomputed(ar, below)
        on_trust = self._on_trust()
        if not self.own_words:
            on_trust.append(verification.OTHER_WORDS)
        if votes is not None or y is not None:
            more, trusted = recount(self._rows(votes, y))
            problems, on_trust = problems + more, on_trust + trusted
        elif self.origin == "learned":
            on_trust.append(self.fitted_on_trust)
        return verification.Verification(recomputed, arithmetic, votes is not None, problems, on_trust)

    def _chosen_before(self) -> list[str]:
        """What was chosen before the rows were seen, of the vote."""
        if self.origin == "learned":
            return [f"The seed {self.seed} was chosen once, whatever came of it."] if self.seed else []
        return [verification.UNEQUAL_WEIGHTS] if len(set(self.votes)) > 1 else []

    def _rows(self, votes: Any, y: Any) -> Rows:
        """The rows, read with the classes and the rule for abstentions of the result."""
        if isinstance(votes, Ballots | Scores):
            return read_rows(votes, y, None, None, None)
        classes, soft = list(self.classes), self.kind == "soft"
        abstain = None if soft else self.n_outputs > len(classes)
        drawn = {"split": self.split, "random_state": self.seed}
        return read_rows(None if soft else votes, y, votes if soft else None, classes, abstain, drawn, False)

    def _contradictions(self) -> Iterator[str]:
        d, c = self.n_voters, self.n_classes
        if not 0 < sum(self.votes) + max(self.offsets) <= MOST_VOTES:
            yield "the votes are too many to count, or none at all."
        if self.origin == "fixed" and (any(self.offsets) or self.table is not None):
            yield "a vote that was fixed in advance has weights, and neither offsets nor a table."
        if self.n_outputs not in (c, c + 1):
            yield "the numbers of classes do not agree."
        if self.voters is not None and len(self.voters) != d:
            yield f"there are not {d} names of voters."
        if self.table is not None:
            shapes = {(len(row), len(votes)) for row in self.table for votes in row}
            if len(self.table) != d or len(shapes) != 1 or not shapes <= {(c, c), (c + 1, c)}:
                yield "the table has not the votes of every answer for every class."
            most = Whole(high=MOST_FOR_AN_ANSWER)
            if any(most.problem(n, self) for row in self.table for votes in row for n in votes):
                yield "the table has other than whole numbers."

    def _contradictions_of_split(self, certifying: int, fitted: int) -> Iterator[str]:
        """Numbers of rows, or clusters, that the seed does not draw."""
        learned, number = self.origin == "learned", certifying + fitted
        if learned != (fitted > 0) or (not learned and (self.split, self.seed) != (0, 0)) or self.split == 1:
            yield "rows are fitted on if and only if the vote is learned."
        if learned and number <= MOST_DRAWN_ROWS:
            drawn = int(in_fitting_part(number, self.split, self.seed).sum())
            if drawn != fitted:
                yield f"the seed draws {drawn} of {number} to fit on, not {fitted}."


def vote_fields(
    vote: WeightedVote, rows: Rows, origin: Origin, split: float, seed: int, voters: tuple[str, ...] | None
) -> dict[str, Any]:
    """The fields of a vote on such rows, to make a record."""
    names = ("votes", "offsets", "table", "classes", "kind", "fallback")
    declared = ("n_outputs", "classes_declared", "abstention_declared")
    found = {"origin": origin, "split": float(split), "seed": int(seed), "voters": voters}
    found |= {name: getattr(vote, name) for name in names}
    return found | {name: getattr(rows, name) for name in declared}

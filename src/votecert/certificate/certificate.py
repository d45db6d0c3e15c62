"""The certificate: a number, what it was computed from, and what it means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from votecert.bounds import BOUNDS
from votecert.bounds.base import Bound, Origin, Terms
from votecert.bounds.kinds import Kind, OneOf, Real, Whole
from votecert.certificate import words
from votecert.certificate.checks import FLAG, Between, Labels, Numbers, Text, Texts
from votecert.certificate.record import INFINITE, as_tuple
from votecert.certificate.schema_1 import as_schema_1, from_schema_1
from votecert.certificate.text import percent
from votecert.certificate.vote_record import AboutVote
from votecert.rows.predictor import WeightedVote, scaled_votes
from votecert.rows.tables import in_order

if TYPE_CHECKING:
    from votecert.certificate.verification import Verification

VoteKind = Literal["hard", "soft"]


@dataclass(frozen=True, repr=False)
class Certificate(AboutVote):
    """An upper bound on the true error of a vote, with everything needed to check it.

    Attributes
    ----------
    risk : float
        With probability at least ``1 - delta`` over the certifying rows, the error of ``predictor`` on new
        rows is at most this. 1.0 means that nothing can be said; ``reason`` tells why.
    delta : float
        The confidence parameter of the whole statement.
    bound : str
        Id of the bound, a key of ``votecert.BOUNDS``.
    options : dict
        The bound's options.
    terms : Terms
        What the bound was computed from.
    classes : tuple
        The labels in their fixed order.
    kind : {"hard", "soft"}
        Whether voters cast labels or class scores.
    origin : {"learned", "given", "fixed"}
        Where the weights come from: learned on the certifying rows, given by the user (in any way), or
        fixed without looking at the rows, as the plain vote is or as the user says.
    errors, ties : int
        Certifying rows the predictor gets wrong, and those on which classes are tied.
    details : dict
        Numbers on the way: K, margin, KL, complexity, empirical quantities.
    ledger : dict
        How delta was spent.
    classes_declared : bool
        Whether the label set was declared or inferred from the rows.
    group : str or None
        The group of rows this certificate speaks about, when it is one of several.
    voters : tuple of str or None
        Names of the voters.
    reason : str or None
        Why the bound is vacuous.
    declared : tuple of str
        Assumptions that the user declared where they could not be checked.
    abstention_declared : bool
        Whether it was declared or inferred from the rows that voters can, or cannot, abstain.
    notes : tuple of str
        What to think twice about in the rows: a voter who is always right, copies, labels never true.
    intact : bool
        False for a certificate read from a text whose digest does not match it.
    own_words : bool
        False for a certificate whose text has sentences written by another version of this program.
    """

    risk: float
    delta: float
    bound: str
    options: dict[str, Any]
    terms: Terms
    classes: tuple[Any, ...]
    kind: VoteKind
    origin: Origin
    errors: int
    ties: int
    details: dict[str, Any]
    ledger: dict[str, float]
    classes_declared: bool = True
    group: str | None = None
    voters: tuple[str, ...] | None = None
    reason: str | None = None
    declared: tuple[str, ...] = ()
    abstention_declared: bool = True
    notes: tuple[str, ...] = ()

    kind_of_record = "certificate"
    schemas = (1, 2, 3)  # the first stored the predictor, too; readers of the second know no tables
    told_first = ("statement", "is_guarantee", "assumptions")
    kinds: ClassVar[Mapping[str, Kind]] = {
        "risk": Real(0, 1),
        "delta": Between(),
        "classes": Labels(),
        "kind": OneOf("hard", "soft"),
        "origin": OneOf(*get_args(Origin)),
        "errors": Whole(),
        "ties": Whole(),
        "details": Numbers(),
        "ledger": Numbers(0, 1),
        "classes_declared": FLAG,
        "group": Text(),
        "voters": Texts("names", may_be_missing=True),
        "reason": Text(),
        "declared": Texts("sentences"),
        "abstention_declared": FLAG,
        "notes": Texts("sentences"),
    }
    """The terms are checked by their bound."""

    @cached_property
    def predictor(self) -> WeightedVote:
        """The certified predictor: it follows from the terms, so it cannot be another one."""
        if problem := self.problem_with_terms():
            raise ValueError(f"This certificate is about no vote that there can be. {problem}")
        return certified_vote(self.terms, self.classes, self.kind)

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Weights of the voters in the certified vote, summing to one.

        If each answer of a voter has votes of its own, see :attr:`table`, its weight is its influence: half
        of what another answer can change in the lead of one class over another, at most.
        """
        return self.predictor.weights

    @property
    def table(self) -> dict[str, dict[Any, dict[Any, float]]] | None:
        """What each answer is worth: ``table[voter][answer][label]``; None if a vote is worth its weight.

        The label with the largest sum over the voters and :attr:`offsets` wins. None stands for no answer;
        an answer that is not there is worth nothing. On the scale of :attr:`weights`.
        """
        vote = self.predictor
        if vote.table is None:
            return None
        votes, answers = vote.numbers / max(1, sum(vote.votes)), (*self.classes, None)
        return {
            name: {
                answer: dict(zip(self.classes, worth, strict=True))
                for answer, worth in zip(answers, rows, strict=False)
            }
            for name, rows in zip(words.names_of(self), votes.tolist(), strict=True)
        }

    @property
    def offsets(self) -> npt.NDArray[np.float64]:
        """Votes that each class has before anybody voted, on the scale of ``weights``."""
        return np.array(self.predictor.offsets) / max(1, sum(self.predictor.votes))

    @property
    def empirical_risk(self) -> float:
        """Share of the certifying rows that the predictor gets wrong."""
        return self.errors / self.terms.n_rows

    @property
    def method(self) -> Bound:
        """The bound with its options."""
        return type(BOUNDS[self.bound])(**self.options)

    @property
    def is_guarantee(self) -> bool:
        """Whether the number is a proven bound for this predictor."""
        return self.method.covers(self.origin)

    @property
    def fitted_on(self) -> Literal["all", "part", "other"] | None:
        """Which rows learned weights were learned on: all these, a part that does not certify, or others."""
        if self.origin != "learned":
            return None
        choice = self.terms.choice
        if choice.get("statement") != "list":
            return "all"
        return "part" if choice["list"] == "split" else "other"

    @property
    def caveat(self) -> str | None:
        """What to know before trusting the number: mostly, why it is no guarantee."""
        return self.method.caveat_for(self.origin)

    def predict(self, votes: Any) -> npt.NDArray[Any]:
        """Labels by exactly the certified predictor, ties included.

        Parameters
        ----------
        votes : (rows, d) labels, or (rows, d, c) scores for a soft vote
            Of the same voters in the same order. In a table with the names of :attr:`voters` the columns are
            found by name: their order does not matter, and other columns are left out.
        """
        return self.predictor.predict(in_order(votes, self.voters))

    @property
    def statement(self) -> str:
        """One sentence: what is guaranteed, for which predictor."""
        return words.statement(self)

    @property
    def assumptions(self) -> list[str]:
        """What must be true for the statement to hold."""
        return words.assumptions(self)

    @property
    def verdict(self) -> words.Verdict:
        """The first thing that a reader sees."""
        return words.verdict(self)

    @property
    def headline(self) -> list[words.Fact]:
        """The few numbers that stand under the verdict."""
        return words.headline(self)

    def works(self) -> list[str]:
        """Keys of what is to be cited."""
        return [*self.method.cited()]

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        votes: Any = None,
        y: Any = None,
        table: Any = None,
        monitor: Any = None,
        max_risk: float | None = None,
        title: str | None = None,
    ) -> str:
        """A self-contained HTML report; needs the extra ``votecert[cli]``.

        Parameters
        ----------
        path : path, optional
            Where to write the report.
        votes, y : optional
            The certifying rows, to show the margins.
        table : CertificateTable, or a sequence of them, optional
            Other bounds, or groups of rows, to show beside it.
        monitor : Monitor, optional
            What happened since then.
        max_risk : float, optional
            A limit that was set for the risk: the report says whether it is certified to be kept.
        title : str, optional
            Heading of the report.
        """
        from votecert.report import to_html

        shown = {"votes": votes, "y": y, "table": table, "monitor": monitor}
        return to_html(self, path, **shown, max_risk=max_risk, title=title)

    def verify(self, votes: Any = None, y: Any = None) -> Verification:
        """Recompute the number from the stored statistics, and those from the rows if given.

        Parameters
        ----------
        votes : (m, d) labels, (m, d, c) scores of a soft vote, Ballots or Scores, optional
            The certifying rows. Ballots and Scores have the true labels in them, and must have been read
            with the certificate's classes and its rule for abstentions.
        y : (m,) labels, optional
            The true labels.

        Returns
        -------
        Verification
            True in a boolean context if everything agrees; ``problems`` lists what does not.
        """
        from votecert.certificate.verify import verify

        return verify(self, votes, y)

    def problem_with_terms(self) -> str | None:
        """Why the number cannot have been computed from the stored terms, as a sentence, or None."""
        try:
            self.method.check(self.terms)
        except (TypeError, ValueError) as error:  # of options that are no numbers, too
            return str(error)
        if len(self.classes) != self.terms.n_classes:
            return f"There are {len(self.classes)} classes, not {self.terms.n_classes}."
        if self.voters is not None and len(self.voters) != self.terms.n_voters:
            return f"There are {len(self.voters)} names for {self.terms.n_voters} voters."
        if self.kind == "soft" and not self.method.counts_errors:
            return f"The bound {self.bound!r} does not cover soft votes."
        choice = self.terms.choice
        if self.group is not None and (choice.get("statement"), choice.get("list")) == ("list", "split"):
            return "The group is certified by a vote that was fitted on rows of all groups, its own too."
        if max(self.errors, self.ties) > self.terms.n_rows:
            return f"There are more errors or ties than the {self.terms.n_rows} rows."
        return None

    @classmethod
    def _arguments(cls, content: dict[str, Any]) -> dict[str, Any]:
        first = content["votecert_certificate"] == 1
        found = super()._arguments(from_schema_1(content) if first else content)
        if found["bound"] not in BOUNDS:
            raise ValueError(f"The certificate names an unknown bound, {found['bound']!r}.")
        terms, infinite = found["terms"], {word: float(constant) for constant, word in INFINITE.items()}
        weights, prior = as_tuple(terms["weights"]), as_tuple(terms["prior"])
        return found | {
            "terms": Terms(**{**terms, "weights": weights, "prior": prior}),
            "options": {name: as_tuple(value) for name, value in found["options"].items()},
            "details": {name: infinite.get(value, value) for name, value in found["details"].items()},
        }

    def _says(self, content: dict[str, Any]) -> bool:
        # nobody can say so of terms that no bound could have had: verification refuses them
        return self.problem_with_terms() is not None or super()._says(content)

    def _content(self, schema: int | None = None) -> dict[str, Any]:
        if schema == 1:
            return {"votecert_certificate": 1, **as_schema_1(self, self._stored())}
        return super()._content(schema)

    def _stored(self) -> dict[str, Any]:
        stored = super()._stored()
        return stored if self.notes else {name: stored[name] for name in stored if name != "notes"}

    def __repr__(self) -> str:
        mark = "" if self.is_guarantee else ", NOT A GUARANTEE"
        group = f", group={self.group!r}" if self.group is not None else ""
        return (
            f"Certificate(risk <= {percent(self.risk)}, delta={self.delta:g}, bound={self.bound!r}, "
            f"errors={words.errors_of_rows(self)}, voters={self.terms.n_voters:,}{group}{mark})"
        )


def certified_vote(terms: Terms, classes: tuple[Any, ...], kind: VoteKind) -> WeightedVote:
    """The vote that a bound with these terms is about; real weights are stored as whole numbers, too."""
    choice = terms.choice
    return WeightedVote(
        votes=tuple(int(n) for n in choice.get("votes", scaled_votes(terms.weights))),
        offsets=tuple(int(n) for n in choice.get("offsets", (0,) * len(classes))),
        classes=classes,
        kind=kind,
        fallback=choice.get("fallback"),
        table=as_tuple(choice.get("table")),
    )

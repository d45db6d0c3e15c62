"""The result of triage: a vote, from which lead on it answers, and what holds then."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from votecert._types import Codes
from votecert.certificate.text import at_least, percent
from votecert.certificate.triage import words
from votecert.certificate.triage.checks import problem_with
from votecert.certificate.triage.leads import answers, scale_of
from votecert.certificate.triage.rules import SHARES, Counts, OperatingPoint
from votecert.certificate.vote_record import VoteRecord
from votecert.references import bibtex
from votecert.rows.labels import encode_votes
from votecert.rows.scores import soft_totals
from votecert.rows.tables import in_order
from votecert.rows.vote_sums import total_votes

if TYPE_CHECKING:
    from votecert.certificate.verify import Verification


@dataclass(frozen=True, repr=False)
class Triage(VoteRecord):
    """What a vote may decide alone. With probability at least ``1 - delta`` all of it holds together.

    Attributes
    ----------
    max_risk : float
        The error that was allowed among answered rows.
    delta : float
    threshold : float or None
        The vote answers when its winner leads by at least this share of all votes. None: nothing can be
        answered; ``reason`` tells why.
    coverage : float
        At least this share of new rows is answered.
    curve : tuple of OperatingPoint
        For other thresholds ``threshold, risk, coverage, answered, errors``; it holds as a whole, so any of
        them may be chosen afterwards.
    cuts, starts : tuples
        All thresholds, in votes and the highest first, and the shares from which their tests begin.
    answered, errors : tuples of int
        Certifying rows that are answered at each of them, and how many of these are wrong.
    n_rows, n_fitted : int
        Certifying rows, and those that the vote was fitted on.
    and those of a vote
        ``votes, offsets, table, classes, kind, fallback, voters, origin``, as in :attr:`predictor`.
    """

    max_risk: float
    delta: float
    threshold: float | None
    coverage: float
    curve: tuple[OperatingPoint, ...]
    cuts: tuple[float, ...]
    starts: tuple[int, ...]
    answered: tuple[int, ...]
    errors: tuple[int, ...]
    n_rows: int
    n_fitted: int

    kind_of_record: ClassVar[str] = "triage"

    def __post_init__(self) -> None:
        object.__setattr__(self, "curve", tuple(OperatingPoint(*point) for point in self.curve))

    @property
    def risk(self) -> float:
        """The certified limit on the error among answered rows: ``max_risk``, or 1 if nothing is claimed."""
        return 1.0 if self.threshold is None else self.max_risk

    @property
    def counts(self) -> Counts:
        """What was counted at each threshold."""
        return Counts(self.n_rows, self.starts, self.answered, self.errors)

    @property
    def place(self) -> int | None:
        """Place of the threshold among ``cuts``."""
        return None if self.threshold is None else self.place_of(self.threshold)

    @property
    def ledger(self) -> dict[str, float]:
        """How delta was spent."""
        return {name: float(self.delta * share) for name, share in SHARES.items()}

    @property
    def reason(self) -> str | None:
        """Why nothing can be answered, and what it would take."""
        return words.reason(self) if self.threshold is None else None

    @property
    def statement(self) -> str:
        """One sentence: what is guaranteed, for which vote."""
        return words.statement(self)

    @property
    def assumptions(self) -> list[str]:
        """What must be true for the statement to hold."""
        return words.assumptions(self)

    def decide(self, votes: Any, threshold: float | None = None) -> npt.NDArray[np.object_]:
        """Labels where the vote answers, None where the case is handed over.

        Parameters
        ----------
        votes : (rows, d) labels, or (rows, d, c) scores for a soft vote
            Of the same voters; the columns of a table are found by their names, as :attr:`voters`.
        threshold : float, optional
            Another threshold of the :attr:`curve`, which has its own limit.
        """
        votes, vote = in_order(votes, self.voters), self.predictor
        if vote.kind == "soft":
            totals: Any = soft_totals(np.asarray(votes), vote.numbers, vote.offsets)
            return self._decided(totals, threshold)
        return self.decide_codes(encode_votes(votes, vote.labels), threshold)

    def decide_codes(self, codes: Codes, threshold: float | None = None) -> npt.NDArray[np.object_]:
        """The same for votes that are places in ``classes``, or their number for a missing vote."""
        vote = self.predictor
        if codes.shape[1] != len(vote.votes):
            raise ValueError(f"The vote has {len(vote.votes)} voters but there are {codes.shape[1]} columns.")
        return self._decided(total_votes(codes, len(vote.classes), vote.numbers, vote.offsets), threshold)

    def _decided(self, totals: Any, threshold: float | None) -> npt.NDArray[np.object_]:
        winner, lead = answers(self.predictor, totals)
        labels = np.full(len(winner), None, dtype=object)
        place = self.place if threshold is None else self.place_of(threshold)
        if place is not None:
            answered = (winner >= 0) & (lead >= self.cuts[place])
            labels[answered] = self.predictor.labels[winner[answered]].tolist()
        return labels

    def place_of(self, threshold: float) -> int:
        """Place of a threshold among ``cuts``; only that of the target and those of the curve have limits."""
        known = [point.threshold for point in self.curve]
        if self.threshold is not None:
            known.append(self.threshold)
        near = min(known, key=lambda other: abs(other - threshold))
        if abs(near - threshold) > 1e-9 * max(1.0, abs(near)):
            listed = ", ".join(f"{other:.4g}" for other in sorted(set(known)))
            raise ValueError(f"The threshold {threshold!r} has no limit here; there are {listed}.")
        scale = scale_of(self.predictor)
        return next(place for place, cut in enumerate(self.cuts) if cut / scale == near)

    def verify(self, votes: Any = None, y: Any = None) -> Verification:
        """Recompute all limits from the counts, in forty digits, and the counts from the rows if given.

        Parameters
        ----------
        votes : (m, d) labels, (m, d, c) scores of a soft vote, Ballots or Scores, optional
            All rows that were given to :func:`votecert.triage`. A learned vote is fitted again.
        y : (m,) labels, optional
            The true labels.
        """
        from votecert.certificate.triage.verify import verify

        return verify(self, votes, y)

    def problem_with_fields(self) -> str | None:
        """The first field that cannot be what it is, as a sentence, or None."""
        return problem_with(self)

    def cite(self) -> str:
        """BibTeX of the works behind this result."""
        return bibtex(["clopper1934", "wiens2003", "massart1990", "votecert"])

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str:
        """A self-contained HTML report with the curve and a slider; needs the extra ``votecert[cli]``.

        Parameters
        ----------
        path : path, optional
            Where to write the report.
        title : str, optional
            Heading of the report.
        """
        from votecert.report.triage import to_html

        return to_html(self, path, title=title)

    def to_markdown(self) -> str:
        """A section for a model card."""
        from votecert.report.triage import to_markdown

        return to_markdown(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from votecert.report.triage import triage_html

        return triage_html(self)

    def __repr__(self) -> str:
        if self.threshold is None:
            risk = f"risk of {percent(self.max_risk)}"
            return f"Triage(nothing can be answered with a {risk}, delta={self.delta:g})"
        return (
            f"Triage(risk <= {percent(self.risk)}, coverage >= {at_least(self.coverage)}, "
            f"threshold={self.threshold:.4g}, delta={self.delta:g})"
        )

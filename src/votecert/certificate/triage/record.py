"""The result of triage: a vote, from which lead on it answers, and what holds then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from votecert._types import Codes, Indices
from votecert.bounds.kinds import Kind, Real, Whole
from votecert.certificate.checks import Between
from votecert.certificate.text import amount, at_least, confidence, percent, sentence
from votecert.certificate.triage import rules
from votecert.certificate.triage.leads import Leads, answers, declared_cuts, fit_vote, fitted_cuts, scale_of
from votecert.certificate.triage.rules import SHARES, Counts, OperatingPoint
from votecert.certificate.triage.words import lead, why_nothing
from votecert.certificate.verification import TOLERANCE, Verification, compared_fits
from votecert.certificate.vote_record import Found, VoteRecord
from votecert.certificate.words import Fact, Verdict, common_assumptions
from votecert.numerics import Arithmetic
from votecert.rows.predictor import TIE_RULE
from votecert.rows.read import Rows

MOST_THRESHOLDS = 10_000

DECLARED = "The thresholds were declared before the rows were seen."


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

    kind_of_record = "triage"
    fitted_on_trust = "Vote and thresholds were fitted on the rows that the seed picks."
    kinds: ClassVar[Mapping[str, Kind]] = {
        **VoteRecord.kinds,
        **dict.fromkeys(("max_risk", "delta"), Between()),
        **dict.fromkeys(("n_rows", "n_fitted"), Whole()),
        "coverage": Real(0, 1),
    }

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
        return why_nothing(self.counts, self.max_risk, self.delta) if self.threshold is None else None

    @property
    def statement(self) -> str:
        """One sentence: what is guaranteed, for which vote."""
        if self.threshold is None:
            target = f"at most {percent(self.max_risk)} errors"
            return f"Nothing that {self.who} says can be answered with {target}: {self.reason}"
        return (
            f"With confidence {confidence(self.delta)}, {self.who}, answering where its lead is at least "
            f"{lead(self.threshold)} of all votes and handing over the rest, errs on at most "
            f"{percent(self.risk)} of the new rows that it answers, and answers at least "
            f"{at_least(self.coverage)} of new rows."
        )

    @property
    def assumptions(self) -> list[str]:
        """What must be true for the statement to hold."""
        listed = common_assumptions(self, amount(self.n_rows + self.n_fitted, "row"), self.n_outputs)
        fixed = "Weights, thresholds and max_risk were fixed without looking at these rows."
        if self.origin == "learned":
            fixed = "max_risk and the seed of the split were fixed without looking at these rows."
        return [*listed, fixed, f"Ties go to {TIE_RULE}."]

    def decide(self, votes: Any, threshold: float | None = None) -> npt.NDArray[np.object_]:
        """Labels where the vote answers, None where the case is handed over.

        Parameters
        ----------
        votes : (rows, d) labels, or (rows, d, c) scores for a soft vote
            Of the same voters; the columns of a table are found by their names, as :attr:`voters`.
        threshold : float, optional
            Another threshold of the :attr:`curve`, which has its own limit.
        """
        return self._said(self.places(self.totals(votes), threshold))

    def decide_codes(self, codes: Codes, threshold: float | None = None) -> npt.NDArray[np.object_]:
        """The same for votes that are places in ``classes``, or their number for a missing vote."""
        return self._said(self.places(self.predictor.count_codes(codes), threshold))

    def places(self, totals: Any, threshold: float | None = None) -> Indices:
        """Places of the answers among ``classes``, -1 where the case is handed over."""
        winner, lead = answers(self.predictor, totals)
        place = self.place if threshold is None else self.place_of(threshold)
        answered = place is not None and lead >= self.cuts[place]
        return np.where(answered, winner, -1)

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
        return self._verified(votes, y, self._recount)

    def _recomputed(self, ar: Arithmetic, below: float) -> tuple[float, list[str]]:
        """Every limit must be the recomputed one, and the threshold one that may be used."""
        counts, delta = self.counts, self.delta
        problems: list[str] = []
        risks = rules.curve_risks(ar, counts, delta)
        allowed = rules.selected(ar, counts, self.max_risk, delta, risks)
        if self.place is not None and (allowed is None or self.place > allowed):
            problems.append(f"At the threshold {self.threshold!r} the risk is not certified.")
        for place, point, risk in zip(rules.points(len(self.cuts)), self.curve, risks, strict=True):
            least = rules.coverage(ar, counts, place, delta)
            if not risk * (1 - below) <= point.risk <= risk + TOLERANCE:
                problems.append(
                    f"The limit at the threshold {point.threshold!r} is {float(risk)!r}, not {point.risk!r}."
                )
            if not least - TOLERANCE <= point.coverage <= least + below:
                problems.append(
                    f"The coverage at {point.threshold!r} is {float(least)!r}, not {point.coverage!r}."
                )
        own = 0 if self.place is None else rules.coverage(ar, counts, self.place, delta)
        if not own - TOLERANCE <= self.coverage <= own + below:
            problems.append(f"The coverage is {float(own)!r}, not {self.coverage!r}.")
        return self.risk, problems

    def _on_trust(self) -> list[str]:
        grids = [declared_cuts(self.predictor, None, odd) for odd in (False, True)]
        own = self.origin == "fixed" and (self.cuts, self.starts) not in grids
        return [DECLARED, *self._chosen_before()] if own else self._chosen_before()

    def _recount(self, rows: Rows) -> Found:
        """What was counted on these rows must be what the result says, and fitted what is fitted again."""
        if rows.n_rows != self.n_rows + self.n_fitted or rows.n_voters != self.n_voters:
            return [f"These are {rows.n_rows} rows and {rows.n_voters} voters, others than it is about."], []
        found: Found = [], []
        certifying = rows
        if self.origin == "learned":
            parts = [rows.part(self.split, self.seed, fitting=which) for which in (True, False)]
            if parts[0] is None or parts[1] is None:
                return ["The rows that the seed picks are too few to fit a vote on."], []
            fitting, certifying = parts[0], parts[1]
            found = self._refit(fitting, certifying.n_rows)
        counts = Leads.of(self.predictor, certifying).counts(certifying.n_rows, self.cuts, self.starts)
        if (tuple(counts.answered), tuple(counts.errors)) != (self.answered, self.errors):
            found[0].append("Answered rows and errors are others on these rows.")
        return found

    def _refit(self, fitting: Rows, n_certifying: int) -> Found:
        """Fit vote and thresholds again: sums may be rounded otherwise elsewhere, but not more than that."""
        again, vote = fit_vote(fitting, self.fallback, self), self.predictor
        found = compared_fits(vote, again, self.own_words, self.fitted_on_trust.rstrip("."))
        if any(found):
            return found
        own = self.cuts, self.starts
        if own == fitted_cuts(vote, fitting, n_certifying / fitting.n_rows, self.max_risk, self.delta):
            return [], []
        if own == declared_cuts(vote, [cut / scale_of(vote) for cut in self.cuts], False):
            return [], [DECLARED]
        return ["The thresholds are not those that are fixed on the rows that the seed picks."], []

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        yield from self._contradictions_of_counts()
        yield from self._contradictions_of_split(self.n_rows, self.n_fitted)
        scale, n = scale_of(self.predictor), len(self.cuts)
        if self.threshold is not None and self.threshold not in [cut / scale for cut in self.cuts]:
            yield "the threshold is none of those that were tested."
        told = [(point.threshold, point.answered, point.errors) for point in self.curve]
        if told != [(self.cuts[at] / scale, self.answered[at], self.errors[at]) for at in rules.points(n)]:
            yield "the curve is not about the counts."
        if any(Real(0, 1).problem(number, self) for point in self.curve for number in point[1:3]):
            yield "the curve has limits that are not from 0 to 1."

    def _contradictions_of_counts(self) -> Iterator[str]:
        columns: tuple[tuple[Any, ...], ...] = (self.cuts, self.starts, self.answered, self.errors)
        n = len(self.cuts)
        if not 0 < n <= MOST_THRESHOLDS or any(len(column) != n for column in columns):
            yield "thresholds and counts are not as many."
        numbers = [Real().problem(cut, self) for cut in self.cuts]
        if any(numbers) or any(Whole().problem(x, self) for column in columns[1:] for x in column):
            yield "thresholds or counts are not numbers."
        if any(high <= low for high, low in pairwise(self.cuts)) or self.cuts[-1] < 0 or not sum(self.starts):
            yield "the thresholds do not fall from one to the next, or no test begins."
        answered = [0, *self.answered, self.n_rows]
        wrong = [0, *self.errors, self.n_rows]
        steps = [b - a for a, b in pairwise(answered)]
        if min(steps) < 0 or any(
            not 0 <= b - a <= n for (a, b), n in zip(pairwise(wrong[:-1]), steps, strict=False)
        ):
            yield "a lower threshold cannot answer less, or have fewer errors."

    def works(self) -> list[str]:
        """Keys of what is to be cited."""
        return ["clopper1934", "wiens2003", "massart1990"]

    @property
    def verdict(self) -> Verdict:
        """The first thing that a reader sees."""
        if self.threshold is None:
            return Verdict("vacuous", "NOTHING CAN BE ANSWERED", "0 %", (sentence(self.reason or ""), ""))
        claim = (
            f"It answers where its winner leads by {lead(self.threshold)} of all votes or more, and hands "
            f"over the rest. Of the new rows that it answers at most {percent(self.risk)} are wrong."
        )
        level = f"{confidence(self.delta)} confidence"
        holds = f"Both limits, and all of the curve, hold together with {level}."
        return Verdict("guarantee", f"Guarantee at {level}", at_least(self.coverage), (claim, holds))

    def _counted(self) -> list[Fact]:
        if self.place is None:
            return [Fact("Answered", "None"), Fact("Of these wrong", "None")]
        rows = amount(self.n_rows, "held-out row" if self.n_fitted else "row")
        answered = Fact("Answered", f"{self.answered[self.place]:,} of {rows}")
        return [answered, Fact("Of these wrong", f"{self.errors[self.place]:,}")]

    def __repr__(self) -> str:
        if self.threshold is None:
            risk = f"risk of {percent(self.max_risk)}"
            return f"Triage(nothing can be answered with a {risk}, delta={self.delta:g})"
        return (
            f"Triage(risk <= {percent(self.risk)}, coverage >= {at_least(self.coverage)}, "
            f"threshold={self.threshold:.4g}, delta={self.delta:g})"
        )

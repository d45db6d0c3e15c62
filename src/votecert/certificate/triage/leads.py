"""The votes that triage is about, the leads of their winners, and thresholds that no certifying row fixes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from votecert._types import Indices, IntArray
from votecert.certificate.record import as_tuple
from votecert.certificate.triage.rules import Counts, fewest_rows
from votecert.learning.budget import Budget
from votecert.learning.fitted_vote import fit_vote as learned_vote
from votecert.numerics.binomial import clopper_pearson_upper
from votecert.rows.predictor import WeightedVote
from votecert.rows.read import Rows
from votecert.rows.scores import Scores, soft_totals, tied
from votecert.rows.vote_sums import lead_of, winners

if TYPE_CHECKING:
    from votecert.certificate.vote_record import VoteRecord

Declared: TypeAlias = "Rows | VoteRecord"
"""What tells whether classes, and whether abstentions, were declared: rows, or a result about them."""

FINEST = 100
"""Leads of up to so many votes are all thresholds; of more, :data:`LEVELS` of them."""

LEVELS = 50
QUANTILES = 40
"""Thresholds that are fixed on fitting rows: leads that so many even shares of those rows have."""

FEW = 20
"""The lowest leads are all thresholds: where most voters abstain, there are no others."""

STARTS = ((1.0, 2), (0.7, 1), (0.5, 1), (0.25, 1), (0.12, 1), (0.06, 1), (0.03, 1))
"""Leads from which the tests of a declared grid begin, and their shares: few rows may be unanimous."""

ENOUGH = 1.5
"""Tests begin where so many times the rows are expected that it takes without an error."""


def answers(vote: WeightedVote, totals: npt.NDArray[Any]) -> tuple[Indices, npt.NDArray[Any]]:
    """Place of the winning class, -1 where there is none to answer with, and the votes by which it leads.

    There is none where nobody votes and no fallback was fixed, and where a soft vote is tied.
    """
    if vote.kind == "soft":
        winner = np.where(tied(totals), -1, totals.argmax(axis=1))
    else:
        winner = winners(totals, vote.fallback)
    return winner, lead_of(totals)


def totals_on(vote: WeightedVote, rows: Rows) -> Any:
    """Votes of each class on each pattern, or row of scores."""
    if isinstance(rows, Scores):
        return soft_totals(rows.values, vote.numbers, vote.offsets)
    return rows.vote_totals(vote.numbers, vote.offsets)


def all_counts(rows: Rows) -> IntArray:
    """How many rows each pattern stands for."""
    return np.ones(rows.n_rows, dtype=np.int64) if isinstance(rows, Scores) else rows.counts


def vote_of(
    rows: Rows,
    votes: npt.ArrayLike,
    fallback: int | None,
    offsets: Sequence[int] = (),
    table: IntArray | None = None,
) -> WeightedVote:
    """A vote on such rows."""
    return WeightedVote(
        votes=tuple(np.asarray(votes).tolist()),
        offsets=tuple(offsets) or (0,) * rows.n_classes,
        classes=tuple(rows.classes.tolist()),
        kind="soft" if isinstance(rows, Scores) else "hard",
        fallback=fallback,
        table=None if table is None else as_tuple(table.tolist()),
    )


class Leads(NamedTuple):
    """Rows that are answered at the threshold 0: lead of the winner, whether it is wrong, how many such."""

    lead: npt.NDArray[Any]
    wrong: npt.NDArray[np.bool_]
    times: IntArray

    @classmethod
    def of(cls, vote: WeightedVote, rows: Rows) -> Leads:
        """The leads of a vote on rows; those on which nobody votes, or a soft vote is tied, are left out."""
        found = []
        for part in [rows] if isinstance(rows, Scores) else rows.slices():
            winner, lead = answers(vote, totals_on(vote, part))
            there = winner >= 0
            found.append((lead[there], (winner != part.labels)[there], all_counts(part)[there]))
        return cls(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def mean_risk(self, rows: int) -> float:
        """Mean over the rows of the error among those with such a lead, or a larger one; 1 without any."""
        group = np.unique(-self.lead, return_inverse=True)[1].reshape(-1)
        there = np.bincount(group, self.times)
        n, k = there.cumsum(), np.bincount(group, self.times * self.wrong).cumsum()
        return float(there @ ((k + 0.5) / (n + 1.0)) + rows - there.sum()) / rows

    def counts(self, rows: int, cuts: Sequence[float], starts: Sequence[int]) -> Counts:
        """Answered rows and errors at each threshold, the highest first."""
        low_first = np.array(cuts)[::-1]
        # so many thresholds does each row reach
        reached = np.searchsorted(low_first, self.lead, side="right")
        answered, errors = (
            np.bincount(reached, self.times * chosen, minlength=len(cuts) + 1)[:0:-1].cumsum()
            for chosen in (np.ones(len(reached)), self.wrong)
        )
        return Counts(rows, starts, *(column.astype(np.int64).tolist() for column in (answered, errors)))


def scale_of(vote: WeightedVote) -> int:
    """All votes there are: leads are told as shares of these."""
    return max(1, int(vote.numbers.reshape(len(vote.votes), -1).max(axis=1).sum()) + sum(vote.offsets))


def declared_cuts(
    vote: WeightedVote, thresholds: Iterable[float] | None, odd: bool
) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Thresholds in votes, the highest first, and their starting shares, which no row has a say in.

    Examples
    --------
    >>> declared_cuts(WeightedVote((1, 1, 1, 1, 1), (0, 0), (0, 1)), None, True)
    ((5, 3, 1), (2, 1, 5))
    """
    scale = scale_of(vote)
    if thresholds is not None:
        wanted = sorted({float(t) for t in thresholds}, reverse=True)
        if not wanted or not 0 <= wanted[-1] <= wanted[0] <= 1:
            raise ValueError(
                "thresholds must be one or more numbers from 0 to 1: leads in shares of all votes."
            )
    elif scale <= FINEST and vote.kind == "hard":
        wanted = [place / scale for place in range(scale, -1, -2 if odd else -1)]
    else:
        wanted = [place / LEVELS for place in range(LEVELS, -1, -1)]
        if vote.kind == "hard":
            wanted += [place / scale for place in range(FEW + 1)]
    cuts = [t * scale for t in wanted]
    if vote.kind == "hard":
        cuts = sorted({math.ceil(cut - 1e-9) for cut in cuts}, reverse=True)
    starts = [0] * len(cuts)
    for lead, share in STARTS:  # the next threshold below, or the lowest
        starts[next((i for i, cut in enumerate(cuts) if cut <= lead * scale + 1e-9), len(cuts) - 1)] += share
    return tuple(cuts), tuple(starts)


def always_odd(vote: WeightedVote, rows: Rows) -> bool:
    """Whether all leads are odd, or all even, as the number of votes is: two classes and no abstention."""
    return rows.n_outputs == 2 and vote.kind == "hard" and not any(vote.offsets) and vote.table is None


def fit_vote(fitting: Rows, fallback: int | None, declared: Declared) -> WeightedVote:
    """A vote that fitting rows and declarations alone decide: the one that knows best when it errs."""
    found = candidate_votes(fitting, fallback, declared)
    return min(found, key=lambda vote: Leads.of(vote, fitting).mean_risk(fitting.n_rows))


def candidate_votes(fitting: Rows, fallback: int | None, declared: Declared) -> list[WeightedVote]:
    """Votes that fitting rows and declarations alone decide, the plain vote among them."""
    found = learned_vote(
        fitting,
        Budget(),
        n_outputs=fitting.n_outputs,
        classes_declared=declared.classes_declared,
        abstention_declared=declared.abstention_declared,
        fallback=fallback,
    )
    listed = [vote_of(fitting, np.ones(fitting.n_voters, dtype=np.int64), fallback)]
    if found is not None:
        listed.append(vote_of(fitting, found.votes, fallback, found.offsets.tolist(), found.table))
    return listed


def fitted_cuts(
    vote: WeightedVote, fitting: Rows, growth: float, max_risk: float, delta: float
) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Thresholds that even shares of the fitting rows reach, and three from which the tests begin.

    These are the highest one that enough certifying rows should reach, the one whose limit should be
    smallest, and one half way between.

    Parameters
    ----------
    growth : float
        Certifying rows by fitting rows.
    """
    leads = Leads.of(vote, fitting)
    order = np.argsort(leads.lead)[::-1]
    reached = leads.times[order].cumsum()
    zero = leads.lead.dtype.type(0)
    if not len(order):
        return (zero.item(),), (1,)
    wanted = np.arange(1, QUANTILES + 1) * reached[-1] / QUANTILES
    found = leads.lead[order][np.searchsorted(reached, wanted - 1e-9)]
    found[-1] = zero  # below the lowest lead there is nothing to tell apart
    cuts = np.unique(found)[::-1].tolist()
    counts = leads.counts(fitting.n_rows, cuts, [1] * len(cuts))
    answered, errors = growth * np.array(counts.answered), growth * (np.array(counts.errors) + 0.5)
    limits = clopper_pearson_upper(np.minimum(errors, answered), np.maximum(answered, 1.0), math.log(delta))
    best = int(np.argmin(np.where(answered >= 1, limits, 2.0)))
    enough = np.flatnonzero(answered >= ENOUGH * fewest_rows(max_risk, delta))
    first = min(int(enough[0]), best) if len(enough) else best
    begins = (first, (first + best) // 2, best)
    return tuple(cuts), tuple(begins.count(place) for place in range(len(cuts)))

"""By how much the vote is right or wrong on each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from votecert._types import BoolArray, FloatArray, IntArray
from votecert.certificate.certificate import Certificate
from votecert.certificate.certified_rows import certified_rows
from votecert.certificate.triage.leads import all_counts, answers, scale_of, totals_on
from votecert.rows.ballots import Ballots
from votecert.rows.scores import Scores

BINS = 40
"""Number of bins between leads -1 and 1; even, so that zero is an edge."""


class Bin(NamedTuple):
    """Rows whose lead lies in (start, end]: how many the vote gets right and wrong."""

    start: float
    end: float
    right: int
    wrong: int

    @property
    def rows(self) -> int:
        """All rows of the bin."""
        return self.right + self.wrong


@dataclass(frozen=True)
class Margins:
    """Leads of the true class over the best other one, in shares of the votes cast.

    Attributes
    ----------
    bins : list of Bin
        Rows by their lead.
    cut : float
        Rows with a lead up to here count as errors in the bound: 0, or more for a margin bound.
    counted : int
        How many rows that are.
    voter_errors : list of int or None
        Rows that each voter gets wrong; None for soft votes.
    """

    bins: list[Bin]
    cut: float
    counted: int
    voter_errors: list[int] | None


def read_margins(certificate: Certificate, votes: Any, y: Any) -> Margins:
    """The leads of the certified vote on its rows.

    Parameters
    ----------
    votes, y
        The certifying rows, as given to ``certify``, in memory or in blocks; scores for a soft vote, or
        Ballots or Scores.
    """
    rows = certified_rows(certificate, votes, y)
    lead, wrong = leads(certificate, rows)
    counts = all_counts(rows)
    errors = int(counts[wrong].sum())
    if (rows.n_rows, errors) != (certificate.terms.n_rows, certificate.errors):
        raise ValueError(
            f"These are not the certified rows: the vote gets {errors:,} of {rows.n_rows:,} wrong, "
            f"the certificate says {certificate.errors:,} of {certificate.terms.n_rows:,}."
        )
    cut = margin_cut(certificate)
    each = rows.voter_errors().tolist() if isinstance(rows, Ballots) else None
    return Margins(_bins(lead, wrong, counts), cut, int(counts[lead <= cut + 1e-12].sum()), each)


def margin_cut(certificate: Certificate) -> float:
    """The lead up to which a margin bound counts a row as an error: twice its margin; 0 for other bounds."""
    if "margin_error" not in certificate.terms.statistics:
        return 0.0
    return 2 * float(certificate.terms.choice["margin"])


def leads(certificate: Certificate, rows: Ballots | Scores) -> tuple[FloatArray, BoolArray]:
    """For each pattern of votes, or row of scores: lead of the true class, and whether the vote is wrong."""
    vote = certificate.predictor
    if rows.n_voters != certificate.terms.n_voters:
        raise ValueError(
            f"The certificate is about {certificate.terms.n_voters} voters, these rows have {rows.n_voters}."
        )
    counted = totals_on(vote, rows)
    wrong = answers(vote, counted)[0] != rows.labels
    # the bound's own margin, in which abstaining is a class that can lead
    if isinstance(rows, Ballots) and margin_cut(certificate) > 0:
        return 2 * rows.margins(certificate.terms.weights), wrong
    totals = counted.astype(np.float64)
    places = np.arange(len(totals))
    own = totals[places, rows.labels]
    totals[places, rows.labels] = -np.inf
    best = totals.max(axis=1) if rows.n_classes > 1 else 0.0
    if isinstance(rows, Scores) or vote.table is not None:
        cast: Any = scale_of(vote)
    else:  # of a sparse jury, those who were asked: to share among all would make every row look close
        cast = counted.sum(axis=1)
    return np.asarray((own - best) / np.maximum(1.0, cast)), wrong


def _bins(lead: FloatArray, wrong: BoolArray, counts: IntArray) -> list[Bin]:
    # Bins are open on the left, so that a tie, which margin bounds count as an error, is left of zero.
    place = np.clip(np.ceil((lead + 1) * BINS / 2 - 1e-9).astype(int) - 1, 0, BINS - 1)
    right, missed = (
        np.bincount(place, np.where(chosen, counts, 0), minlength=BINS).astype(int).tolist()
        for chosen in (~wrong, wrong)
    )
    edges = ((2 * np.arange(BINS + 1) - BINS) / BINS).tolist()
    return [Bin(*row) for row in zip(edges[:-1], edges[1:], right, missed, strict=True)]

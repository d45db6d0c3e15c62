"""By how much the vote is right or wrong on each certifying row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from votecert.certificate.certificate import Certificate
from votecert.certificate.certified_rows import certified_rows
from votecert.report.charts import Bin
from votecert.rows.ballots import Ballots
from votecert.rows.scores import Scores, soft_totals, tied

BINS = 40
"""Number of bins between leads -1 and 1; even, so that zero is an edge."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Margins:
    """Leads of the true class over the best other one, in shares of all votes.

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
    if rows.n_voters != certificate.terms.n_voters:
        raise ValueError(
            f"The certificate is about {certificate.terms.n_voters} voters, these rows have {rows.n_voters}."
        )
    lead, wrong, counts = _soft(certificate, rows) if isinstance(rows, Scores) else _hard(certificate, rows)
    errors = int(counts[wrong].sum())
    if (rows.n_rows, errors) != (certificate.terms.n_rows, certificate.errors):
        raise ValueError(
            f"These are not the certified rows: the vote gets {errors} of {rows.n_rows} wrong, "
            f"the certificate says {certificate.errors} of {certificate.terms.n_rows}."
        )
    cut = margin_cut(certificate)
    each = rows.voter_errors().tolist() if isinstance(rows, Ballots) else None
    return Margins(_bins(lead, wrong, counts), cut, int(counts[lead <= cut + 1e-12].sum()), each)


def margin_cut(certificate: Certificate) -> float:
    """The lead up to which a margin bound counts a row as an error: twice its margin; 0 for other bounds."""
    if "margin_error" not in certificate.terms.statistics:
        return 0.0
    return 2 * float(certificate.terms.choice["margin"])


def _hard(
    certificate: Certificate, rows: Ballots
) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    vote = certificate.predictor
    totals = rows.vote_totals(vote.votes, vote.offsets)
    wrong = rows.predict(vote.votes, vote.offsets, vote.fallback) != rows.labels
    if margin_cut(certificate) > 0:  # the bound's own margin, in which abstaining is a class that can lead
        return 2 * rows.margins(certificate.terms.weights), wrong, rows.counts
    return _lead(totals.astype(np.float64), rows.labels, _all_votes(certificate)), wrong, rows.counts


def _soft(
    certificate: Certificate, rows: Scores
) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    vote = certificate.predictor
    totals = soft_totals(rows.values, vote.votes, vote.offsets)
    wrong = (totals.argmax(axis=1) != rows.labels) | tied(totals)
    lead = _lead(totals, rows.labels, _all_votes(certificate))
    return lead, wrong, np.ones(rows.n_rows, dtype=np.int64)


def _all_votes(certificate: Certificate) -> float:
    return float(max(1, sum(certificate.predictor.votes) + sum(certificate.predictor.offsets)))


def _lead(totals: Floats, labels: npt.NDArray[np.intp], all_votes: float) -> Floats:
    places = np.arange(len(totals))
    own = totals[places, labels]
    others = totals.copy()
    others[places, labels] = -np.inf
    best = others.max(axis=1) if totals.shape[1] > 1 else np.zeros(len(totals))
    return np.asarray((own - best) / all_votes)


def _bins(lead: Floats, wrong: npt.NDArray[np.bool_], counts: npt.NDArray[np.int64]) -> list[Bin]:
    # Bins are open on the left, so that a tie, which margin bounds count as an error, is left of zero.
    place = np.clip(np.ceil((lead + 1) * BINS / 2 - 1e-9).astype(int) - 1, 0, BINS - 1)
    right = np.bincount(place, np.where(wrong, 0, counts), minlength=BINS)
    missed = np.bincount(place, np.where(wrong, counts, 0), minlength=BINS)
    return [
        Bin((2 * i - BINS) / BINS, (2 * i + 2 - BINS) / BINS, int(right[i]), int(missed[i]))
        for i in range(BINS)
    ]

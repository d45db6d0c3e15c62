"""Votes that are fitted to cost little."""

from __future__ import annotations

from dataclasses import replace

from votecert.certificate.losses import counting
from votecert.certificate.losses.counting import Costs, counted_losses
from votecert.certificate.record import as_tuple
from votecert.certificate.triage.leads import Declared, candidate_votes, totals_on
from votecert.rows.predictor import WeightedVote
from votecert.rows.read import Rows
from votecert.rows.scores import Scores

FINE = 10_000
"""A soft vote is given so many times the votes, for offsets that are whole numbers."""


def fitted_vote(fitting: Rows, costs: Costs, fallback: int | None, declared: Declared) -> WeightedVote:
    """Of the votes that fitting rows and declarations alone decide, the one that should cost least."""
    found = candidate_votes(fitting, fallback, declared)
    if counting.are_errors(costs):
        losses = [counted_losses(vote, fitting, costs, None, None) for vote in found]
        return min(zip(losses, found, strict=True), key=lambda one: counting.total_cost(one[0]))[1]
    for vote in found[:]:  # the classes should have other chances
        finer = times(vote, FINE if isinstance(fitting, Scores) else 2)
        totals = totals_on(finer, fitting)
        expected = counting.expected_classes(fitting, totals)
        found.append(replace(finer, offsets=tuple(counting.cheapest_offsets(finer, totals, expected, costs))))
    # the last one is the fitted vote, if there is one: it knows the chances best
    return min(found, key=lambda vote: counting.expected_cost(vote, fitting, expected, costs))


def times(vote: WeightedVote, factor: int) -> WeightedVote:
    """The same vote with so many times the votes."""
    table = None if vote.table is None else as_tuple((factor * vote.numbers).tolist())
    votes, offsets = (tuple(factor * n for n in numbers) for numbers in (vote.votes, vote.offsets))
    return replace(vote, votes=votes, offsets=offsets, table=table)

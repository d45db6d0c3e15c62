"""Kinds of votes that are fitted on some rows, from the simplest to the richest.

Each kind is fitted for several weightings of the rows at once: without each fold of a cross-validation, and
with all rows. A vote gives class k ``b_k + sum over voters i of W[i, what i says, k]``.

Symbols: n patterns, d voters, s answers, c classes, P weightings, the last of which is that of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from votecert.bounds.base import Floats
from votecert.learning._answers import Answers
from votecert.learning._confusions import dawid_skene, log_confusions
from votecert.learning._fitting_rows import FittingRows
from votecert.learning._logistic import Directions, LogisticProblems
from votecert.learning.budget import Budget

FREE = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Penalties C of logistic regressions of the answers."""

ANCHORED = (0.03, 0.1, 0.3)
"""The same of those that add to the plain vote."""

SMOOTHINGS = (1.0, 4.0)
"""Rows that a voter's confusions have in common with those of the others, before any is seen."""

MOST_UNLABELLED = 1 << 24
"""Votes without labels that are looked at."""

SIMPLE_DOUBT = 2.0
"""Nats against kinds that take voters for independent, or for alike: they fit the worse, the more rows."""

UNLABELLED_DOUBT = -4.0
"""Nats against kinds that were fitted without labels, on rows that are usually many: they have a start."""

PLAIN_VOTE = "plain vote"
"""Everybody once."""

CONFUSIONS_WITHOUT_LABELS = "confusions without labels"
"""The vote of Dawid and Skene."""

_SHARED_RECORD = 8.0  # rows of the common record that each voter's record starts with


@dataclass(frozen=True)
class Candidate:
    """One kind of vote.

    Attributes
    ----------
    name : str
    totals : (n, c, P)
        What the vote fitted with each weighting gives each class on each row.
    table : (d, s, c)
        What the answers are worth in the vote fitted on all rows.
    offsets : (c,)
        Its constants.
    doubt : float
        Nats that count against it before any row is seen.
    """

    name: str
    totals: Floats
    table: Floats
    offsets: Floats
    doubt: float = SIMPLE_DOUBT


def candidates(answers: Answers, weights: Floats, budget: Budget) -> Iterator[Candidate]:
    """All kinds, the simplest first.

    Parameters
    ----------
    answers : Answers
        The rows.
    weights : (P, n)
        How often each pattern counts.
    budget : Budget
        Ends the work when its time is over.
    """
    yield from _plain_weights(answers, weights)
    variants = {"": answers}
    if answers.can_abstain:
        variants = {"": answers.ignoring_abstentions(), ", abstentions too": answers}
    for suffix, variant in variants.items():
        for smoothing in SMOOTHINGS:
            yield _confusions(f"confusions {smoothing:g}{suffix}", variant, weights, smoothing)
            budget.check()
        yield from _logistic(suffix, variant, weights, budget)


def unlabelled_candidates(
    answers: Answers, others: FittingRows | None, n_weightings: int, budget: Budget
) -> Iterator[Candidate]:
    """Votes fitted on other rows without a look at labels: one record a voter, or its confusions."""
    if others is None:
        return
    for name, one_coin in {"weights without labels": True, CONFUSIONS_WITHOUT_LABELS: False}.items():
        table, offsets = without_labels(others, answers.values.shape[2], budget, one_coin=one_coin)
        totals = answers.totals(table[None]) + offsets[:, None]
        yield Candidate(name, np.repeat(totals, n_weightings, axis=2), table, offsets, UNLABELLED_DOUBT)


def without_labels(
    others: FittingRows, n_answers: int, budget: Budget, *, one_coin: bool = False
) -> tuple[Floats, Floats]:
    """Table (d, s, c), in which answers that are no class are worth nothing, and offsets of such a vote."""
    codes, _, counts = others.patterns(MOST_UNLABELLED)
    c = len(others.shown)
    own, offsets = dawid_skene(codes, counts, c, budget, one_coin=one_coin)
    return np.pad(own, ((0, 0), (0, n_answers - c), (0, 0))), offsets


def _plain_weights(answers: Answers, weights: Floats) -> Iterator[Candidate]:
    """Votes with one number a voter: everybody once, the best voter alone, and by their records."""
    c = answers.n_classes
    confusions = answers.confusions(weights)[:, :, :c]
    right = np.einsum("pikk->pi", confusions)
    cast = confusions.sum(axis=(2, 3))
    rate = (right.sum(axis=1) + 1) / (cast.sum(axis=1) + 2)
    record = (right + _SHARED_RECORD * rate[:, None]) / (cast + _SHARED_RECORD)
    odds = np.log(np.maximum(record, 1e-6) * max(c - 1, 1) / np.maximum(1 - record, 1e-6))
    best = np.eye(right.shape[1])[np.argmax(right, axis=1)]
    diagonal = np.zeros((answers.values.shape[2], c))
    diagonal[np.arange(c), np.arange(c)] = 1.0
    for name, votes in {
        PLAIN_VOTE: np.ones(right.shape),
        "best single voter": best,
        "weights by record": np.maximum(odds, 0.0),
    }.items():
        totals = answers.totals(np.einsum("pi,sk->pisk", votes, diagonal))
        yield Candidate(name, totals, votes[-1][:, None, None] * diagonal, np.zeros(c))


def _confusions(name: str, answers: Answers, weights: Floats, smoothing: float) -> Candidate:
    """Naive Bayes: ``W[i, s, k] = log P(i says s | k)``, shrunk to what voters say on average."""
    tables, offsets = log_confusions(answers.confusions(weights), weights @ answers.truth, smoothing)
    if not answers.values[:, :, answers.n_classes :].any():
        tables[:, :, answers.n_classes :] = 0.0
    return Candidate(name, answers.totals(tables) + offsets.T, tables[-1], offsets[-1])


def _logistic(suffix: str, answers: Answers, weights: Floats, budget: Budget) -> Iterator[Candidate]:
    """Logistic regressions of the answers, alone and in addition to the plain vote."""
    directions = Directions.of(answers.flat, answers.counts.astype(np.float64))
    kinds = [("logistic", C) for C in FREE] + [("plain vote and logistic", C) for C in ANCHORED]
    problems = LogisticProblems(
        directions,
        answers.plain,
        answers.labels,
        np.repeat(weights, len(kinds), axis=0),
        np.tile([1 / C for _, C in kinds], len(weights)),
        np.tile([kind != "logistic" for kind, _ in kinds], len(weights)),
        budget,
    )
    totals, rotated, offsets, plain = problems.solve()
    c = answers.n_classes
    for place, (kind, C) in enumerate(kinds):
        last = place - len(kinds)
        table = (directions.back @ rotated[last]).reshape(*answers.values.shape[1:], c)
        table[:, np.arange(c), np.arange(c)] += plain[last]
        yield Candidate(f"{kind} {C:g}{suffix}", totals[:, :, place :: len(kinds)], table, offsets[last], 0.0)

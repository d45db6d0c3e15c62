"""Whether the fields of a result of triage are what they can be: it may come from anybody."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from votecert.bounds.kinds import MOST_FOR_AN_ANSWER, MOST_VOTES, is_number
from votecert.bounds.occam import MOST_DRAWN_ROWS
from votecert.certificate.triage.leads import scale_of
from votecert.certificate.triage.rules import points
from votecert.rows.split import in_fitting_part

if TYPE_CHECKING:
    from votecert.certificate.triage.record import Triage

MOST_THRESHOLDS = 10_000


def problem_with(triage: Triage) -> str | None:
    """The first field that cannot be what it is, as a sentence, or None."""
    return next(_problems(triage), None)


def _problems(triage: Triage) -> Iterator[str]:
    for name in ("max_risk", "delta"):
        if not _is_number(getattr(triage, name)) or not 0 < getattr(triage, name) < 1:
            yield f"{name} is not between 0 and 1."
    for name in ("coverage", "split"):
        if not _is_number(getattr(triage, name)) or not 0 <= getattr(triage, name) <= 1:
            yield f"{name} is not from 0 to 1."
    if not all(_is_whole(getattr(triage, name)) for name in ("n_rows", "n_fitted", "n_outputs", "seed")):
        yield "a number of rows, of outputs, or the seed is not a whole number."
    if not all(
        getattr(triage, name) in (True, False) for name in ("classes_declared", "abstention_declared")
    ):
        yield "what was declared is not true or false."
    yield from _problems_with_vote(triage)
    yield from _problems_with_counts(triage)
    yield from _problems_with_split(triage)
    scale, n = scale_of(triage.predictor), len(triage.cuts)
    if triage.threshold is not None and triage.threshold not in [cut / scale for cut in triage.cuts]:
        yield "the threshold is none of those that were tested."
    told = [(point.threshold, point.answered, point.errors) for point in triage.curve]
    if told != [(triage.cuts[at] / scale, triage.answered[at], triage.errors[at]) for at in points(n)]:
        yield "the curve is not about the counts."
    if not all(_is_number(number) and 0 <= number <= 1 for point in triage.curve for number in point[1:3]):
        yield "the curve has limits that are not from 0 to 1."


def _problems_with_vote(triage: Triage) -> Iterator[str]:
    d, c = len(triage.votes), len(triage.classes)
    if triage.kind not in ("hard", "soft") or triage.origin not in ("learned", "fixed"):
        yield "kind or origin is not one that there can be."
    labels = triage.classes
    if not c or not all(isinstance(label, str | int | float) for label in labels) or len(set(labels)) < c:
        yield "the classes are not different labels."
    if any(isinstance(label, float) and not math.isfinite(label) for label in labels):
        yield "a class is not a number."
    if not d or not all(
        _is_whole(votes) and votes <= MOST_VOTES for votes in (*triage.votes, *triage.offsets)
    ):
        yield "votes and offsets are not whole numbers, zero or more."
    if len(triage.offsets) != c or not 0 < sum(triage.votes) + max(triage.offsets) <= MOST_VOTES:
        yield "the votes are too many to count, none at all, or not one a class."
    if triage.n_outputs not in (c, c + 1) or (
        triage.fallback is not None and triage.fallback not in range(c)
    ):
        yield "the numbers of classes do not agree."
    if triage.voters is not None and not (
        len(triage.voters) == d and all(isinstance(name, str) for name in triage.voters)
    ):
        yield f"there are not {d} names of voters."
    if triage.table is not None:
        shapes = {(len(row), len(votes)) for row in triage.table for votes in row}
        if len(triage.table) != d or len(shapes) != 1 or not shapes <= {(c, c), (c + 1, c)}:
            yield "the table has not the votes of every answer for every class."
        if not all(_is_whole(n) and n <= MOST_FOR_AN_ANSWER for row in triage.table for x in row for n in x):
            yield "the table has other than whole numbers."


def _problems_with_counts(triage: Triage) -> Iterator[str]:
    columns: tuple[tuple[Any, ...], ...] = (triage.cuts, triage.starts, triage.answered, triage.errors)
    n = len(triage.cuts)
    if not 0 < n <= MOST_THRESHOLDS or any(len(column) != n for column in columns):
        yield "thresholds and counts are not as many."
    if not all(map(_is_number, triage.cuts)) or not all(
        map(_is_whole, (x for part in columns[1:] for x in part))
    ):
        yield "thresholds or counts are not numbers."
    if (
        any(high <= low for high, low in pairwise(triage.cuts))
        or triage.cuts[-1] < 0
        or not sum(triage.starts)
    ):
        yield "the thresholds do not fall from one to the next, or no test begins."
    answered = [0, *triage.answered, triage.n_rows]
    wrong = [0, *triage.errors, triage.n_rows]
    steps = [b - a for a, b in pairwise(answered)]
    if min(steps) < 0 or any(
        not 0 <= b - a <= n for (a, b), n in zip(pairwise(wrong[:-1]), steps, strict=False)
    ):
        yield "a lower threshold cannot answer less, or have fewer errors."


def _problems_with_split(triage: Triage) -> Iterator[str]:
    learned = triage.origin == "learned"
    if learned != (triage.n_fitted > 0) or (not learned and (triage.split, triage.seed) != (0, 0)):
        yield "rows are fitted on if and only if the vote is learned."
    rows = triage.n_rows + triage.n_fitted
    if learned and rows <= MOST_DRAWN_ROWS:
        drawn = int(in_fitting_part(rows, triage.split, triage.seed).sum())
        if drawn != triage.n_fitted:
            yield f"the seed draws {drawn} of {rows} rows to fit on, not {triage.n_fitted}."


def _is_number(value: Any) -> bool:
    return is_number(value) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0

"""Whether the fields of a result of triage are what they can be: it may come from anybody."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from votecert.certificate.triage.leads import scale_of
from votecert.certificate.triage.rules import points
from votecert.certificate.vote_record import is_count, is_finite, problems_with_split, problems_with_vote

if TYPE_CHECKING:
    from votecert.certificate.triage.record import Triage

MOST_THRESHOLDS = 10_000


def problem_with(triage: Triage) -> str | None:
    """The first field that cannot be what it is, as a sentence, or None."""
    return next(_problems(triage), None)


def _problems(triage: Triage) -> Iterator[str]:
    for name in ("max_risk", "delta"):
        if not is_finite(getattr(triage, name)) or not 0 < getattr(triage, name) < 1:
            yield f"{name} is not between 0 and 1."
    if not is_finite(triage.coverage) or not 0 <= triage.coverage <= 1:
        yield "coverage is not from 0 to 1."
    if not all(is_count(getattr(triage, name)) for name in ("n_rows", "n_fitted")):
        yield "a number of rows is not a whole number."
    yield from problems_with_vote(triage)
    yield from _problems_with_counts(triage)
    yield from problems_with_split(triage, triage.n_rows, triage.n_fitted)
    scale, n = scale_of(triage.predictor), len(triage.cuts)
    if triage.threshold is not None and triage.threshold not in [cut / scale for cut in triage.cuts]:
        yield "the threshold is none of those that were tested."
    told = [(point.threshold, point.answered, point.errors) for point in triage.curve]
    if told != [(triage.cuts[at] / scale, triage.answered[at], triage.errors[at]) for at in points(n)]:
        yield "the curve is not about the counts."
    if not all(is_finite(number) and 0 <= number <= 1 for point in triage.curve for number in point[1:3]):
        yield "the curve has limits that are not from 0 to 1."


def _problems_with_counts(triage: Triage) -> Iterator[str]:
    columns: tuple[tuple[Any, ...], ...] = (triage.cuts, triage.starts, triage.answered, triage.errors)
    n = len(triage.cuts)
    if not 0 < n <= MOST_THRESHOLDS or any(len(column) != n for column in columns):
        yield "thresholds and counts are not as many."
    if not all(map(is_finite, triage.cuts)) or not all(
        map(is_count, (x for part in columns[1:] for x in part))
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

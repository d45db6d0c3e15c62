"""The fitted vote: several kinds of votes, blended by how they cross-validate on the rows they are fitted on.

It is one hypothesis, however many numbers it consists of and however these were found on its own rows, so it
costs one share of delta and nothing else. Each kind is put on the scale on which its totals are log-odds, and
counts ``exp(-loss)`` for its log-loss on rows that were held out: on few rows, a mean of what fits about
equally well errs less than the one that happens to look best. The numbers are whole: the same votes give the
same label on every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from votecert.bounds.base import Choice, Floats
from votecert.learning._answers import Answers
from votecert.learning._candidates import (
    CONFUSIONS_WITHOUT_LABELS,
    Candidate,
    candidates,
    unlabelled_candidates,
    without_labels,
)
from votecert.learning._fitting_rows import FittingRows
from votecert.learning._threads import one_thread
from votecert.learning.budget import Budget
from votecert.rows.ballots import Ballots
from votecert.rows.patterns import IntArray
from votecert.rows.predictor import influence
from votecert.rows.read import Rows

RESOLUTION = 10_000
"""Votes of the answer that is worth most."""

MOST_ANSWERS = 1 << 24
"""Answers (rows times voters times what a voter can say) that a vote is fitted on."""

CROSS_VALIDATED, SHARE = "cross-validated error, ", "share, "
"""Details of a certificate that begin so tell the error, and the share in the blend, of a kind of vote."""

PLAIN_ERRORS = "errors of the plain vote"
"""The detail that tells how many of all rows everybody's vote, once each, gets wrong."""

_TEMPERATURE = 2.0  # losses of all kinds are of the same rows: one that looks better is so by luck, in part
_SCALES = np.geomspace(0.02, 2.0, 10)  # totals become log-odds at the best of these


@dataclass(frozen=True)
class FittedVote:
    """A vote in whole numbers, and how it was found.

    Attributes
    ----------
    kind : str
        The kind of vote that counts most in it.
    votes, offsets : (d,), (c,) whole numbers
        Votes of the voters, their influence where there is a table, and of the constants.
    table : (d, s, c) whole numbers or None
        What each answer is worth, if not every vote of a voter is worth the same.
    errors, shares : dict
        For each kind, its cross-validated error on the fitting rows, and how much it counts.
    error : float
        The cross-validated error of the blend.
    """

    kind: str
    votes: IntArray
    offsets: IntArray
    table: IntArray | None
    errors: dict[str, float]
    shares: dict[str, float]
    error: float

    def choice(self) -> Choice:
        """What a certificate of this vote stores of it."""
        return {
            "votes": self.votes.tolist(),
            "offsets": self.offsets.tolist(),
            "table": None if self.table is None else self.table.tolist(),
            "kind": self.kind,
            "statement": "list",
            "member": "fitted",
        }

    def details(self) -> dict[str, float]:
        """What a certificate tells about how it was found."""
        errors = {f"{CROSS_VALIDATED}{kind}": error for kind, error in self.errors.items()}
        return errors | {f"{SHARE}{kind}": share for kind, share in self.shares.items() if share > 0.005}


@one_thread()
def fit_vote(
    rows: Rows,
    budget: Budget,
    *,
    n_outputs: int,
    classes_declared: bool,
    abstention_declared: bool,
    missing_is_unasked: bool = False,
    unlabelled: Ballots | None = None,
    fallback: int | None = None,
) -> FittedVote | None:
    """Fit every kind of vote on rows that will not certify them, and blend them.

    Parameters
    ----------
    rows : Ballots or Scores
        The fitting rows. Nothing but them and what was declared decides what is fitted; see
        :mod:`votecert.learning._fitting_rows`.
    budget : Budget
        Gets progress, ends the fit when its time is over.
    n_outputs : int
        Answers that the table is to have, others than those of the fitting rows being worth nothing.
    classes_declared, abstention_declared : bool
        Whether the classes, and whether voters abstain, were declared.
    missing_is_unasked : bool, default=False
        Whether voters whose vote is missing on a fitting row would vote on a new one, as out of bag. By
        default they are taken to abstain there just as often.
    unlabelled : Ballots, optional
        Other rows, whose labels are not looked at: votes fitted on them without labels are kinds as well.
    fallback : int, optional
        Class index for rows on which nobody votes.

    Returns
    -------
    FittedVote or None
        None if these rows do not tell which score is for which label.
    """
    fitting = FittingRows.of(rows, classes_declared, abstention_declared, budget)
    if fitting is None:
        return None
    budget.tell(stage="fitted vote")
    answers = fitting.answers(MOST_ANSWERS, missing_is_unasked=missing_is_unasked and fitting.can_abstain)
    others = None if unlabelled is None else replace(fitting, rows=unlabelled, can_abstain=True)
    shown = fitting.shown.tolist()
    silent = shown.index(fallback) if fallback in shown else -1
    held_out = answers.folds()
    weights = np.vstack([answers.counts - held_out, answers.counts])
    found: list[Candidate] = []
    errors, scales, evidence = {}, [], []
    for candidate in (
        *unlabelled_candidates(answers, others, len(weights), budget),
        *candidates(answers, weights, budget),
    ):
        missed, loss, scale = _cross_validated(candidate.totals[:, :, :-1], answers, held_out, silent)
        errors[candidate.name] = missed / float(answers.counts.sum())
        found.append(candidate)
        scales.append(scale)
        evidence.append(-loss - candidate.doubt)
        budget.tell(stage="fitted vote")
    share = softmax(np.array(evidence) / _TEMPERATURE)

    totals, table, offsets = (
        sum(s * getattr(one, numbers) for s, one in zip(share * scales, found, strict=True))
        for numbers in ("totals", "table", "offsets")
    )
    missed = _cross_validated(totals[:, :, :-1], answers, held_out, silent)[0]
    shares = {one.name: float(s) for s, one in zip(share, found, strict=True)}
    kind = max(shares, key=lambda name: shares[name])
    numbers = _in_whole_numbers(table, offsets, fitting, n_outputs)
    return FittedVote(kind, *numbers, errors, shares, missed / float(answers.counts.sum()))


def fit_without_labels(
    unlabelled: Ballots, budget: Budget, *, n_outputs: int, classes_declared: bool
) -> FittedVote | None:
    """The vote of Dawid and Skene on rows whose labels are not looked at; None if they show one class.

    It depends on these rows and on what was declared only, so other rows certify it, all of them. Where these
    are few that is worth more than to choose among kinds of votes on a part of them.
    """
    fitting = FittingRows.of(unlabelled, classes_declared, False, budget, labelled=False)
    if fitting is None or len(fitting.shown) < 2:
        return None
    budget.tell(stage="fitted vote")
    table, offsets = without_labels(fitting, len(fitting.shown) + 1, budget)
    numbers = _in_whole_numbers(table, offsets, fitting, n_outputs)
    return FittedVote(CONFUSIONS_WITHOUT_LABELS, *numbers, {}, {}, math.nan)


def _cross_validated(
    totals: Floats, answers: Answers, held_out: Floats, silent: int
) -> tuple[float, float, float]:
    """Errors and log-loss on rows that were held out, as if each had been once, and the scale of the totals.

    ``silent`` is the answer where no class has any votes; -1 is always wrong.
    """
    counts = np.ascontiguousarray(held_out.T) * (answers.counts.sum() / held_out.sum())
    winner = np.where(np.abs(totals).max(axis=1) == 0, silent, totals.argmax(axis=1))
    wrong = winner != answers.labels[:, None]
    totals = totals - totals.max(axis=1, keepdims=True)
    behind = np.vdot(counts, totals[np.arange(len(totals)), answers.labels])
    by_class = np.ascontiguousarray(totals.transpose(1, 0, 2))  # adding up its first axis is fast
    losses = [
        float(np.vdot(counts, np.log(np.exp(scale * by_class).sum(axis=0))) - scale * behind)
        for scale in _SCALES
    ]
    return float(counts[wrong].sum()), min(losses), float(_SCALES[np.argmin(losses)])


def _in_whole_numbers(
    table: Floats, offsets: Floats, fitting: FittingRows, n_outputs: int
) -> tuple[IntArray, IntArray, IntArray | None]:
    """Votes, offsets and table of a vote: no table where every vote of a voter is worth the same."""
    d, c = fitting.rows.n_voters, fitting.rows.n_classes
    known = whole_numbers(table, offsets)
    if not influence(known[0]).any():  # whatever the voters say: a constant, which outvotes everybody
        best = fitting.shown[np.argmax(known[1] + known[0][:, 0].sum(axis=0))]
        return np.ones(d, dtype=np.int64), (d + 1) * np.eye(c, dtype=np.int64)[best], None
    numbers, constants = (fitting.with_all_classes(whole, n_outputs) for whole in known)
    votes = influence(numbers)
    plain = np.array_equal(numbers, votes[:, None, None] * np.eye(n_outputs, c, dtype=np.int64))
    return votes, constants, None if plain else numbers


def whole_numbers(table: Floats, offsets: Floats) -> tuple[IntArray, IntArray]:
    """A table (d, s, k) and offsets (k,) as whole numbers, the largest :data:`RESOLUTION`.

    What an answer is worth for all classes alike changes nothing, and is left out.

    Examples
    --------
    >>> table, offsets = whole_numbers(np.array([[[0.5, -0.5], [0.0, 0.25]]]), np.array([0.0, 0.0]))
    >>> table.tolist(), offsets.tolist()
    ([[[4, 0], [0, 1]]], [0, 0])
    """
    if table.shape[2] > 1:
        table = table - table.min(axis=2, keepdims=True)
        offsets = offsets - offsets.min()
    largest = max(float(table.max()), float(offsets.max()), np.finfo(np.float64).tiny)
    numbers: list[npt.NDArray[np.int64]] = [
        np.rint(values / largest * RESOLUTION).astype(np.int64) for values in (table, offsets)
    ]
    divisor = max(1, int(np.gcd.reduce(np.concatenate([values.ravel() for values in numbers]))))
    return numbers[0] // divisor, numbers[1] // divisor

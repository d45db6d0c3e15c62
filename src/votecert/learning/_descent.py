"""Downhill search over whole-number votes: one voter or two get a few votes more or less, as long as it
helps.

Symbols: d voters, c classes; a vote has length d + c: the voters, then one constant voter a class.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from votecert.bounds.base import Floats
from votecert.learning._criterion import Criterion
from votecert.learning._error_counter import BinaryErrorCounter, ErrorCounter, Indices, Tally
from votecert.learning._prior_scores import PriorScores
from votecert.learning.budget import Budget
from votecert.rows.patterns import IntArray

STEPS = (-2, -1, 1, 2)
SMALL_STEPS = (-1, 1)
PAIR_STEPS = ((1, 1), (1, -1), (-1, -1))

_COUNTED_AT_ONCE = 1 << 23  # votes times rows between two looks at the clock
_PAIRED = 256  # voters and constants among which all pairs are tried
_FIRST_MOVES = 24  # first moves that are followed up where pairs have to be tried one by one


@dataclass(frozen=True)
class FoundVote:
    """A vote, its errors and its bound."""

    votes: IntArray
    errors: int
    risk: float


@dataclass(frozen=True)
class _Move:
    """Who gets how many votes more, and what comes of it."""

    changes: tuple[tuple[int, int], ...]
    errors: int
    risk: float


@dataclass
class Descent:
    """Search from given starts.

    Attributes
    ----------
    counter : ErrorCounter
        Counts errors.
    scores : PriorScores
        Gives priors.
    criterion : Criterion
        Compares votes.
    budget : Budget
        Ends the search when its time is over.
    found : list of FoundVote
        Gets every vote that was visited: it is there, whatever interrupts the search.
    """

    counter: ErrorCounter
    scores: PriorScores
    criterion: Criterion
    budget: Budget
    found: list[FoundVote]
    _seen: set[bytes] = field(default_factory=set)

    def run(self, starts: IntArray, n_descents: int) -> None:
        """Go downhill from the most promising starts."""
        if not len(starts):
            return
        errors = self._errors_of_many(starts)
        log_priors = self.scores.of_many(starts)
        first = self.criterion.best(errors, log_priors, below=1.0)
        gains = self.criterion.gains(errors, log_priors, first[1] if first is not None else 1.0)
        for start in np.argsort(-gains, kind="stable")[:n_descents]:
            risk = self.criterion.risk(int(errors[start]), float(log_priors[start]))
            self._descend(FoundVote(starts[start], int(errors[start]), risk), pairs=False)

    def _errors_of_many(self, votes: IntArray) -> IntArray:
        step = max(16, _COUNTED_AT_ONCE // self.counter.n_rows)
        errors = []
        for first in range(0, len(votes), step):
            self.budget.check()
            errors.append(self.counter.errors_of_many(votes[first : first + step]))
        return np.concatenate(errors)

    def polish(self) -> None:
        """Go on downhill from the best vote, with changes of two voters where those of one fail."""
        self._seen.clear()
        self._descend(min(self.found, key=lambda vote: vote.risk), pairs=True)

    def _descend(self, found: FoundVote, pairs: bool) -> None:
        tally: Tally = self.counter.tally(found.votes)
        while found.votes.tobytes() not in self._seen:
            self._seen.add(found.votes.tobytes())
            self.found.append(found)
            self.budget.tell(found.risk, "whole-number votes")
            move = self._single(found.votes, tally, found.risk)
            if move is None and pairs:
                move = self._pair(found.votes, tally, found.risk)
            if move is None:
                return
            votes = found.votes.copy()
            for who, step in move.changes:
                votes[who] += step
                tally = self.counter.moved(tally, who, step)
            found = FoundVote(votes, move.errors, move.risk)

    def _single(self, votes: IntArray, tally: Tally, risk: float) -> _Move | None:
        """The best change of one voter or constant."""
        self.budget.check()
        errors = self.counter.errors_after(tally, STEPS)
        found = self.criterion.best(errors, self.scores.after(votes, STEPS), risk)
        if found is None:
            return None
        step, who = divmod(found[0], len(votes))
        return _Move(((who, STEPS[step]),), int(errors[step, who]), found[1])

    def _pair(self, votes: IntArray, tally: Tally, risk: float) -> _Move | None:
        """The best change of two voters or constants, among those that are the least bad alone."""
        errors = self.counter.errors_after(tally, SMALL_STEPS)
        gains = self.criterion.gains(errors, self.scores.after(votes, SMALL_STEPS), risk)
        if isinstance(self.counter, BinaryErrorCounter):
            who = np.sort(np.argsort(-gains.max(axis=0), kind="stable")[:_PAIRED])
            return self._best_pair(votes, tally, risk, who)
        return self._best_follow_up(votes, tally, risk, _most_promising(gains))

    def _best_pair(self, votes: IntArray, tally: Tally, risk: float, who: Indices) -> _Move | None:
        assert isinstance(self.counter, BinaryErrorCounter)
        best = None
        for steps in PAIR_STEPS:
            self.budget.check()
            errors = self.counter.errors_after_pairs(tally, steps, who)
            found = self.criterion.best(errors, self.scores.after_pairs(votes, steps, who), risk)
            if found is not None:
                i, j = divmod(found[0], len(who))
                risk = found[1]
                changes = ((int(who[i]), steps[0]), (int(who[j]), steps[1]))
                best = _Move(changes, int(errors[i, j]), risk)
        return best

    def _best_follow_up(
        self, votes: IntArray, tally: Tally, risk: float, first_moves: Iterable[tuple[int, int]]
    ) -> _Move | None:
        best = None
        for who, step in first_moves:
            moved = votes.copy()
            moved[who] += step
            then = self._single(moved, self.counter.moved(tally, who, step), risk)
            if then is not None:
                risk = then.risk
                best = _Move(((who, step), *then.changes), then.errors, risk)
        return best


def _most_promising(gains: Floats) -> list[tuple[int, int]]:
    """The possible small steps that lose least: (who, step)."""
    order = np.argsort(-gains, axis=None, kind="stable")[:_FIRST_MOVES]
    places = [divmod(int(i), gains.shape[1]) for i in order if np.isfinite(gains.flat[i])]
    return [(who, SMALL_STEPS[step]) for step, who in places]

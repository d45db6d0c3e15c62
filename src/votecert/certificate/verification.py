"""The outcome of a verification, and what all verifications go by."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass, field

import numpy as np

from votecert.certificate.text import sentence
from votecert.numerics import OUTWARD, Arithmetic, exact
from votecert.rows.predictor import WeightedVote

TOLERANCE = 1e-8
"""A certificate may lie this far above the exact value of its formula, and not at all below it."""

BELOW_EXACT, BELOW_FLOAT64 = 1e-15, 1e-9
"""Relative differences by which it may be below: the last digit, and in float64, what machines differ in."""

MOST_IN_FORTY_DIGITS = 20_000
"""Voters with which forty digits take ten seconds; with more, float64 has to do."""

OTHER_WORDS = "Its sentences were written by another version of votecert and not compared."

SAME_FIT = 0.1
"""Weights fitted again on another machine may differ so much, as a share of all votes, and no more."""

EDITED = "The digest does not match: some field was edited after the certificate was made."

FITTED = "The vote was fitted on the rows that the seed picks"

OTHER_VOTE = "The vote is not the one that is fitted on the rows that the seed picks."

UNEQUAL_WEIGHTS = "These weights, which are not equal, were fixed before the rows were seen."


@dataclass(frozen=True)
class Verification:
    """Outcome of a verification; true in a boolean context when everything agrees.

    Attributes
    ----------
    recomputed : float
        The bound, computed anew from the stored statistics.
    arithmetic : str
        "40 digits" when mpmath is installed and voters are not too many, else "float64".
    rows_recounted : bool
        Whether the statistics were recounted from the rows.
    problems : list of str
        What does not agree.
    on_trust : list of str
        What could not be checked and rests on the word of whoever made the certificate, besides its
        ``assumptions``.
    """

    recomputed: float
    arithmetic: str
    rows_recounted: bool
    problems: list[str] = field(default_factory=list)
    on_trust: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        if self.problems:
            return "The certificate does not verify: " + " ".join(self.problems)
        rows = " and the statistics recounted from the rows" if self.rows_recounted else ""
        trust = f" On its maker's word: {' '.join(self.on_trust)}" if self.on_trust else ""
        return f"The certificate verifies: recomputed with {self.arithmetic}{rows}.{trust}"

    @classmethod
    def refused(cls, arithmetic: str, problem: str) -> Verification:
        """Nothing is computed from fields that there cannot be."""
        return cls(math.nan, arithmetic, False, [sentence(problem)])


def best_arithmetic(n_voters: int = 0) -> tuple[str, Arithmetic, float]:
    """What formulas are computed in: its name, and how far below a stored number may be."""
    if n_voters <= MOST_IN_FORTY_DIGITS and importlib.util.find_spec("mpmath") is not None:
        return "40 digits", exact(), BELOW_EXACT
    return "float64", OUTWARD, BELOW_FLOAT64


def compared_fits(
    told: WeightedVote, again: WeightedVote, own_words: bool, fitted: str = FITTED
) -> tuple[list[str], list[str]]:
    """Problems, and what is on trust, with a vote that was fitted again.

    The fit is deterministic, but sums are rounded in another order on another machine, and a vote that is the
    same up to that is no forgery; nor is one that another version fitted in its own way.
    """
    difference = _difference(told, again)
    if difference == 0:
        return [], []
    if difference <= SAME_FIT:
        return [], [f"{fitted}: again, it differs by {difference:.1e}."]
    return ([OTHER_VOTE], []) if own_words else ([], [f"{fitted} by another version of votecert."])


def _difference(told: WeightedVote, again: WeightedVote) -> float:
    """By how much two votes differ, as a share of all their numbers; 1 if they are of other kinds."""
    theirs, ours = (np.concatenate([one.numbers.ravel(), one.offsets]) for one in (told, again))
    if theirs.shape != ours.shape or not theirs.any() or not ours.any():
        return 1.0
    return float(np.abs(theirs / theirs.sum() - ours / ours.sum()).sum()) / 2

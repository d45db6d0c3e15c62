"""Checking a certificate without trusting whoever made it."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from votecert._tables import in_order
from votecert.ballots import Ballots
from votecert.certificate.record import Certificate
from votecert.numerics.arithmetic import OUTWARD, Arithmetic, exact
from votecert.predictor import scaled_votes
from votecert.scale import is_in_blocks, read_ballots
from votecert.scores import Scores

TOLERANCE = 1e-8
"""A certificate may lie this far above the exact value of its formula, and not at all below it."""


@dataclass(frozen=True)
class Verification:
    """Outcome of a verification; true in a boolean context when everything agrees.

    Attributes
    ----------
    recomputed : float
        The bound, computed anew from the stored statistics.
    arithmetic : str
        "40 digits" when mpmath is installed, else "float64".
    rows_recounted : bool
        Whether the statistics were recounted from the rows.
    problems : list of str
        What does not agree.
    """

    recomputed: float
    arithmetic: str
    rows_recounted: bool
    problems: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        if self.problems:
            return "The certificate does not verify: " + " ".join(self.problems)
        rows = " and the statistics recounted from the rows" if self.rows_recounted else ""
        return f"The certificate verifies: recomputed with {self.arithmetic}{rows}."


def verify(certificate: Certificate, votes: Any = None, y: Any = None) -> Verification:
    """Recompute a certificate; see :meth:`Certificate.verify`."""
    problems: list[str] = []
    if not certificate.intact:
        problems.append("The digest does not match: some field was edited after the certificate was made.")
    precise = importlib.util.find_spec("mpmath") is not None
    recomputed = math.nan
    # Fields may have been edited to anything, so recomputing may fail in any way.
    try:
        recomputed = _recompute(certificate, exact() if precise else OUTWARD)
        problems += _differences(certificate, recomputed)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        problems.append(f"The number cannot be recomputed from the stored statistics ({error!r}).")
    if votes is not None or y is not None:
        problems += _recount(certificate, votes, y)
    arithmetic = "40 digits" if precise else "float64"
    return Verification(recomputed, arithmetic, votes is not None, problems)


def _recompute(certificate: Certificate, ar: Arithmetic) -> float:
    certificate.method.check_choice(certificate.terms)
    risk = certificate.method.formula(ar, certificate.terms).risk
    return float(min(1, max(0, risk)))


def _differences(certificate: Certificate, recomputed: float) -> list[str]:
    """The risk must be the recomputed one, and fields that repeat each other must agree."""
    problems = []
    if certificate.risk < recomputed * (1 - 1e-15):
        problems.append(f"The risk {certificate.risk!r} is below the recomputed {recomputed!r}.")
    elif certificate.risk > recomputed + TOLERANCE:
        problems.append(f"The risk {certificate.risk!r} is above the recomputed {recomputed!r}.")
    terms, vote = certificate.terms, certificate.predictor
    spent = sum(certificate.ledger.values())
    if spent > certificate.delta * (1 + 1e-12):
        problems.append(f"The ledger spends {spent!r}, more than delta = {certificate.delta!r}.")
    if terms.delta > certificate.delta or _left_out(certificate):
        problems.append("The ledger does not have all of what the bound spends.")
    if terms.n_outputs - terms.n_classes not in (0, 1):
        problems.append("Voters name classes and may abstain: there is no other number of outputs.")
    if terms.n_outputs > 2 and not certificate.method.multiclass:
        problems.append(f"The bound {certificate.bound!r} is for two classes without abstentions only.")
    if min(terms.weights) < 0 or abs(math.fsum(terms.weights) - 1) > 1e-9:
        problems.append("The weights are not zero or more with the sum one.")
    if certificate.group is not None and (terms.choice.get("list"), terms.choice.get("statement")) == (
        "split",
        "list",
    ):
        problems.append(
            "The group is certified by a vote that was fitted on rows of all groups, its own too."
        )
    if len(vote.votes) != terms.n_voters or len(vote.classes) != terms.n_classes:
        problems.append("The predictor does not have the stated numbers of voters and classes.")
    elif tuple(terms.choice.get("votes", vote.votes)) != vote.votes:
        problems.append("The predictor's votes are not the certified ones.")
    elif "votes" not in terms.choice and not np.array_equal(scaled_votes(terms.weights), vote.votes):
        problems.append("The predictor's votes are not in proportion to the certified weights.")
    return problems


def _left_out(certificate: Certificate) -> set[tuple[str, float]]:
    """Shares of delta that the bound spends and the ledger, plain or with the bound's name, does not have."""
    spent = certificate.method.ledger(certificate.terms).items()
    named = {(f"{certificate.bound}: {name}", share) for name, share in spent}
    return min(set(spent) - set(certificate.ledger.items()), named - set(certificate.ledger.items()), key=len)


def _read(certificate: Certificate, votes: Any, y: Any) -> Ballots:
    """The rows, encoded with the certificate's own classes; scores for a soft vote."""
    terms, vote = certificate.terms, certificate.predictor
    if isinstance(votes, Ballots | Scores):
        if y is not None:
            raise ValueError("Ballots have the true labels in them: leave y out.")
        return _checked(certificate, votes)
    if votes is None or y is None:
        raise ValueError("To recount the statistics both votes and y are needed.")
    if vote.kind == "soft":
        # Bounds that count errors take scores just as well.
        return cast(Ballots, Scores.from_scores(votes, y, classes=list(vote.classes)))
    abstain = terms.n_outputs > terms.n_classes
    votes = in_order(votes, certificate.voters)
    if is_in_blocks(votes, y):
        split, seed = terms.choice.get("split", 0.0), terms.choice.get("seed", 0)
        return read_ballots(votes, y, classes=list(vote.classes), can_abstain=abstain, split=split, seed=seed)
    return Ballots.from_votes(votes, y, classes=list(vote.classes), can_abstain=abstain)


def _checked(certificate: Certificate, rows: Ballots | Scores) -> Ballots:
    """Rows that are encoded already, if they are encoded as the certificate wants them."""
    terms, vote = certificate.terms, certificate.predictor
    kind = "soft" if isinstance(rows, Scores) else "hard"
    if kind != vote.kind:
        raise ValueError(f"The certificate is about a {vote.kind} vote, but these rows are of a {kind} one.")
    classes, abstain = list(vote.classes), terms.n_outputs > terms.n_classes
    if rows.classes.tolist() != classes or rows.n_outputs != terms.n_outputs:
        raise ValueError(
            "These rows were not read with the certificate's classes and its rule for abstentions: read them "
            f"with classes={classes!r} and can_abstain={abstain}."
        )
    return cast(Ballots, rows)


def _recount(certificate: Certificate, votes: Any, y: Any) -> list[str]:
    terms, vote = certificate.terms, certificate.predictor
    ballots = _read(certificate, votes, y)
    if (ballots.n_rows, ballots.n_voters) != (terms.n_rows, terms.n_voters):
        return [
            f"The certificate is about {terms.n_rows} rows and {terms.n_voters} voters, "
            f"not {ballots.n_rows} and {ballots.n_voters}."
        ]
    problems = []
    weights = np.array(terms.weights)
    counted = certificate.method.measure(ballots, weights, terms.choice)
    for name, value in terms.statistics.items():
        if abs(counted[name] - value) > 1e-9 * max(1.0, abs(value)):
            problems.append(f"The statistic {name!r} is {counted[name]!r} on these rows, not {value!r}.")
    errors = ballots.errors(vote.votes, vote.offsets, vote.fallback)
    if errors != certificate.errors:
        problems.append(f"The predictor errs on {errors} of these rows, not on {certificate.errors}.")
    return problems

"""Making certificates: from rows, weights and a bound to the record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from votecert.bounds.base import Bound, Evaluation, Origin, Terms, UnsupportedProblemError
from votecert.certificate.certificate import Certificate, VoteKind, certified_vote
from votecert.certificate.groups import PREDICTED, Grouping
from votecert.certificate.table import CertificateTable
from votecert.learning.base import Learner
from votecert.learning.budget import mark_interrupted
from votecert.rows.ballots import Ballots
from votecert.rows.predictor import WeightedVote
from votecert.rows.read import Floats, Rows, read_prior
from votecert.rows.scores import Scores


@dataclass(frozen=True)
class Maker:
    """Makes certificates that differ in the bound, the share of delta and the rows only."""

    rows: Rows
    origin: Origin
    prior: Floats | None
    fallback: int | None
    voters: tuple[str, ...] | None
    group: str | None = None
    learns: bool = False

    @classmethod
    def of(
        cls,
        rows: Rows,
        origin: Origin,
        prior: Any,
        fallback: Any,
        voters: tuple[str, ...] | None,
        learns: bool,
    ) -> Maker:
        """From what the user passes as prior and fallback."""
        known = read_prior(prior, rows.n_voters), fallback_index(fallback, rows)
        return cls(rows, origin, *known, voters, learns=learns)

    @property
    def ballots(self) -> Ballots:
        """The rows as bounds take them: those that count errors take scores just as well."""
        return cast(Ballots, self.rows)

    def vote(self, terms: Terms) -> WeightedVote:
        """The vote that a bound with these terms is about."""
        kind: VoteKind = "soft" if isinstance(self.rows, Scores) else "hard"
        return certified_vote(terms, tuple(self.rows.classes.tolist()), kind)

    def make(self, method: Bound, weights: Floats | Learner, delta: float) -> Certificate:
        """Evaluate (or learn by) one bound and write the certificate."""
        return self.write(method, self.evaluate(method, weights, delta), delta)

    def problem_with(self, method: Bound) -> str | None:
        """Say why the bound does not cover these rows or weights, or None when it does."""
        if self.learns and "learned" not in method.origins:
            return (
                f"The bound {method.id!r} does not cover weights learned on these rows. Use bound='occam', "
                "or learn the weights on other rows and pass them as an array with fixed_in_advance=True."
            )
        if isinstance(self.rows, Scores) and not method.counts_errors:
            return f"The bound {method.id!r} does not cover soft votes; use 'occam'."
        return method.problem_with(self.ballots)

    def check(self, methods: Iterable[Bound]) -> None:
        """Refuse bounds that do not cover these rows or weights."""
        for method in methods:
            if problem := self.problem_with(method):
                raise UnsupportedProblemError(problem)

    def evaluate(self, method: Bound, weights: Floats | Learner, delta: float) -> Evaluation:
        """The bound at the given weights, or at those that a learner finds."""
        self.check([method])
        if isinstance(weights, Learner):
            return weights.learn(self.rows, method, delta, prior=self.prior, fallback=self.fallback)
        found = method.evaluate(self.ballots, weights, delta, prior=self.prior)
        if self.fallback is None or not method.counts_errors:
            return found
        return self.at(method, found, delta)

    def at(self, method: Bound, found: Evaluation, delta: float) -> Evaluation:
        """The bound for an already found vote on these rows, with the fallback in force."""
        choice = {**found.terms.choice, "fallback": self.fallback}
        return method.at(self.ballots, np.array(found.terms.weights), delta, choice, prior=self.prior)

    def make_groups(
        self, method: Bound, weights: Floats | Learner, delta: float, groupings: Sequence[Grouping]
    ) -> CertificateTable:
        """One certificate a group for one vote; groupings, and groups in them, have equal shares of delta.

        A vote learned on all rows is one of the votes that each group's statement covers, so the groups
        need not be split off before learning. The fitted list would need its own held-out rows in every
        group; it is left out unless it was fitted on other rows. Weights that are rounded to whole numbers
        are rounded once, on all rows: it is one vote that the certificates are about. Groups by what it says
        are paid for by every vote and every class that there is, whether it says it on these rows or not.
        """
        shares = [delta / len(groupings) / len(grouping.labels(self.rows)) for grouping in groupings]
        found, vote, skipped = None, None, {}
        if isinstance(weights, Learner):
            weights = weights.for_groups()
        if isinstance(weights, Learner) or method.counts_errors:
            found = self.evaluate(method, weights, min(shares))
            weights = np.array(found.terms.weights)
            vote = replace(self.vote(found.terms), fallback=self.fallback)
        certificates = []
        for grouping, share in zip(groupings, shares, strict=True):
            declared = (PREDICTED,) if grouping.groups is None else ()
            for name, label, mask in grouping.masks(self.rows, vote):
                if not mask.any():
                    skipped[name] = f"The vote never says {label} on these rows."
                    continue
                maker = replace(self, rows=self.rows.subset(mask), group=name)
                if found is not None and method.counts_errors:
                    here = maker.at(method, found, share)
                else:
                    here = maker.evaluate(method, weights, share)
                if found is not None and "interrupted" in found.details:  # it was learned
                    here = mark_interrupted(here, bool(found.details["interrupted"]))
                certificates.append(replace(maker.write(method, here, share), declared=declared))
        return CertificateTable(tuple(certificates), "group", skipped, simultaneous=True)

    def write(self, method: Bound, found: Evaluation, delta: float) -> Certificate:
        """The certificate of an evaluated bound."""
        rows, terms = self.rows, found.terms
        if self.fallback is not None:  # bounds that do not count errors cover every fallback
            terms = replace(terms, choice={**terms.choice, "fallback": self.fallback})
        vote = self.vote(terms)
        return Certificate(
            risk=found.risk,
            delta=delta,
            bound=method.id,
            options=method.options(),
            terms=terms,
            classes=vote.classes,
            kind=vote.kind,
            origin=self.origin,
            errors=rows.errors(vote.numbers, vote.offsets, vote.fallback),
            ties=rows.ties(vote.numbers, vote.offsets),
            details=found.details,
            ledger=found.ledger,
            classes_declared=rows.classes_declared,
            group=self.group,
            voters=self.voters,
            reason=found.reason,
            abstention_declared=rows.abstention_declared,
            notes=rows.notes,
        )


def best_of(found: list[Certificate], delta: float) -> Certificate:
    """The smallest of several certificates that hold together, with the whole delta and its ledger."""
    best = min(found, key=lambda certificate: certificate.risk)
    others = {f"{c.bound} (not used)": c.delta for c in found if c is not best}
    ledger = {f"{best.bound}: {name}": share for name, share in best.ledger.items()} | others
    return replace(best, delta=delta, ledger=ledger)


def fallback_index(fallback: Any, rows: Rows) -> int | None:
    """Index of the fallback class."""
    if fallback is None:
        return None
    if isinstance(rows, Scores):
        raise TypeError("fallback= would be ignored here: it is for votes, where all voters may abstain.")
    places = np.flatnonzero(rows.classes == fallback)
    if not len(places):
        raise ValueError(f"The fallback {fallback!r} is not one of the classes {rows.classes.tolist()}.")
    return int(places[0])

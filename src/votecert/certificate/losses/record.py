"""A limit on the expected cost of a vote, or on its error in a new cluster of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy.typing as npt

from votecert._types import Codes
from votecert.bounds.kinds import Kind, Real, Whole
from votecert.certificate.checks import FLAG, Between
from votecert.certificate.losses import counting
from votecert.certificate.text import amount, confidence, percent, share
from votecert.certificate.triage.leads import answers
from votecert.certificate.units import Units
from votecert.certificate.verification import TOLERANCE, Verification, compared_fits
from votecert.certificate.vote_record import Found, VoteRecord
from votecert.certificate.words import Fact, Verdict, common_assumptions
from votecert.numerics import Arithmetic, Number
from votecert.rows.clusters import GRID
from votecert.rows.read import Rows
from votecert.rows.tables import in_order

MOST_LOSSES = 1_000_000


@dataclass(frozen=True, repr=False)
class LossCertificate(VoteRecord):
    """An upper limit on the mean loss of a vote, with everything needed to check it.

    Attributes
    ----------
    risk : float
        With probability at least ``1 - delta`` the expected loss is at most this part of the largest cost;
        for plain errors, the error itself.
    delta : float
    costs : tuple or None
        Cost of each answer for each true class; None for plain errors.
    clusters : bool
        Whether clusters are the independent units: the error on a random row of a random new cluster.
    largest : int or None
        Declared largest size of a cluster; then rows count alike, however large their clusters.
    single_rows : bool
        Whether clusters were named, but each has one row.
    losses : tuple of (size, loss, count)
        How many rows, or clusters, have which loss, in 2^-40 of the largest cost.
    n_units, n_fitted : int
        Certifying rows or clusters, and those that the vote was fitted on.
    n_rows, errors : int
        Certifying rows, and those that the vote gets wrong.
    and those of a vote
        ``votes, offsets, table, classes, kind, fallback, voters, origin``, as in :attr:`predictor`.
    """

    risk: float
    delta: float
    costs: counting.Costs | None
    clusters: bool
    largest: int | None
    single_rows: bool
    losses: counting.Losses
    n_units: int
    n_fitted: int
    n_rows: int
    errors: int

    kind_of_record = "losses"
    fitted_on_trust = "The vote was fitted on the rows, or clusters, that the seed picks."
    kinds: ClassVar[Mapping[str, Kind]] = {
        **VoteRecord.kinds,
        **dict.fromkeys(("n_units", "n_fitted", "n_rows", "errors"), Whole()),
        **dict.fromkeys(("clusters", "single_rows"), FLAG),
        "risk": Real(0, 1),
        "delta": Between(),
    }

    @property
    def cost(self) -> float:
        """The limit on the expected cost of an answer, in the units of the table; the risk without one."""
        return self.risk * self.scale

    @property
    def scale(self) -> float:
        """The largest cost."""
        return 1.0 if self.costs is None else counting.largest_cost(self.costs)

    @property
    def mean(self) -> float:
        """The mean cost that was counted."""
        parts = counting.total_cost(self.losses) / counting.UNIT
        return parts / sum(size * count for size, _, count in self.losses) * self.scale

    @property
    def counts_errors(self) -> bool:
        """Whether losses are errors of single rows, whose number is binomial."""
        return not self.clusters and (self.costs is None or counting.are_errors(self.costs))

    @property
    def ledger(self) -> dict[str, float]:
        """How delta was spent."""
        return {"mean loss": self.delta}

    @property
    def may_be_silent(self) -> bool:
        """Whether no answer has a cost of its own."""
        return self.costs is not None and len(self.costs[0]) > len(self.classes)

    def predict(self, votes: Any) -> npt.NDArray[Any]:
        """Labels by exactly the certified vote; None for no answer, if that has a cost of its own."""
        if self.may_be_silent:
            return self._said(answers(self.predictor, self.totals(votes))[0])
        return self.predictor.predict(in_order(votes, self.voters))

    def predict_codes(self, codes: Codes) -> npt.NDArray[Any]:
        """The same for votes that are places in ``classes``, or their number for a missing vote."""
        if self.may_be_silent:
            return self._said(answers(self.predictor, self.predictor.count_codes(codes))[0])
        return self.predictor.predict_codes(codes)

    @property
    def claim(self) -> str:
        """What is certified."""
        new = "a new row"
        if self.clusters and self.largest is None:
            new = "a random row of a new cluster"
        elif self.clusters:
            new = "a new row, in clusters like these"
        if self.costs is None:
            return f"errs on {new} with a chance of at most {percent(self.risk)}"
        return f"costs at most {_up(self.cost)} on {new}, of {self.scale:g} that it may cost"

    @property
    def statement(self) -> str:
        """One sentence: what is guaranteed, for which vote."""
        if self.risk >= 1:
            return f"Nothing can be said about {self.who}: {amount(self.n_units, self.unit)} are too few."
        return f"With confidence {confidence(self.delta)}, {self.who} {self.claim}."

    @property
    def unit(self) -> str:
        """What is independent of one another."""
        return "cluster" if self.clusters else "row"

    @property
    def assumptions(self) -> list[str]:
        """What must be true for the statement to hold."""
        units = amount(self.n_units + self.n_fitted, self.unit)
        listed = common_assumptions(self, units, self.n_outputs)
        if self.clusters:
            listed.append(
                "Clusters were drawn as a whole, not through their rows, and the voters saw none of them."
            )
            alike = "Clusters count alike, however many rows they have."
            listed.append(alike if self.largest is None else f"No cluster has more than {self.largest} rows.")
        if self.single_rows:
            listed.append("Every cluster is a single row (inferred from the rows; it is assumed of all).")
        if self.costs is not None:
            listed.append("The costs were fixed without looking at these rows.")
        if self.origin == "fixed":
            listed.append("The weights were fixed without looking at these rows.")
        return listed

    def verify(self, votes: Any = None, y: Any = None, clusters: Any = None) -> Verification:
        """Recompute the limit from the stored losses, and those from the rows if given.

        Parameters
        ----------
        votes, y, clusters : optional
            All rows that were given to :func:`votecert.certify`. A learned vote is fitted again.
        """
        return self._verified(votes, y, lambda rows: self._recount(rows, clusters))

    def limit(self, ar: Arithmetic) -> Number:
        """The limit on the mean loss: Clopper and Pearson's for errors, else that for losses in [0, 1]."""
        level = ar.log(self.delta)  # just as the test-set bound has it
        largest, counts = self.largest, [count for _, _, count in self.losses]
        if self.counts_errors:
            wrong = sum(count for _, loss, count in self.losses if loss)
            return ar.clopper_pearson_upper(wrong, sum(counts), level)
        values = [Fraction(loss, counting.UNIT * (largest or 1)) for _, loss, _ in self.losses]
        sizes = None if largest is None else [Fraction(size, largest) for size, _, _ in self.losses]
        return ar.bounded_mean_upper(values, counts, level, sizes)

    def _recomputed(self, ar: Arithmetic, below: float) -> tuple[float, list[str]]:
        recomputed = float(min(1, self.limit(ar)))
        if recomputed * (1 - below) <= self.risk <= recomputed + TOLERANCE:
            return recomputed, []
        return recomputed, [f"The risk {self.risk!r} is not the recomputed {recomputed!r}."]

    def _on_trust(self) -> list[str]:
        costs = ["The costs were fixed before the rows were seen."] if self.costs is not None else []
        return self._chosen_before() + costs

    def _recount(self, rows: Rows, clusters: Any) -> Found:
        """What was counted on these rows must be what is stored, and fitted what is fitted again."""
        if self.clusters and clusters is None:
            raise ValueError("To count again the clusters are needed, too: verify(votes, y, clusters).")
        units = Units.of(rows, clusters if self.clusters else None)
        if (units.number, units.rows.n_voters) != (self.n_units + self.n_fitted, self.n_voters):
            return ["These are other rows, clusters or voters than it is about."], []
        vote = self.predictor
        found: Found = [], []
        costs = self.costs or counting.error_costs(self.n_classes)
        if self.origin == "learned":
            fitting, units = units.parts(self.split, self.seed)
            again = counting.fitted_vote(fitting.rows, costs, self.fallback, self)
            found = compared_fits(vote, again, self.own_words)
        if counting.counted_losses(vote, units.rows, costs, units.own, self.largest) != self.losses:
            found[0].append("The losses are others on these rows.")
        errors = units.rows.errors(vote.numbers, vote.offsets, vote.fallback)
        if (units.rows.n_rows, errors) != (self.n_rows, self.errors):
            found[0].append("The errors are others on these rows.")
        return found

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        yield from self._contradictions_of_split(self.n_units, self.n_fitted)
        c, costs = len(self.classes), self.costs
        if costs is not None:
            numbers = [cost for row in costs for cost in row]
            if {len(row) for row in costs} not in ({c}, {c + 1}) or len(costs) != c:
                yield "the costs are not one for each true class and answer."
            if any(Real(0).problem(cost, self) for cost in numbers) or max(numbers) <= 0:
                yield "the costs are not numbers, zero or more."
        if self.largest is not None and (Whole(1).problem(self.largest, self) or not self.clusters):
            yield "the largest size is not one of clusters."
        if not 0 < len(self.losses) <= MOST_LOSSES or not all(len(unit) == 3 for unit in self.losses):
            yield "the losses are not a list of sizes, losses and counts."
        if any(Whole().problem(number, self) for unit in self.losses for number in unit):
            yield "the losses are not whole numbers."
        most = self.largest or 1
        if not all(
            0 < size <= most and loss <= size * counting.UNIT and count for size, loss, count in self.losses
        ):
            yield "a loss, or a size, is larger than it can be."
        if self.clusters and any(loss % (counting.UNIT // GRID) for _, loss, _ in self.losses):
            yield "a loss of a cluster is no multiple of 1/1024."
        if sum(count for _, _, count in self.losses) != self.n_units or not self.errors <= self.n_rows:
            yield "there are not as many losses as rows or clusters, or too many errors."
        if self.largest is not None and sum(size * count for size, _, count in self.losses) != self.n_rows:
            yield "the clusters have not as many rows as there are."
        by_rows = not self.clusters or self.largest is not None
        if self.costs is None and by_rows and counting.total_cost(self.losses) != self.errors * counting.UNIT:
            yield "the errors do not go with the losses."
        if self.n_units > self.n_rows or (not self.clusters and self.n_units != self.n_rows):
            yield "the numbers of rows and clusters do not agree."

    def works(self) -> list[str]:
        """Keys of what is to be cited."""
        return ["clopper1934"] if self.counts_errors else ["hoeffding1963", "waudbysmith2024"]

    @property
    def verdict(self) -> Verdict:
        """The first thing that a reader sees."""
        number = percent(self.risk) if self.costs is None else f"{self.cost:.4g}"
        if self.risk >= 1:
            return Verdict("vacuous", "SAYS NOTHING", number, (self.statement, ""))
        level = f"{confidence(self.delta)} confidence"
        return Verdict("guarantee", f"Guarantee at {level}", number, (f"The vote {self.claim}.", ""))

    def _counted(self) -> list[Fact]:
        counted = share(self.mean) if self.costs is None else f"{self.mean:.4g}"
        units = amount(self.n_units, f"held-out {self.unit}" if self.n_fitted else self.unit)
        if self.clusters:
            units += f" of {amount(self.n_rows, 'row')}"
        return [Fact("Counted, in the mean", counted), Fact("On", units)]

    def __repr__(self) -> str:
        limit = f"risk <= {percent(self.risk)}" if self.costs is None else f"cost <= {_up(self.cost)}"
        return f"LossCertificate({limit}, delta={self.delta:g}, {amount(self.n_units, self.unit)})"


def _up(cost: float) -> str:
    """A cost with four digits, rounded up."""
    text = f"{cost:.4g}"
    return text if float(text) >= cost else f"{cost * (1 + 5e-4):.4g}"

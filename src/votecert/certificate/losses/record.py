"""A limit on the expected cost of a vote, or on its error in a new cluster of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from votecert._types import Codes
from votecert.certificate.losses.counting import (
    UNIT,
    Costs,
    Losses,
    are_errors,
    largest_cost,
    mean_loss,
    total_cost,
)
from votecert.certificate.text import amount, confidence, percent
from votecert.certificate.triage.leads import answers
from votecert.certificate.vote_record import (
    VoteRecord,
    common_assumptions,
    is_count,
    is_finite,
    problems_with_split,
    problems_with_vote,
)
from votecert.references import bibtex
from votecert.rows.clusters import GRID
from votecert.rows.labels import encode_votes
from votecert.rows.scores import soft_totals
from votecert.rows.tables import in_order
from votecert.rows.vote_sums import total_votes

if TYPE_CHECKING:
    from votecert.certificate.verify import Verification

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
    costs: Costs | None
    clusters: bool
    largest: int | None
    single_rows: bool
    losses: Losses
    n_units: int
    n_fitted: int
    n_rows: int
    errors: int

    kind_of_record: ClassVar[str] = "losses"
    is_guarantee: ClassVar[bool] = True

    @property
    def cost(self) -> float:
        """The limit on the expected cost of an answer, in the units of the table; the risk without one."""
        return self.risk * self.scale

    @property
    def scale(self) -> float:
        """The largest cost."""
        return 1.0 if self.costs is None else largest_cost(self.costs)

    @property
    def mean(self) -> float:
        """The mean cost that was counted."""
        return mean_loss(self.losses) * self.scale

    @property
    def counts_errors(self) -> bool:
        """Whether losses are errors of single rows, whose number is binomial."""
        return not self.clusters and (self.costs is None or are_errors(self.costs))

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
        votes, vote = in_order(votes, self.voters), self.predictor
        if not self.may_be_silent:
            return vote.predict(votes)
        if vote.kind == "soft":
            return self._said(soft_totals(np.asarray(votes), vote.numbers, vote.offsets))
        return self.predict_codes(encode_votes(votes, vote.labels))

    def predict_codes(self, codes: Codes) -> npt.NDArray[Any]:
        """The same for votes that are places in ``classes``, or their number for a missing vote."""
        vote = self.predictor
        if not self.may_be_silent:
            return vote.predict_codes(codes)
        return self._said(total_votes(codes, len(vote.classes), vote.numbers, vote.offsets))

    def _said(self, totals: Any) -> npt.NDArray[np.object_]:
        labels = np.array([*self.predictor.labels.tolist(), None], dtype=object)
        return labels[answers(self.predictor, totals)[0]]  # -1 is the last: none

    @property
    def claim(self) -> str:
        """What is certified."""
        new = "a new row"
        if self.clusters:
            new = (
                "a random row of a new cluster"
                if self.largest is None
                else "a new row, in clusters like these"
            )
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
        listed = common_assumptions(self, units)
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
        from votecert.certificate.losses.verify import verify

        return verify(self, votes, y, clusters)

    def problem_with_fields(self) -> str | None:
        """The first field that cannot be what it is, as a sentence, or None."""
        return next(self._problems(), None)

    def _problems(self) -> Any:
        for name in ("risk", "delta"):
            if not is_finite(getattr(self, name)) or not 0 < getattr(self, name) <= 1:
                yield f"{name} is not between 0 and 1."
        if not all(is_count(getattr(self, name)) for name in ("n_units", "n_fitted", "n_rows", "errors")):
            yield "a number of rows is not a whole number."
        if not all(getattr(self, name) in (True, False) for name in ("clusters", "single_rows")):
            yield "what was counted is not said."
        yield from problems_with_vote(self)
        yield from problems_with_split(self, self.n_units, self.n_fitted)
        c, costs = len(self.classes), self.costs
        if costs is not None:
            numbers = [cost for row in costs for cost in row]
            if {len(row) for row in costs} not in ({c}, {c + 1}) or len(costs) != c:
                yield "the costs are not one for each true class and answer."
            if not all(is_finite(cost) and cost >= 0 for cost in numbers) or max(numbers) <= 0:
                yield "the costs are not numbers, zero or more."
        if self.largest is not None and (not is_count(self.largest) or not self.largest or not self.clusters):
            yield "the largest size is not one of clusters."
        if not 0 < len(self.losses) <= MOST_LOSSES or not all(len(unit) == 3 for unit in self.losses):
            yield "the losses are not a list of sizes, losses and counts."
        if not all(is_count(number) for unit in self.losses for number in unit):
            yield "the losses are not whole numbers."
        most = self.largest or 1
        if not all(0 < size <= most and loss <= size * UNIT and count for size, loss, count in self.losses):
            yield "a loss, or a size, is larger than it can be."
        if self.clusters and any(loss % (UNIT // GRID) for _, loss, _ in self.losses):
            yield "a loss of a cluster is no multiple of 1/1024."
        if sum(count for _, _, count in self.losses) != self.n_units or not self.errors <= self.n_rows:
            yield "there are not as many losses as rows or clusters, or too many errors."
        if self.largest is not None and sum(size * count for size, _, count in self.losses) != self.n_rows:
            yield "the clusters have not as many rows as there are."
        by_rows = not self.clusters or self.largest is not None
        if self.costs is None and by_rows and total_cost(self.losses) != self.errors * UNIT:
            yield "the errors do not go with the losses."
        if self.n_units > self.n_rows or (not self.clusters and self.n_units != self.n_rows):
            yield "the numbers of rows and clusters do not agree."

    def cite(self) -> str:
        """BibTeX of the works behind this result."""
        works = ["clopper1934"] if self.counts_errors else ["hoeffding1963", "waudbysmith2024"]
        return bibtex([*works, "votecert"])

    def to_html(self, path: Any = None, *, title: str | None = None) -> str:
        """A self-contained HTML report; needs the extra ``votecert[cli]``."""
        from votecert.report.losses import to_html

        return to_html(self, path, title=title)

    def to_markdown(self) -> str:
        """A section for a model card."""
        from votecert.report.losses import to_markdown

        return to_markdown(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from votecert.report.losses import losses_html

        return losses_html(self)

    def __repr__(self) -> str:
        limit = f"risk <= {percent(self.risk)}" if self.costs is None else f"cost <= {_up(self.cost)}"
        return f"LossCertificate({limit}, delta={self.delta:g}, {amount(self.n_units, self.unit)})"


def _up(cost: float) -> str:
    """A cost with four digits, rounded up."""
    text = f"{cost:.4g}"
    return text if float(text) >= cost else f"{cost * (1 + 5e-4):.4g}"

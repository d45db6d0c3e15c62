"""The ``occam`` bound: votes with whole numbers of votes, their exact binomial tails, and a prior over them.

Symbols: n_i votes of voter i, b_k votes of the constant voter of class k, k errors among m rows, pi the
prior.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from votecert.bounds.base import Bound, Choice, Evaluation, Floats, Origin, Statistics, Terms, Value
from votecert.bounds.kinds import Kind, OneOf, Real, Rising, Votes, VoteTable, Whole, Words, is_number
from votecert.bounds.occam_prior import OccamPrior, log_of_reciprocal
from votecert.bounds.roundings import roundings
from votecert.numerics.arithmetic import OUTWARD, Arithmetic
from votecert.rows.ballots import Ballots
from votecert.rows.predictor import influence
from votecert.rows.scores import Scores
from votecert.rows.split import SPLIT, STREAM, STREAM_OF_0_1, default_looks, in_fitting_part

Rows = Ballots | Scores

MEMBERS = {
    "fitted": Fraction(1),
    "best single": Fraction(2, 8),
    "log-odds": Fraction(1, 8),
    "stacking L1 0.005": Fraction(1, 8),
    "stacking L1 0.0015": Fraction(1, 8),
    "stacking L1 0.00015": Fraction(1, 8),
    "stacking L2 0.1": Fraction(1, 8),
    "stacking L2 0.01": Fraction(1, 8),
}
"""The fitted vote, which has all of its mass; and the list of version 0.1, whose members shared it."""

MOST_DRAWN_ROWS = 10**8
"""So many rows are split again, in half a second, to check their number."""


@dataclass(frozen=True)
class FittedMass:
    """Part of delta for the fitted vote, by the rows that it is fitted on.

    What is fitted on other rows is certified on all rows, and had the plain vote among its kinds: it is
    hardly ever worse, unless nobody knew the labels.

    Parameters
    ----------
    split : float
        For a part of the certifying rows.
    other, unlabelled : float
        For other rows, with labels or without.
    """

    split: float = 0.55
    other: float = 0.95
    unlabelled: float = 0.75


@dataclass(frozen=True)
class Occam(Bound):
    """Whole-number votes with exact binomial tails.

    Parameters
    ----------
    prior : OccamPrior
        Prior over all whole-number votes. It treats all voters alike: a prior over the voters, which other
        bounds take, is not used.
    list_mass : FittedMass or float
        Part of delta for the fitted vote, when there is one; a number is for all rows that it may be fitted
        on.

    Notes
    -----
    With probability 1 - delta, for all whole-number votes (n, b) at once,
    ``L(n, b) <= CP(k, m, delta * pi(n, b))``, where ``CP(k, m, e)`` is the largest p with
    ``P(Bin(m, p) <= k) >= e`` and k counts the errors of this very predictor on the m rows, ties broken by
    the order of the classes.

    *Proof.* Each (n, b) is one classifier, fixed before the rows. ``L > CP(k, m, e)`` happens with
    probability at most e (Clopper and Pearson); the sum of ``delta * pi(n, b)`` over all of them is at most
    delta. QED (Blumer et al. 1987; Langford 2005.) No margin and no posterior is needed, any number of
    classes is allowed, and zero weights cost nothing.

    *The fitted vote.* A vote fitted on *other* rows is a single hypothesis, however many numbers it has and
    however it was chosen there. Where one is declared, the fitted vote h has a part q (``list_mass``) of
    delta, ``L(h) <= CP(k, rows, q delta)`` for its k errors, and the whole-number votes share the rest.
    It is fitted either on rows given for that purpose, and then certified on all m rows, or on a part A of
    the certifying rows, and certified on the rest B: row i belongs to A when the i-th number of a stream of
    random numbers is below ``split``, see :mod:`votecert.rows.split`, which does not look at the data.

    *Proof.* Given A, h is fixed and the rows of B are still independent draws, so Clopper and Pearson's
    statement holds for h with probability at least ``1 - q delta``, whatever A is; hence over A, too.
    By the union bound it holds together with that about whole-number votes. QED Which kind of vote h is, with
    which penalties, is decided on A alone and costs nothing; only the share for the whole-number votes must
    not depend on A. (Version 0.1 had a list of seven such votes, certified in the same way, with shares.)

    *Looks.* A may be the first of nested parts ``A_1 < A_2 < ...`` (a row is in the t-th when its number is
    below ``looks[t]``) that is enough, judged by itself alone. *Proof.* Whether A_t is the one is decided by
    A_t, and given A_t the rows outside are independent draws, so the chance that A_t is the one and
    ``L(h(A_t))`` is above its limit is at most ``q delta P(A_t is the one)``. Sum over t. QED

    *Tables.* h may give class k ``W[i, s, k]`` votes when voter i says s. Numbers are whole and counted as
    they are stored, so h is exactly the vote that :meth:`Certificate.predict` uses.

    What was declared, and which of the statements is used, is in ``terms.choice``: ``votes``, ``offsets``,
    ``table``, ``kind``, ``statement`` ("whole" or "list"), ``list`` ("none", "split" or "other"), ``member``,
    ``split``, ``looks``, ``seed``, ``fallback``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1000)
    >>> votes = np.where(rng.random((1000, 3)) < 0.9, y[:, None], 1 - y[:, None])
    >>> found = Occam().evaluate(Ballots.from_votes(votes, y), np.array([0.35, 0.33, 0.32]), delta=0.05)
    >>> found.terms.choice["votes"], round(found.risk, 3)
    ([1, 1, 1], 0.033)
    """

    prior: OccamPrior = field(default_factory=OccamPrior)
    list_mass: FittedMass | float = FittedMass()

    id: ClassVar[str] = "occam"
    title: ClassVar[str] = "Whole-number votes (Occam's razor)"
    references: ClassVar[tuple[str, ...]] = ("votecert", "blumer1987", "langford2005", "clopper1934")
    counts_errors: ClassVar[bool] = True
    default_for: ClassVar[tuple[Origin, ...]] = ("learned",)
    in_best: ClassVar[bool] = True
    rounds_weights: ClassVar[bool] = True
    has_list: ClassVar[bool] = True
    choices: ClassVar[Mapping[str, Kind]] = {
        "votes": Votes("n_voters"),
        "offsets": Votes("n_classes"),
        "table": VoteTable(),
        "statement": OneOf("whole", "list"),
        "member": OneOf(None, *MEMBERS),
        "kind": Words(),
        "list": OneOf("none", "split", "other"),
        "unlabelled": OneOf(True, required=False),
        "split": Real(0, 1),
        "looks": Rising(required=False),
        "seed": Whole(),
    }
    statistics: ClassVar[Mapping[str, Kind]] = {
        "errors": Whole(0, "n_rows"),
        "rows": Whole(1, "n_rows"),
        "ties": Whole(0, "n_rows"),
    }

    def __post_init__(self) -> None:
        if isinstance(self.prior, Mapping):  # the options as plain values
            object.__setattr__(self, "prior", OccamPrior(**self.prior))
        if isinstance(self.list_mass, Mapping):
            object.__setattr__(self, "list_mass", FittedMass(**self.list_mass))
        masses = vars(self.list_mass).values() if isinstance(self.list_mass, FittedMass) else [self.list_mass]
        if not isinstance(self.prior, OccamPrior) or not all(map(is_number, masses)):
            raise TypeError("prior must be an OccamPrior and list_mass a number, or a FittedMass of numbers.")
        if not all(0 <= mass < 1 for mass in masses):
            raise ValueError(f"list_mass must be at least 0 and below 1, not {self.list_mass!r}.")

    def share(self, choice: Choice) -> Fraction:
        """Part of delta that the statement used may spend on this vote."""
        if choice["statement"] == "list":
            return self.fitted_mass(choice) * MEMBERS[choice["member"]]
        return self.whole_mass(choice) * self.prior.probability(choice["votes"], choice["offsets"])

    def fitted_mass(self, declared: Mapping[str, Any]) -> Fraction:
        """Part of delta for the fitted vote."""
        mass = self.list_mass
        if declared["list"] == "none":
            return Fraction(0)
        if not isinstance(mass, FittedMass):
            return Fraction(mass)
        if declared["list"] == "split":
            return Fraction(mass.split)
        return Fraction(mass.unlabelled if declared.get("unlabelled") else mass.other)

    def whole_mass(self, declared: Mapping[str, Any]) -> Fraction:
        """Part of delta that all whole-number votes share."""
        return 1 - self.fitted_mass(declared)

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        """Round the weights to whole numbers in several ways and take the best."""
        best: tuple[float, Choice] | None = None
        for votes in roundings(weights):
            choice = whole_choice(votes, np.zeros(ballots.n_classes, dtype=np.int64))
            cost = log_of_reciprocal(OUTWARD, Fraction(delta) * self.share(choice))
            errors = ballots.errors(votes)
            risk = float(OUTWARD.clopper_pearson_upper(errors, ballots.n_rows, -cost))
            if best is None or risk < best[0]:
                best = risk, choice
        assert best is not None
        return best[1]

    def evaluate(
        self, ballots: Ballots, weights: Floats, delta: float, *, prior: Floats | None = None
    ) -> Evaluation:
        """Certify the given weights, rounded to whole numbers: the returned terms have the rounded ones."""
        choice = self.search(ballots, weights, delta, prior)
        votes = np.array(choice["votes"], dtype=np.float64)
        return self.at(ballots, votes / votes.sum(), delta, choice)

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        rows = certifying_rows(ballots, choice)
        votes, offsets = counted_votes(choice), choice["offsets"]
        return {
            "errors": rows.errors(votes, offsets, choice.get("fallback")),
            "rows": rows.n_rows,
            "ties": rows.ties(votes, offsets),
        }

    def check_choice(self, terms: Terms) -> None:
        choice, statistics = terms.choice, terms.statistics
        is_member, is_split = choice["statement"] == "list", choice["list"] == "split"
        if is_member != (choice["member"] is not None) or (is_member and choice["list"] == "none"):
            raise ValueError("A fitted vote is used if and only if one was declared.")
        if not is_split and (choice["split"], choice["seed"]) != (0, 0):
            raise ValueError("Rows were split off, but not to fit a vote.")
        if "looks" in choice and not (is_split and choice["split"] in choice["looks"]):
            raise ValueError("The fit stopped at none of its looks.")
        rows = _n_certifying(terms) if is_member and is_split else terms.n_rows
        if statistics["rows"] != rows:
            raise ValueError(f"Errors were counted on {statistics['rows']} rows, not on {rows}.")
        if max(statistics["errors"], statistics["ties"]) > rows:
            raise ValueError(f"There are more errors or ties than the {rows} rows.")
        if (table := choice.get("table")) is not None:
            if not is_member:
                raise ValueError("A vote with a table is none of the whole-number votes.")
            if influence(table).tolist() != list(choice["votes"]):
                raise ValueError("The votes are not the influence of the voters in the table.")
        total = sum(choice["votes"])
        if not total or terms.weights != tuple(votes / total for votes in choice["votes"]):
            raise ValueError("The weights are not those of the certified vote.")

    def on_trust(self, terms: Terms) -> list[str]:
        choice, listed = terms.choice, super().on_trust(terms)
        if choice["statement"] == "list" and choice["list"] == "other":
            other = "other rows without labels" if choice.get("unlabelled") else "other rows"
            listed.append(f"The vote was fitted on {other}, which nobody can tell from these.")
        if choice["list"] == "none":
            listed.append("No fitted vote was declared when the rows were seen.")
        if choice["list"] == "split" and choice["member"] == "fitted" and not _is_usual_split(terms):
            listed.append("How many rows a vote is fitted on was decided once, whatever came of it.")
        if choice["seed"]:
            listed.append(f"The seed {choice['seed']} was chosen once, whatever came of it.")
        return listed

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        share = self.share(terms.choice)
        errors, rows = terms.statistics["errors"], terms.statistics["rows"]
        if share == 0:
            return Value(ar.number(1))
        cost = log_of_reciprocal(ar, Fraction(terms.delta) * share)
        risk = ar.clopper_pearson_upper(errors, rows, -cost)
        return Value(risk, {"errors": errors, "rows": rows, "log_share": -log_of_reciprocal(ar, share)})

    def ledger(self, terms: Terms) -> dict[str, float]:
        if terms.choice["list"] == "none":
            return {"whole-number votes": terms.delta}
        fitted = float(self.fitted_mass(terms.choice)) * terms.delta
        return {"whole-number votes": terms.delta - fitted, "fitted list": fitted}  # of one vote

    def why_vacuous(self, terms: Terms, details: Mapping[str, float]) -> str:
        if terms.statistics["errors"] >= terms.statistics["rows"]:
            return "The vote gets every certifying row wrong."
        return super().why_vacuous(terms, details)


def whole_choice(
    votes: npt.NDArray[np.int64],
    offsets: npt.NDArray[np.int64],
    *,
    declared: Mapping[str, Any] | None = None,
    fallback: int | None = None,
) -> Choice:
    """The choice of a whole-number vote."""
    return {
        "votes": [int(v) for v in votes],
        "offsets": [int(v) for v in offsets],
        "statement": "whole",
        "member": None,
        "fallback": fallback,
        **(NO_LIST if declared is None else declared),
    }


def counted_votes(choice: Choice) -> npt.NDArray[np.int64]:
    """The numbers that votes are counted with: one a voter, or a table of what each answer is worth."""
    table = choice.get("table")
    return np.array(choice["votes"] if table is None else table, dtype=np.int64)


NO_LIST: dict[str, Any] = {"list": "none", "split": 0.0, "seed": 0}
"""The declaration of no list."""


def certifying_rows(rows: Rows, choice: Choice) -> Rows:
    """The rows that the chosen statement speaks about: all, unless a list was fitted on some of them."""
    if choice["statement"] != "list" or choice["list"] != "split":
        return rows
    part = rows.part(choice["split"], choice["seed"], fitting=False, stream=_stream(choice))
    if part is None:
        raise ValueError("The vote was fitted on some of the rows, but there are too few of these to split.")
    return part


def _n_certifying(terms: Terms) -> int:
    """How many rows the seed leaves to certify a list; what is stored, if there are too many to draw."""
    if terms.n_rows > MOST_DRAWN_ROWS:
        return int(terms.statistics["rows"])
    choice = terms.choice
    fitting = in_fitting_part(terms.n_rows, choice["split"], choice["seed"], stream=_stream(choice))
    return terms.n_rows - int(fitting.sum())


def _is_usual_split(terms: Terms) -> bool:
    """Whether as many rows are fitted on as by default."""
    usual = [default_looks(terms.n_rows, terms.n_voters, c) for c in (None, terms.n_classes)]
    return tuple(terms.choice.get("looks", [terms.choice["split"]])) in [(SPLIT,), *usual]


def _stream(choice: Choice) -> tuple[int, ...]:
    """The random numbers that split the rows: the lists of version 0.1 had others."""
    return STREAM if choice["member"] == "fitted" else STREAM_OF_0_1

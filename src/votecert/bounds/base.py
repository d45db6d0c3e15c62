"""What every bound is: a value with options that searches, measures, and writes its formula once.

The work of a bound falls into three steps, and only the last one carries the guarantee:

``search``
    picks whatever the theorem leaves free (the concentration K, a margin of a declared grid, ...).
    It may be as clever or as sloppy as it likes.
``measure``
    counts, on the rows, the few numbers that the theorem speaks about at that choice.
``formula``
    turns those numbers into the bound. It is written once against
    :class:`~votecert.numerics.arithmetic.Arithmetic`, so the same lines give the outward-rounded
    certificate in float64 and its verification in forty digits.

Symbols: m rows, d voters, c classes, theta the weights, delta the confidence parameter.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from votecert._types import FloatArray
from votecert._types import Indices as Indices
from votecert._types import Origin as Origin
from votecert.bounds.kinds import Index, Kind, first_problem, problem_with_sizes, problem_with_weights
from votecert.numerics.arithmetic import OUTWARD, PLAIN, Arithmetic
from votecert.rows.ballots import Ballots

Floats = FloatArray
Choice = dict[str, Any]
Statistics = dict[str, Any]  # whole numbers and floats: each bound declares which is which

MARGIN_SLACK = 1e-12
"""Margins that are equal on paper differ by rounding; within this slack they count as errors."""

ROUNDING = 1e-13
"""Covers the few additions and products of a formula; the special functions carry their own slack."""


def dirichlet_prior(prior: ArrayLike | None, n_voters: int) -> Floats:
    """The parameters beta of the Dirichlet prior: all ones (flat on the simplex) unless given."""
    return np.ones(n_voters) if prior is None else np.asarray(prior, dtype=np.float64)


def categorical_prior(prior: ArrayLike | None, n_voters: int) -> Floats:
    """The categorical prior pi over the voters: uniform unless given."""
    beta = dirichlet_prior(prior, n_voters)
    return np.asarray(beta / beta.sum())


@dataclass(frozen=True)
class Terms:
    """All that a bound's formula needs: enough to recompute the certificate without the rows.

    Attributes
    ----------
    n_rows, n_voters, n_classes, n_outputs : int
        m, d, c, and the number of different outputs a voter can give (c + 1 with abstentions).
    delta : float
        Share of the confidence parameter that this bound may spend.
    weights : tuple of float
        The weights theta, summing to one.
    prior : tuple of float or None
        Positive numbers, one a voter, fixed without looking at the rows; None means all ones.
        A Dirichlet posterior takes them as its prior's parameters, a categorical one normalises them.
    choice : dict
        What the search picked, and under ``fallback`` the place of the class that a row gets on which nobody
        votes, if one was fixed.
    statistics : dict
        What was counted on the rows at that choice.
    """

    n_rows: int
    n_voters: int
    n_classes: int
    n_outputs: int
    delta: float
    weights: tuple[float, ...]
    prior: tuple[float, ...] | None = None
    choice: Choice = field(default_factory=dict)
    statistics: Statistics = field(default_factory=dict)

    @classmethod
    def of(cls, ballots: Ballots, weights: Floats, prior: Floats | None, **others: Any) -> Self:
        """The terms of a bound on these rows."""
        return cls(
            **{name: getattr(ballots, name) for name in ("n_rows", "n_voters", "n_classes", "n_outputs")},
            weights=tuple(float(w) for w in weights),
            prior=None if prior is None else tuple(float(p) for p in prior),
            **others,
        )

    @property
    def categorical_prior(self) -> tuple[float, ...]:
        """The prior over voters as probabilities."""
        return tuple(categorical_prior(self.prior, self.n_voters).tolist())

    @property
    def dirichlet_prior(self) -> tuple[float, ...]:
        """The prior over voters as parameters of a Dirichlet distribution."""
        return tuple(dirichlet_prior(self.prior, self.n_voters).tolist())


@dataclass(frozen=True)
class Value:
    """A bound's value in some arithmetic: the (unclipped) risk and the numbers it was made of."""

    risk: Any
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Objective:
    """A smooth bound at a fixed choice: its unclipped value and gradient.

    ``d_weights`` is a gradient along the simplex: only its differences between voters matter.
    ``d_log_concentration`` is zero for bounds without a concentration K, ``d_margin`` None for those that are
    no smooth functions of a margin.
    """

    value: float
    d_weights: Floats
    d_log_concentration: float = 0.0
    d_margin: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """A bound evaluated at given weights.

    Attributes
    ----------
    risk : float
        The bound, rounded up, in [0, 1].
    terms : Terms
        Everything the number was computed from.
    details : dict
        Intermediate numbers worth reading: KL, complexity, de-randomisation terms.
    ledger : dict
        How delta was spent; the shares sum to at most ``terms.delta``.
    reason : str or None
        Why the bound is vacuous, when it is.
    """

    risk: float
    terms: Terms
    details: dict[str, float]
    ledger: dict[str, float]
    reason: str | None = None


class UnsupportedProblemError(ValueError):
    """The bound's theorem does not cover this kind of problem."""


@dataclass(frozen=True)
class Bound(ABC):
    """A bound on the true error of a weighted majority vote. Options are fields; bounds are values.

    Attributes
    ----------
    id, title, references
        Its name in certificates and tables, what people call it, and keys of the works behind it.
    is_guarantee, caveat, multiclass
        Whether it is proved, what to know before trusting it, whether it is for more than two outputs.
    origins, default_for, in_best
        Weights that it covers, those for which it is taken when no bound is named, and whether
        ``bound="best"`` tries it.
    differentiable, posterior
        Whether :meth:`objective` can be learned from, and the sampled vote's distribution, which has a prior.
    counts_errors, rounds_weights, has_list
        Whether it counts the errors of one vote, so that it covers soft votes and fallbacks; whether that has
        rounded weights; and whether a list of votes fitted elsewhere may take part.
    choices, statistics
        Kinds of what :meth:`search` picks and :meth:`measure` counts.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    references: ClassVar[tuple[str, ...]]
    is_guarantee: ClassVar[bool] = True
    multiclass: ClassVar[bool] = True
    differentiable: ClassVar[bool] = False
    posterior: ClassVar[str | None] = None
    counts_errors: ClassVar[bool] = False
    rounds_weights: ClassVar[bool] = False
    caveat: ClassVar[str | None] = None
    origins: ClassVar[tuple[Origin, ...]] = ("learned", "given", "fixed")
    default_for: ClassVar[tuple[Origin, ...]] = ()
    in_best: ClassVar[bool] = False
    has_list: ClassVar[bool] = False
    choices: ClassVar[Mapping[str, Kind]] = MappingProxyType({})
    statistics: ClassVar[Mapping[str, Kind]]

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        """Pick what the theorem leaves free. Nothing, unless the bound says otherwise."""
        return {}

    @abstractmethod
    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        """Count the numbers the formula needs on the rows, rounded outward."""

    def check(self, terms: Terms) -> None:
        """Raise a ValueError unless the terms are such that this bound could have been computed from them.

        What :meth:`search` and :meth:`measure` return always passes; a certificate may come from anybody.
        """
        problem = (
            problem_with_sizes(terms)
            or problem_with_weights(terms)
            or first_problem("choice", terms.choice, {"fallback": Index(), **self.choices}, terms)
            or first_problem("statistic", terms.statistics, self.statistics, terms)
        )
        if not problem and terms.n_outputs > 2 and not self.multiclass:
            problem = f"The bound {self.id!r} is for two classes without abstentions only."
        if problem:
            raise ValueError(problem)
        self.check_choice(terms)

    def check_choice(self, terms: Terms) -> None:  # noqa: B027 - most bounds have no more to check
        """Raise a ValueError unless the theorem covers the choice, whose values were checked one by one."""

    @property
    def learnable(self) -> bool:
        """Whether weights can be learned by making this bound small: by descent, or with a fitted list."""
        return self.differentiable or self.has_list

    def covers(self, origin: Origin) -> bool:
        """Whether the bound is proved for weights of this origin."""
        return self.is_guarantee and origin in self.origins

    def caveat_for(self, origin: Origin) -> str | None:
        """What to know before trusting the bound for weights of this origin."""
        return self.caveat

    def on_trust(self, terms: Terms) -> list[str]:
        """What a reader of the terms has to take on the maker's word, besides the assumptions."""
        usual = type(self)().options()
        unusual = [name for name, value in self.options().items() if value != usual[name]]
        names = ", ".join(unusual)
        listed = [f"The options {names} were fixed before the rows were seen."] if unusual else []
        if terms.prior is not None:
            listed.append("The prior over the voters was fixed before the rows were seen.")
        return listed

    def assumptions(self) -> list[str]:
        """What must be true for the bound with these options, besides what every bound assumes."""
        return []

    @abstractmethod
    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        """The bound itself, in the given arithmetic."""

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        """Smooth value and gradient at a fixed choice, for learning weights."""
        raise TypeError(f"The bound {self.id!r} is not differentiable; learn with another objective.")

    def ledger(self, terms: Terms) -> dict[str, float]:
        """How delta is spent. A bound without paid searches spends it in one piece."""
        return {self.id: terms.delta}

    def problem_with(self, ballots: Ballots) -> str | None:
        """Say why the theorem does not cover these ballots, or None when it does."""
        if self.multiclass or not (ballots.n_classes > 2 or ballots.can_abstain):
            return None
        problem = f"is proved for two classes only and these votes have {ballots.n_classes}. Use"
        if ballots.n_classes <= 2:
            problem = "does not cover abstentions (a missing vote acts as a third class). "
            problem += "Fill in the missing votes, or use"
        return f"The bound {self.id!r} {problem} 'occam', 'dirichlet' or another multi-class bound."

    def out_of_bag_variant(self) -> Bound | None:
        """The same bound with errors counted out of bag; None where it does not hold there."""
        return None

    def in_paper_search(self) -> Self:
        """The same bound with the search of the paper's experiments; itself where it has none."""
        return self

    def cited(self) -> tuple[str, ...]:
        """Keys of the works behind the bound with these options."""
        return self.references

    def options(self) -> dict[str, Any]:
        """The bound's options as plain values: ``type(bound)(**options)`` is the bound again."""
        return asdict(self)

    def evaluate(
        self, ballots: Ballots, weights: Floats, delta: float, *, prior: Floats | None = None
    ) -> Evaluation:
        """Bound the risk of the vote with these weights.

        Parameters
        ----------
        ballots : Ballots
            The certifying rows.
        weights, prior : arrays of shape (d,)
            As in :class:`Terms`.
        delta : float
            The bound holds with probability at least 1 - delta.
        """
        if problem := self.problem_with(ballots):
            raise UnsupportedProblemError(problem)
        choice = self.search(ballots, weights, delta, prior)
        return self.at(ballots, weights, delta, choice, prior=prior)

    def at(
        self, ballots: Ballots, weights: Floats, delta: float, choice: Choice, *, prior: Floats | None = None
    ) -> Evaluation:
        """The bound at an already made choice."""
        statistics = self.measure(ballots, weights, choice)
        terms = Terms.of(ballots, weights, prior, delta=delta, choice=choice, statistics=statistics)
        return self.from_terms(terms)

    def scan(
        self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None, **terms: dict[str, Any]
    ) -> Floats:
        """The formula at many choices with their statistics at once, not rounded: for searching."""
        return np.asarray(self.formula(PLAIN, Terms.of(ballots, weights, prior, delta=delta, **terms)).risk)

    def from_terms(self, terms: Terms) -> Evaluation:
        """Evaluate the formula outward on given terms, clip it to [0, 1] and say why if it is vacuous."""
        self.check(terms)
        value = self.formula(OUTWARD, terms)
        raw = float(value.risk)
        if math.isnan(raw):
            raise ArithmeticError(f"The bound {self.id!r} is not a number; please report this: {terms!r}")
        details = {name: float(number) for name, number in value.details.items()}
        risk = min(1.0, max(0.0, raw * (1 + ROUNDING)))
        reason = self.why_vacuous(terms, details) if risk >= 1.0 else None
        return Evaluation(risk, terms, details, self.ledger(terms), reason)

    def why_vacuous(self, terms: Terms, details: Mapping[str, float]) -> str:
        """One sentence on why the bound says nothing here."""
        if math.isinf(details.get("kl", 0.0)):
            return "Some weights are zero, which makes the divergence from the prior infinite."
        return (
            f"With {terms.n_rows} rows and {terms.n_voters} voters this bound is not below 1: "
            "more rows, better voters or weights closer to the prior would help."
        )

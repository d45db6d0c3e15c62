"""Margin bounds for two classes whose complexity comes from categorical draws.

Symbols: g the margin, Lhat_g the share of rows with margin M <= g, T the number of voters drawn,
KLcat the divergence of the weights from the prior, xi(m) Maurer's constant.

``bg``, ``bg+`` and ``bg++`` hold for one margin fixed in advance. Each searches a grid of margins that
is fixed too, and every margin of the grid gets an equal share of delta. ``gz`` holds for all
margins at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from votecert.bounds.base import MARGIN_SLACK, Bound, Choice, Floats, Statistics, Terms, Value
from votecert.bounds.kinds import Real, RowShare, Whole
from votecert.bounds.pac_bayes import grid_ledger, seeger_constant
from votecert.numerics.arithmetic import Arithmetic
from votecert.rows.ballots import Ballots

MARGINS = tuple(0.4 * 1.6**-j for j in range(14))
"""Few margins suffice because the bounds change slowly in them: a ratio of 1.6 costs a few percent."""

PAPER_MARGINS = tuple(np.logspace(-4, np.log10(0.5), 1000, endpoint=False).tolist())
"""The thousand margins of the paper's experiments, log-spaced in [1e-4, 0.5)."""

MOST_DRAWS = 10**12
"""Voters that ``bg++`` may draw; the smallest margins and the most rows ask for fewer."""


def margin_errors(ballots: Ballots, weights: Floats, margins: Floats) -> Floats:
    """Share of rows with margin at most g, for every g of ``margins``."""
    order = np.argsort(margins)  # placing the rows among the margins is faster than sorting the rows
    place = np.searchsorted((margins + MARGIN_SLACK)[order], ballots.margins(weights), side="left")
    rows = np.bincount(place, ballots.counts, minlength=len(margins) + 1)  # exact below 2^53
    errors = np.empty(len(margins))
    errors[order] = np.cumsum(rows[:-1]) / ballots.n_rows
    return errors


@dataclass(frozen=True)
class OverMargins(Bound):
    """A bound for one fixed margin, with an equal share of delta for every margin of a grid.

    Parameters
    ----------
    margins : tuple of float
        The grid, in (0, 1/2), fixed without looking at the rows.
    """

    margins: tuple[float, ...] = MARGINS

    def __post_init__(self) -> None:
        object.__setattr__(self, "margins", tuple(float(margin) for margin in self.margins))
        if not self.margins or not all(0 < margin < 0.5 for margin in self.margins):
            raise ValueError("margins must be one or more numbers in (0, 1/2).")

    def check_choice(self, terms: Terms) -> None:
        super().check_choice(terms)
        if terms.choice["margin"] not in self.margins:
            raise ValueError(f"The margin {terms.choice['margin']!r} is not in the grid.")

    def share(self, delta: Any) -> Any:
        """What one margin of the grid may spend."""
        return delta / len(self.margins)

    def ledger(self, terms: Terms) -> dict[str, float]:
        chosen = f"margin {terms.choice['margin']:.4g}"
        return grid_ledger(chosen, terms.delta, len(self.margins), "margins of the grid")

    def in_paper_search(self) -> Self:
        return replace(self, margins=PAPER_MARGINS)


@dataclass(frozen=True)
class CountsMarginErrors(Bound):
    """A margin bound for two classes that depends on the rows through the share of margin errors only."""

    multiclass = False
    choices = {"margin": Real(0, 0.5)}
    statistics = {"margin_error": RowShare()}

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        error = margin_errors(ballots, weights, np.array([choice["margin"]]))
        return {"margin_error": float(error[0])}


@dataclass(frozen=True)
class CategoricalMargin(CountsMarginErrors, OverMargins):
    """Such a bound with a grid of margins, whose complexity comes from categorical draws."""

    posterior = "categorical"

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        others = self.other_choices(ballots.n_rows)
        margins = np.array(self.margins)
        errors = {"margin_error": margin_errors(ballots, weights, margins)}
        choices = {"margin": margins, **others}
        scanned = self.scan(ballots, weights, delta, prior, choice=choices, statistics=errors)
        values = np.atleast_2d(scanned).T
        margin, row = np.unravel_index(np.argmin(values), values.shape)
        return {"margin": self.margins[margin]} | {name: int(tried[row, 0]) for name, tried in others.items()}

    def other_choices(self, m: int) -> dict[str, Floats]:
        """What else is tried with every margin, each as a column of whole numbers."""
        return {}


@dataclass(frozen=True)
class BiggsGuedj(CategoricalMargin):
    """Margin bound of Biggs and Guedj as they state it.

    Notes
    -----
    ``Lhat_g + sqrt(C Lhat_g / m) + (C + sqrt(C) + 2) / m`` with
    ``C = 2 log(2 / delta) + (19/4) log(d) log(m) / g^2`` (Biggs and Guedj, 2022, Theorem 8). It follows
    from ``bg+`` by relaxing the inverse kl, and is looser but for a single voter, whose complexity does not
    count: then it may be the smaller one.
    """

    id = "bg"
    title = "Biggs-Guedj margin"
    references = ("biggs2022margins",)

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        m, g = terms.n_rows, ar.number(terms.choice["margin"])
        error = ar.number(terms.statistics["margin_error"])
        share = self.share(ar.number(terms.delta))
        C = 2 * (ar.log(2) - ar.log(share)) + ar.number(4.75) * ar.log(terms.n_voters) * ar.log(m) / (g * g)
        risk = error + ar.sqrt(C * error / m) + (C + ar.sqrt(C) + 2) / m
        return Value(risk, {"complexity": C / (2 * m), "margin_error": error})


@dataclass(frozen=True)
class BiggsGuedjPlus(CategoricalMargin):
    """The sharper intermediate step of Biggs and Guedj's margin bound.

    Notes
    -----
    ``klinv(Lhat_g + 1/m, (ceil(2 log(m) / g^2) log(d) + log(2 sqrt(m) / delta)) / m) + 1/m``
    (Biggs, Zantedeschi and Guedj, 2022, equation ``bgplus``).
    """

    id = "bg+"
    title = "Biggs-Guedj margin, sharpened"
    references = ("biggs2022voting", "biggs2022margins")

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        m, g = terms.n_rows, terms.choice["margin"]
        error = ar.number(terms.statistics["margin_error"])
        # The float64 ceiling may be one too high when the quotient is whole: safe, and the same in both.
        draws = -(-2 * math.log(m) / g**2 * (1 + 1e-12) // 1)
        share = self.share(ar.number(terms.delta))
        complexity = (draws * ar.log(terms.n_voters) + seeger_constant(ar, m, share)) / m
        risk = ar.kl_inverse_upper(error + ar.number(1) / m, complexity) + ar.number(1) / m
        return Value(risk, {"complexity": complexity, "margin_error": error, "draws": draws})


@dataclass(frozen=True)
class BiggsGuedjPlusPlus(CategoricalMargin):
    """Margin bound with the entropy of the weights and the best number of draws, corrected.

    Notes
    -----
    ``inf_T klinv(Lhat_g + e, (T KLcat + log(T (T + 1)) + log(xi(m) / delta)) / m) + e`` with
    ``e = exp(-T g^2 / 2)``. The printed bound pays log(m) for the choice of T, which depends on the
    entropy of the weights as well as on the number of margin errors; here T has its own prior
    ``1 / (T (T + 1))``, which sums to one over the whole numbers.
    """

    id = "bg++"
    title = "Biggs-Guedj margin with entropy (corrected)"
    references = ("biggs2022voting",)
    choices = {"margin": Real(0, 0.5), "draws": Whole(1, MOST_DRAWS)}

    def other_choices(self, m: int) -> dict[str, Floats]:
        # Near e = 1/m more draws no longer help, so 4 log(m) / g^2 is past the best T.
        limits = np.maximum(1, 4 * math.log(m + 1) / np.array(self.margins) ** 2)
        return {"draws": np.unique(np.round(np.geomspace(1, limits, 60))).reshape(-1, 1)}

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        m, g, draws = terms.n_rows, ar.number(terms.choice["margin"]), terms.choice["draws"]
        error = ar.number(terms.statistics["margin_error"])
        kl = ar.categorical_kl(terms.weights, terms.categorical_prior)
        share = self.share(ar.number(terms.delta))
        complexity = (draws * kl + ar.log(draws * (draws + 1)) + ar.log_maurer(m) - ar.log(share)) / m
        e = ar.exp(-draws * g * g / 2)
        risk = ar.kl_inverse_upper(error + e, complexity) + e
        return Value(risk, {"kl": kl, "complexity": complexity, "margin_error": error, "penalty": e})


@dataclass(frozen=True)
class GaoZhou(CountsMarginErrors):
    """The k-th margin bound of Gao and Zhou: a baseline, not certified here.

    Notes
    -----
    ``klinv(Lhat_g, (2 log(2d) / g^2 log(2 m^2 / log(d)) + log(d m / delta)) / m) + log(d) / m`` for all
    ``g > sqrt(2/d)`` at once (Gao and Zhou, 2013, Theorem 4). The condition leaves no margin below
    1/2 for d <= 8 voters, and the theorem asks for m >= 5: the bound is 1 there.
    """

    id = "gz"
    title = "Gao-Zhou k-th margin"
    references = ("gao2013",)
    is_guarantee = False
    caveat = (
        "A baseline: the side conditions of its source have not been checked, so it is not a certificate."
    )

    def check_choice(self, terms: Terms) -> None:
        margin, least = terms.choice["margin"], math.sqrt(2 / terms.n_voters)
        if self.applies(terms.n_rows, terms.n_voters) and not margin > least:
            raise ValueError(f"The theorem does not cover the margin {margin!r}.")

    def applies(self, n_rows: int, n_voters: int) -> bool:
        """Whether there is a margin for which the theorem says anything."""
        return n_voters > 8 and n_rows >= 5

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        if not self.applies(ballots.n_rows, ballots.n_voters):
            return {"margin": 0.5}
        smallest = math.sqrt(2 / ballots.n_voters) * (1 + 1e-9)
        # The loss only jumps at the rows' own margins, so the best g lies just below one of them.
        candidates = np.unique(ballots.margins(weights)) - 2 * MARGIN_SLACK
        candidates = np.append(candidates[(candidates > smallest) & (candidates < 0.5)], [smallest, 0.4999])
        errors = {"margin_error": margin_errors(ballots, weights, candidates)}
        choices = {"margin": candidates}
        values = self.scan(ballots, weights, delta, prior, choice=choices, statistics=errors)
        return {"margin": float(candidates[np.argmin(values)])}

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        m, d, g = terms.n_rows, terms.n_voters, ar.number(terms.choice["margin"])
        error = ar.number(terms.statistics["margin_error"])
        if not self.applies(m, d):
            return Value(ar.number(1), {"margin_error": error})
        log_d: Any = ar.log(d)
        spread = 2 * ar.log(2 * d) / (g * g) * (ar.log(2 * m * m) - ar.log(log_d))
        complexity = (spread + ar.log(d * m) - ar.log(terms.delta)) / m
        risk = ar.kl_inverse_upper(error, complexity) + log_d / m
        return Value(risk, {"complexity": complexity, "margin_error": error})

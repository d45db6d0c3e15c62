"""Every registered bound against its independent formula in forty digits, from the votes to the risk."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from problems import voted

from votecert.bounds import BOUNDS
from votecert.bounds.margins import margin_errors
from votecert.bounds.occam import MEMBERS, whole_choice
from votecert.rows.ballots import Ballots

pytest.importorskip("mpmath")

import precise
from checks import TOLERANCES
from formula_case import Case
from formulas import FORMULAS
from mpmath import mp, mpf

DELTA = 0.05


@dataclass(frozen=True)
class Problem:
    """Rows of votes with weights that are exact in binary, so that ties and margins are what they seem."""

    votes: np.ndarray
    y: np.ndarray
    n_classes: int
    theta: tuple[Fraction, ...]
    prior: tuple[Fraction, ...] | None = None

    def ballots(self) -> Ballots:
        return Ballots.from_votes(self.votes, self.y, classes=list(range(self.n_classes)))

    def evaluate(self, bound, choice=None):
        theta = np.array([float(t) for t in self.theta])
        prior = None if self.prior is None else np.array([float(b) for b in self.prior])
        rows = self.ballots()
        if choice is None:
            return bound.evaluate(rows, theta, DELTA, prior=prior)
        if "votes" in choice:
            theta = np.array(choice["votes"]) / sum(choice["votes"])
        return bound.at(rows, theta, DELTA, choice, prior=prior)

    def case(self, bound, found) -> Case:
        votes = [[None if math.isnan(v) else int(v) for v in row] for row in self.votes.tolist()]
        return Case(
            rows=tuple(zip(map(tuple, votes), self.y.tolist(), strict=True)),
            n_classes=self.n_classes,
            theta=self.theta,
            delta=DELTA,
            bound=bound,
            choice=found.terms.choice,
            prior=self.prior,
            can_abstain=any(None in row for row in votes),
        )


def of_eighths(*eighths: int) -> tuple[Fraction, ...]:
    assert sum(eighths) == 8
    return tuple(Fraction(part, 8) for part in eighths)


def drawn(m, accuracies, theta, n_classes=2, *, missing=0.0, prior=None, seed=0) -> Problem:
    """Voters that are right independently of each other."""
    votes, y = voted(m, accuracies, n_classes, seed, missing=missing)
    return Problem(votes.astype(float), y, n_classes, theta, prior)


def repeated(patterns: dict[tuple[int, ...], int], theta) -> Problem:
    """Few different rows, all with the true label 1, many times each."""
    votes = np.repeat(np.array(list(patterns), dtype=float), list(patterns.values()), axis=0)
    return Problem(votes, np.ones(len(votes), dtype=int), 2, theta)


def with_a_complement() -> Problem:
    """The last voter says the contrary of the first one."""
    rows = drawn(300, [0.97, 0.95, 0.95], of_eighths(4, 3, 1), seed=10)
    return replace(rows, votes=np.column_stack([rows.votes[:, :2], 1 - rows.votes[:, 0]]))


def nearly_unanimous(d: int, *wrong_and_rows: tuple[int, int]) -> dict[tuple[int, ...], int]:
    return {(0,) * wrong + (1,) * (d - wrong): rows for wrong, rows in wrong_and_rows}


PROBLEMS = {
    "two classes": lambda: drawn(150, [0.95, 0.9, 0.85], of_eighths(4, 3, 1)),
    "ties": lambda: drawn(200, [0.97, 0.95, 0.95, 0.9], of_eighths(2, 2, 2, 2), seed=1),
    "three classes, uneven": lambda: drawn(300, [0.97, 0.95, 0.9, 0.9], of_eighths(3, 2, 2, 1), 3, seed=3),
    "one voter": lambda: drawn(60, [0.9], of_eighths(8), seed=2),
    "one row": lambda: drawn(1, [0.9, 0.9], of_eighths(5, 3)),
    "three classes": lambda: drawn(300, [0.97, 0.95, 0.9, 0.9], of_eighths(2, 2, 2, 2), 3, seed=3),
    "many classes": lambda: drawn(150, [0.97, 0.95, 0.9], of_eighths(4, 2, 2), 6, seed=7),
    "abstentions": lambda: drawn(250, [0.99, 0.97, 0.95], of_eighths(3, 3, 2), missing=0.02, seed=4),
    "a voter without weight": lambda: drawn(400, [0.99, 0.98, 0.6], of_eighths(5, 3, 0), seed=5),
    "a given prior": lambda: drawn(
        120, [0.98, 0.95, 0.9], of_eighths(5, 2, 1), prior=tuple(map(Fraction, (4, 2, 1))), seed=6
    ),
    "complements": with_a_complement,
    "many rows": lambda: repeated(
        nearly_unanimous(32, (0, 7000), (1, 2500), (3, 450), (16, 30), (20, 20)), (Fraction(1, 32),) * 32
    ),
}


SCALES = {"variance_scale": 0.5 / 1.05**20, "bennett_scale": 4.0 / 1.05**30}
MEMBER = next(iter(MEMBERS))


def vote(votes, offsets, declared=None, member=None):
    choice = whole_choice(np.array(votes), np.array(offsets), declared=declared)
    return choice | ({} if member is None else {"statement": "list", "member": member})


NEAREST = {"margin_error": 1e-15, "gibbs": 1e-15, "joint": 1e-15}
"""Statistics that are not rounded outward, and the rounding of a float."""

MOST_OUTWARD = {"fo": 1.1e-12, "so": 1.1e-12, "bin": 1.1e-12, "cctnd": 1.1e-12, "ccpbb": 1.1e-12}
"""How far outward the others may be; 1.1e-10 otherwise, the error of the incomplete beta function."""

CUT = 2e-3
"""Losses by a margin among several classes are sums that are too large by less than this share."""


def is_cut(case: Case) -> bool:
    inner = case.bound.id == "dirichlet" and case.n_outputs > 2 and case.bound.loss != "ratio"
    return inner and case.choice["margin"] > 0


def check(case: Case, found, exact, counted) -> None:
    """Not below the exact value, and above it by no more than the rounding."""
    allowed = TOLERANCES[case.bound.id] + (CUT * exact if is_cut(case) else 0)
    assert exact <= found.risk <= exact + allowed, f"{found.risk!r} for {mp.nstr(exact, 20)}"
    for name, value in counted.items():
        beyond = mpf(found.terms.statistics[name]) - precise.real(value)
        if isinstance(value, int):
            assert beyond == 0, f"{name} is not {value}"
        elif name in NEAREST and case.bound.id != "cctnd":
            assert abs(beyond) <= NEAREST[name], f"{name} is off by {beyond}"
        else:
            inward = name == "gibbs" and case.choice["offset"] >= 0 and value > 0
            most = MOST_OUTWARD.get(case.bound.id, 1.1e-10) + (CUT * value if is_cut(case) else 0)
            assert 0 <= (-beyond if inward else beyond) <= most, f"{name} is off by {beyond}"


@cache
def problem(name: str) -> Problem:
    return PROBLEMS[name]()


def exactly(case: Case):
    with mp.workdps(precise.DIGITS):
        risk, counted = FORMULAS[case.bound.id](case)
        return min(mpf(1), risk), counted


def check_bound(bound, rows: Problem, choice=None) -> None:
    found = rows.evaluate(bound, choice)
    case = rows.case(bound, found)
    check(case, found, *exactly(case))


def test_every_registered_bound_has_a_formula():
    assert set(FORMULAS) == set(BOUNDS) == set(TOLERANCES)


@pytest.mark.parametrize("where", PROBLEMS)
@pytest.mark.parametrize("name", BOUNDS)
def test_risk_is_the_formula_rounded_up(name, where):
    if BOUNDS[name].problem_with(problem(where).ballots()):
        pytest.skip("the theorem does not cover this problem")
    check_bound(BOUNDS[name], problem(where))


AT = {"concentration": 40.0, "margin": BOUNDS["dirichlet"].margins[5], "prior_scale": 1.0}
SPLIT = {"list": "split", "split": 0.25, "seed": 3}
WITH_OPTIONS = {
    "three-draws": ("bin", {"n_draws": 3}, "two classes", None),
    "two-draws-ties-are-errors": ("bin", {"n_draws": 2}, "ties", None),
    "offset-below-zero": ("cctnd", {}, "two classes", {"offset": -0.125}),
    "offset-above-zero": ("cctnd", {}, "three classes", {"offset": 0.0625}),
    "one-offset": ("ccpbb", {"offsets": (-0.25,)}, "two classes", None),
    "another-offset": ("ccpbb", {"offsets": (0.0, 0.125, -0.5)}, "many rows", {"offset": 0.125} | SCALES),
    "first-form": ("c-bound", {"form": 1}, "many rows", None),
    "first-form-few-rows": ("c-bound", {"form": 1}, "ties", None),
    "voters": ("partition", {"family": "categorical"}, "two classes", None),
    "weights": ("partition", {"family": "dirichlet"}, "three classes", None),
    "one-family-of-two": ("partition", {"complements": ((0, 2),)}, "complements", {"family": "categorical"}),
    "complements": (
        "partition",
        {"complements": ((0, 2),)},
        "complements",
        {"family": "dirichlet", "concentration": 4.0},
    ),
    "kl": ("bin-margin", {"inequality": "kl"}, "ties", None),
    "few-pairs": ("bin-margin", {"draws": (1, 4, 27)}, "two classes", {"draws": 4, "threshold": 1}),
    # margins that rows have: at most g is a margin error
    "equal-margins": ("bg", {"margins": (0.46875,)}, "many rows", None),
    "equal-margins+": ("bg+", {"margins": (0.40625,)}, "many rows", None),
    "equal-margins++": ("bg++", {"margins": (0.25,)}, "ties", None),
    "equal-margins-theorem": ("dirichlet-margin", {"margins": (0.25,)}, "ties", None),
    "equal-margins-theorem-three-classes": (
        "dirichlet-margin",
        {"margins": (0.25,)},
        "three classes",
        None,
    ),
    "few-wrong-votes": (
        "dirichlet-margin",
        {"margins": (0.125,)},
        "many classes",
        {"concentration": 300.0, "margin": 0.125},
    ),
    "no-margin": ("dirichlet", {}, "three classes, uneven", AT | {"margin": 0.0}),
    "difference": ("dirichlet", {"loss": "difference"}, "three classes, uneven", AT),
    "ratio": ("dirichlet", {"loss": "ratio", "inequality": "kl"}, "three classes, uneven", AT),
    "ratio-six-classes": ("dirichlet", {"loss": "ratio"}, "many classes", AT | {"concentration": 9.0}),
    "dropped": ("dirichlet", {"inequality": "kl"}, "a given prior", AT | {"dropped": 0.5}),
    "dropped-three-classes": ("dirichlet", {}, "three classes, uneven", AT | {"dropped": 0.6}),
    "smoothed": ("dirichlet", {}, "two classes", AT | {"smoothed": 0.03125, "prior_scale": 64.0}),
    "smoothed-three-classes": (
        "dirichlet",
        {"loss": "ratio"},
        "three classes, uneven",
        AT | {"smoothed": 0.25},
    ),
    "zero-weight": ("dirichlet", {}, "a voter without weight", AT),
    "zero-weight-smoothed": ("dirichlet", {}, "a voter without weight", AT | {"smoothed": 0.0625}),
    "complements-dirichlet": ("dirichlet", {"complements": ((0, 2),)}, "complements", AT),
    "odd-votes": ("occam", {}, "two classes", vote([2, 1, 1], [0, 1])),
    "with-a-list": ("occam", {}, "two classes", vote([1, 1, 0], [0, 0], SPLIT)),
    "head-starts": ("occam", {}, "many classes", vote([3, 0, 1], [0, 2, 0, 1, 0, 0])),
    "outvoted": ("occam", {}, "ties", vote([1, 1, 1, 1], [0, 5])),
    "of-the-list": ("occam", {}, "two classes", vote([900, 350, 77], [0, 12], SPLIT, MEMBER)),
}


@pytest.mark.parametrize("case", WITH_OPTIONS)
def test_options_and_choices(case):
    name, options, where, choice = WITH_OPTIONS[case]
    check_bound(replace(BOUNDS[name], **options), problem(where), choice)


@pytest.mark.parametrize("n_margins", [1, 9, 513])
@pytest.mark.parametrize("where", ["ties", "three classes, uneven", "abstentions"])
def test_margins_of_exactly_g_are_errors(where, n_margins):
    """However many margins are asked for, and in any order."""
    rows = problem(where)
    theta = np.array([float(t) for t in rows.theta])
    margins = np.random.default_rng(0).permutation(
        np.linspace(-0.5, 0.5, n_margins) if n_margins > 1 else [0.25]
    )
    found = margin_errors(rows.ballots(), theta, margins)
    case = rows.case(BOUNDS["bg"], rows.evaluate(BOUNDS["fo"]))
    assert found.tolist() == [float(case.lost_by(g)) for g in margins]


@pytest.mark.parametrize("missing", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("name", ["fo", "so", "cctnd", "ccpbb"])
def test_out_of_bag(name, missing):
    """Voters are judged on different rows, some pairs on few of them, and a voter may have none."""
    rows = drawn(400, [0.95, 0.9, 0.9], of_eighths(4, 2, 2), missing=0.3, seed=8)
    votes = rows.votes.copy()
    votes[np.random.default_rng(9).random(400) < missing, 2] = np.nan
    check_bound(replace(BOUNDS[name], out_of_bag=True), replace(rows, votes=votes))


@pytest.mark.parametrize("name", BOUNDS)
def test_the_check_is_sharp(name):
    """Where the bound says something the check notices 1e-8 in the risk and 1e-9 in a statistic."""
    bound, where = BOUNDS[name], "many rows" if name in ("gz", "bg") else "two classes"
    rows = problem(where)
    found = rows.evaluate(bound)
    case = rows.case(bound, found)
    exact, counted = exactly(case)
    assert exact < 0.9
    check(case, found, exact, counted)
    with pytest.raises(AssertionError):
        check(case, replace(found, risk=found.risk - 1e-8), exact, counted)
    for statistic in counted:
        value = found.terms.statistics[statistic]
        for less in (value - 1e-9, value + 1e-9):
            terms = replace(found.terms, statistics=found.terms.statistics | {statistic: less})
            with pytest.raises(AssertionError):
                check(case, replace(found, terms=terms), exact, counted)

"""Independent formulas of the bounds that count the errors of one vote: see ``formulas``."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import precise
from formula_case import Case
from mpmath import mpf
from precise import real


def errors_of(case: Case, rows, n, offsets) -> tuple[int, int]:
    """Rows on which the smallest class with most votes is not the true one, or nobody votes; and ties."""
    wrong = ties = 0
    for votes, y in rows:
        totals = [b + sum(i for i, v in zip(n, votes, strict=True) if v == k) for k, b in enumerate(offsets)]
        winner = totals.index(max(totals)) if max(totals) else case.choice.get("fallback")
        wrong += winner != y
        ties += max(totals) > 0 and totals.count(max(totals)) > 1
    return wrong, ties


def test_set(case: Case):
    scale = math.lcm(*(t.denominator for t in case.theta))
    votes = [int(t * scale) for t in case.theta]
    errors, _ = errors_of(case, case.rows, votes, [0] * case.n_classes)
    return precise.clopper_pearson(errors, case.m, real(case.delta)), {"errors": errors}


def occam(case: Case):
    choice, bound = case.choice, case.bound
    rows, share = case.rows, Fraction(1)
    if choice["list"] != "none":
        where = "unlabelled" if choice["list"] == "other" and choice.get("unlabelled") else choice["list"]
        usual = {"split": 0.55, "other": 0.95, "unlabelled": 0.75}[where]
        fitted = Fraction(bound.list_mass if isinstance(bound.list_mass, float) else usual)
        share = fitted if choice["statement"] == "list" else 1 - fitted
    if choice["statement"] == "list":
        from votecert.bounds.occam import MEMBERS

        share *= MEMBERS[choice["member"]]
    else:
        share *= prior_of_votes(bound.prior, choice["votes"], choice["offsets"])
    if choice["statement"] == "list" and choice["list"] == "split":
        stream = np.random.PCG64(np.random.SeedSequence(choice["seed"], spawn_key=(8_051_957,)))
        fitting = np.random.Generator(stream).random(case.m) < choice["split"]
        rows = tuple(row for row, fits in zip(case.rows, fitting, strict=True) if not fits)
    errors, ties = errors_of(case, rows, choice["votes"], choice["offsets"])
    risk = precise.clopper_pearson(errors, len(rows), real(Fraction(case.delta) * share)) if share else mpf(1)
    return risk, {"errors": errors, "rows": len(rows), "ties": ties}


def prior_of_votes(masses, n, offsets) -> Fraction:
    """The mixture of the documentation's table, each part drawn as it is described there."""
    d, c, N = len(n), len(offsets), sum(n)
    used, given = [v for v in n if v], [b for b in offsets if b]
    s, q = len(used), len(given)
    ones = used == [1] * s

    def falling(k: int, most: int) -> Fraction:
        """1 / (k (k + 1)), normalised over 1..most."""
        return Fraction(1, k * (k + 1)) / sum(Fraction(1, j * (j + 1)) for j in range(1, most + 1))

    everybody = n == [1] * d
    named = Fraction(0)
    if everybody and not given:
        named += Fraction(masses.everybody)
    if everybody and given == [1]:
        named += Fraction(masses.tie_break) / c
    if everybody and given == [d + 1]:
        named += Fraction(masses.constant) / c
    if used == [1] and not given:
        named += Fraction(masses.single) / d
    subset = falling(s, d) / math.comb(d, s)
    drawn = Fraction(masses.support) * subset * math.prod(Fraction(1, 2**v) for v in used)
    if ones:
        drawn += Fraction(masses.small) * subset
    if ones and s < d:
        drawn += Fraction(masses.drop) * falling(d - s, d - 1) / math.comb(d, s)
    if N <= 1000:
        orders = math.factorial(N) // math.prod(math.factorial(v) for v in used)
        urn, ways = Fraction(masses.urn), Fraction(1)
        for i, ball in enumerate([j for v in used for j in range(v)]):
            ways *= (urn + ball) / (d * urn + i)
        each = Fraction(masses.multinomial) / d**N + Fraction(masses.polya) * ways
        drawn += orders * each / (N * (N + 1))
    if q == 0:
        start = 1 - Fraction(masses.constants)
    elif q == c:
        start = Fraction(0)
    else:
        each_class = math.prod(Fraction(1, b * (b + 1)) for b in given)
        start = Fraction(masses.constants) * falling(q, c - 1) / math.comb(c, q) * each_class
    return named + drawn * start

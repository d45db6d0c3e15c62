"""A problem and a bound's choice on it, counted row by row with rational numbers: see ``formulas``."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import precise
from mpmath import mp, mpf
from precise import real

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Case:
    """A problem, and the bound with its options and its choice there."""

    rows: tuple[tuple[tuple[int | None, ...], int], ...]
    n_classes: int
    theta: tuple[Fraction, ...]
    delta: float
    bound: Any
    choice: dict[str, Any]
    prior: tuple[Fraction, ...] | None = None
    can_abstain: bool = False

    @property
    def m(self) -> int:
        return len(self.rows)

    @property
    def d(self) -> int:
        return len(self.theta)

    @property
    def n_outputs(self) -> int:
        return self.n_classes + self.can_abstain

    @property
    def beta(self) -> tuple[Fraction, ...]:
        return (Fraction(1),) * self.d if self.prior is None else self.prior

    @property
    def pi(self) -> tuple[Fraction, ...]:
        return tuple(b / sum(self.beta) for b in self.beta)

    @cached_property
    def patterns(self) -> Counter:
        return Counter(self.rows)

    def mean(self, value):
        """Mean over the rows of a function of votes and label."""
        return sum(n * value(votes, y) for (votes, y), n in self.patterns.items()) / self.m

    def right(self, votes, y, theta=None) -> Fraction:
        """v_y."""
        return self.weight(votes, y, theta)

    def weight(self, votes, k, theta=None) -> Fraction:
        weights = self.theta if theta is None else theta
        return sum((t for t, vote in zip(weights, votes, strict=True) if vote == k), Fraction(0))

    def outputs(self) -> list[int | None]:
        return [*range(self.n_classes), *([None] if self.can_abstain else [])]

    def margin(self, votes, y) -> Fraction:
        """M = (v_y - max_{k != y} v_k) / 2."""
        rivals = [self.weight(votes, k) for k in self.outputs() if k != y]
        return (self.weight(votes, y) - max(rivals)) / 2

    def lost_by(self, g) -> Fraction:
        """Share of the rows with M <= g."""
        return Fraction(self.mean(lambda votes, y: int(self.margin(votes, y) <= Fraction(g))))

    def judged(self, *voters: int) -> list[tuple[tuple[int, ...], int]]:
        """Which of these voters are wrong on the rows that judge them, with numbers of rows.

        Usually these are all rows. Out of bag a missing vote says that the voter was fitted on the row.
        """
        out_of_bag = getattr(self.bound, "out_of_bag", False)
        return [
            (tuple(int(votes[i] != y) for i in voters), n)
            for (votes, y), n in self.patterns.items()
            if not out_of_bag or all(votes[i] is not None for i in voters)
        ]

    def fewest_rows(self, size: int) -> int:
        """The smallest number of rows that judge a group of so many voters."""
        groups = itertools.product(range(self.d), repeat=size)
        return min(sum(n for _, n in self.judged(*voters)) for voters in groups)

    def wrong_together(self, size: int) -> Fraction:
        """The chance that so many voters drawn from the weights are all wrong; 1 where no row judges them."""
        total = Fraction(0)
        for voters in itertools.product(range(self.d), repeat=size):
            rows = self.judged(*voters)
            errors = Fraction(sum(n for wrong, n in rows if all(wrong)), sum(n for _, n in rows) or 1)
            total += math.prod(self.theta[i] for i in voters) * (errors if rows else 1)
        return total

    def gibbs(self) -> Fraction:
        return self.wrong_together(1)

    def tandem(self) -> Fraction:
        return self.wrong_together(2)

    def subset_sums(self) -> set[Fraction]:
        sums = {Fraction(0)}
        for t in self.theta:
            sums |= {s + t for s in sums}
        return sums

    def categorical_kl(self):
        return precise.categorical_kl(map(real, self.theta), map(real, self.pi))

    def dirichlet_kl(self):
        """D(K theta, beta); infinite where a weight is zero, unless there is one voter only."""
        K = real(self.choice["concentration"])
        if self.d == 1:
            return mpf(0)
        if min(self.theta) == 0:
            return mp.inf
        return precise.dirichlet_kl([K * real(t) for t in self.theta], map(real, self.beta))

    def seeger(self, share=1, m=None):
        """C0 = log(2 sqrt(m) / (delta * share))."""
        return mp.log(2 * mp.sqrt(m or self.m) / (real(self.delta) * real(share)))


def klinv(q, c):
    q = min(mpf(1), real(q))
    return mpf(1) if mp.isinf(c) else precise.kl_inverse(q, c)


def sampled_risk(case: Case, loss, cost):
    """The largest risk of the sampled vote that the inequality of the bound allows."""
    if mp.isinf(cost):
        return mpf(1)
    if case.bound.inequality == "mixture":
        return precise.mixture_inverse(min(mpf(1), real(loss)), cost / case.m, case.m)
    return klinv(loss, (cost + mp.log(precise.maurer(case.m))) / case.m)


def share_of_margin(case: Case):
    return Fraction(1, len(case.bound.margins))

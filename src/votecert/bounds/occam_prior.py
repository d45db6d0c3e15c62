"""The prior probability of a whole-number vote: what it costs to have picked it after seeing the rows.

A vote is a pair (n, b): voter i has ``n_i`` votes, the constant voter of class k has ``b_k`` (its offset).
The prior is a fixed mixture of simple ways to draw such a vote, each a probability distribution of its own,
so the whole is one too. It depends on n through a few numbers only, whatever the order of the voters:

===============  ========================================================================================
part             how the vote is drawn
===============  ========================================================================================
``everybody``    each voter has one vote
``tie_break``    each voter has one vote and one class, drawn uniformly, one more
``constant``     one class, drawn uniformly, outvotes everybody: d + 1 votes for it, one for each voter
``single``       one voter, drawn uniformly, has the only vote
``drop``         t voters are left out, t in 1..d-1 with probability ~ 1/(t(t+1)), which ones is uniform
``small``        s voters have one vote, s in 1..d with probability ~ 1/(s(s+1)), which ones is uniform
``support``      s voters as in ``small``, each with v votes with probability 2^-v
``multinomial``  N votes with probability 1/(N(N+1)), each given to a voter drawn uniformly
``polya``        N votes likewise, drawn from Polya's urn with ``urn`` balls a voter: favours few voters
===============  ========================================================================================

The last five add, with probability ``constants``, offsets: q of the c classes, q in 1..c-1 with probability
~ 1/(q(q+1)), which ones is uniform, and each of these has t votes with probability 1/(t(t+1)).

All of this is arithmetic with rational numbers, so the probability is computed exactly; only its logarithm is
ever rounded.

Symbols: d voters, c classes, N = sum of n, s = number of voters with a vote.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

from votecert.numerics.arithmetic import Arithmetic, Number

MOST_DRAWN_VOTES = 1000
"""``multinomial`` and ``polya`` draw at most so many votes: more would cost hundreds of nats anyway."""

MOST_VOTES = 2**20
"""Votes in all beyond which only the parts that list their votes give any probability."""

_FLOAT_BITS = 900  # powers of two that a float takes with room to spare
_GUARD_BITS = 200  # a ratio kept to so many bits is exact for any purpose


@dataclass(frozen=True)
class OccamPrior:
    """Masses of the parts of the mixture, summing to at most one, fixed before the rows are seen.

    Examples
    --------
    >>> prior = OccamPrior()
    >>> float(prior.probability(votes=(1, 1, 1), offsets=(0, 0)))
    0.950...
    >>> float(prior.probability(votes=(2, 1, 0), offsets=(0, 0)))
    6.55...e-05
    """

    everybody: float = 0.95
    tie_break: float = 0.01
    constant: float = 0.005
    single: float = 0.014
    drop: float = 0.005
    small: float = 0.005
    support: float = 0.003
    multinomial: float = 0.004
    polya: float = 0.004
    constants: float = 0.15
    urn: float = 0.1

    def __post_init__(self) -> None:
        masses = [getattr(self, part) for part in PARTS]
        if min(masses) < 0 or sum(map(Fraction, masses)) > 1:
            raise ValueError("The masses of the prior must be zero or more and sum to at most one.")
        if not 0 <= self.constants <= 1 or not 0 < self.urn < math.inf:
            raise ValueError("The prior needs constants between 0 and 1 and a finite urn above 0.")

    def probability(self, votes: Sequence[int], offsets: Sequence[int]) -> Fraction:
        """The prior probability of a vote, exactly.

        Parameters
        ----------
        votes : d whole numbers
            Votes of each voter, not all zero.
        offsets : c whole numbers
            Votes of the constant voters.
        """
        if min(*votes, *offsets) < 0 or not any(votes):
            raise ValueError("A vote needs whole numbers, zero or more, and at least one voter with a vote.")
        used = sorted(v for v in votes if v > 0)
        d = len(votes)
        return self._named(used, d, offsets) + self._drawn(used, d) * self._drawn_offsets(offsets)

    def _named(self, used: list[int], d: int, offsets: Sequence[int]) -> Fraction:
        """The parts that list their votes: everybody, with a tie-break or outvoted, and one voter."""
        alone, everybody = used == [1], used == [1] * d
        constants = [votes for votes in offsets if votes > 0]
        probability = Fraction(0)
        if not constants:
            probability += Fraction(self.everybody) * everybody + Fraction(self.single) / d * alone
        if everybody and constants == [1]:
            probability += Fraction(self.tie_break) / len(offsets)
        if everybody and constants == [d + 1]:
            probability += Fraction(self.constant) / len(offsets)
        return probability

    def _drawn(self, used: list[int], d: int) -> Fraction:
        """The parts that draw the voters' votes."""
        s, total = len(used), sum(used)
        if total > MOST_VOTES:  # 2^-total would have a million digits
            return Fraction(0)
        subset = _some_of(d, s, d)
        probability = Fraction(self.support) * subset / (1 << total)
        if total == s:
            probability += Fraction(self.small) * subset
        if total == s < d:
            probability += Fraction(self.drop) * _some_of(d, d - s, d - 1)
        if total <= MOST_DRAWN_VOTES:
            orders = math.factorial(total) // math.prod(map(math.factorial, used))
            draws = Fraction(self.multinomial) / d**total + Fraction(self.polya) * self._urn(used, d)
            probability += Fraction(orders, total * (total + 1)) * draws
        return probability

    def _urn(self, used: list[int], d: int) -> Fraction:
        """Probability that Polya's urn gives these votes in one given order."""
        balls, unit = Fraction(self.urn).as_integer_ratio()
        ways = math.prod(balls + j * unit for votes in used for j in range(votes))
        return Fraction(ways, math.prod(d * balls + j * unit for j in range(sum(used))))

    def _drawn_offsets(self, offsets: Sequence[int]) -> Fraction:
        """Probability of the offsets where they are drawn; not all classes can have some."""
        c = len(offsets)
        used = [votes for votes in offsets if votes > 0]
        q = len(used)
        if q == 0:
            return 1 - Fraction(self.constants)
        if q == c:
            return Fraction(0)
        return (
            Fraction(self.constants)
            * _some_of(c, q, c - 1)
            / math.prod(votes * (votes + 1) for votes in used)
        )


def _some_of(n: int, k: int, most: int) -> Fraction:
    """Probability of k given ones of n: k in 1..most with probability ~ 1/(k(k+1)), which ones is uniform."""
    return Fraction(most + 1, most * k * (k + 1) * math.comb(n, k))


PARTS = tuple(part.name for part in fields(OccamPrior) if part.name not in ("constants", "urn"))
"""Names of the parts of the mixture."""


def log_of_reciprocal(ar: Arithmetic, probability: Fraction) -> Number:
    """Return ``log(1/probability)``, not below the true value, however small the probability is.

    Examples
    --------
    >>> from votecert.numerics.arithmetic import OUTWARD
    >>> log_of_reciprocal(OUTWARD, Fraction(1, 10**1000)) / math.log(10)
    1000.0000000000...
    """
    numerator, denominator = probability.as_integer_ratio()
    halvings = max(0, denominator.bit_length() - numerator.bit_length() - _FLOAT_BITS + _GUARD_BITS)
    rounded_up = -(-(denominator << _GUARD_BITS) // (numerator << halvings))
    return ar.log(ar.number(rounded_up) / 2**_GUARD_BITS) + halvings * ar.log(2)

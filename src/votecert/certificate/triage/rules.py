r"""What a vote may decide alone: the rules that turn counts into a threshold, a coverage and a curve.

Symbols: m certifying rows; thresholds :math:`t_1 > t_2 > \dots > t_T` fixed without looking at them;
:math:`E_t` the rows on which the winner's lead is at least t, :math:`n_t` of them, :math:`k_t` of these
wrong; :math:`R_t` the true error among the new rows in :math:`E_t`; r the target; ``CP`` the limit of Clopper
and Pearson.

*One threshold.*  Which rows fall into :math:`E_t` says no more about their errors than that they are draws
from :math:`E_t`: given it, :math:`k_t\sim Bin(n_t,R_t)`. So ``CP(k_t, n_t, e)`` misses :math:`R_t` with
probability e at most.

*The target.*  Each threshold has a starting share :math:`s_j` of the level :math:`\delta`; they sum to one.
In order, :math:`t_j` passes if :math:`CP(k_{t_j},n_{t_j},\delta a_j)\le r`, where :math:`a_j=s_j+a_{j-1}` if
the one before passed, and :math:`a_j=s_j` if not. All shares on the first one is fixed-sequence testing.
*With probability* :math:`1-\delta` *every threshold that passes has* :math:`R_t\le r`.  Proof: let
:math:`i_1<i_2<\dots` be the thresholds with :math:`R_t>r`, which are constants. If :math:`i_j` is the first
of them to pass, then :math:`i_{j-1}` did not, so its level is at most
:math:`\delta(s_{i_{j-1}+1}+\dots+s_{i_j})`, and to pass it must be missed at that level. These sums have no
share in common. QED  No order of the :math:`R_t` is needed. (Wiens's fallback procedure.)  Only r is
certified: the limit at the threshold that was selected is none for it.

*The curve.*  Some of the thresholds, all at once, each with an equal share of a level of its own: whichever
is used afterwards, its limit holds; one whose limit is at most r may be used for the target, too.

*Coverage.*  For all thresholds at once, with a level e of its own: half of it split evenly over the lower
limits of Clopper and Pearson, half for :math:`P(E_t)\ge n_t/m-\sqrt{\log(2/e)/2m}` (Massart's form of the
inequality of Dvoretzky, Kiefer and Wolfowitz, for e/2 up to 1/2). The larger counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from votecert.bounds.occam_prior import log_of_reciprocal
from votecert.numerics.arithmetic import OUTWARD, Arithmetic, Number

SHARES = {"target": Fraction(7, 10), "curve": Fraction(2, 10), "coverage": Fraction(1, 10)}
"""Parts of delta for what is stated."""

MOST_POINTS = 20
"""So many thresholds are on the curve; every one costs."""


MOST_ROWS = 10**12
"""What takes more rows is refused."""


class OperatingPoint(NamedTuple):
    """A threshold of the curve: the limit on the error, the least coverage, and what was counted."""

    threshold: float
    risk: float
    coverage: float
    answered: int
    errors: int


@dataclass(frozen=True)
class Counts:
    """What was counted at each threshold, the highest first.

    Attributes
    ----------
    rows : int
        Certifying rows m.
    starts : sequence of int
        Starting shares, in units of their sum.
    answered, errors : sequences of int
        Rows with such a lead, and how many of these are wrong.
    """

    rows: int
    starts: Sequence[int]
    answered: Sequence[int]
    errors: Sequence[int]


def limit(ar: Arithmetic, errors: int, answered: int, level: Fraction) -> Number:
    """The limit of Clopper and Pearson; 1 where nothing was answered, or for no level."""
    if not answered or not level:
        return ar.number(1)
    return ar.clopper_pearson_upper(errors, answered, -log_of_reciprocal(ar, level))


def passing(ar: Arithmetic, counts: Counts, max_risk: float, delta: float) -> list[int]:
    """Places of the thresholds that pass for the target."""
    total, carried, found = sum(counts.starts), 0, []
    level = Fraction(delta) * SHARES["target"]
    for place, start in enumerate(counts.starts):
        carried += start
        own = level * carried / total
        if limit(ar, counts.errors[place], counts.answered[place], own) <= max_risk:
            found.append(place)
        else:
            carried = 0
    return found


def points(n_thresholds: int) -> range:
    """Places of the thresholds on the curve: evenly spaced, the lowest among them."""
    step = -(-n_thresholds // MOST_POINTS)
    return range((n_thresholds - 1) % step, n_thresholds, step)


def curve_risks(ar: Arithmetic, counts: Counts, delta: float) -> list[Number]:
    """Limits on the error at the thresholds of the curve."""
    places = points(len(counts.answered))
    share = Fraction(delta) * SHARES["curve"] / len(places)
    return [limit(ar, counts.errors[place], counts.answered[place], share) for place in places]


def coverage(ar: Arithmetic, counts: Counts, place: int, delta: float) -> Number:
    """The least share of new rows that is answered at a threshold; holds for all thresholds at once."""
    half, m, n = Fraction(delta) * SHARES["coverage"] / 2, counts.rows, counts.answered[place]
    exact = 1 - limit(ar, m - n, m, half / len(counts.answered))
    even = ar.number(n) / m - ar.sqrt(log_of_reciprocal(ar, half) / (2 * ar.number(m)))
    return max(exact, even, ar.number(0))


def selected(
    ar: Arithmetic, counts: Counts, max_risk: float, delta: float, risks: Sequence[Number]
) -> int | None:
    """The lowest threshold that may be used: it passes, or its limit on the curve is low enough."""
    curve = zip(points(len(counts.answered)), risks, strict=True)
    good = [place for place, risk in curve if risk <= max_risk]
    return max([*passing(ar, counts, max_risk, delta), *good], default=None)


def fewest_rows(max_risk: float, delta: float) -> int:
    """Answered rows, none of them wrong, that it takes at least for the target."""
    level = Fraction(delta) * SHARES["target"]
    return smallest(lambda rows: bool(limit(OUTWARD, 0, rows, level) <= max_risk), 1)


def smallest(holds: Callable[[int], bool], start: int) -> int:
    """The smallest number from ``start`` on that a condition holds for, if it then goes on holding."""
    step = 1
    while not holds(start + step - 1):
        step *= 2
        if step > MOST_ROWS:
            raise ValueError(
                f"This takes more than {MOST_ROWS:.0e} rows: the target is too close to the expected error."
            )
    low, high = start + step // 2, start + step - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high

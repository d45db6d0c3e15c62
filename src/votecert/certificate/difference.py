"""Is the new vote better than the old one? The difference of two errors on the same rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from votecert._types import BoolArray
from votecert.bounds.kinds import Kind, Real, Whole
from votecert.certificate.checks import Between, Text
from votecert.certificate.record import Record
from votecert.certificate.text import amount, at_least, confidence, percent
from votecert.certificate.verification import BELOW_EXACT, TOLERANCE
from votecert.numerics import OUTWARD, Arithmetic, Number, exact
from votecert.rows.clusters import GRID, Places, places, read_clusters
from votecert.rows.labels import encode
from votecert.rows.read import check_delta


@dataclass(frozen=True, repr=False)
class Difference(Record):
    """Limits on the difference of the errors of two votes on new rows.

    Attributes
    ----------
    lower, estimate, upper : float
        With probability at least ``1 - delta``, error(first) - error(second) lies between ``lower`` and
        ``upper``; ``estimate`` is the difference on the rows.
    delta : float
    n_rows : int
    n_clusters : int or None
        Number of clusters, if the rows come in such.
    first, second : str
        What the two are called.
    errors : tuple of two int
        Rows that each gets wrong.
    above, below : tuples of pairs
        How many rows, or clusters, have which loss ``(1 + D)/2`` and ``(1 - D)/2``, in 1024th and rounded up,
        where D is the difference of the errors on the row, or in the cluster.
    """

    lower: float
    estimate: float
    upper: float
    delta: float
    n_rows: int
    n_clusters: int | None
    first: str
    second: str
    errors: tuple[int, int]
    above: Places
    below: Places

    kind_of_record = "difference"
    kinds: ClassVar[Mapping[str, Kind]] = {
        **dict.fromkeys(("lower", "estimate", "upper"), Real(-1, 1)),
        "delta": Between(),
        "n_rows": Whole(1),
        **dict.fromkeys(("first", "second"), Text()),
    }

    @property
    def n_units(self) -> int:
        """How many rows, or clusters, were drawn."""
        return self.n_rows if self.n_clusters is None else self.n_clusters

    @property
    def better(self) -> Literal["first", "second"] | None:
        """Which one is better for sure, at this confidence; None if the interval has zero in it."""
        if self.upper < 0:
            return "first"
        return "second" if self.lower > 0 else None

    @property
    def statement(self) -> str:
        """One sentence: what is known about the difference."""
        new = "new rows" if self.n_clusters is None else "rows of a new cluster"
        held = f"With confidence {confidence(self.delta)}"
        if self.better is None:
            return (
                f"{held}, the error of {self.first} on {new} is at most {percent(-self.lower)} lower and at "
                f"most {percent(self.upper)} higher than that of {self.second}: which is better is open."
            )
        least, most = sorted((abs(self.lower), abs(self.upper)))
        pair = self.first, self.second
        winner, loser = pair if self.better == "first" else pair[::-1]
        return (
            f"{held}, {winner} is better than {loser}: its error on {new} is lower, by {at_least(least)} to "
            f"{percent(most)}."
        )

    @property
    def assumptions(self) -> list[str]:
        """What must be true for the statement to hold."""
        units = amount(self.n_rows, "row")
        if self.n_clusters is not None:
            units = f"{amount(self.n_clusters, 'cluster')} of {units}"
        listed = [
            f"The {units} are independent draws from the distribution it is about.",
            f"{self.first} and {self.second} were fixed without looking at these rows.",
        ]
        if self.n_clusters is not None:
            listed.append(
                "Errors are averaged in each cluster: clusters count alike, however many rows they have."
            )
        return listed

    def verify(self) -> bool:
        """Compute the limits anew, in forty digits, and compare; needs mpmath."""
        if not self.intact or self.problem_with_fields():
            return False
        lower, upper = limits(exact(), self.above, self.below, self.delta)
        return bool(
            lower - TOLERANCE <= self.lower <= lower + BELOW_EXACT
            and upper - BELOW_EXACT <= self.upper <= upper + TOLERANCE
        )

    def _contradictions(self) -> Iterator[str]:
        numbers = (self.n_units, *self.errors, *(x for pair in self.above + self.below for x in pair))
        if any(Whole().problem(number, self) for number in numbers):
            yield "losses, errors and their numbers must be whole numbers."
        for side in (self.above, self.below):
            if not all(place <= GRID and count > 0 for place, count in side):
                yield "losses and their numbers must be whole numbers in their ranges."
            if sum(count for _, count in side) != self.n_units or sorted(dict(side).items()) != list(side):
                yield "there are not as many losses as rows or clusters."
        if not 1 <= self.n_units <= self.n_rows or max(self.errors) > self.n_rows:
            yield "the numbers of rows are not what they can be."
        if not _mirrored(self.above, self.below, exactly=self.n_clusters is None):
            yield "the losses of the two do not go together."
        if self.n_clusters is None and not _from_errors(self.above, self.errors, self.n_rows):
            yield "the errors do not go with the losses."
        if not self.lower <= self.estimate <= self.upper:
            yield "the limits do not enclose the estimate."
        high, low = (
            sum(place * count for place, count in side) / GRID / self.n_units
            for side in (self.above, self.below)
        )
        if not 1 - 2 * low - 1e-9 <= self.estimate <= 2 * high - 1 + 1e-9:
            yield "the estimate does not go with the losses."

    def __repr__(self) -> str:
        return f"Difference({self.lower:+.4f} <= {self.estimate:+.4f} <= {self.upper:+.4f}, {self.statement})"


def difference(
    y: Any,
    first: Any,
    second: Any,
    *,
    delta: float = 0.05,
    clusters: Any = None,
    names: tuple[str, str] = ("first", "second"),
) -> Difference:
    r"""Compare the errors of two classifiers, or votes, on the same rows.

    Parameters
    ----------
    y : (m,) labels
        The true labels.
    first, second : (m,) labels
        What the two say. Both were fixed without looking at these rows. A missing answer is an error.
    delta : float, default=0.05
        The interval holds with probability at least 1 - delta.
    clusters : (m,) labels, optional
        Which rows belong together (to one patient, conversation or query): then clusters are the independent
        units, and the error is that on a random row of a random new cluster.
    names : two str, optional
        What they are called in sentences.

    Returns
    -------
    Difference
        ``lower``, ``estimate`` and ``upper`` of error(first) - error(second); negative when the first is
        better.

    Notes
    -----
    On each row (or, averaged, in each cluster) the errors differ by D in [-1, 1]. With U the limit on the
    mean of losses in [0, 1] (:mod:`votecert.numerics.bounded`) at level delta/2,
    :math:`1 - 2U((1-D)/2) \le E D \le 2U((1+D)/2) - 1`. Rows on which both are right, or both wrong, are
    losses of one half that vary not at all, which is why this is far closer than two separate limits.

    Examples
    --------
    >>> import numpy as np, votecert as vc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> old = np.where(rng.random(2000) < 0.85, y, 1 - y)
    >>> new = np.where(rng.random(2000) < 0.5, y, old)  # half of its errors are gone
    >>> found = vc.difference(y, new, old, names=("new", "old"))
    >>> found.better, found.lower < -0.07 < found.upper < 0
    ('first', True)
    """
    check_delta(delta)
    wrong = [_wrong(y, answers, name) for answers, name in zip((first, second), names, strict=True)]
    D = wrong[0].astype(np.int64) - wrong[1]
    sizes, sums, n_clusters = np.ones(len(D), dtype=np.int64), D, None
    if clusters is not None:
        own = read_clusters(clusters, len(D))
        sizes = np.bincount(own)
        sums, n_clusters = np.rint(np.bincount(own, D)).astype(np.int64), len(sizes)
    above, below = places(sizes + sums, 2 * sizes), places(sizes - sums, 2 * sizes)
    lower, upper = limits(OUTWARD, above, below, delta)
    return Difference(
        # doubling and subtracting from one rounds in the last place
        lower=max(-1.0, math.nextafter(lower, -2)),
        estimate=float(np.mean(sums / sizes)),
        upper=min(1.0, math.nextafter(upper, 2)),
        delta=float(delta),
        n_rows=len(D),
        n_clusters=n_clusters,
        first=str(names[0]),
        second=str(names[1]),
        errors=(int(wrong[0].sum()), int(wrong[1].sum())),
        above=above,
        below=below,
    )


def limits(ar: Arithmetic, above: Places, below: Places, delta: float) -> tuple[Number, Number]:
    """The lower and the upper limit, each at half of delta."""
    level = -ar.log(2 / ar.number(delta))
    high, low = (
        ar.bounded_mean_upper(
            [Fraction(place, GRID) for place, _ in side], [count for _, count in side], level
        )
        for side in (above, below)
    )
    return 1 - 2 * low, 2 * high - 1


def _mirrored(above: Places, below: Places, *, exactly: bool) -> bool:
    """Whether one side is one minus the other, up to both being rounded up."""
    if exactly:
        return below == tuple((GRID - place, count) for place, count in reversed(above))
    sides = [np.array(side).T for side in (above, below[::-1])]  # both by growing difference
    ends = [counts.cumsum() for _, counts in sides]
    at = np.union1d(*ends)
    sums = sum(places[np.searchsorted(end, at)] for (places, _), end in zip(sides, ends, strict=True))
    return bool(np.isin(sums, (GRID, GRID + 1)).all())


def _from_errors(above: Places, errors: tuple[int, int], n_rows: int) -> bool:
    """Whether rows with so many errors can differ like this: on so many one errs and the other does not."""
    times = dict(above)
    only = times.get(GRID, 0), times.get(0, 0)
    both = errors[0] - only[0]
    return (
        times.keys() <= {0, GRID // 2, GRID}
        and both == errors[1] - only[1]
        and 0 <= both <= n_rows - sum(only)
    )


def _wrong(y: Any, answers: Any, name: str) -> BoolArray:
    """Which rows the answers get wrong."""
    column = np.asarray(answers)
    if column.ndim != 1:
        raise ValueError(f"{name} must have one label a row, but its shape is {column.shape}.")
    encoded = encode(column[:, None], y, fewest_labels=1)
    return np.asarray(encoded.codes[:, 0] != encoded.labels)

"""The test-set bound: Clopper and Pearson's, for a vote that was fixed before the rows were seen."""

from __future__ import annotations

from dataclasses import dataclass

from votecert.bounds.base import Bound, Choice, Floats, Origin, Statistics, Terms, Value
from votecert.bounds.kinds import Whole
from votecert.numerics.arithmetic import Arithmetic
from votecert.rows.ballots import Ballots
from votecert.rows.predictor import scaled_votes

NOT_FIXED = {
    "learned": "These weights were learned on these rows: it would take weights that were fixed in advance.",
    "given": "Nobody says that these weights were fixed without looking at these rows; if they were, pass "
    "fixed_in_advance=True.",
}
"""Why the bound does not cover weights, by their origin."""

SEQUENTIAL = (
    "The vote, its voters and delta were fixed before seeing these rows. Whether more rows were labelled may "
    "depend on those before, but not on which of them would be wrong next."
)


@dataclass(frozen=True)
class TestSet(Bound):
    r"""Exact binomial bound for weights fixed in advance.

    Parameters
    ----------
    sequential : bool, default=False
        Whether one may look while the rows come in, and stop when the number is small enough.

    Notes
    -----
    The largest p with ``P(Bin(m, p) <= k) >= delta``, k the number of rows the vote gets wrong. None
    that grows with k and holds whatever the error is can be smaller. It says nothing about weights that were
    chosen with a look at the rows.

    That holds for a number of rows fixed in advance. The limit for all times together is
    :math:`\sup\{p: M_m(p)<1/\delta\}` with

    .. math:: M_m(p) = \frac{B(k+\frac12,m-k+\frac12)\,I_p(k+\frac12,m-k+\frac12)}
              {B(\frac12,\frac12)\,I_p(\frac12,\frac12)\;p^k(1-p)^{m-k}},

    the likelihood ratio of errors below p, mixed by the arcsine law, to p: a martingale in m if the error is
    p, so that it ever reaches :math:`1/\delta` with probability at most :math:`\delta` (Ville). Proof:
    :mod:`votecert.numerics.sequential`.
    """

    sequential: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.sequential, bool):
            raise ValueError(f"sequential must be True or False, not {self.sequential!r}.")

    __test__ = False  # not a test, whatever its name makes pytest think

    id = "test-set"
    title = "Test set (Clopper-Pearson)"
    references = ("clopper1934", "langford2005")
    counts_errors = True
    caveat = "Only for weights that were fixed without looking at these rows."
    origins = ("fixed",)
    default_for = ("fixed",)
    statistics = {"errors": Whole(0, "n_rows")}

    def caveat_for(self, origin: Origin) -> str | None:
        return NOT_FIXED.get(origin)

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        return {"errors": ballots.errors(scaled_votes(weights), fallback=choice.get("fallback"))}

    def assumptions(self) -> list[str]:
        return [SEQUENTIAL] if self.sequential else []

    def cited(self) -> tuple[str, ...]:
        return ("ville1939", "robbins1970") if self.sequential else self.references

    def on_trust(self, terms: Terms) -> list[str]:
        return []  # the only option is the more careful one

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        limit = ar.sequential_upper if self.sequential else ar.clopper_pearson_upper
        return Value(limit(terms.statistics["errors"], terms.n_rows, ar.log(terms.delta)))

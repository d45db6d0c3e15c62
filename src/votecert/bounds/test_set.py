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


@dataclass(frozen=True)
class TestSet(Bound):
    """Exact binomial bound for weights fixed in advance.

    Notes
    -----
    The largest p with ``P(Bin(m, p) <= k) >= delta``, k the number of rows the vote gets wrong. No
    bound for this predictor and these rows can be better. It says nothing about weights that were chosen with
    a look at the rows.
    """

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

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        return Value(ar.clopper_pearson_upper(terms.statistics["errors"], terms.n_rows, ar.log(terms.delta)))

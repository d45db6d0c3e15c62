"""What the result of triage says in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from votecert.certificate.text import amount, at_least, confidence, percent, share
from votecert.certificate.triage.rules import curve_risks, fewest_rows, passing, selected
from votecert.certificate.vote_record import common_assumptions
from votecert.numerics.arithmetic import OUTWARD
from votecert.rows.predictor import TIE_RULE

if TYPE_CHECKING:
    from votecert.certificate.triage.record import Triage

FACTORS = (2, 3, 5, 10, 20, 50, 100)
"""How many times the rows might do."""


def statement(triage: Triage) -> str:
    """One sentence: what is guaranteed, for which vote."""
    who = triage.who
    if triage.threshold is None:
        target = f"at most {percent(triage.max_risk)} errors"
        return f"Nothing that {who} says can be answered with {target}: {triage.reason}"
    return (
        f"With confidence {confidence(triage.delta)}, {who}, answering where its lead is at least "
        f"{lead(triage.threshold)} of all votes and handing over the rest, errs on at most "
        f"{percent(triage.risk)} of the new rows that it answers, and answers at least "
        f"{at_least(triage.coverage)} of new rows."
    )


def lead(threshold: float) -> str:
    """A threshold in percent."""
    return f"{100 * threshold:.4g} %"


def reason(triage: Triage) -> str:
    """Why nothing can be answered, and what it would take."""
    n, k = np.array(triage.answered), np.array(triage.errors)
    fewest = fewest_rows(triage.max_risk, triage.delta)
    if n[-1] < fewest:
        answered = amount(int(n[-1]), "row")
        return f"only {answered} could be answered at all, and it takes {fewest:,} without an error."
    usable = n >= fewest
    rates = np.where(usable, k / np.maximum(n, 1), 2.0)
    best = len(rates) - 1 - int(np.argmin(rates[::-1]))
    seen = (
        f"at its best {k[best]:,} of {amount(int(n[best]), 'answered row')} are wrong, {share(rates[best])}"
    )
    if rates[best] >= triage.max_risk:
        return f"{seen}. More rows would not help: it takes better voters, or a larger max_risk."
    for factor in FACTORS:
        more = replace(
            triage.counts,
            rows=factor * triage.n_rows,
            answered=[factor * x for x in triage.answered],
            errors=[factor * x for x in triage.errors],
        )
        passed = passing(OUTWARD, more, triage.max_risk, triage.delta)
        if selected(more, triage.max_risk, curve_risks(OUTWARD, more, triage.delta), passed) is not None:
            return f"{seen}, too close for so few rows. About {factor} times as many like these would do."
    return f"{seen}, too close to the limit."


def assumptions(triage: Triage) -> list[str]:
    """What must be true for the statement to hold."""
    listed = common_assumptions(triage, amount(triage.n_rows + triage.n_fitted, "row"))
    fixed = "Weights, thresholds and max_risk were fixed without looking at these rows."
    if triage.origin == "learned":
        fixed = "max_risk and the seed of the split were fixed without looking at these rows."
    return [*listed, fixed, f"Ties go to {TIE_RULE}."]

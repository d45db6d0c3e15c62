"""What the result of triage says in words where it takes some counting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from votecert.certificate.text import amount, share
from votecert.certificate.triage.rules import Counts, curve_risks, fewest_rows, selected
from votecert.numerics.arithmetic import OUTWARD

FACTORS = (2, 3, 5, 10, 20, 50, 100)
"""How many times the rows might do."""


def lead(threshold: float) -> str:
    """A threshold in percent."""
    return f"{100 * threshold:.4g} %"


def why_nothing(counts: Counts, max_risk: float, delta: float) -> str:
    """Why nothing can be answered, and what it would take."""
    n, k = np.array(counts.answered), np.array(counts.errors)
    fewest = fewest_rows(max_risk, delta)
    if n[-1] < fewest:
        answered = amount(int(n[-1]), "row")
        return f"only {answered} could be answered at all, and it takes {fewest:,} without an error."
    usable = n >= fewest
    rates = np.where(usable, k / np.maximum(n, 1), 2.0)
    best = len(rates) - 1 - int(np.argmin(rates[::-1]))
    seen = (
        f"at its best {k[best]:,} of {amount(int(n[best]), 'answered row')} are wrong, {share(rates[best])}"
    )
    if rates[best] >= max_risk:
        return f"{seen}. More rows would not help: it takes better voters, or a larger max_risk."
    for factor in FACTORS:
        more = replace(
            counts,
            rows=factor * counts.rows,
            answered=[factor * x for x in counts.answered],
            errors=[factor * x for x in counts.errors],
        )
        risks = curve_risks(OUTWARD, more, delta)
        if selected(OUTWARD, more, max_risk, delta, risks) is not None:
            return f"{seen}, too close for so few rows. About {factor} times as many like these would do."
    return f"{seen}, too close to the limit."

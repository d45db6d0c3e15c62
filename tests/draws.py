"""Statistical checks of guarantees that may fail in a share delta of the draws."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from scipy.stats import binom

NEVER = 1e-9
"""Chance that a statistical check of a valid bound fails."""


def violated_too_often(violations: Iterable[bool], n_draws: int, delta: float) -> bool:
    """Whether more of the draws are violated than a valid bound violates, but for a chance of ``NEVER``.

    The draws are made one after another, and only as long as they can still change the answer.
    """
    most = int(binom.isf(NEVER, n_draws, delta))
    assert most < n_draws, f"{n_draws} draws are too few to catch anything"
    violated = held = 0
    for violation in islice(violations, n_draws):
        violated, held = violated + bool(violation), held + (not violation)
        if violated > most or held == n_draws - most:
            break
    else:
        raise ValueError(f"there were only {violated + held} of {n_draws} draws")
    return violated > most

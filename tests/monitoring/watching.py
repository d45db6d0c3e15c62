"""Certificates to watch, new rows for them, and many monitors at once."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import votecert as vc
from votecert.numerics.sequential import UNITS, fed, log_evidence


def rows(n: int, skill: float = 0.8, seed: int = 0, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Votes of ``d`` judges and true labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    return np.where(rng.random((n, d)) < skill, y[:, None], 1 - y[:, None]), y


def certificate(**options) -> vc.Certificate:
    """A plain vote, certified on 600 rows."""
    return vc.certify(*rows(600), **{"weights": "uniform"} | options)


def answers(wrong: np.ndarray) -> dict[str, np.ndarray]:
    """Predictions and labels that are wrong where they should be."""
    y = np.arange(len(wrong)) % 2
    return {"predictions": np.where(wrong, 1 - y, y), "y": y}


Watch = Callable[[np.ndarray, np.ndarray, float, float], np.ndarray]


def e_process(errors: np.ndarray, times: np.ndarray, limit: float, alpha: float) -> np.ndarray:
    """When each of many monitors, fed row by row, alarms first; never is infinite."""
    found, capital = np.full(len(errors), np.inf), None
    for place, t in enumerate(times):
        new = errors[:, place]
        capital = fed(capital, place, {0: 1 - new, UNITS: new}, limit)
        if not place:
            capital = np.broadcast_to(capital, (len(errors), capital.shape[-1]))
        hit = log_evidence(capital, place + 1, limit) >= -math.log(alpha)
        found[hit & np.isinf(found)] = t
    return found

"""Votes and labels for all tests, and the problems that every bound must face."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from votecert.rows.ballots import Ballots


@dataclass(frozen=True)
class Problem:
    votes: np.ndarray
    y: np.ndarray
    n_classes: int

    def ballots(self, **options) -> Ballots:
        return Ballots.from_votes(self.votes, self.y, classes=list(range(self.n_classes)), **options)


def voted(m: int, accuracies, n_classes: int = 2, seed: int = 0, *, missing: float = 0.0, names=None):
    """Votes and labels: voters are right independently, with given probabilities, and wrong in any way.

    A share of the votes may be missing (NaN), and classes may have names.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=m)
    right = rng.random((m, len(accuracies))) < np.asarray(accuracies, dtype=float)
    wrong = (y[:, None] + rng.integers(1, n_classes, size=right.shape)) % n_classes
    votes = np.where(right, y[:, None], wrong)
    if names is not None:
        names = np.asarray(names)
        return names[votes], names[y]
    return (np.where(rng.random(votes.shape) < missing, np.nan, votes), y) if missing else (votes, y)


def guessed(m: int, accuracies, n_classes: int = 2, seed: int = 0):
    """Votes and labels: voters know the answer, with given probabilities, and guess otherwise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=m)
    right = rng.random((m, len(accuracies))) < np.asarray(accuracies)
    return np.where(right, y[:, None], rng.integers(n_classes, size=right.shape)), y


def independent(m: int, accuracies, n_classes: int = 2, seed: int = 0, *, missing: float = 0.0) -> Problem:
    return Problem(*voted(m, accuracies, n_classes, seed, missing=missing), n_classes)


def duplicated() -> Problem:
    base = independent(300, [0.8, 0.7, 0.6], seed=5)
    return Problem(np.repeat(base.votes, 4, axis=1), base.y, 2)


def anti_correlated() -> Problem:
    base = independent(400, [0.75, 0.65], seed=6)
    return Problem(np.concatenate([base.votes, 1 - base.votes], axis=1), base.y, 2)


def abstaining(n_classes: int) -> Problem:
    base = independent(300, [0.9, 0.8, 0.7, 0.7], n_classes, seed=7)
    votes = base.votes.astype(float)
    votes[np.random.default_rng(8).random(votes.shape) < 0.2] = np.nan
    return Problem(votes, base.y, n_classes)


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "one row": lambda: independent(1, [0.9, 0.6], seed=1),
    "two rows": lambda: independent(2, [0.9, 0.6, 0.6], seed=2),
    "one voter": lambda: independent(200, [0.85], seed=3),
    "one perfect voter": lambda: independent(50, [1.0]),
    "two voters": lambda: independent(150, [0.9, 0.7], seed=4),
    "two classes": lambda: independent(1000, np.linspace(0.6, 0.9, 10)),
    "three classes": lambda: independent(500, np.linspace(0.5, 0.9, 10), 3),
    "ten classes": lambda: independent(2000, np.linspace(0.6, 0.95, 10), 10),
    "300 voters": lambda: independent(600, np.full(300, 0.6)),
    "100 000 rows": lambda: independent(100_000, [0.9, 0.85, 0.8, 0.75, 0.7]),
    "perfect voters": lambda: independent(500, np.ones(6)),
    "useless voters": lambda: independent(400, np.full(7, 0.5)),
    "always wrong": lambda: independent(100, np.zeros(3)),
    "duplicated voters": duplicated,
    "anti-correlated voters": anti_correlated,
    "abstentions, two classes": lambda: abstaining(2),
    "abstentions, three classes": lambda: abstaining(3),
}


@cache
def problem(name: str) -> Problem:
    return PROBLEMS[name]()


@cache
def ballots(name: str) -> Ballots:
    return problem(name).ballots()


def weights(kind: str, d: int) -> np.ndarray:
    """Weights of some kind for d voters."""
    if kind == "uniform":
        return np.full(d, 1 / d)
    if kind == "uneven":
        theta = np.random.default_rng(d).dirichlet(np.ones(d))
    else:  # zeros: every other voter has none
        theta = np.where(np.arange(d) % 2 == 0, 1.0 + np.arange(d), 0.0)
    return theta / theta.sum()


WEIGHTS = ("uniform", "uneven", "zeros")

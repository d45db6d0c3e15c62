"""Checks that a valid bound passes and a broken one fails; used for the library's bounds and for mutants."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from draws import violated_too_often

from votecert.bounds.base import Bound, Evaluation
from votecert.numerics import clopper_pearson_upper
from votecert.rows.ballots import Ballots

COUNTED = ("occam", "test-set", "gz", "bg", "bg+")
TOLERANCES = (
    dict.fromkeys(COUNTED, 1e-12)  # a relative 1e-12 of the confidence or of the complexity, nothing else
    | dict.fromkeys(
        ("fo", "so", "bin", "cctnd", "ccpbb", "bg++"), 2e-11
    )  # 1e-12 for a mean, times the slopes
    | dict.fromkeys(("dirichlet-margin", "dirichlet-margin-published", "bin-margin", "partition"), 1e-9)
    | dict.fromkeys(("f2", "dirichlet", "dirichlet-stochastic", "dirichlet-stochastic-published"), 2e-9)
    | {"c-bound": 2.5e-8}  # 1e-9 for the complexity, times its slope of about twenty
)
"""How far above its formula a certificate may be: what the rounding of the special functions explains."""


def check_envelope(bound: Bound, m: int, delta: float = 0.05) -> None:
    """One voter: nothing is learned, so no valid bound may beat the exact binomial one, whatever k."""
    for k in (k for k in range(m + 1) if k <= 10 or k % 10 == 0 or m - k <= 2):
        votes = (np.arange(m) < k).astype(int)[:, None]
        rows = Ballots.from_votes(votes, np.zeros(m, dtype=int), classes=[0, 1])
        limit = float(clopper_pearson_upper(k, m, math.log(delta)))
        risk = bound.evaluate(rows, np.ones(1), delta).risk
        assert risk >= limit * (1 - 1e-9), f"{bound.id}: {risk} is below {limit} at k={k}, m={m}"


def check_rounding(bound: Bound, found: Evaluation) -> None:
    """The certificate is not below its formula in forty digits, and above by no more than the rounding."""
    from votecert.numerics import exact

    precise = min(1, bound.formula(exact(40), found.terms).risk)
    assert precise <= found.risk <= precise + TOLERANCES[bound.id], (
        f"{bound.id}: {found.risk!r} for {precise!r}"
    )


def check_payment(bound: Bound, rows: Ballots, theta: np.ndarray, delta: float = 0.05, **single) -> None:
    """A grid costs as much as fixing the chosen point in advance with the share of delta it was given."""
    found = bound.evaluate(rows, theta, delta)
    share = math.fsum(part for name, part in found.ledger.items() if not name.startswith("the other"))
    options = {name: (found.terms.choice[key],) for name, key in single.items()}
    alone = replace(bound, **options).at(rows, theta, share, found.terms.choice)
    assert math.fsum(found.ledger.values()) <= delta * (1 + 1e-12)
    assert found.risk >= alone.risk * (1 - 1e-12), f"{bound.id} does not pay for its grid"


def check_divergence_is_paid(bound: Bound, n_rows: int = 4000, delta: float = 0.05) -> None:
    """Weights far from the prior cost more than the same weights with a prior like them."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_rows)
    wrong = rng.random((n_rows, 5)) < [0.02, 0.4, 0.4, 0.4, 0.4]
    rows = Ballots.from_votes(y[:, None] ^ wrong, y, classes=[0, 1])
    theta = np.array([0.92, 0.02, 0.02, 0.02, 0.02])
    far = bound.evaluate(rows, theta, delta)
    near = bound.at(rows, theta, delta, far.terms.choice, prior=5 * theta)
    assert near.risk < far.risk < 1, f"{bound.id} does not pay for the divergence"


def lucky_weights(rows: Ballots) -> list[np.ndarray]:
    """Weights that overfit: the luckiest voters, alone and together, sparse and smoothed."""
    d = rows.n_voters
    order = np.argsort(rows.voter_errors(), kind="stable")
    found = []
    for top in (1, 3, 5, 25):
        sparse = np.zeros(d)
        sparse[order[:top]] = 1 / top
        found += [sparse, 0.95 * sparse + 0.05 / d]
    return found


def check_coin_flips(bound: Bound, n_draws: int = 12, d: int = 500, m: int = 40, delta: float = 0.1) -> None:
    """Random voters, random labels: every vote errs half of the time, however lucky it looks."""

    def violated(draw: int) -> bool:
        rng = np.random.default_rng(1000 + draw)
        votes, y = rng.integers(2, size=(m, d)), rng.integers(2, size=m)
        rows = Ballots.from_votes(votes, y, classes=[0, 1])
        return any(bound.evaluate(rows, theta, delta).risk < 0.5 for theta in lucky_weights(rows))

    too_often = violated_too_often(map(violated, range(n_draws)), n_draws, delta)
    assert not too_often, f"{bound.id} is violated too often"


class FiniteWorld:
    """A distribution on finitely many (votes, label) atoms, so that every vote's risk is known exactly."""

    def __init__(self, d: int, c: int, n_atoms: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.y = rng.integers(c, size=n_atoms)
        right = rng.random((n_atoms, d)) < rng.uniform(0.3, 0.95, size=n_atoms)[:, None]
        wrong = (self.y[:, None] + rng.integers(1, c, size=right.shape)) % c
        self.votes = np.where(right, self.y[:, None], wrong)
        self.probability = rng.dirichlet(np.ones(n_atoms))
        self.classes = list(range(c))
        self.atoms = Ballots.from_votes(self.votes, self.y, classes=self.classes, compress=False)

    def sample(self, m: int, rng: np.random.Generator) -> Ballots:
        rows = rng.choice(len(self.y), size=m, p=self.probability)
        return Ballots.from_votes(self.votes[rows], self.y[rows], classes=self.classes)

    def risk(self, votes, offsets=None) -> float:
        """True error of a whole-number vote."""
        wrong = self.atoms.predict(votes, offsets) != self.y
        return float(self.probability[wrong].sum())

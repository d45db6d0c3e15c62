"""The paper's comparison of margin bounds without data: their values if a margin error is known.

Rows are of two kinds: a share of them is wrong by all voters, and on the others the right voters have just
more than ``1/2 + g`` of the weight. No set of rows with that margin error at margin g is worse for any of the
bounds.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

import votecert as vc
from votecert.paper.cells import Panel
from votecert.paper.formats import Array
from votecert.paper.measure import WIDE
from votecert.paper.results import Record

N_VOTERS = 100
DELTA = 0.5
"""As printed under the figure."""

N_WEIGHTS = 3
MARGINS = tuple(np.round(np.geomspace(0.01, 0.49, 24), 5).tolist())
SAME_FOR_ALL_WEIGHTS = ("bg", "bg+", "gz")


def measure_panel(panel: Panel, margins: tuple[float, ...] = MARGINS) -> Record:
    """Every bound at every margin, for the same three weight vectors in all panels."""
    began = time.process_time()
    drawn = np.random.default_rng(0).dirichlet(np.ones(N_VOTERS), size=N_WEIGHTS)
    series: dict[str, list[float]] = {name: [] for name in SAME_FOR_ALL_WEIGHTS}
    for margin in margins:
        ballots = rows_at(margin, drawn[0], panel)
        for name in SAME_FOR_ALL_WEIGHTS:
            series[name].append(_risk(ballots, drawn[0], name, margin))
    for number, weights in enumerate(drawn, start=1):
        for name in ("bg++", "dirichlet-margin-published", "dirichlet-margin", "dirichlet"):
            series[f"{name} {number}"] = [
                _risk(rows_at(margin, weights, panel), weights, name, margin) for margin in margins
            ]
    limit = vc.certify(rows_at(0.25, drawn[0], panel), weights=drawn[0], bound="test-set", delta=DELTA)
    return {
        "cell": panel.key,
        "rows": panel.n_rows,
        "margin_error": panel.margin_error,
        "n_voters": N_VOTERS,
        "delta": DELTA,
        "margins": list(margins),
        "series": {name: [float(f"{value:.5g}") for value in values] for name, values in series.items()},
        "limit": limit.risk,
        "seconds": round(time.process_time() - began, 3),
        "version": vc.__version__,
    }


def rows_at(margin: float, weights: Array, panel: Panel) -> vc.Ballots:
    """Rows with exactly the panel's margin error at this margin.

    Examples
    --------
    >>> weights = np.full(100, 0.01)
    >>> rows = rows_at(0.1, weights, Panel(2000, 0.1))
    >>> rows.n_rows, rows.n_patterns, float((rows.margins(weights) <= 0.1) @ rows.counts)
    (2000, 2, 200.0)
    """
    right = right_voters(weights, 0.5 + margin)
    n_wrong = round(panel.margin_error * panel.n_rows)
    votes = np.zeros((panel.n_rows, len(weights)), dtype=np.uint8)
    votes[n_wrong:, right] = 1
    return vc.Ballots.from_votes(votes, np.ones(panel.n_rows, dtype=np.uint8), classes=(0, 1))


def right_voters(weights: Array, least: float) -> Array:
    """A set of voters whose weight is just above ``least``.

    Examples
    --------
    >>> chosen = right_voters(np.array([0.5, 0.3, 0.15, 0.05]), 0.6)
    >>> float(np.array([0.5, 0.3, 0.15, 0.05])[chosen].sum())
    0.65
    """
    chosen = np.ones(len(weights), dtype=bool)
    surplus = float(weights.sum()) - least
    for voter in np.argsort(weights)[::-1]:
        if weights[voter] < surplus - 1e-9:
            chosen[voter] = False
            surplus -= float(weights[voter])
    return chosen


def _risk(ballots: vc.Ballots, weights: Array, name: str, margin: float) -> float:
    """The bound at this margin; those that hold for all margins at once need not be told."""
    bound: Any = vc.BOUNDS[name]
    if name not in ("gz", "dirichlet"):
        bound = replace(bound, margins=(margin,))
    if name.startswith("dirichlet-margin"):
        bound = replace(bound, concentrations=WIDE)
    return float(vc.certify(ballots, weights=weights, bound=bound, delta=DELTA).risk)

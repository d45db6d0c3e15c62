"""One cell: learn weights by an objective, bound their risk in every way the figures show, test them."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np

import votecert as vc
from votecert.paper.cells import PUBLISHED, TEXT, Cell
from votecert.paper.protocol import Votes
from votecert.paper.results import Record

DELTA = 0.05
ADAM = ("fo", "so", "bin", "f2", PUBLISHED)
"""Objectives that the paper minimises by Adam. CCTND and CCPBB have a full-batch descent of their own."""

WIDE = (1e-2, 1e9)
"""Range of K for "a thorougher search": nothing is gained beyond it."""

MARGIN_BOUNDS = ("bg", "bg+", "gz")
SIGNIFICANT = 7

FEW_VOTERS = 36
"""Weights of at most so many voters are kept."""


def measure(cell: Cell, votes: Votes) -> Record:
    """Everything that figures, tables and claims need from a cell, as JSON values."""
    began = time.process_time()
    ballots = votes.ballots()
    record: Record = {
        "cell": cell.key,
        "data": cell.group.data,
        "voters": cell.group.voters,
        "trial": cell.group.trial,
        "objective": cell.objective,
        "rows": ballots.n_rows,
        "test_rows": len(votes.test_y),
        "n_voters": ballots.n_voters,
        "classes": ballots.n_classes,
        "version": vc.__version__,
    }
    record |= _occam(cell, votes, ballots) if cell.objective == "occam" else _weighted(cell, votes, ballots)
    record["seconds"] = time.process_time() - began
    return {name: _rounded(value) for name, value in record.items()}


def _occam(cell: Cell, votes: Votes, ballots: vc.Ballots) -> Record:
    """Whole-number votes: the certificate is about its own predictor, constant voters included."""
    certificate = vc.certify(
        ballots,
        weights="learn",
        bound="occam",
        delta=DELTA,
        random_state=cell.group.trial,
        time_budget=math.inf,
    )
    _refuse_cut_short(certificate.details)
    answers = np.asarray(certificate.predict(votes.test_votes))
    return {
        "method": "search",
        "test_error": float(np.mean(answers != votes.test_y)),
        "train_error": certificate.empirical_risk,
        "bounds": {
            "occam": {"risk": certificate.risk},
            "test-set": {"risk": _limit(certificate.errors, ballots.n_rows)},
        },
    }


def _refuse_cut_short(details: dict[str, float]) -> None:
    """Learning takes an interrupt for a wish to have the best so far; here it has to end the run."""
    if details["interrupted"]:
        raise KeyboardInterrupt


def _limit(errors: int, n_rows: int) -> float:
    """What a fresh sample with as many errors would show: no certificate for learned weights can be lower."""
    right = np.arange(n_rows) >= errors
    sample = vc.Ballots.from_votes(right.astype(int)[:, None], np.ones(n_rows, dtype=int), classes=(0, 1))
    return float(vc.certify(sample, weights="uniform", bound="test-set", delta=DELTA).risk)


def _weighted(cell: Cell, votes: Votes, ballots: vc.Ballots) -> Record:
    """Real-valued weights: the bound of the objective and all others at the same weights."""
    method, objective = learner(cell.objective, cell.group.trial), cell.objective.removesuffix(TEXT)
    began = time.process_time()
    found = vc.learn(ballots, objective=objective, delta=DELTA, method=method)
    _refuse_cut_short(found.evaluation.details)
    learning_seconds = time.process_time() - began
    bounds = {"objective": _entry(found.risk, found.evaluation.terms.choice)}
    for name, bound in _bounds(objective, ballots.n_classes, found.concentration).items():
        certificate = vc.certify(ballots, weights=found.weights, bound=bound, delta=DELTA)
        bounds[name] = _entry(certificate.risk, certificate.terms.choice)
    if ballots.n_classes > 2:
        bounds["printed-wrong-weight"] = wrong_weight(votes, found.weights)
    test = votes.test_ballots()
    limit = vc.certify(ballots, weights=found.weights, bound="test-set", delta=DELTA)
    return {
        "method": method.id,
        "start": method.start if isinstance(method, vc.Adam) else None,
        "learning_seconds": learning_seconds,
        "test_error": vote_error(test, found.weights),
        "train_error": limit.empirical_risk,
        "bounds": bounds,
    } | ({"weights": found.weights.tolist()} if ballots.n_voters <= FEW_VOTERS else {})


def learner(objective: str, seed: int) -> vc.Adam | vc.LBFGS:
    """What learns an objective: Adam as the authors' program runs it, or as their text says."""
    if objective.removesuffix(TEXT) not in ADAM:
        return vc.LBFGS(random_state=seed)
    if objective.endswith(TEXT):
        return vc.Adam(random_state=seed, start="equal", learn_margin=False)
    return vc.Adam(random_state=seed)


def _bounds(objective: str, n_classes: int, concentration: float | None) -> dict[str, Any]:
    """The bounds to evaluate, with the search that each is entitled to."""
    printed = vc.BOUNDS["dirichlet-margin-published"].in_paper_search()
    first = concentration or 1.0
    corrected = vc.BOUNDS["dirichlet-margin"].in_paper_search()
    bounds: dict[str, Any] = {
        "printed": _with(printed, concentrations=(first, first * 2.0**16)),
        "printed-wide": _with(printed, concentrations=WIDE),
        "corrected": _with(corrected, concentrations=WIDE),
        "dirichlet": vc.BOUNDS["dirichlet"],
        "test-set": vc.BOUNDS["test-set"],
    }
    if objective == PUBLISHED:
        bounds["stochastic-corrected"] = vc.BOUNDS["dirichlet-stochastic"]
    if n_classes == 2:
        bounds |= {name: vc.BOUNDS[name].in_paper_search() for name in MARGIN_BOUNDS}
        bounds["bg++"] = vc.BOUNDS["bg++"]  # not in the paper's figure, so with the library's own search
    return bounds


def _with(bound: Any, **options: Any) -> Any:
    return replace(bound, **options)


def wrong_weight(votes: Votes, weights: Any) -> Record:
    """The printed bound with the margin of the authors' program: right weight against all wrong weight."""
    right = (votes.votes == votes.y[:, None]).astype(int)
    ballots = vc.Ballots.from_votes(right, np.ones(len(right), dtype=int), classes=(0, 1))
    bound = _with(vc.BOUNDS["dirichlet-margin-published"].in_paper_search(), concentrations=WIDE)
    certificate = vc.certify(ballots, weights=weights, bound=bound, delta=DELTA)
    return _entry(certificate.risk, certificate.terms.choice)


def vote_error(ballots: vc.Ballots, weights: Any) -> float:
    """Share of rows that the weighted vote gets wrong, ties to the smallest class."""
    certificate = vc.certify(ballots, weights=weights, bound="test-set", delta=DELTA)
    return float(certificate.empirical_risk)


def _entry(risk: float, choice: dict[str, Any]) -> Record:
    kept = {"margin": "margin", "concentration": "K", "draws": "draws"}
    return {"risk": risk} | {short: choice[name] for name, short in kept.items() if name in choice}


def _rounded(value: Any) -> Any:
    """Numbers to seven digits: more would only make the files longer."""
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT}g}")
    return value

"""The time budget: looked at often enough by every learner, with time left for the certificate."""

from __future__ import annotations

import numpy as np
import pytest

import votecert as vc
from votecert.bounds.occam_prior import OccamPrior
from votecert.learning import _error_counter, _real_weights, _stacking, budget
from votecert.learning._criterion import Criterion
from votecert.learning._descent import Descent, FoundVote
from votecert.learning._error_counter import error_counter
from votecert.learning._prior_scores import PriorScores
from votecert.learning.budget import Budget, OutOfTime
from votecert.rows.ballots import Ballots
from votecert.rows.scores import Scores


class Clock:
    """Stands still but for the work that is counted."""

    time = 0.0

    def __call__(self) -> float:
        return self.time

    def counting(self, work, seconds=1.0):
        def counted(*arguments, **options):
            self.time += seconds
            return work(*arguments, **options)

        return counted


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(budget, "now", clock)
    monkeypatch.setattr(_real_weights, "now", clock)
    return clock


def rows(m: int = 150, d: int = 10, c: int = 2) -> Ballots:
    rng = np.random.default_rng(0)
    y = rng.integers(c, size=m)
    right = rng.random((m, d)) < np.linspace(0.3, 0.8, d)
    return Ballots.from_votes(np.where(right, y[:, None], rng.integers(c, size=(m, d))), y, classes=range(c))


LONG = 200.0
SHARES = (0.1, 0.3, 0.6, 0.9)
"""Parts of the time it takes, at which it is cut short."""

LEARNERS = {
    "whole votes, two classes": (rows(), {"split": 0}),
    "whole votes, three classes": (rows(c=3), {"split": 0}),
    "soft votes": (
        Scores.from_scores(0.2 + np.eye(3)[rows(c=3).codes], rows(c=3).labels),
        {"split": 0},
    ),
    "lbfgs": (rows(), {"objective": "f2"}),
    "lbfgs, three classes": (rows(c=3), {"objective": "dirichlet"}),
    "adam": (rows(5000), {"objective": "f2", "method": "adam"}),
}


def count_the_work(clock, monkeypatch):
    """Each pass over the rows is a second: counting errors, fitting, evaluating a bound and its slope."""
    for kind in (
        _error_counter.BinaryErrorCounter,
        _error_counter.MulticlassErrorCounter,
        _error_counter.SoftErrorCounter,
    ):
        for name in ("errors_of_many", "errors_after", "errors_after_pairs", "tally"):
            if hasattr(kind, name):
                monkeypatch.setattr(kind, name, clock.counting(getattr(kind, name)))
    for name in ("logistic_loss", "softmax_loss"):
        monkeypatch.setattr(_stacking, name, clock.counting(getattr(_stacking, name)))
    for bound in ("f2", "dirichlet"):
        kind = type(vc.BOUNDS[bound])
        for name in ("search", "objective"):
            monkeypatch.setattr(kind, name, clock.counting(getattr(kind, name)))


@pytest.mark.parametrize("name", LEARNERS)
def test_the_budget_is_kept(name, clock, monkeypatch):
    count_the_work(clock, monkeypatch)
    ballots, options = LEARNERS[name]
    vc.learn(ballots, time_budget=LONG, **options)
    needed = min(clock.time, LONG)
    assert needed > 60  # there is something to cut short
    for share in SHARES:
        clock.time = 0.0
        found = vc.learn(ballots, time_budget=share * needed, **options)
        assert found.evaluation.details["interrupted"] == 1.0
        assert share * needed <= clock.time <= 1.2 * share * needed + 3


def test_rows_are_sampled_where_an_evaluation_takes_long(clock, monkeypatch):
    monkeypatch.setattr(_real_weights, "PROBED", 40)
    ballots, bound = rows(1000), vc.BOUNDS["f2"]
    monkeypatch.setattr(type(bound), "objective", clock.counting(type(bound).objective, 0.01))
    assert _real_weights.affordable(ballots, bound, 0.05, None, Budget()) is ballots
    assert _real_weights.affordable(ballots, bound, 0.05, None, Budget(1e6)) is ballots
    some = _real_weights.affordable(ballots, bound, 0.05, None, Budget(2.0))
    assert 40 <= some.n_patterns < 200
    found = vc.learn(ballots, objective="f2", time_budget=2.0).evaluation
    assert found.terms.n_rows == 1000  # all of them certify


def test_time_is_set_aside(clock):
    budget = Budget(10.0)
    budget.reserve(4.0)
    clock.time = 5.0
    budget.check()
    assert budget.has_time()
    clock.time = 7.0
    with pytest.raises(OutOfTime):
        budget.check()
    assert not budget.interrupted
    assert not budget.has_time()
    assert budget.interrupted


def test_what_is_no_interruption_is_not_swallowed():
    budget = Budget()
    with pytest.raises(ZeroDivisionError), budget.cut_short():
        1 / 0  # noqa: B018
    with budget.cut_short():
        raise KeyboardInterrupt
    assert budget.interrupted


def test_the_long_last_step_of_the_search_is_cut_short(clock, monkeypatch):
    """Where no change of one voter helps, those of two are tried one by one."""
    ballots = rows(c=3)
    voters, scores, criterion = (
        error_counter(ballots),
        PriorScores(OccamPrior(), 10, 3),
        Criterion(150, np.log(0.05)),
    )
    found = [FoundVote(np.ones(13, dtype=np.int64), 150, 1.0)]
    Descent(voters, scores, criterion, Budget(), found).polish()
    count_the_work(clock, monkeypatch)
    best = [min(found, key=lambda vote: vote.risk)]
    with pytest.raises(OutOfTime):
        Descent(voters, scores, criterion, Budget(6.0), best).polish()
    assert clock.time < 10

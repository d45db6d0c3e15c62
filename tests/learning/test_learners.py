"""A learner is a value: keywords are short for it, and to add one takes a class and a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import votecert as vc
from votecert.learning import LEARNERS
from votecert.learning.base import Learner
from votecert.learning.budget import Budget

rng = np.random.default_rng(0)
Y = rng.integers(2, size=200)
VOTES = np.where(rng.random((200, 4)) < [0.9, 0.8, 0.7, 0.6], Y[:, None], 1 - Y[:, None])

PAIRS = [
    ("occam", {"split": 0.4, "random_state": 3}, vc.WholeVotes(split=0.4, random_state=3)),
    (
        "occam",
        {"prior_votes": VOTES[::-1], "prior_y": Y[::-1]},
        vc.WholeVotes(prior_votes=VOTES[::-1], prior_y=Y[::-1]),
    ),
    ("occam", {"method": "whole-votes", "split": 0.0}, vc.WholeVotes(split=0.0)),
    ("f2", {"random_state": 1}, vc.LBFGS(random_state=1)),
    ("f2", {"method": "lbfgs", "max_iter": 3}, vc.LBFGS(max_iter=3)),
    ("dirichlet", {"method": "adam", "epochs": 2}, vc.Adam(epochs=2)),
]


@pytest.mark.parametrize(("bound", "keywords", "learner"), PAIRS)
def test_keywords_are_short_for_a_learner(bound, keywords, learner):
    assert vc.certify(VOTES, Y, bound=bound, **keywords) == vc.certify(VOTES, Y, bound=bound, method=learner)
    short, long = (vc.learn(VOTES, Y, objective=bound, **how) for how in (keywords, {"method": learner}))
    assert short.evaluation == long.evaluation


def test_a_learner_is_for_the_rest_of_certify_and_compare_too():
    learner = vc.WholeVotes(random_state=2)
    table, short = (
        vc.compare(VOTES, Y, weights="learn", bounds=["occam", "fo"], **how)
        for how in ({"method": learner}, {"random_state": 2})
    )
    assert [*table] == [*short]
    groups, short = (
        vc.certify(VOTES, Y, groups="class", **how) for how in ({"method": learner}, {"random_state": 2})
    )
    assert [*groups] == [*short]
    blocks = [(VOTES[:90], Y[:90]), (VOTES[90:], Y[90:])]
    assert (
        vc.certify(iter(blocks), classes=[0, 1], method=vc.WholeVotes(split=0.4)).terms
        == vc.certify(VOTES, Y, classes=[0, 1], split=0.4).terms
    )
    assert vc.certify(VOTES, Y, bound="best", method=vc.LBFGS()) == vc.certify(VOTES, Y, bound="best")


def test_a_table_of_other_rows_is_brought_into_order():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(VOTES, columns=list("abcd"))
    other = vc.WholeVotes(prior_votes=table.iloc[::-1][list("dcba")], prior_y=Y[::-1])
    assert vc.certify(table, Y, method=other) == vc.certify(
        table, Y, prior_votes=table.iloc[::-1], prior_y=Y[::-1]
    )


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"method": vc.WholeVotes(), "split": 0.1}, r"split= .* put it into method=WholeVotes\(\.\.\.\)"),
        ({"method": vc.Adam()}, "method= .* real-valued weights.* not for 'occam'"),
        ({"method": vc.WholeVotes(), "bound": "f2"}, "method= .* 'occam' fits, not for 'f2'"),
        ({"epochs": 3, "bound": "f2"}, "epochs= .* option of method='adam'"),
        ({"epochs": 3}, "epochs= .* real-valued weights"),
        ({"epoch": 3}, "no option 'epoch'. Did you mean 'epochs'"),
        ({"method": vc.LBFGS(), "weights": "uniform"}, "method can only be used with weights='learn'"),
    ],
)
def test_what_nothing_would_use_is_refused(options, match):
    with pytest.raises(TypeError, match=match):
        vc.certify(VOTES, Y, **options)


@pytest.mark.parametrize("kind", LEARNERS.values())
@pytest.mark.parametrize(
    "option", [{"random_state": -1}, {"time_budget": "long"}, {"callback": 3}, {"nonsense": 1}]
)
def test_options_are_checked_when_the_learner_is_made(kind, option):
    with pytest.raises((TypeError, ValueError), match=next(iter(option))):
        kind(**option)


@pytest.mark.parametrize(
    ("kind", "option"),
    [
        (vc.LBFGS, {"max_iter": 0}),
        (vc.LBFGS, {"split": 0.1}),
        (vc.Adam, {"epochs": 1.5}),
        (vc.Adam, {"learning_rate": 0}),
        (vc.Adam, {"batch_size": True}),
        (vc.WholeVotes, {"split": 1}),
        (vc.WholeVotes, {"prior_y": VOTES}),
        (vc.WholeVotes, {"epochs": 3}),
    ],
)
def test_learners_have_their_own_options_only(kind, option):
    with pytest.raises((TypeError, ValueError), match=next(iter(option))):
        kind(**option)


def test_weights_that_nothing_learns():
    with pytest.raises(ValueError, match=r"cannot be learned by 'bg'. Use one of: occam, dirichlet"):
        vc.learn(VOTES, Y, objective="bg")


@dataclass(frozen=True, kw_only=True)
class BestVoter(Learner):
    """All weight on the voter with the fewest errors."""

    floor: float = 0.0

    id: ClassVar[str] = "best-voter"
    purpose: ClassVar[str] = "bounds on votes with real-valued weights"

    @classmethod
    def learns(cls, bound):
        return "learned" in bound.origins

    def learn(self, rows, bound, delta, *, prior=None, fallback=None):
        budget = Budget(self.time_budget, self.callback)
        weights = np.full(rows.n_voters, self.floor)
        with budget.cut_short():
            weights[np.argmin(rows.voter_errors())] = 1.0
            budget.tell()
        return budget.marked(bound.evaluate(rows, weights / weights.sum(), delta, prior=prior))


def test_a_new_learner_is_a_class_and_a_line_in_the_registry(monkeypatch):
    monkeypatch.setitem(LEARNERS, BestVoter.id, BestVoter)
    found = vc.certify(VOTES, Y, bound="bg", method="best-voter", floor=0.1)
    assert found.weights.argmax() == 0
    assert found.verify(VOTES, Y)
    assert found.details["interrupted"] == 0.0
    assert vc.certify(VOTES, Y, bound="bg") != found  # nothing else learns it, so it is the default
    cut = vc.learn(VOTES, Y, method="best-voter", time_budget=0.0)
    assert cut.evaluation.details["interrupted"] == 1.0
    with pytest.raises(TypeError, match=r"floor= .* option of method='best-voter'"):
        vc.certify(VOTES, Y, floor=0.1)
    with pytest.raises(ValueError, match="'adam', 'best-voter'"):
        vc.certify(VOTES, Y, method="worst-voter")


def test_a_learner_need_not_be_registered():
    found = vc.learn(VOTES, Y, objective="so", method=BestVoter(floor=0.1))
    assert found.weights.argmax() == 0

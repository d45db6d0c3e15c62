from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from votecert import DecisionStumps
from votecert._splitting import out_of_fold, split_rows, voters_are_fixed

FROZEN = FrozenEstimator(GaussianNB())


def test_parts_are_apart_and_of_the_asked_size():
    for n, size, expected in ((100, 0.3, 30), (7, 0.5, 4), (4, 0.99, 2), (4, 0.01, 1)):
        fitting, certifying = split_rows(n, size, np.random.RandomState(0))
        assert len(certifying) == expected
        assert sorted([*fitting, *certifying]) == list(range(n))


def test_every_row_certifies_equally_often():
    """A row is as likely to certify as any other, whatever its place."""
    times = np.zeros(10)
    for seed in range(2000):
        times[split_rows(10, 0.5, np.random.RandomState(seed))[1]] += 1
    assert abs(times - 1000).max() < 6 * np.sqrt(500)


@pytest.mark.parametrize(
    ("estimator", "fixed"),
    [
        (FROZEN, True),
        (GaussianNB(), False),
        (RandomForestClassifier(), False),
        (DecisionStumps(), False),
        (DecisionStumps(ranges=(0, 1)), True),
        (make_pipeline(StandardScaler(), FROZEN), False),
        (make_pipeline(FrozenEstimator(StandardScaler()), FROZEN), True),
        (make_pipeline("passthrough", DecisionStumps(ranges=(0, 1))), True),
        (make_pipeline(StandardScaler(), DecisionStumps(ranges=(0, 1))), False),
        (VotingClassifier([("a", FROZEN), ("b", "drop")]), True),
        (VotingClassifier([("a", FROZEN), ("b", GaussianNB())]), False),
        (VotingClassifier([("a", make_pipeline(FrozenEstimator(StandardScaler()), FROZEN))]), True),
        # as one voter, stumps predict with the one that is best on the fitting rows
        (VotingClassifier([("a", DecisionStumps(ranges=(0, 1)))]), False),
    ],
)
def test_voters_are_fixed_if_no_part_of_them_is_fitted(estimator, fixed):
    assert voters_are_fixed(estimator) is fixed


def test_nobody_answers_on_rows_they_were_fitted_on():
    fitting = np.arange(10, 40)
    y = np.repeat([0, 1, 2], [2, 18, 30])

    def ask(fitted, asked):
        assert not set(fitted) & set(asked)
        assert set(fitted) | set(asked) == set(fitting)
        assert set(y[fitted]) == set(y[fitting])
        return asked[:, None]

    answers, asked = out_of_fold(ask, fitting, y, seed=0)
    assert sorted(asked) == fitting.tolist()
    assert np.array_equal(answers[:, 0], asked)


def test_folds_with_different_members_are_refused():
    sizes = iter([3, 3, 2, 3, 3])
    with pytest.raises(ValueError, match="differs from fold to fold"):
        out_of_fold(lambda _, asked: np.zeros((len(asked), next(sizes))), np.arange(20), np.arange(20) % 2, 0)

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from votecert import DecisionStumps
from votecert.classifier.rows import out_of_fold, split_rows, voters_are_fixed

FROZEN = FrozenEstimator(GaussianNB())


def test_parts_are_apart_and_of_the_asked_size():
    for n, size, expected in ((100, 0.3, 30), (7, 0.5, 4), (4, 0.99, 2), (4, 0.01, 1)):
        fitting, certifying = split_rows(np.arange(n), size, np.random.RandomState(0))
        assert len(certifying) == expected
        assert sorted([*fitting, *certifying]) == list(range(n))


def test_every_row_certifies_equally_often():
    """A row is as likely to certify as any other, whatever its place."""
    times = np.zeros(10)
    for seed in range(2000):
        times[split_rows(np.arange(10), 0.5, np.random.RandomState(seed))[1]] += 1
    assert abs(times - 1000).max() < 6 * np.sqrt(500)


def test_two_rows_of_a_second_class_are_enough_for_two_classes_to_fit_on():
    for n in (4, 5, 9):
        for seed in range(300):
            labels = np.zeros(n, dtype=int)
            labels[[seed % n, (seed + 2) % n]] = 1
            fitting, certifying = split_rows(labels, 0.5, np.random.RandomState(seed))
            assert set(labels[fitting]) == {0, 1}
            assert len(certifying)


def test_rows_without_weight_are_no_class_to_fit_on():
    labels = np.array([0, 0, 0, 1, 1, 1])
    for seed in range(100):
        weighted = np.ones(6, dtype=bool)
        weighted[3 + seed % 3] = False
        fitting, _ = split_rows(labels, 0.5, np.random.RandomState(seed), weighted)
        assert set(labels[fitting][weighted[fitting]]) == {0, 1}


def test_rows_that_certify_are_a_fair_sample_of_a_rare_class():
    """Rows are drawn from a world; those that certify must be too, whatever fitted."""
    rng = np.random.default_rng(0)
    share, excess, extended = 0.1, [], 0
    for seed in range(4000):
        labels = (rng.random(8) < share).astype(int)
        excess.append(0.0)  # where there is no certificate, there is no false one
        if labels.any():
            with suppress(ValueError):
                fitting, certifying = split_rows(labels, 0.5, np.random.RandomState(seed))
                extended += len(fitting) > 4
                excess[-1] = np.sum(labels[certifying] - share)
    assert extended > 500
    assert abs(np.mean(excess)) < 4 * np.std(excess) / np.sqrt(len(excess))


def test_one_row_of_a_second_class_cannot_both_fit_and_certify():
    labels = np.array([0, 0, 0, 0, 1])
    outcomes = set()
    for seed in range(100):
        try:
            outcomes.add(len(split_rows(labels, 0.5, np.random.RandomState(seed))[1]))
        except ValueError as error:
            outcomes.add(str(error)[:25])
    assert outcomes == {2, 1, "All rows but one are of o"}


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


def test_the_only_row_of_a_class_is_never_held_out():
    y = np.array([0, 0, 1, 2, 2, 2])

    def ask(fitted, asked):
        assert set(y[fitted]) == {0, 1, 2}
        return asked[:, None]

    _, asked = out_of_fold(ask, np.arange(6), y, seed=0)
    assert sorted(asked) == [0, 1, 3, 4, 5]
    with pytest.raises(ValueError, match="No class has two rows"):
        out_of_fold(ask, np.arange(3), np.arange(3), seed=0)


def test_folds_with_different_members_are_refused():
    sizes = iter([3, 3, 2, 3, 3])
    with pytest.raises(ValueError, match="differs from fold to fold"):
        out_of_fold(lambda _, asked: np.zeros((len(asked), next(sizes))), np.arange(20), np.arange(20) % 2, 0)

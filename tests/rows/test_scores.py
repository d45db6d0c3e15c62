"""Soft votes: added up in one fixed order, ties are errors, bad input is refused."""

import numpy as np
import pytest

from votecert.rows.predictor import WeightedVote
from votecert.rows.scores import Scores, soft_totals, tied


def some_scores(m: int = 200, d: int = 4, c: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(c), size=(m, d)), rng.integers(c, size=m)


def test_totals_are_weighted_sums_with_offsets():
    values, _ = some_scores()
    totals = soft_totals(values, [3, 0, 1, 2], offsets=[0, 1, 0])
    expected = np.einsum("i,xik->xk", [3.0, 0.0, 1.0, 2.0], values) + np.array([0, 1, 0])
    np.testing.assert_allclose(totals, expected, rtol=1e-13)


def test_a_row_does_not_depend_on_the_other_rows():
    values, _ = some_scores(m=100_000, d=3, c=2)
    votes = [7, 5, 3]
    together = soft_totals(values, votes)
    for row in (0, 12_345, 99_999):
        np.testing.assert_array_equal(soft_totals(values[row : row + 1], votes)[0], together[row])


def test_float32_scores_are_added_up_in_float64():
    values = np.full((1, 3, 2), 0.1, dtype=np.float32)
    assert soft_totals(values, [1, 1, 1])[0, 0] == 3 * float(np.float32(0.1))


def test_ties_are_errors_and_predictions_go_to_the_first_class():
    scores = Scores.from_scores([[[0.1, 0.2], [0.2, 0.1]], [[0.9, 0.1], [0.5, 0.5]]], [0, 0], classes=[0, 1])
    # 0.1 + 0.2 and 0.2 + 0.1 are equal; with three voters they might differ in the last digit
    assert scores.errors([1, 1]) == 1
    assert scores.ties([1, 1]) == 1
    assert scores.predict([1, 1]).tolist() == [-1, 0]
    vote = WeightedVote((1, 1), (0, 0), (0, 1), "soft")
    assert vote.predict(scores.values).tolist() == [0, 0]


def test_almost_equal_totals_are_tied():
    totals = np.array([[1.0, 1.0 + 1e-12], [1.0, 1.0 + 1e-6], [-1.0, -1.0 - 1e-12], [0.0, 0.0]])
    assert tied(totals).tolist() == [True, False, True, True]
    assert tied(np.ones((2, 1))).tolist() == [False, False]


def test_errors_count_the_vote():
    values, y = some_scores()
    scores = Scores.from_scores(values, y)
    expected = np.sum(np.argmax(values.sum(axis=1), axis=1) != y)
    assert scores.errors([1, 1, 1, 1]) == expected
    assert scores.errors([1, 1, 1, 1], offsets=[9, 0, 0]) == np.sum(y != 0)


def test_subsets_are_given_by_masks_or_indices():
    values, y = some_scores()
    scores = Scores.from_scores(values, y)
    mask = y == 1
    by_mask, by_index = scores.subset(mask), scores.subset(np.flatnonzero(mask))
    assert by_mask.n_rows == mask.sum()
    np.testing.assert_array_equal(by_mask.values, by_index.values)
    np.testing.assert_array_equal(by_mask.labels, by_index.labels)
    with pytest.raises(ValueError, match="no rows"):
        scores.subset(np.zeros(200, dtype=bool))
    with pytest.raises(ValueError, match="twice"):
        scores.subset([0, 0])


def test_labels_of_any_kind():
    values, y = some_scores(c=2)
    words = np.array(["no", "yes"])[y]
    assert Scores.from_scores(values, words).classes.tolist() == ["no", "yes"]
    declared = Scores.from_scores(values, words, classes=["yes", "no"])
    assert declared.classes_declared
    assert declared.labels.tolist() == (1 - y).tolist()


@pytest.mark.parametrize(
    ("scores", "y", "message"),
    [
        (np.ones((3, 2)), [0, 1, 0], "shape"),
        (np.ones((0, 2, 2)), [], "shape"),
        (np.full((2, 1, 2), np.nan), [0, 1], "missing"),
        (np.ones((2, 1, 2)), [0, 1, 1], "one label a row"),
        (np.ones((2, 1, 3)), [0, 1], "classes="),
        (np.ones((2, 1, 2)), [1, 1], "classes="),
    ],
)
def test_refuses_what_is_not_scores(scores, y, message):
    with pytest.raises(ValueError, match=message):
        Scores.from_scores(scores, y)


def test_refuses_words_for_scores_and_the_wrong_number_of_votes():
    with pytest.raises(TypeError, match="numbers"):
        Scores.from_scores(np.full((2, 1, 2), "a"), [0, 1])
    with pytest.raises(ValueError, match="voters"):
        soft_totals(np.ones((2, 3, 2)), [1, 1])


def test_whole_number_scores_are_accepted():
    assert Scores.from_scores(np.array([[[1, 0]], [[0, 1]]]), [0, 1]).errors([1]) == 0


@pytest.mark.parametrize(
    "y", [["a", "a", float("nan")], ["a", "a", None], np.ma.array([0, 1, 1], mask=[False, False, True])]
)
def test_a_missing_label_is_no_class(y):
    with pytest.raises(ValueError, match="no label in row 2"):
        Scores.from_scores(np.ones((3, 1, 2)), y)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.ones((3, 2)), "must have shape"),
        (np.ones((3, 2, 3)), "2 classes but the scores are for 3"),
        (np.full((3, 2, 2), np.nan), "missing or infinite"),
    ],
)
def test_new_rows_are_checked(scores, message):
    with pytest.raises(ValueError, match=message):
        WeightedVote((1, 1), (0, 0), ("a", "b"), kind="soft").predict(scores)

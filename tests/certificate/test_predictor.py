"""The predictor is the certified vote: ties, fallback, order of the voters, weights to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

import votecert as vc
from votecert.rows.predictor import WeightedVote


def test_ties_go_to_the_first_class():
    vote = WeightedVote((1, 1), (0, 0, 0), ("c", "a", "b"))
    assert vote.predict([["b", "a"], ["a", "c"], ["b", "b"]]).tolist() == ["a", "c", "b"]


def test_rows_without_votes_are_errors_unless_a_fallback_was_fixed():
    votes, y = [[None, None]] * 3 + [["a", "a"], ["b", "b"]] * 20, ["a"] * 3 + ["a", "b"] * 20
    without = vc.certify(votes, y, weights="uniform")
    with_fallback = vc.certify(votes, y, weights="uniform", fallback="a")
    assert (without.errors, with_fallback.errors) == (3, 0)
    other = vc.certify(votes, y, weights="uniform", fallback="b")
    assert other.errors == 3
    assert other.predict([[None, None]]).tolist() == ["b"]
    assert with_fallback.predict([[None, None]]).tolist() == ["a"]


@pytest.mark.parametrize("bound", ["test-set", "dirichlet", "occam"])
def test_certified_errors_are_those_of_the_predictor_for_any_weights(bound):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=500)
    votes = np.where(rng.random((500, 12)) < 0.5, y[:, None], rng.integers(3, size=(500, 12)))
    for theta in rng.dirichlet(np.ones(12), size=3):
        certificate = vc.certify(votes, y, weights=theta, bound=bound)
        predicted = certificate.predict(votes)
        assert certificate.errors == np.count_nonzero(predicted != y)
        if bound != "occam":  # which rounds the weights
            totals = np.stack([(votes == k) @ theta for k in range(3)], axis=1)
            assert np.array_equal(predicted, totals.argmax(axis=1))


def test_weights_that_nearly_tie_are_not_rounded_away():
    theta = np.array([0.5 - 2.0**-30, 0.25 + 2.0**-30, 0.25])
    vote = vc.certify([[0, 1, 1], [1, 0, 0]] * 20, [1, 0] * 20, weights=theta)
    assert vote.errors == 0
    assert vote.predict([[0, 1, 1], [1, 0, 0]]).tolist() == [1, 0]


def test_columns_are_found_by_name():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(2, size=(200, 3)), columns=["ann", "bob", "cid"])
    y = table["bob"].to_numpy()
    certificate = vc.certify(table, y, weights={"ann": 0.1, "bob": 0.8, "cid": 0.1})
    assert certificate.errors == 0
    assert np.array_equal(certificate.predict(table[["cid", "bob", "ann"]]), y)
    assert np.array_equal(certificate.predict(table[["bob", "cid", "ann"]]), y)
    assert certificate.verify(table[["bob", "ann", "cid"]], y)


def test_soft_votes_that_are_tied_are_errors():
    scores = np.array([[[0.75, 0.25], [0.25, 0.75]], [[0.9, 0.1], [0.6, 0.4]]] * 10)
    assert vc.certify(scores=scores, y=[0, 0] * 10, classes=[0, 1], weights="uniform").errors == 10

"""Sums of some of the weights, against listing all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from votecert.bounds._subset_sums import (
    closest_win,
    largest_subset,
    smallest_winning_weight,
    smooth_win,
)
from votecert.bounds.partition import Partition

few_weights = st.lists(st.integers(0, 12), min_size=1, max_size=9).filter(any)
some_weights = st.lists(st.floats(0.01, 1.0), min_size=1, max_size=9)


def normalised(numbers) -> np.ndarray:
    weights = np.array(numbers, dtype=float)
    return weights / weights.sum()


def all_sums(weights: np.ndarray) -> np.ndarray:
    masks = np.array(list(itertools.product([False, True], repeat=len(weights))))
    return masks @ weights


@pytest.mark.parametrize("strategy", [few_weights, some_weights], ids=["lattice", "real"])
def test_largest_subset_is_the_largest(strategy):
    @given(strategy, st.sampled_from([0.5, 2 / 3, 0.9]))
    @settings(max_examples=150, deadline=None)
    def check(numbers, limit):
        weights = normalised(numbers)
        sums = all_sums(weights)
        members = largest_subset(weights, limit)
        assert weights[members].sum() == pytest.approx(sums[sums <= limit + 1e-12].max(), abs=1e-11)
        assert weights[members].sum() <= limit + 2e-12

    check()


@given(few_weights, st.integers(2, 4))
@settings(max_examples=80, deadline=None)
def test_no_winner_has_less_than_the_smallest_winning_weight(numbers, n_outputs):
    weights = normalised(numbers[:6] if any(numbers[:6]) else [1])
    least = min(
        max(np.bincount(votes, weights=weights, minlength=n_outputs))
        for votes in itertools.product(range(n_outputs), repeat=len(weights))
    )
    found = smallest_winning_weight(weights, n_outputs)
    assert found <= least
    if n_outputs == 2:
        assert found == pytest.approx(least, abs=1e-10)


@given(some_weights)
@settings(max_examples=60, deadline=None)
def test_slopes_of_the_closest_win(numbers):
    weights = normalised(numbers)
    least, slopes = closest_win(weights, 2)
    assert set(np.unique(slopes)) <= {0.0, 1.0}
    assert least == pytest.approx(slopes @ weights if slopes.any() else 0.5)
    simple, slopes = smooth_win(weights, 2)
    assert simple <= least
    assert simple == pytest.approx(slopes @ weights if slopes.any() else 0.5)


def test_equal_weights_have_few_sums_however_many_voters():
    assert smallest_winning_weight(np.full(999, 1 / 999), 2) == pytest.approx(500 / 999)
    assert smallest_winning_weight(np.full(1000, 1 / 1000), 2) == pytest.approx(0.5)
    assert smallest_winning_weight(np.full(1000, 1 / 1000), 3) == pytest.approx(0.334)


def test_too_many_different_weights_give_the_even_split():
    weights = normalised(np.random.default_rng(0).random(200))
    assert largest_subset(weights, 0.5) is None
    assert smallest_winning_weight(weights, 2) == pytest.approx(0.5)
    weights[0] = 3.0
    assert smallest_winning_weight(weights / weights.sum(), 2) == pytest.approx(3 / weights.sum())


def test_ties_on_a_lattice_count_as_ties():
    weights = np.full(10, 0.1)  # five of them add up to 0.5 or to 0.49999999999999994
    assert weights[largest_subset(weights, 0.5)].sum() == pytest.approx(0.5)
    assert smallest_winning_weight(weights, 2) <= 0.5


@given(few_weights)
@settings(max_examples=60, deadline=None)
def test_complements_limit_the_right_weight(numbers):
    weights = normalised(numbers)
    pairs = [(i, i + 1) for i in range(0, len(weights) - 1, 2)]
    best = max(
        weights @ np.array(right)
        for right in itertools.product([0, 1], repeat=len(weights))
        if all(right[i] + right[j] == 1 for i, j in pairs)
    )
    found = Partition(complements=pairs).most_right_weight(weights)
    assert found == pytest.approx(best, abs=1e-11)
    assert found >= min(1, best)
    assert Partition().most_right_weight(weights) == 1

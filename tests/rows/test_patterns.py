"""Equal rows are found whatever their width, order and keys; no compression where it gains nothing."""

from __future__ import annotations

import numpy as np
import pytest

from votecert.rows import patterns
from votecert.rows.patterns import bits_for, pack_rows, patterns_repeat, sort_keys, unique_rows, unpack_rows


def random_rows(seed, n_distinct, n_voters, n_values, n_rows):
    """Codes and labels of rows drawn from a few random ones, and which one each is."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_values, (n_distinct, n_voters), dtype=np.min_scalar_type(n_values))
    labels = rng.integers(0, n_values, n_distinct)
    pick = rng.integers(0, n_distinct, n_rows)
    return codes[pick], labels[pick], pick


def assert_unique(codes, labels, n_values):
    representative, counts, pattern_of_row = unique_rows(codes, labels, n_values)
    rows = np.column_stack([labels, codes])
    assert len(representative) == len(np.unique(rows, axis=0))
    assert (rows[representative][pattern_of_row] == rows).all()
    assert (np.bincount(pattern_of_row) == counts).all()
    assert counts.dtype == np.int64


WIDTHS = [  # (voters, values): a table of keys, one word and its edge, several words, more than a byte a vote
    (3, 2),
    (9, 3),
    (20, 2),
    (62, 2),
    (63, 2),
    (64, 2),
    (200, 2),
    (31, 3),
    (32, 3),
    (40, 10),
    (2, 256),
    (3, 300),
    (1, 1),
]


@pytest.mark.parametrize(("n_voters", "n_values"), WIDTHS)
def test_equal_rows_are_found_whatever_their_width(n_voters, n_values):
    codes, labels, _ = random_rows(1, 1500, n_voters, n_values, 4000)
    assert_unique(codes, labels, n_values)
    assert_unique(codes[:1], labels[:1], n_values)


@pytest.mark.parametrize(("n_voters", "n_values"), WIDTHS)
def test_packed_rows_come_back_as_they_were(n_voters, n_values):
    codes, labels, _ = random_rows(6, 1500, n_voters, n_values, 3000)
    words = pack_rows(codes, labels, bits_for(n_values))
    codes_again, labels_again = unpack_rows(words, n_voters, bits_for(n_values), codes.dtype)
    assert codes_again.dtype == codes.dtype
    assert (codes_again == codes).all()
    assert (labels_again == labels).all()


@pytest.mark.parametrize(("n_voters", "n_values"), WIDTHS)
def test_patterns_are_in_the_order_of_their_keys(n_voters, n_values):
    codes, labels, _ = random_rows(7, 1500, n_voters, n_values, 3000)
    first, _, _ = unique_rows(codes, labels, n_values)
    keys = sort_keys(pack_rows(codes[first], labels[first], bits_for(n_values)))
    assert (keys[1:] >= keys[:-1]).all()


@pytest.mark.parametrize("position", [0, 50, 99])
def test_rows_that_differ_in_one_vote_or_in_the_label_are_different(position):
    codes = np.zeros((3, 100), dtype=np.uint8)
    codes[1, position] = 1
    _, counts, _ = unique_rows(codes, np.array([0, 0, 1]), 2)
    assert counts.tolist() == [1, 1, 1]


def test_rows_that_share_a_key_are_told_apart(monkeypatch):
    monkeypatch.setattr(patterns, "sort_keys", lambda words: words[:, 0] % np.uint64(2))
    codes, labels, _ = random_rows(2, 500, 70, 2, 2000)
    assert_unique(codes, labels, 2)


@pytest.mark.parametrize("n_voters", [4, 30, 100])
def test_row_order_does_not_change_the_order_of_patterns(n_voters):
    codes, labels, _ = random_rows(3, 300, n_voters, 2, 900)
    shuffle = np.random.default_rng(4).permutation(900)
    first, first_counts, _ = unique_rows(codes, labels, 2)
    second, second_counts, _ = unique_rows(codes[shuffle], labels[shuffle], 2)
    assert (codes[first] == codes[shuffle][second]).all()
    assert (labels[first] == labels[shuffle][second]).all()
    assert (first_counts == second_counts).all()


@pytest.mark.parametrize(
    ("n_rows", "n_distinct", "repeat"),
    [
        (1000, 10**6, True),  # few rows: always worth it
        (60_000, 100, True),
        (60_000, 20_000, True),
        (60_000, 10**6, False),
    ],
)
def test_a_sample_tells_whether_rows_repeat(n_rows, n_distinct, repeat):
    seeds = np.random.default_rng(5).integers(0, n_distinct, n_rows)
    codes = ((seeds[:, None] >> np.arange(30)) & 1).astype(np.uint8)
    assert patterns_repeat(codes, codes[:, 0].astype(np.intp), 2) is repeat


def test_a_few_very_common_rows_are_worth_compressing():
    """Half of the rows are one pattern, the others are all different."""
    codes = ((np.arange(60_000)[:, None] >> np.arange(30)) & 1).astype(np.uint8)
    codes[::2] = 1
    assert patterns_repeat(codes, np.zeros(60_000, dtype=np.intp), 2)

"""Rows in blocks are the rows: labels and abstentions that come late, counts that add up, the same parts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from votecert.rows.ballots import Ballots
from votecert.rows.blocks import read_ballots
from votecert.rows.split import in_fitting_part


def rows_of(ballots: Ballots) -> Counter:
    """How often each row occurs, in labels; a missing vote is None."""
    names = [*ballots.classes.tolist(), None]
    found: Counter = Counter()
    for codes, label, count in zip(ballots.codes, ballots.labels, ballots.counts, strict=True):
        found[(*(names[code] for code in codes), names[label])] += int(count)
    return found


def plain(blocks) -> Counter:
    return Counter((*row, label) for votes, y in blocks for row, label in zip(votes, y, strict=True))


def blocks_of(*alphabets: str, n_rows: int = 40, d: int = 3):
    """A block for each alphabet, with abstentions where it has a dash."""
    rng = np.random.default_rng(0)
    for alphabet in alphabets:
        said = [None if mark == "-" else mark for mark in alphabet]
        known = [mark for mark in said if mark is not None]
        votes = [[said[i] for i in rng.integers(len(said), size=d)] for _ in range(n_rows)]
        yield votes, [known[i] for i in rng.integers(len(known), size=n_rows)]


GROWING = {
    "later labels take the code of an abstention": ("ab-", "abc-"),
    "one label more than bits": ("abcd", "abcd-"),
    "an abstention fills the bits": ("abc-", "abc-"),
    "a label in front": ("bc-", "abc", "c-"),
    "many labels late": ("ab-", "abcdefghijk-", "xyz"),
    "the same labels": ("ab", "ab", "ab"),
    "four labels and abstentions": ("abcd-", "abcd-"),
}


@pytest.mark.parametrize("name", GROWING)
@pytest.mark.parametrize("d", [2, 30])
def test_every_row_is_there_as_often_as_it_occurs(name, d):
    blocks = list(blocks_of(*GROWING[name], d=d))
    found = read_ballots(iter(blocks))
    assert rows_of(found) == plain(blocks)
    assert found.n_rows == 40 * len(blocks)
    assert found.can_abstain == any("-" in alphabet for alphabet in GROWING[name])


@pytest.mark.parametrize("name", GROWING)
@pytest.mark.parametrize("seed", [0, 5])
def test_fitting_and_certifying_parts_are_those_of_the_rows_in_one_piece(name, seed):
    blocks = list(blocks_of(*GROWING[name]))
    votes, y = ([entry for block in blocks for entry in block[side]] for side in (0, 1))
    whole = Ballots.from_votes(votes, y)
    found = read_ballots(iter(blocks), split=0.3, seed=seed)
    fits = in_fitting_part(len(y), 0.3, seed)
    for fitting in (True, False):
        part = found.part(0.3, seed, fitting=fitting)
        kept = fits if fitting else ~fits
        expected = Counter((*votes[i], y[i]) for i in np.flatnonzero(kept))
        assert rows_of(part) == expected
        assert rows_of(whole.part(0.3, seed, fitting=fitting)) == expected

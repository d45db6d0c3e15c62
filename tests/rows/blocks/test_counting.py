"""Patterns of blocks, counted in each of the ways, against a dictionary of rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from votecert.rows.blocks.counting import Declaration, PatternCounts, count_patterns, join_counts, pack_block
from votecert.rows.split import in_fitting_part

ROWS, SEED = 400, 3


def as_counters(found: PatternCounts) -> tuple[Counter, Counter]:
    codes, labels = found.unpacked()
    rows = [(*row, label) for row, label in zip(codes.tolist(), labels.tolist(), strict=True)]
    assert len(set(rows)) == len(rows)
    fitting = {row: n for row, n in zip(rows, found.fitting.tolist(), strict=True) if n}
    return Counter(dict(zip(rows, found.counts.tolist(), strict=True))), Counter(fitting)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("d", [1, 5, 12, 20, 30, 31, 40, 62, 63, 70])
@pytest.mark.parametrize("split", [0.0, 0.25])
def test_counts_are_those_of_a_dictionary(d: int, n_classes: int, split: float):
    rng = np.random.default_rng(d)
    y = rng.integers(n_classes, size=ROWS)
    votes = np.where(rng.random((ROWS, d)) < 0.9, y[:, None], 0)
    declared = Declaration(classes=tuple(range(n_classes)), split=split, seed=SEED)
    parts = []
    for start in range(0, ROWS, 150):
        block = slice(start, start + 150)
        parts.append(count_patterns(pack_block(votes[block], y[block], start, declared), start, declared))
    rows = [(*row, label) for row, label in zip(votes.tolist(), y.tolist(), strict=True)]
    fits = in_fitting_part(ROWS, split, SEED) if split else np.zeros(ROWS, dtype=bool)
    counts, fitting = as_counters(join_counts(parts))
    assert counts == Counter(rows)
    assert fitting == Counter(row for row, fit in zip(rows, fits, strict=True) if fit)

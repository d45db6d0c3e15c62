"""The embedded data sets."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from votecert.datasets import DATA_SETS, LINES, load, tictactoe


def final_boards() -> set[tuple[int, ...]]:
    """Final boards by looking at all 3^9 boards instead of playing."""
    found = set()
    for board in product((-1, 0, 1), repeat=9):
        x_wins, o_wins = (any(all(board[i] == who for i in line) for line in LINES) for who in (1, -1))
        if x_wins and o_wins:
            continue
        lead = sum(board)
        if (
            (x_wins and lead == 1)
            or (o_wins and lead == 0)
            or (not x_wins | o_wins and 0 not in board and lead == 1)
        ):
            found.add(board)
    return found


def test_tictactoe_has_exactly_the_final_boards():
    data = tictactoe()
    assert {tuple(map(int, board)) for board in data.X} == final_boards()
    assert len(data.X) == 958
    assert int((data.y == "positive").sum()) == 626
    assert int((data.y == "negative").sum()) == 332


@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("breast-cancer", (569, 30), 2),
        ("digits", (1797, 64), 10),
        ("wine", (178, 13), 3),
        ("tictactoe", (958, 9), 2),
    ],
)
def test_every_data_set(name, shape, n_classes):
    data = load(name)
    assert data.name == name
    assert data.X.shape == shape
    assert len(data.features) == shape[1]
    assert len(np.unique(data.y)) == n_classes
    assert np.isfinite(data.X).all()


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="Known: breast-cancer"):
        load("iris")
    assert next(iter(DATA_SETS)) == "breast-cancer"

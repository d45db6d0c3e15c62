"""Small data sets that need no network: those that come with scikit-learn, and one made from its rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names of data sets are told in the help, which need not wait for NumPy
    import numpy as np
    import numpy.typing as npt

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
"""Cells of the board, row by row, that win when one player has all three."""

Board = tuple[int, ...]


@dataclass(frozen=True)
class DataSet:
    """A classification problem.

    Attributes
    ----------
    name : str
    X : (n, p) array of floats
    y : (n,) array of str
        The labels in words.
    features : tuple of str
    about : str
        One line on where it comes from.
    """

    name: str
    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.str_]
    features: tuple[str, ...]
    about: str


def load(name: str) -> DataSet:
    """Load a data set by name, one of :data:`DATA_SETS`.

    Examples
    --------
    >>> data = load("tictactoe")
    >>> data.X.shape, sorted(set(data.y.tolist()))
    ((958, 9), ['negative', 'positive'])
    """
    if name not in DATA_SETS:
        raise ValueError(f"There is no data set {name!r}. Known: {', '.join(DATA_SETS)}.")
    return DATA_SETS[name]()


def tictactoe() -> DataSet:
    """Every board at the end of a game of tic-tac-toe in which x begins; positive if x has won.

    A cell is 1 for x, -1 for o and 0 if empty. There are 958 boards, 626 of them positive.

    References
    ----------
    D. W. Aha, Tic-Tac-Toe Endgame, UCI Machine Learning Repository, 1991: the same boards.

    Examples
    --------
    >>> int((tictactoe().y == "positive").sum())
    626
    """
    ends: set[Board] = set()
    _play((0,) * 9, 1, ends, set())
    import numpy as np

    boards = np.array(sorted(ends), dtype=np.float64)
    labels = np.array(["positive" if _has_won(board, 1) else "negative" for board in sorted(ends)])
    cells = tuple(map(" ".join, product(("top", "middle", "bottom"), ("left", "middle", "right"))))
    return DataSet("tictactoe", boards, labels, cells, "958 ends of tic-tac-toe games, made from the rules")


def _play(board: Board, player: int, ends: set[Board], seen: set[Board]) -> None:
    """Go through all games from here on and collect the boards they end with."""
    if board in seen:
        return
    seen.add(board)
    if _has_won(board, -player) or 0 not in board:
        ends.add(board)
        return
    for cell in range(9):
        if board[cell] == 0:
            _play((*board[:cell], player, *board[cell + 1 :]), -player, ends, seen)


def _has_won(board: Board, player: int) -> bool:
    return any(all(board[cell] == player for cell in line) for line in LINES)


def _bundled(name: str, about: str) -> DataSet:
    """A data set that comes with scikit-learn."""
    import numpy as np
    from sklearn import datasets

    found: Any = getattr(datasets, f"load_{name.replace('-', '_')}")()
    labels = np.array([str(label) for label in found.target_names])[found.target]
    features = tuple(str(feature) for feature in found.feature_names)
    return DataSet(name, np.asarray(found.data, dtype=np.float64), labels, features, about)


DATA_SETS: dict[str, Callable[[], DataSet]] = {
    "breast-cancer": partial(_bundled, "breast-cancer", "569 tumours, benign or malignant"),
    "digits": partial(_bundled, "digits", "1797 images of handwritten digits"),
    "wine": partial(_bundled, "wine", "178 wines of three growers"),
    "tictactoe": tictactoe,
}
"""The data sets, by name."""

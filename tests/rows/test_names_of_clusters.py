"""Clusters by name: numbered as they come, and none of them missing."""

from __future__ import annotations

import numpy as np
import pytest

from votecert.rows.clusters import read_clusters


@pytest.mark.parametrize(
    "names",
    [["b", "a", "b"], [7, 3, 7], [7.0, 3, 7], [True, False, True], ["b", 1, "b"], np.array(["b", "a", "b"])],
)
def test_numbers_in_the_order_of_appearance(names):
    assert read_clusters(names, 3).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    "names",
    [
        ["a", None, "b"],
        ["a", float("nan"), "b"],  # NumPy would make a text of it
        [1.0, float("nan"), 2.0],
        np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        np.array(["2024-01-01"] * 3, dtype="datetime64[D]"),
    ],
)
def test_every_row_needs_one(names):
    with pytest.raises(ValueError, match="every row needs one"):
        read_clusters(names, 3)


def test_missing_names_of_pandas():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="every row needs one"):
        read_clusters(pandas.Series(["a", None, "b"], dtype="string"), 3)

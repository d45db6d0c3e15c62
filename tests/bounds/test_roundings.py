"""Roundings keep what is a simple fraction."""

from __future__ import annotations

import numpy as np
import pytest

from votecert.bounds.roundings import roundings


def test_whole_multiples_are_kept():
    weights = np.array([331, 330, 320]) / 981
    assert [331, 330, 320] in [votes.tolist() for votes in roundings(weights)]


@pytest.mark.parametrize("d", [1, 7, 100, 3000])
def test_uniform_weights_are_everybody_once(d):
    assert [1] * d in [votes.tolist() for votes in roundings(np.full(d, 1 / d))]

"""Errors of pairs of voters: from the table of pairs or from the rows, the same number."""

from __future__ import annotations

import numpy as np
import pytest

from votecert.bounds.tallies import OutOfBagTallies, Tallies
from votecert.rows.ballots import Ballots


@pytest.mark.parametrize("kind", [Tallies, OutOfBagTallies])
@pytest.mark.parametrize("n_rows", [7, 40, 300])
def test_partners_of_a_drawn_voter_do_not_depend_on_the_way_of_counting(kind: type[Tallies], n_rows: int):
    rng = np.random.default_rng(n_rows)
    y = rng.integers(3, size=n_rows)
    right = rng.random((n_rows, 40)) < rng.uniform(0.3, 0.9, 40)
    tallies = kind(Ballots.from_votes(np.where(right, y[:, None], (y[:, None] + 1) % 3), y, classes=range(3)))
    weights = rng.dirichlet(np.ones(40))
    np.testing.assert_allclose(tallies.tandem_with(weights), tallies.tandem @ weights, rtol=0, atol=1e-14)
    obvious = np.mean((~right @ weights) ** 2)
    assert tallies.tandem_error(weights) == pytest.approx(obvious, abs=1e-14)

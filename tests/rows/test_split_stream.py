"""Rows are split by random numbers that nobody else draws."""

import numpy as np
import pytest

from votecert.rows.split import STREAM_OF_0_1, in_fitting_part


@pytest.mark.parametrize("seed", [0, 1, 42])
def test_the_split_has_nothing_to_do_with_rows_made_from_the_same_seed(seed):
    made = np.random.default_rng(seed).random(4000)  # y = made < 0.5 is what people write
    fits = in_fitting_part(4000, 0.25, seed)
    assert abs(np.mean(made[fits] < 0.5) - 0.5) < 0.1  # six standard errors
    assert np.all(made[in_fitting_part(4000, 0.25, seed, stream=STREAM_OF_0_1)] < 0.25)

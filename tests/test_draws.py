from __future__ import annotations

from itertools import chain, repeat

import pytest
from draws import NEVER, violated_too_often
from scipy.stats import binom

MOST = int(binom.isf(NEVER, 16, 0.1))


def test_the_limit_is_improbable_and_no_higher_than_it_has_to_be():
    assert binom.sf(MOST, 16, 0.1) <= NEVER < binom.sf(MOST - 1, 16, 0.1)
    assert not violated_too_often([True] * MOST + [False] * (16 - MOST), 16, 0.1)
    assert not violated_too_often([False] * (16 - MOST) + [True] * MOST, 16, 0.1)
    assert violated_too_often([False] * (15 - MOST) + [True] * (MOST + 1), 16, 0.1)


def test_no_more_draws_than_can_change_the_answer():
    draws = chain(repeat(False, 16 - MOST), repeat(True, 9))
    assert not violated_too_often(draws, 16, 0.1)
    assert len(list(draws)) == 9
    with pytest.raises(AssertionError, match="too few"):
        violated_too_often([True] * 5, 5, 0.1)
    with pytest.raises(ValueError, match="only 3 of 16"):
        violated_too_often([True, False, True], 16, 0.1)

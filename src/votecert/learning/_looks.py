"""How many of the rows to fit on: a part that grows until more of it is not expected to pay.

The parts are nested and drawn without looking at the rows, and whether one is enough is decided by that part
alone. So what is fitted on it is certified on all other rows, and nothing has to be paid for the looks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from scipy.special import betainccinv

from votecert.learning._candidates import PLAIN_VOTE
from votecert.learning.budget import Budget
from votecert.learning.fitted_vote import FittedVote, fit_vote
from votecert.rows.read import Rows

_LEVEL = 0.05  # at which limits are compared
_GAIN = 0.5  # of the errors, which ten times the rows would save if learning had saved all of them so far


def fit_on_part(
    rows: Rows, declared: Mapping[str, Any], budget: Budget, **options: Any
) -> tuple[float, FittedVote | None]:
    """The share of the rows that was enough, and the vote that was fitted on them.

    Parameters
    ----------
    rows : Ballots or Scores
        All rows.
    declared : dict
        ``split`` and ``seed`` of the part; or, where there are ``looks``, the shares of growing parts, of
        which the last one has to do.
    budget, **options
        For :func:`fit_vote`.

    Returns
    -------
    split : float
    found : FittedVote or None
        None if the part is empty, or does not tell which score is for which label.
    """
    looks = declared.get("looks", [declared["split"]])
    for split, larger in zip_longest(looks, looks[1:]):
        part, found = rows.part(split, declared["seed"], fitting=True), None
        if part is not None:
            found = fit_vote(part, budget, n_outputs=rows.n_outputs, **options)
            if found is not None and larger and _is_enough(found, part.n_rows, rows.n_rows, split, larger):
                break
    return split, found


def _is_enough(found: FittedVote, n_fitting: int, n_rows: int, split: float, larger: float) -> bool:
    """Whether the limit is not expected to fall when the vote is fitted on the larger part.

    A fit on more rows errs the less, the more the fit on these saved compared with the plain vote.
    """
    plain = found.errors[PLAIN_VOTE]
    saved = max(0.0, plain - found.error) / (plain + 1 / n_fitting)
    then = found.error * (1 - _GAIN * math.sqrt(saved) * (1 - split / larger))
    return _limit(found.error, (1 - split) * n_rows) <= _limit(then, (1 - larger) * n_rows)


def _limit(error: float, n_rows: float) -> float:
    """The limit to expect for this share of errors."""
    return float(betainccinv(error * n_rows + 1, (1 - error) * n_rows, _LEVEL))

"""``learn``: the weights that make a bound smallest, on the rows that certify them."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from votecert.bounds import find_bound
from votecert.bounds.base import Bound, Evaluation
from votecert.learning import check_prior, find_learners, read_options
from votecert.learning.base import Learner
from votecert.rows.read import check_delta, read_prior, read_rows
from votecert.rows.tables import column_names
from votecert.rows.vote_table import unlabelled_of


@dataclass(frozen=True)
class Learned:
    """Learned weights with the bound that covers them.

    Attributes
    ----------
    weights : (d,) array
        Summing to one; the influence of each voter where there is a table.
    offsets : (c,) array
        Votes of the constant voters on the scale of the weights; zero unless the objective uses them.
    concentration : float or None
        K, for objectives with a Dirichlet posterior.
    risk : float
        The bound at these weights, valid although they were learned on the same rows.
    objective : str
        Id of the minimised bound.
    evaluation : Evaluation
        All that the bound was computed from.
    table : (d, s, c) array or None
        What each answer is worth for each class, on the scale of the weights, if a vote of a voter is not
        worth the same whatever it says; the weights alone are another vote then. The last answer is to
        abstain, if there is one more than classes.
    """

    weights: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.float64]
    concentration: float | None
    risk: float
    objective: str
    evaluation: Evaluation
    table: npt.NDArray[np.float64] | None = None


def learn(
    votes: Any = None,
    y: Any = None,
    *,
    objective: str | Bound = "occam",
    delta: float = 0.05,
    method: str | Learner | None = None,
    classes: Any = None,
    can_abstain: bool | None = None,
    scores: Any = None,
    prior: npt.ArrayLike | None = None,
    validate: bool = True,
    **options: Any,
) -> Learned:
    """Find the weights with the smallest bound.

    Parameters
    ----------
    votes, y, classes, can_abstain, scores, prior, delta, validate
        As for :func:`votecert.certify`.
    objective : str or Bound, default="occam"
        The bound to minimise.
    method : Learner or {"whole-votes", "lbfgs", "adam"}, optional
        What learns: a :class:`WholeVotes`, :class:`LBFGS` or :class:`Adam`, or the name of one. The objective
        "occam" has a discrete search of its own; for smooth ones "lbfgs", full-batch descent, is the default.
    **options
        Options of the learner, unless one was made: ``learn(votes, y, split=0.1)`` is short for
        ``learn(votes, y, method=WholeVotes(split=0.1))``. All have ``random_state`` (choose it once: trying
        seeds until the number is small voids the guarantee), ``time_budget`` (seconds after which the best
        weights so far are returned; ``evaluation.details["interrupted"]`` is 1 if learning was cut short) and
        ``callback``. None stands for the learner's default: for no limit of time where there is one, give
        ``float("inf")``. Whatever nothing would use is refused.

    Returns
    -------
    Learned

    Examples
    --------
    >>> import numpy as np, votecert as vc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1000)
    >>> votes = np.where(rng.random((1000, 5)) < [0.9, 0.6, 0.6, 0.6, 0.6], y[:, None], 1 - y[:, None])
    >>> found = vc.learn(votes, y, objective="f2")
    >>> int(found.weights.argmax())
    0
    """
    check_delta(delta)
    bound = find_bound(objective)
    options = read_options({"method": method, **options}, signature(learn).parameters)
    check_prior(prior, [bound])
    (learner,) = find_learners([bound], options, column_names(votes), unlabelled_of(votes))
    rows = read_rows(votes, y, scores, classes, can_abstain, vars(learner), validate)
    found = learner.learn(rows, bound, delta, prior=read_prior(prior, rows.n_voters))
    choice = found.terms.choice
    scale, table = max(1, sum(choice.get("votes", [1]))), choice.get("table")
    return Learned(
        weights=np.array(found.terms.weights),
        offsets=np.array(choice.get("offsets", [0] * rows.n_classes)) / scale,
        concentration=choice.get("concentration"),
        risk=found.risk,
        objective=bound.id,
        evaluation=found,
        table=None if table is None else np.array(table) / scale,
    )

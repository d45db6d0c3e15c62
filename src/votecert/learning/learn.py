"""``learn``: the weights that make a bound smallest, on the rows that certify them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from votecert.bounds import BOUNDS, find_bound
from votecert.bounds.base import Bound, Evaluation, UnsupportedProblemError
from votecert.bounds.occam import Occam
from votecert.learning.adam import adam
from votecert.learning.budget import mark_interrupted, now
from votecert.learning.options import check_options, given, refuse_unused
from votecert.learning.smooth import minimise
from votecert.learning.whole_votes import learn_occam
from votecert.rows.ballots import Ballots
from votecert.rows.read import Rows, check_delta, read_prior, read_rows
from votecert.rows.scores import Scores
from votecert.rows.split import SPLIT
from votecert.rows.tables import column_names, in_order

Callback = Callable[[dict[str, Any]], None]

TIME_BUDGET = 60.0
"""Seconds that the discrete search may take by default."""

SAMPLE_ENTRIES = 1 << 24
"""Votes that smooth weights are learned on, if the rows are on disk; all rows certify them."""


@dataclass(frozen=True)
class Learned:
    """Learned weights with the bound that covers them.

    Attributes
    ----------
    weights : (d,) array
        Summing to one.
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
    """

    weights: npt.NDArray[np.float64]
    offsets: npt.NDArray[np.float64]
    concentration: float | None
    risk: float
    objective: str
    evaluation: Evaluation


def learn(
    votes: Any = None,
    y: Any = None,
    *,
    objective: str | Bound = "occam",
    delta: float = 0.05,
    method: Literal["lbfgs", "adam"] | None = None,
    random_state: int = 0,
    classes: Any = None,
    can_abstain: bool | None = None,
    scores: Any = None,
    prior: npt.ArrayLike | None = None,
    split: float | None = None,
    prior_votes: Any = None,
    prior_y: Any = None,
    time_budget: float | None = None,
    callback: Callback | None = None,
) -> Learned:
    """Find the weights with the smallest bound.

    Parameters
    ----------
    votes, y, classes, can_abstain, scores, prior, delta
        As for :func:`votecert.certify`.
    objective : str or Bound, default="occam"
        The bound to minimise.
    method : {"lbfgs", "adam"}, optional
        For smooth objectives: full-batch descent, which is the default, or the paper's mini-batch protocol.
        "occam" has its own discrete search and takes no method.
    random_state : int, default=0
        Seed of the split and of random starts. Choose it once: trying seeds until the number is small
        voids the guarantee.
    split : float, optional
        "occam" only: share of the rows spent on fitting a short list of weighted votes that the other
        rows certify, 0.25 by default; 0 turns the list off. With fewer than 40 rows there is none.
    prior_votes, prior_y : optional
        "occam" only: votes and labels of *other* rows (out-of-bag, out-of-fold) to fit the list on, at no
        cost in certifying rows. With ``scores``, the scores of those rows. A missing vote means that the
        voter was not asked (as out of bag), unless ``can_abstain=True`` says that voters abstain.
    time_budget : float, optional
        Seconds after which the best weights so far are returned; 60 by default for "occam", no limit for the
        others. ``evaluation.details["interrupted"]`` is 1 if learning was cut short.
    callback : callable, optional
        Called now and then with a dictionary (iteration, value, seconds).

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
    options = {
        "method": method,
        "random_state": random_state,
        "split": split,
        "prior_votes": in_order(prior_votes, column_names(votes)),
        "prior_y": prior_y,
        "time_budget": time_budget,
        "callback": callback,
    }
    check_options(options)
    refuse_unused({**options, "prior": prior}, [bound])
    rows = read_rows(votes, y, scores, classes, can_abstain, options)
    found = learn_on(rows, bound, delta, prior=read_prior(prior, rows.n_voters), **options)
    return Learned(
        weights=np.array(found.terms.weights),
        offsets=np.array(found.terms.choice.get("offsets", [0] * rows.n_classes))
        / max(1, sum(found.terms.choice.get("votes", [1]))),
        concentration=found.terms.choice.get("concentration"),
        risk=found.risk,
        objective=bound.id,
        evaluation=found,
    )


def learn_on(
    rows: Rows,
    bound: Bound,
    delta: float,
    *,
    prior: npt.NDArray[np.float64] | None = None,
    fallback: int | None = None,
    **options: Any,
) -> Evaluation:
    """:func:`learn` on rows that are already encoded, with its options as far as the bound uses them."""
    options = given(options)
    check_options(options)
    refuse_unused(options, [bound])
    if isinstance(bound, Occam):
        return _learn_whole_votes(rows, bound, delta, fallback, **options)
    if isinstance(rows, Scores):
        raise UnsupportedProblemError(f"The bound {bound.id!r} does not cover soft votes; use 'occam'.")
    if problem := bound.problem_with(rows):
        raise UnsupportedProblemError(problem)
    if not bound.differentiable:
        smooth = ", ".join(name for name, other in BOUNDS.items() if other.differentiable)
        raise ValueError(f"Weights cannot be learned by {bound.id!r}. Use 'occam' or one of: {smooth}.")
    return _learn_weights(rows, bound, delta, prior, **options)


def _learn_whole_votes(
    rows: Rows,
    bound: Occam,
    delta: float,
    fallback: int | None,
    *,
    random_state: int = 0,
    split: float | None = None,
    prior_votes: Any = None,
    prior_y: Any = None,
    time_budget: float = TIME_BUDGET,
    callback: Callback | None = None,
) -> Evaluation:
    if split and not rows.can_split(split, random_state):
        raise ValueError(
            f"split={split!r} is not possible: which rows are which is not known any more. Read them with "
            "read_ballots(..., split=..., seed=...), or give other rows to fit on as prior_votes=."
        )
    return learn_occam(
        rows,
        delta,
        bound=bound,
        split=SPLIT if split is None else split,
        random_state=random_state,
        prior_rows=_other_rows(rows, prior_votes, prior_y),
        fallback=fallback,
        time_budget=time_budget,
        callback=callback,
    )


def _learn_weights(
    rows: Ballots,
    bound: Bound,
    delta: float,
    prior: npt.NDArray[np.float64] | None,
    *,
    method: str = "lbfgs",
    time_budget: float | None = None,
    **options: Any,
) -> Evaluation:
    """Real-valued weights; of rows on disk, learned on a sample and certified on all."""
    began = now()
    sample = rows.in_memory(SAMPLE_ENTRIES)
    if sample is not rows and time_budget is not None:
        time_budget = max(0.0, time_budget - 2 * (now() - began))  # going over all rows once more comes last
    learner = adam if method == "adam" else minimise
    found = learner(sample, bound, delta, prior=prior, time_budget=time_budget, **options)
    if sample is rows:
        return found
    certified = bound.evaluate(rows, np.array(found.terms.weights), delta, prior=prior)
    return mark_interrupted(certified, bool(found.details["interrupted"]))


def _other_rows(rows: Rows, votes: Any, y: Any) -> Rows | None:
    """The rows that the list is fitted on, with the classes of the certifying rows."""
    if votes is None and y is None:
        return None
    if isinstance(votes, Ballots | Scores):
        if y is not None:
            raise TypeError("prior_y is in prior_votes already: leave it out.")
        same_kind = isinstance(votes, Scores) == isinstance(rows, Scores)
        if not same_kind or votes.classes.tolist() != rows.classes.tolist():
            raise ValueError(
                "prior_votes must be of the same kind as the certifying rows and have their classes: read "
                f"them with classes={rows.classes.tolist()!r}."
            )
        return votes
    if votes is None or y is None:
        raise TypeError("prior_votes and prior_y go together.")
    try:
        if isinstance(rows, Scores):
            return Scores.from_scores(votes, y, classes=rows.classes.tolist())
        return Ballots.from_votes(votes, y, classes=rows.classes.tolist())
    except ValueError as error:
        raise ValueError(f"In prior_votes and prior_y, which need the same classes: {error}") from None

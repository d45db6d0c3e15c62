"""Options of learning: who uses which, said once, so that none is ever swallowed.

``random_state``, ``time_budget`` and ``callback`` are for every learner. The others have an entry in
:data:`USED_BY`; given to bounds of which none uses it, an option is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from votecert.bounds.base import Bound
from votecert.bounds.occam import Occam

METHODS = ("lbfgs", "adam")
"""How real-valued weights are learned."""

SEARCHES = ("default", "paper")

LEARNING_OPTIONS = (
    "method",
    "random_state",
    "split",
    "prior_votes",
    "prior_y",
    "time_budget",
    "callback",
)
"""Options of :func:`votecert.learn` that :func:`votecert.certify` and others pass on to it."""


@dataclass(frozen=True)
class Use:
    """Which bounds use an option, and what for."""

    by: Callable[[Bound], bool]
    what_for: str


_LIST = Use(lambda bound: isinstance(bound, Occam), "the list of votes that 'occam' fits")

USED_BY: Mapping[str, Use] = {
    "method": Use(
        lambda bound: bound.differentiable,
        "objectives with real-valued weights, as 'f2' or 'dirichlet' ('occam' has one search, of its own)",
    ),
    "split": _LIST,
    "prior_votes": _LIST,
    "prior_y": _LIST,
    "prior": Use(
        lambda bound: bound.posterior is not None,
        "bounds with a prior over the voters, as 'dirichlet' or 'fo' ('occam' takes prior_votes= instead)",
    ),
    "search": Use(
        lambda bound: type(bound).in_paper_search is not Bound.in_paper_search,
        "bounds with a grid of margins, as 'dirichlet-margin' or 'bg'",
    ),
}
"""Options that not every bound has a use for."""


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given: None stands for the default."""
    return {name: value for name, value in options.items() if value is not None}


def used_by(bound: Bound, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a bound, or whoever learns by it, uses."""
    return {name: value for name, value in options.items() if name not in USED_BY or USED_BY[name].by(bound)}


def refuse_unused(options: Mapping[str, Any], bounds: Iterable[Bound]) -> None:
    """Refuse options that none of the bounds uses.

    Examples
    --------
    >>> from votecert.bounds import BOUNDS
    >>> refuse_unused({"split": 0.1}, [BOUNDS["f2"]])
    Traceback (most recent call last):
    TypeError: split= would be ignored here: it is for the list of votes that 'occam' fits, not for 'f2'.
    """
    bounds = list(bounds)
    for name in given(options):
        if name in USED_BY and not any(USED_BY[name].by(bound) for bound in bounds):
            others = ", ".join(repr(bound.id) for bound in bounds)
            raise TypeError(
                f"{name}= would be ignored here: it is for {USED_BY[name].what_for}, not for {others}."
            )


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse values that make no sense, and pairs of options of which one would be ignored."""
    options = given(options)
    method, seed, split = options.get("method"), options.get("random_state", 0), options.get("split", 0.0)
    budget, callback = options.get("time_budget", math.inf), options.get("callback")
    if method is not None and method not in METHODS:
        raise ValueError(f"method must be 'lbfgs' or 'adam', not {method!r}.")
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"random_state must be a whole number, zero or more, not {seed!r}.")
    if not isinstance(split, int | float | np.number) or not 0 <= split < 1:
        raise ValueError(f"split must be at least 0 and below 1, not {split!r}.")
    if not isinstance(budget, int | float | np.number) or not budget >= 0:
        raise ValueError(f"time_budget must be a number of seconds, zero or more, not {budget!r}.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function of one dictionary, not {callback!r}.")
    if "prior_votes" in options and options.get("split"):
        raise TypeError(
            "split= would be ignored here: with prior_votes= the list is fitted on those rows. Leave one out."
        )


def in_search(search: str, bounds: Iterable[Bound]) -> list[Bound]:
    """The bounds with the search that was asked for."""
    bounds = list(bounds)
    if search not in SEARCHES:
        raise ValueError(f"search must be 'default' or 'paper', not {search!r}.")
    if search == "default":
        return bounds
    refuse_unused({"search": search}, bounds)
    return [bound.in_paper_search() for bound in bounds]

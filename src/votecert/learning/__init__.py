"""Learning weights: whatever the search does, the certificate holds.

A learner is a value (:class:`~votecert.learning.base.Learner`). The keywords of ``certify`` and ``learn`` are
shorthand for one: ``method="adam", epochs=10`` for ``method=Adam(epochs=10)``. Which options there are, what
learns a bound, and what is said to those who give an option that nothing would use all follow from
:data:`LEARNERS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from votecert.bounds import BOUNDS
from votecert.bounds.base import Bound
from votecert.learning.adam import Adam
from votecert.learning.base import Learner
from votecert.learning.lbfgs import LBFGS
from votecert.learning.whole_votes import WholeVotes

LEARNERS: dict[str, type[Learner]] = {kind.id: kind for kind in (WholeVotes, LBFGS, Adam)}
"""The registered learners by id. The first one that learns a bound is the default for it."""


def read_options(options: Mapping[str, Any], others: Iterable[str] = ()) -> dict[str, Any]:
    """The options that were given: None stands for the default. Refuse those that no learner has.

    Parameters
    ----------
    options : mapping
        ``method``, a learner or the id of one, and options of learners.
    others : iterable of str
        Names that may have been meant as well.

    Examples
    --------
    >>> read_options({"split": 0.1, "method": None})
    {'split': 0.1}
    >>> read_options({"spilt": 0.1})
    Traceback (most recent call last):
    TypeError: There is no option 'spilt'. Did you mean 'split'?
    """
    known = {"method", *(name for kind in LEARNERS.values() for name in kind.option_names())}
    for name in options:
        if name not in known:
            close = get_close_matches(name, [*known, *others], n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"There is no option {name!r}.{hint}")
    said = {name: value for name, value in options.items() if value is not None}
    method = said.get("method")
    if isinstance(method, Learner):
        if len(said) > 1:
            loose = ", ".join(f"{name}=" for name in said if name != "method")
            raise TypeError(
                f"{loose} would be ignored here: put it into method={type(method).__name__}(...)."
            )
    elif method is not None and method not in LEARNERS:
        ids = ", ".join(map(repr, LEARNERS))
        raise ValueError(f"method must be one of {ids}, or a learner such as Adam(), not {method!r}.")
    return said


def splitting(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where ``split`` and ``random_state`` are found, which rows that come in blocks are read with."""
    method = options.get("method")
    return vars(method) if isinstance(method, Learner) else options


def find_learners(
    bounds: Sequence[Bound],
    options: Mapping[str, Any],
    voters: Sequence[str] | None = None,
    unlabelled: Any = None,
) -> list[Learner]:
    """A learner for each bound, with its part of the options; refuse those that none of them would use.

    Parameters
    ----------
    bounds : sequence of Bound
        The bounds to minimise.
    options : mapping
        As :func:`read_options` returns them. A method goes to the bounds that it learns.
    voters : sequence of str, optional
        Names of the voters: tables of other rows are brought into their order.
    unlabelled : (n, d) votes, optional
        Rows without labels, which learners look at that can, unless they have other rows.

    Examples
    --------
    >>> find_learners([BOUNDS["f2"]], {"method": "adam", "epochs": 10})[0].epochs
    10
    >>> find_learners([BOUNDS["f2"]], {"split": 0.1})
    Traceback (most recent call last):
    TypeError: split= would be ignored here: it is for whole-number votes and the vote that 'occam' fits, \
not for 'f2'.
    """
    method = options.get("method")
    wanted = LEARNERS[method] if isinstance(method, str) else method
    if wanted is not None and not any(wanted.learns(bound) for bound in bounds):
        raise ignored("method", wanted.purpose, bounds)
    chosen = [wanted if wanted is not None and wanted.learns(bound) else _default(bound) for bound in bounds]
    used = {"method", *(name for kind in chosen for name in kind.option_names())}
    for name in (name for name in options if name not in used):
        owner = next(kind for kind in LEARNERS.values() if name in kind.option_names())
        if any(owner.learns(bound) for bound in bounds):
            raise TypeError(f"{name}= would be ignored here: it is an option of method={owner.id!r}.")
        raise ignored(name, owner.purpose, bounds)
    return [_made(kind, options).for_voters(voters, unlabelled) for kind in chosen]


def check_prior(prior: Any, bounds: Sequence[Bound]) -> None:
    """Refuse a prior over the voters that none of the bounds uses."""
    if prior is not None and all(bound.posterior is None for bound in bounds):
        purpose = (
            "bounds with a prior over the voters, as 'dirichlet' or 'fo' ('occam' takes prior_votes= instead)"
        )
        raise ignored("prior", purpose, bounds)


def ignored(name: str, purpose: str, bounds: Iterable[Bound]) -> TypeError:
    """The error for an option that none of the bounds uses."""
    ids = ", ".join(repr(bound.id) for bound in bounds)
    return TypeError(f"{name}= would be ignored here: it is for {purpose}, not for {ids}.")


def _default(bound: Bound) -> type[Learner]:
    """What learns a bound unless something else is asked for."""
    for kind in LEARNERS.values():
        if kind.learns(bound):
            return kind
    known = [name for name, other in BOUNDS.items() if any(kind.learns(other) for kind in LEARNERS.values())]
    raise ValueError(f"Weights cannot be learned by {bound.id!r}. Use one of: {', '.join(known)}.")


def _made(kind: Learner | type[Learner], options: Mapping[str, Any]) -> Learner:
    if isinstance(kind, Learner):
        return kind
    return kind(**{name: value for name, value in options.items() if name in kind.option_names()})

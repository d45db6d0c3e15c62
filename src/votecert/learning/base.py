"""What every learner is: a value with options that finds the weights for which a bound is small."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from votecert.bounds.base import Bound, Evaluation, Floats
from votecert.learning.budget import Callback
from votecert.rows.read import Rows


@dataclass(frozen=True, kw_only=True)
class Learner(ABC):
    """A way of learning weights. Options are fields, checked when the value is made.

    Whatever a learner does, the certificate holds: it returns the bound evaluated on the certifying rows, and
    the bound pays for every vote that could have been found. So a learner may be as clever as it likes.

    Parameters
    ----------
    random_state : int, default=0
        Seed of all that is drawn. Choose it once: trying seeds until the number is small voids the guarantee.
    time_budget : float or None
        Seconds after which the best that was found so far is returned; None for no limit.
    callback : callable, optional
        Called now and then with a dictionary: ``iteration``, ``value`` (the smallest so far), ``seconds``.
    """

    random_state: int = 0
    time_budget: float | None = None
    callback: Callback | None = None

    id: ClassVar[str]
    purpose: ClassVar[str]
    """What it and its options are for, in words that follow "it is for"."""

    def __post_init__(self) -> None:
        seed, budget = self.random_state, self.time_budget
        if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
            raise ValueError(f"random_state must be a whole number, zero or more, not {seed!r}.")
        if budget is not None and not (isinstance(budget, int | float | np.number) and budget >= 0):
            raise ValueError(f"time_budget must be a number of seconds, zero or more, not {budget!r}.")
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be a function of one dictionary, not {self.callback!r}.")

    @classmethod
    @abstractmethod
    def learns(cls, bound: Bound) -> bool:
        """Whether it can make this bound small."""

    @abstractmethod
    def learn(
        self,
        rows: Rows,
        bound: Bound,
        delta: float,
        *,
        prior: Floats | None = None,
        fallback: int | None = None,
    ) -> Evaluation:
        """Find a vote for which the bound is small, on the rows that certify it.

        Parameters
        ----------
        rows : Ballots or Scores
            The certifying rows.
        bound : Bound
            One that it :meth:`learns`.
        delta : float
            The bound holds with probability at least 1 - delta.
        prior : array of shape (d,), optional
            Positive numbers fixed without looking at the rows.
        fallback : int, optional
            Class index for rows on which nobody votes.

        Returns
        -------
        Evaluation
            The exact bound of the vote that was found. An interrupt from the keyboard ends the search, not
            the program; ``details["interrupted"]`` is 1 if that, or the budget, cut the search short.
        """

    def for_groups(self) -> Self:
        """The same for a vote that is certified on each group of the rows by itself."""
        return self

    def for_voters(self, names: Sequence[str] | None, unlabelled: Any = None) -> Self:
        """The same with other rows in the order of these voters, and with rows without labels, if any."""
        return self

    @classmethod
    def option_names(cls) -> list[str]:
        """Names of the options that there are."""
        return [option.name for option in fields(cls)]


def check_whole(learner: Learner, *names: str) -> None:
    """Refuse options that are not whole numbers, one or more."""
    for name in names:
        value = getattr(learner, name)
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be a whole number, one or more, not {value!r}.")

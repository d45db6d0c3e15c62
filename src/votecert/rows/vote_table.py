"""Votes and true labels as they were read, with the names of voters and items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from votecert._types import AnyArray, Codes
from votecert.rows.ballots import Ballots
from votecert.rows.tables import places_of

FEWEST_UNLABELLED = 20
"""So many rows without a true label are worth a look while learning."""


@dataclass(frozen=True, eq=False, repr=False)
class VoteTable:
    """A table of votes, one row an item and one column a voter, which every function here takes as ``votes``.

    Attributes
    ----------
    ballots : Ballots
        The rows with a true label, encoded.
    voters : tuple of str or None
        Names of the voters.
    source : str
        Name of the file.
    items : (m,) array of str, or None
        The item of each row with a true label.
    groups : (m,) array of str, or None
        The group of each row with a true label.
    unlabelled_codes : (n, d) integers, or None
        Votes on the rows without a true label, as places in ``ballots.classes``.
    unlabelled_items : (n,) array of str, or None
        Their items.
    """

    ballots: Ballots
    voters: tuple[str, ...] | None
    source: str
    items: AnyArray | None = None
    groups: AnyArray | None = None
    unlabelled_codes: Codes | None = None
    unlabelled_items: AnyArray | None = None

    @property
    def votes(self) -> AnyArray:
        """What each voter says about each row with a true label; None where it says nothing."""
        rows = self.ballots
        assert rows.pattern_of_row is not None
        return self._labels(rows.codes[rows.pattern_of_row])

    @property
    def y(self) -> AnyArray:
        """The true labels."""
        rows = self.ballots
        assert rows.pattern_of_row is not None
        return np.asarray(rows.classes[rows.labels[rows.pattern_of_row]])

    @property
    def unlabelled(self) -> AnyArray:
        """Votes on the rows without a true label: learning looks at them, but they certify nothing."""
        none = np.zeros((0, self.ballots.n_voters), dtype=np.uint8)
        return self._labels(none if self.unlabelled_codes is None else self.unlabelled_codes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to think twice about."""
        return self.ballots.notes

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """Names of the voters, as other tables call them."""
        return self.voters

    @cached_property
    def n_abstentions(self) -> int:
        """Number of missing votes on rows with a true label."""
        if not self.ballots.can_abstain:
            return 0
        missing = (self.ballots.codes == self.ballots.n_classes).sum(axis=1)
        return int(missing @ self.ballots.counts)

    def select(self, voters: Sequence[str]) -> AnyArray:
        """Votes of some voters, by name."""
        places = places_of(voters, self.voters or ())
        return self.votes if places is None else self.votes[:, places]

    def _labels(self, codes: Codes) -> AnyArray:
        labels: AnyArray = np.array([*self.ballots.classes.tolist(), None], dtype=object)
        return labels[codes]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        return self.votes if dtype is None else self.votes.astype(dtype)

    def __len__(self) -> int:
        return self.ballots.n_rows

    def __repr__(self) -> str:
        rows = self.ballots
        n = 0 if self.unlabelled_codes is None else len(self.unlabelled_codes)
        more = f", {n} rows without a label" if n else ""
        return f"VoteTable({rows.n_rows} rows, {rows.n_voters} voters, {rows.n_classes} classes{more})"


def unlabelled_of(votes: Any) -> AnyArray | None:
    """Votes on rows without a true label, if a table has some.

    A handful tells nothing, and a vote that was fitted on them, too, cannot be fitted again to verify it.
    """
    codes = votes.unlabelled_codes if isinstance(votes, VoteTable) else None
    return votes.unlabelled if codes is not None and len(codes) >= FEWEST_UNLABELLED else None

"""Which column of a table is what."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from votecert.rows.tables import refuse_repeated

MOST_COLUMNS = 100_000
"""Tables with more columns are refused: that many voters are a mistake, or an attack."""

ColumnChoice = str | int


@dataclass(frozen=True)
class Columns:
    """Positions of the true label, the group and the voters.

    The label may be None, and the group, too; arrays of their own have names.
    """

    names: tuple[str, ...]
    label: int | str | None
    group: int | str | None
    voters: tuple[int, ...]

    @cached_property
    def used(self) -> tuple[int, ...]:
        """Positions of all columns that are read, in their order."""
        chosen = {self.label, self.group, *self.voters}
        return tuple(sorted(position for position in chosen if isinstance(position, int)))

    @property
    def voter_names(self) -> tuple[str, ...]:
        """Names of the voters."""
        return tuple(self.names[position] for position in self.voters)


def pick_columns(
    names: Sequence[str],
    label: ColumnChoice | None,
    group: ColumnChoice | None,
    ignore: Iterable[ColumnChoice],
    source: str,
) -> Columns:
    """Sort out the columns: those that are neither label nor group nor ignored are voters.

    Examples
    --------
    >>> pick_columns(["id", "a", "b", "truth"], "truth", None, [0], "votes.csv")
    Columns(names=('id', 'a', 'b', 'truth'), label=3, group=None, voters=(1, 2))
    """
    refuse_width(len(names), source)
    names = tuple(name.strip() for name in names)
    if label is None:
        raise ValueError(
            f"{source}: say which column holds the true label, by name or position. Its columns are "
            f"{_listed(names)}."
        )
    truth = find_column(names, label, source)
    grouped = None if group is None else find_column(names, group, source)
    left_out = {truth, grouped, *find_columns(names, ignore, source)}
    voters = tuple(position for position in range(len(names)) if position not in left_out)
    if not voters:
        raise ValueError(f"{source}: no column is left for the voters. Its columns are {_listed(names)}.")
    refuse_repeated([names[position] for position in voters], f"{source}: ")
    return Columns(names, truth, grouped, voters)


def find_columns(names: Sequence[str], wanted: Iterable[ColumnChoice], source: str) -> set[int]:
    """Positions of several columns; what is no column itself may be a list of some, with commas.

    Examples
    --------
    >>> sorted(find_columns(["id", "a", "b", "x,y"], ["id,b", "x,y"], "votes.csv"))
    [0, 2, 3]
    """
    single: list[ColumnChoice] = []
    for column in wanted:
        if isinstance(column, str) and column.strip() not in names:
            single += column.split(",")
        else:
            single.append(column)
    return {find_column(names, column, source) for column in single}


def find_column(names: Sequence[str], wanted: ColumnChoice, source: str) -> int:
    """Position of a column given by name or, if no name matches, by position (negative: from the end)."""
    if isinstance(wanted, str):
        places = [position for position, name in enumerate(names) if name == wanted.strip()]
        if len(places) > 1:
            raise ValueError(
                f"{source}: {len(places)} columns are named {wanted!r}: give the position instead, "
                f"for example {places[0]}."
            )
        if places:
            return places[0]
    try:
        position = int(wanted)
    except ValueError:
        close = difflib.get_close_matches(wanted, names, n=1) if isinstance(wanted, str) else []
        hint = f" Did you mean {close[0]!r}?" if close else f" Its columns are {_listed(names)}."
        raise ValueError(f"{source} has no column {wanted!r}.{hint}") from None
    if not -len(names) <= position < len(names):
        raise ValueError(
            f"{source} has no column at position {position}: its {len(names)} columns are 0 to "
            f"{len(names) - 1}."
        )
    return position % len(names)


def refuse_width(n_columns: int, source: str) -> None:
    """Refuse tables that are too wide to be votes, and those that are too narrow."""
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"{source} has more than {MOST_COLUMNS} columns, the most that are read: a column is a voter."
        )
    if n_columns < 2:
        raise ValueError(
            f"{source} has only one column: a column of true labels and at least one voter are needed. "
            "If it has more, they must be separated by commas, semicolons or tabs."
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(name if len(name) <= 40 else name[:37] + "..." for name in names[:12])
    return shown + (f", ... ({len(names)} in all)" if len(names) > 12 else "")

"""Which column of a table is what."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from votecert.rows.checks import likely_options
from votecert.rows.tables import places_of, refuse_repeated

MOST_COLUMNS = 100_000
"""Tables with more columns are refused: that many voters are a mistake, or an attack."""

ColumnChoice = str | int


@dataclass(frozen=True)
class Columns:
    """Positions of the voters, and of the true label, the group and the item where these are known.

    Arrays of their own have names instead of positions.
    """

    names: tuple[str, ...]
    facts: Mapping[str, int | str]
    voters: tuple[int, ...]

    @property
    def voter_names(self) -> tuple[str, ...]:
        """Names of the voters."""
        return tuple(self.names[position] for position in self.voters)


@dataclass(frozen=True)
class Layout:
    """What is what in a table of votes, as the user says it.

    Attributes
    ----------
    label, group, item : str, int or None
        Columns of the true labels, of groups and of items.
    judge, vote : str, int or None
        In a long table, one line a vote: the columns that say who votes, and what.
    votes : str or None
        In nested JSON: the field with the votes of an item.
    ignore : tuple of str or int
        Columns that are no voters.
    voters : tuple of str or None
        The voters to look for by name; all others are left out.
    n_voters : int or None
        How many there must be, where they have other names.
    needs_label : bool
        Whether the table must have the true labels in it.
    """

    label: ColumnChoice | None = None
    group: ColumnChoice | None = None
    item: ColumnChoice | None = None
    judge: ColumnChoice | None = None
    vote: ColumnChoice | None = None
    votes: str | None = None
    ignore: tuple[ColumnChoice, ...] = ()
    voters: tuple[str, ...] | None = None
    n_voters: int | None = None
    needs_label: bool = True

    @property
    def facts(self) -> dict[str, ColumnChoice]:
        """The columns of the true label, the group and the item, as far as they are named and needed."""
        truth = self.label if self.needs_label else None
        named = {"true label": truth, "group": self.group, "item": self.item}
        return {what: column for what, column in named.items() if column is not None}

    @property
    def is_long(self) -> bool:
        """Whether a line is one vote."""
        return self.judge is not None or self.vote is not None

    def refuse_unlabelled(self, names: Sequence[str], source: str) -> None:
        """Ask for the true labels, if they are needed and not there."""
        if self.label is not None or not self.needs_label:
            return
        options = likely_options(names)
        hint = f" Perhaps: {options}." if options else ""
        raise ValueError(
            f"{source}: say which column holds the true label, by name or position.{hint} Its columns are "
            f"{listed(names)}."
        )


def pick_columns(names: Sequence[str], layout: Layout, source: str) -> Columns:
    """Sort out the columns: those that are neither label nor group nor item nor ignored are voters.

    Examples
    --------
    >>> pick_columns(["id", "a", "b", "truth"], Layout("truth", ignore=(0,)), "votes.csv")
    Columns(names=('id', 'a', 'b', 'truth'), facts={'true label': 3}, voters=(1, 2))
    """
    refuse_width(len(names), source)
    names = tuple(name.strip() for name in names)
    layout.refuse_unlabelled(names, source)
    facts = {what: find_column(names, column, source) for what, column in layout.facts.items()}
    return Columns(names, facts, chosen_voters(names, facts.values(), layout, source))


def chosen_voters(names: Sequence[str], taken: Iterable[int], layout: Layout, source: str) -> tuple[int, ...]:
    """Of the columns that are neither taken nor ignored those that are asked for, in that order."""
    left_out = {*taken, *find_columns(names, layout.ignore, source)}
    voters = tuple(position for position in range(len(names)) if position not in left_out)
    if layout.voters is not None:
        places = places_of(layout.voters, [names[position] for position in voters])
        voters = voters if places is None else tuple(voters[place] for place in places)
    else:
        refuse_repeated([names[position] for position in voters], f"{source}: ")
    if layout.n_voters not in (None, len(voters)):
        raise ValueError(
            f"{source} has {len(voters)} columns for {layout.n_voters} voters: leave out those that are none."
        )
    if not voters:
        raise ValueError(f"{source}: no column is left for the voters. Its columns are {listed(names)}.")
    return voters


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
        hint = f" Did you mean {close[0]!r}?" if close else f" Its columns are {listed(names)}."
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


def listed(names: Sequence[str]) -> str:
    """Names of columns in a message."""
    shown = ", ".join(name if len(name) <= 40 else name[:37] + "..." for name in names[:12])
    return shown + (f", ... ({len(names)} in all)" if len(names) > 12 else "")

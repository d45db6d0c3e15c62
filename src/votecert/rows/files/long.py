"""Long tables, one line a vote: collected line by line, and made wide in the end; and true labels by item.

Memory is eight bytes a vote while they are read, some 300 bytes an item, and then one byte for every item and
judge. Nothing depends on the order of the lines but that of the items, which is the one of appearance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from votecert._types import AnyArray, IntArray
from votecert.rows.files.arrays import LARGEST_UNPACKED, memory_limit
from votecert.rows.files.columns import Layout, find_column, listed
from votecert.rows.files.json_lines import Records
from votecert.rows.files.open import Opened
from votecert.rows.files.table import Arrays, Rows, Table, names_of, numbered, numbers_of
from votecert.rows.vocabulary import MISSING, Numbered, Vocabulary

SPARSEST = 2000
"""Large tables in which each vote stands for more than so many cells are refused: they may be bombs."""


class LongVotes:
    """Votes as they come, from one table or several.

    Parameters
    ----------
    vocabulary : Vocabulary
        For votes and true labels.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary, self._groups = vocabulary, Vocabulary("groups", MISSING)
        self._items, self._judges = names_of("items"), names_of("judges")
        self._parts: list[tuple[AnyArray, AnyArray, AnyArray]] = []
        self._facts = {what: OneAnItem(what, self._items) for what in ("true label", "group")}
        self.n_lines = self._n_before = 0

    def read(self, table: Table, layout: Layout, source: str, judge: str | None = None) -> None:
        """Add the lines of a table; in a file of one judge there is no column that names it."""
        roles = {"item": layout.item, "judge": layout.judge, "vote": layout.vote}
        if judge is not None:
            del roles["judge"]
        if missing := [f"{role}=" for role, column in roles.items() if column is None]:
            raise ValueError(
                f"{source}: a table with one line a vote needs {', '.join(f'{role}=' for role in roles)}; "
                f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. Its columns are "
                f"{listed(table.names)}."
            )
        layout.refuse_unlabelled(table.names, source)
        names = [name.strip() for name in table.names]
        places = {  # truth first: in messages about labels, too
            role: find_column(names, column, source)
            for role, column in (layout.facts | roles).items()
            if column is not None
        }
        _refuse_twice(places, names)
        vocabularies = {"item": self._items, "judge": self._judges, "vote": self._vocabulary}
        vocabularies |= {"true label": self._vocabulary, "group": self._groups}
        self._n_before = self.n_lines
        for block in table.blocks(sorted(set(places.values()))):
            self.add(numbered(block, places, names, vocabularies), judge)

    def add(self, numbers: dict[str, IntArray], judge: str | None) -> None:
        """Add some lines."""
        items = numbers["item"]
        judges = numbers.get("judge", np.broadcast_to(self._judges[judge] if judge else 0, items.shape))
        for role, found in (("item", items), ("judge", judges)):
            if not found.all():
                raise _without(role, self.n_lines - self._n_before + int(found.argmin()))
        for what, fact in self._facts.items():
            if what in numbers:
                fact.add(items, numbers[what])
        cast = numbers["vote"] > 0
        small = np.uint16 if len(self._judges.labels) < 1 << 16 else np.uint32
        votes = numbers["vote"][cast].astype(np.uint16)
        self._parts.append((items[cast].astype(np.uint32), judges[cast].astype(small), votes))
        self.n_lines += len(items)

    def wide(self, voters: tuple[str, ...] | None = None, in_order: bool = False) -> Rows:
        """One row an item, one column a judge.

        Parameters
        ----------
        voters : tuple of str, optional
            The judges in this order, and no others; by default all of them, sorted by name.
        in_order : bool, default=False
            Keep the judges in the order of their appearance.
        """
        names = [str(name) for name in self._judges.labels]
        n_items = len(self._items.labels)
        if not n_items:
            raise ValueError("there are no votes: at least one is needed.")
        if voters is None:
            voters = tuple(dict.fromkeys(names) if in_order else sorted(set(names)))
        known = set(names)
        if known.isdisjoint(voters):
            raise ValueError(f"none of the voters is there; the judges are {listed(names)}.")
        absent = [name for name in voters if name not in known]
        notes = [f"{listed(absent)} cast no vote here."] if absent else []
        cells = n_items * len(voters)
        if cells > min(memory_limit(), max(LARGEST_UNPACKED, SPARSEST * self.n_lines)):
            raise ValueError(
                f"{self.n_lines} lines make {n_items} items x {len(voters)} judges, {cells} bytes: "
                "more than half of this machine's memory or next to nothing blown up to a lot. Is the column "
                "of judges the right one?"
            )
        place = {name: position for position, name in enumerate(voters)}
        numbers = self._scattered(np.array([place.get(name, -1) for name in ["", *names]]), len(voters))
        labels, groups = (fact.of_items(n_items) for fact in self._facts.values())
        if groups is not None and not groups.all():
            item = self._items.labels[int(groups.argmin())]
            raise ValueError(f"the item {item!r} has no group. Fill it in, or leave out the item.")
        return Rows(
            Numbered(self._vocabulary, numbers=numbers),
            None if labels is None else Numbered(self._vocabulary, numbers=labels[:, None]),
            voters,
            None if groups is None else self._groups.texts(groups),
            self._items.texts(np.arange(1, n_items + 1)),
            tuple(notes),
        )

    def _scattered(self, place_of_judge: IntArray, n_voters: int) -> AnyArray:
        """The votes as numbers, items x judges, 0 where there is none."""
        few = len(self._vocabulary.labels) < 1 << 8
        table = np.zeros((len(self._items.labels), n_voters), dtype=np.uint8 if few else np.uint16)
        flat = table.reshape(-1)
        for items, judges, votes in self._parts:
            columns = place_of_judge[judges]
            wanted = slice(None) if (place_of_judge[1:] >= 0).all() else columns >= 0
            cells = (items[wanted].astype(np.int64) - 1) * n_voters + columns[wanted]
            wrong = put(flat, cells, votes[wanted])
            if wrong is not None:
                item, judge = int(items[wanted][wrong]), int(judges[wanted][wrong])
                raise ValueError(
                    f"the judge {self._judges.labels[judge - 1]!r} has two different votes on the item "
                    f"{self._items.labels[item - 1]!r}. Leave out one of them; if judges were asked several "
                    "times, name each round in the column of judges."
                )
        return table


def put(table: AnyArray, cells: AnyArray, numbers: AnyArray) -> int | None:
    """Write numbers into cells that hold the same or nothing, 0; return the first that meets another one."""
    before = table[cells]
    table[cells] = numbers
    wrong = ((before != 0) & (before != numbers)) | (table[cells] != numbers)
    return int(wrong.argmax()) if wrong.any() else None


class OneAnItem:
    """Something that an item has one of, however many lines say it."""

    def __init__(self, what: str, items: Vocabulary) -> None:
        self._what, self._items = what, items
        self._known: IntArray | None = None

    def add(self, items: IntArray, numbers: IntArray) -> None:
        """Take in what some lines say; 0 is nothing."""
        known = np.zeros(0, dtype=np.int64) if self._known is None else self._known
        if len(known) <= len(self._items.labels):
            known = np.append(known, np.zeros(len(self._items.labels) + 1, dtype=np.int64))  # doubles
        said = numbers > 0
        wrong = put(known, items[said], numbers[said])
        if wrong is not None:
            item = int(items[said][wrong])
            raise ValueError(f"the item {self._items.labels[item - 1]!r} has two different {self._what}s.")
        self._known = known

    def of_items(self, n_items: int) -> IntArray | None:
        """The number of each item; None if nobody said anything."""
        return None if self._known is None else self._known[1 : n_items + 1]


def _without(role: str, n_before: int) -> ValueError:
    return ValueError(f"line {n_before + 1} (the header not counted) has no {role}. Fill it in.")


def _refuse_twice(places: dict[str, int], names: Sequence[str]) -> None:
    """The item, the judge, the vote and the label are different columns."""
    roles = {place: role for role, place in reversed(places.items()) if role != "group"}
    for role, place in places.items():
        if role != "group" and roles[place] != role:
            raise ValueError(f"the column {names[place]!r} is named as {role} and as {roles[place]}.")


def read_gold(table: Opened, layout: Layout, vocabulary: Vocabulary, source: str) -> dict[str, int]:
    """The number of each item's true label in the vocabulary.

    The column of the items is called as among the votes, or is the first; that of the labels is named by the
    layout, or is the only other one.
    """
    if isinstance(table, Arrays):
        raise ValueError(f"{source}: true labels by item are read from a table, not from arrays.")
    names = [name.strip() for name in table.names]
    item = str(layout.item) if str(layout.item) in names else names[0]
    others = [name for name in names if name != item]
    if layout.label is None and len(others) != 1:
        raise ValueError(
            f"{source}: say with label= which column holds the true label. Its columns are {listed(names)}."
        )
    label = str(layout.label) if layout.label is not None else others[0]
    if isinstance(table, Records):
        table, names = table.columns([item, label]), [item, label]
    places = [find_column(names, item, source), find_column(names, label, source)]
    items = names_of("items")
    labels = OneAnItem("true label", items)
    n_lines = 0
    for block in table.blocks(sorted(set(places))):
        vocabulary.where = f"column {label!r} of {source}"
        about = numbers_of(block.column(places[0]), items)
        said = numbers_of(block.column(places[1]), vocabulary)
        if (lost := (about == 0) & (said > 0)).any():
            raise _without("item", n_lines + int(lost.argmax()))
        labels.add(about, said)
        n_lines += len(about)
    numbers = labels.of_items(len(items.labels))
    if numbers is None:
        return {}
    named = zip(items.labels, numbers.tolist(), strict=True)
    return {str(name): number for name, number in named if number}

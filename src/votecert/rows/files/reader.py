"""Tables of all kinds as rows of numbered votes and labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from votecert._types import AnyArray, Label
from votecert.rows.files.arrays import pick_arrays
from votecert.rows.files.columns import Columns, Layout, listed, pick_columns
from votecert.rows.files.json_lines import Records, as_long
from votecert.rows.files.long import LongVotes, read_gold
from votecert.rows.files.open import Opened, naming, open_table, stem
from votecert.rows.files.table import Arrays, NumberedRows, Rows, Table
from votecert.rows.tables import entries_of, refuse_other_index, refuse_other_length
from votecert.rows.vocabulary import MISSING, Numbered, Vocabulary, kind_of, plainest


def pick(table: Table | Arrays, name: str, layout: Layout) -> Columns:
    """What is what in a table."""
    if isinstance(table, Arrays) and table.others is not None:
        return pick_arrays(table, layout, name)
    return pick_columns(table.names, layout, name)


class Reader:
    """Rows of tables of all kinds; their labels have numbers in one vocabulary."""

    def __init__(
        self, layout: Layout, abstain: Iterable[Label], classes: Sequence[Label] | None, **opening: Any
    ) -> None:
        self._layout, self._abstain, self._classes, self._opening = layout, tuple(abstain), classes, opening
        declared = frozenset() if classes is None else frozenset(str(label) for label in classes)
        self._vocabulary = Vocabulary("votes", MISSING - declared, self._abstain)
        self._has_text = False

    @contextmanager
    def opened(self, source: Any) -> Iterator[tuple[Rows, str]]:
        """The rows of one source or of several, and its name, which errors mention."""
        several = _by_judge(source)
        if several is None:
            with open_table(source, **self._opening) as (table, name):
                yield self._typed(self._rows_of(table, name)), name
        else:
            name = listed([judge for judge, _ in several])
            with naming(name):
                yield self._typed(self._joined(several)), name

    def _rows_of(self, table: Opened, name: str) -> Rows:
        layout = self._layout
        if isinstance(table, Records):
            rows = self._long(table.long(layout, name), as_long(layout), name)
            return rows if layout.item is not None else rows._replace(items=None)
        _refuse_field(layout, name)
        if isinstance(table, Arrays):
            if layout.is_long:
                raise ValueError(f"{name}: an array is rows x voters, judge= and vote= are for tables.")
            return self._of_arrays(table, pick(table, name, layout))
        self._has_text |= not table.typed
        if layout.is_long:
            return self._long(table, layout, name)
        return NumberedRows(table, pick(table, name, layout), self._vocabulary).collected()

    def _long(self, table: Table, layout: Layout, name: str) -> Rows:
        votes = LongVotes(self._vocabulary)
        votes.read(table, layout, name)
        is_flat = not (self._layout.is_long or self._layout.votes)
        return self._wide(votes, in_order=is_flat)

    def _joined(self, several: Sequence[tuple[str, Any]]) -> Rows:
        """Several long tables as one; without a column for the judge, each is that of one judge."""
        votes, layout = LongVotes(self._vocabulary), self._layout
        is_of_one_judge = layout.judge is None and layout.votes is None
        if is_of_one_judge and len({judge for judge, _ in several}) < len(several):
            raise ValueError("two files have the same name, which is that of their judge: say judge=.")
        for judge, source in several:
            with open_table(source, **self._opening) as (table, name):
                if isinstance(table, Arrays):
                    raise ValueError(f"{name}: several files are joined by item; an array has no items.")
                if isinstance(table, Table):
                    _refuse_field(layout, name)
                one = _with_vote(layout, table.names, name)
                if isinstance(table, Records):
                    if is_of_one_judge:
                        fields = [one.item, one.vote, one.label, one.group]
                        table = table.columns([str(field) for field in fields if field is not None])
                    else:
                        table, one = table.long(one, name), as_long(one)
                self._has_text |= not table.typed
                votes.read(table, one, name, judge if is_of_one_judge else None)
        return self._wide(votes)

    def _wide(self, votes: LongVotes, in_order: bool = False) -> Rows:
        rows = votes.wide(self._layout.voters, in_order)
        n_judges = len(rows.voters or ())
        if self._layout.n_voters not in (None, n_judges):
            raise ValueError(f"there are {n_judges} judges for {self._layout.n_voters} voters without names.")
        return rows

    def _of_arrays(self, table: Arrays, columns: Columns) -> Rows:
        votes: Any = table.columns(columns.voters)
        if self._abstain:
            if votes.dtype.kind in "UO":
                votes = self._numbered(votes.ravel(), "votes", votes.shape[1])
            else:
                codes: Any = [code for code in map(plainest, self._abstain) if not isinstance(code, str)]
                votes = np.ma.array(votes, mask=np.isin(votes, codes))
        facts = {what: table.column(which) for what, which in columns.facts.items()}
        labels = self._numbered(facts["true label"]) if "true label" in facts else None
        groups, items = (facts[what].astype(str) if what in facts else None for what in ("group", "item"))
        return Rows(votes, labels, columns.voter_names if table.named else None, groups, items)

    def _numbered(self, entries: Any, where: str = "y", n_columns: int = 1) -> Numbered:
        """Labels that are no column of a file, row by row."""
        vocabulary = Vocabulary(where, None, self._abstain)
        numbers = vocabulary.number(entries_of(entries)).reshape(-1, n_columns)
        return Numbered(vocabulary, numbers=numbers)

    def with_labels(self, source: Any, rows: Rows, y: Any) -> Rows:
        """The rows with their true labels."""
        refuse_other_index(source, y)
        labels = self._numbered(y)
        refuse_other_length(rows.votes.shape[0], labels.shape[0], rows.votes.shape[1])
        return rows._replace(labels=labels)

    def with_gold(self, rows: Rows, gold: Any) -> tuple[Rows, list[str]]:
        """The rows with true labels by item, and what there is to say about it."""
        if rows.items is None:
            raise ValueError("gold= needs item=: the column that says what each row is about.")
        with open_table(gold, **self._opening) as (table, name):
            self._has_text |= not isinstance(table, Arrays) and not table.typed
            labels = read_gold(table, self._layout, self._vocabulary, name)
        numbers = np.array([labels.get(item, 0) for item in rows.items.tolist()], dtype=np.int64)
        without = len(labels) - len(set(labels) & set(rows.items.tolist()))
        note = f"{without} items of {name} have no votes: this is about items that have some."
        rows = rows._replace(labels=Numbered(self._vocabulary, numbers=numbers[:, None]))
        return self._typed(rows), [note] if without else []

    def _typed(self, rows: Rows) -> Rows:
        """Text that may be numbers, as what it is."""
        if self._has_text:
            values = self._vocabulary.typed(None if self._classes is None else kind_of(self._classes))
            for part in (rows.votes, rows.labels):
                if isinstance(part, Numbered):
                    part.values = values
        return rows

    def declared(self, votes: Numbered | AnyArray) -> Sequence[Label] | None:
        """The declared classes, as text if the votes are."""
        if self._classes is None:
            return None
        if isinstance(votes, Numbered):
            is_text = any(isinstance(value, str) for value in votes.values)
        else:
            is_text = votes.dtype.kind == "U"
        return [str(label) for label in self._classes] if is_text else self._classes


def _refuse_field(layout: Layout, source: str) -> None:
    if layout.votes is not None:
        raise ValueError(
            f"{source}: votes= names a field of nested JSON. Columns are named by judge= and vote=."
        )


def _with_vote(layout: Layout, names: Sequence[str], source: str) -> Layout:
    """The layout of a file of one judge: if there is one more column than needed, that is the vote."""
    if layout.item is None:
        raise ValueError(
            f"{source}: several files are joined by item: say item=. Its columns are {listed(names)}."
        )
    others = [name for name in names if name.strip() not in layout.facts.values()]
    if layout.vote is None and layout.votes is None and len(others) == 1:
        return replace(layout, vote=others[0].strip())
    return layout


def _by_judge(source: Any) -> list[tuple[str, Any]] | None:
    """Several sources, each with the judge that it may be of; None for a single one."""
    if isinstance(source, Mapping):
        return [(str(judge), one) for judge, one in source.items()]
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | PathLike) for one in source):
        return [(stem(path), path) for path in source]
    return None

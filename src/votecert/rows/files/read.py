"""Votes from tables and files of any known kind, wide or long, with or without true labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from votecert._types import AnyArray, Label
from votecert.rows.ballots import Ballots
from votecert.rows.checks import checked, warn_of
from votecert.rows.files.columns import ColumnChoice, Layout
from votecert.rows.files.reader import Reader
from votecert.rows.files.table import NoRowsError, Progress, Rows
from votecert.rows.labels import encode, encode_votes
from votecert.rows.vote_table import VoteTable


def read_votes(
    source: Any,
    *,
    label: Any = None,
    item: ColumnChoice | None = None,
    judge: ColumnChoice | None = None,
    vote: ColumnChoice | None = None,
    votes: str | None = None,
    gold: Any = None,
    group: ColumnChoice | None = None,
    ignore: ColumnChoice | Iterable[ColumnChoice] = (),
    abstain: Label | Iterable[Label] = (),
    classes: Sequence[Label] | None = None,
    can_abstain: bool | None = None,
    header: bool = True,
    validate: bool = True,
    progress: Progress | None = None,
) -> VoteTable:
    """Read votes and true labels from a table or a file, wide or long.

    Parameters
    ----------
    source : path, binary stream, table, list of dictionaries, array; or several
        Files: csv, tsv and JSON (one object a line, or a list of objects), also packed (.gz, .bz2, .xz,
        .zst); parquet (needs pyarrow); npz with arrays ``votes`` and ``y`` (or ``L`` and ``Y``, or
        ``votes_bound`` and ``y_bound``; optionally ``groups`` and ``voters``); npy with one array. Streams:
        csv or JSON. Tables of pandas, polars, pyarrow or Dask, whose partitions are read one after the other.
        A list of files, or a dictionary of files or tables by judge, is read as one long table.
    label : str or int, or labels
        Column of the true labels, by name or position (from 0; negative: from the end); in npz the name of
        the array, "y" by default; with ``gold`` the column there. Or the labels themselves, one a row.
    item : str or int, optional
        Column that says what a row is about. Needed for long tables, several files and ``gold``.
    judge, vote : str or int, optional
        For long tables, one line a vote: the columns that say who votes, and what. Several files of one judge
        each need no column for the judge: it is called as its file.
    votes : str, optional
        For nested JSON: the field with the votes of an object, a list of objects with the fields ``judge``
        and ``vote``, or an object with one field a judge. Fields are paths, such as "result.0.value".
    gold : path, stream or table, optional
        Where the true labels are, by item, if they are not among the votes.
    group : str or int, optional
        Column (npz: array) that says which group a row belongs to.
    ignore : str, int or several
        Columns that are no voters; text with commas names several.
    abstain : label or several
        Codes for "says nothing", such as -1. Empty cells, None and NaN need none.
    classes : sequence of labels, optional
        All labels there can be, in the order that breaks ties; the sorted labels seen by default.
    can_abstain : bool, optional
        Whether voters can abstain; by default, whether one does.
    header : bool, default=True
        Whether csv text begins with the names of the columns.
    validate : bool, default=True
        Refuse what looks like no table of votes, and note what is unusual, as ``certify`` does.
    progress : callable, optional
        Called as ``progress(done, total)`` while a file is read; ``total`` is None if unknown.

    Returns
    -------
    VoteTable
        For :func:`votecert.certify` and the others, in place of ``votes`` and ``y``. Of a long table, items
        are in the order in which they appear and judges sorted by name. Rows without a true label are counted
        in the notes and kept in ``unlabelled``: learning looks at them, and nothing is certified on them.

    Raises
    ------
    ValueError, TypeError
        If the file is not what it should be, with its name, the column and what to do: also where a judge
        has two different votes on one item, or an item two true labels.
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import io
    >>> text = b"item,judge,says,truth\\n1,bob,no,yes\\n1,ann,yes,yes\\n2,ann,no,no\\n"
    >>> found = read_votes(io.BytesIO(text), item="item", judge="judge", vote="says", label="truth")
    >>> found, found.voters, found.items.tolist()
    (VoteTable(2 rows, 2 voters, 2 classes), ('ann', 'bob'), ['1', '2'])
    >>> found.votes.tolist(), found.y.tolist()
    ([['yes', 'no'], ['no', None]], ['yes', 'no'])
    """
    is_column = label is None or isinstance(label, str | int)
    if not is_column and gold is not None:
        raise ValueError("label= is the labels themselves, so that gold= would be ignored: give one of them.")
    layout = Layout(label if is_column else None, group, item, judge, vote, votes, tuple(_several(ignore)))
    found = read_table(
        source,
        layout,
        y=None if is_column else label,
        gold=gold,
        abstain=_several(abstain),
        classes=classes,
        can_abstain=can_abstain,
        header=header,
        validate=validate,
        progress=progress,
    )
    warn_of(found.notes)
    return found


def read_table(
    source: Any,
    layout: Layout,
    *,
    y: Any = None,
    gold: Any = None,
    abstain: Iterable[Label] = (),
    classes: Sequence[Label] | None = None,
    can_abstain: bool | None = None,
    validate: bool = True,
    **opening: Any,
) -> VoteTable:
    """The same as :func:`read_votes`, without warnings."""
    if y is not None or gold is not None:
        layout = replace(layout, needs_label=False)
    reader = Reader(layout, abstain, classes, **opening)
    with reader.opened(source) as (rows, name):
        notes = [*rows.notes]
        if y is not None:
            rows = reader.with_labels(source, rows, y)
        elif gold is not None:
            rows, more = reader.with_gold(rows, gold)
            notes += more
        labelled, notes = _labelled(rows, notes)
        encoded = encode(rows.votes, rows.labels, reader.declared(rows.votes), can_abstain=can_abstain)
        codes = encoded.codes
        if not labelled.all():
            present = codes[labelled]
            any_missing = bool((present == len(encoded.classes)).any())
            labels = encoded.labels[labelled]
            encoded = replace(encoded, codes=present, labels=labels, any_missing=any_missing)
        ballots = Ballots.from_codes(encoded)
        if validate:
            ballots = checked(ballots, rows.voters, notes)
    parts = [labelled, ~labelled]
    items = [None if rows.items is None else rows.items[part] for part in parts]
    groups = None if rows.groups is None else rows.groups[labelled]
    others = None if labelled.all() else codes[~labelled]
    return VoteTable(ballots, rows.voters, name, items[0], groups, others, items[1])


def read_new_votes(
    source: Any, classes: Sequence[Label], layout: Layout, *, abstain: Iterable[Label] = (), **opening: Any
) -> Rows:
    """Read votes alone: places in the classes, their number where one is missing; and the items.

    Parameters
    ----------
    source, abstain, header, progress
        As for :func:`read_votes`. An npz file needs the array of votes only.
    classes : sequence of labels
        What voters may say.
    layout : Layout
        A file with columns of the voters' names is read by name, and its other columns are left out;
        any other file must have one column a voter, in their order.

    Examples
    --------
    >>> import io
    >>> text = b"id,bob,ann\\n1,no,yes\\n2,yes,\\n"
    >>> read_new_votes(io.BytesIO(text), ["no", "yes"], Layout(voters=("ann", "bob"))).votes.tolist()
    [[1, 0], [2, 1]]
    """
    reader = Reader(replace(layout, needs_label=False), abstain, classes, **opening)
    with reader.opened(source) as (rows, _):
        codes = encode_votes(rows.votes, np.asarray(reader.declared(rows.votes)))
    return rows._replace(votes=codes)


def _labelled(rows: Rows, notes: list[str]) -> tuple[AnyArray, list[str]]:
    """Which rows have a true label, and notes; the others get any, since they are split off afterwards."""
    assert rows.labels is not None
    numbers = rows.labels.numbers[:, 0]
    known = numbers > 0
    if not known.any():
        raise NoRowsError("no row has a true label: nothing can be certified.")
    if n_unknown := int((~known).sum()):
        numbers[~known] = numbers[known][0]
        has = "has" if n_unknown == 1 else "have"
        why = "nothing is certified on them, and the others must be a random sample."
        notes = [*notes, f"{n_unknown} of {len(known)} rows {has} no true label: {why}"]
    if rows.items is not None and (n_items := len(set(rows.items[known].tolist()))) < known.sum():
        note = f"{int(known.sum())} rows are about {n_items} items. Rows of one item are not independent."
        notes = [*notes, note]
    return known, notes


def _several(given: Any) -> Iterable[Any]:
    return [given] if np.isscalar(given) else given

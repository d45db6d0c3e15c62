"""JSON: one object a line, or a list of objects; flat, long or nested. All of it becomes a long table.

Fields are named by paths: ``data.gold`` is the field "gold" of the object "data", ``result.0.value`` looks
into the first entry of a list. What is not there is missing.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from votecert.rows.files.columns import ColumnChoice, Layout, listed
from votecert.rows.files.table import Block, Source, Table

LONGEST_OBJECT = 10_000_000
"""Objects with more characters are refused."""

BLOCK_BYTES = 1 << 20
"""Bytes read at a time."""

_COLUMNS = ("item", "judge", "vote", "label", "group")  # of the long table that every file of JSON becomes
_BETWEEN = re.compile(r"[\s,]*")

Record = Mapping[str, Any]
Vote = tuple[Any, Any, Any, Any, Any]  # in the order of the columns


class Records(NamedTuple):
    """Objects with fields.

    Attributes
    ----------
    names : sequence of str
        The fields of the first one.
    batches : callable
        Gives all of them, some at a time, with the share of the file read so far.
    typed : bool
        Numbers are numbers, as in a table.
    """

    names: Sequence[str]
    batches: Callable[[], Iterator[tuple[Sequence[Record], float | None]]]
    typed: bool = True

    def long(self, layout: Layout, source: str) -> Table:
        """A table with one line a vote."""
        layout.refuse_unlabelled(self.names, source)
        wanted = {"item": layout.item, "judge": layout.judge, "vote": layout.vote}
        if layout.is_long and layout.votes is None and None in wanted.values():
            needed = ", ".join(f"{name}=" for name, field in wanted.items() if field is None)
            raise ValueError(f"{source}: one line a vote needs {needed}. Fields are {listed(self.names)}.")
        votes_of = _votes_of(layout)
        truth, group = layout.facts.get("true label"), layout.group

        def blocks(used: Sequence[int]) -> Iterator[Block]:
            number = 0
            missing = [str(field) for field in (layout.votes, *layout.facts.values()) if field is not None]
            for records, share in self.batches():
                lines: list[Vote] = []
                for record in records:
                    number += 1
                    if missing:
                        missing = [field for field in missing if look_up(record, field) is None]
                    item = number if layout.item is None else look_up(record, layout.item)
                    about = (look_up(record, truth), look_up(record, group))
                    try:
                        lines += [(item, judge, vote, *about) for judge, vote in votes_of(record)]
                    except (ValueError, TypeError) as error:
                        raise ValueError(f"object {number}: {error}") from None
                columns = list(zip(*lines, strict=True)) or [()] * len(_COLUMNS)
                yield Block({place: columns[place] for place in used}, share)
            if missing:
                raise ValueError(f"no object has the field {missing[0]!r}. Fields are {listed(self.names)}.")

        return Table(_COLUMNS, blocks)

    def columns(self, fields: Sequence[str]) -> Table:
        """A table of some fields."""

        def blocks(used: Sequence[int]) -> Iterator[Block]:
            for records, share in self.batches():
                cells = {place: [look_up(one, fields[place]) for one in records] for place in used}
                yield Block(cells, share)

        return Table(fields, blocks)


def read_json(source: Source) -> Records:
    """The objects of a file."""
    batches = _batches(source)
    first = next(batches, None)
    if first is None:
        raise ValueError(f"{source.name} is empty.")
    return Records(list(first[0][0]), lambda: chain([first], batches))


def records_of(rows: Sequence[Record]) -> Records:
    """Objects in memory."""
    return Records(list(rows[0]), lambda: iter([(rows, 1.0)]))


def look_up(record: Any, path: ColumnChoice | None) -> Any:
    """What a path leads to in an object, or None.

    Examples
    --------
    >>> look_up({"a": {"b": [7, 8]}, "a.b": 9}, "a.b"), look_up({"a": {"b": [7, 8]}}, "a.b.1")
    (9, 8)
    >>> look_up({"a": 1}, "a.b.c") is None
    True
    """
    if path is None:
        return None
    path = str(path)
    if isinstance(record, Mapping) and path in record:
        return record[path]
    first, _, rest = path.partition(".")
    if isinstance(record, Mapping):
        found = record.get(first)
    elif isinstance(record, list) and first.isdecimal() and int(first) < len(record):
        found = record[int(first)]
    else:
        return None
    return look_up(found, rest) if rest and found is not None else found


def _votes_of(layout: Layout) -> Callable[[Record], Iterable[tuple[Any, Any]]]:
    """What gives the votes of an object, each with its judge."""
    left_out = {name.strip() for given in layout.ignore for name in (str(given), *str(given).split(","))}
    for field in map(str, layout.facts.values()):
        left_out |= {field, field.partition(".")[0]}  # a name may have a dot in it
    wanted = None if layout.voters is None else set(layout.voters)

    def flat(record: Record) -> Iterator[tuple[Any, Any]]:
        left = [(name, value) for name, value in record.items() if name not in left_out]
        for name, value in left:
            if wanted is not None and name not in wanted:
                continue
            if isinstance(value, list | dict):
                raise ValueError(
                    f"the field {name!r} is nested, and a vote is a single label. If it holds the votes, say "
                    f"votes={name!r}; if it is no voter, ignore={name!r}."
                )
            yield name, value
        if not left:
            raise ValueError("no field is left for the voters.")

    def judge_and_vote(record: Any) -> tuple[Any, Any]:
        return look_up(record, layout.judge), look_up(record, layout.vote)

    def nested(record: Record) -> Iterable[tuple[Any, Any]]:
        votes = look_up(record, layout.votes)
        if isinstance(votes, Mapping):
            said = [look_up(vote, layout.vote) if layout.vote else vote for vote in votes.values()]
            return zip(votes, said, strict=True)
        if not isinstance(votes, list | None):
            raise ValueError(f"the field {layout.votes!r} is no list of votes.")
        if votes and (layout.judge is None or layout.vote is None):
            raise ValueError(f"say which fields of {layout.votes!r} are what: judge= and vote=.")
        return map(judge_and_vote, votes or ())

    if layout.votes is not None:
        return nested
    return (lambda record: [judge_and_vote(record)]) if layout.is_long else flat


def _batches(source: Source) -> Iterator[tuple[list[Record], float | None]]:
    """The objects of a text, about a megabyte of it at a time."""
    decoder = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_no_number)
    decode = codecs.getincrementaldecoder("utf-8-sig")().decode
    waiting, n_read, more, opened = "", 0, True, False
    while more:
        data = source.stream.read(BLOCK_BYTES)
        more, n_read = bool(data), n_read + len(data)
        try:
            waiting += decode(data, final=not more)
        except UnicodeDecodeError:
            raise ValueError(f"{source.name} is not UTF-8 text: save it as UTF-8.") from None
        share = source.advance(n_read)
        place = _BETWEEN.match(waiting).end()  # type: ignore[union-attr]
        if not opened and waiting[place : place + 1] == "[":
            place += 1
        opened = opened or place < len(waiting)
        found: list[Record] = []
        while True:
            place = _BETWEEN.match(waiting, place).end()  # type: ignore[union-attr]
            if waiting[place : place + 1] in ("", "]"):
                break
            try:
                record, place = decoder.raw_decode(waiting, place)
            except RecursionError:
                raise ValueError(f"{source.name}: brackets are nested too deeply.") from None
            except json.JSONDecodeError as error:
                if more and len(waiting) - place <= LONGEST_OBJECT and waiting[place] == "{":
                    break  # the rest of it comes next
                raise ValueError(f"{source.name} is not JSON: {error}.") from None
            if not isinstance(record, dict) or not record:
                raise ValueError(f"{source.name} must hold objects with fields, one a line or in one list.")
            found.append(record)
        waiting = waiting[place:]
        if found:
            yield found, share
    if waiting.strip(" \t\r\n],"):
        raise ValueError(f"{source.name} is not JSON: there is more after its end.")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of two fields of one name, one would be lost."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("an object has two fields of the same name.")
    return fields


def _no_number(name: str) -> None:
    """NaN is how table programs write what is missing."""
    if name != "NaN":
        raise ValueError(f"{name} is no number of JSON.")


def as_long(layout: Layout) -> Layout:
    """How to read the long table that JSON with this layout became."""
    label = None if layout.label is None else "label"
    group = None if layout.group is None else "group"
    return Layout(label, group, "item", "judge", "vote", needs_label=layout.needs_label)

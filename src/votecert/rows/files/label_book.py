"""Labels as they are met in files: numbered in the order of appearance, ordered when all are known.

A csv file does not say what its cells are. Once all of them are seen, labels that all are whole numbers
become numbers ("1" and "1.0" are the same label then: a table program writes a column with gaps in that way),
labels that all are true or false become bools, and anything else stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from votecert.rows.labels import Label

MISSING = frozenset({"", "NA", "N/A", "<NA>", "NaN", "nan", "NULL", "null"})
"""Cells that mean "no vote", unless one of them is a declared class."""

MOST_LABELS = 60_000
"""More different labels than this are no classes: the column holds names or measurements."""

LONGEST_LABEL = 1000
"""Longer texts are no labels."""

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.0*)?")
_BOOLS = {"true": True, "false": False}
_EXACT_FLOAT = 2.0**53


class LabelBook(dict[Any, int]):
    """Numbers entries 1, 2, ... as they turn up; a missing one is 0.

    Attributes
    ----------
    labels : list
        The entry with number i + 1: stripped text for text, else a whole number or a bool.
    first_column : list of str
        Where each of them was seen first.

    Examples
    --------
    >>> book = LabelBook("votes.csv", missing=MISSING)
    >>> book.number([b"cat", b" dog ", b"", "cat"], "judge").tolist(), book.labels
    ([1, 2, 0, 1], ['cat', 'dog'])
    """

    def __init__(self, source: str, missing: Iterable[str]) -> None:
        super().__init__()
        self._source, self._missing = source, frozenset(missing)
        self._number_of: dict[Label, int] = {}
        self._column = ""
        self.labels: list[Label] = []
        self.first_column: list[str] = []
        self.any_bool = self.any_number = False

    def number(self, entries: Sequence[Any], column: str) -> npt.NDArray[np.uint16]:
        """Numbers of the entries of one column."""
        self._column = column
        return np.fromiter(map(self.__getitem__, entries), np.uint16, count=len(entries))

    def number_bytes(self, cells: npt.NDArray[np.uint8], columns: Sequence[str]) -> npt.NDArray[np.uint16]:
        """Numbers of cells (rows x columns) that are single characters; the character 0 is an empty cell."""
        table = np.zeros(256, dtype=np.uint16)
        for code in np.flatnonzero(np.bincount(cells.ravel(), minlength=256)).tolist():
            entry = bytes([code]) if code else b""
            if entry not in self:
                self._column = columns[int((cells == code).any(axis=0).argmax())]
            table[code] = self[entry]
        return table[cells]

    def __missing__(self, entry: Any) -> int:
        label = self._text(entry) if isinstance(entry, bytes | str) else self._value(entry)
        if label is None:
            number = 0
        elif label in self._number_of:
            number = self._number_of[label]
        else:
            self.labels.append(label)
            self.first_column.append(self._column)
            number = self._number_of[label] = len(self.labels)
        if len(self) > 2 * MOST_LABELS or len(self.labels) > MOST_LABELS:
            raise ValueError(
                f"{self._where} brings the file to more than {MOST_LABELS} different "
                "labels. Columns that are no votes (names, texts, scores) must be left out."
            )
        self[entry] = number
        return number

    @property
    def _where(self) -> str:
        return f"{self._source}: column {self._column!r}"

    def _text(self, entry: bytes | str) -> str | None:
        if len(entry) > LONGEST_LABEL:
            raise ValueError(
                f"{self._where} holds a text of {len(entry)} characters, which is no "
                "label. Columns that are no votes must be left out."
            )
        try:
            text = (entry.decode() if isinstance(entry, bytes) else entry).strip()
        except UnicodeDecodeError:
            raise ValueError(f"{self._where} is not UTF-8 text. Save the file as UTF-8.") from None
        return None if text in self._missing else text

    def _value(self, entry: Any) -> Label | None:
        if entry is None:
            return None
        if isinstance(entry, bool | np.bool_):
            self.any_bool = True
            return bool(entry)
        if isinstance(entry, float | np.floating):
            if np.isnan(entry):
                return None
            entry = float(entry)
            if not entry.is_integer() or abs(entry) > _EXACT_FLOAT:
                raise ValueError(
                    f"{self._where} holds {entry!r}, which is no label. Turn "
                    "scores into labels first, or leave the column out."
                )
        elif not isinstance(entry, int | np.integer):
            raise TypeError(
                f"{self._where} holds {type(entry).__name__} values, which are no "
                "labels: use text, whole numbers or bools."
            )
        elif abs(int(entry)) >= 1 << 63:
            raise ValueError(f"{self._where} holds {int(entry)}: number labels must fit in 64 bits.")
        self.any_number = True
        return int(entry)

    def typed(self, untyped: bool, kind: type | None = None) -> list[Label]:
        """The labels, in the order of their numbers, as text, whole numbers or bools.

        Parameters
        ----------
        untyped : bool
            Whether text may stand for numbers and bools, as in csv files.
        kind : type, optional
            What the declared classes are (str, int or bool); found from the labels by default.
        """
        texts = [label for label in self.labels if isinstance(label, str)]
        if len(texts) == len(self.labels):
            return list(typed_texts(texts, kind)) if untyped else list(texts)
        if texts:
            place = {isinstance(label, str): i for i, label in reversed(list(enumerate(self.labels)))}
            text, number = place[True], place[False]
            raise TypeError(
                f"{self._source}: column {self.first_column[text]!r} holds the text {self.labels[text]!r}, "
                f"column {self.first_column[number]!r} the number {self.labels[number]!r}. Use one of the "
                "two everywhere."
            )
        if self.any_bool and not self.any_number:
            return [bool(label) for label in self.labels]
        return [int(label) for label in self.labels]


def typed_texts(texts: Sequence[str], kind: type | None = None) -> Sequence[Label]:
    """Texts as whole numbers or bools, if all of them are; ``kind`` restricts the choice.

    Examples
    --------
    >>> typed_texts(["10", "2.0"]), typed_texts(["true", "False"]), typed_texts(["1", "one"])
    ([10, 2], [True, False], ['1', 'one'])
    """
    if kind in (None, bool) and all(text.lower() in _BOOLS for text in texts):
        return [_BOOLS[text.lower()] for text in texts]
    if kind in (None, int, bool) and all(_WHOLE.fullmatch(text) for text in texts):
        numbers = [int(text.partition(".")[0]) for text in texts]
        return [bool(number) for number in numbers] if kind is bool and set(numbers) <= {0, 1} else numbers
    return texts


def kind_of(labels: Sequence[Label]) -> type:
    """What labels are: bool, int or str."""
    kinds = {type(label) for label in labels}
    return bool if kinds == {bool} else str if str in kinds else int

"""Labels as they are met: numbered in the order of appearance, whatever they are and wherever they come from.

A csv file does not say what its cells are. Once all of them are seen, labels that all are whole numbers
become numbers ("1" and "1.0" are the same label then: a table program writes a column with gaps in that way),
labels that all are true or false become bools, and anything else stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from votecert._types import AnyArray, Codes, IntArray, Label
from votecert.rows.cells import CellCache, Cells
from votecert.rows.patterns import row_blocks

MISSING = frozenset({"", "NA", "N/A", "<NA>", "NaN", "nan", "NULL", "null"})
"""Cells of a file that mean "no vote", unless one of them is a declared class."""

MOST_LABELS = 60_000
"""More different labels than this in a file are no classes: the column holds names or measurements."""

LONGEST_LABEL = 1000
"""Longer texts in a file are no labels."""

MOST_NAMES = 100_000_000
"""More items than this in a file are refused."""

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.0*)?")
_BOOLS = {"true": True, "false": False}
_EXACT_FLOAT = 2.0**53  # above it a float no longer says which whole number was meant


class Vocabulary(dict[Any, int]):
    """Numbers entries 1, 2, ... as they turn up; a missing one is 0.

    Parameters
    ----------
    where : str
        What holds the entries, for messages.
    missing : set of str, optional
        Texts that mean that there is no label. If given, the entries are cells of a file: their texts are
        stripped, and what is too long or too much for labels is refused.
    abstain : iterable of labels
        Further codes for "no label"; a number also stands for its text, and the other way round.
    most : int, optional
        How many different labels there may be; :data:`MOST_LABELS` by default.

    Attributes
    ----------
    labels : list
        The entry with number i + 1: a text, a whole number or a bool.
    origins : list of str
        Where each of them was seen first.

    Examples
    --------
    >>> cells = Vocabulary("judge", missing=MISSING)
    >>> cells.number([b"cat", b" dog ", b"", "cat"]).tolist(), cells.labels
    ([1, 2, 0, 1], ['cat', 'dog'])
    """

    def __init__(
        self,
        where: str,
        missing: frozenset[str] | None = None,
        abstain: Iterable[Label] = (),
        most: int | None = None,
    ) -> None:
        super().__init__()
        self.where, self._missing, self._most = where, missing, most
        self._abstain = {plainest(code) for code in abstain}
        self._cache: CellCache | None = None
        self._number_of: dict[Label, int] = {}
        self.labels: list[Label] = []
        self.origins: list[str] = []

    def number(self, entries: Sequence[Any] | Cells) -> IntArray:
        """Numbers of the entries."""
        if isinstance(entries, Cells):
            self._cache = self._cache or CellCache()
            return self._cache.numbers(entries, self.__getitem__)
        try:
            return np.fromiter(map(self.__getitem__, entries), np.int64, count=len(entries))
        except TypeError as error:
            if "unhashable" not in str(error):
                raise
            raise TypeError(f"{self.where} must hold one label an entry, not lists or arrays.") from None

    def __missing__(self, entry: Any) -> int:
        label = self._label(entry)
        if label is None or (self._abstain and plainest(label) in self._abstain):
            if isinstance(entry, str | bytes):
                self[entry] = 0
            return 0
        number = self._number_of.setdefault(label, len(self.labels) + 1)
        if number > len(self.labels):
            self.labels.append(label)
            self.origins.append(self.where)
        most = self._most or MOST_LABELS
        if self._missing is not None and max(len(self.labels), len(self) // 2) > most:
            raise ValueError(
                f"{self.where} brings the file to more than {most} different labels. Columns that are "
                "no votes (names, texts, scores) must be left out."
            )
        self[entry] = number
        return number

    def _label(self, entry: Any) -> Label | None:
        """The label that an entry stands for, None if it is missing."""
        if self._missing is not None and isinstance(entry, bytes | str):
            text = self._cell(entry)
            return None if text in self._missing else text
        if isinstance(entry, str):
            return str.__str__(entry)  # plain text also of a string enumeration
        if entry is None or entry is np.ma.masked or type(entry).__name__ in ("NAType", "NaTType"):
            return None
        if isinstance(entry, bool | np.bool_):
            return bool(entry)
        if isinstance(entry, float | np.floating):
            if np.isnan(entry):
                return None
            refuse_fractions(np.array([entry]), self.where)
        elif not isinstance(entry, int | np.integer):
            raise TypeError(
                f"{self.where} holds {entry!r} of type {type(entry).__name__}, which is no label: "
                "use whole numbers, strings or bools (bytes: decode them first)."
            )
        return int(entry)

    def _cell(self, entry: bytes | str) -> str:
        if len(entry) > LONGEST_LABEL:
            raise ValueError(
                f"{self.where} holds a text of {len(entry)} characters, which is no label. Columns that are "
                "no votes must be left out."
            )
        try:
            return (entry.decode() if isinstance(entry, bytes) else entry).strip()
        except UnicodeDecodeError:
            raise ValueError(f"{self.where} is not UTF-8 text. Save the file as UTF-8.") from None

    def texts(self, numbers: IntArray) -> AnyArray:
        """The labels with these numbers, as text; an empty one where there is none."""
        return np.array(["", *map(str, self.labels)], dtype=object)[numbers]

    def typed(self, kind: type | None = None) -> list[Label]:
        """The labels in the order of their numbers, texts as whole numbers or bools if all of them are."""
        typed = typed_texts([str(label) for label in self.labels], kind)
        is_text = any(isinstance(label, str) for label in typed)
        return self.labels if is_text and kind is not str else typed


class Numbered:
    """Columns of labels of any kind, numbered by a vocabulary; rows can be added.

    Memory is a byte an entry (two with more than 255 labels): the array grows in place towards the size that
    the share of a file read so far promises, instead of being joined from pieces in the end.

    Parameters
    ----------
    vocabulary : Vocabulary
        Gave the numbers; 0 is missing.
    n_columns : int
    numbers : (rows, columns) array, optional
        Those that are there already; if these are bytes or two, they are not copied.
    """

    def __init__(self, vocabulary: Vocabulary, n_columns: int = 1, numbers: AnyArray | None = None) -> None:
        self._vocabulary, self.values = vocabulary, vocabulary.labels
        self._numbers: AnyArray = np.empty((0, n_columns), dtype=np.uint8) if numbers is None else numbers
        self.shape = (self._numbers.shape[0], self._numbers.shape[1])

    def append(self, numbers: AnyArray, share_read: float | None = None) -> None:
        """Add rows; say how much of all has been read, if that is known."""
        if len(self._vocabulary.labels) > np.iinfo(self._numbers.dtype).max:
            self._numbers = self._numbers.astype(np.uint16 if len(self.values) < 1 << 16 else np.uint32)
        start, (n_columns,) = self.shape[0], self.shape[1:]
        needed = start + len(numbers)
        if needed > len(self._numbers):
            promised = 1.02 * needed / share_read if share_read else 0.0
            n_rows = max(needed + 64, int(min(promised, 4 * needed)), int(1.25 * len(self._numbers)))
            # In place: joining or copying would need the memory of the votes twice.
            self._numbers.resize((n_rows, n_columns), refcheck=False)
        self._numbers[start:needed] = numbers
        self.shape = (needed, n_columns)

    @property
    def numbers(self) -> AnyArray:
        """The numbers of the entries."""
        return self._numbers[: self.shape[0]]

    @property
    def any_missing(self) -> bool:
        """Whether some entry has no label."""
        return not all(self._numbers[rows].all() for rows in row_blocks(*self.shape))

    @property
    def all_bool(self) -> bool:
        """Whether all labels are bools."""
        return all(isinstance(value, bool) for value in self.values)

    def where(self, value: Label) -> str:
        """What holds this value: the column that it was seen in first."""
        return self._vocabulary.origins[self.values.index(value)]

    def encode(self, code_of: Mapping[Label, int], dtype: np.dtype[Any]) -> Codes:
        """Codes of the entries, in place of their numbers if the type allows it: this can be asked once."""
        if len(self._numbers) > self.shape[0]:
            self._numbers.resize(self.shape, refcheck=False)
        codes = np.array([len(code_of), *(code_of[value] for value in self.values)], dtype=dtype)
        out = self._numbers if self._numbers.dtype == dtype else np.empty(self.shape, dtype=dtype)
        for rows in row_blocks(*self.shape):
            out[rows] = codes[self._numbers[rows]]
        return out


def plainest(label: Label | None) -> Label | None:
    """A label as a whole number, if it is the text of one."""
    return typed_texts([label], int)[0] if isinstance(label, str) else label


def typed_texts(texts: Sequence[str], kind: type | None = None) -> list[Label]:
    """Texts as whole numbers or bools, if all of them are; ``kind`` (str, int or bool) restricts the choice.

    Examples
    --------
    >>> typed_texts(["10", "2.0"]), typed_texts(["true", "False"]), typed_texts(["1", "one"])
    ([10, 2], [True, False], ['1', 'one'])
    """
    if kind in (None, bool) and all(text.lower() in _BOOLS for text in texts):
        return [_BOOLS[text.lower()] for text in texts]
    if kind in (None, int, bool) and all(_WHOLE.fullmatch(text) for text in texts):
        numbers: list[Label] = [int(text.partition(".")[0]) for text in texts]
        return [bool(number) for number in numbers] if kind is bool and set(numbers) <= {0, 1} else numbers
    return list(texts)


def kind_of(labels: Sequence[Label]) -> type:
    """What labels are: bool, int or str."""
    kinds = {type(label) for label in labels}
    return bool if kinds == {bool} else str if str in kinds else int


def refuse_fractions(values: AnyArray, where: str) -> None:
    """Refuse floats that are no whole numbers, or too large to say which one they are."""
    if values.dtype.kind != "f":
        return
    wide = values.astype(np.result_type(values, np.float64))  # half precision would overflow below
    bad = wide[(wide != np.floor(wide)) | (np.abs(wide) > _EXACT_FLOAT)]
    if bad.size:
        raise ValueError(
            f"{where} holds {float(bad[0])!r}, which is no class label: use whole numbers, strings or bools. "
            "Turn scores or probabilities into labels first, e.g. (scores > 0.5)."
        )

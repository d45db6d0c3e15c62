"""Turning labels of any kind into class codes: numbers, strings, bools, in arrays, lists, tables and files.

A *label* is a whole number, a bool or a string. ``True``, ``1`` and ``1.0`` are the same label, as in Python;
``"1"`` and ``1`` are not, and mixing them is refused. None, NaN, pandas.NA and masked entries are missing.
Tables (pandas, polars, pyarrow) are read by the methods they offer, so no table library is ever imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from votecert._types import AnyArray, BoolArray, Codes, Indices, Label
from votecert.rows.patterns import row_blocks
from votecert.rows.tables import refuse_lazy, refuse_other_length
from votecert.rows.vocabulary import Numbered, Vocabulary, refuse_fractions

_NOT_DECLARED = "not among the declared classes: {}. Add them to classes=, correct them, or leave them out."
_NOT_CERTIFIED = "not among the classes of the certificate: {}. Correct them, or certify anew with classes=."


_FEW = 8  # up to so many values, comparing with each in turn beats any lookup


@dataclass(frozen=True)
class Encoded:
    """Votes and true labels as class indices; a missing vote has the code ``len(classes)``.

    ``can_abstain`` is what was declared, if anything.
    """

    codes: Codes
    labels: Indices
    classes: AnyArray
    any_missing: bool
    classes_declared: bool
    can_abstain: bool | None


def encode(
    votes: Any, y: Any, classes: Any = None, *, can_abstain: bool | None = None, fewest_labels: int = 2
) -> Encoded:
    """Encode votes (rows x voters) and true labels (rows) in one common class order.

    Parameters
    ----------
    votes, y : array, list or table of labels, or Numbered
        Missing votes are abstentions; a missing true label is an error.
    classes : sequence of labels, optional
        The label set in its fixed order. Default: the sorted labels seen in ``votes`` and ``y``.
    can_abstain : bool, optional
        If False, a missing vote is refused.
    fewest_labels : int, default=2
        Fewer different labels are refused when the label set is inferred. A block of rows may have one.

    Returns
    -------
    Encoded
        ``codes`` may be a view (then it has a ``base``), of the votes themselves if these are codes already.

    Examples
    --------
    >>> encoded = encode([["no", "yes"], [None, "no"]], ["yes", "no"])
    >>> encoded.codes.tolist(), encoded.labels.tolist(), encoded.classes.tolist()
    ([[0, 1], [2, 0]], [1, 0], ['no', 'yes'])
    """
    parts, truth = _read_votes(votes), _read_column(y, "y")
    refuse_other_length(parts[0].shape[0], truth.shape[0], sum(part.shape[1] for part in parts))
    if truth.any_missing:
        _refuse_missing_truth(truth)
    declared = None if classes is None else declared_labels(classes)
    _refuse_mixture([*parts, truth], declared)
    order = _inferred([*parts, truth], fewest_labels) if declared is None else declared
    labels = _join_codes([truth], order.tolist())[:, 0].astype(np.intp)
    any_missing = any(part.any_missing for part in parts)
    codes = _join_codes(parts, order.tolist())
    if any_missing and can_abstain is False:
        row, voter = divmod(int((codes == len(order)).argmax()), codes.shape[1])
        raise ValueError(
            f"Voter {voter} has no vote in row {row} (counted from 0) although can_abstain=False: "
            "fill in the missing votes, or allow abstentions."
        )
    return Encoded(codes, labels, order, any_missing, classes is not None, can_abstain)


def encode_votes(votes: Any, classes: AnyArray) -> Codes:
    """Encode votes alone (new rows, true labels unknown) in a class order fixed before.

    Examples
    --------
    >>> encode_votes([["b", None]], np.array(["a", "b"])).tolist()
    [[1, 2]]
    """
    parts = _read_votes(votes)
    _refuse_mixture(parts, classes)
    return _join_codes(parts, classes.tolist(), _NOT_CERTIFIED)


class _Numbers:
    """Columns of bools, integers or whole floats. NaN and masked entries are missing."""

    def __init__(self, array: AnyArray, name: str) -> None:
        masked = isinstance(array, np.ma.MaskedArray)
        self._mask = np.ma.getmaskarray(array) if masked else None
        self._array = np.ma.getdata(array) if masked else array
        if self._array.dtype.kind == "b":
            self._array = self._array.view(np.uint8)
        self.name, self.shape = name, (array.shape[0], array.shape[1])
        self.any_missing = False
        self.values: list[Label] = self._distinct()
        self.all_bool = array.dtype.kind == "b" or not self.values

    def where(self, value: Label) -> str:
        """What holds this value."""
        return self.name

    def _block(self, rows: slice) -> tuple[AnyArray, BoolArray | None]:
        """The numbers of these rows, and which of them are missing (None when none is)."""
        block, missing = self._array[rows], None if self._mask is None else self._mask[rows]
        if block.dtype.kind == "f":
            missing = np.isnan(block) if missing is None else np.isnan(block) | missing
        if missing is None or not missing.any():
            return block, None
        return np.where(missing, block.dtype.type(0), block), missing

    def _distinct(self) -> list[Label]:
        """The values that occur, sorted; a block that brings nothing new costs a few comparisons an entry."""
        known: AnyArray = np.empty(0, dtype=self._array.dtype)
        for rows in row_blocks(*self.shape):
            block, missing = self._block(rows)
            if missing is not None:
                self.any_missing = True
                block = block[~missing]
            if not _covers(known, block):
                known = np.union1d(known, np.unique(block))
                refuse_fractions(known, self.name)
        return [int(value) for value in known]

    def encode(self, code_of: Mapping[Label, int], dtype: np.dtype[Any]) -> Codes:
        codes = [code_of[value] for value in self.values]
        shift = codes[0] - int(self.values[0]) if codes else 0
        is_shift = codes == [int(value) + shift for value in self.values]
        if is_shift and shift == 0 and self._array.dtype == dtype and not self.any_missing:
            return self._array.view()
        out = np.empty(self.shape, dtype=dtype)
        for rows in row_blocks(*self.shape):
            block, missing = self._block(rows)
            if block.dtype.kind == "f":
                block = block.astype(np.int64)
            if is_shift:  # unsigned numbers wrap around, so that negative shifts are right as well
                np.add(block.astype(dtype), dtype.type(shift % (1 << 8 * dtype.itemsize)), out=out[rows])
            elif len(codes) <= _FEW:
                out[rows] = sum(
                    (block == value) * dtype.type(code)
                    for value, code in zip(self.values, codes, strict=True)
                )
            else:
                rank = np.searchsorted(np.array(self.values), block)
                out[rows] = np.array(codes, dtype=dtype).take(rank, mode="clip")
            if missing is not None:
                out[rows][missing] = len(code_of)
        return out


_Part: TypeAlias = _Numbers | Numbered  # some columns of labels: what occurs in them, and their codes


def _covers(known: AnyArray, block: AnyArray) -> bool:
    """Whether all entries are known values; may say no when that would be costly to find out."""
    if not block.size or not known.size:
        return not block.size
    if int(known[-1]) - int(known[0]) == len(known) - 1:  # no gaps: any whole number in between is known
        in_range = block.min() >= known[0] and block.max() <= known[-1]
        return bool(in_range and (block.dtype.kind != "f" or (block == np.floor(block)).all()))
    return len(known) <= _FEW and sum(np.count_nonzero(block == value) for value in known) == block.size


def _read_votes(votes: Any) -> list[_Part]:
    """The votes as parts that stand side by side: one for an array, one a column for a table."""
    if isinstance(votes, Numbered):
        return [votes]
    columns = _table_columns(votes)
    if columns is not None:
        parts = [_read_column(column, "votes") for column in columns]
        n_rows = len(votes)
    else:
        array = as_array(votes, "votes")
        n_rows = array.shape[0] if array.ndim else 1
        if array.ndim != 2 and n_rows:
            _refuse_shape(array)
        parts = [_as_part(array, "votes")] if n_rows and array.shape[1] else []
    if n_rows == 0:
        raise ValueError("votes have no rows: at least one labelled row is needed.")
    if not parts:
        raise ValueError("votes have no columns: at least one voter is needed.")
    return parts


def _read_column(column: Any, name: str) -> _Part:
    return column if isinstance(column, Numbered) else _as_part(_one_column(column, name)[:, None], name)


def _one_column(column: Any, name: str) -> AnyArray:
    array = as_array(column, name)
    if array.ndim != 1:
        raise ValueError(
            f"{name} must have one dimension, a label for each row, but its shape is {array.shape}."
            + (" Use ravel()." if array.ndim == 2 else "")
        )
    return array


def _table_columns(votes: Any) -> list[Any] | None:
    """The columns of a table; None for anything else, and for a pandas table that is one array of numbers."""
    if hasattr(votes, "iloc") and hasattr(votes, "columns"):  # pandas; by position, since names may repeat
        kinds = {dtype.kind if isinstance(dtype, np.dtype) else "O" for dtype in votes.dtypes}
        if len(kinds) == 1 and kinds <= set("biuf"):
            return None
        return [votes.iloc[:, position] for position in range(votes.shape[1])]
    for method in ("get_columns", "itercolumns"):  # polars, pyarrow
        if hasattr(votes, method):
            return list(getattr(votes, method)())
    return None


def as_array(data: Any, name: str) -> AnyArray:
    """Labels as an array in which what is missing or masked can still be told."""
    if isinstance(data, str | bytes | Mapping | set | frozenset):
        raise TypeError(f"{name} must be an array, a list or a table, not a {type(data).__name__}.")
    if isinstance(data, np.ndarray):
        return data  # masked arrays too, with their mask
    refuse_lazy(data)
    if isinstance(data, Sequence):  # through objects: NumPy would make strings of mixed numbers and strings
        return np.array(data, dtype=object)
    return np.asarray(data)


def _as_part(array: AnyArray, name: str) -> _Part:
    if array.dtype.kind in "biuf":
        return _Numbers(array, name)
    if array.dtype.kind not in "OUT":
        raise TypeError(f"{name} are of type {array.dtype}: use whole numbers, strings or bools as labels.")
    vocabulary = Vocabulary(name)
    part = Numbered(vocabulary, array.shape[1])
    for rows in row_blocks(*array.shape):
        numbers = vocabulary.number(array[rows].ravel().tolist())  # a masked entry becomes None
        part.append(numbers.reshape(-1, array.shape[1]), rows.stop / len(array))
    return part


def _join_codes(parts: Sequence[_Part], order: Sequence[Label], told: str = _NOT_DECLARED) -> Codes:
    """The codes of all parts side by side, in the smallest unsigned type that also holds the abstention."""
    code_of = {label: code for code, label in enumerate(order)}
    for part in parts:
        if unknown := [value for value in part.values if value not in code_of]:
            listed = f"{', '.join(map(repr, unknown[:5]))}{', ...' if len(unknown) > 5 else ''}"
            raise ValueError(f"{part.where(unknown[0])} holds labels that are {told.format(listed)}")
    dtype = np.min_scalar_type(len(code_of))
    if len(parts) == 1:
        return parts[0].encode(code_of, dtype)
    by_voter = np.empty((len(parts), parts[0].shape[0]), dtype=dtype)  # columns are written fastest as rows
    for position, part in enumerate(parts):
        by_voter[position] = part.encode(code_of, dtype)[:, 0]
    return by_voter.T


def _inferred(parts: Iterable[_Part], fewest_labels: int) -> AnyArray:
    labels = sorted({value for part in parts for value in part.values})
    refuse_fewer(labels, fewest_labels)
    return label_array(labels, all(part.all_bool for part in parts))


def refuse_fewer(labels: Sequence[Label], fewest: int = 2) -> None:
    """Refuse a label set of one that was inferred."""
    if len(labels) < fewest:
        raise ValueError(
            f"Only one label, {labels[0]!r}, occurs in votes and y: declare the label set with classes=[...]."
        )


def declared_labels(classes: Any) -> AnyArray:
    """The label set that a user declares, checked, in its order."""
    array = _one_column(list(classes) if isinstance(classes, range) else classes, "classes")
    vocabulary = Vocabulary("classes")
    if not vocabulary.number(array.tolist()).all():
        raise ValueError("classes holds a missing value: list the labels only, an abstention is not a class.")
    part = Numbered(vocabulary)
    if len(part.values) < len(array):
        raise ValueError("classes names a label twice: list each label once.")
    if not part.values:
        raise ValueError("classes is empty: list every label that can occur.")
    _refuse_mixture([part], None)
    return label_array(part.values, part.all_bool)


def label_array(labels: Sequence[Label], all_bool: bool) -> AnyArray:
    """Labels as an array: of bools, strings or numbers."""
    if all_bool:
        return np.array(labels, dtype=bool)
    if isinstance(labels[0], str):
        return np.array(labels, dtype=str)
    if max(abs(int(label)) for label in labels) >= 1 << 63:
        raise ValueError("Number labels must fit in 64 bits: use strings for longer ones.")
    return np.array(labels, dtype=np.int64)


def _refuse_shape(array: AnyArray) -> None:
    hint = ""
    if array.ndim == 1:
        ragged = array.dtype.kind == "O" and isinstance(array[0], Sequence) and not isinstance(array[0], str)
        hint = " Its rows differ in length." if ragged else " For one voter use votes.reshape(-1, 1)."
    raise ValueError(f"votes must have two dimensions, rows x voters, but the shape is {array.shape}.{hint}")


def _refuse_mixture(parts: Sequence[_Part], classes: AnyArray | None) -> None:
    """Strings and numbers are never the same label, so having both is a mistake worth a clear word."""
    seen: dict[type, tuple[str, Label]] = {}
    for part in parts:
        for value in part.values:
            kind = str if isinstance(value, str) else int
            if kind not in seen:
                seen[kind] = part.where(value), value
    if classes is not None:
        seen.setdefault(str if classes.dtype.kind == "U" else int, ("classes", classes[0].item()))
    if len(seen) == 2:
        (where, text), (other, number) = seen[str], seen[int]
        raise TypeError(
            f"Strings and numbers cannot be mixed as labels: {where} holds the string {text!r} and {other} "
            f"the number {number!r}. Convert one of them, e.g. with astype(str)."
        )


def _refuse_missing_truth(truth: _Part) -> None:
    rows = np.flatnonzero(_join_codes([truth], truth.values)[:, 0] == len(truth.values))
    more = f" and {rows.size - 1} more" if rows.size > 1 else ""
    raise ValueError(
        f"y has no label in row {rows[0]} (counted from 0){more}: only votes may be missing. "
        "Leave out the rows whose true label is unknown."
    )

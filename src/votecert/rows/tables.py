"""Tables of pandas, polars, pyarrow or Dask: the names of their columns, and columns by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from votecert._types import AnyArray, BoolArray


def column_names(table: Any) -> tuple[str, ...] | None:
    """Names of the columns as text; None for what is no table.

    Examples
    --------
    >>> column_names([[0, 1], [1, 1]]) is None
    True
    """
    refuse_lazy(table)
    for attribute in ("column_names", "columns"):  # pyarrow has both, and its columns are the data
        if hasattr(type(table), attribute):  # not the table: columns of pandas are attributes, too
            names = getattr(table, attribute)
            return None if names is None else tuple(str(name) for name in names)
    return None


def refuse_lazy(table: Any) -> None:
    """Refuse a LazyFrame of polars, a plan for rows: when to carry it out is for the user to say."""
    if type(table).__name__ == "LazyFrame":
        raise TypeError("A LazyFrame has no rows yet: collect it first, as in frame.collect().")


def refuse_repeated(names: Sequence[str], where: str = "") -> None:
    """Refuse voters of the same name: weights, new rows and reports are told apart by names.

    Examples
    --------
    >>> refuse_repeated(["ann", "bob", "ann"], "votes.csv: ")
    Traceback (most recent call last):
    ValueError: votes.csv: 2 voters are named 'ann'. Give each its own name, or leave out all but one.
    """
    if len(set(names)) < len(names):
        name, count = Counter(names).most_common(1)[0]
        raise ValueError(
            f"{where}{count} voters are named {name!r}. Give each its own name, or leave out all but one."
        )


def places_of(voters: Sequence[str], columns: Sequence[str], what: str = "column") -> list[int] | None:
    """Positions of the voters among the columns; None if these are the same, or have none of the names.

    Columns without any of the names go by position: the voters were named otherwise.

    Examples
    --------
    >>> places_of(["ann", "bob"], ["id", "bob", "ann"])
    [2, 1]
    >>> places_of(["tree 0", "tree 1"], ["0", "1"]) is None
    True
    """
    place = {name: position for position, name in enumerate(columns)}
    if list(voters) == list(columns) or place.keys().isdisjoint(voters):
        return None
    missing = [name for name in voters if name not in place]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ValueError(f"There is no {what} for the voter {missing[0]!r}{more}.")
    wanted, there = Counter(voters), Counter(columns)
    repeated = [name for name in voters if wanted[name] > 1 or there[name] > 1]
    if repeated:
        raise ValueError(
            f"The name {repeated[0]!r} occurs more than once, so nothing can be found by name: give the "
            f"{what}s in the order of the voters."
        )
    return [place[name] for name in voters]


def n_rows_of(rows: Any) -> int:
    """Number of rows of an array, a table or a list."""
    shape = getattr(rows, "shape", None)
    return int(shape[0]) if shape else len(rows)


def refuse_other_length(n_rows: int, n_labels: int, n_voters: int | None = None) -> None:
    """Refuse votes and true labels that cannot be of the same rows."""
    if n_rows != n_labels:
        hint = " It looks as if votes should be transposed." if n_voters == n_labels else ""
        raise ValueError(f"votes have {n_rows} rows but y has {n_labels} labels: one a row is needed.{hint}")


def refuse_other_shape(array: AnyArray, n_wanted: int, name: str, entry: str) -> None:
    """Refuse an array unless it has one entry for each of so many rows or voters.

    Examples
    --------
    >>> refuse_other_shape(np.ones(2), 3, "prior", "number a voter")
    Traceback (most recent call last):
    ValueError: prior must have one number a voter, 3 in all, but the shape is (2,).
    """
    if array.shape != (n_wanted,):
        raise ValueError(f"{name} must have one {entry}, {n_wanted} in all, but the shape is {array.shape}.")


def take_rows(table: Any, rows: BoolArray) -> Any:
    """The rows of a table, an array or a list where the mask is true."""
    if hasattr(table, "iloc"):
        return table.iloc[np.flatnonzero(rows)]
    if hasattr(table, "filter"):  # polars, pyarrow
        return table.filter(rows.tolist())
    return np.asarray(table, dtype=None if hasattr(table, "dtype") else object)[rows]


def entries_of(column: Any) -> list[Any]:
    """The entries of a column as Python objects; None where one is masked."""
    for method in ("to_pylist", "to_list", "tolist"):  # pyarrow; pandas and polars; NumPy
        if hasattr(column, method):
            found: list[Any] = getattr(column, method)()
            return found
    return list(column)


def is_missing(column: Any) -> BoolArray:
    """Which entries of a column are missing: None, NaN, pandas.NA or masked.

    Examples
    --------
    >>> is_missing(["ham", None, float("nan")]).tolist()
    [False, True, True]
    """
    values = entries_of(column)
    missing = [value is None or type(value).__name__ == "NAType" or value != value for value in values]
    return np.array(missing, dtype=bool)


def refuse_other_index(votes: Any, y: Any) -> None:
    """Tables of pandas name their rows: labels are never taken by position where the names differ."""
    rows: Any = getattr(votes, "index", None)
    labels: Any = getattr(y, "index", None)
    if hasattr(rows, "equals") and hasattr(labels, "equals") and not rows.equals(labels):
        raise ValueError(
            "The index of y is not that of the votes. If they belong together by index, give "
            "y.loc[votes.index]; if by position, y.to_numpy()."
        )


def in_order(table: Any, voters: Sequence[str] | None) -> Any:
    """The columns of the voters, in their order, if it is a table that names them; else what was given."""
    columns = column_names(table)
    if voters is None or columns is None:
        return table
    places = places_of(voters, columns)
    if places is None:
        return table
    if hasattr(table, "iloc"):
        return table.iloc[:, places]
    return table.select([columns[place] for place in places])

"""``read_new_votes``: votes on new rows, whose true labels nobody knows, from a file of any known kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import BinaryIO

import numpy as np

from votecert.rows.files.arrays import Array, column_names_of, find_new_votes, load_npy, load_npz
from votecert.rows.files.buffer import UnlabelledBuffer
from votecert.rows.files.columns import ColumnChoice, Columns, find_columns, refuse_width
from votecert.rows.files.delimited import Progress
from votecert.rows.files.read import kind_of_file, read_cells
from votecert.rows.labels import Label, encode_votes
from votecert.rows.patterns import Codes
from votecert.rows.tables import places_of


def read_new_votes(
    source: str | PathLike[str] | BinaryIO,
    classes: Sequence[Label],
    n_voters: int,
    voters: Sequence[str] | None = None,
    *,
    ignore: Iterable[ColumnChoice] = (),
    header: bool = True,
    progress: Progress | None = None,
) -> Codes:
    """Read votes alone.

    Parameters
    ----------
    source, ignore, header, progress
        As for :func:`~votecert.rows.files.read_votes`. An npz file needs the array ``votes`` only.
    classes : sequence of labels
        What voters may say.
    n_voters : int
        How many voters there must be.
    voters : sequence of str, optional
        Their names. A file with columns of these names is read by name, and its other columns are left out;
        any other file must have one column a voter, in their order.

    Returns
    -------
    codes : (rows, n_voters) whole numbers
        Places of the votes in ``classes``; a missing vote is their number.

    Examples
    --------
    >>> import io
    >>> text = b"id,bob,ann\\n1,no,yes\\n2,yes,\\n"
    >>> read_new_votes(io.BytesIO(text), ["no", "yes"], 2, ["ann", "bob"]).tolist()
    [[1, 0], [2, 1]]
    """
    left_out = tuple(ignore)

    def choose(names: Sequence[str], name: str) -> list[int]:
        refuse_width(len(names), name)
        names = [column.strip() for column in names]
        dropped = find_columns(names, left_out, name)
        kept = [place for place in range(len(names)) if place not in dropped]
        try:
            places = None if voters is None else places_of(voters, [names[place] for place in kept])
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        chosen = kept if places is None else [kept[place] for place in places]
        if len(chosen) != n_voters:
            raise ValueError(
                f"{name} has {len(chosen)} columns for {n_voters} voters: leave out those that are none."
            )
        return chosen

    def make_buffer(names: Sequence[str], name: str) -> UnlabelledBuffer:
        chosen = choose(names, name)
        columns = Columns(tuple(names), label=chosen[0], group=None, voters=tuple(chosen))
        return UnlabelledBuffer(columns, name, classes)

    if isinstance(source, str | PathLike) and kind_of_file(Path(source)) in ("npz", "npy"):
        array, names = _load(Path(source))
        chosen = choose(names, str(source))
        return encode_votes(array[:, chosen], np.asarray(classes))
    buffer, untyped = read_cells(source, make_buffer, header=header, progress=progress)
    return buffer.codes(untyped=untyped)


def _load(path: Path) -> tuple[Array, list[str]]:
    if kind_of_file(path) == "npy":
        votes, voters = load_npy(path), None
    else:
        arrays = load_npz(path)
        votes, voters = find_new_votes(arrays, str(path)), arrays.get("voters")
    return votes, column_names_of(votes, voters, str(path))

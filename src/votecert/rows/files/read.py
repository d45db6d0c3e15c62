"""Votes from files of any known kind, with or without true labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from votecert._types import AnyArray, Codes, Label
from votecert.rows.ballots import Ballots
from votecert.rows.checks import checked
from votecert.rows.files.arrays import pick_arrays, read_npy, read_npz
from votecert.rows.files.columns import ColumnChoice, Columns, find_columns, pick_columns, refuse_width
from votecert.rows.files.delimited import read_delimited
from votecert.rows.files.parquet import read_parquet
from votecert.rows.files.table import Arrays, NumberedRows, Progress, Source, Table
from votecert.rows.labels import encode, encode_votes
from votecert.rows.tables import places_of
from votecert.rows.vocabulary import Numbered

FORMATS: dict[str, Callable[[Source], Table | Arrays]] = {
    ".csv": read_delimited,
    ".tsv": partial(read_delimited, delimiter="\t"),
    ".tab": partial(read_delimited, delimiter="\t"),
    ".txt": read_delimited,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".npz": read_npz,
    ".npy": read_npy,
}
"""Readers of the kinds of files, by the end of their names."""

_PICKLES = (".pkl", ".pickle", ".joblib", ".sav")


@dataclass(frozen=True)
class VoteFile:
    """What a file of votes holds.

    Attributes
    ----------
    ballots : Ballots
        Votes and true labels, ready for :func:`votecert.certify`.
    voters : tuple of str or None
        Names of the voters.
    groups : (m,) array of str, or None
        The group of each row.
    source : str
        Name of the file.
    """

    ballots: Ballots
    voters: tuple[str, ...] | None
    groups: npt.NDArray[np.str_] | None
    source: str

    @cached_property
    def n_abstentions(self) -> int:
        """Number of missing votes."""
        if not self.ballots.can_abstain:
            return 0
        missing = (self.ballots.codes == self.ballots.n_classes).sum(axis=1)
        return int(missing @ self.ballots.counts)


def read_votes(
    source: str | PathLike[str] | BinaryIO,
    *,
    label: ColumnChoice | None = None,
    group: ColumnChoice | None = None,
    ignore: Iterable[ColumnChoice] = (),
    classes: Sequence[Label] | None = None,
    can_abstain: bool | None = None,
    header: bool = True,
    validate: bool = True,
    progress: Progress | None = None,
) -> VoteFile:
    """Read votes and true labels from a file.

    Parameters
    ----------
    source : path, or binary stream of csv text
        csv and tsv (streamed: memory is one byte a vote), parquet (needs pyarrow), npz with arrays ``votes``
        (rows x voters) and ``y`` (or ``votes_bound`` and ``y_bound``; optionally ``groups`` and ``voters``),
        or npy with one array of votes and the true labels in one of its columns.
    label : str or int, optional
        Column of the true labels, by name or position (from 0; negative: from the end). For npz the name of
        the array, "y" by default.
    group : str or int, optional
        Column (npz: array) that says which group a row belongs to.
    ignore : iterable of str or int
        Columns that are no voters; text with commas names several.
    classes : sequence of labels, optional
        All labels there can be, in the order that breaks ties; the sorted labels seen by default.
    can_abstain : bool, optional
        Whether voters can abstain; by default, whether one does.
    header : bool, default=True
        Whether csv text begins with the names of the columns.
    validate : bool, default=True
        Refuse what looks like no table of votes; see :mod:`votecert.rows.checks`.
    progress : callable, optional
        Called as ``progress(done, total)`` while the file is read; ``total`` is None if unknown.

    Returns
    -------
    VoteFile

    Raises
    ------
    ValueError, TypeError
        If the file is not what it should be, with its name, the column and what to do.
    OSError
        If it cannot be opened.

    Examples
    --------
    >>> import io
    >>> found = read_votes(io.BytesIO(b"judge,other,truth\\nyes,no,yes\\nno,,no\\n"), label="truth")
    >>> found.ballots
    Ballots(2 rows, 2 patterns, 2 voters, 2 classes, abstentions)
    >>> found.voters, found.n_abstentions
    (('judge', 'other'), 1)
    """
    with open_table(source, header=header, progress=progress) as (table, name):
        columns = pick(table, name, label, group, ignore)
        votes, truth, groups = _columns_of(table, columns, classes)
        declared = None if classes is None else _like(votes, classes)
        encoded = encode(votes, truth, declared, can_abstain=can_abstain)
        ballots = Ballots.from_codes(encoded, classes is not None, can_abstain)
        voters = columns.voter_names if table.named else None
        if validate:
            ballots = checked(ballots, voters)
    return VoteFile(ballots, voters, groups, name)


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
        As for :func:`read_votes`. An npz file needs the array ``votes`` only.
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
    with open_table(source, header=header, progress=progress) as (table, name):
        refuse_width(len(table.names), name)
        names = [column.strip() for column in table.names]
        dropped = find_columns(names, ignore, name)
        chosen = [place for place in range(len(names)) if place not in dropped]
        places = None if voters is None else places_of(voters, [names[place] for place in chosen])
        if places is not None:
            chosen = [chosen[place] for place in places]
        if len(chosen) != n_voters:
            raise ValueError(
                f"{name} has {len(chosen)} columns for {n_voters} voters: leave out those that are none."
            )
        columns = Columns(tuple(names), None, None, tuple(chosen))
        votes = _columns_of(table, columns, classes)[0]
        return encode_votes(votes, np.asarray(_like(votes, classes)))


def _columns_of(
    table: Table | Arrays, columns: Columns, classes: Sequence[Label] | None
) -> tuple[Numbered | AnyArray, Any, npt.NDArray[np.str_] | None]:
    """The votes, true labels and groups of a table."""
    if isinstance(table, Table):
        return NumberedRows(table, columns, classes).collected()
    truth, groups = (
        None if which is None else table.column(which) for which in (columns.label, columns.group)
    )
    return table.columns(columns.voters), truth, None if groups is None else groups.astype(str)


def _like(votes: Numbered | AnyArray, classes: Sequence[Label]) -> Sequence[Label]:
    """The declared classes, as text if the votes are."""
    if isinstance(votes, Numbered):
        is_text = any(isinstance(value, str) for value in votes.values)
    else:
        is_text = votes.dtype.kind == "U"
    return [str(label) for label in classes] if is_text else classes


def pick(
    table: Table | Arrays,
    name: str,
    label: ColumnChoice | None,
    group: ColumnChoice | None = None,
    ignore: Iterable[ColumnChoice] = (),
) -> Columns:
    """What is what in a table."""
    if isinstance(table, Arrays) and table.others is not None:
        return pick_arrays(table, label, group, ignore, name)
    return pick_columns(table.names, label, group, ignore, name)


@contextmanager
def open_table(
    source: str | PathLike[str] | BinaryIO, *, header: bool = True, progress: Progress | None = None
) -> Iterator[tuple[Table | Arrays, str]]:
    """Open a file, or a binary stream of csv text; give its table and its name, which all errors mention."""
    path = Path(source) if isinstance(source, str | PathLike) else None
    name = "standard input" if path is None else str(path)
    try:
        if path is None:
            yield read_delimited(Source(name, source, None, header, progress)), name  # type: ignore[arg-type]
        else:
            read = _reader_of(path)
            with path.open("rb") as stream:
                yield read(Source(name, stream, path, header, progress)), name
    except (ValueError, TypeError) as error:
        if str(error).startswith(name):
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: {error}") from None


def _reader_of(path: Path) -> Callable[[Source], Table | Arrays]:
    """What reads this kind of file, by its name; refuse what is not there or not known."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the name of a file in it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    suffix = path.suffix.lower()
    if suffix in _PICKLES:
        raise ValueError(
            f"{path} is a pickle, which could run code when loaded and is never read. Save the votes as csv, "
            "parquet or npz."
        )
    if suffix not in FORMATS:
        raise ValueError(f"{path}: the name must end in {', '.join(FORMATS)} to say what kind of file it is.")
    return FORMATS[suffix]

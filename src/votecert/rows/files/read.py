"""``read_votes``: votes and true labels from a file of any kind that is known."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from votecert.rows.ballots import Ballots
from votecert.rows.files.arrays import Array, column_names_of, find_votes, load_npy, load_npz
from votecert.rows.files.buffer import VoteBuffer
from votecert.rows.files.columns import ColumnChoice, find_columns, pick_columns, refuse_width
from votecert.rows.files.delimited import DelimitedReader, Progress, TextSource, read_header
from votecert.rows.files.parquet import read_parquet
from votecert.rows.labels import Label

S = TypeVar("S", bound=VoteBuffer)

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npz": "npz",
    ".npy": "npy",
}
"""Kinds of files, by the end of their names."""

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

    @cached_property
    def never_true(self) -> list[Label]:
        """Labels that are voted for but never are the true one: often a column that is no voter."""
        present = np.bincount(self.ballots.labels, minlength=self.ballots.n_classes)
        labels: list[Label] = self.ballots.classes[present == 0].tolist()
        return labels

    def votes(self) -> npt.NDArray[Any]:
        """The votes as labels, None where one is missing, in the order of the rows."""
        labels = np.array([*self.ballots.classes.tolist(), None], dtype=object)
        return labels[self.ballots.codes[self.ballots.pattern_of_row]]

    def truth(self) -> npt.NDArray[Any]:
        """The true labels in the order of the rows."""
        return np.asarray(self.ballots.classes[self.ballots.labels[self.ballots.pattern_of_row]])


@dataclass(frozen=True)
class _Request:
    """What the caller wants to have read, and how."""

    label: ColumnChoice | None
    group: ColumnChoice | None
    ignore: tuple[ColumnChoice, ...]
    classes: Sequence[Label] | None
    can_abstain: bool | None

    def buffer(self, names: Sequence[str], source: str) -> VoteBuffer:
        columns = pick_columns(names, self.label, self.group, self.ignore, source)
        return VoteBuffer(columns, source, self.classes)


def read_votes(
    source: str | PathLike[str] | BinaryIO,
    *,
    label: ColumnChoice | None = None,
    group: ColumnChoice | None = None,
    ignore: Iterable[ColumnChoice] = (),
    classes: Sequence[Label] | None = None,
    can_abstain: bool | None = None,
    header: bool = True,
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
    request = _Request(label, group, tuple(ignore), classes, can_abstain)
    if isinstance(source, str | PathLike) and (kind := kind_of_file(Path(source))) in ("npz", "npy"):
        return (_read_npz if kind == "npz" else _read_npy)(Path(source), request)
    buffer, untyped = read_cells(source, request.buffer, header=header, progress=progress)
    ballots = buffer.finish(untyped=untyped, can_abstain=can_abstain)
    return VoteFile(ballots, buffer.columns.voter_names, buffer.groups(), buffer.source)


def read_cells(
    source: str | PathLike[str] | BinaryIO,
    make_buffer: Callable[[Sequence[str], str], S],
    *,
    header: bool = True,
    progress: Progress | None = None,
) -> tuple[S, bool]:
    """Put the cells of text or of a parquet file on a buffer.

    Parameters
    ----------
    source, header, progress
        As for :func:`read_votes`.
    make_buffer : callable
        Makes the buffer from the names of the columns and the name of the source.

    Returns
    -------
    buffer : VoteBuffer
    untyped : bool
        Whether text may stand for numbers and bools.
    """
    if not isinstance(source, str | PathLike):
        return _read_text(
            TextSource(source, "standard input", None, progress), None, make_buffer, header
        ), True
    path = Path(source)
    kind = kind_of_file(path)
    if kind == "parquet":
        return read_parquet(path, lambda names: make_buffer(names, str(path)), progress), False
    with path.open("rb") as stream:
        text = TextSource(stream, str(path), os.fstat(stream.fileno()).st_size, progress)
        return _read_text(text, "\t" if kind == "tsv" else None, make_buffer, header), True


def kind_of_file(path: Path) -> str:
    """What kind of file this is, by its name; refuse what is not there or not known."""
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
    if suffix not in SUFFIXES:
        raise ValueError(
            f"{path}: the name must end in {', '.join(SUFFIXES)} to say what kind of file it is."
        )
    return SUFFIXES[suffix]


def _read_text(
    text: TextSource, delimiter: str | None, make_buffer: Callable[[Sequence[str], str], S], header: bool
) -> S:
    names, delimiter = read_header(text, delimiter, header)
    buffer = make_buffer(names, text.name)
    DelimitedReader(text, delimiter, buffer).read()
    return buffer


def _read_npz(path: Path, request: _Request) -> VoteFile:
    arrays = load_npz(path)
    votes, truth = find_votes(arrays, None if request.label is None else str(request.label), str(path))
    voters = arrays.get("voters")
    names = column_names_of(votes, voters, str(path))
    if truth.ndim != 1 or len(truth) != len(votes):
        raise ValueError(
            f"{path}: there must be one true label a row: {len(votes)} rows, labels {truth.shape}."
        )
    dropped = find_columns(names, request.ignore, str(path))
    kept = [position for position in range(len(names)) if position not in dropped]
    groups = None
    if request.group is not None:
        if str(request.group) not in arrays:
            raise ValueError(f"{path} has no array {request.group!r} of groups.")
        groups = arrays[str(request.group)]
    found = None if voters is None else tuple(names[position] for position in kept)
    return _from_arrays(votes if not dropped else votes[:, kept], truth, groups, found, path, request)


def _read_npy(path: Path, request: _Request) -> VoteFile:
    array = load_npy(path)
    if array.ndim != 2:
        raise ValueError(f"{path}: the array must be rows x columns, but its shape is {array.shape}.")
    refuse_width(array.shape[1], str(path))
    names = [str(position) for position in range(array.shape[1])]
    columns = pick_columns(names, request.label, request.group, request.ignore, str(path))
    first, last = columns.voters[0], columns.voters[-1]
    # A slice keeps the file mapped; a choice with gaps has to be copied.
    gapless = columns.voters == tuple(range(first, last + 1))
    votes = array[:, first : last + 1] if gapless else array[:, list(columns.voters)]
    groups = None if columns.group is None else array[:, columns.group]
    return _from_arrays(votes, array[:, columns.label], groups, None, path, request)


def _from_arrays(
    votes: Array,
    truth: Array,
    groups: Array | None,
    voters: tuple[str, ...] | None,
    path: Path,
    request: _Request,
) -> VoteFile:
    classes = request.classes
    if classes is not None and votes.dtype.kind == "U":
        classes = [str(label) for label in classes]
    try:
        ballots = Ballots.from_votes(votes, truth, classes=classes, can_abstain=request.can_abstain)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}: {error}") from None
    if groups is not None and groups.shape != (ballots.n_rows,):
        raise ValueError(
            f"{path}: there must be one group a row: {ballots.n_rows} rows, groups {groups.shape}."
        )
    return VoteFile(ballots, voters, None if groups is None else groups.astype(str), str(path))

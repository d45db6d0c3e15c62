"""Votes from NumPy's npz and npy files. Arrays of Python objects are pickles and never loaded."""

from __future__ import annotations

import math
import os
import sys
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from votecert._types import AnyArray
from votecert.rows.files.columns import Columns, Layout, chosen_voters
from votecert.rows.files.table import Arrays, Source

LAYOUTS = (("votes", "y"), ("votes_bound", "y_bound"), ("L", "Y"))
"""Names of the arrays with the votes and with the true labels in an npz file; the first pair found counts."""

MOST_ARRAYS = 1000
"""Archives with more arrays are refused."""

LARGEST_UNPACKED = 500_000_000
"""Archives that unpack to more bytes than this ..."""

MOST_BLOWN_UP = 200
"""... and to more than so many times their size are refused. Votes shrink to a tenth, rarely a hundredth."""

_TEXTS_AT_ONCE = 1 << 16


def load_npy(path: Path) -> AnyArray:
    """Map a plain array into memory; it is read only where it is used."""
    with _refusing(path, "npy"):
        with path.open("rb") as file:
            _check_header(file, str(path), None)
        array: AnyArray = np.load(path, mmap_mode="r", allow_pickle=False)
        _check_text(array)
        return array


def load_npz(path: Path) -> dict[str, AnyArray]:
    """The arrays of an npz file, after checking what each of them claims to be."""
    with _refusing(path, "npz"):
        with zipfile.ZipFile(path) as archive:
            members, unpacked = archive.infolist(), 0
            if len(members) > MOST_ARRAYS:
                raise ValueError(f"it holds {len(members)} arrays, but votes take a few.")
            for member in members:
                with archive.open(member) as file:
                    name = member.filename.removesuffix(".npy")
                    unpacked += _check_header(file, f"{path}, array {name!r}", member.file_size)
        refuse_bombs(path, unpacked)
        with np.load(path, allow_pickle=False) as arrays:
            loaded = {name: np.asarray(arrays[name]) for name in arrays.files}
        for array in loaded.values():
            _check_text(array)
        return loaded


def read_npy(source: Source) -> Arrays:
    """One array of votes; the true labels are in one of its columns."""
    return _named(load_npy(_path_of(source)), None, source.name)


def read_npz(source: Source) -> Arrays:
    """The array ``votes``, the names ``voters`` of its columns, if any, and arrays of labels and groups."""
    arrays = load_npz(_path_of(source))
    complete = [votes for votes, truth in LAYOUTS if votes in arrays and truth in arrays]
    found = next((votes for votes in [*complete, *dict(LAYOUTS)] if votes in arrays), None)
    if found is None:
        raise ValueError(f"{source.name} must hold the array 'votes'; it holds {_listed(arrays)}.")
    return _named(arrays[found], arrays.get("voters"), source.name)._replace(others=arrays)


def _path_of(source: Source) -> Path:
    assert source.path is not None, "only text is read from streams"
    return source.path


def _named(array: AnyArray, voters: AnyArray | None, source: str) -> Arrays:
    if array.ndim != 2:
        raise ValueError(
            f"{source}: the array of votes must be rows x voters, but its shape is {array.shape}."
        )
    names = range(array.shape[1]) if voters is None else voters
    if len(names) != array.shape[1]:
        raise ValueError(f"{source}: there are {len(names)} names for {array.shape[1]} voters.")
    return Arrays(array, tuple(str(name) for name in names), named=voters is not None)


def pick_arrays(arrays: Arrays, layout: Layout, source: str) -> Columns:
    """What is what in an npz file: labels, groups and items are arrays, and all columns voters."""
    others = arrays.others or {}
    complete = [truth for votes, truth in LAYOUTS if votes in others and truth in others]
    truth = str(layout.label) if layout.label is not None else [*complete, "y"][0]
    if layout.needs_label and truth not in others:
        raise ValueError(f"{source} must hold the arrays 'votes' and {truth!r}; it holds {_listed(others)}.")
    facts = {what: str(name) for what, name in replace(layout, label=truth).facts.items()}
    for what, name in facts.items():
        if name not in others:
            raise ValueError(f"{source} has no array {name!r} of {what}s.")
        if (shape := others[name].shape) != (n_rows := len(arrays.array),):
            raise ValueError(f"{source}: there must be one {what} a row: {n_rows} rows, {what}s {shape}.")
    return Columns(arrays.names, facts, chosen_voters(arrays.names, (), layout, source))


def _listed(arrays: Mapping[str, AnyArray]) -> str:
    return ", ".join(map(repr, list(arrays)[:10])) or "none"


def _check_header(file: BinaryIO | Any, source: str, n_bytes: int | None) -> int:
    """Refuse objects and sizes that do not fit the file; return the size in bytes. Nothing is allocated."""
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"version {version} of the format is not read.")
    shape, _, dtype = readers[version](file)
    if dtype.hasobject:
        raise ValueError(
            f"{source} holds Python objects, which are stored as a pickle that could run code when loaded. "
            "Save plain arrays: astype(str) or whole numbers."
        )
    claimed: int = math.prod(shape) * dtype.itemsize
    if n_bytes is not None and claimed > n_bytes:
        raise ValueError(f"{source} claims {claimed} bytes of data but holds {n_bytes}: it is damaged.")
    return claimed


def refuse_bombs(path: Path, unpacked: int, harmless: int | None = None) -> None:
    """Refuse a file whose votes fill the memory, or that is next to nothing blown up to a lot.

    Parameters
    ----------
    path : Path
    unpacked : int
        Bytes that it unpacks to.
    harmless : int, optional
        So many bytes are not a lot, from however little; ``LARGEST_UNPACKED`` by default.
    """
    remedy = "Save the votes as npy, which is read without loading all of it."
    if unpacked > memory_limit():
        raise ValueError(
            f"{path} unpacks to {unpacked} bytes, more than half of this machine's memory. {remedy}"
        )
    if unpacked > max(
        LARGEST_UNPACKED if harmless is None else harmless, MOST_BLOWN_UP * path.stat().st_size
    ):
        raise ValueError(
            f"{path} unpacks to {unpacked} bytes, more than {MOST_BLOWN_UP} times its size, as bombs do. "
            f"{remedy}"
        )


def memory_limit() -> int:
    """Half of the machine's memory, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 8 << 30


def _check_text(array: AnyArray) -> None:
    """Refuse text that is no Unicode, which NumPy takes as it is and Python breaks at."""
    if array.dtype.kind != "U" or not array.size or not array.dtype.itemsize:
        return
    points = np.dtype(np.uint32).newbyteorder(array.dtype.byteorder)
    flat = array.reshape(-1)  # of a mapped file this is no copy
    for start in range(0, len(flat), _TEXTS_AT_ONCE):
        codes = np.ascontiguousarray(flat[start : start + _TEXTS_AT_ONCE]).view(points)
        if ((codes > sys.maxunicode) | ((codes >= 0xD800) & (codes < 0xE000))).any():
            raise ValueError("it holds text with characters that there are none of.")


@contextmanager
def _refusing(path: Path, kind: str) -> Iterator[None]:
    """Refuse the file in a sentence, whatever its damage leads to."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of headers as Python 2 wrote them, which are read
            yield
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system refuses it, and says why
        text = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        raise ValueError(f"{path} is not an {kind} file that can be read: {text}.") from None

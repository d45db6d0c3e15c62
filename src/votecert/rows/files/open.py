"""Opening what votes are in: files, packed or not, streams, and tables in memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from os import PathLike, fstat
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from votecert.rows.files.arrays import LARGEST_UNPACKED, MOST_BLOWN_UP, read_npy, read_npz
from votecert.rows.files.delimited import read_delimited
from votecert.rows.files.json_lines import Records, read_json, records_of
from votecert.rows.files.parquet import read_parquet
from votecert.rows.files.table import Arrays, Block, NoRowsError, Progress, Source, Table
from votecert.rows.tables import column_names, entries_of

try:  # since Python 3.14
    zstd: Any = import_module("compression.zstd")
except ImportError:
    zstd = None

Opened = Table | Arrays | Records

FORMATS: dict[str, Callable[[Source], Opened]] = {
    ".csv": read_delimited,
    ".tsv": partial(read_delimited, delimiter="\t"),
    ".tab": partial(read_delimited, delimiter="\t"),
    ".txt": read_delimited,
    ".jsonl": read_json,
    ".ndjson": read_json,
    ".json": read_json,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".npz": read_npz,
    ".npy": read_npy,
}
"""Readers of the kinds of files, by the end of their names."""

NOT_STREAMED = (".parquet", ".pq", ".npz", ".npy")
"""Kinds that are read here and there, and have their own compression."""

_PICKLES = (".pkl", ".pickle", ".joblib", ".sav")


@contextmanager
def open_table(
    source: Any, *, header: bool = True, progress: Progress | None = None
) -> Iterator[tuple[Opened, str]]:
    """Open a file, a binary stream or a table; give its table and its name, which all errors mention."""
    path = Path(source) if isinstance(source, str | PathLike) else None
    name = str(path) if path is not None else "standard input" if hasattr(source, "read") else "votes"
    with naming(name if name != "votes" else ""):
        if path is not None:
            read, packed = _reader_of(path)
            with path.open("rb") as file:
                size = fstat(file.fileno()).st_size
                unpacking = _Unpacking(_PACKED[packed][1](file), name, lambda: size) if packed else file
                stream = cast(BinaryIO, unpacking)
                yield read(Source(name, stream, None if packed else path, header, progress, file)), name
        elif hasattr(source, "read"):
            stream, read = _sniffed(source, name)
            yield read(Source(name, stream, None, header, progress)), name
        else:
            yield _in_memory(source), name


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Say in errors which file they are about."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if str(error).startswith(name):
            raise
        kinds = (NoRowsError, TypeError, ValueError)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        raise kind(f"{name}: {error}") from None


def stem(path: str | PathLike[str]) -> str:
    """The name of a file without what says its kind.

    Examples
    --------
    >>> stem("votes/ann.csv.gz")
    'ann'
    """
    name = Path(path).name
    for suffix in (*_PACKED, *FORMATS):
        name = name.removesuffix(suffix)
    return name


def _reader_of(path: Path) -> tuple[Callable[[Source], Opened], str]:
    """What reads this kind of file, and how it is packed, by its name; refuse what is not there or known."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the name of a file in it.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in _PACKED else ""
    suffix = suffixes[-1] if suffixes else ""
    if suffix in _PICKLES:
        raise ValueError(
            f"{path} is a pickle, which could run code when loaded and is never read. Save the votes as csv, "
            "parquet or npz."
        )
    if suffix not in FORMATS:
        raise ValueError(
            f"{path}: the name must end in {', '.join(FORMATS)} to say what kind of file it is; text may be "
            f"packed ({', '.join(_PACKED)})."
        )
    if packed and suffix in NOT_STREAMED:
        raise ValueError(f"{path}: unpack it first; {suffix} files are packed in themselves.")
    return FORMATS[suffix], packed


def _zstd(file: BinaryIO) -> BinaryIO:
    if zstd is not None:
        return cast(BinaryIO, zstd.ZstdFile(file))
    try:
        from pyarrow import CompressedInputStream
    except ImportError:
        raise ValueError(
            "reading .zst files needs Python 3.14 or pyarrow: python -m pip install pyarrow"
        ) from None
    return cast(BinaryIO, CompressedInputStream(file, "zstd"))


_PACKED: dict[str, tuple[bytes, Callable[[BinaryIO], Any]]] = {
    ".gz": (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    ".bz2": (b"BZh", bz2.BZ2File),
    ".xz": (b"\xfd7zXZ\0", lzma.LZMAFile),
    ".zst": (b"\x28\xb5\x2f\xfd", _zstd),
}
"""How packed files begin, and what unpacks them."""

_DAMAGED = (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, *([zstd.ZstdError] if zstd else []))
"""What those raise on bytes that they cannot unpack."""


def _sniffed(stream: BinaryIO, name: str) -> tuple[BinaryIO, Callable[[Source], Opened]]:
    """A stream, unpacked if it is packed, and what reads it: csv, or JSON if it begins with a bracket."""
    start = _Ahead(stream)
    for magic, unpack in _PACKED.values():
        if start.peek(6).startswith(magic):
            start = _Ahead(_Unpacking(unpack(cast(BinaryIO, start)), name, start.n_given))
            break
    is_json = start.peek(1 << 12).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    return cast(BinaryIO, start), read_json if is_json else read_delimited


class _Ahead(io.RawIOBase):
    """A stream whose first bytes can be looked at before they are read."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._start, self._n = stream, b"", 0

    def readable(self) -> bool:
        return True

    def peek(self, size: int) -> bytes:
        """The first bytes, fewer only at the end."""
        while len(self._start) < size and (more := self._stream.read(size - len(self._start))):
            self._start += more
        return self._start[:size]

    def n_given(self) -> int:
        """Bytes that were read so far."""
        return self._n

    def read(self, size: int = -1) -> bytes:
        if self._start:
            found, self._start = (self._start, b"") if size < 0 else (self._start[:size], self._start[size:])
        else:
            found = self._stream.read(size)
        self._n += len(found)
        return found


class _Unpacking:
    """Reads what is packed, and refuses what is damaged or next to nothing blown up to a lot."""

    def __init__(self, stream: Any, name: str, packed_size: Callable[[], int]) -> None:
        self._stream, self._name, self._packed_size, self._n = stream, name, packed_size, 0

    def read(self, size: int = -1) -> bytes:
        """Some bytes."""
        try:
            data = bytes(self._stream.read(size))
        except _DAMAGED as error:
            text = str(error).partition("\n")[0].rstrip(".")
            raise ValueError(f"{self._name} is damaged, or not packed as its name says: {text}.") from None
        self._n += len(data)
        if self._n > max(LARGEST_UNPACKED, MOST_BLOWN_UP * self._packed_size()):
            raise ValueError(
                f"{self._name} unpacks to more than {LARGEST_UNPACKED} bytes and {MOST_BLOWN_UP} times its "
                "size, as bombs do. Unpack it yourself if it is none."
            )
        return data


def _in_memory(source: Any) -> Opened:
    """A table of pandas, polars, pyarrow or Dask, an array, or a list of objects."""
    if isinstance(source, Sequence) and source and isinstance(source[0], Mapping):
        return records_of(source)
    names = column_names(source)
    if names is None:
        array = source if isinstance(source, np.ndarray) else np.array(source, dtype=object)
        if array.ndim != 2:
            raise TypeError(
                "votes must be a table, a file, a list of objects, or an array rows x voters; not a "
                f"{type(source).__name__}."
            )
        return Arrays(array, tuple(map(str, range(array.shape[1]))))
    if len(set(names)) < len(names):
        raise ValueError("votes have two columns of the same name: rename one.")

    def blocks(used: Sequence[int]) -> Iterator[Block]:
        is_dask = hasattr(source, "to_delayed")
        for part in (delayed.compute() for delayed in source.to_delayed()) if is_dask else [source]:
            columns = part.columns if hasattr(part, "columns") and hasattr(part, "iloc") else names
            yield Block({place: entries_of(part[columns[place]]) for place in used})

    return Table(names, blocks)

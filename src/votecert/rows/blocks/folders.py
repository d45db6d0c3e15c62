"""Blocks of votes from files: Parquet, npy, npz and Zarr. Nothing that is read is ever executed.

Parquet
    A file, or a folder of them in the order of their names; one column holds the true labels, all others are
    voters.
npy
    A folder with ``votes*.npy`` (rows x voters) and as many ``y*.npy``, in the order of their names. The
    files are mapped, not loaded.
npz
    A file, or a folder of them in the order of their names, each with the arrays ``votes`` and ``y``.
Zarr
    A group with the arrays ``votes`` and ``y``.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from votecert.rows.files.arrays import find_votes, load_npy, load_npz

Blocks = Iterator[tuple[Any, Any]]


def blocks_in(path: str | PathLike[str], label: Any, n_rows: int) -> Blocks:
    """The blocks of a file or folder.

    Parameters
    ----------
    path : path
    label : str or None
        Name of the labels: a column of Parquet files; of an array otherwise, "y" by default.
    n_rows : int
        Rows of a block, at most.
    """
    place = Path(path)
    if not place.exists():
        raise FileNotFoundError(f"{place} is not there.")
    if label is not None and not isinstance(label, str):
        raise TypeError("For votes in files, y is the name of the labels: a column, or an array.")
    if (place / "zarr.json").exists() or (place / ".zgroup").exists():
        return _from_zarr(place, label, n_rows)
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    for ending, read in {".parquet": _from_parquet, ".npz": _from_npz, ".npy": _from_npy}.items():
        if chosen := [file for file in files if file.suffix == ending]:
            return read(chosen, label, n_rows)
    raise ValueError(f"{place} holds no parquet, npy or npz files and is no Zarr group.")


def _from_parquet(files: list[Path], label: str | None, n_rows: int) -> Blocks:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError(
            "Reading parquet files needs pyarrow. Install it: pip install 'votecert[tables]'."
        ) from None
    if label is None:
        raise TypeError("Parquet files need y, the name of the column with the true labels.")
    voters: list[str] | None = None
    for file in files:
        with parquet.ParquetFile(file) as opened:
            names = list(opened.schema_arrow.names)
            if label not in names:
                raise ValueError(
                    f"{file} has no column {label!r}; it has {', '.join(map(repr, names[:10]))}."
                )
            names.remove(label)
            voters = voters or names
            if names != voters:
                raise ValueError(f"{file} and {files[0]} have different columns: each voter needs its own.")
            for batch in _batches(opened, n_rows, file):
                yield batch.select(voters), batch.column(label)


def _batches(opened: Any, n_rows: int, file: Path) -> Iterator[Any]:
    """The rows of a parquet file; text that is no Unicode is found here, where the file is known."""
    from pyarrow import ArrowException

    try:
        for batch in opened.iter_batches(n_rows):
            batch.validate(full=True)
            yield batch
    except (ArrowException, OSError) as error:
        first_line = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(f"{file} is not a parquet file that can be read: {first_line}.") from None


def _from_npz(files: list[Path], label: str | None, n_rows: int) -> Blocks:
    for file in files:
        yield from _cut(*find_votes(load_npz(file), label, str(file)), n_rows)


def _from_npy(files: list[Path], label: str | None, n_rows: int) -> Blocks:
    votes, y = ([file for file in files if file.name.startswith(name)] for name in ("votes", label or "y"))
    if not votes or len(votes) != len(y):
        raise ValueError(
            f"{files[0].parent} has {len(votes)} files votes*.npy and {len(y)} files {label or 'y'}*.npy: "
            "there must be one of each for every block."
        )
    for votes_file, y_file in zip(votes, y, strict=True):
        yield from _cut(load_npy(votes_file), load_npy(y_file), n_rows)


def _from_zarr(place: Path, label: str | None, n_rows: int) -> Blocks:
    try:
        import zarr  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise ValueError("Reading Zarr groups needs zarr. Install it: pip install zarr.") from None
    group = zarr.open_group(str(place), mode="r")
    yield from _cut(group["votes"], group[label or "y"], n_rows)


def _cut(votes: Any, y: Any, n_rows: int) -> Blocks:
    """Blocks of arrays that are read by slicing; where they differ in length, the last block is wrong."""
    for start in range(0, max(votes.shape[0], y.shape[0]), n_rows):
        rows = slice(start, start + n_rows)
        yield votes[rows], y[rows]

"""``read_ballots``: one pass over votes that come in blocks, wherever they come from.

Files and folders, read block by block:

Parquet
    A file, or a folder of them in the order of their names; one column holds the true labels, all others are
    voters.
npz
    A file, or a folder of them in the order of their names, each with the arrays ``votes`` and ``y``.
npy
    A folder with ``votes*.npy`` (rows x voters) and as many ``y*.npy``, in the order of their names. The
    files are mapped, not loaded.
Zarr
    A group with the arrays ``votes`` and ``y``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from votecert.rows.ballots import Ballots
from votecert.rows.blocks.counting import Declaration, pack_block
from votecert.rows.blocks.dask import current_client, is_dask, tally_dask
from votecert.rows.blocks.spill_folder import SpillFolder
from votecert.rows.blocks.tally import MemoryLimit, Tally, finish, join_tallies, tally_packed
from votecert.rows.files.arrays import load_npy
from votecert.rows.files.columns import Layout
from votecert.rows.files.json_lines import Records
from votecert.rows.files.open import FORMATS, NOT_STREAMED, open_table
from votecert.rows.files.reader import pick
from votecert.rows.files.table import Arrays, NumberedRows
from votecert.rows.labels import declared_labels
from votecert.rows.split import SPLIT
from votecert.rows.tables import n_rows_of, refuse_other_length
from votecert.rows.vocabulary import MISSING, Vocabulary

Progress = Callable[[int], None]
Blocks = Iterator[tuple[Any, Any]]

MEMORY_BUDGET = 2 * 10**9
"""Bytes that reading may take by default."""

BLOCK_ROWS = 1 << 20
"""Rows taken at a time from arrays: enough to hide what a block costs by itself."""


def read_ballots(
    votes: Any,
    y: Any = None,
    *,
    classes: Any = None,
    can_abstain: bool | None = None,
    split: float = SPLIT,
    seed: int = 0,
    memory_budget: int = MEMORY_BUDGET,
    spill_folder: str | PathLike[str] | None = None,
    client: Any = None,
    progress: Progress | None = None,
) -> Ballots:
    """Ballots from votes that are larger than memory, in one pass.

    Parameters
    ----------
    votes : Dask collection, folder or file, array on disk, or iterable of blocks
        - a Dask array or dataframe of labels, rows x voters, with ``y`` a Dask array or series of as many
          partitions, or the name of a column of the dataframe;
        - the path of a Parquet file or folder, with ``y`` the name of the label column; of a folder of npy or
          npz files; or of a Zarr group (see :mod:`votecert.rows.blocks.read`);
        - an array that is read by slicing, such as ``numpy.memmap`` or a Zarr array, with ``y`` another one;
        - an iterable of blocks ``(votes, y)``, each as :meth:`Ballots.from_votes` takes them; ``y`` is None.
    y : labels or str, optional
        The true labels, or their column.
    classes : sequence of labels, optional
        The label set in its fixed order; inferred by default.
    can_abstain : bool, optional
        Whether voters can abstain on any row. Default: whether one does on these.
    split, seed : float, int
        How the fitting part for a learned certificate is drawn, as ``split`` and ``random_state`` of
        :func:`votecert.learn`. It must be declared here because the rows are gone afterwards; 0 for none.
    memory_budget : int, default=2_000_000_000
        Bytes that reading, and later the work on the result, may take in a process, apart from the blocks
        themselves and the modules that are loaded. Patterns beyond it go to disk.
    spill_folder : path, optional
        Where patterns go that do not fit; a temporary folder in it is deleted after use, those of killed
        programs by the next one. The workers of a cluster must share it. Default: the system's folder for
        temporary files.
    client : distributed.Client, optional
        The cluster that does the work. Default: for Dask collections the current one, or threads; for
        others this process. Workers of a given client also go through patterns that were spilled.
    progress : callable, optional
        Called with the number of rows read so far, after each block. Refused for Dask collections, which are
        read in no order.

    Returns
    -------
    Ballots
        As from ``Ballots.from_votes(..., compress=True)``, except that single rows cannot be asked for. The
        same, bit for bit, whatever the blocks and whoever did the work.

    Raises
    ------
    ValueError, TypeError
        If a block has the wrong shape or labels; the message names the block. Nothing is returned then.

    Examples
    --------
    >>> import numpy as np
    >>> def blocks():
    ...     for number in range(5):
    ...         rng = np.random.default_rng([0, number])
    ...         y = rng.integers(2, size=1000)
    ...         yield np.where(rng.random((1000, 3)) < 0.8, y[:, None], 1 - y[:, None]), y
    >>> read_ballots(blocks())
    Ballots(5000 rows, 16 patterns, 3 voters, 2 classes)
    """
    if not 0 <= split < 1:
        raise ValueError(f"split must be at least 0 and below 1, not {split!r}.")
    if memory_budget <= 0:
        raise ValueError(f"memory_budget must be a positive number of bytes, not {memory_budget!r}.")
    labels = None if classes is None else tuple(declared_labels(classes).tolist())
    declared = Declaration(labels, can_abstain, float(split), int(seed))
    folder = SpillFolder(None if spill_folder is None else str(spill_folder))
    limit = MemoryLimit(folder.path, int(memory_budget))
    try:
        if is_dask(votes) or is_dask(y):
            if progress is not None:
                raise TypeError("progress= would be ignored here: Dask has progress bars of its own.")
            client = client or current_client()
            tally = tally_dask(votes, y, declared, limit, client)
        else:
            tally = join_tallies(_tallies(_blocks(votes, y), declared, progress), limit)
        return finish(tally, declared, limit, folder, client)
    except BaseException:
        folder.remove()
        raise


def _tallies(blocks: Blocks, declared: Declaration, progress: Progress | None) -> Iterator[Tally]:
    """Read blocks one after the other."""
    start = 0
    for number, block in enumerate(blocks):
        if not isinstance(block, tuple) or len(block) != 2:
            raise TypeError(f"Block {number} must be a pair (votes, y), not a {type(block).__name__}.")
        yield tally_packed(pack_block(*block, number, declared), start, declared)
        start += n_rows_of(block[0])
        if progress is not None:
            progress(start)


def is_in_blocks(votes: Any, y: Any) -> bool:
    """Whether these votes have to be read block by block: Dask collections, or an iterator with no ``y``."""
    return is_dask(votes) or is_dask(y) or (y is None and isinstance(votes, Iterator))


def _blocks(votes: Any, y: Any) -> Blocks:
    """The blocks of anything that is no Dask collection."""
    if isinstance(votes, str | PathLike):
        return _from_files(Path(votes), y)
    if y is not None and all(hasattr(votes, name) for name in ("shape", "dtype", "__getitem__")):
        refuse_other_length(n_rows_of(votes), n_rows_of(y))
        return _cut(votes, y)
    if y is None and isinstance(votes, Iterable):
        return iter(votes)
    raise TypeError(
        "votes must be a Dask collection, a path, an array that can be sliced (with y), or an iterable of "
        f"blocks (votes, y) without y; not a {type(votes).__name__}."
    )


def _cut(votes: Any, y: Any) -> Blocks:
    """Blocks of arrays that are read by slicing; where they differ in length, the last block is wrong."""
    for start in range(0, max(n_rows_of(votes), n_rows_of(y)), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        yield votes[rows], y[rows]


def _from_files(place: Path, label: Any) -> Blocks:
    """The blocks of a file or folder; the label is the name of a column, or of an array."""
    if not place.exists():
        raise FileNotFoundError(f"{place} is not there.")
    if label is not None and not isinstance(label, str):
        raise TypeError("For votes in files, y is the name of the labels: a column, or an array.")
    if (place / "zarr.json").exists() or (place / ".zgroup").exists():
        return _from_zarr(place, label or "y")
    files = sorted(place.iterdir()) if place.is_dir() else [place]
    for suffix in (".npy", *NOT_STREAMED, *FORMATS):  # text last: beside votes it may say anything
        if chosen := [file for file in files if file.suffix.lower() == suffix]:
            return _from_npy(chosen, label or "y") if suffix == ".npy" else _from_tables(chosen, label)
    raise ValueError(f"{place} holds no parquet, npy or npz files and is no Zarr group.")


def _from_tables(files: list[Path], label: str | None) -> Blocks:
    voters: tuple[str, ...] | None = None
    for file in files:
        with open_table(file) as (table, name):
            if isinstance(table, Records):
                raise ValueError(f"{name} is text, which is read as a whole: save it as parquet.")
            columns = pick(table, name, Layout(label))
            voters = voters or columns.voter_names
            if columns.voter_names != voters:
                raise ValueError(f"{file} and {files[0]} have different columns: each voter needs its own.")
            if isinstance(table, Arrays):
                yield from _cut(table.array, table.column(columns.facts["true label"]))
            elif table.typed:
                yield from NumberedRows(table, columns, Vocabulary("votes", MISSING)).in_parts()
            else:
                raise ValueError(f"{name} is text, which is read as a whole: save it as parquet.")


def _from_npy(files: list[Path], label: str) -> Blocks:
    votes, y = ([file for file in files if file.name.startswith(name)] for name in ("votes", label))
    if not votes or len(votes) != len(y):
        raise ValueError(
            f"{files[0].parent} has {len(votes)} files votes*.npy and {len(y)} files {label}*.npy: "
            "there must be one of each for every block."
        )
    for votes_file, y_file in zip(votes, y, strict=True):
        yield from _cut(load_npy(votes_file), load_npy(y_file))


def _from_zarr(place: Path, label: str) -> Blocks:
    try:
        import zarr  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise ValueError("Reading Zarr groups needs zarr. Install it: pip install zarr.") from None
    group = zarr.open_group(str(place), mode="r")
    yield from _cut(group["votes"], group[label])

"""Data sets from a folder of ``NAME.npz`` files, or from their public sources into that folder.

An ``npz`` holds ``X`` (rows x features) and ``y`` (class codes 0, 1, ...). The folder is the one that the
environment variable ``VOTECERT_DATA`` names, else ``votecert`` in the user's cache.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from votecert.paper.catalogue import Entry, find_entry
from votecert.paper.download import download
from votecert.paper.formats import Array, Parsed, class_codes, unpacked
from votecert.rows.files.atomic import write_atomically

News = Callable[[str, int, int | None], None]


def data_folder() -> Path:
    """Where data sets are looked for."""
    if named := os.environ.get("VOTECERT_DATA"):
        return Path(named)
    return cache_folder() / "data"


def cache_folder() -> Path:
    """Where things are kept that can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "votecert"


def is_at_hand(name: str, folder: Path | None = None) -> bool:
    """Whether the data set can be loaded without a network."""
    return find_entry(name).generate is not None or _file(name, folder).exists()


def load(name: str, folder: Path | None = None) -> Parsed:
    """Features and class codes of a data set, checked against the catalogue.

    Examples
    --------
    >>> X, y = load("tictactoe")
    >>> X.shape, np.bincount(y).tolist()
    ((958, 9), [332, 626])
    """
    entry = find_entry(name)
    if entry.generate is not None:
        X, y = entry.generate()
    else:
        X, y = _read(entry, _file(name, folder))
    entry.check(X, y)
    return X, y


def fetch(name: str, folder: Path | None = None, news: News | None = None) -> Path | None:
    """Make sure that a data set is in the folder, downloading it if need be.

    Files that were put into ``downloads`` in the folder by hand are used as they are.

    Returns
    -------
    Path or None
        The file; None for a data set that needs none.
    """
    entry, target = find_entry(name), _file(name, folder)
    if entry.generate is not None:
        return None
    if target.exists():
        load(name, folder)
        return target
    contents = []
    for url in entry.urls:
        raw = target.parent / "downloads" / name / url.rpartition("/")[2]
        download(url, raw, progress=_telling(news, raw.name))
        contents.append(unpacked(raw.name, raw.read_bytes()))
    try:
        X, labels = entry.parse(contents)
    except (ValueError, IndexError, struct.error) as error:  # each parser fails in its own way
        raise ValueError(
            f"The files in {target.parent / 'downloads' / name} are not those of {name} ({error}): delete "
            "them and get them again."
        ) from None
    y = class_codes(labels)
    entry.check(X, y)
    packed = io.BytesIO()
    np.savez_compressed(packed, X=X, y=y)
    write_atomically(target, packed.getvalue())
    return target


def _file(name: str, folder: Path | None) -> Path:
    return (data_folder() if folder is None else folder) / f"{name}.npz"


def _read(entry: Entry, path: Path) -> tuple[Array, Array]:
    if not path.exists():
        raise FileNotFoundError(
            f"{path.name} is not in {path.parent}. Put it there, or name its folder in the variable "
            f"VOTECERT_DATA, or run `votecert paper data {entry.name} --download`, which gets it from "
            f"{' and '.join(entry.urls)}."
        )
    try:
        # NumPy leaves a damaged file open unless it is opened for it.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            return arrays["X"], arrays["y"]
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is damaged ({error}): delete it and get it again.") from None


def _telling(news: News | None, name: str) -> Callable[[int, int | None], None] | None:
    if news is None:
        return None
    return lambda done, total: news(name, done, total)

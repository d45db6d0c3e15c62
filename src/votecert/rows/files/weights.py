"""Weights of the voters in files: csv, json or npy."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from votecert._types import FloatArray
from votecert.rows.files.arrays import load_npy

LARGEST_FILE = 100_000_000
"""Larger files are no weights."""


def read_weights(path: str | PathLike[str], n_voters: int, voters: Sequence[str] | None = None) -> FloatArray:
    """Read one number a voter and scale them to sum to one.

    Parameters
    ----------
    path : path
        csv (one number a line, or lines ``voter,weight``, with or without a header), json (a list of numbers,
        an object ``{voter: weight}``, or an object with a list ``weights`` and optionally ``voters``) or npy.
    n_voters : int
        How many there must be.
    voters : sequence of str, optional
        Names of the voters. Weights with names are put in this order.

    Returns
    -------
    weights : (n_voters,) array

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "weights.csv"
    ...     _ = path.write_text("voter,weight\\nb,1\\na,3\\n")
    ...     read_weights(path, 2, ["a", "b"])
    array([0.75, 0.25])
    """
    path = Path(path)
    names, numbers = _load(path)
    weights = np.asarray(numbers, dtype=np.float64)
    if weights.shape != (n_voters,):
        raise ValueError(
            f"{path}: there must be one weight a voter, {n_voters} in all, but there are {weights.size}."
        )
    if names is not None and voters is not None:
        place = {name: position for position, name in enumerate(names)}
        if unknown := [name for name in voters if name not in place]:
            raise ValueError(f"{path} has no weight for the voter {unknown[0]!r}.")
        if sorted(names) != sorted(voters):
            raise ValueError(f"{path} or the votes name a voter twice, so that no weight goes by name.")
        weights = weights[[place[name] for name in voters]]
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(f"{path}: weights must be finite, zero or more, and not all zero.")
    return np.asarray(weights / weights.sum())


def format_weights(
    path: str | PathLike[str], weights: FloatArray, voters: Sequence[str] | None = None
) -> bytes:
    """Weights as the content of a file that :func:`read_weights` reads, by the end of its name.

    Examples
    --------
    >>> format_weights("weights.csv", np.array([0.75, 0.25]), ["a", "b"])
    b'voter,weight\\na,0.75\\nb,0.25\\n'
    """
    kind = _kind(Path(path))
    names = list(voters) if voters is not None else [str(position) for position in range(len(weights))]
    if kind == ".npy":
        buffer = io.BytesIO()
        np.save(buffer, weights, allow_pickle=False)
        return buffer.getvalue()
    if kind == ".json":
        return (json.dumps({"voters": names, "weights": weights.tolist()}, indent=2) + "\n").encode()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["voter", "weight"])
    writer.writerows(zip(names, map(repr, weights.tolist()), strict=True))
    return text.getvalue().encode()


def _kind(path: Path) -> str:
    kind = path.suffix.lower()
    if kind not in (".csv", ".json", ".npy"):
        raise ValueError(f"{path}: the name of a file of weights must end in .csv, .json or .npy.")
    return kind


def _load(path: Path) -> tuple[list[str] | None, Any]:
    if path.is_dir() or not path.exists():
        raise FileNotFoundError(
            f"There is no file {path} with weights; they can also be 'learn' or 'uniform'."
        )
    kind = _kind(path)
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"{path} is too large to hold one number a voter.")
    try:
        if kind == ".npy":
            return None, load_npy(path).astype(np.float64)
        text = path.read_text("utf-8-sig")
        names, numbers = _from_json(json.loads(text)) if kind == ".json" else _from_csv(text)
        return names, [float(number) for number in numbers]
    except (ValueError, TypeError, csv.Error, RecursionError) as error:
        raise ValueError(f"{path} does not hold one number a voter: {error}.") from None


def _from_json(content: Any) -> tuple[list[str] | None, list[Any]]:
    if isinstance(content, dict) and isinstance(content.get("weights"), list):
        names = content.get("voters")
        return ([str(name) for name in names] if isinstance(names, list) else None), content["weights"]
    if isinstance(content, dict):
        return [str(name) for name in content], list(content.values())
    if isinstance(content, list):
        return None, content
    raise ValueError("it must be a list or an object")


def _from_csv(text: str) -> tuple[list[str] | None, list[str]]:
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    try:
        float(rows[0][-1] if rows else "0")
    except ValueError:
        rows = rows[1:]  # a header
    widths = {len(row) for row in rows}
    if widths == {1}:
        return None, [row[0] for row in rows]
    if widths == {2}:
        return [row[0].strip() for row in rows], [row[1] for row in rows]
    raise ValueError("its lines must be 'weight' or 'voter,weight'")

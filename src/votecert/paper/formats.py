"""Parsers of the files that data sets are published in. They take bytes and give numbers; nothing else."""

from __future__ import annotations

import bz2
import gzip
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Parsed = tuple[Array, Array]


def unpacked(name: str, content: bytes) -> bytes:
    """The content of a file that may be packed, by the end of its name.

    Examples
    --------
    >>> unpacked("rows.txt.gz", gzip.compress(b"1 2"))
    b'1 2'
    """
    unpack = {"gz": gzip.decompress, "bz2": bz2.decompress}.get(name.rpartition(".")[2])
    if unpack is None:
        return content
    try:
        return unpack(content)
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"{name} cannot be unpacked ({error}): delete it and download it again.") from None


def class_codes(labels: Any) -> Array:
    """Labels as codes 0, 1, ... in sorted order.

    Examples
    --------
    >>> class_codes(["+1", "-1", "+1"]).tolist()
    [0, 1, 0]
    >>> class_codes([1.0, -1.0]).tolist()
    [1, 0]
    """
    return np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.uint8)


def parse_libsvm(content: bytes, n_features: int) -> Parsed:
    """Rows of ``label index:value ...`` with indices from 1; what is not mentioned is zero.

    Returns the features and the labels as numbers.

    Examples
    --------
    >>> X, y = parse_libsvm(b"1 1:0.5 3:2\\n-1 2:1\\n", 3)
    >>> X.tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1.0, -1.0])
    """
    lines = [line.split() for line in content.decode("ascii").splitlines() if line.strip()]
    X = np.zeros((len(lines), n_features), dtype=np.float32)
    y = np.empty(len(lines))
    for number, (label, *entries) in enumerate(lines):
        y[number] = float(label)
        for entry in entries:
            index, colon, value = entry.partition(":")
            if not colon or not 1 <= int(index) <= n_features:
                raise ValueError(
                    f"Line {number + 1} holds {entry!r}; expected index:value, an index up to {n_features}."
                )
            X[number, int(index) - 1] = float(value)
    return X, y


def parse_numbers(content: bytes) -> Parsed:
    """Rows of numbers between commas or blanks, the label last.

    Examples
    --------
    >>> X, y = parse_numbers(b"30,64,1,1\\n30 62 3 2\\n")
    >>> X.tolist(), y.tolist()
    ([[30.0, 64.0, 1.0], [30.0, 62.0, 3.0]], [1.0, 2.0])
    """
    rows = [line.replace(",", " ").split() for line in content.decode("ascii").splitlines() if line.strip()]
    table = np.array(rows, dtype=np.float64)
    return table[:, :-1].astype(np.float32), table[:, -1]


def parse_letters(content: bytes) -> Parsed:
    """Rows of words between commas, the label first; each column becomes codes in alphabetical order.

    Examples
    --------
    >>> X, y = parse_letters(b"p,x,s\\ne,b,s\\n")
    >>> X.tolist(), y.tolist()
    ([[1, 0], [0, 0]], ['p', 'e'])
    """
    table = np.array([line.split(",") for line in content.decode("ascii").split()])
    return np.column_stack([class_codes(column) for column in table[:, 1:].T]), table[:, 0]


def parse_idx(content: bytes) -> Array:
    """An array of bytes in the IDX format of MNIST.

    Examples
    --------
    >>> parse_idx(bytes([0, 0, 8, 1]) + (2).to_bytes(4, "big") + bytes([7, 9])).tolist()
    [7, 9]
    """
    zero, kind, n_axes = struct.unpack(">HBB", content[:4])
    shape = struct.unpack(f">{n_axes}I", content[4 : 4 + 4 * n_axes])
    values = np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * n_axes)
    if zero or kind != 8 or values.size != np.prod(shape):
        raise ValueError("This is not a complete IDX file of bytes: delete it and download it again.")
    return values.reshape(shape)

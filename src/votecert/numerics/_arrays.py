"""Arrays of floats, and elementwise functions evaluated block by block."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)

TINY = 1e-300
"""Stands for zero where a logarithm or a quotient is taken."""

_BLOCK = 8192


def floats(values: ArrayLike) -> Array:
    """Return ``values`` as an array of double precision numbers.

    Examples
    --------
    >>> floats([1, 2])
    array([1., 2.])
    """
    return np.asarray(values, dtype=np.float64)


def in_blocks(function: Callable[..., Array], *arguments: Array) -> Array:
    """Return ``function(*arguments)`` for an elementwise function and arrays of one shape.

    The function may return several values per element, along leading axes.  Several times faster than one
    call on a million elements, because a chain of NumPy operations on a large array is bound by memory, not
    by arithmetic; in blocks the temporaries stay in the processor's cache.

    Examples
    --------
    >>> in_blocks(np.add, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([4., 6.])
    """
    shape = arguments[0].shape
    flat = [np.ascontiguousarray(argument).reshape(-1) for argument in arguments]
    begins = range(0, max(flat[0].size, 1), _BLOCK)
    parts = [function(*(argument[begin : begin + _BLOCK] for argument in flat)) for begin in begins]
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)
    return whole.reshape(whole.shape[:-1] + shape)

"""Types that the package passes around, each defined once."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

AnyArray: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Indices: TypeAlias = npt.NDArray[np.intp]
Codes: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]  # votes as places in a list of classes
Bits: TypeAlias = npt.NDArray[np.uint8]  # flags, eight a byte
Words: TypeAlias = npt.NDArray[np.uint64]  # rows of votes, packed
Origin: TypeAlias = Literal["learned", "given", "fixed"]  # where weights come from
Label: TypeAlias = int | str  # a whole number, a bool or a text

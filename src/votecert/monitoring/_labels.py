"""True labels as they come in: of any kind, missing, or none of the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from votecert._types import BoolArray
from votecert.rows.tables import is_missing


def listed(labels: Any) -> list[Any]:
    """Labels of any kind as a list."""
    labels = labels.to_numpy() if hasattr(labels, "to_numpy") else labels
    return list(labels.tolist() if isinstance(labels, np.ndarray) else labels)


def are_new(labels: Sequence[Any], classes: Sequence[Any]) -> BoolArray:
    """Which labels are none of the classes, nor just written otherwise."""
    text = isinstance(classes[0], str)
    known = {str(one).strip().casefold() for one in classes} | {*classes}
    new = [
        one not in known and str(one).strip().casefold() not in known and not _odd(one, text)
        for one in labels
    ]
    return np.array(new, dtype=bool) & ~is_missing(labels)


def _odd(label: Any, text: bool) -> bool:
    """Whether it is no label of this kind at all."""
    return isinstance(label, str) != text or (
        not isinstance(label, str | int | np.integer) and not (isinstance(label, float) and label % 1 == 0)
    )


def column(labels: Any) -> Any:
    """Labels as a table of one column."""
    labels = labels.to_numpy() if hasattr(labels, "to_numpy") else labels
    return labels.reshape(-1, 1) if isinstance(labels, np.ndarray) else [[label] for label in labels]

"""Which rows were fed before: the same row twice is evidence once."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Self

import numpy as np

from votecert._types import BoolArray

MOST_ITEMS = 100_000
"""So many items are remembered, the last ones: about a megabyte in a file."""

MOST_BATCHES = 1000
"""So many batches are remembered, the last ones."""

NOTICED = 20
"""Fewer rows without names may well be the same as others by chance."""

_BYTES = 8  # of an item's digest: a new item is taken for one of 100 000 old ones once in 10^14 times


def digest_of(*parts: Any) -> str:
    """A digest of arrays and texts, 32 characters long."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        content = np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else str(part).encode()
        found.update(len(content).to_bytes(8, "big") + content)
    return found.hexdigest()


class Memory:
    """Digests of the last items and batches that were fed; ``forgotten`` counts the items before those.

    Examples
    --------
    >>> memory = Memory()
    >>> memory.add(["a", "b"], "Monday")
    >>> memory.new_items(["b", "c"], 2, skip_seen=True).tolist()
    [False, True]
    """

    def __init__(self, items: Iterable[bytes] = (), forgotten: int = 0, batches: Iterable[str] = ()) -> None:
        # dictionaries, for their keys: in the order in which they came
        self._items, self._batches = dict.fromkeys(items), dict.fromkeys(batches)
        self.forgotten = forgotten

    def new_items(self, items: Sequence[Any] | None, n_units: int, skip_seen: bool) -> BoolArray:
        """Which items were not fed before; refused if some were, unless they are to be skipped."""
        if items is None:
            if skip_seen:
                raise TypeError("skip_seen=True needs items=, a name for each row.")
            return np.ones(n_units, dtype=bool)
        names = [str(item) for item in items]
        if len(names) != n_units:
            raise ValueError(f"items must have one name a row, {n_units} in all, but there are {len(names)}.")
        if len(set(names)) < len(names):
            twice = Counter(names).most_common(1)[0][0]
            raise ValueError(f"The item {twice!r} is there twice: each row may be fed once.")
        if skip_seen and self.forgotten:
            raise ValueError(
                f"The first {self.forgotten} items are no longer remembered, so they cannot be skipped: give "
                "the new rows only."
            )
        seen = np.array([_item(name) in self._items for name in names], dtype=bool)
        if seen.any() and not skip_seen:
            first = names[int(seen.argmax())]
            raise ValueError(
                f"Of {len(names)} items {int(seen.sum())} were fed before, for example {first!r}: give new "
                "ones only, or skip those with skip_seen=True. Nothing was fed."
            )
        return ~seen

    def new_batch(self, batch: str | None, items: Any, *rows: Any) -> str | None:
        """The name of a batch, if it has one, or a digest of its rows; refused if it was fed before."""
        if batch is None:
            if items is not None or len(rows[0]) < NOTICED:
                return None
            batch = digest_of(*rows)
        else:
            batch = str(batch)
            if not 0 < len(batch) <= 100:
                raise ValueError("batch must be a short text, of at most 100 characters.")
        if batch in self._batches:
            raise ValueError(
                "The same batch of rows was fed before. Nothing was fed. If these are other rows that only "
                "look the same, name them with items=, or give the batch a name of its own with batch=."
            )
        return batch

    def add(self, items: Iterable[Any], batch: str | None) -> None:
        """Remember what was fed."""
        self._items.update(dict.fromkeys(map(_item, items)))
        if batch is not None:
            self._batches[batch] = None
        self.forgotten += _cut(self._items, MOST_ITEMS)
        _cut(self._batches, MOST_BATCHES)

    def to_dict(self) -> dict[str, Any]:
        """The memory as plain values for JSON."""
        text = base64.b64encode(b"".join(self._items)).decode()
        return {"items": text, "forgotten": self.forgotten, "batches": list(self._batches)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """The memory again; raises a ValueError if it cannot be one."""
        items, forgotten, batches = (content[name] for name in ("items", "forgotten", "batches"))
        try:
            raw = base64.b64decode(items.encode("ascii"), validate=True)
        except (UnicodeEncodeError, binascii.Error):
            raise ValueError("items is not base64 text") from None
        if len(raw) % _BYTES or len(raw) > _BYTES * MOST_ITEMS or len(batches) > MOST_BATCHES:
            raise ValueError("there are more items or batches than are ever remembered")
        if not all(isinstance(batch, str) and len(batch) <= 100 for batch in batches):
            raise ValueError("batches is not a list of short texts")
        return cls((raw[at : at + _BYTES] for at in range(0, len(raw), _BYTES)), forgotten, batches)


def _item(name: Any) -> bytes:
    return hashlib.blake2b(str(name).encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()


def _cut(remembered: dict[Any, None], most: int) -> int:
    """Forget the first ones until there are no more than so many; return how many were forgotten."""
    excess = max(0, len(remembered) - most)
    for name in list(islice(remembered, excess)):
        del remembered[name]
    return excess

"""Which rows were fed before: the same row twice is evidence once."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

MOST_ITEMS = 100_000
"""So many items are remembered, the last ones: about a megabyte in a file."""

MOST_BATCHES = 1000
"""So many batches are remembered, the last ones."""

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
    >>> memory.seen(["b", "c"]).tolist(), memory.had("Monday")
    ([True, False], True)
    """

    def __init__(self, items: Iterable[bytes] = (), forgotten: int = 0, batches: Iterable[str] = ()) -> None:
        # dictionaries, for their keys: in the order in which they came
        self._items, self._batches = dict.fromkeys(items), dict.fromkeys(batches)
        self.forgotten = forgotten

    def seen(self, items: Iterable[Any]) -> npt.NDArray[np.bool_]:
        """Which of the items were fed before."""
        return np.array([_item(item) in self._items for item in items], dtype=bool)

    def had(self, batch: str) -> bool:
        """Whether a batch of this name was fed before."""
        return batch in self._batches

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
    for name in list(remembered)[:excess] if excess else ():
        del remembered[name]
    return excess

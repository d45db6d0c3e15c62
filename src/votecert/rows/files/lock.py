"""One writer at a time: a lock beside a file, which goes when its holder does, however that ends."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

PATIENCE = 10.0
"""Seconds to wait for another writer."""


@contextlib.contextmanager
def locked(path: str | PathLike[str], patience: float = PATIENCE) -> Iterator[None]:
    """Hold the lock of a file that is read, changed and replaced.

    The lock is on a hidden file beside it: the file itself is another one after it was replaced. It stays
    there: somebody else may already wait for it.

    Parameters
    ----------
    path : path
        The file that is to be replaced; it need not be there yet.
    patience : float
        Seconds to wait if somebody else has the lock.

    Raises
    ------
    TimeoutError
        If somebody else still has it then.
    """
    target = Path(os.path.realpath(path))
    handle = os.open(target.with_name(f".{target.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        deadline = time.monotonic() + patience
        while not taken(handle):
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{os.fspath(path)} is in use by another process: try again later.")
            time.sleep(0.05)
        yield
    finally:
        os.close(handle)  # which gives the lock back


def taken(handle: int) -> bool:
    """Take the lock if nobody has it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

"""The temporary folder for patterns that memory has no room for, and what killed programs left of theirs.

A folder is locked as long as the program that made it lives, however that ends: the lock is on the folder
itself and is gone with the process. It gets the name that :func:`clean_up` looks for only after it is locked,
so that a folder with such a name and without a lock belongs to nobody. The name also has the computer's name:
on file systems that several computers share, a lock may be known to one of them only.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import sys
import tempfile
import weakref
from pathlib import Path

from votecert.rows.files.lock import taken

CAN_LOCK = sys.platform != "win32"
"""Whether a folder can be locked; where it cannot, nothing is cleaned up."""


class SpillFolder:
    """A temporary folder that goes when nobody needs it any more, or at the end of the program.

    If the program is killed, the folder goes when the next one makes its own in the same place.
    """

    def __init__(self, parent: str | None) -> None:
        place = Path(tempfile.gettempdir() if parent is None else parent)
        clean_up(place)
        self.path = tempfile.mkdtemp(prefix="votecert-", dir=place)
        lock = lock_folder(self.path)
        if lock is not None:
            locked = place / f"{_prefix()}{Path(self.path).name}"
            os.rename(self.path, locked)
            self.path = str(locked)
        self.remove = weakref.finalize(self, _remove, self.path, lock)


def clean_up(place: Path) -> None:
    """Remove the folders of programs that were killed; leave alone whatever cannot be shown to be one."""
    for path in place.glob(f"{_prefix()}*") if CAN_LOCK else ():
        with contextlib.suppress(OSError):
            if path.is_symlink() or path.stat().st_uid != os.getuid():
                continue
            lock = lock_folder(path)
            if lock is not None:
                _remove(path, lock)


def lock_folder(path: str | Path) -> int | None:
    """A lock that ends with the process at the latest; None if somebody else has it or there is none."""
    if not CAN_LOCK:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    if taken(handle):
        return handle
    os.close(handle)
    return None


def _remove(path: str | Path, lock: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if lock is not None:
        os.close(lock)


def _prefix() -> str:
    return f"votecert-spilled-by-{re.sub(r'[^A-Za-z0-9]', '', platform.node())}-"

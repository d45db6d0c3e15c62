"""Writing a file as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from os import PathLike
from pathlib import Path


def write_atomically(path: str | PathLike[str], content: str | bytes) -> None:
    """Write a file so that others see the old one or the whole new one, whatever happens in between.

    The content goes to a temporary file in the same folder, which then takes the place of the target. On any
    failure (full disk, interruption) the temporary file is removed and the target stays as it was.

    Parameters
    ----------
    path : str or path
        A symbolic link is followed. Devices and pipes are written to directly.
    content : str or bytes
        Text is written as UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "note.txt", "done")
    ...     (Path(folder) / "note.txt").read_text()
    'done'
    """
    target = Path(os.path.realpath(path))
    check_writable(path)
    data = content.encode() if isinstance(content, str) else content
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    try:
        _replace(target, data)
    except OSError as error:  # it may name the temporary file, which means nothing to the user
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def _replace(target: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _usual_mode(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def check_writable(path: str | PathLike[str]) -> None:
    """Refuse a path that cannot be written to: better before long work than after it."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder: give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"The folder {target.parent} does not exist: create it first.")
    if target.exists() and not target.is_file():
        return
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"The folder {target.parent} cannot be written to: choose another one.")


def _usual_mode(target: Path) -> int:
    """The permissions of the file that is replaced, or what a newly made file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

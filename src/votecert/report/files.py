"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write text to a file through a temporary one in the same folder.

    Whatever goes wrong, an older file stays as it was and nothing is left behind.

    Raises
    ------
    OSError
        If the folder is missing or cannot be written to, or the path is a folder.
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent}; make it first.")
    temporary = target.parent / f".votecert-{secrets.token_hex(8)}.tmp"
    try:
        # Unlike those of ``tempfile``, a file opened this way gets the permissions of any new file.
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except PermissionError as error:
        raise PermissionError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        temporary.unlink(missing_ok=True)

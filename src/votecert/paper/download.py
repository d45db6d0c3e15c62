"""Getting a published file: resumed where it broke off, checked, and in place only when whole."""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any

BLOCK = 1 << 16
TIMEOUT = 30.0

Progress = Callable[[int, int | None], None]


class DownloadError(OSError):
    """A file could not be had; the text names it and says where to put it by hand."""


def download(url: str, target: Path, *, sha256: str | None = None, progress: Progress | None = None) -> None:
    """Download a file unless it is there already.

    The bytes go to ``target`` with ``.part`` added. If that file exists from an earlier try, only the rest is
    asked for. When all of it is there and its checksum is right, it takes the place of the target.

    Parameters
    ----------
    url : str
    target : Path
    sha256 : str, optional
        Checksum of the file.
    progress : callable, optional
        Called with the bytes so far and in all (None if not known).

    Raises
    ------
    DownloadError
        If there is no network, the server refuses, or the checksum is wrong.
    """
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    try:
        _fetch(url, part, progress)
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DownloadError(
            f"{target.name} could not be downloaded from {url} ({reason}). Download it where there is a "
            f"network, put it into {target.parent}, and run this again."
        ) from None
    if sha256 is not None and _sha256(part) != sha256:
        part.unlink()
        raise DownloadError(
            f"The checksum of {url} is wrong; the download was thrown away. Try again, or put the right "
            f"{target.name} into {target.parent}."
        )
    os.replace(part, target)


def _fetch(url: str, part: Path, progress: Progress | None) -> None:
    """Append what is missing to the part."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()  # it holds the connection
        if error.code == 416 and have:  # nothing is missing, or the part is not from this file
            part.unlink()
            return _fetch(url, part, progress)
        raise
    with answer:
        resumed = answer.status == 206
        have = have if resumed else 0
        total = _total(answer, have)
        with open(part, "ab" if resumed else "wb") as file:
            while block := answer.read(BLOCK):
                file.write(block)
                have += len(block)
                if progress is not None:
                    progress(have, total)
            file.flush()
            os.fsync(file.fileno())
    if total is not None and have < total:
        raise OSError(f"the connection broke off after {have} of {total} bytes")
    return None


def _total(answer: Any, have: int) -> int | None:
    length = answer.headers.get("Content-Length")
    return None if length is None else have + int(length)


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

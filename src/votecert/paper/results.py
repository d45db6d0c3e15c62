"""Files of results: one JSON object a line, one line a finished cell, whole or not there at all."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

Record = dict[str, Any]


def read_results(folder: Path) -> dict[str, Record]:
    """All records of a folder, by key.

    The last line of a file may be cut off by a kill and is then passed over: that cell was not finished.
    """
    records: dict[str, Record] = {}
    for path in sorted(folder.glob("*.jsonl")):
        records |= _read(path)
    return records


def _read(path: Path) -> dict[str, Record]:
    records = {}
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last newline is not finished
        try:
            record = json.loads(line)
            records[str(record["cell"])] = record
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"Line {number} of {path} is damaged. Delete that line; its cell will be run again."
            ) from None
    return records


class ResultFiles:
    """The files of a folder, open for one writer.

    Every line is one write at the end of the file, followed by fsync, so that a kill or a power failure costs
    at most the line being written. A second writer on the same folder is refused.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    @contextmanager
    def open(cls, folder: Path) -> Iterator[Self]:
        """Lock the folder and mend files whose last line was cut off."""
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            lock = stack.enter_context(open(folder / ".lock", "w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BlockingIOError(
                    f"Another run is writing to {folder}: wait for it or stop it."
                ) from None
            for path in folder.glob("*.jsonl"):
                _mend(path)
            yield cls(folder)

    def append(self, file: str, record: Record) -> None:
        """Add one record."""
        line = json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n"
        handle = os.open(self._folder / file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(handle, line.encode())
            os.fsync(handle)
        finally:
            os.close(handle)


def _mend(path: Path) -> None:
    """Cut the file after its last newline."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)

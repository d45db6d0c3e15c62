"""A file is written as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from votecert.rows.files.atomic import check_writable, write_atomically


def test_new_files_have_the_usual_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new.txt", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "new.txt").read_text() == "text"
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["new.txt"]


def test_old_files_are_replaced_and_keep_their_permissions(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("a long text that was there before")
    path.chmod(0o604)
    write_atomically(path, b"\xff")
    assert path.read_bytes() == b"\xff"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_links_are_followed(tmp_path):
    (tmp_path / "target.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("target.txt")
    write_atomically(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "target.txt").read_text() == "new"


def test_devices_are_written_to_and_not_replaced():
    write_atomically(os.devnull, "text")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_whatever_fails_nothing_is_left(tmp_path, monkeypatch, step, error):
    path = tmp_path / "old.txt"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_atomically(path, "new")
    assert os.listdir(tmp_path) == ["old.txt"]
    assert path.read_text() == "old"


def test_refusals(tmp_path, monkeypatch):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"folder .*nowhere does not exist"):
        check_writable(tmp_path / "nowhere" / "file.txt")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="cannot be written to"):
        write_atomically(tmp_path / "file.txt", "text")
    assert os.listdir(tmp_path) == []

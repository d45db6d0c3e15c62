from __future__ import annotations

import os
import stat

import pytest

from votecert.report.files import write_atomically


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "report.html"
    write_atomically(path, "one é")
    write_atomically(str(path), "two")
    assert path.read_text("utf-8") == "two"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_new_file_has_the_usual_permissions(tmp_path):
    plain, path = tmp_path / "plain", tmp_path / "report.html"
    plain.write_text("")
    write_atomically(path, "")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt(), PermissionError(13, "denied")])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_after_a_failure_the_old_file_is_there_and_nothing_else(tmp_path, monkeypatch, step, error):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_text_that_cannot_be_encoded_leaves_nothing_behind(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_atomically(tmp_path / "report.html", "\ud800")
    assert os.listdir(tmp_path) == []


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="give the name of a file in it"):
        write_atomically(tmp_path, "text")
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere"):
        write_atomically(tmp_path / "nowhere" / "report.html", "text")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to read-only folders")
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match=r"report\.html cannot be written"):
            write_atomically(tmp_path / "report.html", "text")
        assert os.listdir(tmp_path) == []
    finally:
        tmp_path.chmod(0o700)


def test_permission_problems_name_the_file(tmp_path, monkeypatch):
    def deny(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", deny)
    with pytest.raises(PermissionError, match=r"report\.html cannot be written: Permission denied"):
        write_atomically(tmp_path / "report.html", "text")

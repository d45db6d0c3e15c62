"""Votes in files, read block by block."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from scale_problems import drawn

from votecert.rows.ballots import Ballots
from votecert.rows.blocks import read, read_ballots

VOTES, Y = drawn(0, 500, 4, 3)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(read, "BLOCK_ROWS", 64)


def assert_read(found: Ballots, votes=VOTES, y=Y) -> None:
    expected = Ballots.from_votes(votes, y, compress=True)
    assert np.array_equal(found.codes, expected.codes)
    assert np.array_equal(found.counts, expected.counts)
    assert np.array_equal(found.classes, expected.classes)
    for fitting in (True, False):
        parts = [ballots.part(0.25, 0, fitting=fitting).counts for ballots in (found, expected)]
        assert np.array_equal(*parts)


def write_parquet(path, votes, y):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    columns = {f"voter {i}": column for i, column in enumerate(votes.T)}
    parquet.write_table(pa.table({**columns, "truth": y}), path, row_group_size=100)


def test_parquet_file_and_folder(tmp_path):
    write_parquet(tmp_path / "all.parquet", VOTES, Y)
    assert_read(read_ballots(tmp_path / "all.parquet", "truth"))
    folder = tmp_path / "folder"
    folder.mkdir()
    for part in range(5):
        write_parquet(folder / f"{part}.parquet", VOTES[part * 100 :][:100], Y[part * 100 :][:100])
    assert_read(read_ballots(str(folder), "truth"))


def test_text_beside_the_votes_is_not_read(tmp_path):
    write_parquet(tmp_path / "all.PARQUET", VOTES, Y)
    (tmp_path / "about.txt").write_text("What is in this folder, and why.")
    assert_read(read_ballots(tmp_path, "truth"))


def test_parquet_of_strings_with_missing_votes(tmp_path):
    names = np.array(["a", "b", "c"], dtype=object)
    votes = names[VOTES]
    votes[::7, 1] = None
    write_parquet(tmp_path / "names.parquet", votes, names[Y])
    assert_read(read_ballots(tmp_path / "names.parquet", "truth"), votes, names[Y])


def test_parquet_that_does_not_fit_is_refused(tmp_path):
    write_parquet(tmp_path / "a.parquet", VOTES, Y)
    with pytest.raises(ValueError, match="no column 'label'"):
        read_ballots(tmp_path, "label")
    with pytest.raises(ValueError, match="which column holds the true label"):
        read_ballots(tmp_path)
    write_parquet(tmp_path / "b.parquet", VOTES[:, :3], Y)
    with pytest.raises(ValueError, match="different columns"):
        read_ballots(tmp_path, "truth")


def test_npy_folder(tmp_path):
    for part, rows in enumerate((slice(0, 100), slice(100, 101), slice(101, 500))):
        np.save(tmp_path / f"votes-{part}.npy", VOTES[rows])
        np.save(tmp_path / f"y-{part}.npy", Y[rows])
    assert_read(read_ballots(tmp_path))
    (tmp_path / "y-2.npy").unlink()
    with pytest.raises(ValueError, match=r"3 files votes\*.npy and 2 files y\*.npy"):
        read_ballots(tmp_path)


def test_npz_file_and_folder(tmp_path):
    np.savez(tmp_path / "1.npz", votes=VOTES[:300], y=Y[:300])
    assert_read(read_ballots(tmp_path / "1.npz"), VOTES[:300], Y[:300])
    np.savez(tmp_path / "2.npz", votes=VOTES[300:], y=Y[300:])
    assert_read(read_ballots(tmp_path))


def test_arrays_of_different_lengths_name_the_file_or_the_block(tmp_path):
    np.savez(tmp_path / "1.npz", votes=VOTES, y=Y[:499])
    with pytest.raises(ValueError, match=r"1\.npz: there must be one true label a row: 500 rows"):
        read_ballots(tmp_path)
    (tmp_path / "1.npz").unlink()
    np.save(tmp_path / "votes.npy", VOTES)
    np.save(tmp_path / "y.npy", Y[:499])
    with pytest.raises(ValueError, match=r"Block 7 .*52 rows but y has 51"):
        read_ballots(tmp_path)


def test_objects_in_npy_files_are_not_loaded(tmp_path):
    np.save(tmp_path / "votes.npy", VOTES.astype(object), allow_pickle=True)
    np.save(tmp_path / "y.npy", Y)
    with pytest.raises(ValueError, match="Python objects"):
        read_ballots(tmp_path)


def test_arrays_that_are_read_by_slicing(tmp_path):
    np.save(tmp_path / "votes.npy", VOTES)
    assert_read(read_ballots(np.load(tmp_path / "votes.npy", mmap_mode="r"), Y))


def test_zarr_groups(tmp_path, monkeypatch):
    """With a stand-in where zarr is not installed: a group opened for read, arrays read by slicing."""

    def open_group(path, mode):
        assert (path, mode) == (str(tmp_path), "r")
        return {"votes": VOTES, "y": Y}

    try:
        import zarr
    except ImportError:
        monkeypatch.setitem(sys.modules, "zarr", types.SimpleNamespace(open_group=open_group))
        (tmp_path / "zarr.json").touch()
    else:
        group = zarr.open_group(str(tmp_path), mode="w")
        for name, array in (("votes", VOTES), ("y", Y)):
            group.create_array(name, shape=array.shape, chunks=(50, *array.shape[1:]), dtype=array.dtype)
            group[name][:] = array
    assert_read(read_ballots(tmp_path))


def test_what_is_no_folder_of_votes_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not there"):
        read_ballots(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="no parquet, npy or npz"):
        read_ballots(tmp_path)
    with pytest.raises(TypeError, match="the name of the labels"):
        read_ballots(tmp_path, Y)


def test_parquet_with_text_that_is_no_unicode(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    words = pa.array(["nope", "yes"] * 30)
    options = {"compression": "none", "use_dictionary": False}
    parquet.write_table(pa.table([words, words], names=["a", "y"]), tmp_path / "v.parquet", **options)
    content = (tmp_path / "v.parquet").read_bytes()
    (tmp_path / "v.parquet").write_bytes(content.replace(b"nope", b"n\xffpe"))
    with pytest.raises(ValueError, match=r"v\.parquet is not a parquet file that can be read: .*UTF8"):
        read_ballots(tmp_path, "y")

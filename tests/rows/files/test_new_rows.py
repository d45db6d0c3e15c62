"""Votes on new rows, from every kind of file."""

from __future__ import annotations

import io

import numpy as np
import pytest

from votecert.rows.files.columns import Layout
from votecert.rows.files.read import read_new_votes

CLASSES = ["no", "yes"]
NAMES = ["ann", "bob"]
EXPECTED = [[1, 0], [2, 1], [0, 0]]
TEXT = "id,bob,ann\n7,no,yes\n8,yes,\n9,no,no\n"


def read_codes(source, classes, voters=None, ignore=(), **options):
    layout = Layout(voters=None if voters is None else tuple(voters), n_voters=2, ignore=tuple(ignore))
    return read_new_votes(source, classes, layout, **options).votes


def read(text, voters=NAMES, classes=CLASSES, **options):
    return read_codes(io.BytesIO(text.encode()), classes, voters, **options).tolist()


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "npz", "named npz", "npy"])
def test_every_kind_of_file(kind, tmp_path):
    path = tmp_path / f"new.{kind.split()[-1]}"
    if kind == "csv":
        path.write_text(TEXT)
    elif kind == "tsv":
        path.write_text(TEXT.replace(",", "\t"))
    elif kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        columns = {"id": [7, 8, 9], "bob": ["no", "yes", "no"], "ann": ["yes", None, "no"]}
        parquet.write_table(pa.table(columns), path)
    else:
        coded = np.array([[1.0, 0], [np.nan, 1], [0, 0]])
        if kind == "npz":
            np.savez(path, votes=coded)
        elif kind == "named npz":
            np.savez(path, votes=coded[:, ::-1], voters=np.array(NAMES[::-1]))
        else:
            np.save(path, coded)
        assert read_codes(path, [0, 1], NAMES).tolist() == EXPECTED
        return
    assert read_codes(path, CLASSES, NAMES).tolist() == EXPECTED


def test_without_names_columns_go_by_position():
    text = TEXT.partition("\n")[2]
    assert read(text, None, ignore=[0], header=False) == [[0, 1], [1, 2], [0, 0]]
    assert read("x,y\nno,yes\n") == [[0, 1]]  # voters that were named otherwise


def test_numbers_and_quotes():
    assert read('ann,bob\n1.0,0\n"0",\n', classes=[0, 1]) == [[1, 0], [0, 2]]
    assert read("ann,bob\nTrue,false\n", classes=[False, True]) == [[1, 0]]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("ann,carl\nno,no\n", "no column for the voter 'bob'"),
        ("x,y,z\nno,no,no\n", "3 columns for 2 voters"),
        (
            "ann,bob\nno,maybe\n",
            "'bob' holds labels that are not among the classes of the certificate: 'maybe'",
        ),
        ("ann,bob\n", "no rows"),
        ("", "is empty"),
        ("ann,bob\nno\n", "1 cells"),
    ],
)
def test_what_is_wrong_is_said(text, match):
    with pytest.raises(ValueError, match=match):
        read(text)


def test_arrays_that_do_not_fit(tmp_path):
    np.savez(tmp_path / "a.npz", y=np.zeros(3))
    with pytest.raises(ValueError, match="must hold the array 'votes'; it holds 'y'"):
        read_codes(tmp_path / "a.npz", [0, 1])
    np.savez(tmp_path / "b.npz", votes=np.zeros((3, 2)), voters=np.array(["a"]))
    with pytest.raises(ValueError, match="1 names for 2 voters"):
        read_codes(tmp_path / "b.npz", [0, 1])
    np.save(tmp_path / "c.npy", np.zeros(3))
    with pytest.raises(ValueError, match="rows x voters"):
        read_codes(tmp_path / "c.npy", [0, 1])

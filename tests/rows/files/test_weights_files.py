"""Weights of voters in files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from votecert.rows.files.weights import format_weights, read_weights

VOTERS = ("a", "b", 'ünï, "c"')
WEIGHTS = np.array([0.5, 0.2, 0.3])


@pytest.mark.parametrize("ending", ["csv", "json", "npy"])
def test_what_is_written_is_read_again(tmp_path, ending):
    path = tmp_path / f"weights.{ending}"
    path.write_bytes(format_weights(path, WEIGHTS, VOTERS))
    assert read_weights(path, 3, VOTERS).tolist() == WEIGHTS.tolist()
    path.write_bytes(format_weights(path, WEIGHTS))
    assert read_weights(path, 3).tolist() == WEIGHTS.tolist()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("w.csv", "5\n2\n3\n"),
        ("w.csv", "weight\n5\n2\n3"),
        ("w.csv", "name,weight\nb,2\nc,3\na,5\n"),
        ("w.csv", "b,2\r\nc,3\r\na,5\r\n"),
        ("w.json", "[5, 2, 3]"),
        ("w.json", '{"b": 2, "a": 5, "c": 3}'),
        ("w.json", '{"weights": [3, 2, 5], "voters": ["c", "b", "a"]}'),
        ("w.json", '{"weights": [5, 2, 3], "risk": 0.1}'),
    ],
)
def test_layouts(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert read_weights(tmp_path / name, 3, ["a", "b", "c"]) == pytest.approx(WEIGHTS)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("w.csv", "1\n2\n", "one weight a voter, 3 in all, but there are 2"),
        ("w.csv", "", "does not hold one number a voter"),
        ("w.csv", "1\nx\n2\n", "could not convert"),
        ("w.csv", "1,2,3\n", "must be 'weight' or 'voter,weight'"),
        ("w.csv", "1\n-2\n3\n", "zero or more"),
        ("w.csv", "0\n0\n0\n", "not all zero"),
        ("w.csv", "1\nnan\n1\n", "finite"),
        ("w.csv", "a,1\nb,1\nx,1\n", "no weight for the voter 'c'"),
        ("w.csv", "a,1\nb,1\na,1\n", "no weight for the voter 'c'"),
        ("w.json", "{", "does not hold one number a voter"),
        ("w.json", "7", "a list or an object"),
        ("w.json", '{"votecert_certificate": 1, "statement": "x"}', "does not hold one number"),
        ("w.json", "[" * 100_000, "does not hold one number"),
        ("w.npy", "nonsense", "is not an npy file"),
        ("w.txt", "1", "must end in .csv, .json or .npy"),
    ],
)
def test_refusals(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message) as refusal:
        read_weights(tmp_path / name, 3, ["a", "b", "c"])
    assert name in str(refusal.value)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="'learn' or 'uniform'"):
        read_weights(tmp_path / "nowhere.csv", 3)


def test_objects_are_not_loaded(tmp_path):
    np.save(tmp_path / "w.npy", np.array([1, None], dtype=object))
    with pytest.raises(ValueError, match="Python objects"):
        read_weights(tmp_path / "w.npy", 2)


def test_json_has_the_names(tmp_path):
    content = json.loads(format_weights("w.json", WEIGHTS, VOTERS))
    assert content == {"voters": list(VOTERS), "weights": WEIGHTS.tolist()}


def test_names_that_are_more_than_the_weights(tmp_path):
    (tmp_path / "w.json").write_text('{"voters": ["a", "b", "b", "b"], "weights": [1, 2]}')
    with pytest.raises(ValueError, match="name a voter twice"):
        read_weights(tmp_path / "w.json", 2, ["a", "b"])

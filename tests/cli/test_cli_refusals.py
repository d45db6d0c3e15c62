"""What the user gets wrong is told in a sentence, with exit code 2, on stderr."""

from __future__ import annotations

import os
import pickle
import sys

import numpy as np
import pytest
from jury_file import ROWS

FILES = {
    "empty.csv": b"",
    "header.csv": b"a,y\n",
    "one-class.csv": b"a,b,y\n" + b"1,1,1\n" * 9,
    "no-truth.csv": b"a,y\n1,\n0,\n",
    "ragged.csv": b"a,y\n1,0\n0\n",
    "text.csv": b"just some text\n",
    "utf16.csv": "a,y\n1,0\n".encode("utf-16"),
    "pickle.npy": pickle.dumps({"votes": 1}),
    "pickle.pkl": pickle.dumps({"votes": 1}),
    "fake.npz": b"PK\x03\x04nonsense",
    "fake.parquet": b"nonsense",
    "votes.xls": b"nonsense",
    "scores.csv": b"a,b,y\n" + b"".join(b"0.%d,0.5,1\n" % i for i in range(99)),
}


@pytest.mark.parametrize("command", ["certify", "compare", "learn"])
@pytest.mark.parametrize("name", [*FILES, "nowhere.csv", "folder.csv", "."])
def test_bad_files(invoke, tmp_path, command, name):
    (tmp_path / "folder.csv").mkdir()
    if name in FILES:
        (tmp_path / name).write_bytes(FILES[name])
    done = invoke(command, name, "--label", "y", "--json", "out.json")
    assert_refused(done, tmp_path, name, *(["scores", "--force"] if name == "scores.csv" else []))


def assert_refused(done, tmp_path, *words: str) -> None:
    assert done.exit_code == 2, done.stdout
    assert done.stdout == ""
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith("votecert: ")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in message
    assert not (tmp_path / "out.json").exists()
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--label", "humn"], ["votes.csv has no column 'humn'", "Did you mean 'human'?"]),
        ([], ["say which column holds the true label", "alice"]),
        (["--label", "9"], ["no column at position 9"]),
        ([*ROWS, "--group", "nowhere"], ["no column 'nowhere'"]),
        ([*ROWS, "--ignore", "nobody"], ["no column 'nobody'"]),
        ([*ROWS, "--largest-cluster", "5"], ["--largest-cluster goes with --cluster"]),
        ([*ROWS, "--delta", "0"], ["delta must be between 0 and 1"]),
        ([*ROWS, "--delta", "5"], ["delta must be between 0 and 1"]),
        ([*ROWS, "--bound", "nonsense"], ["no bound 'nonsense'", "occam"]),
        ([*ROWS, "--bound", "test-set"], ["Use --bound occam"]),
        ([*ROWS, "--bound", "c-bound", "--weights", "uniform"], ["abstentions"]),
        ([*ROWS, "--classes", "good"], ["'bad'", "declared classes"]),
        ([*ROWS, "--classes", "good,,bad"], ["--classes"]),
        ([*ROWS, "--classes", "good,good"], ["--classes"]),
        ([*ROWS, "--fallback", "ugly"], ["--fallback 'ugly'", "bad, good"]),
        ([*ROWS, "--weights", "nowhere.csv"], ["nowhere.csv", "'learn' or 'uniform'"]),
        ([*ROWS, "--weights", "votes.csv"], ["votes.csv", "one number a voter"]),
        ([*ROWS, "--weights", "uniform", "--seed", "1"], ["--weights learn"]),
        ([*ROWS, "--json", "nowhere/out.json"], ["nowhere does not exist"]),
        ([*ROWS, "--html", "."], ["is a folder"]),
    ],
)
def test_bad_choices(invoke, votes, tmp_path, options, words):
    assert_refused(invoke("certify", votes, *options), tmp_path, *words)


@pytest.mark.parametrize(
    "options",
    [
        ["certify"],
        ["certify", "votes.csv", "--nonsense"],
        ["certify", "votes.csv", "--max-risk", "2"],
        ["certify", "votes.csv", "--delta", "small"],
        ["nonsense"],
        ["plan", "--target", "0.1"],
    ],
)
def test_wrong_usage(invoke, options):
    done = invoke(*options)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr


def test_one_class_can_be_declared(invoke, tmp_path):
    (tmp_path / "v.csv").write_bytes(FILES["one-class.csv"])
    done = invoke("certify", "v.csv", "--label", "y")
    assert "declare the label set with --classes A,B,..." in done.stderr
    assert invoke("certify", "v.csv", "--label", "y", "--classes", "0,1").exit_code == 0


def test_arrays_of_objects(invoke, tmp_path):
    np.savez(tmp_path / "v.npz", votes=np.array([["a", None]], dtype=object), y=np.array(["a"]))
    assert_refused(invoke("certify", "v.npz"), tmp_path, "v.npz", "pickle that could run code")


def test_outputs_are_checked_before_the_work(invoke, votes, tmp_path, monkeypatch):
    monkeypatch.setattr("votecert.cli.certify.read_rows", None)
    done = invoke("certify", votes, *ROWS, "--json", "nowhere/c.json")
    assert done.exit_code == 2
    assert "nowhere does not exist" in done.stderr
    done = invoke("learn", votes, *ROWS, "--output", "weights.xls")
    assert "must end in .csv, .json or .npy" in done.stderr


def test_folders_that_cannot_be_written_to(invoke, votes, tmp_path, monkeypatch):
    locked = tmp_path / "locked"
    locked.mkdir()
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: str(locked) not in str(path) and access(path, mode))
    for options in (["--json", "locked/c.json"], ["--html", "locked/c.html"]):
        done = invoke("certify", votes, *ROWS, *options)
        assert_refused(done, tmp_path, "locked cannot be written to")
    assert os.listdir(locked) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that takes no files, even from root")
def test_file_systems_that_cannot_be_written_to(invoke, votes, tmp_path):
    done = invoke("certify", votes, *ROWS, "--json", "/proc/c.json")
    assert done.exit_code == 2
    assert "votecert: /proc/c.json: " in done.stderr or "/proc cannot be written to" in done.stderr
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == [votes]


def test_debugging_shows_where_it_happened(invoke, monkeypatch):
    monkeypatch.setenv("VOTECERT_DEBUG", "1")
    done = invoke("certify", "nowhere.csv", "--label", "y")
    assert done.exit_code == 2
    assert "Traceback" in done.stderr
    assert "FileNotFoundError" in done.stderr


def test_too_little_memory(invoke, votes, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("votecert.certify", fail)
    done = invoke("certify", votes, *ROWS)
    assert done.exit_code == 2
    assert "not enough memory" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--html", "-"], ["--html must be a file"]),
        (["--title", "Judges"], ["--title is for the report"]),
        (["--json", "out.json", "--html", "out.json"], ["out.json is given for two results"]),
    ],
)
def test_outputs_that_would_get_lost(invoke, votes, tmp_path, options, words):
    assert_refused(invoke("certify", votes, *ROWS, *options), tmp_path, *words)
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("table", ["true,bad,good\nbad,0,1\ngood,5,0\ngood,1,0\n", "true,bad,bad\nbad,0,1\n"])
def test_a_class_has_one_line_and_one_column_of_costs(invoke, votes, tmp_path, table):
    (tmp_path / "costs.csv").write_text(table)
    done = invoke("certify", votes, *ROWS, "--costs", "costs.csv", "--quiet")
    assert_refused(done, tmp_path, "costs.csv: a class is listed twice")


def test_thresholds_are_numbers(invoke, votes, tmp_path):
    done = invoke("triage", votes, *ROWS, "--thresholds", "0.1,high")
    assert_refused(done, tmp_path, "--thresholds '0.1,high' must be numbers")


def test_a_sequential_plan_is_not_for_triage(invoke, tmp_path):
    numbers = ["--target", 0.05, "--error", 0.03, "--voters", 5]
    done = invoke("plan", *numbers, "--sequential", "--answered", 0.5)
    assert_refused(done, tmp_path, "--answered does not go with --sequential")


def test_no_certificate_passes_a_limit_that_is_no_number():
    import typer

    from votecert import certify
    from votecert.cli.results import gate, gate_losses

    rows = [[0, 0], [1, 1], [0, 1]] * 50, [0, 1, 0] * 50
    with pytest.raises(typer.Exit):
        gate([certify(*rows, weights="uniform")], float("nan"))
    with pytest.raises(typer.Exit):
        gate_losses(certify(*rows, weights="uniform", costs=[[0, 1], [2, 0]]), float("nan"))

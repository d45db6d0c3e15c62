"""A new file format is one function and one line in the registry: a toy, read through everything public."""

from __future__ import annotations

import numpy as np
import pytest

from votecert.rows.ballots import Ballots
from votecert.rows.blocks import read_ballots
from votecert.rows.files.columns import Layout
from votecert.rows.files.open import FORMATS
from votecert.rows.files.read import read_new_votes, read_votes
from votecert.rows.files.table import Block, Source, Table

TEXT = "ann bob truth where\nyes no yes eu\nno - no us\nyes yes no us\nno no no eu\n"
VOTES = [["yes", "no"], ["no", None], ["yes", "yes"], ["no", "no"]]
TRUTH = ["yes", "no", "no", "no"]


def read_words(source: Source) -> Table:
    """Cells between blanks, two rows at a time; a dash is no vote."""
    header, *lines = source.stream.read().decode().splitlines()

    def blocks(used):
        for start in range(0, len(lines), 2):
            rows = [[None if cell == "-" else cell for cell in line.split()] for line in lines[start:][:2]]
            yield Block({position: [row[position] for row in rows] for position in used})

    return Table(header.split(), blocks)


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setitem(FORMATS, ".words", read_words)
    (tmp_path / "votes.words").write_text(TEXT)
    return tmp_path / "votes.words"


def test_votes_labels_and_groups(path):
    found = read_votes(path, label="truth", group="where")
    expected = Ballots.from_votes(VOTES, TRUTH)
    assert found.voters == ("ann", "bob")
    assert found.groups.tolist() == ["eu", "us", "us", "eu"]
    assert found.ballots.codes.tolist() == expected.codes.tolist()
    assert found.ballots.labels.tolist() == expected.labels.tolist()
    assert found.ballots.classes.tolist() == ["no", "yes"]


def test_new_votes(path):
    codes = read_new_votes(path, ["no", "yes"], Layout(voters=("bob", "ann"))).votes
    assert codes.tolist() == [[0, 1], [2, 0], [1, 1], [0, 0]]


def test_blocks_of_a_folder(path):
    path.write_text(TEXT.replace(" where", "").replace(" eu", "").replace(" us", ""))
    found = read_ballots(path.parent, "truth")
    expected = Ballots.from_votes(VOTES, TRUTH, compress=True)
    assert np.array_equal(found.codes, expected.codes)
    assert np.array_equal(found.counts, expected.counts)


def test_what_is_wrong_names_the_file_and_the_column(path):
    with pytest.raises(ValueError, match=r"votes\.words: row 2 .* has no group in column 'bob'"):
        read_votes(path, label="truth", group="bob")
    with pytest.raises(ValueError, match=r"votes\.words: column 'where' holds labels .*: 'eu', 'us'"):
        read_votes(path, label="truth", classes=["no", "yes"])

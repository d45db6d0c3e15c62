"""No label is mistaken for a missing vote and no row is lost, around the numbers where bytes run out."""

from __future__ import annotations

import io

import numpy as np
import pytest

from votecert.rows.ballots import Ballots
from votecert.rows.files import delimited
from votecert.rows.files.read import read_votes

AROUND_A_BYTE = (2, 127, 128, 254, 255, 256, 257, 300)


def table(n_labels: int, *, missing: bool = True) -> tuple[list[list], list]:
    """Every label is voted for by both voters and true once; the last rows have missing votes."""
    names = [f"label {number:03}" for number in range(n_labels)]
    votes = [[name, names[number - 1]] for number, name in enumerate(names)]
    extra = [[None, names[-1]], [names[0], None]] if missing else []
    return votes + extra, names + [names[-1], names[0]][: len(extra)]


def decoded(ballots: Ballots) -> tuple[list[list], list]:
    names = [*ballots.classes.tolist(), None]
    order = ballots.pattern_of_row
    votes = [[names[code] for code in ballots.codes[pattern]] for pattern in order]
    return votes, [names[label] for label in ballots.labels[order]]


def as_text(votes: list[list], truth: list, quote: str = "") -> bytes:
    lines = ["a,b,truth"]
    for row, label in zip(votes, truth, strict=True):
        lines.append(",".join(f"{quote}{'' if cell is None else cell}{quote}" for cell in (*row, label)))
    return "\n".join(lines).encode()


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("n_labels", AROUND_A_BYTE)
def test_text_files(n_labels, missing, quote):
    votes, truth = table(n_labels, missing=missing)
    found = read_votes(io.BytesIO(as_text(votes, truth, quote)), label="truth", validate=False).ballots
    assert decoded(found) == (votes, truth)
    assert found.can_abstain == missing


@pytest.mark.parametrize("quote", ["", '"'])
def test_text_files_in_many_blocks(monkeypatch, quote):
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 97)
    votes, truth = table(260)
    found = read_votes(io.BytesIO(as_text(votes, truth, quote)), label="truth", validate=False).ballots
    assert decoded(found) == (votes, truth)


@pytest.mark.parametrize("kind", ["text", "numbers", "floats", "masked"])
@pytest.mark.parametrize("n_labels", AROUND_A_BYTE)
def test_votes_in_memory(n_labels, kind):
    votes, truth = table(n_labels)
    given, y = votes, truth
    if kind != "text":
        numbers = {name: 7 * number for number, name in enumerate(truth[:n_labels])} | {None: None}
        votes, truth = [[numbers[cell] for cell in row] for row in votes], [numbers[label] for label in truth]
        filled = np.array([[np.nan if cell is None else cell for cell in row] for row in votes])
        given, y = votes, truth
        if kind == "floats":
            given = filled
        elif kind == "masked":
            given = np.ma.array(np.nan_to_num(filled).astype(int), mask=np.isnan(filled))
    assert decoded(Ballots.from_votes(given, y)) == (votes, truth)

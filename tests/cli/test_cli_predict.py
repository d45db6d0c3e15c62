"""``predict``: the certified vote on new rows."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from jury_file import ROWS

import votecert as vc
from votecert.rows.files.read import read_votes


@pytest.fixture
def certificate(invoke, votes, tmp_path):
    assert invoke("certify", votes, *ROWS, "--json", "c.json").exit_code == 0
    return vc.Certificate.from_json((tmp_path / "c.json").read_text())


def test_labels_are_those_of_python_in_the_order_of_the_rows(run, invoke, votes, certificate, tmp_path):
    found = read_votes(tmp_path / votes, label="human", ignore=["question,region"])
    labels = np.array([*found.ballots.classes.tolist(), None], dtype=object)
    said = labels[found.ballots.codes[found.ballots.pattern_of_row]]
    expected = certificate.predict(said).tolist()
    code, out, err = run("predict", "c.json", votes)
    assert code == 0, err
    assert out.splitlines() == ["prediction", *expected]
    assert f"400 rows: {max(set(expected), key=expected.count)} " in err
    lines = [line.split(",") for line in (tmp_path / votes).read_text().splitlines()]
    (tmp_path / "turned.csv").write_text("\n".join(",".join(reversed(line[:-1])) for line in lines))
    done = invoke("predict", "c.json", "turned.csv", "--output", "labels.csv", "--quiet")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "labels.csv").read_text().splitlines() == ["prediction", *expected]


def test_standard_input_without_a_header(invoke, certificate):
    done = invoke(
        "predict", "c.json", "-", "--no-header", "--ignore", "0", stdin="1,bad,bad,\n2,good,good,bad\n"
    )
    assert done.stdout.splitlines() == ["prediction", "bad", "good"]


def test_labels_with_commas_are_quoted(invoke, tmp_path):
    lines = [["a", "b", "truth"], *[["x, y", "x, y", "x, y"], ["z", "z", "z"]] * 50]
    with (tmp_path / "v.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    assert invoke("certify", "v.csv", "--label", "truth", "--json", "c.json").exit_code == 0
    out = invoke("predict", "c.json", "v.csv").stdout
    assert list(csv.reader(out.splitlines()))[:3] == [["prediction"], ["x, y"], ["z"]]


def test_labels_are_written_as_they_are_read(invoke, tmp_path):
    """Escape sequences and all; whoever opens formulas in a spreadsheet is warned."""
    odd = ["\x1b[31mred\x1b[0m", "=1+1", "-", "plain"]
    lines = [["a", "b", "truth"], *([label] * 3 for label in odd * 30)]
    with (tmp_path / "v.csv").open("w", newline="") as file:
        csv.writer(file).writerows(lines)
    assert invoke("certify", "v.csv", "--label", "truth", "--weights", "uniform", "--json", "c.json")[0] == 0
    code, out, err = invoke("predict", "c.json", "v.csv")
    assert code == 0, err
    assert [row for (row,) in csv.reader(out.splitlines())] == ["prediction", *odd * 30]
    assert "Note: a spreadsheet would run labels such as '-' as formulas" in err
    assert "\x1b" not in err
    (tmp_path / "v.csv").write_text(
        (tmp_path / "v.csv").read_text().replace("=1+1", "sum").replace("-", "minus")
    )
    assert invoke("certify", "v.csv", "--label", "truth", "--weights", "uniform", "--json", "c.json")[0] == 0
    assert "spreadsheet" not in invoke("predict", "c.json", "v.csv")[2]


def test_head_start_and_fallback_are_in_force(invoke, tmp_path):
    """The two voters are tied unless the class comes first; it does with a vote of its own."""
    lines = ["a,b,truth", *["yes,no,yes"] * 150, *["no,no,no"] * 60, *["no,yes,yes"] * 190]
    (tmp_path / "v.csv").write_text("\n".join(lines))
    options = ("--label", "truth", "--can-abstain", "--fallback", "yes", "--json", "c.json")
    assert invoke("certify", "v.csv", *options).exit_code == 0
    certificate = vc.Certificate.from_json((tmp_path / "c.json").read_text())
    assert any(certificate.offsets)
    (tmp_path / "new.csv").write_text("a,b\nyes,no\nno,no\n,\n")
    expected = certificate.predict([["yes", "no"], ["no", "no"], [None, None]]).tolist()
    assert expected == ["yes", "no", "yes"]
    assert invoke("predict", "c.json", "new.csv").stdout.split() == ["prediction", *expected]
    plain = invoke("certify", "v.csv", "--label", "truth", "--weights", "uniform", *options[2:], "--quiet")
    assert plain.exit_code == 0
    assert invoke("predict", "c.json", "new.csv").stdout.split() == ["prediction", "no", "no", "yes"]


@pytest.mark.parametrize("forged", [False, True])
def test_an_edited_certificate_predicts_nothing(invoke, votes, certificate, tmp_path, forged):
    if forged:  # sound but for the number
        text = replace(certificate, risk=certificate.risk / 2).to_json()
    else:
        text = certificate.to_json().replace('"delta": 0.05', '"delta": 0.01')
    assert text != certificate.to_json()
    (tmp_path / "c.json").write_text(text)
    done = invoke("predict", "c.json", votes, "--output", "labels.csv")
    assert (done.exit_code, done.stdout) == (3, "")
    assert not (tmp_path / "labels.csv").exists()


def test_groups_share_their_vote_and_bounds_may_not(invoke, votes, tmp_path):
    rows = ("--label", "human", "--ignore", "question", "--group", "region")
    assert invoke("certify", votes, *rows, "--json", "groups.json").exit_code == 0
    assert len(invoke("predict", "groups.json", votes).stdout.splitlines()) == 401
    assert invoke("compare", votes, *ROWS, "--weights", "learn", "--json", "all.json").exit_code == 0
    listed = json.loads((tmp_path / "all.json").read_text())
    one = json.loads(vc.certify([[0, 1, 1], [1, 1, 0]] * 40, [0, 1] * 40).to_json())
    (tmp_path / "mixed.json").write_text(json.dumps([listed[0], one]))
    done = invoke("predict", "mixed.json", votes)
    assert done.exit_code == 2
    assert "several votes" in done.stderr


def test_soft_votes_are_for_python(invoke, votes, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    scores = np.stack([np.stack([1 - y, y], axis=1)] * 2, axis=1).astype(float)
    (tmp_path / "soft.json").write_text(vc.certify(None, y, scores=scores).to_json())
    done = invoke("predict", "soft.json", votes)
    assert done.exit_code == 2
    assert "Certificate.predict in Python" in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("alice,bob\nbad,bad\n", "no column for the voter 'carol'"),
        ("alice,bob,carol\nbad,bad,ugly\n", "'carol' holds labels that are not among the classes of the"),
        ("", "is empty"),
    ],
)
def test_rows_that_do_not_fit(invoke, certificate, tmp_path, text, words):
    (tmp_path / "new.csv").write_text(text)
    done = invoke("predict", "c.json", "new.csv", "--output", "labels.csv")
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (tmp_path / "labels.csv").exists()

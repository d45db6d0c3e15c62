"""``verify``, ``report``, ``bounds``, ``plan``."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from jury_file import ROWS

import votecert as vc
from votecert.certificate.record import digest


@pytest.fixture
def certificate(invoke, votes, tmp_path) -> dict[str, Any]:
    assert invoke("certify", votes, *ROWS, "--json", "c.json").exit_code == 0
    return json.loads((tmp_path / "c.json").read_text())


def test_verify_from_the_statistics_and_from_the_rows(invoke, votes, certificate):
    done = invoke("verify", "c.json")
    assert done.exit_code == 0
    assert "verifies: recomputed with 40 digits" in done.stdout
    done = invoke("verify", "c.json", votes, *ROWS)
    assert done.exit_code == 0, done.stderr
    assert "recounted from the rows" in done.stdout
    done = invoke("verify", "c.json", "--quiet")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")


def test_columns_are_found_by_the_names_of_the_voters(invoke, votes, certificate, tmp_path):
    lines = [line.split(",") for line in (tmp_path / votes).read_text().splitlines()]
    (tmp_path / "turned.csv").write_text("\n".join(",".join(reversed(line)) for line in lines))
    done = invoke("verify", "c.json", "turned.csv", *ROWS)
    assert done.exit_code == 0, done.stderr
    assert "recounted from the rows" in done.stdout
    invoke("report", "c.json", "turned.csv", *ROWS, "--html", "turned.html")
    invoke("report", "c.json", votes, *ROWS, "--html", "plain.html")
    assert (tmp_path / "turned.html").read_text() == (tmp_path / "plain.html").read_text()
    lines[0][1:4] = ["alice", "bob", "dora"]
    (tmp_path / "other.csv").write_text("\n".join(map(",".join, lines)))
    done = invoke("verify", "c.json", "other.csv", *ROWS)
    assert done.exit_code == 2
    assert "no column for the voter 'carol'" in done.stderr
    (tmp_path / "more.csv").write_text(
        "dora,human,region,carol,bob,alice,question\n"
        + "\n".join(",".join([line[1], *reversed(line)]) for line in lines[1:])
    )
    done = invoke("verify", "c.json", "more.csv", "--label", "human")  # --ignore is not needed again
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("weight", [1e308, float("nan"), 2**64])
def test_bad_certificates_do_not_warn(invoke, votes, tmp_path, weight):
    """Signed by somebody who knows how: the verdict is told, and nothing else."""
    options = ("--weights", "uniform", "--bound", "fo", "--json", "c.json")
    assert invoke("certify", votes, *ROWS, *options).exit_code == 0
    content = json.loads((tmp_path / "c.json").read_text())
    content["terms"]["weights"][0] = weight
    content["digest"] = digest(content)
    (tmp_path / "c.json").write_text(json.dumps(content))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        done = invoke("verify", "c.json")
    assert (done.exit_code, done.stdout, warned) == (3, "", [])
    assert len(done.stderr.splitlines()) == 1


def test_verify_with_other_rows(invoke, votes, certificate, tmp_path):
    lines = (tmp_path / votes).read_text().splitlines()
    lines[1] = ",".join(
        "bad" if cell == "good" else "good" if cell == "bad" else cell for cell in lines[1].split(",")
    )
    flipped = lines[1].rsplit(",", 1)
    lines[1] = flipped[0] + "," + ("good" if flipped[1] == "bad" else "bad")
    (tmp_path / "other.csv").write_text("\n".join(lines))
    done = invoke("verify", "c.json", "other.csv", *ROWS)
    assert done.exit_code == 3
    assert "on these rows" in done.stderr
    (tmp_path / "fewer.csv").write_text("\n".join(lines[:-1]))
    assert invoke("verify", "c.json", "fewer.csv", *ROWS).exit_code == 3


def leaves(content: Any, path: tuple = ()) -> Iterator[tuple]:
    """The paths to all values in nested JSON."""
    if isinstance(content, dict | list) and content:
        for key in content if isinstance(content, dict) else range(len(content)):
            yield from leaves(content[key], (*path, key))
    else:
        yield path


def edited(value: Any) -> list[Any]:
    """Values that somebody may put instead."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value * 0.5 + 0.001, "many"]
    if isinstance(value, str):
        return [value + " ", 7]
    return [1]


def test_whichever_field_is_edited_it_does_not_verify(invoke, certificate, tmp_path):
    for path in leaves(certificate):
        for value in edited(_at(certificate, path)):
            changed = copy.deepcopy(certificate)
            _at(changed, path[:-1])[path[-1]] = value
            (tmp_path / "t.json").write_text(json.dumps(changed))
            done = invoke("verify", "t.json")
            assert done.exit_code == 3, (path, value, done.stdout)
            assert "does not verify" in done.stderr


def test_whichever_field_is_removed_or_added_it_does_not_verify(invoke, certificate, tmp_path):
    for name in certificate:
        changed = {key: value for key, value in certificate.items() if key != name}
        (tmp_path / "t.json").write_text(json.dumps(changed))
        assert invoke("verify", "t.json").exit_code == 3, name
    (tmp_path / "t.json").write_text(json.dumps(certificate | {"risk_in_truth": 0.0}))
    assert invoke("verify", "t.json").exit_code == 3
    (tmp_path / "t.json").write_text(json.dumps([certificate, certificate | {"risk": 0.0}]))
    assert invoke("verify", "t.json").exit_code == 3


def test_a_new_digest_does_not_help(invoke, certificate, tmp_path):
    """Whoever lowers the risk and signs again is found out by the arithmetic."""
    from votecert.certificate.record import digest

    for path, value in ((("risk",), 0.01), (("terms", "n_rows"), 4000), (("terms", "delta"), 0.9)):
        changed = copy.deepcopy(certificate)
        _at(changed, path[:-1])[path[-1]] = value
        changed["digest"] = digest(changed)
        (tmp_path / "t.json").write_text(json.dumps(changed))
        assert invoke("verify", "t.json").exit_code == 3, path


def _at(content: Any, path: tuple) -> Any:
    for key in path:
        content = content[key]
    return content


@pytest.mark.parametrize(
    ("text", "code"), [("", 2), ("{", 2), ("[" * 100_000, 2), ("[]", 2), ("{}", 3), ("7", 3), ("[null]", 3)]
)
def test_what_is_no_certificate(invoke, tmp_path, text, code):
    (tmp_path / "t.json").write_text(text)
    for command in ("verify", "report"):
        done = invoke(command, "t.json")
        assert done.exit_code == code
        assert "t.json" in done.stderr


def test_reports(invoke, votes, certificate, tmp_path):
    done = invoke("report", "c.json", votes, *ROWS, "--title", "Jury")
    assert done.exit_code == 0, done.stderr
    with_rows = (tmp_path / "votecert-report.html").read_text()
    assert "Jury" in with_rows
    invoke("report", "c.json", "--html", "short.html")
    assert len((tmp_path / "short.html").read_text()) < len(with_rows)


def test_model_cards(invoke, certificate, tmp_path):
    done = invoke("report", "c.json", "--markdown", "-")
    assert done.exit_code == 0
    assert done.stdout.startswith("## Risk certificate")
    invoke("report", "c.json", "--markdown", "card.md")
    assert (tmp_path / "card.md").read_text() == done.stdout
    assert not (tmp_path / "votecert-report.html").exists()


def test_no_report_on_an_edited_certificate(invoke, certificate, tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(certificate | {"risk": 0.001}))
    assert invoke("report", "t.json").exit_code == 3
    assert not (tmp_path / "votecert-report.html").exists()


def test_a_report_on_one_of_several_bounds(invoke, votes, tmp_path):
    invoke("compare", votes, *ROWS, "--json", "all.json")
    done = invoke("report", "all.json")
    assert done.exit_code == 2
    assert "choose one with --bound" in done.stderr
    assert invoke("report", "all.json", "--bound", "so").exit_code == 0


def test_groups_need_their_column(invoke, votes, tmp_path):
    rows = ("--label", "human", "--ignore", "question")
    invoke("certify", votes, *rows, "--group", "region", "--json", "g.json")
    done = invoke("verify", "g.json", votes, *rows)
    assert done.exit_code == 2
    assert "--group" in done.stderr
    assert invoke("report", "g.json").exit_code == 0
    short = (tmp_path / "votecert-report.html").read_text()
    assert "How clear the votes are" not in short
    done = invoke("report", "g.json", votes, *rows, "--group", "region")
    assert done.exit_code == 0, done.stderr
    html = (tmp_path / "votecert-report.html").read_text()
    assert "How clear the votes are" in html
    assert "Group by group" in html


def test_bounds(invoke):
    done = invoke("bounds")
    assert done.exit_code == 0
    for name, bound in vc.BOUNDS.items():
        assert name in done.stdout
        one = invoke("bounds", name)
        assert bound.title in " ".join(one.stdout.split())  # a long title may be wrapped
        assert "@" in one.stdout
    assert [one["id"] for one in json.loads(invoke("bounds", "--json").stdout)] == list(vc.BOUNDS)
    assert invoke("bounds", "nonsense").exit_code == 2


def test_plan(invoke):
    done = invoke("plan", "--target", 0.05, "--error", 0.03, "--voters", 10, "--fixed")
    assert done.exit_code == 0
    assert "286 labelled rows certify a risk of at most 0.05" in done.stdout
    done = invoke("plan", "-t", 0.05, "-e", 0.03, "-n", 10, "--fixed", "--quiet")
    assert done.stdout == "286\n"
    done = invoke("plan", "--target", 0.03, "--error", 0.05, "--voters", 10)
    assert done.exit_code == 2
    assert "must lie above the expected error" in done.stderr


def test_a_report_by_a_bound_that_is_not_there(invoke, certificate):
    done = invoke("report", "c.json", "--bound", "fo")
    assert done.exit_code == 2
    assert "holds no certificate by the bound 'fo'" in done.stderr


def test_rows_that_a_report_does_not_show_are_named(invoke, votes, certificate):
    done = invoke("report", "c.json", votes, *ROWS, "--markdown", "card.md")
    assert "votes.csv was not read" in done.stderr


def test_clusters_need_their_column(invoke, votes):
    rows = ["--label", "human", "--ignore", "region"]
    assert not invoke("certify", votes, *rows, "--cluster", "question", "--json", "one.json").exit_code
    assert not invoke("verify", "one.json", votes, *rows, "--cluster", "question").exit_code
    rows = ["--label", "human", "--item", "question"]
    fixed = ["--weights", "uniform", "--json", "by.json"]
    assert not invoke("certify", votes, *rows, "--cluster", "region", *fixed).exit_code
    assert not invoke("verify", "by.json", votes, *rows, "--cluster", "region").exit_code
    done = invoke("verify", "by.json", votes, *rows)
    assert (done.exit_code, "--cluster" in done.stderr) == (2, True)
    done = invoke("verify", "by.json", votes, *rows, "--cluster", "region", "--group", "region")
    assert (done.exit_code, "do not go together" in done.stderr) == (2, True)


def test_clusters_that_were_not_certified(invoke, votes, certificate):
    done = invoke("verify", "c.json", votes, *ROWS, "--cluster", "region")
    assert (done.exit_code, "leave --cluster out" in done.stderr) == (2, True)


def test_one_bound_as_json(invoke):
    (only,) = json.loads(invoke("bounds", "occam", "--json").stdout)
    assert only["id"] == "occam"


def test_messages_name_options_of_the_command_line(invoke, tmp_path):
    """Equal judges: learning finds nothing better than the plain vote, and says so."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=600)
    votes = np.where(rng.random((600, 5)) < (0.9, 0.85, 0.8, 0.75, 0.7), truth[:, None], 1 - truth[:, None])
    lines = [",".join(map(str, row)) for row in np.column_stack([votes, truth])]
    (tmp_path / "plain.csv").write_text("\n".join(["a,b,c,d,e,y", *lines]) + "\n")
    done = invoke("certify", "plain.csv", "--label", "y")
    assert "--weights uniform is the better choice" in done.stderr
    assert "weights='uniform'" not in done.stderr

"""``certify``, ``compare`` and ``learn``."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from jury_file import ROWS, jury

import votecert as vc
from votecert.rows.files.read import read_votes


def expected(tmp_path) -> vc.Certificate:
    found = read_votes(tmp_path / "votes.csv", label="human", ignore=["question", "region"])
    return vc.certify(found.ballots, voters=found.voters)


def test_the_certificate_is_the_library_s(invoke, votes, tmp_path):
    done = invoke("certify", votes, *ROWS, "--json", "certificate.json")
    assert done.exit_code == 0, done.stderr
    text = (tmp_path / "certificate.json").read_text()
    assert vc.Certificate.from_json(text) == expected(tmp_path)
    assert text == expected(tmp_path).to_json()
    assert vc.Certificate.from_json(text).voters == ("alice", "bob", "carol")
    assert "at most" in done.stdout
    assert "With confidence 95 %" in done.stdout
    assert "400 rows, 3 voters, 2 classes" in done.stderr
    assert "missing votes (abstentions)" in done.stderr
    assert "Wrote certificate.json" in done.stderr


def test_data_and_messages_do_not_mix(invoke, votes, tmp_path):
    done = invoke("certify", votes, *ROWS, "--json", "-")
    assert done.exit_code == 0
    assert done.stdout == expected(tmp_path).to_json()
    assert "400 rows" in done.stderr


def test_quiet_prints_the_number_alone(invoke, votes, tmp_path):
    done = invoke("certify", votes, *ROWS, "--quiet")
    assert done.stderr == ""
    number = float(done.stdout)
    assert number - 1e-4 < expected(tmp_path).risk <= number


@pytest.mark.parametrize(("limit", "code"), [("0.3", 0), ("1", 0), ("0.01", 1), ("0", 1)])
def test_the_gate(invoke, votes, tmp_path, limit, code):
    done = invoke(
        "certify", votes, *ROWS, "--max-risk", limit, "--json", "certificate.json", "--html", "a.html"
    )
    assert done.exit_code == code
    assert ('class="limit broken"' in (tmp_path / "a.html").read_text("utf-8")) == bool(code)
    assert (tmp_path / "certificate.json").exists()
    assert (f"above --max-risk {limit}" in done.stderr) == bool(code)


def test_the_gate_compares_the_exact_number(invoke, votes, tmp_path):
    risk = expected(tmp_path).risk
    assert invoke("certify", votes, *ROWS, "--max-risk", repr(risk)).exit_code == 0
    assert invoke("certify", votes, *ROWS, "--max-risk", repr(float(np.nextafter(risk, 0)))).exit_code == 1


def test_the_gate_needs_a_guarantee(invoke, tmp_path):
    (tmp_path / "v.csv").write_text("a,b,y\n" + "0,0,0\n1,1,1\n" * 500)
    options = ("--weights", "uniform", "--bound", "gz", "--max-risk", "0.9")
    done = invoke("certify", "v.csv", "--label", "y", *options)
    assert done.exit_code == 2
    assert "needs a guarantee" in done.stderr


def test_groups_hold_together_and_the_worst_is_gated(invoke, votes, tmp_path):
    options = ("--label", "human", "--ignore", "question", "--group", "region")
    done = invoke("certify", votes, *options, "--json", "groups.json", "--html", "groups.html")
    assert done.exit_code == 0, done.stderr
    listed = json.loads((tmp_path / "groups.json").read_text())
    assert [one["group"] for one in listed] == ["eu", "us"]
    assert [one["delta"] for one in listed] == [0.025, 0.025]
    assert "They hold together with 95 % confidence" in done.stdout
    html = (tmp_path / "groups.html").read_text()
    for heading in ("Group by group", "How clear the votes are", "What other bounds say"):
        assert heading in html
    risks = sorted(one["risk"] for one in listed)
    gated = invoke("certify", votes, *options, "--max-risk", sum(risks) / 2)
    assert gated.exit_code == 1
    assert "of group" in gated.stderr
    again = invoke("verify", "groups.json", votes, *options)
    assert again.exit_code == 0, again.stderr
    assert again.stdout.count("statistics recounted from the rows") == 2


def test_uniform_weights_get_the_test_set_bound(invoke, votes, tmp_path):
    invoke("certify", votes, *ROWS, "--weights", "uniform", "--json", "c.json")
    content = json.loads((tmp_path / "c.json").read_text())
    assert (content["bound"], content["origin"]) == ("test-set", "fixed")


def test_weights_from_learn_go_back_into_certify(invoke, votes, tmp_path):
    done = invoke("learn", votes, *ROWS, "--objective", "f2", "--output", "w.csv", "--json", "w.json")
    assert done.exit_code == 0, done.stderr
    assert "alice" in done.stdout
    found = json.loads((tmp_path / "w.json").read_text())
    assert found["objective"] == "f2"
    assert found["voters"] == ["alice", "bob", "carol"]
    for name in ("w.csv", "w.json"):
        again = invoke("certify", votes, *ROWS, "--weights", name, "--bound", "f2", "--json", "c.json")
        assert again.exit_code == 0, again.stderr
        content = json.loads((tmp_path / "c.json").read_text())
        assert content["origin"] == "given"
        assert content["terms"]["weights"] == pytest.approx(found["weights"], abs=1e-12)
        assert content["risk"] == pytest.approx(found["risk"], abs=1e-6)


def test_weights_that_were_fixed_in_advance(invoke, votes, tmp_path):
    (tmp_path / "w.csv").write_text("voter,weight\nalice,2\nbob,1\ncarol,1\n")
    options = (*ROWS, "--weights", "w.csv", "--json", "c.json")
    risks = {}
    for said in ((), ("--fixed-in-advance",)):
        assert invoke("certify", votes, *options, *said).exit_code == 0
        content = json.loads((tmp_path / "c.json").read_text())
        risks[content["origin"], content["bound"]] = content["risk"]
    assert risks["fixed", "test-set"] < risks["given", "dirichlet"]
    done = invoke("certify", votes, *options, "--bound", "test-set", "--max-risk", 0.9)
    assert done.exit_code == 2
    assert "needs a guarantee" in done.stderr
    done = invoke("compare", votes, *ROWS, "--weights", "w.csv")
    assert "say --fixed-in-advance if these were" in " ".join(done.stdout.split())
    done = invoke("certify", votes, *ROWS, "--fixed-in-advance")
    assert done.exit_code == 2
    assert "cannot be --fixed-in-advance" in done.stderr


def test_learning_options_reach_the_library(invoke, votes, tmp_path):
    done = invoke(
        "certify", votes, *ROWS, "--seed", 3, "--split", 0.5, "--time-budget", 5, "--json", "c.json"
    )
    assert done.exit_code == 0, done.stderr
    choice = json.loads((tmp_path / "c.json").read_text())["terms"]["choice"]
    assert (choice["seed"], choice["split"]) == (3, 0.5)


def test_learn_says_that_weights_leave_the_offsets_out(invoke, tmp_path):
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.9).astype(int)
    rows = "".join(f"{a},{b},{c}\n" for a, b, c in zip(*rng.integers(2, size=(2, 300)), y, strict=True))
    (tmp_path / "v.csv").write_text("a,b,y\n" + rows)
    done = invoke("learn", "v.csv", "--label", "y", "--output", "w.csv", "--split", "0")
    assert done.exit_code == 0, done.stderr
    assert "always 1" in done.stdout
    assert "offsets for some classes" in " ".join(done.stderr.split())


def test_compare_lists_every_bound(invoke, votes, tmp_path):
    done = invoke("compare", votes, *ROWS, "--json", "all.json")
    assert done.exit_code == 0, done.stderr
    assert "picking the smallest afterwards would not be covered" in " ".join(done.stdout.split())
    for name in vc.BOUNDS:
        assert f" {name} " in done.stdout
    listed = json.loads((tmp_path / "all.json").read_text())
    assert {one["bound"] for one in listed} < set(vc.BOUNDS)
    assert invoke("verify", "all.json").exit_code == 0


def test_compare_some_bounds_simultaneously(invoke, votes):
    done = invoke("compare", votes, *ROWS, "--bounds", "fo, so", "--simultaneous", "--json", "-")
    assert [(one["bound"], one["delta"]) for one in json.loads(done.stdout)] == [("fo", 0.025), ("so", 0.025)]


def test_stdin_tab_separated_and_without_header(invoke):
    lines = jury().splitlines()[1:]
    text = "\n".join(line.replace(",", "\t") for line in lines)
    done = invoke(
        *("certify", "-", "--label", "-1", "--ignore", 0, "--ignore", 4, "--no-header", "--quiet"), stdin=text
    )
    assert done.exit_code == 0, done.stderr
    assert 0 < float(done.stdout) < 0.3


def test_declared_classes_and_fallback(invoke, votes, tmp_path):
    options = ("--classes", "good,bad,broken", "--fallback", "good", "--json", "c.json")
    done = invoke("certify", votes, *ROWS, *options)
    assert done.exit_code == 0, done.stderr
    content = json.loads((tmp_path / "c.json").read_text())
    assert content["classes"] == ["good", "bad", "broken"]
    assert content["terms"]["choice"]["fallback"] == 0
    assert content["classes_declared"]


def test_html_holds_the_rows_and_the_comparison(invoke, votes, tmp_path):
    done = invoke("certify", votes, *ROWS, "--html", "r.html", "--title", "Jury <1>")
    assert done.exit_code == 0, done.stderr
    html = (tmp_path / "r.html").read_text()
    assert "Jury &lt;1&gt;" in html
    assert "alice" in html
    assert "dirichlet" in html


def test_columns_that_are_no_voters_are_pointed_out(invoke, votes):
    done = invoke("certify", votes, "--label", "human", "--weights", "uniform")
    assert done.exit_code == 2
    assert "--ignore question" in done.stderr
    done = invoke("certify", votes, "--label", "human", "--weights", "uniform", "--ignore", "question")
    assert done.exit_code == 2
    assert "--ignore region" in done.stderr


def test_names_cannot_talk_to_the_terminal(invoke, tmp_path):
    rows = "0,0,0\n1,1,1\n" * 50
    (tmp_path / "v.csv").write_text("[bold red]a,\x1b[2Jb,y\n" + rows)
    done = invoke("learn", "v.csv", "--label", "y")
    assert done.exit_code == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "[bold red]a" in done.stdout


def test_a_hundred_thousand_rows(invoke, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100_000)
    votes = np.where(rng.random((100_000, 5)) < 0.8, y[:, None], 1 - y[:, None])
    np.savetxt(tmp_path / "v.csv", np.column_stack([votes, y]), "%d", ",", header="a,b,c,d,e,y", comments="")
    done = invoke("certify", "v.csv", "--label", "y", "--json", "-", "--quiet")
    content = json.loads(done.stdout)
    assert content["terms"]["n_rows"] == 100_000
    wrong = np.count_nonzero((votes.sum(axis=1) > 2) != y)
    assert wrong / 100_000 <= content["risk"] < wrong / 100_000 + 0.01
    assert os.listdir(tmp_path) == ["v.csv"]


def test_a_confidence_in_place_of_delta_is_noticed(invoke, votes):
    done = invoke("certify", votes, *ROWS, "--delta", "0.95")
    assert done.exit_code == 0
    assert "a confidence of 5 % only" in done.stderr
    assert "give --delta 0.05" in done.stderr
    assert "confidence of" not in invoke("certify", votes, *ROWS, "--delta", "0.05").stderr


def test_few_voters_are_listed_with_their_votes(invoke, votes, tmp_path):
    done = invoke("certify", votes, *ROWS, "--split", "0", "--json", "c.json")
    vote = json.loads((tmp_path / "c.json").read_text())["terms"]["choice"]["votes"]
    said = ", ".join(f"{name} {n}" for name, n in zip(("alice", "bob", "carol"), vote, strict=True))
    assert f"learned: {said}" in done.stdout
    (tmp_path / "w.csv").write_text("carol,0.2\nbob,0.3\nalice,0.5\n")
    given = invoke("certify", votes, *ROWS, "--weights", "w.csv").stdout
    assert "given: alice 50 %, bob 30 %, carol 20 %" in given


def test_offsets_and_answers_of_their_own_are_said(invoke, tmp_path):
    """The two voters are tied unless the class comes first; it does with a vote of its own."""
    lines = ["ann,bob,truth", *["yes,no,yes"] * 150, *["no,no,no"] * 60, *["no,yes,yes"] * 190]
    (tmp_path / "v.csv").write_text("\n".join(lines))
    fitted = invoke("certify", "v.csv", "--label", "truth").stdout
    assert "each answer has votes of its own" in fitted
    assert "ann" in fitted
    out = invoke("certify", "v.csv", "--label", "truth", "--split", "0", "--json", "c.json").stdout
    offsets = json.loads((tmp_path / "c.json").read_text())["terms"]["choice"]["offsets"]
    assert offsets[1] > offsets[0] == 0
    assert f"offsets yes {offsets[1]}" in out


def test_next_to_no_weight_on_a_voter(invoke, votes, tmp_path):
    (tmp_path / "weights.csv").write_text("alice,1e-260\nbob,1\ncarol,0.5\n")
    done = invoke("certify", votes, *ROWS, "--weights", "weights.csv", "--max-risk", "1")
    assert done.exit_code == 0, done.stderr

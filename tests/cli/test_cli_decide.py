"""``triage`` and ``versus``, and what ``predict``, ``verify`` and ``report`` make of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from jury_file import ROWS, jury

import votecert as vc
from votecert.rows.files.read import read_votes


def test_triage_is_the_library_s_and_can_be_verified_reported_and_used(invoke, votes, tmp_path):
    done = invoke(
        "triage", votes, *ROWS, "--max-risk", "0.08", "--json", "triage.json", "--html", "report.html"
    )
    assert done.exit_code == 0, done.stderr
    found = read_votes(tmp_path / "votes.csv", label="human", ignore=["question", "region"])
    expected = vc.triage(found.ballots, max_risk=0.08, voters=found.voters)
    assert (tmp_path / "triage.json").read_text() == expected.to_json()
    assert "errs on at most 8.00 %" in " ".join(done.stdout.split())
    assert 'type="range"' in (tmp_path / "report.html").read_text()
    checked = invoke("verify", "triage.json", votes, *ROWS)
    assert checked.exit_code == 0, checked.stderr
    assert "recounted from the rows" in checked.stdout
    card = invoke("report", "triage.json", "--markdown", "-")
    assert card.stdout == expected.to_markdown()
    assert invoke("report", "triage.json", "--html", "again.html").exit_code == 0
    predicted = invoke("predict", "triage.json", votes, "--output", "labels.csv")
    assert predicted.exit_code == 0, predicted.stderr
    with (tmp_path / "labels.csv").open() as stream:
        labels = [row["prediction"] for row in csv.DictReader(stream)]
    assert len(labels) == 400
    decided = expected.decide_codes(found.ballots.codes)[found.ballots.pattern_of_row]
    assert labels == ["" if label is None else label for label in decided]
    assert (f"handed over {labels.count('')}" in predicted.stderr) == ("" in labels)


def test_nothing_to_answer_is_exit_code_1(invoke, votes, tmp_path):
    done = invoke(
        "triage", votes, *ROWS, "--max-risk", "0.001", "--json", "triage.json", "--weights", "uniform"
    )
    assert done.exit_code == 1
    assert "Nothing can be answered with a risk of 0.100 %" in done.stderr
    assert json.loads((tmp_path / "triage.json").read_text())["threshold"] is None
    quiet = invoke("triage", votes, *ROWS, "--max-risk", "0.2", "--weights", "uniform", "--quiet")
    assert quiet.exit_code == 0
    assert 0 < float(quiet.stdout) < 1


def test_forged_triage_is_not_used(invoke, votes, tmp_path):
    invoke("triage", votes, *ROWS, "--json", "triage.json", "--max-risk", "0.2")
    content = json.loads((tmp_path / "triage.json").read_text())
    content["max_risk"] = 0.01
    (tmp_path / "forged.json").write_text(json.dumps(content))
    for command in (("verify", "forged.json"), ("predict", "forged.json", votes), ("report", "forged.json")):
        done = invoke(*command)
        assert done.exit_code == 3
        assert "edited" in done.stderr


def test_options_are_passed_on(invoke, votes):
    done = invoke(
        "triage", votes, *ROWS, "--thresholds", "1,0", "--seed", "3", "--split", "0.5", "--json", "-"
    )
    found = vc.Triage.from_json(done.stdout)
    assert (len(found.cuts), found.seed, found.split) == (2, 3, 0.5)
    refused = invoke("triage", votes, *ROWS, "--weights", "uniform", "--seed", "3")
    assert refused.exit_code == 2
    assert "--weights learn" in refused.stderr


def test_versus_compares_columns_votes_and_certificates(invoke, votes, tmp_path):
    done = invoke(
        "versus", votes, *ROWS, "--first", "alice", "--second", "carol", "--json", "difference.json"
    )
    assert done.exit_code == 0, done.stderr
    assert "alice is better than carol" in " ".join(done.stdout.split())
    assert "first - second" in done.stdout
    assert vc.Difference.from_json((tmp_path / "difference.json").read_text()).verify()
    quiet = invoke("versus", votes, *ROWS, "--first", "vote", "--second", "alice", "--quiet")
    lower, upper = map(float, quiet.stdout.split())
    assert lower < 0 < upper
    clustered = invoke(
        "versus",
        votes,
        *("--label", "human", "--ignore", "question", "--cluster", "region"),
        *("--first", "alice", "--second", "carol"),
    )
    assert "which is better is open" in " ".join(clustered.stdout.split())  # there are two regions only
    invoke("certify", votes, *ROWS, "--json", "learned.json", "--classes", "bad,good")
    same = invoke("versus", votes, *ROWS, "--first", "learned.json", "--second", "vote")
    assert same.exit_code == 2
    assert "learned on these very rows" in same.stderr
    (tmp_path / "new.csv").write_text(jury(300, seed=5))
    fresh = invoke("versus", "new.csv", *ROWS, "--first", "learned.json", "--second", "vote")
    assert fresh.exit_code == 0, fresh.stderr
    assert "learned.json" in fresh.stdout


def test_versus_takes_one_vote_a_file(invoke, votes):
    (Path(votes).parent / "weights.json").write_text("[0.503, 0.249, 0.248]")
    made = invoke("compare", votes, *ROWS, "--weights", "weights.json", "--json", "two.json")
    assert made.exit_code == 0, made.stderr
    done = invoke("versus", votes, *ROWS, "--first", "two.json", "--second", "vote")
    assert done.exit_code == 2
    assert "two.json has certificates of" in done.stderr


@pytest.mark.parametrize("who", ["nobody", "triage.json"])
def test_versus_refuses_what_is_no_vote(invoke, votes, who):
    invoke("triage", votes, *ROWS, "--json", "triage.json", "--max-risk", "0.2")
    done = invoke("versus", votes, *ROWS, "--first", who, "--second", "vote")
    assert done.exit_code == 2
    assert "no column of votes" in done.stderr or "takes a certificate" in done.stderr


def test_precision_on_the_command_line(invoke, votes):
    done = invoke(
        "certify", votes, *ROWS, "--group", "predicted", "--weights", "uniform", "--json", "groups.json"
    )
    assert done.exit_code == 0, done.stderr
    checked = invoke("verify", "groups.json", votes, *ROWS, "--group", "predicted")
    assert checked.exit_code == 0, checked.stderr
    assert "test-set, group bad" in checked.stdout


def test_costs_and_clusters(invoke, votes, tmp_path):
    (tmp_path / "costs.csv").write_text("truth,bad,good\nbad,0,10\ngood,1,0\n")
    rows = ("--label", "human", "--ignore", "question")
    done = invoke(
        "certify", votes, *ROWS, "--costs", "costs.csv", "--json", "cost.json", "--html", "cost.html"
    )
    assert done.exit_code == 0, done.stderr
    assert "costs at most" in " ".join(done.stdout.split())
    assert "What each answer costs" in (tmp_path / "cost.html").read_text()
    assert invoke("verify", "cost.json", votes, *ROWS).exit_code == 0
    assert invoke("report", "cost.json", "--markdown", "-").stdout.startswith("## Risk certificate")
    assert invoke("predict", "cost.json", votes).stdout.startswith("prediction")
    clustered = invoke(
        "certify", votes, *rows, "--cluster", "region", "--weights", "uniform", "--json", "c.json"
    )
    assert clustered.exit_code == 0, clustered.stderr
    assert "of a new cluster" in " ".join(clustered.stdout.split())
    checked = invoke("verify", "c.json", votes, *rows, "--cluster", "region")
    assert checked.exit_code == 0, checked.stderr
    gate = invoke("certify", votes, *rows, "--cluster", "region", "--weights", "uniform", "--max-risk", "0.1")
    assert gate.exit_code == 1
    refused = invoke("certify", votes, *ROWS, "--costs", "costs.csv", "--group", "region")
    assert refused.exit_code == 2
    (tmp_path / "bad.csv").write_text("truth,bad,good\nbad,0,ten\ngood,1,0\n")
    assert "must be numbers" in invoke("certify", votes, *ROWS, "--costs", "bad.csv").stderr

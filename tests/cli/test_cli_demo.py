"""``demo``: everything at once, without arguments."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

import votecert as vc
from votecert.cli.demo import train
from votecert.datasets import load


def test_no_arguments(run, tmp_path):
    code, out, err = run("demo")
    assert code == 0, err
    for name in vc.BOUNDS:
        assert f" {name} " in out
    for name in ("forest (10)", "stumps (360)", "panel (5)"):
        assert name in out
    meaning = out[out.index("With confidence 95 %") :]
    assert re.search(r"errs\s+on\s+at\s+most\s+[\d.]+ %", meaning)
    assert "<html" in (tmp_path / "votecert-report.html").read_text()
    jobs = [out.index(job) for job in ("1. Certify", "2. Decide", "3. Watch")]
    assert jobs == sorted(jobs)
    assert re.search(r"answers\s+at\s+least\s+[\d.]+ %", out[jobs[1] : jobs[2]])
    watched = out[jobs[2] :]
    assert watched.index("New rows: no alarm") < watched.index("mixed up labels: ALARM")
    # The limit belongs to the errors shown, those of the certified vote, offsets included.
    limits = re.findall(r"\(([\d.]+) %\)", line(out, "test-set"))
    counted = re.findall(r"(\d+) of (\d+)", line(out, "errors counted"))
    assert len(limits) == len(counted) == 3
    for limit, (errors, rows) in zip(limits, counted, strict=True):
        assert (
            0 <= float(limit) / 100 - beta.ppf(1 - 0.05 / 3, int(errors) + 1, int(rows) - int(errors)) <= 1e-4
        )


def line(out, name):
    return next(text for text in out.splitlines() if text.strip().startswith(name))


@pytest.mark.parametrize("name", ["wine", "tictactoe"])
def test_other_data(invoke, tmp_path, name):
    done = invoke("demo", "--data", name, "--html", "other.html", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    assert ("stumps" in done.stdout) == (name == "tictactoe")
    assert (tmp_path / "other.html").exists()


def test_unknown_data(invoke):
    done = invoke("demo", "--data", "iris")
    assert done.exit_code == 2
    assert "Known: breast-cancer" in done.stderr


def test_voters_never_saw_the_labels_that_certify_them():
    """Other labels of the certifying rows change no vote; other labels of the fitting rows would."""
    data = load("wine")
    fitting, certifying = np.array_split(np.random.default_rng(1).permutation(len(data.y)), 2)
    for rows, same in ((certifying, True), (fitting, False)):
        labels = data.y.copy()
        labels[rows] = labels[rows[::-1]]
        pairs = zip(train(data, seed=1), train(replace(data, y=labels), seed=1), strict=True)
        assert all((votes_of(one) == votes_of(other)).all() for one, other in pairs) == same


def votes_of(electorate):
    return electorate.ballots.codes[electorate.ballots.pattern_of_row]

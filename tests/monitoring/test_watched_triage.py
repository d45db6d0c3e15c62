"""Triage in use: the error among answered rows, and the share that is handed over."""

from __future__ import annotations

import json

import numpy as np
import pytest
from watching import rows

import votecert as vc
from votecert.certificate.record import digest


@pytest.fixture(scope="module")
def triage() -> vc.Triage:
    found = vc.triage(*rows(1500), max_risk=0.05, weights="uniform")
    assert found.threshold is not None
    return found


def test_the_two_limits_share_alpha(triage):
    monitor = vc.Monitor(triage, alpha=0.02)
    error, handed = monitor.streams
    assert (error.limit, error.alpha, handed.alpha) == (triage.max_risk, 0.01, 0.01)
    assert 1 - triage.coverage <= handed.limit <= 1 - triage.coverage + 1e-15
    assert monitor.delta == triage.delta


def test_votes_ballots_and_decisions_are_the_same_rows(triage):
    votes, y = rows(300, seed=4)
    decided = triage.decide(votes)
    made = [
        vc.Monitor(triage).update(votes, y, when="now"),
        vc.Monitor(triage).update(vc.Ballots.from_votes(votes, y, classes=[0, 1]), when="now"),
        vc.Monitor(triage).update(predictions=decided, y=y, when="now"),
    ]
    assert made[0].streams == made[1].streams == made[2].streams
    answered = np.array([label is not None for label in decided])
    error, handed = made[0].streams
    assert handed.losses == {0: int(answered.sum()), 1024: int((~answered).sum())}
    assert error.rows == answered.sum()
    assert error.losses[1024] == int((decided != y)[answered].sum())


def test_rows_that_nobody_looked_at_count_as_answered(triage):
    votes, y = rows(300, seed=4)
    truth = y.astype(object)
    truth[::2] = None
    monitor = vc.Monitor(triage).update(votes, truth)
    full = vc.Monitor(triage).update(votes, y)
    assert monitor.streams[1].losses == full.streams[1].losses
    assert 0 < monitor.streams[0].rows < full.streams[0].rows
    pandas = pytest.importorskip("pandas")
    again = vc.Monitor(triage).update(votes, pandas.Series(truth, dtype="Int64"))
    assert again.streams[0].losses == monitor.streams[0].losses
    with pytest.raises(ValueError, match="300 rows"):
        vc.Monitor(triage).update(votes, truth[:10])


def test_harder_cases_are_handed_over_and_that_is_noticed(triage):
    monitor = vc.Monitor(triage).update(*rows(400, skill=0.65, seed=5))
    assert monitor.alarm
    assert monitor.streams[1].alarm is not None
    assert "the share of rows handed over is, or was for a time, above" in monitor.statement
    assert "all that came in" in monitor.assumptions[0]
    good = vc.Monitor(triage).update(*rows(400, skill=0.8, seed=5))
    assert not good.alarm


def test_errors_among_answered_rows_are_noticed(triage):
    votes, y = rows(400, seed=6)
    turned = np.where(np.arange(400) % 3 == 0, 1 - y, y)
    monitor = vc.Monitor(triage).update(votes, turned)
    assert [one.alarm is not None for one in monitor.streams] == [True, False]
    assert "the error among answered rows" in monitor.statement


def test_the_state(triage):
    monitor = vc.Monitor(triage).update(*rows(200, seed=7))
    text = monitor.to_json()
    assert vc.Monitor.from_json(text, triage).to_json() == text
    with pytest.raises(ValueError, match="another certificate"):
        vc.Monitor.from_json(text, vc.triage(*rows(1500), max_risk=0.06, weights="uniform"))
    content = json.loads(text)
    content["streams"][0]["losses"]["0"] += 500
    content["history"][-1][2][0][0] += 500
    content["digest"] = digest(content)
    with pytest.raises(ValueError, match="judged"):
        vc.Monitor.from_json(json.dumps(content))


def test_nothing_to_watch_where_nothing_is_answered():
    hopeless = vc.triage(*rows(100, skill=0.5), max_risk=0.01, weights="uniform")
    assert hopeless.threshold is None
    with pytest.raises(ValueError, match="no limit to watch"):
        vc.Monitor(hopeless)


def test_the_page_and_the_picture(triage):
    pytest.importorskip("jinja2")
    monitor = vc.Monitor(triage).update(*rows(400, skill=0.65, seed=5))
    html = monitor.to_html()
    assert "<bdi>handed over</bdi>" in html
    assert triage.statement.split(",")[0] in html

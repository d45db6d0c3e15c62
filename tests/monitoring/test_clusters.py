"""Rows that are wrong together are fed as one loss."""

from __future__ import annotations

import math

import numpy as np
import pytest
from watching import answers, certificate, rows

import votecert as vc
from votecert.numerics.sequential import UNITS, fed, log_evidence


@pytest.fixture(scope="module")
def made() -> vc.Certificate:
    return certificate()


def test_a_cluster_is_one_loss_rounded_down(made):
    wrong = np.array([1, 0, 0, 1, 1, 0, 0, 0, 0, 0], dtype=bool)
    names = ["a", "a", "a", "b", "b", "c", "d", "d", "c", "c"]
    monitor = vc.Monitor(made, by_cluster=True).update(**answers(wrong), clusters=names)
    (stream,) = monitor.streams
    assert stream.losses == {0: 2, UNITS // 3: 1, UNITS: 1}
    assert (stream.rounded, stream.rows, monitor.rows) == (1, 4, 4)
    capital = fed(None, 0, stream.losses, made.risk)
    assert stream.log_evidence == float(log_evidence(capital, 1, made.risk))
    low, high = monitor.interval
    assert low <= stream.mean <= (1 + 1 / 3) / 4 <= high
    assert "4 clusters" in monitor.statement
    assert (
        vc.Monitor.from_json(monitor.to_json(), made).update(predictions=[0], y=[0], clusters=["e"]).rows == 5
    )


def test_a_cluster_is_fed_once_and_as_a_whole(made):
    monitor = vc.Monitor(made, by_cluster=True).update(predictions=[0, 1], y=[0, 1], clusters=["a", "b"])
    with pytest.raises(ValueError, match="fed before"):
        monitor.update(predictions=[0, 0], y=[0, 0], clusters=["c", "b"])
    monitor.update(predictions=[0, 0], y=[0, 1], clusters=["c", "b"], skip_seen=True)
    assert monitor.streams[0].losses == {0: 3}
    for bad, message in (
        ({"clusters": ["x"], "items": ["y"]}, "by their names"),
        ({}, "clusters="),
        ({"clusters": ["x", "y"]}, "one name a row"),
        ({"clusters": [None]}, "missing"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            monitor.update(predictions=[0], y=[0], **bad)
    with pytest.raises(TypeError, match="by_cluster=True"):
        vc.Monitor(made).update(predictions=[0], y=[0], clusters=["x"])


def test_copies_of_one_case_alarm_only_where_they_count_one_by_one(made):
    """Each case five times: as rows the evidence is to the power of five."""
    wrong = np.random.default_rng(3).random(400) < made.risk
    fivefold, names = np.repeat(wrong, 5), np.repeat(np.arange(400), 5)
    by_case = vc.Monitor(made, by_cluster=True).update(**answers(fivefold), clusters=names)
    assert by_case.streams[0].losses == vc.Monitor(made).update(**answers(wrong)).streams[0].losses
    assert not by_case.alarm


def test_clusters_in_several_groups():
    votes, y = rows(600)
    table = vc.certify(votes, y, weights="uniform", groups="class")
    monitor = vc.Monitor(table, by_cluster=True)
    monitor.update(*rows(60, seed=3), groups="class", clusters=np.arange(60) // 3)
    assert monitor.rows == 20
    assert sum(one.rows for one in monitor.streams) > 20
    assert vc.Monitor.from_json(monitor.to_json(), table).rows == 20


def test_losses_between_zero_and_one_do_not_alarm_too_often():
    """Clusters of three whose errors depend on each other, at exactly the limit: no more than alpha."""
    limit, alpha, runs = 0.1, 0.05, 500
    rng = np.random.default_rng(0)
    capital, ever = None, np.zeros(runs, dtype=bool)
    for t in range(400):
        difficulty = rng.choice([0.02, 0.34], size=runs, p=[0.75, 0.25])  # mean 0.1
        units = np.floor(rng.binomial(3, difficulty) / 3 * UNITS).astype(int)
        losses = {size: (units == size).astype(int) for size in (0, UNITS // 3, 2 * UNITS // 3, UNITS)}
        capital = fed(capital, t, losses, limit)
        ever |= log_evidence(capital, t + 1, limit) >= -math.log(alpha)
    assert 0 < ever.sum() <= alpha * runs + 6 * math.sqrt(alpha * runs)


def test_triage_counts_rows():
    with pytest.raises(TypeError, match="triage counts rows"):
        vc.Monitor(vc.triage(*rows(1500), max_risk=0.05, weights="uniform"), by_cluster=True)

"""Costs, and errors by cluster: losses between 0 and 1 with the limit that was certified for them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from watching import rows

import votecert as vc

COSTS = [[0, 1, 0.25], [8, 0, 0.25]]  # the last column: no answer


@pytest.fixture(scope="module")
def costly() -> vc.LossCertificate:
    return vc.certify(*rows(800), costs=COSTS, weights="uniform")


@pytest.fixture(scope="module")
def clustered() -> vc.LossCertificate:
    return vc.certify(*rows(900), clusters=np.arange(900) // 3, weights="uniform")


def test_costs_are_parts_of_the_largest(costly):
    y = np.array([0, 0, 1, 1, 1, 0])
    said = [0, 1, 1, 0, None, None]
    monitor = vc.Monitor(costly).update(predictions=said, y=y)
    (stream,) = monitor.streams
    assert stream.limit == costly.risk
    assert stream.losses == {0: 2, 32: 2, 128: 1, 1024: 1}  # 0.25, 1 and 8 of 8, in 1024th
    assert "expected cost, as a share of 8," in monitor.statement
    votes, truth = rows(200, seed=3)
    again = vc.Monitor(costly).update(votes, truth, when="x")
    prices = np.array(COSTS)[truth, costly.predict(votes).astype(int)]
    assert again.streams[0].total == prices.sum() / 8


def test_expensive_errors_alarm_and_cheap_ones_do_not(costly):
    y = np.arange(400) % 2
    cheap, dear = (np.where((np.arange(400) < 140) & (y == k), 1 - y, y) for k in (0, 1))
    assert not vc.Monitor(costly).update(predictions=cheap, y=y).alarm
    assert vc.Monitor(costly).update(predictions=dear, y=y).alarm


def test_certificates_of_clusters_count_clusters(clustered):
    monitor = vc.Monitor(clustered)
    assert monitor.by_cluster
    votes, y = rows(90, seed=2)
    wrong = (clustered.predict(votes) != y).reshape(30, 3).mean(axis=1)
    monitor.update(votes, y, clusters=np.arange(90) // 3)
    assert monitor.rows == 30
    assert monitor.streams[0].total == pytest.approx(wrong.sum(), abs=30 / 1024)
    assert monitor.streams[0].total <= wrong.sum()
    with pytest.raises(TypeError, match="clusters="):
        monitor.update(votes, y)


def test_rows_that_count_alike_in_clusters_of_a_largest_size():
    """The mean of the pseudo-losses is at most r exactly when the errors by rows are."""
    sizes = np.random.default_rng(0).integers(1, 5, size=300)
    names = np.repeat(np.arange(300), sizes)
    votes, y = rows(len(names))
    made = vc.certify(votes, y, clusters=names, largest_cluster=4, weights="uniform")
    assert made.largest == 4
    new, truth = rows(20, seed=5)
    groups = np.repeat([0, 1, 2, 3, 4, 5, 6], [4, 1, 3, 2, 4, 4, 2])
    wrong = made.predict(new) != truth
    monitor = vc.Monitor(made).update(new, truth, clusters=groups)
    n, k = np.bincount(groups), np.bincount(groups, wrong)
    expected = made.risk * (1 - n / 4) + k / 4
    stream = monitor.streams[0]
    assert "pull towards the limit" in stream.what
    assert expected.sum() - 7 / 1024 - 1e-12 <= stream.total <= expected.sum()
    with pytest.raises(ValueError, match="more than the 4"):
        monitor.update(*rows(5, seed=6), clusters=["x"] * 5)


@pytest.mark.parametrize("which", ["costly", "clustered"])
def test_the_state(which, request):
    made = request.getfixturevalue(which)
    clusters = {"clusters": np.arange(60) // 2} if made.clusters else {}
    monitor = vc.Monitor(made).update(*rows(60, seed=4), **clusters)
    assert vc.Monitor.from_json(monitor.to_json(), made).to_json() == monitor.to_json()
    content = json.loads(monitor.to_json())
    assert content["kind"] == "losses"
    assert monitor.to_html()

"""Our learners next to records of the authors' programs, on made-up votes."""

from __future__ import annotations

import json

import numpy as np
import pytest

import votecert as vc
from votecert.paper import authors
from votecert.paper.authors import AuthorsBinomial, compare, page, read_records
from votecert.paper.cells import PUBLISHED

START = [0.9, 0.4, 1.3, 0.7, 1.1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Votes on 300 rows; weights that were learned on them with an order of the rows that is not tried."""
    monkeypatch.setattr(authors, "ORDERS", 2)
    monkeypatch.setattr(authors, "MORE_ORDERS", 2)
    monkeypatch.setattr(authors, "CLOSE", 0.05)
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    votes = np.where(rng.random((400, 5)) < np.linspace(0.9, 0.6, 5), y[:, None], 1 - y[:, None])
    (tmp_path / "votes").mkdir()
    parts = {"votes_bound": votes[:300], "y_bound": y[:300], "votes_test": votes[300:], "y_test": y[300:]}
    np.savez(tmp_path / "votes" / "haberman_rf_0.npz", **parts)
    return tmp_path


def recorded(folder, name="f2", objective="f2", **changes):
    """Write the record of a run of three epochs, and of one objective that nobody compares."""
    with np.load(folder / "votes" / "haberman_rf_0.npz") as arrays:
        ballots = vc.Ballots.from_votes(arrays["votes_bound"], arrays["y_bound"])
        test = vc.Ballots.from_votes(arrays["votes_test"], arrays["y_test"])
    values = []
    method = vc.Adam(
        start=START,
        learn_margin=False,
        epochs=3,
        random_state=77,
        callback=lambda told: values.append(told["value"]),
    )
    found = vc.learn(ballots, objective=objective, method=method)
    record = {"dataset": "haberman", "kind": "rf", "seed": 0, "classes": 2, "m_test": 100, "objective": name}
    record |= {"epochs": 3, "stopped": "time_cap", "init_posterior": START, "gamma": 0.01, "posterior": START}
    record |= {"bound": 9.0, "bound_f64": min(values)}
    record["test_error"] = vc.certify(test, weights=found.weights, bound="test-set").empirical_risk
    lines = [record | changes, record | {"objective": "uniform"}]
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_the_same_program_agrees(folder):
    recorded(folder)
    heard = []
    table = compare(folder, lambda *news: heard.append(news))
    ((words, means),) = table.rows
    assert words == ("Haberman", "rf", "f2", "3 (cut off)", "yes")
    assert means[0].value == pytest.approx(means[1].value, rel=0.05)
    assert means[1].count == 2
    assert heard == [(1, 1, "Haberman rf f2")]
    assert "1 of 1 lines agree" in page(table)


def test_theorem_2_keeps_the_recorded_margin_and_is_not_cut_at_one(folder):
    published = authors._objective({"objective": "margin", "gamma": 0.01})
    assert (published.id, published.margins) == (PUBLISHED, (0.01,))
    recorded(folder, "margin", published)
    ((words, means),) = compare(folder).rows
    assert words[-1] == "yes"
    assert means[0].value > 1


def test_a_difference_is_named_after_more_orders_were_tried(folder):
    recorded(folder, bound_f64=0.9, test_error=0.93)
    table = compare(folder)
    ((words, means),) = table.rows
    assert means[1].count == 4
    assert "bound: theirs is higher by" in words[-1]
    assert "of 100 rows apart" in words[-1]
    assert "0 of 1 lines agree" in page(table)


def test_without_draws_there_is_one_run(folder):
    recorded(folder, "CCTND", "cctnd", bound_f64=1.0, init_posterior=None)
    text = (folder / "records.jsonl").read_text().replace('"init_posterior": null, ', "")
    (folder / "records.jsonl").write_text(text)
    ((words, means),) = compare(folder).rows
    assert "bound: theirs is higher by" in words[-1]
    assert "at their weights)" in words[-1]
    assert means[1].count == 1


def test_a_folder_without_records(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"records\.jsonl"):
        read_records(tmp_path)


def test_their_binomial_loss_does_not_count_ties():
    votes, y = np.array([[1, 0]] * 50), np.ones(50, dtype=int)
    ballots = vc.Ballots.from_votes(votes, y, classes=(0, 1))
    loss, slopes = AuthorsBinomial().loss(ballots, np.array([0.5, 0.5]))
    assert loss == pytest.approx(0.4602, abs=1e-4)  # more than half of 100 coins; with ties 0.5398
    weights = np.array([0.6, 0.4])
    step = np.array([1e-6, -1e-6])
    up, down = (AuthorsBinomial().loss(ballots, weights + sign * step)[0] for sign in (1, -1))
    _, slopes = AuthorsBinomial().loss(ballots, weights)
    assert (up - down) / 2e-6 == pytest.approx(slopes[0] - slopes[1], rel=1e-5)


def test_their_binomial_bound_is_flat_where_a_batch_has_no_loss():
    right = vc.Ballots.from_votes(np.ones((50, 2), dtype=int), np.ones(50, dtype=int), classes=(0, 1))
    mixed = vc.Ballots.from_votes([[1, 0]] * 50, np.ones(50, dtype=int), classes=(0, 1))
    weights = np.array([0.7, 0.3])
    flat, steep = (AuthorsBinomial().objective(rows, weights, {}, 0.05) for rows in (right, mixed))
    assert not flat.d_weights.any()
    assert steep.d_weights.any()
    assert vc.BOUNDS["bin"].objective(right, weights, {}, 0.05).d_weights.any()

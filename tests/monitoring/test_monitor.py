"""What can be fed, what is refused, what is said."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from watching import answers, certificate, rows

import votecert as vc
from votecert.certificate.text import chance, percent, share
from votecert.monitoring import memory as memory_module
from votecert.monitoring import monitor as monitor_module


@pytest.fixture(scope="module")
def made() -> vc.Certificate:
    return certificate()


def state(monitor: vc.Monitor) -> str:
    return monitor.to_json()


def test_votes_predictions_and_ballots_are_the_same_rows(made):
    votes, y = rows(200, seed=1)
    monitors = [
        vc.Monitor(made).update(votes, y, when="now"),
        vc.Monitor(made).update(predictions=made.predict(votes), y=y, when="now"),
        vc.Monitor(made).update(vc.Ballots.from_votes(votes, y, classes=[0, 1]), when="now"),
        vc.Monitor(made).update(votes.tolist(), y.tolist(), when="now"),
    ]
    (losses,) = {tuple(one.streams[0].losses.items()) for one in monitors}
    assert losses == ((0, 200 - (wrong := int((made.predict(votes) != y).sum()))), (1024, wrong))


def test_nobody_votes_is_an_error_as_in_the_certificate():
    votes, y = rows(300)
    silent = np.where(np.arange(300)[:, None] < 30, -1, votes).astype(object)
    silent[silent == -1] = None
    made = vc.certify(silent, y, weights="uniform")
    monitor = vc.Monitor(made).update(silent, y)
    assert monitor.streams[0].losses[1024] == made.errors >= 30
    assert vc.Monitor(made).update(predictions=[None, 1], y=[0, 1]).streams[0].losses == {0: 1, 1024: 1}


def test_tables_are_read_by_name_and_soft_votes_by_score(made):
    pandas = pytest.importorskip("pandas")
    votes, y = rows(300, seed=3)
    table = pandas.DataFrame(votes, columns=list("abcde"))
    named = vc.certify(table, y, weights=[0.6, 0.1, 0.1, 0.1, 0.1], fixed_in_advance=True)
    turned = table[list("edcba")].assign(other=1)
    found = vc.Monitor(named).update(turned, pandas.Series(y))
    assert found.streams == vc.Monitor(named).update(table, y, when=found.history[0].when).streams
    scores = np.random.default_rng(0).random((300, 5, 2))
    soft = vc.certify(scores=scores, y=y, weights="uniform")
    assert vc.Monitor(soft).update(scores, y).streams[0].losses[1024] == soft.errors


def test_the_order_of_the_rows_in_a_batch_plays_no_part(made):
    wrong = np.arange(200) < 25
    first, last = (vc.Monitor(made).update(**answers(part), when="x") for part in (wrong, wrong[::-1]))
    assert first.streams == last.streams


def test_an_alarm_stays_and_says_what_it_means(made):
    monitor = vc.Monitor(made)
    assert (monitor.alarm, monitor.evidence, monitor.interval, monitor.first_alarm) == (
        False,
        1.0,
        (0, 1),
        None,
    )
    assert "no rows yet" in monitor_module.words.line(monitor)
    monitor.update(**answers(np.arange(100) < 3), when=date(2026, 1, 5))
    assert not monitor.alarm
    assert "No alarm after 100 rows" in monitor.statement
    assert "no reason to doubt that the error is at most" in monitor.evidence_in_words
    monitor.update(**answers(np.arange(100) < 60), when="Tuesday")
    assert monitor.alarm
    assert monitor.first_alarm.rows == 200
    monitor.update(**answers(np.arange(100) < 60), when="Wednesday", batch="again")
    assert (monitor.first_alarm.rows, monitor.first_alarm.when) == (200, "Tuesday")
    evidence = monitor.evidence
    monitor.update(**answers(np.arange(3000) < 1))
    assert monitor.alarm
    assert monitor.evidence < evidence
    assert "after 200 rows (Tuesday)" in monitor.statement
    assert "at most 1 %" in monitor.statement  # alpha
    assert "at most 6 %" in monitor.statement  # and delta
    assert "ALARM" in repr(monitor)
    assert len(monitor.assumptions) == 5


def test_a_number_that_was_no_guarantee_is_watched_without_a_joint_statement():
    made = certificate(weights=[0.2] * 5, bound="test-set")
    monitor = vc.Monitor(made).update(**answers(np.arange(100) < 60))
    assert monitor.delta is None
    assert "no guarantee" in monitor.statement
    assert "delta" not in monitor.statement


def test_groups_share_alpha(made):
    votes, y = rows(900)
    table = vc.certify(votes, y, weights="uniform", groups=["few"] + ["young"] * 300 + ["old"] * 599)
    table = replace(table, certificates=(replace(table["few"], risk=1.0), table["young"], table["old"]))
    monitor = vc.Monitor(table, alpha=0.02)
    assert [one.alpha for one in monitor.streams] == [0, 0.01, 0.01]  # one that says nothing has no share
    new, labels = rows(200, seed=8)
    where = np.array(["young", "old"])[np.arange(200) % 2]
    labels = np.where((where == "old") & (np.arange(200) < 150), 1 - labels, labels)
    monitor.update(new, labels, groups=where)
    assert [one.name for one in monitor.streams if one.alarm] == ["old"]
    assert monitor.worst.name == "old"
    assert "old" in monitor.statement
    assert monitor.evidence >= 1 / monitor.alpha
    assert monitor.update(new[:9], labels[:9], groups=["few"] * 9).streams[0].rows == 9
    with pytest.raises(TypeError, match="groups="):
        monitor.update(new, labels)
    with pytest.raises(ValueError, match="no certificate for the group 'middle'"):
        monitor.update(new, labels, groups=["middle"] * 200)
    with pytest.raises(ValueError, match="one label a row"):
        monitor.update(new, labels, groups=["old"])
    with pytest.raises(TypeError, match="about all rows"):
        vc.Monitor(made).update(new, labels, groups=where)


def test_groups_of_the_true_class():
    votes, y = rows(600)
    monitor = vc.Monitor(vc.certify(votes, y, weights="uniform", groups="class"))
    monitor.update(*rows(100, seed=9), groups="class")
    assert sum(one.rows for one in monitor.streams) == monitor.rows == 100
    with pytest.raises(ValueError, match="'class'"):
        monitor.update(*rows(10, seed=9), groups="klass")


def test_limits_of_several_streams_hold_together():
    votes, y = rows(600)
    monitor = vc.Monitor(vc.certify(votes, y, weights="uniform", groups="class"), alpha=0.02)
    wrong = np.arange(350) % 7 == 0
    monitor.update(predictions=np.where(wrong, 1, 0), y=np.zeros(350, dtype=int), groups="class")
    low, high = monitor.worst.interval(0.01)  # the worst of two is picked: each has half of alpha
    assert monitor.interval == (low, high)
    assert f"({share(low)} to {percent(high)})" in monitor_module.words.line(monitor)
    evidence = monitor.worst.evidence
    assert 2 < evidence < 50
    assert f"at most {chance(2 / evidence)} of all" in monitor.evidence_in_words


@pytest.mark.parametrize("groups", ["predicted", {"precision": "predicted"}])
def test_groups_by_what_the_vote_says(groups):
    votes, y = rows(600)
    table = vc.certify(votes, y, weights="uniform", groups=groups)
    monitor = vc.Monitor(table)
    new, labels = rows(200, seed=9)
    said = monitor.certificates[0].predict(new)
    monitor.update(new, labels)
    assert [one.rows for one in monitor.streams] == np.bincount(said).tolist()
    assert [one.total for one in monitor.streams] == [((said == k) & (labels != k)).sum() for k in (0, 1)]
    monitor.update(predictions=said[::-1], y=labels[::-1], groups="predicted")
    with pytest.raises(TypeError, match="by what the vote says"):  # recall is not precision
        monitor.update(new, labels, groups="class")
    assert monitor.rows == 400
    both = vc.certify(votes, y, weights="uniform", groups=["class", "predicted"])
    with pytest.raises(ValueError, match="one grouping"):
        vc.Monitor(both)


def test_a_true_label_that_is_no_class_is_an_error(made):
    monitor = vc.Monitor(made)
    votes, y = rows(30, seed=5)
    monitor.update(votes, np.where(np.arange(30) < 4, 7, made.predict(votes)))
    assert monitor.streams[0].losses == {0: 26, 1024: 4}
    for labels in (y.astype(str), [None] * 30, [0.5] * 30):  # written otherwise, or no labels
        with pytest.raises((ValueError, TypeError), match=r"label|number"):
            monitor.update(votes, labels)
    table = vc.certify(*rows(600), weights="uniform", groups="class")
    with pytest.raises(ValueError, match="none of the classes"):
        vc.Monitor(table).update(votes, [7] * 30, groups="class")
    costs = vc.certify(*rows(600), weights="uniform", costs=[[0, 1], [3, 0]])
    with pytest.raises(ValueError, match="none of the classes"):
        vc.Monitor(costs).update(votes, [7] * 30)


def test_what_cannot_be_watched():
    votes, y = rows(40)
    with pytest.raises(ValueError, match="no limit to watch"):
        vc.Monitor(vc.certify(votes, 1 - y, weights="uniform", bound="f2"))
    with pytest.raises(ValueError, match="several bounds"):
        vc.Monitor(vc.compare(votes, y))
    with pytest.raises(TypeError, match="not float"):
        vc.Monitor(0.1)
    for alpha in (0, 1, math.nan, -1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            vc.Monitor(certificate(), alpha=alpha)
    with pytest.raises(TypeError, match="must be a number"):
        vc.Monitor(certificate(), alpha="0.01")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"y": [0, 1]}, "either votes"),
        ({"votes": [[0] * 5], "predictions": [0], "y": [0]}, "either votes"),
        ({"votes": [[0] * 5]}, "y are missing"),
        ({"votes": [[0] * 4], "y": [0]}, "5 voters"),
        ({"predictions": [0, 1], "y": [0]}, "rows|length|1"),
        ({"predictions": [0], "y": [None]}, "missing|no true label|y"),
        ({"predictions": [0], "y": ["seven"]}, "seven"),
        ({"predictions": ["0"], "y": ["0"]}, "0"),
        ({"predictions": [0], "y": [0], "items": ["a", "b"]}, "one name a row"),
        ({"predictions": [0, 0], "y": [0, 0], "items": ["a", "a"]}, "twice"),
        ({"predictions": [0], "y": [0], "skip_seen": True}, "items="),
        ({"predictions": [0], "y": [0], "batch": ""}, "short text"),
        ({"predictions": [0], "y": [0], "when": "x" * 50}, "at most 40"),
        ({"predictions": [0], "y": [0], "items": ["old"]}, "were fed before"),
        ({"predictions": [0], "y": [0], "batch": "Monday"}, "fed before"),
    ],
)
def test_what_is_refused_changes_nothing(made, bad, message):
    monitor = vc.Monitor(made).update(predictions=[0, 1], y=[0, 0], items=["old", "older"], batch="Monday")
    before = state(monitor)
    with pytest.raises((ValueError, TypeError), match=message):
        monitor.update(**bad)
    assert state(monitor) == before


def test_rows_that_were_fed_before(made, monkeypatch):
    monitor = vc.Monitor(made)
    votes, y = rows(60, seed=2)
    monitor.update(votes, y)
    with pytest.raises(ValueError, match="same batch"):
        monitor.update(votes, y)
    monitor.update(votes, y, batch="the same, but other people")
    monitor.update(votes[:1], y[:1]).update(votes[:1], y[:1])  # one row is often the same as another one
    grown = vc.Monitor(made).update(votes[:20], y[:20], items=range(20))
    grown.update(votes, y, items=[str(i) for i in range(60)], skip_seen=True)
    assert grown.rows == 60
    assert grown.update(votes, y, items=range(60), skip_seen=True).updates == 2  # nothing new: no look
    monkeypatch.setattr(memory_module, "MOST_ITEMS", 50)
    grown.update(votes[:5], y[:5], items="abcde")
    assert grown._memory.forgotten == 15
    with pytest.raises(ValueError, match="15 items are no longer remembered"):
        grown.update(votes[:5], y[:5], items="fghij", skip_seen=True)


def test_no_rows_change_nothing(made):
    monitor = vc.Monitor(made)
    before = state(monitor)
    monitor.update(predictions=[], y=[])
    assert state(monitor) == before


def test_the_history_is_bounded(made, monkeypatch):
    monkeypatch.setattr(monitor_module, "MOST_LOOKS", 20)
    monitor, sizes = vc.Monitor(made), set()
    for i in range(100):
        monitor.update(predictions=[i % 2], y=[0])
        sizes.add(len(monitor.history))
    assert max(sizes) == 20
    assert monitor.history[-1].rows == 100
    assert [look.rows for look in monitor.history] == sorted({look.rows for look in monitor.history})
    assert monitor.history[0].rows == 1


def test_the_state_stays_small(made):
    monitor = vc.Monitor(made)
    for i in range(520):
        monitor.update(predictions=[0] * 30, y=[0] * 30, items=[f"{i}-{j}" for j in range(30)])
    empty = len(vc.Monitor(made).to_json())
    assert len(monitor.to_json()) < empty + 15_600 * 11 + 500 * 80


def test_a_table_that_was_read_has_everything_with_it(tmp_path):
    votes, y = rows(300, seed=3)
    made = vc.certify(
        votes, y, weights=[0.6, 0.1, 0.1, 0.1, 0.1], fixed_in_advance=True, voters=list("abcde")
    )
    lines = [f"q{i},{','.join(map(str, votes[i, ::-1]))},{y[i]}" for i in range(300)]
    lines[7] = lines[7].rsplit(",", 1)[0] + ","  # nobody looked
    (tmp_path / "v.csv").write_text("\n".join(["id,e,d,c,b,a,truth", *lines]))
    with pytest.warns(UserWarning, match="no true label"):
        table = vc.read_votes(tmp_path / "v.csv", item="id", label="truth", classes=[0, 1])
    monitor = vc.Monitor(made).update(table)
    rest = np.arange(300) != 7
    assert monitor.streams[0].losses == vc.Monitor(made).update(votes[rest], y[rest]).streams[0].losses
    with pytest.raises(ValueError, match="fed before"):
        monitor.update(predictions=[0], y=[0], items=["q8"])
    assert monitor.update(predictions=[0], y=[0], items=["q7"]).rows == 300
    triage = vc.triage(votes, y, max_risk=0.2, weights="uniform", voters=list("abcde"))
    assert vc.Monitor(triage).update(table).rows == 300
    with pytest.raises(TypeError, match="Give either votes"):
        vc.Monitor(made).update(table, predictions=[0] * 300)

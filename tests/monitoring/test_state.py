"""The state in a file: it goes on where it left off, and hostile content is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from watching import answers, certificate, rows

import votecert as vc
from votecert.certificate.record import digest


@pytest.fixture(scope="module")
def made() -> vc.Certificate:
    return certificate()


@pytest.fixture
def monitor(made) -> vc.Monitor:
    monitor = vc.Monitor(made, alpha=0.05)
    monitor.update(**answers(np.arange(40) < 6), items=range(40), when="Monday")
    return monitor.update(**answers(np.arange(40) < 20), batch="second", when="Tuesday")


def test_it_goes_on_where_it_left_off(made, monitor):
    read = vc.Monitor.from_json(monitor.to_json(), made)
    for one in (monitor, read):
        one.update(*rows(50, seed=4), when="Wednesday")
    assert read.to_json() == monitor.to_json()
    assert read.history == monitor.history
    assert read.alarm
    for again in ({"items": [7]}, {"batch": "second"}):
        with pytest.raises(ValueError, match="fed before"):
            read.update(predictions=[0], y=[0], **again)


def test_groups_go_on_too():
    votes, y = rows(600)
    table = vc.certify(votes, y, weights="uniform", groups="class")
    monitor = vc.Monitor(table).update(*rows(50, seed=4), groups="class")
    assert vc.Monitor.from_json(monitor.to_json(), table).to_json() == monitor.to_json()
    assert vc.Monitor.from_json(vc.Monitor(table).to_json()).rows == 0


def test_a_state_of_another_certificate_is_refused(made, monitor):
    votes, y = rows(600)
    for other in (certificate(delta=0.01), vc.certify(votes, y, weights="uniform", groups="class")):
        with pytest.raises(ValueError, match="another certificate"):
            vc.Monitor.from_json(monitor.to_json(), other)
    assert vc.Monitor.from_json(monitor.to_json(), vc.Certificate.from_json(made.to_json())).alarm


def signed(content: dict) -> str:
    """What somebody would write who knows how the digest is made."""
    return json.dumps({**content, "digest": digest(content)})


def test_an_edited_state_is_refused(monitor):
    content = json.loads(monitor.to_json())
    assert vc.Monitor.from_json(signed(content)).alarm
    content["rows"] += 1
    with pytest.raises(ValueError, match="does not verify"):
        vc.Monitor.from_json(json.dumps(content))


HUGE = 2**60

FORGERIES = {
    "no version": lambda c: c.pop("votecert_monitor"),
    "other version": lambda c: c.update(votecert_monitor=2),
    "version true": lambda c: c.update(votecert_monitor=True),
    "no streams": lambda c: c.pop("streams"),
    "streams left out": lambda c: c.update(streams=[]),
    "stream twice": lambda c: c["streams"].append(c["streams"][0]),
    "other name": lambda c: c["streams"][0].update(name="errors"),
    "rows that are not there": lambda c: c.update(rows=81),
    "rows as text": lambda c: c.update(rows="80"),
    "rows as bool": lambda c: c.update(rows=True),
    "fractions": lambda c: c["streams"][0].update(losses={"0": 54.5, "1024": 25.5}),
    "negative": lambda c: c["streams"][0].update(losses={"0": 100, "1024": -20}),
    "huge": lambda c: (c["streams"][0].update(losses={"0": HUGE, "1024": 26}), c.update(rows=HUGE + 26)),
    "loss above one": lambda c: c["streams"][0].update(losses={"0": 54, "2048": 26}),
    "loss without a size": lambda c: c["streams"][0].update(losses={"0": 54, "x": 26}),
    "losses as list": lambda c: c["streams"][0].update(losses=[54, 26]),
    "fewer errors": lambda c: c["streams"][0].update(losses={"0": 79, "1024": 1}),
    "more errors": lambda c: c["streams"][0].update(losses={"0": 1, "1024": 79}),
    "capital taken away": lambda c: c["streams"][0].update(capital=[-90.0] * len(c["streams"][0]["capital"])),
    "capital left out": lambda c: c["streams"][0].update(capital=[]),
    "capital as text": lambda c: c["streams"][0]["capital"].__setitem__(0, "1"),
    "capital cut off": lambda c: c["streams"][0]["capital"].pop(),
    "alarm taken away": lambda c: c["streams"][0].update(alarm=None),
    "alarm without evidence": lambda c: c["streams"][0]["alarm"].update(log_evidence=0.1),
    "alarm in the future": lambda c: c["streams"][0]["alarm"].update(rows=81),
    "alarm as text": lambda c: c["streams"][0].update(alarm="yes"),
    "more updates than rows": lambda c: c.update(updates=81),
    "updates of the stream": lambda c: c["streams"][0].update(updates=3),
    "alpha of one": lambda c: c.update(alpha=1),
    "another alpha": lambda c: c.update(alpha=1e-30),
    "alpha as text": lambda c: c.update(alpha="0.05"),
    "history of others": lambda c: c["history"].append([99, "Friday", [[99, 0, 0, 0.0]]]),
    "history backwards": lambda c: c["history"].reverse(),
    "history without looks": lambda c: c.update(history=[]),
    "look of two": lambda c: c["history"][0].__setitem__(2, [[40, 6, 0, 0.0]] * 2),
    "look above one": lambda c: c["history"][0].__setitem__(2, [[40, 41 * 1024, 0, 0.0]]),
    "look without time": lambda c: c["history"][0].__setitem__(1, None),
    "look too short": lambda c: c["history"][0].pop(),
    "time as long as a book": lambda c: c["history"][0].__setitem__(1, "x" * 10_000),
    "items that are none": lambda c: c["memory"].update(items="!"),
    "items cut off": lambda c: c["memory"].update(items="AAAA"),
    "items as list": lambda c: c["memory"].update(items=[1]),
    "batches as numbers": lambda c: c["memory"].update(batches=[1]),
    "too many batches": lambda c: c["memory"].update(batches=[str(i) for i in range(1001)]),
    "forgotten as text": lambda c: c["memory"].update(forgotten="x"),
    "no memory": lambda c: c.pop("memory"),
    "no certificate": lambda c: c.update(certificates=[]),
    "a certificate twice": lambda c: c["certificates"].append(c["certificates"][0]),
    "an edited certificate": lambda c: c["certificates"][0].update(risk=0.9),
    "no group": lambda c: c.update(kind="groups", alpha=0.05),
    "no triage": lambda c: c.update(kind="triage"),
    "alarm called off": lambda c: c.update(alarm=False),
    "another sentence": lambda c: c.update(statement="All is well."),
    "a field of its own": lambda c: c.update(note="x"),
    "clusters as text": lambda c: c.update(by_cluster="no"),
    "no kind": lambda c: c.update(kind="other"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_hostile_content_is_refused(monitor, forgery):
    content = json.loads(monitor.to_json())
    FORGERIES[forgery](content)
    with pytest.raises(ValueError, match=r"\w"):
        vc.Monitor.from_json(signed(content))


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"votecert_monitor": NaN}', "[" * 100_000, '{"a": 1, "a": 1}']
)
def test_what_is_no_state_is_refused(text):
    with pytest.raises(ValueError, match="not a state of a monitor"):
        vc.Monitor.from_json(text)


def test_a_certificate_of_another_version_is_the_same_certificate(made, monitor):
    """The words of a certificate may change with the version; what it says does not."""
    content = json.loads(made.to_json())
    content |= {"votecert_version": "0.0.1", "statement": "In other words."}
    old = vc.Certificate.from_json(json.dumps({**content, "digest": digest(content)}))
    assert vc.Monitor.from_json(monitor.to_json(), old).alarm
    with pytest.raises(ValueError, match="another certificate"):
        vc.Monitor.from_json(monitor.to_json(), replace(old, voters=tuple("abcde")))


def test_a_state_of_another_version_may_have_other_words(made, monitor):
    content = json.loads(monitor.to_json())
    content |= {"votecert_version": "0.0.1", "statement": "In other words."}
    assert vc.Monitor.from_json(signed(content), made).alarm
    with pytest.raises(ValueError, match="'alarm'"):
        vc.Monitor.from_json(signed({**content, "alarm": False}))

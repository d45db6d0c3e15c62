"""The state of a monitor as JSON: certificates, counts, memory and history, with a digest over all of them.

Limits and shares of alpha follow from the certificates and are never read. Nothing that is read is executed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from votecert.certificate import Certificate, CertificateTable
from votecert.certificate.losses import LossCertificate
from votecert.certificate.record import digest, read_object, this_version
from votecert.certificate.triage import Triage
from votecert.monitoring.memory import Memory
from votecert.monitoring.monitor import MOST_LOOKS, Monitor
from votecert.monitoring.streams import Alarm, Look, Seen, Stream
from votecert.monitoring.watched import Subject
from votecert.numerics.sequential import UNITS, bets, log_factors

SCHEMA = 1
"""Version of the layout."""

RECORDS = {"triage": Triage, "losses": LossCertificate}
"""What is watched besides certificates of errors."""

PROSE = {"votecert_version", "statement", "certificates", "digest"}
"""Fields that another version may have written in other words; certificates are checked by themselves."""

MOST = 2**53
"""No count is larger: beyond, a float no longer holds every whole number."""

M = TypeVar("M", bound=Monitor)


def to_json(monitor: Monitor) -> str:
    """JSON text of a monitor."""
    content: dict[str, Any] = {
        "votecert_monitor": SCHEMA,
        "votecert_version": this_version(),
        "statement": monitor.statement,
        "alarm": monitor.alarm,
        "alpha": monitor.alpha,
        "by_cluster": monitor.by_cluster,
        "rows": monitor.rows,
        "updates": monitor.updates,
        "streams": [
            {
                "name": one.name,
                "losses": {str(units): count for units, count in one.losses.items()},
                "rounded": one.rounded,
                "updates": one.updates,
                "capital": list(one.capital),
                "alarm": None if one.alarm is None else vars(one.alarm),
            }
            for one in monitor.streams
        ],
        "memory": monitor._memory.to_dict(),
        "history": [
            [rows, when, [list(seen) for seen in streams]] for rows, when, streams in monitor.history
        ],
        "kind": monitor._watched.kind,
        "certificates": [json.loads(one.to_json()) for one in monitor.certificates],
    }
    content["digest"] = digest(content)
    return json.dumps(content, ensure_ascii=False) + "\n"


def from_json(kind: type[M], text: str, subject: Subject | None) -> M:
    """Read a monitor; a state that cannot be one is refused."""
    content = read_object(text, "votecert_monitor", (SCHEMA,), "state of a monitor")
    if content.get("digest") != digest(content):
        raise ValueError("The state does not verify: some field was edited, or the file is damaged.")
    try:
        return _build(kind, content, subject)
    except (AttributeError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(f"The state is incomplete or has a field of the wrong kind: {error}.") from None


def _build(kind: type[M], content: dict[str, Any], subject: Subject | None) -> M:
    record: Any = RECORDS.get(content["kind"], Certificate)
    results: tuple[Any, ...] = tuple(record.from_json(json.dumps(one)) for one in content["certificates"])
    if not results or not all(one.intact for one in results):
        raise ValueError("The state does not verify: its certificate was edited after it was made.")
    by_group = content["kind"] == "groups"
    subject_read = CertificateTable(results, "group") if by_group else results[0]
    monitor = kind(subject_read, content["alpha"], by_cluster=content["by_cluster"] is True)
    if monitor._watched.kind != content["kind"] or len(monitor.certificates) != len(results):
        raise ValueError("The state has other certificates than its kind has.")
    if subject is not None and _as_read(subject) != list(results):
        raise ValueError(
            "The state is that of another certificate. Start a new one for this certificate: it has an "
            "alpha of its own."
        )
    monitor.rows, monitor.updates = _whole(content["rows"]), _whole(content["updates"])
    streams = zip(monitor.streams, content["streams"], strict=True)
    monitor.streams = tuple(_stream(empty, one) for empty, one in streams)
    monitor.history = [_look(len(monitor.streams), *one) for one in content["history"]]
    _whole(content["memory"]["forgotten"])
    monitor._memory = Memory.from_dict(content["memory"])
    if problem := next(_contradictions(monitor), None):
        raise ValueError(f"The state contradicts itself: {problem}.")
    known = json.loads(to_json(monitor))
    prose = PROSE if content["votecert_version"] != known["votecert_version"] else {"digest"}
    for name in sorted((known.keys() | content.keys()) - prose):
        if known.get(name, ...) != content.get(name, ...):
            raise ValueError(f"The state is not one that a monitor writes: see {name!r}.")
    return monitor


def _as_read(subject: Subject) -> list[Any]:
    """The results as they come back from JSON, whichever version wrote them."""
    listed = list(subject) if isinstance(subject, CertificateTable) else [subject]
    return [type(one).from_json(one.to_json()) for one in listed]


def _stream(empty: Stream, content: dict[str, Any]) -> Stream:
    if content["name"] != empty.name:
        raise ValueError(f"The state has a stream {content['name']!r} where {empty.name!r} is expected.")
    losses = {_whole(int(units), UNITS): _whole(count) for units, count in content["losses"].items()}
    alarm = content["alarm"]
    if alarm is not None:
        alarm = Alarm(_whole(alarm["rows"]), _short(alarm["when"]), _real(alarm["log_evidence"]))
    return replace(
        empty,
        losses=losses,
        rounded=_whole(content["rounded"]),
        updates=_whole(content["updates"]),
        capital=tuple(map(_real, content["capital"])),
        alarm=alarm,
    )


def _look(n_streams: int, rows: Any, when: Any, streams: Any) -> Look:
    seen = tuple(Seen(_whole(n), _whole(total), _whole(rest), _real(log)) for n, total, rest, log in streams)
    if len(seen) != n_streams or any(one.total > UNITS * one.rows for one in seen):
        raise ValueError("The state has a look that cannot have been one.")
    return Look(_whole(rows), _short(when), seen)


def _contradictions(monitor: Monitor) -> Iterator[str]:
    """What cannot be so in a state that a monitor wrote."""
    amounts = [one.rows for one in monitor.streams]
    if monitor._watched.kind == "triage":  # every row is answered or handed over, and some are judged as well
        judged, amounts = amounts[0], amounts[1:]
        if judged > monitor.rows - monitor.streams[1].total:
            yield "more rows are judged than were answered"
    shared = monitor.by_cluster and len(amounts) > 1  # a cluster may have rows in several groups
    if not (max(amounts) <= monitor.rows <= sum(amounts) if shared else sum(amounts) == monitor.rows):
        yield "its rows are not those of its streams"
    if not min(1, monitor.rows) <= monitor.updates <= monitor.rows:
        yield "its updates do not go with its rows"
    places = [look.rows for look in monitor.history]
    if (
        len(places) > MOST_LOOKS
        or sorted(set(places)) != places
        or places[-1:] != [monitor.rows][: monitor.rows]
    ):
        yield "its history is not that of its rows"
    if monitor.history and monitor.history[-1].streams != tuple(one.seen for one in monitor.streams):
        yield "its last look is not what it has seen"
    for one in monitor.streams:
        if one.updates > min(one.rows, monitor.updates) or (one.rows > 0) != (one.updates > 0):
            yield f"the updates of {one.name!r} do not go with its rows"
        if len(one.capital) != (len(bets(one.limit)[0]) if one.rows and one.limit < 1 else 0):
            yield f"the capital of {one.name!r} is not that of its bets"
        # half of the starts is the very first: so much capital there must be
        elif one.capital and np.any(one.capital < log_factors(one.losses, one.limit) + math.log(0.49)):
            yield f"the capital of {one.name!r} is less than its losses call for"
        if one.is_above and one.alarm is None:
            yield f"the evidence of {one.name!r} calls for an alarm that is not there"
        if one.alarm is not None and (
            one.alarm.log_evidence < -math.log(one.alpha or 1) or not one.alarm.rows <= monitor.rows
        ):
            yield f"the alarm of {one.name!r} has no evidence"


def _whole(value: Any, most: int = MOST) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise TypeError(f"{value!r} is not a whole number from 0 to {most}")
    return value


def _real(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _short(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 40:
        raise TypeError("a time is not a short text")
    return value

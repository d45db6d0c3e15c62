"""What a monitor says in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from votecert.certificate.text import amount, chance, percent, share
from votecert.monitoring.watched import HANDED_OVER

if TYPE_CHECKING:
    from votecert.monitoring.monitor import Monitor

__all__ = ["amount", "assumptions", "evidence", "line", "statement", "times"]


def line(monitor: Monitor) -> str:
    """One line: alarm or not, rows, error, interval, limit and evidence.

    With several limits, of the one with most evidence against it.
    """
    worst = monitor.worst
    mark = "ALARM" if monitor.alarm else "no alarm"
    if worst.mean is None:
        return f"{mark}: no rows yet, {worst.what} is certified to be at most {percent(worst.limit)}"
    low, high = worst.interval(monitor.alpha_of_interval)
    return (
        f"{mark}: {worst.what} is {share(worst.mean)} on {amount(worst.rows, monitor.unit)} "
        f"({share(low)} to {percent(high)}), limit {percent(worst.limit)}, evidence {times(worst.evidence)} "
        f"of {1 / worst.alpha:.4g}"
    )


def evidence(monitor: Monitor) -> str:
    """What the evidence means."""
    worst = monitor.worst
    bound = f"{worst.what} is"
    if worst.evidence < 1:
        return f"So far there is no reason to doubt that {bound} at most {percent(worst.limit)}."
    likely = (
        f"Such rows are {times(worst.evidence)} times more likely if {bound}, or has become, larger than "
        f"{percent(worst.limit)} than if it is just that."
    )
    by_chance = sum(one.alpha > 0 for one in monitor.streams) / worst.evidence  # of any of the streams
    if by_chance >= 1:
        return likely
    return (
        f"{likely} By chance, evidence ever gets so large in at most {chance(max(1e-6, by_chance))} of all "
        "cases."
    )


def statement(monitor: Monitor) -> str:
    """What the monitor says, and how sure that is."""
    found = [stream for stream in monitor.streams if stream.alarm is not None]
    if not found:
        whole = monitor.streams[0].what.rstrip(",") if len(monitor.streams) == 1 else "anything"
        return (
            f"No alarm after {amount(monitor.rows, monitor.unit)}: nothing shows that {whole} is above what "
            f"was certified. That does not prove that it is below. {evidence(monitor)}"
        )
    first = monitor.first_alarm
    assert first is not None
    above = " and ".join(f"{one.what} is, or was for a time, above {percent(one.limit)}" for one in found)
    fed = amount(first.rows, monitor.unit)
    at = f"ALARM, raised after {fed} ({first.when}): {above}, which was certified."
    false = f"It is false with probability at most {chance(monitor.alpha)}, however often one looked."
    delta = monitor.delta
    if delta is None:
        return f"{at} {false} The limit itself was no guarantee."
    both = min(1.0, (delta + monitor.alpha) * (1 - 1e-12))
    return (
        f"{at} {false} That something has changed since the certificate was made is wrong with "
        f"probability at most {chance(both)}: the certificate may have been wrong from the start (delta "
        f"{chance(delta)}), too."
    )


def assumptions(monitor: Monitor) -> list[str]:
    """What must be true for the alarm to mean what it says."""
    triage = "The rows are all that came in, or a sample that the vote had no say in: answered rows are not "
    triage += "left out, and have no label where nobody looked."
    rows = "Given the rows before, the next one errs with no larger chance than the limit: rows that come in "
    rows += "clusters, such as many of one patient or copies of one case, are more alike than that."
    clusters = (
        "Given the clusters before, the next one has no larger mean error than the limit. Each is whole."
    )
    return [
        *([triage] if monitor.streams[-1].name == HANDED_OVER else []),
        "The rows are not those that the certificate was made from.",
        "Whether a row gets a true label, and when it is fed, does not depend on whether the vote was right.",
        "Each row is fed once, with the label it had then: corrections that come later are not fed again.",
        clusters if monitor.by_cluster else rows,
        "There is one monitor: each further one, or a new start after an alarm, has an alpha of its own.",
    ]


def times(number: float) -> str:
    """An e-value that people can read.

    Examples
    --------
    >>> times(0.0413), times(36.92), times(4711.3), times(3e9)
    ('0.0413', '36.9', '4,711', 'over a million')
    """
    if number >= 1e6:
        return "over a million"
    return f"{number:.3g}" if number < 1000 else f"{math.floor(number):,}"

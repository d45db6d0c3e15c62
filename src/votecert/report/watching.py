"""A monitor in numbers for its page and for its section of a report."""

from __future__ import annotations

from typing import NamedTuple

from votecert.certificate.text import amount, percent, share
from votecert.monitoring import Alarm, Monitor
from votecert.monitoring.words import times
from votecert.report.charts import nice_ceiling

__all__ = ["lines", "picture", "times"]

MOST_POINTS = 40
"""Looks that are drawn, evenly over the history."""


class Point(NamedTuple):
    """The worst stream at a look; ``x`` is its place from 0 to 1."""

    x: float
    rows: int
    when: str
    mean: float
    low: float
    high: float


class Picture(NamedTuple):
    """The worst stream over time."""

    points: list[Point]
    limit: float
    top: float
    alarm: float | None
    description: str


class Line(NamedTuple):
    """A limit in the table."""

    name: str
    cells: list[str]
    alarm: Alarm | None


def picture(monitor: Monitor) -> Picture | None:
    """The worst stream over time, at not too many looks; None before there are any."""
    worst = monitor.worst
    looks = monitor.looks(worst.name)
    if not looks:
        return None
    step = -(-len(looks) // MOST_POINTS)
    chosen = looks[::-1][::step][::-1]  # the last one always
    points = []
    for look, seen in chosen:
        x, limits = 0.02 + 0.96 * look.rows / monitor.rows, seen.interval(monitor.alpha_of_interval)
        points.append(Point(x, look.rows, look.when, seen.mean, *limits))
    settled = [point.high for point in points[len(points) // 2 :]]
    top = nice_ceiling(min(1.0, 1.1 * max(worst.limit, *settled, *(point.mean for point in points))))
    alarm = None if worst.alarm is None else 0.02 + 0.96 * worst.alarm.rows / monitor.rows
    last = points[-1]
    told = (
        f"After {amount(last.rows, monitor.unit)} {share(last.mean)} were wrong, between {share(last.low)} "
        f"and {percent(last.high)} at all times; certified {percent(worst.limit)}. More in the table below."
    )
    return Picture(points, worst.limit, top, alarm, told)


def lines(monitor: Monitor) -> list[Line]:
    """The state of each limit."""
    found = []
    for one in monitor.streams:
        low, high = one.interval(monitor.alpha_of_interval)
        seen = ["-"] * 3 if one.mean is None else [share(one.mean), share(low), percent(high)]
        watched = [times(one.evidence), f"{1 / one.alpha:,.4g}"] if one.alpha else ["-", "never"]
        found.append(Line(one.name, [f"{one.rows:,}", *seen, percent(one.limit), *watched], one.alarm))
    return found

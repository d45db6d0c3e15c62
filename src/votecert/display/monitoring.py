"""A vote in use: its error over time against what was certified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from votecert.certificate.text import percent
from votecert.display._canvas import BLACK, RED, SKY, Display, as_label, blue, shade
from votecert.monitoring import Monitor


@dataclass
class MonitorDisplay(Display):
    """The error so far, its always-valid limits, the certified risk, and the alarm.

    Parameters
    ----------
    rows : array
        Rows fed up to each look.
    errors, lower, upper : arrays
        Share of errors so far and its always-valid limits.
    limit : float
        The certified risk.
    alarm : int or None
        Rows after which the alarm was raised.
    what : str
        What it is that is limited, in words.
    unit : str
        What is counted: "row" or "cluster".

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by :meth:`plot`.

    Examples
    --------
    >>> from votecert import Monitor, certify
    >>> votes, y = [[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 1]] * 50, [0, 1, 1, 0] * 50
    >>> monitor = Monitor(certify(votes, y, weights="uniform"))
    >>> display = MonitorDisplay.from_monitor(monitor.update(predictions=[1] * 30, y=[0, 1, 1] * 10))
    >>> display.rows.tolist(), display.alarm
    ([30], 30)
    """

    rows: npt.NDArray[np.int64]
    errors: npt.NDArray[np.float64]
    lower: npt.NDArray[np.float64]
    upper: npt.NDArray[np.float64]
    limit: float
    alarm: int | None
    what: str = "the error"
    unit: str = "row"

    @classmethod
    def from_monitor(cls, monitor: Monitor, *, stream: str | None = None, ax: Any = None) -> Self:
        """The history of a monitor.

        Parameters
        ----------
        monitor : Monitor
        stream : str, optional
            Which limit, for certificates by group; by default the one with most evidence against it.
        ax : matplotlib Axes, optional
            Draw there at once.
        """
        name = monitor.worst.name if stream is None else stream
        looks = monitor.looks(name)
        limits = [seen.interval(monitor.alpha_of_interval) for _, seen in looks]
        watched = next(one for one in monitor.streams if one.name == name)
        return cls(
            rows=np.array([look.rows for look, _ in looks], dtype=np.int64),
            errors=np.array([seen.mean for _, seen in looks]),
            lower=np.array([low for low, _ in limits]),
            upper=np.array([high for _, high in limits]),
            limit=watched.limit,
            alarm=None if watched.alarm is None else watched.alarm.rows,
            what=watched.what,
            unit=monitor.unit,
        )._drawn_on(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._axes(ax, grid="y")
        ax.fill_between(self.rows, self.lower, self.upper, color=SKY, alpha=0.4, label="always-valid limits")
        ax.plot(self.rows, self.errors, "o-", color=blue(), markersize=4, label="so far")
        ax.axhline(self.limit, color=shade(BLACK), linestyle="--", label=f"certified: {percent(self.limit)}")
        if self.alarm is not None:
            ax.axvline(self.alarm, color=RED, linewidth=2, label=f"alarm after {self.alarm:,} {self.unit}s")
        settled = self.upper[len(self.upper) // 2 :]
        ax.set_ylim(0, min(1.02, 1.15 * max([self.limit, *settled.tolist(), *self.errors.tolist()])))
        what = f"labelled {self.unit}s since the certificate"
        return self._named(what, as_label(self.what), percent="y", legend="upper right")

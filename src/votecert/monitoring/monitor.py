"""The monitor: labelled rows go in as they come, and it may be looked at as often as one likes."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import compress
from typing import Any, Self

import numpy as np

from votecert._types import BoolArray, FloatArray, Indices
from votecert.certificate.triage import Triage
from votecert.monitoring import words
from votecert.monitoring.memory import Memory
from votecert.monitoring.streams import Alarm, Look, Seen, Stream
from votecert.monitoring.watched import Subject, watch
from votecert.rows.clusters import read_clusters
from votecert.rows.read import check_delta
from votecert.rows.vote_table import VoteTable

MOST_LOOKS = 500
"""So many looks are kept; then every second of the older ones is dropped."""

Items = Sequence[Any] | None


class Monitor:
    r"""Watch a certified vote in use.

    Labelled rows are fed as they come, in batches of any size. The alarm says that the error is above the
    certified risk. However often one looks, and for however long, the chance of a false alarm is at most
    ``alpha`` in all.

    Parameters
    ----------
    certificate : Certificate, CertificateTable, LossCertificate or Triage
        What was certified; one of clusters counts clusters. A table of groups shares alpha over its groups;
        for triage the error among answered rows and the share of rows handed over have one half each.
    alpha : float, default=0.01
        Chance of a false alarm, over all time.
    by_cluster : bool, default=False
        Whether rows come in clusters (patients, conversations) that are wrong together: then each cluster is
        one loss, the mean error of its rows, and the limit is on that of a random row of a random cluster.

    Attributes
    ----------
    streams : tuple of Stream
        One for each limit: its counts, its evidence, its alarm.
    rows, updates : int
        Rows (or clusters) and batches that were fed.
    history : list of Look
        The monitor after each update: at most 500 of them, the older ones thinned out.

    Notes
    -----
    With :math:`X_s` one for an error on row s and zero otherwise, r the certified risk, bets :math:`l_j` with
    shares :math:`w_j` that follow from r alone, and shares :math:`v_u` of the updates, the evidence is

    .. math:: E_t = \sum_j w_j\sum_u v_u\prod_{s\text{ fed since update }u}\big(1 + l_j(X_s - r)/r\big)
              + \sum_{\text{later }u}v_u.

    As long as, *given everything fed before, the next row errs with chance at most r*, this is a non-negative
    supermartingale that starts at one, and by Ville's inequality it ever reaches 1/alpha with probability at
    most alpha. A bet is a likelihood ratio of an error above r to r; one that starts with a later update has
    lost nothing in the good time before. :mod:`votecert.numerics.sequential` has the shares and the proof.

    That condition is more than a fair sample: which rows get a label, and when they are fed, must not depend
    on whether the vote was right. :attr:`assumptions` says what to see to.

    A second monitor beside the first, or a new one after an alarm, spends an alpha of its own.

    References
    ----------
    J. Ville, Etude critique de la notion de collectif, 1939. H. Robbins, Statistical methods related to the
    law of the iterated logarithm, Annals of Mathematical Statistics 41, 1970.

    Examples
    --------
    >>> import numpy as np, votecert as vc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=3000)
    >>> votes = np.where(rng.random((3000, 5)) < 0.8, y[:, None], 1 - y[:, None])
    >>> monitor = vc.Monitor(vc.certify(votes[:1000], y[:1000], weights="uniform"))
    >>> monitor.update(votes[1000:2000], y[1000:2000]).alarm
    False
    >>> monitor.update(votes[2000:], 1 - y[2000:]).alarm  # the world has changed
    True
    """

    def __init__(self, certificate: Subject, alpha: float = 0.01, *, by_cluster: bool = False) -> None:
        check_delta(alpha, "alpha", usual=0.01)
        self._watched = watch(certificate)
        if by_cluster and isinstance(certificate, Triage):
            raise TypeError("by_cluster=True is for certificates: triage counts rows.")
        self.alpha = float(alpha)
        self.by_cluster = bool(by_cluster) or getattr(certificate, "clusters", False) is True
        self.streams = self._watched.streams(self.alpha)
        self.rows = self.updates = 0
        self.history: list[Look] = []
        self._memory = Memory()

    @property
    def unit(self) -> str:
        """What is counted."""
        return "cluster" if self.by_cluster else "row"

    @property
    def certificates(self) -> tuple[Any, ...]:
        """What is watched: a certificate, those of groups, or triage."""
        return self._watched.results

    def update(
        self,
        votes: Any = None,
        y: Any = None,
        *,
        predictions: Any = None,
        groups: Any = None,
        clusters: Any = None,
        items: Items = None,
        skip_seen: bool = False,
        batch: str | None = None,
        when: Any = None,
    ) -> Self:
        """Feed labelled rows. If anything is wrong with them nothing is fed.

        Parameters
        ----------
        votes : (rows, d) labels, (rows, d, c) scores of a soft vote, Ballots, or what read_votes returns
            Of the same voters in the same order; columns of a table are found by name. What was read from a
            file has its labels, items and groups with it.
        y : (rows,) labels
            The true labels. For triage, give all rows, with None where nobody knows: they count for the
            coverage.
        predictions : (rows,) labels, optional
            What the vote said, in place of ``votes``. A missing one is an error, as in the certificate; for
            triage it was handed over.
        groups : (rows,) labels or "class", optional
            For certificates by group: to which one each row belongs. Those by what the vote says need none.
        clusters : (rows,) labels, optional
            For monitors that count clusters: to which one each row belongs. Each is fed once and as a whole.
        items : sequence, optional
            A name for each row. Rows that were fed before are noticed by it: the last 100 000 items are
            remembered.
        skip_seen : bool, default=False
            Leave out the items that were fed before, instead of refusing the batch: for a file that grows.
        batch : str, optional
            A name for the batch, such as the date: one of the same name is refused. By default a digest of
            the rows, if they have no names and are at least 20.
        when : optional
            The time of the update, for the record; now by default.

        Returns
        -------
        Monitor
            Itself.
        """
        if isinstance(votes, VoteTable) and y is None:
            named: dict[str, Any] = {"groups": groups, "items": items}
            given = {name: value for name, value in named.items() if value is not None}
            others = {
                "clusters": clusters,
                "predictions": predictions,
                "skip_seen": skip_seen,
                "batch": batch,
            }
            return self.update(**self._watched.of_table(votes) | given | others, when=when)
        if y is not None and len(y) == 0:
            return self
        answers, labels = self._watched.outcomes(votes, y, predictions)
        group = self._watched.groups(groups, answers, labels)
        unit, items = self._units(clusters, items, len(labels))
        n_units = int(unit[-1]) + 1 if clusters is None else len(items or ())
        kept = self._memory.new_items(items, n_units, skip_seen)
        batch = self._memory.new_batch(batch, items, answers, labels, group)
        n_new = int(kept.sum())
        if n_new == 0:
            return self
        rows, time = self.rows + n_new, _time(when)
        losses = self._watched.losses(answers, labels, group)
        streams = tuple(
            stream.fed(self._by_unit(*losses[stream.name], unit, kept), rows, time) for stream in self.streams
        )
        # nothing can fail from here on
        self.streams, self.rows, self.updates = streams, rows, self.updates + 1
        self._memory.add(() if items is None else compress(items, kept.tolist()), batch)
        if len(self.history) >= MOST_LOOKS:
            self.history = self.history[: MOST_LOOKS // 2 : 2] + self.history[MOST_LOOKS // 2 :]
        self.history.append(Look(rows, time, tuple(one.seen for one in streams)))
        return self

    def _units(self, clusters: Any, items: Items, n_rows: int) -> tuple[Indices, Items]:
        """The number of the unit that each row belongs to, and the names of the units."""
        if (clusters is not None) != self.by_cluster:
            raise TypeError(
                "This monitor counts clusters: say with clusters= to which one each row belongs."
                if self.by_cluster
                else "clusters= would be ignored here: make the monitor with by_cluster=True."
            )
        if clusters is None:
            return np.arange(n_rows), items
        if items is not None:
            raise TypeError("items= would be ignored here: clusters are fed as a whole, by their names.")
        numbers = read_clusters(clusters, n_rows)
        names = dict(zip(numbers.tolist(), map(str, clusters), strict=True))
        return numbers, [names[number] for number in range(len(names))]

    def _by_unit(self, chosen: BoolArray, losses: FloatArray, unit: Indices, kept: BoolArray) -> FloatArray:
        """The loss of each unit that is new, over the rows that a stream is about."""
        chosen = chosen & kept[unit]
        if not self.by_cluster:
            return losses[chosen]
        places, sizes = np.unique(unit[chosen], return_counts=True)
        sums = np.bincount(unit[chosen], weights=losses[chosen])[places].astype(np.float64)
        return self._watched.of_cluster(sums, sizes)

    def looks(self, name: str) -> list[tuple[Look, Seen]]:
        """The looks at which the stream of this name had rows, and what it had seen."""
        names = [one.name for one in self.streams]
        if name not in names:
            raise ValueError(f"There is no stream {name!r}; there are: {', '.join(names)}.")
        place = names.index(name)
        return [(look, look.streams[place]) for look in self.history if look.streams[place].rows]

    @property
    def worst(self) -> Stream:
        """The stream with most evidence against its limit, for its share of alpha."""

        def key(one: Stream) -> tuple[bool, float]:
            return one.rows > 0, one.log_evidence + math.log(one.alpha) if one.alpha else -math.inf

        return max(self.streams, key=key)

    @property
    def alarm(self) -> bool:
        """Whether the error was ever found above its limit; once it was, that stays."""
        return any(stream.alarm is not None for stream in self.streams)

    @property
    def first_alarm(self) -> Alarm | None:
        """When the alarm was raised first."""
        alarms = [stream.alarm for stream in self.streams if stream.alarm is not None]
        return min(alarms, key=lambda alarm: alarm.rows, default=None)

    @property
    def evidence(self) -> float:
        """The e-value against the limits, rounded down: the alarm is raised when it reaches 1/alpha.

        With several limits, that of the :attr:`worst` one, times its share of alpha.
        """
        worst = self.worst
        return worst.evidence * (worst.alpha / self.alpha if len(self.streams) > 1 else 1.0)

    @property
    def interval(self) -> tuple[float, float]:
        """Limits of the error that hold at all times together with probability 1 - alpha, if it is constant.

        That alpha is one of their own. With several streams, those of the :attr:`worst`: which one that is
        depends on the rows, so the streams share alpha and the limits of all hold together.
        """
        return self.worst.interval(self.alpha_of_interval)

    @property
    def alpha_of_interval(self) -> float:
        """Share of alpha for the always-valid limits of each stream."""
        return self.alpha / len(self.streams)

    @property
    def statement(self) -> str:
        """What the monitor says, in words."""
        return words.statement(self)

    @property
    def evidence_in_words(self) -> str:
        """What the evidence means."""
        return words.evidence(self)

    @property
    def assumptions(self) -> list[str]:
        """What must be true for the alarm to mean what it says."""
        return words.assumptions(self)

    @property
    def delta(self) -> float | None:
        """Chance that a certificate was wrong from the start; None if one is no guarantee."""
        return self._watched.delta

    def plot(self, ax: Any = None) -> Any:
        """Draw error, interval and certified risk over time; needs the extra ``votecert[plots]``."""
        from votecert.display.monitoring import MonitorDisplay

        return MonitorDisplay.from_monitor(self).plot(ax)

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str:
        """A page to look at, complete in itself; needs the extra ``votecert[cli]``."""
        from votecert.report import monitor_page

        return monitor_page(self, path, title=title)

    def to_json(self) -> str:
        """The state as JSON text: the certificates, a few counts, and a bounded history."""
        from votecert.monitoring.state import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, text: str, certificate: Subject | None = None) -> Self:
        """Go on where :meth:`to_json` left off.

        Parameters
        ----------
        text : str
        certificate : Certificate, CertificateTable, LossCertificate or Triage, optional
            What the state must be about; one of another certificate is refused.
        """
        from votecert.monitoring.state import from_json

        return from_json(cls, text, certificate)

    def __repr__(self) -> str:
        mark = "ALARM" if self.alarm else "no alarm"
        return f"Monitor({mark}, rows={self.rows:,}, evidence={self.evidence:.3g}, alpha={self.alpha:g})"


def _time(when: Any) -> str:
    """A time as text."""
    text = datetime.now(UTC).isoformat(timespec="seconds") if when is None else str(when)
    if len(text) > 40:
        raise ValueError("when must be a time, or a text of at most 40 characters.")
    return text

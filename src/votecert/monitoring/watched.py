"""What is watched: results about one vote, the limits that they set, and the losses of new rows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from votecert._types import AnyArray, BoolArray, FloatArray, Indices, IntArray
from votecert.certificate import Certificate, CertificateTable
from votecert.certificate.groups import PREDICTED
from votecert.certificate.losses import LossCertificate
from votecert.certificate.losses.counting import UNIT, error_costs, in_units
from votecert.certificate.triage import Triage
from votecert.monitoring._labels import are_new, column, listed
from votecert.monitoring.streams import Stream
from votecert.rows.ballots import Ballots
from votecert.rows.labels import encode
from votecert.rows.tables import in_order, is_missing, places_of
from votecert.rows.vote_table import VoteTable

ERROR, COST, HANDED_OVER = "error", "cost", "handed over"
"""Names of streams: of a plain certificate, of one of costs, and of triage."""

NOBODY, NOT_KNOWN, NEW = -1, -2, -3
"""Place of the answer where there is none, of a true label that nobody knows, and of one that is no class."""

Places = Indices
Losses = tuple[BoolArray, FloatArray]
Subject = Certificate | CertificateTable | Triage | LossCertificate


@dataclass(frozen=True)
class Watched(ABC):
    """Results about one vote, which say what is to be watched."""

    results: tuple[Any, ...]

    kind: ClassVar[str]
    counts_all: ClassVar[bool] = False

    @property
    def vote(self) -> Any:
        """A result of the vote; all others are about the same one."""
        return self.results[0]

    @property
    def delta(self) -> float | None:
        """Chance that a limit was wrong from the start; None if one is no guarantee."""
        if not all(one.is_guarantee for one in self.results):
            return None
        return math.fsum(one.delta for one in self.results)

    @abstractmethod
    def limits(self) -> Sequence[tuple[str, str, float]]:
        """Name, meaning and limit of each stream; a limit of one says nothing."""

    @abstractmethod
    def losses(self, answers: Places, labels: Places, groups: Any) -> Mapping[str, Losses]:
        """For each stream, which rows it is about, and the losses of all rows."""

    def of_cluster(self, sums: FloatArray, sizes: IntArray) -> FloatArray:
        """The loss of each cluster, from the losses of its rows and their number: the mean."""
        return np.asarray(sums / sizes)

    def streams(self, alpha: float) -> tuple[Stream, ...]:
        """A stream for each limit; those that say something have equal shares of alpha."""
        limits = self.limits()
        n_watched = sum(limit < 1 for *_, limit in limits)
        if not n_watched:
            raise ValueError(
                "This says nothing about the vote (the risk is 1), so there is no limit to watch: certify "
                f"with more rows first. {getattr(self.vote, 'reason', None) or ''}".strip()
            )
        return tuple(
            Stream(name, limit, alpha / n_watched if limit < 1 else 0.0, what) for name, what, limit in limits
        )

    def outcomes(self, votes: Any, y: Any, predictions: Any) -> tuple[Places, Places]:
        """Places of the answers and of the true labels among the classes, row by row."""
        if (votes is None) == (predictions is None):
            raise TypeError("Give either votes, what each voter says, or predictions=, what the vote says.")
        if isinstance(votes, Ballots):
            if y is not None:
                raise TypeError("y= would be ignored here: Ballots have the true labels in them.")
            if votes.pattern_of_row is None:
                raise ValueError("These ballots do not know the order of their rows: give the votes instead.")
            return self.answers_of(votes)[votes.pattern_of_row], votes.labels[votes.pattern_of_row]
        if y is None:
            raise TypeError("The true labels y are missing: update(votes, y).")
        if votes is None:
            places, labels = self.encoded(predictions, y)
            return np.where(places == len(self.vote.predictor.classes), NOBODY, places), labels
        answers = self.answers(in_order(votes, self.vote.voters))
        return answers, self.encoded(self.vote.predictor.labels[np.maximum(answers, 0)], y)[1]

    def of_table(self, table: VoteTable) -> dict[str, Any]:
        """What a table of votes has to feed; with the rows that nobody looked at, where these count."""
        votes, y, items = table.votes, table.y.tolist(), table.items
        if self.counts_all and len(table.unlabelled):
            votes, y = np.concatenate([votes, table.unlabelled]), [*y, *[None] * len(table.unlabelled)]
            items = None if items is None else np.append(items, cast(AnyArray, table.unlabelled_items))
        names, voters = table.voters, self.vote.voters
        places = None if names is None or voters is None else places_of(voters, names)
        votes = votes if places is None else votes[:, places]
        return {"votes": votes, "y": y, "items": items, "groups": table.groups}

    def answers(self, votes: Any) -> Places:
        """Places of the answers to new rows."""
        return np.asarray(self.vote.predictor.answers(votes)[0])

    def answers_of(self, ballots: Ballots) -> Places:
        """The same, for the patterns of ballots."""
        vote = self.vote.predictor
        return ballots.predict(vote.numbers, vote.offsets, vote.fallback)

    def encoded(self, said: Any, y: Any) -> tuple[Places, Places]:
        """Places of answers and true labels among the classes; an answer that is missing comes last.

        The vote never names a true label that is none of its classes: such a row is an error like others.
        """
        classes, truth = self.vote.predictor.classes, listed(y)
        new = are_new(truth, classes)
        known = [classes[0] if is_new else label for label, is_new in zip(truth, new, strict=True)]
        found = encode(column(said), known, classes)
        return found.codes[:, 0].astype(np.intp), np.where(new, NEW, found.labels)

    def groups(self, groups: Any, answers: Places, labels: Places) -> npt.NDArray[np.str_] | None:
        """The group of each row, where results are by group."""
        if groups is not None:
            raise TypeError("groups= would be ignored here: the certificate is about all rows.")
        return None


@dataclass(frozen=True)
class WatchedCertificate(Watched):
    """The error of a vote, on all rows."""

    kind = "certificate"

    def limits(self) -> Sequence[tuple[str, str, float]]:
        return [(ERROR, "the error", self.vote.risk)]

    def losses(self, answers: Places, labels: Places, groups: Any) -> Mapping[str, Losses]:
        return {ERROR: (np.ones(len(labels), dtype=bool), (answers != labels).astype(np.float64))}


@dataclass(frozen=True)
class WatchedGroups(WatchedCertificate):
    """The error of a vote in each of some groups."""

    kind = "groups"

    def limits(self) -> Sequence[tuple[str, str, float]]:
        return [(str(one.group), f"the error in group {one.group}", one.risk) for one in self.results]

    def losses(self, answers: Places, labels: Places, groups: Any) -> Mapping[str, Losses]:
        wrong = (answers != labels).astype(np.float64)
        return {str(one.group): (groups == one.group, wrong) for one in self.results}

    def groups(self, groups: Any, answers: Places, labels: Places) -> npt.NDArray[np.str_] | None:
        if by_answer(self.vote):
            if groups is not None and not (isinstance(groups, str) and groups == "predicted"):
                raise TypeError(
                    "groups= would be ignored here: these certificates are by what the vote says, which is "
                    "known without it."
                )
            groups = self._names_of_answers()[np.maximum(answers, 0)]
        if groups is None:
            raise TypeError(
                "These certificates are by group: say with groups= which one each row belongs to."
            )
        if isinstance(groups, str):
            if groups != "class":
                raise ValueError(f"groups must be 'class' or one label a row, not {groups!r}.")
            if (labels == NEW).any():
                raise ValueError("A true label is none of the classes, so it has no certificate of its own.")
            groups = self.vote.predictor.labels[labels]
        names = np.array([str(name) for name in groups], dtype=np.str_)
        if names.shape != labels.shape:
            raise ValueError(
                f"groups must have one label a row, {len(labels)} in all, but there are {len(names)}."
            )
        known = [str(one.group) for one in self.results]
        if unknown := sorted(set(names.tolist()) - set(known)):
            raise ValueError(
                f"There is no certificate for the group {unknown[0]!r}; there are: {', '.join(known[:8])}. "
                "Leave out rows of other groups: nothing was certified about them."
            )
        return names

    def _names_of_answers(self) -> npt.NDArray[np.object_]:
        """For each class the group of the rows that get it, which may have the grouping's name before it."""
        known, labels = [str(one.group) for one in self.results], map(str, self.vote.predictor.classes)
        named = [
            next((name for name in known if f": {name}".endswith(f": {label}")), label) for label in labels
        ]
        return np.array(named, dtype=object)


@dataclass(frozen=True)
class WatchedTriage(Watched):
    """The error among the rows that a vote answers, and the share of rows that it hands over."""

    kind = "triage"
    counts_all = True

    def limits(self) -> Sequence[tuple[str, str, float]]:
        rest = min(1.0, math.nextafter(1 - self.vote.coverage, 2))
        return [
            (ERROR, "the error among answered rows", self.vote.risk),
            (HANDED_OVER, "the share of rows handed over", rest),
        ]

    def losses(self, answers: Places, labels: Places, groups: Any) -> Mapping[str, Losses]:
        answered = answers != NOBODY
        return {
            ERROR: (answered & (labels != NOT_KNOWN), (answers != labels).astype(np.float64)),
            HANDED_OVER: (np.ones(len(labels), dtype=bool), (~answered).astype(np.float64)),
        }

    def answers(self, votes: Any) -> Places:
        return np.asarray(self.vote.places(self.vote.totals(votes)))

    def answers_of(self, ballots: Ballots) -> Places:
        return np.asarray(self.vote.places(self.vote.predictor.count_codes(ballots.codes)))

    def encoded(self, said: Any, y: Any) -> tuple[Places, Places]:
        """Rows that were answered and nobody looked at have no true label: they count as answered."""
        truth, answers = listed(y), listed(said)
        if len(truth) != len(answers):
            raise ValueError(f"There are {len(truth)} true labels for {len(answers)} rows.")
        known = ~is_missing(truth)
        classes = self.vote.predictor.classes
        # a class takes the place of a label that is not known, and is taken out again
        filled = [label if there else classes[0] for label, there in zip(truth, known, strict=True)]
        places, labels = super().encoded(answers, filled)
        return places, np.where(known, labels, NOT_KNOWN)


@dataclass(frozen=True)
class WatchedLosses(Watched):
    r"""The expected cost of a vote, or its error by cluster.

    Notes
    -----
    Where clusters have at most N rows and rows count alike, the limit r is on the losses of a cluster by its
    rows, :math:`E k_g\le r\,E N_g`. That is :math:`E L_g\le r` for
    :math:`L_g = r(1 - N_g/N) + k_g/N`, which lies between 0 and 1.
    """

    kind = "losses"

    def limits(self) -> Sequence[tuple[str, str, float]]:
        name, what = ERROR, "the error"
        if self.vote.costs is not None:
            name, what = COST, f"the expected cost, as a share of {self.vote.scale:g},"
        if self.vote.largest is not None:  # the mean of what is counted is something else then
            what += " (which small clusters pull towards the limit)"
        return [(name, what, self.vote.risk)]

    def losses(self, answers: Places, labels: Places, groups: Any) -> Mapping[str, Losses]:
        name, *_ = self.limits()[0]
        if (labels == NEW).any():
            raise ValueError("A true label is none of the classes: what its row costs was never said.")
        units = in_units(self.vote.costs or error_costs(len(self.vote.classes)), down=True)
        return {name: (np.ones(len(labels), dtype=bool), units[labels, answers] / UNIT)}

    def of_cluster(self, sums: FloatArray, sizes: IntArray) -> FloatArray:
        most = self.vote.largest
        if most is None:
            return super().of_cluster(sums, sizes)
        if sizes.max(initial=0) > most:
            raise ValueError(f"A cluster has {sizes.max()} rows, more than the {most} that were declared.")
        # the last digits are rounded down, too
        return np.asarray(np.clip(self.vote.risk * (1 - sizes / most) + sums / most - 1e-15, 0.0, 1.0))


def watch(subject: Any) -> Watched:
    """What a certificate, a table of groups or triage sets limits for."""
    if isinstance(subject, LossCertificate):
        return WatchedLosses((subject,))
    if isinstance(subject, Triage):
        return WatchedTriage((subject,))
    if isinstance(subject, Certificate):
        return WatchedCertificate((subject,))
    if not isinstance(subject, CertificateTable):
        raise TypeError(
            "A monitor needs a Certificate, a table of groups, a LossCertificate or Triage, not "
            f"{type(subject).__name__}."
        )
    if subject.by != "group":
        raise ValueError("These certificates are by several bounds: watch one of them, table[bound].")
    if len({one.predictor for one in subject}) > 1:
        raise ValueError("These certificates are about several votes: a monitor watches one.")
    if len({by_answer(one) for one in subject}) > 1:
        raise ValueError(
            "These certificates are by what the vote says and by other groups, too: a row belongs to "
            "several. Watch a table of one grouping."
        )
    return WatchedGroups(subject.certificates)


def by_answer(certificate: Certificate) -> bool:
    """Whether the certificate is about the rows that the vote gives one answer."""
    return PREDICTED in certificate.declared

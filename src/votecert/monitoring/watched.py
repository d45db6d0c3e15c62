"""What is watched: certificates about one vote, which limits they set, and the losses of new rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from votecert.certificate import Certificate, CertificateTable
from votecert.monitoring.streams import Stream
from votecert.rows.ballots import Ballots
from votecert.rows.labels import encode
from votecert.rows.tables import in_order

ERROR = "error"
"""Name of the only stream of a plain certificate."""


@dataclass(frozen=True)
class Watched:
    """Certificates about one vote: a single one, or one for each group."""

    certificates: tuple[Certificate, ...]
    by_group: bool

    @classmethod
    def of(cls, subject: Any) -> Self:
        """What a certificate, or a table of groups, sets limits for."""
        if isinstance(subject, Certificate):
            found = cls((subject,), False)
        elif isinstance(subject, CertificateTable):
            if subject.by != "group":
                raise ValueError("These certificates are by several bounds: watch one of them, table[bound].")
            found = cls(subject.certificates, True)
        else:
            raise TypeError(
                f"A monitor needs a Certificate or a table of groups, not {type(subject).__name__}."
            )
        if len({one.predictor for one in found.certificates}) > 1:
            raise ValueError("These certificates are about several votes: a monitor watches one.")
        if all(one.risk >= 1 for one in found.certificates):
            raise ValueError(
                "This certificate says nothing (its risk is 1), so there is no limit to watch: certify with "
                f"more rows first. {found.certificates[0].reason or ''}".strip()
            )
        return found

    @property
    def vote(self) -> Certificate:
        """A certificate of the vote; all others are about the same one."""
        return self.certificates[0]

    @property
    def delta(self) -> float | None:
        """Chance that a limit was wrong from the start; None if one is no guarantee."""
        if not all(one.is_guarantee for one in self.certificates):
            return None
        return math.fsum(one.delta for one in self.certificates)

    def streams(self, alpha: float) -> tuple[Stream, ...]:
        """A stream for each certificate; those that say something have equal shares of alpha."""
        share = alpha / sum(one.risk < 1 for one in self.certificates)
        return tuple(
            Stream(str(one.group) if self.by_group else ERROR, one.risk, share if one.risk < 1 else 0.0)
            for one in self.certificates
        )

    def outcomes(self, votes: Any, y: Any, predictions: Any) -> tuple[npt.NDArray[np.intp], ...]:
        """Places of the answers (-1: nobody votes) and of the true labels among the classes, row by row."""
        vote = self.vote.predictor
        if (votes is None) == (predictions is None):
            raise TypeError("Give either votes, what each voter says, or predictions=, what the vote says.")
        if isinstance(votes, Ballots):
            if y is not None:
                raise TypeError("y= would be ignored here: Ballots have the true labels in them.")
            if votes.pattern_of_row is None:
                raise ValueError("These ballots do not know the order of their rows: give the votes instead.")
            winner = votes.predict(vote.numbers, vote.offsets, vote.fallback)
            return winner[votes.pattern_of_row], votes.labels[votes.pattern_of_row]
        if y is None:
            raise TypeError("The true labels y are missing: update(votes, y).")
        if predictions is not None:
            encoded = encode(_column(predictions), y, vote.classes)
            return encoded.codes[:, 0].astype(np.intp), encoded.labels
        winner = vote.answers(in_order(votes, self.vote.voters))[0]
        return winner, encode(_column(vote.labels[np.maximum(winner, 0)]), y, vote.classes).labels

    def losses(
        self, wrong: npt.NDArray[np.bool_], groups: npt.NDArray[np.str_] | None
    ) -> Mapping[str, npt.NDArray[np.float64]]:
        """The losses of each stream, in the order of the rows."""
        if groups is None:
            return {ERROR: wrong.astype(np.float64)}
        return {str(one.group): wrong[groups == one.group].astype(np.float64) for one in self.certificates}

    def groups(self, groups: Any, labels: npt.NDArray[np.intp]) -> npt.NDArray[np.str_] | None:
        """The group of each row, as the certificates call it."""
        if not self.by_group:
            if groups is not None:
                raise TypeError("groups= would be ignored here: the certificate is about all rows.")
            return None
        if groups is None:
            raise TypeError(
                "These certificates are by group: say with groups= to which one each row belongs."
            )
        if isinstance(groups, str):
            if groups != "class":
                raise ValueError(f"groups must be 'class' or one label a row, not {groups!r}.")
            groups = self.vote.predictor.labels[labels]
        names = np.array([str(name) for name in groups], dtype=np.str_)
        if names.shape != labels.shape:
            raise ValueError(
                f"groups must have one label a row, {len(labels)} in all, but there are {len(names)}."
            )
        known = [str(one.group) for one in self.certificates]
        if unknown := sorted(set(names.tolist()) - set(known)):
            raise ValueError(
                f"There is no certificate for the group {unknown[0]!r}; there are: {', '.join(known[:8])}. "
                "Leave out rows of other groups: nothing was certified about them."
            )
        return names


def _column(labels: Any) -> Any:
    """Labels as a table of one column."""
    if hasattr(labels, "to_numpy"):
        labels = labels.to_numpy()
    return [[label] for label in (labels.tolist() if isinstance(labels, np.ndarray) else labels)]

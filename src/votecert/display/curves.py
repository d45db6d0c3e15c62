"""Curves: how the certificate falls with the number of rows, and how clearly the vote is right or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from votecert.certificate import Certificate, certify
from votecert.certificate.certified_rows import certified_rows
from votecert.certificate.text import confidence, percent, share
from votecert.display._canvas import FAINT, GREY, RED, Display, blue, shade
from votecert.report.charts import with_more_rows
from votecert.report.margins import leads, margin_cut
from votecert.rows.ballots import Ballots

FACTORS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
"""How many times the rows the projection goes to."""

SHARES = (0.05, 0.1, 0.2, 0.35, 0.6, 1.0)
"""Parts of the rows on which certificates are made."""


@dataclass
class CertificateCurveDisplay(Display):
    """Certificates by the number of rows: made on parts of the rows, and projected to more of them.

    Parameters
    ----------
    certificate : Certificate
        The one on all rows.
    rows, risks : arrays
        Numbers of rows and the certificates made on them.
    projected_rows, projected_risks : arrays
        Numbers of rows and what the bound would be if the same share of them were wrong.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by :meth:`plot`.

    Examples
    --------
    >>> from votecert import certify
    >>> votes, y = [[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 1, 1]] * 50, [0, 1, 1, 0] * 50
    >>> display = CertificateCurveDisplay.from_certificate(certify(votes, y, weights="uniform"))
    >>> bool(display.projected_risks[-1] < display.risks[0])
    True
    """

    certificate: Certificate
    rows: npt.NDArray[np.int64]
    risks: npt.NDArray[np.float64]
    projected_rows: npt.NDArray[np.int64]
    projected_risks: npt.NDArray[np.float64]

    @classmethod
    def from_certificate(
        cls, certificate: Certificate, *, factors: Sequence[int] = FACTORS, ax: Any = None
    ) -> Self:
        """Project a certificate to more rows.

        Parameters
        ----------
        certificate : Certificate
        factors : sequence of int
            How many times the rows.
        ax : matplotlib Axes, optional
            Draw there at once.
        """
        return cls._build([certificate], factors, ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, factors: Sequence[int] = FACTORS, ax: Any = None) -> Self:
        """Project the certificate of a fitted :class:`~votecert.CertifiedVotingClassifier` to more rows."""
        return cls.from_certificate(estimator.certificate_, factors=factors, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        votes: Any,
        y: Any,
        *,
        shares: Sequence[float] = SHARES,
        factors: Sequence[int] = FACTORS,
        random_state: int = 0,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Certify growing random parts of the rows, and project the last certificate to more rows.

        Parameters
        ----------
        votes : (m, d) array of labels
        y : (m,) array of labels
        shares : sequence of float
            Parts of the rows, up to 1.
        factors : sequence of int
            How many times the rows the projection goes to.
        random_state : int, default=0
            Seed of the order in which rows are added.
        ax : matplotlib Axes, optional
            Draw there at once.
        **options
            Of :func:`votecert.certify`. Without ``classes`` the labels of all rows are taken.
        """
        votes, y = np.asarray(votes), np.asarray(y)
        options.setdefault("classes", Ballots.from_votes(votes, y).classes)  # missing votes are none
        order = np.random.default_rng(random_state).permutation(len(y))
        parts = [order[: max(1, round(share * len(y)))] for share in sorted(shares)]
        return cls._build([certify(votes[part], y[part], **options) for part in parts], factors, ax)

    @classmethod
    def _build(cls, certificates: list[Certificate], factors: Sequence[int], ax: Any) -> Self:
        last = certificates[-1]
        return cls(
            certificate=last,
            rows=np.array([certificate.terms.n_rows for certificate in certificates]),
            risks=np.array([certificate.risk for certificate in certificates]),
            projected_rows=np.array([factor * last.terms.n_rows for factor in sorted(factors)]),
            projected_risks=np.array([with_more_rows(last, factor) for factor in sorted(factors)]),
        )._drawn_on(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._axes(ax, grid="y")
        errors, last = self.certificate.empirical_risk, float(self.risks[-1])
        kind = "certificates" if self.certificate.is_guarantee else "bounds, NOT A GUARANTEE"
        made, projected = f"{kind} ({self.certificate.bound})", "projected: as many errors a row"
        ax.plot(self.rows, self.risks, "o-", color=blue(), linewidth=2, label=made)
        ax.plot(self.projected_rows, self.projected_risks, "--", color=blue(), label=projected)
        ax.axhline(errors, color=shade(GREY), linestyle=":", label=f"errors on the rows: {share(errors)}")
        where = {"xytext": (6, 8), "textcoords": "offset points"}
        ax.annotate(percent(last), (int(self.rows[-1]), last), color=blue(), **where)
        ax.set_xscale("log")
        ax.set_ylim(0, min(1.02, 1.15 * float(max(self.risks.max(), self.projected_risks.max()))))
        return self._named("certifying rows", "bound on the error", percent="y", legend="upper right")


@dataclass
class MarginDisplay(Display):
    """Distribution of the margins of the vote, with its certificate.

    The curve says which share of the rows has a lead of at most x: the votes for the true class less those
    for the best other class, as a share of the votes cast (for margin bounds: of all votes). Rows with a
    negative lead are errors. The mark at zero is the certificate.

    Parameters
    ----------
    leads : (n,) array
        Lead of the true class on each row.
    errors : float
        Share of rows that the vote gets wrong.
    certificate : Certificate
        What is guaranteed.
    cut : float, default=0
        Up to this lead a margin bound counts a row as lost.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by :meth:`plot`.

    Examples
    --------
    >>> from votecert import certify
    >>> votes, y = [[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 1, 1]] * 50, [0, 1, 1, 0] * 50
    >>> display = MarginDisplay.from_certificate(certify(votes, y, weights="uniform"), votes, y)
    >>> display.errors, sorted(set(display.leads.round(2).tolist()))
    (0.25, [-0.33, 0.33, 1.0])
    """

    leads: npt.NDArray[np.float64]
    errors: float
    certificate: Certificate
    cut: float = 0.0

    @classmethod
    def from_certificate(cls, certificate: Certificate, votes: Any, y: Any, *, ax: Any = None) -> Self:
        """Margins of the certified vote on rows: those that certified it, or others.

        Parameters
        ----------
        certificate : Certificate
        votes : (n, d) labels, or (n, d, c) scores for a soft vote
        y : (n,) labels
        ax : matplotlib Axes, optional
            Draw there at once; by default :meth:`plot` draws later.
        """
        rows = certified_rows(certificate, votes, y)
        lead, wrong = leads(certificate, rows)
        if isinstance(rows, Ballots):  # equal rows are one pattern
            each = rows.pattern_of_row
            each = np.repeat(np.arange(rows.n_patterns), rows.counts) if each is None else each
            lead, wrong = lead[each], wrong[each]
        return cls(lead, float(wrong.mean()), certificate, margin_cut(certificate))._drawn_on(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Self:
        """Margins of a fitted :class:`~votecert.CertifiedVotingClassifier` on rows.

        Parameters
        ----------
        estimator : fitted CertifiedVotingClassifier
        X, y
            Rows, best those that it was not fitted on.
        ax : matplotlib Axes, optional
            Draw there at once.
        """
        return cls.from_certificate(estimator.certificate_, estimator.votes(X), y, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        ax = self._axes(ax)
        ordered = np.sort(self.leads)
        below = np.arange(1, len(ordered) + 1) / len(ordered)
        start = min(-1.0, float(ordered[0]))
        ax.axvspan(start, self.cut, color=shade(FAINT), zorder=0)
        ax.plot(
            [start, *ordered], [0.0, *below], drawstyle="steps-post", color=blue(), linewidth=2, label="rows"
        )
        self._mark(ax)
        ax.set_xlim(start, 1)
        ax.set_ylim(0, 1.02)
        x, y = "lead of the true class over the best other one", "share of rows with at most this lead"
        return self._named(x, y, percent="xy", legend="upper left")

    def _mark(self, ax: Any) -> None:
        risk, delta = self.certificate.risk, self.certificate.delta
        claim = f"certified error: at most {percent(risk)} (confidence {confidence(delta)})"
        if not self.certificate.is_guarantee:
            claim = f"NOT A GUARANTEE: error of {percent(risk)} claimed"
        ax.plot([-1, 0], [risk] * 2, color=RED, linestyle="--", linewidth=1.5)
        ax.plot([0], [risk], marker="v", markersize=9, color=RED, linestyle="--", label=claim)
        found = f"errors on these rows: {share(self.errors)}"
        grey = shade(GREY)
        ax.plot([0], [self.errors], marker="o", markersize=6, color=grey, linestyle="none", label=found)
        if self.cut > 0:
            ax.axvline(self.cut, color=grey, linewidth=1, linestyle=":", label="counted as lost up to here")

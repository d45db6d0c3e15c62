"""How clearly the vote is right or wrong, with the certified error."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from votecert.certificate import Certificate
from votecert.certificate.text import confidence, percent
from votecert.display._canvas import BLUE, GREY, LIGHT, RED, in_percent, new_axes, tidy
from votecert.report.margins import margin_cut
from votecert.rows.tables import in_order


@dataclass
class MarginDisplay:
    """Distribution of the margins of the vote, with its certificate.

    The curve says which share of the rows has a lead of at most x: the votes for the true class less those
    for the best other class, as a share of all votes. Rows with a negative lead are errors. The mark at zero
    is the certificate.

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
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

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
        vote = certificate.predictor
        votes = in_order(votes, certificate.voters)
        shares = vote.totals(votes)
        truth = np.asarray(y)
        true_class = vote.labels == truth[:, None]
        if not true_class.any(axis=1).all():
            raise ValueError(f"y has labels that are not among the classes {list(vote.classes)}.")
        lead = np.where(true_class, shares, 0).sum(axis=1) - np.where(true_class, 0, shares).max(axis=1)
        wrong = float(np.mean(vote.predict(votes) != truth))
        abstains = certificate.terms.n_outputs > certificate.terms.n_classes
        display = cls(lead, wrong, certificate, 0.0 if abstains else margin_cut(certificate))
        return display if ax is None else display.plot(ax)

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
        ax = new_axes(ax)
        leads = np.sort(self.leads)
        share = np.arange(1, len(leads) + 1) / len(leads)
        start = min(-1.0, float(leads[0]))
        ax.axvspan(start, self.cut, color=LIGHT, zorder=0)
        ax.plot([start, *leads], [0.0, *share], drawstyle="steps-post", color=BLUE, linewidth=2, label="rows")
        self._mark(ax)
        ax.set_xlim(start, 1)
        ax.set_ylim(0, 1.02)
        in_percent(ax.xaxis)
        in_percent(ax.yaxis)
        ax.set_xlabel("lead of the true class over the best other one")
        ax.set_ylabel("share of rows with at most this lead")
        ax.legend(loc="upper left", frameon=False)
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _mark(self, ax: Any) -> None:
        certificate = self.certificate
        claim = f"certified error: at most {percent(certificate.risk)} (confidence {confidence(certificate.delta)})"
        if not certificate.is_guarantee:
            claim = f"NOT A GUARANTEE: error of {percent(certificate.risk)} claimed"
        ax.plot([-1, 0], [certificate.risk] * 2, color=RED, linestyle="--", linewidth=1.5)
        ax.plot([0], [certificate.risk], marker="v", markersize=9, color=RED, linestyle="--", label=claim)
        found = f"errors on these rows: {100 * self.errors:.3g} %"
        ax.plot([0], [self.errors], marker="o", markersize=6, color=GREY, linestyle="none", label=found)
        if self.cut > 0:
            ax.axvline(self.cut, color=GREY, linewidth=1, linestyle=":", label="counted as lost up to here")

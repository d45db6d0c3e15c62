"""Bars: several bounds on the same vote side by side, and who has how much to say in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from votecert.certificate import Certificate, CertificateTable, compare, compare_at
from votecert.certificate.text import percent
from votecert.certificate.words import names_of
from votecert.display._canvas import BLACK, BLUE, GREY, RED, SKY, WHITE, Display, as_label, shade

CLAIMED = {"facecolor": BLUE, "edgecolor": BLUE}
"""How the bar of a guarantee looks."""


@dataclass
class BoundComparisonDisplay(Display):
    """Certificates of a table as bars; what is no guarantee looks different and says so.

    Parameters
    ----------
    table : CertificateTable

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by :meth:`plot`.

    Examples
    --------
    >>> votes, y = [[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 1, 1]] * 50, [0, 1, 1, 0] * 50
    >>> display = BoundComparisonDisplay.from_predictions(votes, y, bounds=["test-set", "fo"])
    >>> [certificate.bound for certificate in display.table]
    ['test-set', 'fo']
    """

    table: CertificateTable

    @classmethod
    def from_table(cls, table: CertificateTable, *, ax: Any = None) -> Self:
        """Show what :func:`votecert.compare`, or :func:`votecert.certify` by groups, has found."""
        return cls(table)._drawn_on(ax)

    @classmethod
    def from_predictions(cls, votes: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Compare bounds on votes and labels; options as for :func:`votecert.compare`."""
        return cls.from_table(compare(votes, y, **options), ax=ax)

    @classmethod
    def from_certificate(
        cls, certificate: Certificate, votes: Any, y: Any = None, *, ax: Any = None, **options: Any
    ) -> Self:
        """Compare bounds for the weights of a certificate, on its own rows.

        Bounds are about the weights only, without the offsets and tables that "occam" may have
        added.
        """
        return cls.from_table(compare_at(certificate, votes, y, **options), ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Self:
        """Compare bounds for the weights of a fitted classifier with hard votes, on rows new to it."""
        weights = {"weights": estimator.weights_, "fixed_in_advance": True}  # they never saw these rows
        options = {**weights, "delta": estimator.delta, **options}
        return cls.from_predictions(estimator.votes(X), y, ax=ax, classes=estimator.classes_, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or on new ones."""
        certificates = list(self.table)
        ax = self._axes(ax, height=1.3 + 0.32 * len(certificates), width=7.4)
        for place, certificate in enumerate(certificates):
            bar = ax.barh(place, certificate.risk, **CLAIMED)[0]
            if not certificate.is_guarantee:
                bar.set(facecolor=shade(WHITE), edgecolor=RED, hatch="////")
            note: str = ""
            style: dict[str, Any] = {"color": shade(GREY)}
            if certificate.risk >= 1:
                note = "  says nothing"
            elif not certificate.is_guarantee:
                note, style = "  NO GUARANTEE", {"color": RED, "fontweight": "bold"}
            ax.text(certificate.risk + 0.02, place, percent(certificate.risk) + note, va="center", **style)
        self._mark_errors(ax)
        self._named_bars([as_label(getattr(certificate, self.table.by)) for certificate in certificates])
        widest = max(certificate.risk for certificate in certificates)
        is_plain = widest < 1 and all(certificate.is_guarantee for certificate in certificates)
        ax.set_xlim(0, widest * (1.2 if is_plain else 2.0))  # room for the texts
        ax.set_xticks([tick for tick in ax.get_xticks() if tick <= 1])
        held = "all hold together" if self.table.simultaneous else "each holds on its own"
        return self._named(f"bound on the error of the vote ({held})", percent="x")

    def _mark_errors(self, ax: Any) -> None:
        """Errors on the certifying rows: one line if they are the same for all, else a tick on each bar."""
        errors = [certificate.empirical_risk for certificate in self.table]
        label = "errors on the certifying rows"
        if len(set(errors)) == 1:
            ax.axvline(errors[0], color=shade(BLACK), linewidth=1.5, linestyle=":", label=label)
        else:
            mark = {"color": shade(BLACK), "markersize": 14, "markeredgewidth": 2}
            ax.plot(errors, range(len(errors)), "|", **mark, label=label)


@dataclass
class WeightsDisplay(Display):
    """Weights of the voters, largest first, and the offsets of the classes that "occam" may add.

    Parameters
    ----------
    weights : (d,) array
        Weights of the voters, summing to one.
    names : list of str
        Their names.
    offsets : (c,) array
        Votes that each class has before anybody voted, on the scale of the weights.
    classes : list
        The classes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Set by :meth:`plot`.

    Examples
    --------
    >>> from votecert import certify
    >>> votes, y = [[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 1]] * 50, [0, 1, 1, 0] * 50
    >>> certificate = certify(votes, y, weights=[0.5, 0.25, 0.25], voters=["Ann", "Bob", "Cem"])
    >>> display = WeightsDisplay.from_certificate(certificate)
    >>> display.weights.tolist(), display.names
    ([0.5, 0.25, 0.25], ['Ann', 'Bob', 'Cem'])
    """

    weights: npt.NDArray[np.float64]
    names: list[str]
    offsets: npt.NDArray[np.float64]
    classes: list[Any]

    @classmethod
    def from_certificate(cls, certificate: Certificate, *, ax: Any = None) -> Self:
        """Weights of the certified vote."""
        names, classes = list(names_of(certificate)), list(certificate.classes)
        made = cls(certificate.weights, names, certificate.offsets, classes)
        return made._drawn_on(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Weights of a fitted :class:`~votecert.CertifiedVotingClassifier`."""
        return cls.from_certificate(estimator.certificate_, ax=ax)

    def plot(self, ax: Any = None, *, max_voters: int = 25) -> Self:
        """Draw on the given axes, or on new ones.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        max_voters : int, default=25
            Show so many voters with the largest weights, and the others as one bar.
        """
        order = np.argsort(-self.weights, kind="stable")
        shown, rest = order[:max_voters], order[max_voters:]
        labels = [as_label(self.names[i]) for i in shown]
        values = self.weights[shown].tolist()
        if len(rest):
            labels.append(f"{len(rest)} others together")
            values.append(float(self.weights[rest].sum()))
        ahead = np.flatnonzero(self.offsets)
        ax = self._axes(ax, grid="x", height=1.3 + 0.26 * (len(labels) + len(ahead)))
        bars = ax.barh(range(len(values)), values, color=BLUE, edgecolor=BLUE)
        if len(rest):
            bars[-1].set(facecolor=shade(WHITE), hatch="....")
        for place, k in enumerate(ahead, start=len(values)):
            ax.barh(place, self.offsets[k], facecolor=SKY, edgecolor=shade(BLACK), hatch="\\\\\\\\")
            labels.append(f"always {as_label(self.classes[k])}")
        equal = 1 / len(self.weights)
        ax.axvline(equal, color=shade(BLACK), linestyle=":", linewidth=1.5, label="equal weights")
        self._named_bars(labels)
        return self._named("weight in the vote; all voters together have 100 %", percent="x")

"""Several bounds on the same vote, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from votecert.certificate import Certificate, CertificateTable, compare, compare_at
from votecert.certificate.text import percent
from votecert.display._canvas import BLUE, GREY, RED, Display, as_label, in_percent, label_bars

CLAIMED = {"facecolor": BLUE, "edgecolor": BLUE}
NOT_CLAIMED = {"facecolor": "white", "edgecolor": RED, "hatch": "////"}
"""How a bar looks that is a guarantee, or none."""


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

        Bounds are about the weights only, without the offsets that "occam" may have added.
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
            ax.barh(place, certificate.risk, **(CLAIMED if certificate.is_guarantee else NOT_CLAIMED))
            note, style = "", {"color": GREY}
            if certificate.risk >= 1:
                note = "  says nothing"
            elif not certificate.is_guarantee:
                note, style = "  NO GUARANTEE", {"color": RED, "fontweight": "bold"}
            ax.text(certificate.risk + 0.02, place, percent(certificate.risk) + note, va="center", **style)
        self._mark_errors(ax)
        label_bars(ax, [as_label(getattr(certificate, self.table.by)) for certificate in certificates])
        widest = max(certificate.risk for certificate in certificates)
        is_plain = widest < 1 and all(certificate.is_guarantee for certificate in certificates)
        ax.set_xlim(0, widest * (1.2 if is_plain else 2.0))  # room for the texts
        ax.set_xticks([tick for tick in ax.get_xticks() if tick <= 1])
        in_percent(ax.xaxis)
        held = "all hold together" if self.table.simultaneous else "each holds on its own"
        ax.set_xlabel(f"bound on the error of the vote ({held})")
        return self

    def _mark_errors(self, ax: Any) -> None:
        """Errors on the certifying rows: one line if they are the same for all, else a tick on each bar."""
        errors = [certificate.empirical_risk for certificate in self.table]
        label = "errors on the certifying rows"
        if len(set(errors)) == 1:
            ax.axvline(errors[0], color="black", linewidth=1.5, linestyle=":", label=label)
        else:
            ax.plot(errors, range(len(errors)), "k|", markersize=14, markeredgewidth=2, label=label)

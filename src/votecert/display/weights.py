"""Who has how much to say in the vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from votecert.certificate import Certificate
from votecert.display._canvas import BLUE, SKY, Display, as_label, in_percent, label_bars


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
        names = certificate.voters or [f"voter {i}" for i in range(certificate.terms.n_voters)]
        made = cls(certificate.weights, list(names), certificate.offsets, list(certificate.classes))
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
            bars[-1].set(facecolor="white", hatch="....")
        for place, k in enumerate(ahead, start=len(values)):
            ax.barh(place, self.offsets[k], facecolor=SKY, edgecolor="black", hatch="\\\\\\\\")
            labels.append(f"always {as_label(self.classes[k])}")
        ax.axvline(1 / len(self.weights), color="black", linestyle=":", linewidth=1.5, label="equal weights")
        label_bars(ax, labels)
        in_percent(ax.xaxis)
        ax.set_xlabel("weight in the vote; all voters together have 100 %")
        return self

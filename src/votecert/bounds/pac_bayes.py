"""What bounds on sampled votes have in common: divergences from the prior, inequalities, grids paid by union.

Symbols: theta the weights, pi the categorical prior and beta the Dirichlet prior's parameters, K the
concentration, m the number of rows, c the complexity.
"""

from __future__ import annotations

from typing import Any, Literal

import votecert.numerics as nx
from votecert.bounds.base import Bound, Floats, categorical_prior, dirichlet_prior
from votecert.numerics.arithmetic import Arithmetic

Inequality = Literal["mixture", "kl"]


def categorical_divergence_gradient(weights: Floats, prior: Floats | None) -> tuple[float, Floats]:
    """KLcat and its slopes in the weights."""
    value, slopes = nx.categorical_kl_gradient(weights, categorical_prior(prior, len(weights)))
    return float(value), slopes


def dirichlet_divergence_gradient(weights: Floats, K: float, prior: Floats | None) -> tuple[float, Floats]:
    """D, the divergence of Dir(K theta) from Dir(beta), and its slopes in K theta."""
    value, slopes = nx.dirichlet_kl_gradient(K * weights, dirichlet_prior(prior, len(weights)))
    return float(value), slopes


def seeger_constant(ar: Arithmetic, n_rows: int, delta: float) -> Any:
    """``log(2 sqrt(m) / delta)``, the constant of Seeger's and Maurer's PAC-Bayes bound."""
    return ar.log(2) + ar.log(n_rows) / 2 - ar.log(delta)


class TakesInequality(Bound):
    """A bound with the option ``inequality``: what bounds a sampled vote's risk from its loss on the rows."""

    inequality: Inequality

    def check_inequality(self) -> None:
        """Raise a ValueError unless there is such an inequality."""
        if self.inequality not in ("mixture", "kl"):
            raise ValueError("inequality is 'mixture' or 'kl'.")

    def sampled_risk(self, ar: Any, loss: Any, complexity: Any, m: int) -> Any:
        """Bound a sampled vote's risk, in some arithmetic (arrays: ``numerics``)."""
        if self.inequality == "mixture":
            return ar.mixture_inverse(loss, complexity, m)
        return ar.kl_inverse_upper(loss, complexity + ar.log_maurer(m) / m)

    def sampled_risk_gradient(self, loss: float, complexity: float, m: int) -> tuple[float, float, float]:
        """The same with its slopes in the loss and in the complexity."""
        if self.inequality == "mixture":
            value, d_loss, d_complexity = nx.mixture_inverse_gradient(loss, complexity, m)
        else:
            value, d_loss, d_complexity = nx.kl_inverse_upper_gradient(
                loss, complexity + nx.log_maurer(m) / m
            )
        return float(value), float(d_loss), float(d_complexity)


def grid_ledger(chosen: str, delta: float, size: int, others: str) -> dict[str, float]:
    """How delta is spent on a grid of which every point has an equal share."""
    share = delta / size
    return {chosen: share} | ({f"the other {size - 1} {others}": delta - share} if size > 1 else {})

"""Partition bound (Leblanc and Germain, 2025): sampled votes without a margin, divided by p.

Symbols: theta the weights, v_y the weight of the true class, ``W = 1 - v_y``, s the largest sum of some
weights that is not above 1/2, r the largest v_y that any row can have, KLcat and D the divergences of the
categorical and Dirichlet posteriors from their priors.

*Stochastic to deterministic.* If a sampled vote errs with probability at least p on the rows on which theta
errs, and at least b on all rows, then ``L_0(theta) <= (B - b) / (p - b)`` for every bound B on the sampled
vote's risk. The v_y of a row is one of finitely many sums of weights, which gives p and b:

* one voter drawn from theta errs with probability W, so ``p = 1 - s`` and ``b = 1 - r``;
* a vote drawn from Dir(K theta) errs, when the wrong voters agree, with probability
  ``I_{1/2}(K v_y, K (1 - v_y))``; so ``p = I_{1/2}(K s, K (1 - s))`` and ``b = I_{1/2}(K r, K (1 - r))``.

In either case B is the PAC-Bayes-kl bound, with Maurer's constant. For more than two classes all wrong votes
are taken together, which only enlarges the loss. r is one unless pairs of voters are known to be
complementary.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log
from typing import Any, Literal

import numpy as np

import votecert.numerics as nx
from votecert.bounds._subset_sums import TakesComplements, closest_win, smallest_winning_weight
from votecert.bounds.base import Choice, Floats, Objective, Statistics, Terms, Value
from votecert.bounds.dirichlet.losses import RowVotes, mean_loss_upper, wrong_weight_slopes
from votecert.bounds.dirichlet.search import CONCENTRATION, best_concentration, central_losses, sketch
from votecert.bounds.kinds import SAMPLED, OneOf
from votecert.bounds.pac_bayes import categorical_divergence_gradient, dirichlet_divergence_gradient
from votecert.bounds.tallies import Tallies
from votecert.numerics.arithmetic import Arithmetic
from votecert.rows.ballots import Ballots


@dataclass(frozen=True)
class Partition(TakesComplements):
    """Partition bound: the risk of a sampled vote, divided by its chance to share an error.

    Parameters
    ----------
    family : {"best", "categorical", "dirichlet"}
        What is sampled: one voter, or Dirichlet weights. "best" takes the better of both, with half of delta
        for each.
    complements : tuple of pairs of int
        Voters of which, by construction, at most one is right on any row, each in one pair only.

    Notes
    -----
    ``L_0(theta) <= (B - b) / (p - b)``; see the module.

    References
    ----------
    Leblanc and Germain (2025), arXiv 2510.25569.

    Examples
    --------
    >>> import numpy as np
    >>> from votecert.rows.ballots import Ballots
    >>> votes = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]] * 100)
    >>> ballots = Ballots.from_votes(votes, [0, 1, 0, 1] * 100)
    >>> found = Partition().evaluate(ballots, np.array([0.4, 0.4, 0.2]), delta=0.05)
    >>> found.terms.choice["family"], found.risk < 0.3
    ('dirichlet', True)
    """

    family: Literal["best", "categorical", "dirichlet"] = "best"
    complements: tuple[tuple[int, int], ...] = ()

    id = "partition"
    title = "Partition"
    references = ("leblanc2025",)
    differentiable = True
    posterior = "dirichlet"
    choices = {
        "family": OneOf("categorical", "dirichlet"),
        "concentration": replace(CONCENTRATION, required=False),
    }
    statistics = {"empirical": SAMPLED}

    def __post_init__(self) -> None:
        if self.family not in ("best", "categorical", "dirichlet"):
            raise ValueError("family is 'best', 'categorical' or 'dirichlet'.")
        super().__post_init__()

    def share(self, delta: float) -> float:
        """What one posterior may spend."""
        return delta / 2 if self.family == "best" else delta

    def ledger(self, terms: Terms) -> dict[str, float]:
        share = self.share(terms.delta)
        ledger = {f"{terms.choice['family']} posterior": share}
        return ledger | ({"the other posterior": terms.delta - share} if self.family == "best" else {})

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        choices: list[Choice] = []
        if self.family != "dirichlet":
            choices.append({"family": "categorical"})
        if self.family != "categorical":
            K = self._best_concentration(ballots, weights, delta, prior)
            choices.append({"family": "dirichlet", "concentration": K})
        return min(choices, key=lambda choice: self.at(ballots, weights, delta, choice, prior=prior).risk)

    def _best_concentration(
        self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None
    ) -> float:
        rows = sketch(RowVotes.right_or_wrong(ballots, weights))
        simple = replace(self, complements=())

        def values(K: Floats) -> Floats:
            choice = {"family": "dirichlet", "concentration": K}
            losses = {"empirical": central_losses(rows, K, np.zeros_like(K), 0.0)}
            return simple.scan(ballots, weights, delta, prior, choice=choice, statistics=losses)

        return best_concentration(values)

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        if choice["family"] == "categorical":
            # rounded up as far as the other posterior's loss, whose kind it shares
            return {"empirical": min(1.0, ballots.derived(Tallies).gibbs_error(weights) + 1e-10)}
        votes = RowVotes.right_or_wrong(ballots, weights)
        return {"empirical": mean_loss_upper(votes, choice["concentration"], 0.0, 0.0)}

    def check_choice(self, terms: Terms) -> None:
        super().check_choice(terms)
        family = terms.choice["family"]
        if self.family not in ("best", family):
            raise ValueError(f"The posterior {family!r} is not the one this bound is for.")
        if ("concentration" in terms.choice) != (family == "dirichlet"):
            raise ValueError("The Dirichlet posterior, and no other, has a concentration.")

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        kl, chance = self._divergence_and_chance(ar, terms)
        constant = ar.log_maurer(terms.n_rows) + ar.log(1 / ar.number(self.share(terms.delta)))
        complexity = (kl + constant) / terms.n_rows
        empirical = ar.number(terms.statistics["empirical"])
        sampled = ar.kl_inverse_upper(empirical, complexity)
        shared = chance(smallest_winning_weight(terms.weights, 2))
        floor = chance(1 - self.most_right_weight(terms.weights)) if self.complements else 0
        if self.complements and floor >= min(shared, sampled):
            floor = 0
        details = {"kl": kl, "complexity": complexity, "empirical": empirical, "sampled_risk": sampled}
        details |= {"error_chance": shared, "floor": floor}
        return Value((sampled - floor) / (shared - floor), details)

    def _divergence_and_chance(self, ar: Arithmetic, terms: Terms) -> tuple[Any, Callable[[float], Any]]:
        """The divergence, and how often a sampled vote errs when the wrong voters have a given weight."""
        if terms.choice["family"] == "categorical":
            return ar.categorical_kl(terms.weights, terms.categorical_prior), ar.number
        K = ar.number(terms.choice["concentration"])
        alpha: Any = np.multiply.outer(K, terms.weights)
        kl = ar.dirichlet_kl(alpha, terms.dirichlet_prior)

        def chance(wrong: float) -> Any:
            return ar.beta_cdf_down(ar.number(0.5), K * (1 - ar.number(wrong)), K * ar.number(wrong))

        return kl, chance

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        """Smooth value and gradient; complements are left out of consideration."""
        m = ballots.n_rows
        least, d_least = closest_win(weights, 2)
        constant = nx.log_maurer(m) - log(self.share(delta))
        if choice["family"] == "categorical":
            kl, d_kl = categorical_divergence_gradient(weights, prior)
            voters = ballots.derived(Tallies)
            loss = Objective(voters.gibbs_error(weights), voters.errors)
            d_kl_log_K, shared, slope, d_shared = 0.0, least, 1.0, 0.0
        else:
            K = choice["concentration"]
            loss = wrong_weight_slopes(ballots, weights, K, 0.0)
            kl, d_alpha = dirichlet_divergence_gradient(weights, K, prior)
            d_kl, d_kl_log_K = K * d_alpha, K * float(weights @ d_alpha)
            shared, _, d_a, d_b = (float(x) for x in nx.beta_cdf_gradient(0.5, K * (1 - least), K * least))
            slope, d_shared = K * (d_b - d_a), K * ((1 - least) * d_a + least * d_b)
        inverse = nx.kl_inverse_upper_gradient(loss.value, (kl + constant) / m)
        sampled, d_loss, d_complexity = (float(part) for part in inverse)
        d_weights = d_loss * loss.d_weights + d_complexity / m * d_kl - sampled / shared * slope * d_least
        d_log_K = d_loss * loss.d_log_concentration + d_complexity / m * d_kl_log_K
        d_log_K -= sampled / shared * d_shared
        return Objective(sampled / shared, d_weights / shared, d_log_K / shared)

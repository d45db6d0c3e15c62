r"""The certificate for real-valued weights: divide by the chance that a sampled vote also errs.

Symbols: theta the weights, d voters, c the number of different outputs a voter can give, ``v_k`` the weight
of class k on a row, y the true class; ``xi ~ Dir(K theta)`` sampled weights and V their class votes, so
``V ~ Dir(K v)``; g the margin; ``I_x(a, b)`` the distribution function of Beta(a, b);
``tau_K(g) = P(Beta(K/2, K/2) > 1/2 + g)``; D the divergence of Dir(K theta) from the prior.

**Theorem.** Let ``l_g(xi)`` be one if ``V_y - V_k <= 2 g sqrt(V_y + V_k)`` for some k != y, else zero. With
probability at least 1 - delta over the m rows, for all theta and all K at once,

    ``L_0(theta) <= Delta_m^{-1}(U, (D + log(1 / (w delta))) / m) / p``,

where U is at least the mean over the rows of ``E l_g(xi)``, ``Delta_m^{-1}`` inverts the mixture inequality
(or kl with Maurer's constant), w is the product of the shares of the margin and of the prior in their fixed
grids, and p is at most ``E l_g(xi)`` on every row on which theta errs.

*Why.* ``B = Delta_m^{-1}(...)`` bounds the risk of the sampled vote, which loses a row on which theta errs
with probability at least p: ``B >= p L_0(theta)``. Every step is proved in the chapter "Real weights" of
the documentation (``docs/theory/dirichlet.md``); what the code needs of it:

**p.** Let t be the least weight that a winning class can have: a sum of some weights, at least 1/c and at
least the largest weight. For t > 1/2, ``p = I_{1/2+g}(K (1 - t), K t)``; otherwise a tie of two classes is
the worst case, ``p = I_{1/2+g}(K/2, K/2)``, whatever the number of classes. For the loss "difference",
``V_y - V_k <= 2g``, p is the same; for "ratio", ``V_y <= (1/2 + g) (V_y + V_k)``, it is ``I_{1/2+g}(K
min(t, 1 - t), K t)``.

**U** is computed row by row, see :mod:`votecert.bounds.dirichlet.losses`.

**Zero weights.** The prior is a mixture over supports: all voters have the share 1 - s, and every proper
subset of size n has ``s / ((d - 1) C(d, n))``; D is taken on the support of theta and pays the logarithm of
one over the share.

**Other centres.** Votes may be sampled around other weights tau, chosen by looking at the rows. With e the
total variation distance of tau and theta and t > e, ``p = I_{1/2+g}(K (min(t, 1 - t) + e), K (t - e))``.

**Floor.** If pairs of voters are complementary by construction (two classes), the true class has at most a
known weight r on every row, so that the sampled loss is at least ``f = I_{1/2+g}(K r, K (1 - r))``
everywhere and ``L_0 <= (B - f) / (p - f)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, log
from operator import itemgetter
from typing import Any, Literal

import numpy as np

import votecert.numerics as nx
from votecert.bounds._subset_sums import TakesComplements, learned_win, smallest_winning_weight
from votecert.bounds.base import (
    MARGIN_SLACK,
    Choice,
    Evaluation,
    Floats,
    Indices,
    Objective,
    Statistics,
    Terms,
    Value,
    categorical_prior,
)
from votecert.bounds.dirichlet.centres import Surroundings, centre_of, centres, distance, nearby
from votecert.bounds.dirichlet.losses import EXPONENTS, RowVotes, loss_slopes, mean_loss_upper
from votecert.bounds.dirichlet.search import CONCENTRATION, Landscape, sketch
from votecert.bounds.kinds import SAMPLED, Real
from votecert.bounds.pac_bayes import Inequality, TakesInequality, grid_ledger
from votecert.numerics.arithmetic import OUTWARD, Arithmetic
from votecert.rows.ballots import Ballots

MARGINS = (0.0, *(0.4 * 1.6**-j for j in range(14)))
"""Default margins. K is free, and a margin too large by a quarter is made good by a somewhat larger K."""

PRIOR_SCALES = tuple(4.0**power for power in range(-2, 7))
PRIOR_SHARES = tuple({1.0: 0.5, 4.0**6: 0.1}.get(scale, 0.4 / 7) for scale in PRIOR_SCALES)
"""Default priors: the flat one, sparser ones, and ones near the centre; large scales suit uniform weights."""


@dataclass(frozen=True)
class Dirichlet(TakesComplements, TakesInequality):
    """Dirichlet certificate: margin loss of a sampled vote, divided by its chance to share an error.

    Parameters
    ----------
    margins : tuple of float
        Grid of margins in [0, 1/2); each gets an equal share of delta.
    prior_scales, prior_shares : tuple of float
        The prior is a mixture of ``Dir(scale * d * centre)`` with these shares; the centre is the prior given
        to :meth:`evaluate`, normalised, and uniform by default.
    inequality : {"mixture", "kl"}
        PAC-Bayes inequality: the mixture of Catoni terms and kl, or kl alone with Maurer's constant.
    loss : {"root", "difference", "ratio"}
        How the margin of the sampled vote scales with the share of the two best classes. The same for two
        classes.
    complements : tuple of pairs of int
        Voters of which, by construction, at most one is right on any row, each in one pair only. For two
        classes without abstentions.
    subset_share : float
        Share of the prior for weights with zeros.

    Notes
    -----
    See the module for the theorem and its proof. Everything here must be fixed without looking at the rows;
    weights, K, and which margin and prior to use, may depend on them.

    Examples
    --------
    >>> import numpy as np
    >>> from votecert.rows.ballots import Ballots
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=2000)
    >>> votes = np.where(rng.random((2000, 5)) < 0.9, y[:, None], (y[:, None] + 1) % 3)
    >>> ballots = Ballots.from_votes(votes, y)
    >>> found = Dirichlet().evaluate(ballots, np.array([0.3, 0.2, 0.2, 0.2, 0.1]), delta=0.05)
    >>> 0.05 < found.risk < 0.06
    True
    """

    margins: tuple[float, ...] = MARGINS
    prior_scales: tuple[float, ...] = PRIOR_SCALES
    prior_shares: tuple[float, ...] = PRIOR_SHARES
    inequality: Inequality = "mixture"
    loss: Literal["root", "difference", "ratio"] = "root"
    complements: tuple[tuple[int, int], ...] = ()
    subset_share: float = 0.05

    id = "dirichlet"
    title = "Dirichlet certificate"
    references = ("biggs2022voting", "leblanc2025", "maurer2004", "catoni2007")
    differentiable = True
    default_for = ("given",)
    in_best = True
    posterior = "dirichlet"
    choices = {
        "concentration": CONCENTRATION,
        "margin": Real(0, 0.5),
        "prior_scale": Real(0),
        "dropped": Real(0, 0.999, required=False),
        "smoothed": Real(0, 1, required=False),
    }
    statistics = {"empirical": SAMPLED}

    def __post_init__(self) -> None:
        for name in ("margins", "prior_scales", "prior_shares"):
            object.__setattr__(self, name, tuple(float(value) for value in getattr(self, name)))
        super().__post_init__()
        if not self.margins or not all(0 <= margin < 0.5 for margin in self.margins):
            raise ValueError("margins must be one or more numbers in [0, 1/2).")
        scales = self.prior_scales
        if not scales or len(scales) != len(self.prior_shares) or not all(0 < b < inf for b in scales):
            raise ValueError("prior_scales must be positive, one or more and as many as prior_shares.")
        if not all(w > 0 for w in self.prior_shares) or sum(self.prior_shares) > 1 + 1e-12:
            raise ValueError("prior_shares must be positive and sum to at most one.")
        self.check_inequality()
        if self.loss not in EXPONENTS:
            raise ValueError("loss is 'root', 'difference' or 'ratio'.")
        if not 0 <= self.subset_share < 1:
            raise ValueError("subset_share must be in [0, 1).")

    def problem_with(self, ballots: Ballots) -> str | None:
        if self.complements and ballots.n_outputs != 2:
            return "complements are of use for two classes without abstentions only: leave them out."
        return super().problem_with(ballots)

    def search(self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None) -> Choice:
        landscape = self._landscapes(ballots, weights, delta, prior)
        return self._lowest(landscape(sketch(RowVotes.of(ballots, weights)), {}))

    def evaluate(
        self, ballots: Ballots, weights: Floats, delta: float, *, prior: Floats | None = None
    ) -> Evaluation:
        """Bound the risk of the vote with these weights, sampling around them or around another centre."""
        landscape = self._landscapes(ballots, weights, delta, prior)
        around = Surroundings(ballots, weights)

        def found(centre: Choice) -> Evaluation:
            choice = self._lowest(landscape(sketch(around.votes(centre)), centre)) | centre
            return self.at(ballots, weights, delta, choice, prior=prior)

        def glances(choices: Sequence[Choice]) -> list[tuple[float, Choice]]:
            return [(landscape(around.votes(choice), choice).glance(), choice) for choice in choices]

        here, *others = glances(centres(weights))
        best = min(others, key=itemgetter(0), default=here)
        if best[0] >= here[0]:
            return found({})
        _, centre = min([best, *glances(nearby(best[1]))], key=itemgetter(0))
        return min(found({}), found(centre), key=lambda one: one.risk)

    def _landscapes(
        self, ballots: Ballots, weights: Floats, delta: float, prior: Floats | None
    ) -> Callable[[RowVotes, Choice], Landscape]:
        """From the class votes around a centre, the bound as a function of K, margin and prior scale."""
        m, d = ballots.n_rows, ballots.n_voters
        priors = np.multiply.outer(self.prior_scales, d * categorical_prior(prior, d))
        top = smallest_winning_weight(weights, ballots.n_outputs)

        def landscape(votes: RowVotes, choice: Choice) -> Landscape:
            centre = centre_of(weights, choice)
            alive = centre > 0
            prices = np.array([self._log_price(OUTWARD, centre, scale) for scale in self.prior_scales])
            right, rival = self._tie(top, distance(weights, centre))

            def complexity(K: Floats, scale: Indices) -> Floats:
                kl = nx.dirichlet_kl(K[..., None] * centre[alive], priors[scale][..., alive])
                return np.asarray((kl + prices[scale] - log(delta)) / m)

            return Landscape(
                votes=votes,
                margins=np.array(self.margins),
                exponent=EXPONENTS[self.loss],
                n_scales=len(self.prior_scales),
                complexity=complexity,
                invert=lambda loss, complexity: self.sampled_risk(nx, loss, complexity, m),
                error_chance=lambda K, margin: nx.beta_cdf(0.5 + margin, K * right, K * rival),
            )

        return landscape

    def _lowest(self, landscape: Landscape) -> Choice:
        K, margin, scale = landscape.lowest()
        return {"concentration": K, "margin": self.margins[margin], "prior_scale": self.prior_scales[scale]}

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        votes = RowVotes.of(ballots, centre_of(weights, choice))
        K, margin = choice["concentration"], choice["margin"]
        return {"empirical": mean_loss_upper(votes, K, margin, EXPONENTS[self.loss])}

    def check_choice(self, terms: Terms) -> None:
        super().check_choice(terms)
        if terms.choice["margin"] not in self.margins or terms.choice["prior_scale"] not in self.prior_scales:
            raise ValueError("The margin or the scale of the prior is not in the grid.")

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        K, margin = ar.number(terms.choice["concentration"]), ar.number(terms.choice["margin"])
        weights = np.array(terms.weights)
        centre = centre_of(weights, terms.choice)
        kl = self._divergence(ar, terms, centre)
        price = self._log_price(ar, centre, terms.choice["prior_scale"])
        complexity = (kl + price + ar.log(1 / ar.number(terms.delta))) / terms.n_rows
        empirical = ar.number(terms.statistics["empirical"])
        sampled = self.sampled_risk(ar, empirical, complexity, terms.n_rows)
        threshold = ar.number(0.5) + margin
        top = smallest_winning_weight(weights, terms.n_outputs)
        tie = self._tie(top, distance(weights, centre))
        shared = ar.beta_cdf_down(threshold, K * tie[0], K * tie[1])
        floor = ar.number(0)
        if self.complements and terms.n_outputs == 2:
            most = self.most_right_weight(centre)
            floor = ar.beta_cdf_down(threshold, K * most, K * (1 - ar.number(most)))
        if floor >= min(shared, sampled):
            floor = ar.number(0)
        details = {"kl": kl, "complexity": complexity, "empirical": empirical, "sampled_risk": sampled}
        details |= {"error_chance": shared, "floor": floor}
        if not shared > floor:  # a sampled vote need not err at all where theta does
            return Value(ar.number(1), details)
        return Value((sampled - floor) / (shared - floor), details)

    def ledger(self, terms: Terms) -> dict[str, float]:
        chosen = f"margin {terms.choice['margin']:.4g}"
        return grid_ledger(chosen, terms.delta, len(self.margins), "margins of the grid")

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        """Smooth value and gradient, nearly the certificate; complements are not considered."""
        m, d = ballots.n_rows, ballots.n_voters
        K, margin, scale = choice["concentration"], choice["margin"], choice["prior_scale"]
        loss = loss_slopes(ballots, weights, K, margin, EXPONENTS[self.loss])
        alive = weights > 0
        kl, d_alpha = nx.dirichlet_kl_gradient(
            K * weights[alive], scale * d * categorical_prior(prior, d)[alive]
        )
        constant = float(self._log_price(OUTWARD, weights, scale)) - log(delta)
        complexity = (float(kl) + constant) / m
        sampled, d_loss, d_complexity = self.sampled_risk_gradient(loss.value, complexity, m)
        shared, d_shared, d_shared_log_K = self._error_chance_slopes(weights, ballots.n_outputs, K, margin)
        d_weights = d_loss * loss.d_weights - sampled / shared * d_shared
        d_weights[alive] += d_complexity * K / m * d_alpha
        d_log_K = d_loss * loss.d_log_concentration + d_complexity * K / m * float(weights[alive] @ d_alpha)
        d_log_K -= sampled / shared * d_shared_log_K
        return Objective(sampled / shared, d_weights / shared, d_log_K / shared)

    def _divergence(self, ar: Arithmetic, terms: Terms, centre: Floats) -> Any:
        """Divergence from the prior on the voters with positive weight."""
        K, scale = ar.number(terms.choice["concentration"]), terms.choice["prior_scale"] * terms.n_voters
        pairs = zip(centre.tolist(), terms.categorical_prior, strict=True)
        alive = [(K * weight, scale * share) for weight, share in pairs if weight > 0]
        return ar.dirichlet_kl([alpha for alpha, _ in alive], [beta for _, beta in alive])

    def _log_price(self, ar: Arithmetic, weights: Sequence[float] | Floats, scale: float) -> Any:
        """What the choices of margin, prior scale and support cost, in nats."""
        share = ar.number(self.prior_shares[self.prior_scales.index(scale)])
        price = ar.log(len(self.margins)) + ar.log(1 / share)
        d, alive = len(weights), sum(weight > 0 for weight in weights)
        if d == 1:
            return price
        if alive == d:
            return price + ar.log(1 / (1 - ar.number(self.subset_share)))
        if not self.subset_share:
            return ar.number(inf)
        return price + ar.log((d - 1) / ar.number(self.subset_share)) + ar.log_binomial(d, int(alive))

    def _tie(self, top: float, distance: float = 0.0) -> tuple[float, float]:
        """The closest error: weights of the true class (rounded up) and of the rival (rounded down).

        ``top`` is the smallest weight of a winning class, ``distance`` that of the centre from the weights.
        """
        if self.loss != "ratio" and not distance:
            top = max(top, 0.5)
        right = min(top + 4 * MARGIN_SLACK, 1 - top)
        return min(1.0, right + distance), max(0.0, top - distance)

    def _error_chance_slopes(
        self, weights: Floats, n_outputs: int, K: float, margin: float
    ) -> tuple[float, Floats, float]:
        """p, not rounded, and its slopes in the weights and in log K."""
        top, d_top = learned_win(weights, n_outputs)
        if self.loss != "ratio" and top <= 0.5:
            top, d_top = 0.5, np.zeros_like(d_top)
        other = min(top, 1 - top)
        chance, _, d_a, d_b = (float(x) for x in nx.beta_cdf_gradient(0.5 + margin, K * other, K * top))
        slope = K * (d_b + (d_a if top < 0.5 else -d_a))
        return chance, slope * d_top, K * (other * d_a + top * d_b)

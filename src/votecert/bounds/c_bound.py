"""The C-bound of Germain et al. in its two PAC-Bayes forms, for two classes.

Symbols: r the Gibbs error, e the joint error (two drawn voters are both wrong), s their disagreement,
r = e + s/2. Cantelli's inequality for the wrong-vote weight gives
``L_0 <= 1 - (1 - 2r)^2 / (1 - 2s)`` whenever r < 1/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import votecert.numerics as nx
from votecert.bounds.base import Bound, Choice, Floats, Objective, Statistics, Terms, Value
from votecert.bounds.gibbs import check_moments
from votecert.bounds.kinds import SHARE
from votecert.bounds.pac_bayes import categorical_divergence_gradient
from votecert.bounds.tallies import Tallies
from votecert.numerics.arithmetic import OUTWARD, Arithmetic
from votecert.rows.ballots import Ballots

SLACK = 1e-9
"""Added to the complexity: covers the rounding of the two means, whose direction is not fixed."""


@dataclass(frozen=True)
class CBound(Bound):
    """The C-bound.

    Parameters
    ----------
    form : {2, 1}, default=2
        PAC-bound 1 bounds r from above and s from below, each with half of delta. PAC-bound 2 takes the
        worst (e, s) in one joint confidence region and is tighter.

    Notes
    -----
    PAC-bound 1: ``1 - (1 - 2r)^2 / (1 - 2s)`` with
    ``r = min(1/2, klinv(rhat, (KLcat + log(2 xi(m)/delta)) / m))`` and
    ``s = klinv_low(shat, (2 KLcat + log(2 xi(m)/delta)) / m)``.

    PAC-bound 2: the largest ``1 - (1 - 2e - s)^2 / (1 - 2s)`` over all (e, s) whose trinomial divergence
    from the observed pair is at most ``(2 KLcat + log((xi(m) + m)/delta)) / m``. Both forms are from
    Germain et al. (2015). For a fixed s the worst e is the largest one in the region,
    ``e = (1 - s) klinv(ehat / (1 - shat), (C - kl(shat, s)) / (1 - shat))``. The superlevel sets
    ``(1 - 2e - s)^2 <= (1 - t)(1 - 2s)`` are convex and so is the region; hence the value as a function
    of s alone is quasi-concave and a golden-section search finds its maximum.
    """

    form: Literal[1, 2] = 2

    id = "c-bound"
    title = "C-bound"
    references = ("germain2015", "lacasse2006")
    multiclass = False
    differentiable = True
    posterior = "categorical"
    statistics = {"gibbs": SHARE, "joint": SHARE}

    def __post_init__(self) -> None:
        if self.form not in (1, 2):
            raise ValueError(f"form must be 1 or 2, not {self.form!r}.")

    def check_choice(self, terms: Terms) -> None:
        check_moments(terms.statistics["gibbs"], terms.statistics["joint"])

    def measure(self, ballots: Ballots, weights: Floats, choice: Choice) -> Statistics:
        voters = ballots.derived(Tallies)
        return {"gibbs": voters.gibbs_error(weights), "joint": voters.tandem_error(weights)}

    def ledger(self, terms: Terms) -> dict[str, float]:
        if self.form == 2:
            return {"joint error and disagreement": terms.delta}
        return {"Gibbs error": terms.delta / 2, "disagreement": terms.delta / 2}

    def formula(self, ar: Arithmetic, terms: Terms) -> Value:
        gibbs, joint = (ar.number(terms.statistics[name]) for name in ("gibbs", "joint"))
        disagreement = max(ar.number(0), 2 * (gibbs - joint))
        kl = ar.categorical_kl(terms.weights, terms.categorical_prior)
        log_xi, m = ar.log_maurer(terms.n_rows), terms.n_rows
        if self.form == 1:
            constant = ar.log(2) + log_xi - ar.log(terms.delta)
            risk = self.separate(ar, gibbs, disagreement, (kl + constant) / m, (2 * kl + constant) / m)
        else:
            constant = ar.log(ar.exp(log_xi) + m) - ar.log(terms.delta)
            risk = self.joint(ar, joint, disagreement, (2 * kl + constant) / m)[0]
        return Value(risk, {"kl": kl, "gibbs": gibbs, "disagreement": disagreement})

    @staticmethod
    def separate(ar: Arithmetic, gibbs: Any, disagreement: Any, c_gibbs: Any, c_disagreement: Any) -> Any:
        """PAC-bound 1 from the observed means and the two complexities."""
        r = ar.kl_inverse_upper(gibbs, c_gibbs + SLACK)
        if r >= 0.5:
            return ar.number(1)
        s = ar.kl_inverse_lower(disagreement, c_disagreement + SLACK)
        return 1 - (1 - 2 * r) * (1 - 2 * r) / (1 - 2 * s) if s < 0.5 else ar.number(1)

    @staticmethod
    def joint(ar: Arithmetic, joint: Any, disagreement: Any, complexity: Any) -> tuple[Any, Any]:
        """PAC-bound 2: the largest value in the joint region and the disagreement s where it is."""
        complexity = complexity + SLACK
        rest = 1 - disagreement
        if rest <= 0:
            return ar.number(1), disagreement

        def value(s: Any) -> Any:
            left = max(0, complexity - _kl(ar, disagreement, s)) / rest
            e = (1 - s) * ar.kl_inverse_upper(min(1, joint / rest), left)
            if 2 * e + s >= 1:
                return ar.number(1)
            return 1 - (1 - 2 * e - s) * (1 - 2 * e - s) / (1 - 2 * s)

        low = ar.kl_inverse_lower(disagreement, complexity)
        high = min(ar.kl_inverse_upper(disagreement, complexity), ar.number(0.5))
        golden = (ar.sqrt(5) - 1) / 2
        points = [high - golden * (high - low), low + golden * (high - low)]
        values = [value(point) for point in points]
        while high - low > 1e-11:
            if values[0] >= 1 or values[1] >= 1:
                return ar.number(1), points[0]
            if values[0] < values[1]:
                low = points[0]
                points = [points[1], low + golden * (high - low)]
                values = [values[1], value(points[1])]
            else:
                high = points[1]
                points = [high - golden * (high - low), points[0]]
                values = [value(points[0]), values[0]]
        return max(values), points[values.index(max(values))]

    def objective(
        self, ballots: Ballots, weights: Floats, choice: Choice, delta: float, prior: Floats | None = None
    ) -> Objective:
        voters = ballots.derived(Tallies)
        joint = Objective(voters.tandem_error(weights), 2 * voters.tandem_with(weights))
        gibbs = Objective(voters.gibbs_error(weights), voters.errors)
        apart = Objective(max(0.0, 2 * (gibbs.value - joint.value)), 2 * (gibbs.d_weights - joint.d_weights))
        kl = Objective(*categorical_divergence_gradient(weights, prior))
        if self.form == 1:
            return self._separate_objective(gibbs, apart, kl, ballots.n_rows, delta)
        return self._joint_objective(joint, apart, kl, ballots.n_rows, delta)

    @staticmethod
    def _separate_objective(
        gibbs: Objective, apart: Objective, kl: Objective, m: int, delta: float
    ) -> Objective:
        constant = math.log(2 / delta) + nx.log_maurer(m)
        r, dr_q, dr_c = nx.kl_inverse_upper_gradient(gibbs.value, (kl.value + constant) / m)
        s, ds_q, ds_c = nx.kl_inverse_lower_gradient(apart.value, (2 * kl.value + constant) / m)
        if r >= 0.5:
            return Objective(1.0, 0 * gibbs.d_weights)
        d_r = dr_q * gibbs.d_weights + dr_c / m * kl.d_weights
        d_s = ds_q * apart.d_weights + 2 * ds_c / m * kl.d_weights
        ratio = (1 - 2 * r) / (1 - 2 * s)
        return Objective(float(1 - (1 - 2 * r) * ratio), 4 * ratio * d_r - 2 * ratio**2 * d_s)

    def _joint_objective(
        self, joint: Objective, apart: Objective, kl: Objective, m: int, delta: float
    ) -> Objective:
        constant = math.log(math.exp(nx.log_maurer(m)) + m) - math.log(delta)
        observed, d_observed = apart.value, apart.d_weights
        complexity = (2 * kl.value + constant) / m
        value, s = self.joint(OUTWARD, joint.value, observed, complexity)
        if value >= 1:
            return Objective(1.0, 0 * joint.d_weights)
        # At the maximum the derivative in s vanishes, so s may be held fixed (envelope theorem).
        rest = 1 - observed
        left = max(0.0, complexity - float(nx.binary_kl(observed, s))) / rest
        z, dz_q, dz_c = nx.kl_inverse_upper_gradient(joint.value / rest, left)
        d_kl_observed = math.log(observed / s) - math.log((1 - observed) / (1 - s)) if observed > 0 else 0.0
        d_q = joint.d_weights / rest + joint.value / rest**2 * d_observed
        d_left = (2 * kl.d_weights / m - d_kl_observed * d_observed) / rest + left / rest * d_observed
        d_e = (1 - s) * (dz_q * d_q + dz_c * d_left)
        slack = 1 - 2 * (1 - s) * float(z) - s
        return Objective(float(value), 4 * slack / (1 - 2 * s) * d_e)


def _kl(ar: Arithmetic, q: Any, p: Any) -> Any:
    """Bernoulli divergence in the given arithmetic."""
    total = ar.number(0)
    for a, b in ((q, p), (1 - q, 1 - p)):
        if a > 0:
            total = total + a * (ar.log(a) - ar.log(b))
    return total

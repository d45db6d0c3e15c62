"""The Dirichlet certificate: its lemma, its identities and its search."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from problems import Problem, ballots, weights
from scipy.special import betainc, betaincinv

from votecert.bounds import BOUNDS
from votecert.bounds._subset_sums import smallest_winning_weight
from votecert.bounds.dirichlet import Dirichlet
from votecert.bounds.dirichlet.centres import Surroundings, centre_of, centres, distance
from votecert.bounds.dirichlet.losses import EXPONENTS, RowVotes, mean_loss_upper
from votecert.bounds.dirichlet.search import central_losses
from votecert.numerics import beta_cdf, dirichlet_kl, log_maurer, mixture_inverse
from votecert.numerics.arithmetic import OUTWARD
from votecert.rows.ballots import Ballots

DELTA = 0.05
FACTOR_TWO, STOCHASTIC = BOUNDS["f2"], BOUNDS["dirichlet-stochastic"]
PLAIN = Dirichlet(margins=(0.0,), prior_scales=(1.0,), prior_shares=(1.0,), inequality="kl", subset_share=0.0)


def two_voters(m: int) -> Ballots:
    """One voter always right, one always wrong: with equal weights every row is a tie, an error."""
    return Ballots.from_votes(np.tile([0, 1], (m, 1)), np.zeros(m, dtype=int), classes=[0, 1])


# The lemma: the tie of two classes is the worst case


@pytest.mark.parametrize("loss", ["root", "difference"])
def test_no_tie_of_two_among_many_classes_is_worse_than_a_tie_of_two_classes(loss):
    """P(sampled vote wins by the margin | tie with shares a, a, K - 2a) <= tau_K(g), by quadrature over S."""
    exponent = EXPONENTS[loss]
    middle = (np.arange(4000) + 0.5) / 4000
    for K, share, g in itertools.product(
        [0.3, 1.0, 2.5, 5.0, 30.0, 400.0], [0.02, 0.1, 0.25, 0.4, 0.49], [0.001, 0.02, 0.1, 0.25, 0.45]
    ):
        a = share * K
        S = np.maximum(betaincinv(2 * a, K - 2 * a, middle), 1e-300)
        wins = betainc(a, a, np.clip(0.5 - g * S**-exponent, 0, 1)).mean()
        tau = betainc(K / 2, K / 2, 0.5 - g)
        assert wins <= tau * (1 + 1e-3) + 1e-7, (K, share, g)


@pytest.mark.parametrize("loss", list(EXPONENTS))
@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("choice", [{}, {"dropped": 0.6}, {"smoothed": 0.2}], ids=str)
def test_a_sampled_vote_shares_every_error_with_chance_p(loss, n_classes, choice):
    """All ways in which few voters can vote, true class 0: p is below the simulated loss of each error."""
    rng = np.random.default_rng(n_classes)
    bound = Dirichlet(loss=loss)
    for d in (2, 3, 4):
        theta = rng.dirichlet(np.ones(d)) if d < 4 else np.full(4, 0.25)
        K, g = 25.0, 0.05
        centre = centre_of(theta, choice)
        tie = bound._tie(smallest_winning_weight(theta, n_classes), distance(theta, centre))
        p = float(beta_cdf(0.5 + g, K * tie[0], K * tie[1]))
        xi = rng.dirichlet(np.maximum(K * centre, 1e-300), size=20_000)
        for votes in itertools.product(range(n_classes), repeat=d):
            cast = np.eye(n_classes)[list(votes)]
            v, V = theta @ cast, xi @ cast
            if v[0] <= v[1:].max() + 1e-12:
                together = V[:, :1] + V[:, 1:]
                lost = V[:, :1] - V[:, 1:] <= 2 * g * together ** (1 - EXPONENTS[loss])
                lost &= V[:, 1:] > 0
                assert lost.any(axis=1).mean() >= p - 5 * math.sqrt(0.25 / 20_000)


@pytest.mark.parametrize("g", [0.0, 0.01, 0.1, 0.4])
def test_a_larger_tie_is_safer_however_far_the_centre_is(g):
    """The proof for other centres needs that I_{1/2+g}(s + e, s - e) grows with s."""
    e = np.array([0.0, 1e-3, 0.1, 1.0, 10.0])[:, None]
    s = e + np.geomspace(1e-3, 1e4, 400)
    chance = betainc(s + e, s - e, 0.5 + g)
    assert np.all(np.diff(chance, axis=1) >= -1e-12)


def test_tiny_weights_do_not_spoil_a_certificate():
    """Weights of 1e-9 hardly change the vote: nor do they, by now, change its certificate."""
    rows = ballots("300 voters")
    few, tiny = np.zeros(300), np.full(300, 1e-9)
    few[:3] = tiny[:3] = 0.5, 0.3, 0.2
    tiny /= tiny.sum()
    without, found = (Dirichlet().evaluate(rows, theta, DELTA) for theta in (few, tiny))
    around_the_weights = Dirichlet().search(rows, tiny, DELTA, None)
    assert found.risk < 0.9 * Dirichlet().at(rows, tiny, DELTA, around_the_weights).risk
    assert found.risk == pytest.approx(without.risk, rel=1e-3)


def test_clear_majorities_need_not_be_sampled_from_the_weights():
    """All rows are won by far: the uniform vote wins them too, and it costs nothing to sample."""
    rng = np.random.default_rng(3)
    theta = rng.dirichlet(np.full(60, 2.0))
    votes = (rng.random((3000, 60)) < 0.97).astype(int)
    rows, bound = Ballots.from_votes(votes, np.ones(3000, dtype=int), classes=[0, 1]), Dirichlet()
    around_the_weights = bound.at(rows, theta, DELTA, bound.search(rows, theta, DELTA, None))
    found = bound.evaluate(rows, theta, DELTA)
    assert found.terms.choice["smoothed"] > 0.2
    assert found.risk < 0.5 * around_the_weights.risk


def test_class_votes_around_centres_are_those_of_the_centres():
    rows, theta = ballots("three classes"), weights("uneven", 10)
    theta[:2] *= 0.001
    theta /= theta.sum()
    choices = centres(theta)
    assert len(choices) > 6
    for choice in choices:
        votes = Surroundings(rows, theta).votes(choice)
        direct = RowVotes.of(rows, centre_of(theta, choice))
        np.testing.assert_allclose(votes.right, direct.right, atol=1e-12)
        np.testing.assert_allclose(votes.rivals, direct.rivals, atol=1e-12)


def test_the_refuted_example_is_not_certified():
    """The example that refutes the printed theorem: every vote errs, and the certificate says so."""
    rows = two_voters(10_000)
    bound = Dirichlet()
    assert bound.evaluate(rows, np.array([0.5, 0.5]), DELTA).risk == 1
    choice = {"concentration": 1000.0, "margin": bound.margins[6], "prior_scale": 1.0}
    assert bound.at(rows, np.array([0.5, 0.5]), DELTA, choice).risk == 1


# The formula


def test_the_reported_numbers_explain_the_risk():
    found = Dirichlet().evaluate(ballots("three classes"), weights("uneven", 10), DELTA)
    details = found.details
    assert found.risk == pytest.approx(details["sampled_risk"] / details["error_chance"])
    assert details["sampled_risk"] == pytest.approx(
        float(mixture_inverse(details["empirical"], details["complexity"], 500))
    )
    assert found.terms.statistics["empirical"] == details["empirical"]
    assert math.fsum(found.ledger.values()) <= DELTA * (1 + 1e-12)


# Identities


@pytest.mark.parametrize("K", [3.0, 50.0, 2000.0])
def test_without_margin_it_is_the_factor_two_bound(K):
    rows, theta = ballots("two classes"), np.full(10, 0.1)
    theta[:2] = 0.15, 0.05  # sums to one half are possible
    constant = math.log(2 * math.sqrt(rows.n_rows)) - log_maurer(rows.n_rows)
    choice = {"concentration": K, "margin": 0.0, "prior_scale": 1.0}
    ours = PLAIN.from_terms(PLAIN.at(rows, theta, DELTA, choice).terms)
    theirs = FACTOR_TWO.at(rows, theta, DELTA * math.exp(constant), {"concentration": K})
    assert ours.risk == pytest.approx(theirs.risk, abs=2e-9)
    assert ours.risk <= FACTOR_TWO.at(rows, theta, DELTA, {"concentration": K}).risk


@pytest.mark.parametrize("where", ["two voters", "two classes", "duplicated voters"])
def test_without_margin_it_is_at_most_the_factor_two_bound(where):
    rows = ballots(where)
    for theta in (weights("uneven", rows.n_voters), weights("uniform", rows.n_voters)):
        assert PLAIN.evaluate(rows, theta, DELTA).risk <= FACTOR_TWO.evaluate(rows, theta, DELTA).risk + 1e-6


@pytest.mark.parametrize("K", [20.0, 300.0, 5000.0])
@pytest.mark.parametrize("g", [0.01, 0.05, 0.2])
def test_dividing_beats_adding(K, g):
    rows, theta = ballots("two classes"), weights("uneven", 10)
    added = replace(STOCHASTIC, margins=(g,)).at(rows, theta, DELTA, {"concentration": K, "margin": g})
    divided = replace(PLAIN, margins=(g,)).at(
        rows, theta, DELTA, {"concentration": K, "margin": g, "prior_scale": 1.0}
    )
    assert divided.risk <= added.risk


def test_true_margins_beat_the_total_wrong_weight():
    """Ten classes: the votes for one rival count, not all wrong votes together."""
    rows = ballots("ten classes")
    theta = weights("uneven", 10)
    choice = Dirichlet().search(rows, theta, DELTA, None)
    K, margin = choice["concentration"], choice["margin"]
    true = mean_loss_upper(RowVotes.of(rows, theta), K, margin, 0.5)
    together = mean_loss_upper(RowVotes.right_or_wrong(rows, theta), K, margin, 0.5)
    assert true < 0.7 * together


@pytest.mark.parametrize("where", ["three classes", "ten classes"])
def test_root_margins_are_the_tightest(where):
    rows = ballots(where)
    theta = weights("uneven", rows.n_voters)
    risks = {loss: Dirichlet(loss=loss).evaluate(rows, theta, DELTA).risk for loss in EXPONENTS}
    assert risks["root"] <= min(risks.values()) * 1.001


def test_all_losses_agree_on_two_classes():
    rows, theta = ballots("two classes"), weights("uneven", 10)
    risks = [Dirichlet(loss=loss).evaluate(rows, theta, DELTA).risk for loss in EXPONENTS]
    assert max(risks) - min(risks) < 1e-9


def test_abstaining_is_one_more_class():
    votes = np.array([[0, 0, 1], [1, 1, 2], [0, 2, 2]] * 50)
    y = np.array([0, 1, 0] * 50)
    third = Ballots.from_votes(votes, y, classes=[0, 1, 2])
    missing = Ballots.from_votes(np.where(votes == 2, np.nan, votes), y, classes=[0, 1])
    theta = np.array([0.5, 0.3, 0.2])
    ours, same = (Dirichlet().evaluate(rows, theta, DELTA) for rows in (missing, third))
    assert ours.risk == same.risk
    assert ours.terms.n_outputs == 3


# Priors


def test_uniform_weights_are_almost_free():
    found = Dirichlet().evaluate(ballots("300 voters"), np.full(300, 1 / 300), DELTA)
    assert found.details["kl"] < 0.5
    assert found.details["error_chance"] > 0.99


def test_an_informed_centre_helps():
    rows = ballots("two classes")
    theta = np.random.default_rng(0).dirichlet(np.full(10, 0.7))
    blind = Dirichlet().evaluate(rows, theta, DELTA)
    informed = Dirichlet().evaluate(rows, theta, DELTA, prior=theta)
    assert informed.risk < blind.risk
    assert informed.risk == Dirichlet().evaluate(rows, theta, DELTA, prior=2 * theta).risk


@pytest.mark.parametrize("n_alive", [1, 2, 5])
def test_zero_weights_are_certified_on_their_support(n_alive):
    rows = ballots("two classes")
    theta = np.zeros(10)
    theta[-n_alive:] = 1 / n_alive
    found = Dirichlet().at(rows, theta, DELTA, Dirichlet().search(rows, theta, DELTA, None))
    assert found.risk < 0.6
    price = found.details["complexity"] * rows.n_rows - found.details["kl"]
    subset = math.log(9 / 0.05) + math.log(math.comb(10, n_alive))
    scale = Dirichlet().prior_shares[Dirichlet().prior_scales.index(found.terms.choice["prior_scale"])]
    assert price == pytest.approx(subset - math.log(scale / 15 * DELTA), rel=1e-6)


def test_without_a_share_for_subsets_zero_weights_need_another_centre():
    theta = np.zeros(10)
    theta[:2] = 0.5
    rows, bound = ballots("two classes"), Dirichlet(subset_share=0.0)
    around_the_weights = bound.at(rows, theta, DELTA, bound.search(rows, theta, DELTA, None))
    assert around_the_weights.risk == 1
    assert around_the_weights.reason
    found = bound.evaluate(rows, theta, DELTA)
    assert found.risk < 1
    assert found.terms.choice["smoothed"] > 0


# Complementary voters


def test_complements_only_help_and_only_where_they_are_true():
    rows = ballots("anti-correlated voters")  # voters 2 and 3 contradict 0 and 1
    theta = np.array([0.4, 0.3, 0.2, 0.1])
    pairs = ((0, 2), (1, 3))
    plain, floored = Dirichlet(), Dirichlet(complements=pairs)
    for K, margin in [(2.0, 0), (5.0, 3), (20.0, 1)]:
        choice = {"concentration": K, "margin": plain.margins[margin], "prior_scale": 1.0}
        without, found = (bound.at(rows, theta, DELTA, choice) for bound in (plain, floored))
        assert found.risk <= without.risk
        right = rows.correct_weight(theta)
        losses = beta_cdf(0.5 + plain.margins[margin], K * right, K * (1 - right))
        assert found.details["floor"] <= losses.min()
    assert found.details["floor"] > 0


@pytest.mark.parametrize("where", ["perfect voters", "two classes"])
def test_a_floor_above_the_bound_is_not_used(where):
    """Complements that are not borne out by the rows must not turn the certificate negative."""
    rows = ballots(where)
    pairs = tuple((i, i + 1) for i in range(0, rows.n_voters, 2))
    theta = weights("uniform", rows.n_voters)
    plain, floored = (Dirichlet(complements=c).evaluate(rows, theta, DELTA) for c in ((), pairs))
    assert floored.risk == plain.risk > 0
    assert floored.details["floor"] == 0


# The search


@pytest.mark.parametrize("where", ["two voters", "two classes", "three classes", "300 voters"])
def test_search_is_as_good_as_a_dense_grid(where):
    """All margins, prior scales and K on all rows, where the search has looked at a sketch of them."""
    rows, bound = ballots(where), Dirichlet()
    m, d = rows.n_rows, rows.n_voters
    theta = 0.7 * weights("uneven", d) + 0.3 / d
    K = np.geomspace(1, 1e6, 80)
    prices = [
        float(bound._log_price(OUTWARD, theta, scale)) - math.log(DELTA) for scale in bound.prior_scales
    ]
    kl = dirichlet_kl(K[:, None, None] * theta, np.multiply.outer(bound.prior_scales, np.ones(d)))
    complexity = ((kl + prices) / m).min(axis=1)
    tie = bound._tie(smallest_winning_weight(theta, rows.n_outputs))
    votes = RowVotes.of(rows, theta)
    best = 1.0
    for margin in bound.margins:
        losses = np.concatenate(
            [central_losses(votes, part, np.full_like(part, margin), 0.5) for part in np.array_split(K, 20)]
        )
        chance = beta_cdf(0.5 + margin, K * tie[0], K * tie[1])
        best = min(best, float((mixture_inverse(losses, complexity, m) / chance).min()))
    assert bound.evaluate(rows, theta, DELTA).risk <= best * 1.003


def test_never_looser_than_the_paper_style_search_of_one_margin():
    rows, theta = ballots("two classes"), weights("uneven", 10)
    stochastic = STOCHASTIC.evaluate(rows, theta, DELTA)
    assert Dirichlet().evaluate(rows, theta, DELTA).risk < stochastic.risk


# Learning


@pytest.mark.parametrize("inequality", ["mixture", "kl"])
@pytest.mark.parametrize("loss", list(EXPONENTS))
@pytest.mark.parametrize("heaviest", [0, 3.0])
@pytest.mark.parametrize("where", ["two classes", "three classes", "anti-correlated voters"])
def test_objective_is_nearly_the_certificate_and_knows_its_slopes(where, heaviest, loss, inequality):
    rows, bound = ballots(where), Dirichlet(loss=loss, inequality=inequality)
    rng = np.random.default_rng(1)
    theta = rng.dirichlet(np.full(rows.n_voters, 5.0))
    theta[1] += heaviest
    theta /= theta.sum()
    choice = bound.search(rows, theta, DELTA, None)
    at = bound.objective(rows, theta, choice, DELTA)
    risk = bound.at(rows, theta, DELTA, choice).risk
    assert at.value > 1 or at.value == pytest.approx(risk, rel=0.02)
    for _ in range(2):
        direction = rng.normal(size=len(theta))
        direction -= direction.mean()
        step = 1e-5 * theta.min()
        ahead, behind = (
            bound.objective(rows, theta + s * direction, choice, DELTA).value for s in (step, -step)
        )
        assert at.d_weights @ direction == pytest.approx((ahead - behind) / (2 * step), rel=1e-3, abs=1e-6)
    up, down = (
        bound.objective(
            rows, theta, choice | {"concentration": choice["concentration"] * math.exp(s)}, DELTA
        ).value
        for s in (1e-5, -1e-5)
    )
    assert at.d_log_concentration == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=1e-7)


def test_objective_leaves_zero_weights_alone():
    rows, bound = ballots("two classes"), Dirichlet()
    theta = np.zeros(10)
    theta[:3] = 0.5, 0.3, 0.2
    choice = bound.search(rows, theta, DELTA, None)
    at = bound.objective(rows, theta, choice, DELTA)
    assert np.isfinite(at.d_weights).all()
    assert at.value == pytest.approx(bound.at(rows, theta, DELTA, choice).risk, rel=0.3)


# Options and refusals


@pytest.mark.parametrize(
    "options",
    [
        {"margins": ()},
        {"margins": (0.5,)},
        {"margins": (-0.1,)},
        {"prior_scales": (1.0,)},
        {"prior_scales": (), "prior_shares": ()},
        {"prior_scales": (0.0,), "prior_shares": (1.0,)},
        {"prior_scales": (math.inf,), "prior_shares": (1.0,)},
        {"prior_scales": (1.0, 2.0), "prior_shares": (0.6, 0.6)},
        {"prior_scales": (1.0,), "prior_shares": (0.0,)},
        {"inequality": "catoni"},
        {"loss": "square"},
        {"subset_share": 1.0},
        {"complements": ((0, 1), (1, 2))},
    ],
)
def test_impossible_options_are_refused(options):
    with pytest.raises(ValueError, match=r"must|is 'mixture'|is 'root'|one complement"):
        Dirichlet(**options)


def test_options_survive_json():
    bound = Dirichlet(margins=(0.0, 0.1), complements=((0, 1),), loss="ratio")
    assert Dirichlet(**json.loads(json.dumps(bound.options()))) == bound


@pytest.mark.parametrize(
    "change", [{"margin": 0.0123}, {"prior_scale": 3.0}, {"concentration": 1e11}, {"concentration": 0.0}]
)
def test_a_choice_outside_what_was_paid_for_is_refused(change):
    bound, rows, theta = Dirichlet(), ballots("two classes"), weights("uneven", 10)
    terms = bound.evaluate(rows, theta, DELTA).terms
    with pytest.raises(ValueError, match=r"grid|concentration"):
        bound.from_terms(replace(terms, choice=terms.choice | change))


@pytest.mark.parametrize("K", [1e-6, 1.0, 1e6, 1e10])
def test_extreme_concentrations_give_numbers(K):
    bound = Dirichlet()
    for where in ("one row", "perfect voters", "always wrong", "ten classes"):
        rows = ballots(where)
        choice = {"concentration": K, "margin": 0.4, "prior_scale": 1.0}
        assert 0 <= bound.at(rows, weights("uneven", rows.n_voters), DELTA, choice).risk <= 1


def test_a_declared_class_that_nobody_votes_for():
    rows = Problem(np.zeros((30, 3), dtype=int), np.zeros(30, dtype=int), 1).ballots()
    assert Dirichlet().evaluate(rows, np.full(3, 1 / 3), DELTA).risk < 0.5

"""How often a sampled vote loses a row: against simulation, quadrature, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from problems import ballots, independent, weights
from scipy.integrate import quad
from scipy.special import betainc
from scipy.stats import beta

from votecert.bounds.dirichlet.losses import (
    EXPONENTS,
    NODES,
    RowVotes,
    loss_slopes,
    mean_loss_upper,
    pair_loss_upper,
    wrong_weight_slopes,
)
from votecert.bounds.dirichlet.search import central_losses, rough_losses, sketch

LOSSES = list(EXPONENTS)


def one_row(*votes: float) -> RowVotes:
    """A single row; the true class comes first."""
    return RowVotes(np.array(votes[:1]), np.array([votes[1:]]), np.ones(1))


def simulated_loss(votes, K: float, margin: float, loss: str, n: int) -> float:
    """Share of lost draws, straight from the definition of the margin."""
    V = np.random.default_rng(0).dirichlet(K * np.array(votes), size=n)
    right, rivals = V[:, :1], V[:, 1:]
    power = {"ratio": 1.0, "root": 0.5, "difference": 0.0}[loss]
    return float((right - rivals <= 2 * margin * (right + rivals) ** power).any(axis=1).mean())


def exact_pair_loss(right: float, rival: float, K: float, margin: float, exponent: float) -> float:
    """The chance to lose to one rival, by numerical integration over the share S of the two."""
    share = beta(K * (right + rival), K * (1 - right - rival))

    def integrand(s: float) -> float:
        return share.pdf(s) * betainc(K * right, K * rival, min(1, 0.5 + margin * s**-exponent))

    kink = (2 * margin) ** (1 / exponent) if exponent else 0.5
    return quad(integrand, 0, 1, points=[kink, share.mean()], limit=200, epsabs=1e-12)[0]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("K", [3.0, 40.0, 900.0])
@pytest.mark.parametrize(
    "votes",
    [
        (0.4, 0.35, 0.25),
        (0.55, 0.44, 0.01),
        (0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05),
        (0.1,) * 10,
        (0.2, 0.5, 0.3),
    ],
)
@pytest.mark.parametrize("margin", [0.0, 0.02, 0.15])
def test_bound_is_not_below_simulation(votes, K, margin, loss):
    n = 30_000
    seen = simulated_loss(votes, K, margin, loss, n)
    bound = mean_loss_upper(one_row(*votes), K, margin, EXPONENTS[loss])
    assert bound >= seen - 5 * np.sqrt((seen * (1 - seen) + 1 / n) / n)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("right", "rival", "K", "margin"),
    [(0.45, 0.35, 60.0, 0.05), (0.3, 0.25, 500.0, 0.02), (0.5, 0.2, 200.0, 0.1), (0.2, 0.1, 3000.0, 0.03)],
)
def test_bound_for_a_pair_is_tight(right, rival, K, margin, loss):
    exact = exact_pair_loss(right, rival, K, margin, EXPONENTS[loss])
    (bound,) = pair_loss_upper(np.array([right]), np.array([rival]), K, margin, EXPONENTS[loss])
    looser = 1.1 if loss == "difference" else 1.02
    assert exact - 1e-10 <= bound <= exact * looser + 1e-9


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("right", "rival", "K", "margin"),
    [(0.6, 0.35, 8.0, 0.2), (0.5, 0.45, 3.0, 0.1), (0.3, 0.6, 20.0, 0.3), (0.6, 0.2, 5.0, 0.05)],
)
def test_bound_for_a_pair_holds_when_its_share_reaches_one(right, rival, K, margin, loss):
    """For small K the distribution of S piles up at one, beyond the last of the nodes."""
    exact = exact_pair_loss(right, rival, K, margin, EXPONENTS[loss])
    (bound,) = pair_loss_upper(np.array([right]), np.array([rival]), K, margin, EXPONENTS[loss])
    assert bound >= exact - 1e-8


@pytest.mark.parametrize("loss", LOSSES)
def test_two_classes_are_exact(loss):
    rng = np.random.default_rng(0)
    right, share = rng.random(50), rng.dirichlet(np.ones(50))
    votes = RowVotes(right, 1 - right[:, None], share)
    expected = share @ beta(30 * right, 30 * (1 - right)).cdf(0.6)
    found = mean_loss_upper(votes, 30.0, 0.1, EXPONENTS[loss])
    assert expected <= found <= expected + 3e-10


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("K", [1e-3, 1.0, 1e5, 1e10])
def test_sure_rows(loss, K):
    e = EXPONENTS[loss]
    assert mean_loss_upper(one_row(0.0, 0.6, 0.4), K, 0.1, e) == pytest.approx(1)
    assert mean_loss_upper(one_row(0.0, 1.0), K, 0.1, e) == pytest.approx(1)
    assert mean_loss_upper(one_row(1.0, 0.0, 0.0), K, 0.1, e) == pytest.approx(
        0, abs=1e-2 if K > 1e9 else 1e-6
    )
    assert mean_loss_upper(one_row(1.0), K, 0.1, e) == pytest.approx(0, abs=1e-2 if K > 1e9 else 1e-6)


def test_a_tie_on_a_lattice_is_a_tie():
    """0.1 + 0.2 is a little more than 0.3; at large K that must not win the row."""
    votes = one_row(0.1 + 0.2, 0.3, 0.4 - 1e-16)
    assert mean_loss_upper(votes, 1e10, 0.0, 0.0) > 0.49


@pytest.mark.parametrize("loss", LOSSES)
def test_moving_votes_to_the_true_class_never_costs(loss):
    e = EXPONENTS[loss]
    risks = [mean_loss_upper(one_row(v, 0.9 - v, 0.1), 50.0, 0.05, e) for v in np.linspace(0.05, 0.85, 30)]
    assert all(np.diff(risks) <= 0)


@pytest.mark.parametrize("where", ["two classes", "three classes", "ten classes"])
def test_joining_equal_rows_changes_nothing(where):
    """Thousands of rows go through the lattice of joined rows, a few hundred patterns do not."""
    few = RowVotes.of(ballots(where), weights("uneven", 10))
    copies = 1 + 20_000 // len(few.right)
    many = RowVotes(
        np.repeat(few.right, copies),
        np.repeat(few.rivals, copies, axis=0),
        np.repeat(few.share, copies) / copies,
    )
    for exponent in EXPONENTS.values():
        alone, joined = (mean_loss_upper(votes, 100.0, 0.04, exponent) for votes in (few, many))
        assert joined == pytest.approx(alone, abs=1e-9)


def test_fewer_nodes_only_loosen(monkeypatch):
    votes = RowVotes.of(ballots("ten classes"), weights("uneven", 10))
    fine = mean_loss_upper(votes, 80.0, 0.05, 0.5)
    monkeypatch.setattr("votecert.bounds.dirichlet.losses._MOST_EVALUATIONS", 1)
    coarse = mean_loss_upper(votes, 80.0, 0.05, 0.5)
    assert fine <= coarse <= fine * 1.01


@pytest.mark.parametrize("where", ["two classes", "three classes", "ten classes", "100 000 rows"])
@pytest.mark.parametrize("loss", LOSSES)
def test_search_sees_nearly_the_same_losses(where, loss):
    rows = ballots(where)
    votes = RowVotes.of(rows, weights("uneven", rows.n_voters))
    e = EXPONENTS[loss]
    for K, margin in [(20.0, 0.1), (500.0, 0.02)]:
        exact = mean_loss_upper(votes, K, margin, e)
        (central,) = central_losses(sketch(votes), np.array([K]), np.array([margin]), e)
        rough = rough_losses(sketch(votes), np.array([K]), np.array([margin]), e)[0, 0]
        assert central == pytest.approx(exact, rel=0.03)
        assert rough == pytest.approx(exact, rel=0.3)


def test_sketch_keeps_the_shares_and_is_small():
    rng = np.random.default_rng(0)
    votes = RowVotes(rng.random(50_000), rng.random((50_000, 1)), np.full(50_000, 1 / 50_000))
    small = sketch(votes)
    assert len(small.right) < 1000
    assert small.share.sum() == pytest.approx(1)
    assert small.share @ small.right == pytest.approx(votes.right.mean())


def check_slopes(function, rows, theta: np.ndarray, K: float) -> None:
    found = function(rows, theta, K)
    rng = np.random.default_rng(1)
    for _ in range(3):
        direction = rng.normal(size=len(theta))
        direction -= direction.mean()
        step = 1e-5 * theta.min() / np.abs(direction).max()
        ahead, behind = (function(rows, theta + s * direction, K).value for s in (step, -step))
        assert found.d_weights @ direction == pytest.approx((ahead - behind) / (2 * step), rel=1e-4, abs=1e-7)
    up, down = (function(rows, theta, K * np.exp(s)).value for s in (1e-5, -1e-5))
    assert found.d_log_concentration == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("where", ["two classes", "three classes", "ten classes", "abstentions, two classes"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("K", [5.0, 300.0])
def test_slopes_equal_finite_differences(where, loss, K):
    rows = ballots(where)
    theta = 0.5 * weights("uneven", rows.n_voters) + 0.5 / rows.n_voters

    def slopes(rows, theta, K):
        return loss_slopes(rows, theta, K, 0.05, EXPONENTS[loss])

    check_slopes(slopes, rows, theta, K)
    assert slopes(rows, theta, K).value == pytest.approx(
        mean_loss_upper(RowVotes.of(rows, theta), K, 0.05, EXPONENTS[loss]), rel=0.05
    )


@pytest.mark.parametrize("K", [0.5, 20.0, 1e4, 1e6])
def test_table_stands_for_many_rows(K):
    rows = independent(4 * NODES + 500, np.full(60, 0.6)).ballots(compress=False)
    theta = np.random.default_rng(0).dirichlet(np.full(60, 5.0))

    def slopes(rows, theta, K):
        return wrong_weight_slopes(rows, theta, K, 0.02)

    check_slopes(slopes, rows, theta, K)
    exact = mean_loss_upper(RowVotes.right_or_wrong(rows, theta), K, 0.02, 0.0)
    assert slopes(rows, theta, K).value == pytest.approx(exact, abs=1e-6)

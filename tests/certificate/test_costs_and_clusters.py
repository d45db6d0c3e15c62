"""Costs and clusters: limits that hold, exact where losses are errors, and that nobody can forge."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, binom

import votecert as vc
from votecert.certificate.losses.counting import (
    UNIT,
    cheapest_offsets,
    counted_losses,
    in_units,
    read_costs,
    times,
)
from votecert.certificate.record import digest
from votecert.certificate.units import Units
from votecert.certificate.verification import FITTED, OTHER_VOTE, compared_fits
from votecert.numerics import bounded_mean_upper, kl_inverse_upper
from votecert.rows.ballots import Ballots
from votecert.rows.checks import VoteWarning
from votecert.rows.predictor import WeightedVote

COSTS = [[0, 1], [20, 0]]


def panel(rng, m, share=0.2):
    y = (rng.random(m) < share).astype(int)
    return np.where(rng.random((m, 5)) < [0.9, 0.85, 0.8, 0.8, 0.7], y[:, None], 1 - y[:, None]), y


def test_costs_are_counted_and_limited_by_the_formula():
    votes, y = panel(np.random.default_rng(0), 700)
    found = vc.certify(votes, y, weights="uniform", costs=COSTS)
    said = (votes.sum(axis=1) > 2).astype(int)
    each = np.array(COSTS)[y, said] / 20
    assert found.mean == pytest.approx(20 * each.mean(), rel=1e-9)
    value, count = np.unique(each, return_counts=True)
    assert found.risk == pytest.approx(bounded_mean_upper(value, count, np.log(0.05)), rel=1e-9)
    assert found.cost == 20 * found.risk > found.mean
    assert f"{found.cost:.2g}"[:3] in found.statement
    assert found.verify(votes, y)


def test_errors_are_clopper_and_pearson_s_to_the_bit():
    votes, y = panel(np.random.default_rng(1), 500)
    plain = vc.certify(votes, y, weights="uniform").risk
    assert vc.certify(votes, y, weights="uniform", costs=[[0, 1], [1, 0]]).risk == plain
    assert vc.certify(votes, y, weights="uniform", costs=[[0, 0.3], [0.3, 0]]).risk == plain
    alone = vc.certify(votes, y, weights="uniform", clusters=[f"c{i}" for i in range(500)])
    assert alone.risk == plain
    assert any("single row" in line for line in alone.assumptions)
    one_way = vc.certify(votes, y, weights="uniform", costs=[[0, 7], [0, 0]])
    k = int(((votes.sum(axis=1) > 2) & (y == 0)).sum())
    assert one_way.risk == pytest.approx(beta.isf(0.05, k + 1, 500 - k), rel=1e-9)


def test_clusters_count_alike_and_with_a_largest_size_rows_do():
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 9, size=120)
    own = np.repeat(np.arange(120), sizes)
    votes, y = panel(rng, len(own))
    shuffled = rng.permutation(len(own))
    votes, y, own = votes[shuffled], y[shuffled], own[shuffled]
    wrong = (votes.sum(axis=1) > 2) != y
    found = vc.certify(votes, y, weights="uniform", clusters=own)
    means = np.array([wrong[own == g].mean() for g in range(120)])
    assert found.n_units == 120
    assert found.mean == pytest.approx(np.ceil(means * 1024).mean() / 1024)
    assert found.verify(votes, y, own)
    rows = vc.certify(votes, y, weights="uniform", clusters=own, largest_cluster=10)
    assert rows.mean == pytest.approx(wrong.mean())
    sums = np.array([wrong[own == g].sum() for g in range(120)]) / 10
    limit = bounded_mean_upper(sums, [1] * 120, np.log(0.05), sizes / 10)
    assert rows.risk == pytest.approx(limit, rel=1e-9)
    assert rows.verify(votes, y, own)
    with pytest.raises(ValueError, match="largest_cluster"):
        vc.certify(votes, y, weights="uniform", clusters=own, largest_cluster=3)
    with pytest.raises(ValueError, match="clusters are needed"):
        found.verify(votes, y)


def test_even_clusters_are_much_closer_than_the_kl_limit():
    """A hundred clusters of twenty rows with one or three errors each: .1 +- .05."""
    wrong = np.concatenate([np.arange(20) < (3 if g % 2 else 1) for g in range(100)])
    votes = wrong.astype(int)[:, None]
    found = vc.certify(votes, np.zeros(2000, int), weights="uniform", clusters=np.repeat(np.arange(100), 20))
    by_kl = float(kl_inverse_upper(0.1, np.log(20) / 100))
    assert found.risk - 0.1 <= 0.6 * (by_kl - 0.1)


@pytest.mark.parametrize("soft", [False, True])
def test_a_learned_vote_is_cheap_and_comes_from_the_fitting_part_alone(soft):
    rng = np.random.default_rng(3)
    votes, y = panel(rng, 1500)
    rows = np.eye(2)[votes] * 0.8 + 0.1 if soft else votes
    given = {"scores": rows} if soft else {"votes": rows}
    found = vc.certify(y=y, costs=COSTS, classes=[0, 1], **given)
    plain = vc.certify(y=y, costs=COSTS, weights="uniform", classes=[0, 1], **given)
    assert found.mean < plain.mean
    assert found.verify(rows, y)
    fresh, truth = panel(rng, 20_000)
    new = np.eye(2)[fresh] * 0.8 + 0.1 if soft else fresh
    assert np.array(COSTS)[truth, found.predict(new)].mean() < found.cost


def test_clusters_are_split_as_a_whole():
    rng = np.random.default_rng(4)
    own = np.repeat(np.arange(150), 6)
    votes, y = panel(rng, 900)
    found = vc.certify(votes, y, clusters=own)
    assert found.n_units + found.n_fitted == 150
    assert found.n_rows == 6 * found.n_units
    assert found.verify(votes, y, own)
    with pytest.raises(ValueError, match="too few"):
        vc.certify(votes[:60], y[:60], clusters=own[:60])


def test_offsets_are_the_cheapest_there_are():
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=200)
    votes = np.where(rng.random((200, 4)) < 0.75, y[:, None], 1 - y[:, None])
    rows, costs = Ballots.from_votes(votes, y), read_costs([[0, 1], [4, 0]], [0, 1])
    vote = vc.certify(votes, y, weights="uniform", costs=costs).predictor

    def cost(offsets, finer=None):
        shifted = replace(vote, offsets=tuple(offsets))
        if finer is not None:
            shifted = replace(times(vote, 2), offsets=tuple(finer))
        listed = counted_losses(shifted, rows, costs, None, None)
        return sum(loss * count for _, loss, count in listed)

    best = min(cost(pair) for pair in [(0, b) for b in range(7)] + [(b, 0) for b in range(7)])
    finer = times(vote, 2)
    totals = rows.vote_totals(finer.numbers, finer.offsets)
    true = rows.counts[:, None] * np.eye(2)[rows.labels]  # as if the chances of the classes were known
    assert cost((), finer=cheapest_offsets(finer, totals, true, costs)) == best


def test_rare_expensive_errors_are_foreseen():
    rng = np.random.default_rng(1)
    y = (rng.random(4000) < 0.1).astype(int)
    votes = np.where(rng.random((4000, 5)) < [0.95, 0.9, 0.85, 0.8, 0.8], y[:, None], 1 - y[:, None])
    options = {"costs": [[0, 1], [50, 0]], "classes": [0, 1], "can_abstain": False}
    plain = vc.certify(votes, y, weights="uniform", **options)
    learned = [vc.certify(votes, y, random_state=seed, **options) for seed in range(3)]
    assert np.mean([one.cost for one in learned]) < plain.cost


def test_a_tied_soft_vote_gives_no_answer_where_that_has_a_price():
    scores = np.array([[[0.7, 0.3], [0.3, 0.7]], [[0.9, 0.1], [0.6, 0.4]]] * 30)
    found = vc.certify(
        None, [0, 0] * 30, scores=scores, classes=[0, 1], weights="uniform", costs=[[0, 4, 1]] * 2
    )
    assert found.mean == pytest.approx(1 / 2)
    assert found.predict(scores[:2]).tolist() == [None, 0]


def test_names_of_clusters_do_not_decide_who_fits():
    votes, y = np.tile([[0, 1], [1, 1], [0, 0]], (60, 1)), np.tile([0, 1, 0], 60)
    own = np.repeat(np.arange(60), 3)
    names = np.random.default_rng(0).permutation(60)[own]
    parts = [Units.of(Ballots.from_votes(votes, y), one).parts(0.25, 1)[0] for one in (own, names)]
    assert parts[0].number == parts[1].number
    assert np.array_equal(parts[0].own, parts[1].own)
    rows = Ballots.from_votes(own[:, None].repeat(2, axis=1), own)  # which tell their cluster
    fitted = [set(Units.of(rows, one).parts(0.25, 1)[0].rows.labels.tolist()) for one in (own, names)]
    assert fitted[0] == fitted[1]


def test_tables_of_costs_by_name_and_for_no_answer():
    pandas = pytest.importorskip("pandas")
    by_name = pandas.DataFrame(
        {
            "spam": [
                1,
                0,
            ],
            "ham": [0, 5],
            "none": [2, 2],
        },
        index=["ham", "spam"],
    )
    assert read_costs(by_name, ["ham", "spam"]) == ((0, 1, 2), (5, 0, 2))
    assert in_units(read_costs([[0, 1], [3, 0]], [0, 1])).tolist() == [
        [0, -(-UNIT // 3), UNIT],
        [UNIT, 0, UNIT],
    ]
    votes = np.array([["ham", None], [None, None], ["spam", "spam"]] * 100, dtype=object)
    y = np.array(["ham", "spam", "spam"] * 100)
    found = vc.certify(votes, y, weights="uniform", costs=by_name)
    assert found.mean == pytest.approx(2 / 3)
    # where no answer has its price, none is given: "ham" to such rows would cost 5
    assert found.predict(votes[:3]).tolist() == ["ham", None, "spam"]
    assert found.predict_codes(np.array([[0, 2], [2, 2], [1, 1]])).tolist() == ["ham", None, "spam"]
    assert vc.certify(votes, y, weights="uniform", costs=[[0, 1], [5, 0]]).mean == pytest.approx(5 / 3)
    for wrong, told in (
        ([[0, 1]], "a row for each"),
        ([[0, -1], [1, 0]], "zero or more"),
        ([[0, 0], [0, 0]], "not all zero"),
        ({"ham": {"ham": 0, "spam": 1}}, "no row for the class 'spam'"),
        ({true: {"ham": 0, "spam": 1, "scam": 1} for true in ("ham", "spam", "scam")}, "declare all"),
        ({"ham": {"ham": 0}, "spam": {"ham": 1}}, "no column for the class 'spam'"),
    ):
        with pytest.raises(ValueError, match=told):
            vc.certify(votes, y, weights="uniform", costs=wrong)


def test_what_would_be_ignored_is_refused():
    votes, y = panel(np.random.default_rng(6), 100)
    for options in ({"bound": "occam"}, {"groups": "class"}, {"time_budget": 3}, {"largest_cluster": 3}):
        with pytest.raises((TypeError, ValueError), match=r"ignored|largest"):
            vc.certify(votes, y, **({"costs": COSTS} | options))
    with pytest.raises(ValueError, match="fixed_in_advance"):
        vc.certify(votes, y, costs=COSTS, weights=[0.2] * 5)
    with pytest.raises(ValueError, match="split must be between 0 and 1"):
        vc.certify(votes, y, costs=COSTS, split=0)


def test_counts_that_do_not_go_together_are_told():
    votes, y = panel(np.random.default_rng(6), 200)
    plain = vc.certify(votes, y, weights="uniform", costs=COSTS)
    by_rows = vc.certify(votes, y, weights="uniform", clusters=np.arange(200) // 3, largest_cluster=5)
    assert plain.verify()
    assert by_rows.verify()
    for m in range(40, 140, 7):  # thirds and sevenths of rows are no floats
        assert vc.certify(votes[:m], y[:m], weights="uniform", clusters=np.arange(m)).verify()
    for forged in (
        replace(plain, n_rows=199),
        replace(plain, offsets=(0, 1)),
        replace(by_rows, errors=by_rows.errors - 1),
        replace(by_rows, n_rows=201),
    ):
        assert not forged.verify()
    with pytest.raises(TypeError, match="whole number"):
        vc.certify(votes, y, weights="uniform", clusters=np.arange(200) // 3, largest_cluster=4.5)


def test_tables_are_compared_with_those_that_are_fitted_again():
    one = WeightedVote((2, 2), (0, 0), (0, 1), table=(((4, 0), (0, 0)), ((0, 0), (0, 4))))
    other = replace(one, table=one.table[::-1])
    assert compared_fits(one, one, True) == ([], [])
    nothing = replace(one, table=(((0, 0), (0, 0)),) * 2)
    for another in (other, replace(one, table=None), nothing):
        assert compared_fits(one, another, True) == ([OTHER_VOTE], [])
        assert compared_fits(one, another, False) == ([], [f"{FITTED} by another version of votecert."])


def clustered_world(rng):
    """Sixty clusters, in a quarter of which every voter but the first is always wrong."""
    bad, sizes = rng.random(60) < 0.25, rng.integers(1, 7, size=60)
    own = np.repeat(np.arange(60), sizes)
    y = rng.integers(2, size=len(own))
    right = rng.random((len(own), 3)) < np.where(bad[own], 0.05, 0.95)[:, None]
    return np.where(right, y[:, None], 1 - y[:, None]), y, own


def vote_error(votes):
    """True error of a vote of three: each right with the same chance, given the cluster."""
    errors = []
    for chance in (0.05, 0.95):
        wrong = 0.0
        for right in np.ndindex(2, 2, 2):
            lead = np.dot(votes, np.where(right, 1, -1))
            share = np.prod([chance if one else 1 - chance for one in right])
            wrong += share * (1.0 if lead < 0 else 0.5 * (lead == 0))
        errors.append(wrong)
    return 0.25 * errors[0] + 0.75 * errors[1]


@pytest.mark.parametrize("weights", ["uniform", "learn"])
def test_cluster_limits_hold_and_rows_taken_for_independent_would_not(weights):
    rng, delta, draws, missed, as_rows = np.random.default_rng(7), 0.2, 60, 0, 0
    for _ in range(draws):
        votes, y, own = clustered_world(rng)
        first = np.unique(own, return_index=True)[1].repeat(60)
        found = vc.certify(
            votes, y, weights=weights, clusters=own, delta=delta, classes=[0, 1], can_abstain=False
        )
        missed += found.risk < vote_error(found.votes)
        # the mutant: rows of a cluster, here sixty alike, are taken for independent
        as_rows += vc.certify(
            votes[first], y[first], weights="uniform", delta=delta, validate=False
        ).risk < vote_error((1, 1, 1))
    assert missed <= binom.isf(1e-9, draws, delta)
    assert as_rows > binom.isf(1e-3, draws, delta) or weights == "learn"


def test_cost_limits_hold():
    rng, delta, draws, missed = np.random.default_rng(8), 0.2, 60, 0
    for _ in range(draws):
        y = rng.integers(2, size=60)
        votes = np.where(rng.random((60, 1)) < 0.8, y[:, None], 1 - y[:, None])
        found = vc.certify(votes, y, weights="uniform", costs=[[0, 1], [4, 0]], delta=delta)
        missed += found.cost < 0.2 * 2.5
    assert missed <= binom.isf(1e-9, draws, delta)


FORGERIES = {
    "risk": lambda old: old - 1e-6,
    "delta": lambda old: old * 2,
    "costs": lambda old: None if old else [[0, 1], [1, 0]],
    "clusters": lambda old: not old,
    "largest": lambda old: 7,
    "losses": lambda old: [[1, 0, sum(n for *_, n in old)]],
    "n_units": lambda old: old + 1,
    "n_fitted": lambda old: old + 1,
    "n_rows": lambda old: 0,
    "errors": lambda old: 10**6,
    "votes": lambda old: [0.5, *old[1:]],
    "statement": lambda old: "It is free.",
    "surprise": lambda old: 1,
}


@pytest.mark.parametrize("field", FORGERIES)
def test_edited_certificates_are_refused(field):
    rng = np.random.default_rng(9)
    votes, y = panel(rng, 300)
    own = np.repeat(np.arange(60), 5)
    for options in ({"costs": COSTS, "weights": "uniform"}, {"clusters": own, "weights": "uniform"}):
        found = vc.certify(votes, y, **options)
        assert vc.LossCertificate.from_json(found.to_json()) == found
        content = json.loads(found.to_json())
        edited = {**content, field: FORGERIES[field](content.get(field))}
        for text in (edited, {**edited, "digest": digest(edited)}):
            with suppress(ValueError):
                assert not vc.LossCertificate.from_json(json.dumps(text)).verify(), (field, options)
        assert not found.verify(votes, 1 - y, own if "clusters" in options else None)


def test_costs_in_clusters_are_rounded_up():
    votes, y = np.tile([[1], [0]], (60, 1)), np.zeros(120, int)  # in each cluster one row costs a third
    options = {"weights": "uniform", "costs": [[0, 1], [3, 0]], "clusters": np.repeat(np.arange(60), 2)}
    alike = vc.certify(votes, y, classes=[0, 1], **options)
    assert alike.losses == ((1, 171 * UNIT // 1024, 60),)
    rows = vc.certify(votes, y, classes=[0, 1], largest_cluster=4, **options)
    assert rows.losses == ((2, 342 * UNIT // 1024, 60),)


def test_rows_that_err_together_are_told_unless_clusters_are_named():
    rng = np.random.default_rng(10)
    own = np.repeat(np.arange(80), 10)
    y = rng.integers(2, size=800)
    bad = (rng.random(80) < 0.3)[own]
    votes = np.where(rng.random((800, 3)) < np.where(bad, 0.1, 0.95)[:, None], y[:, None], 1 - y[:, None])
    with pytest.warns(VoteWarning, match="wrong together"):
        found = vc.certify(votes, y, weights="uniform")
    assert any("clusters=" in note for note in found.notes)
    vc.certify(votes, y, weights="uniform", clusters=own)  # warnings are errors here
    mixed = rng.permutation(800)
    assert not vc.certify(votes[mixed], y[mixed], weights="uniform").notes
    order = np.argsort((votes.sum(axis=1) > 1) != y, kind="stable")  # sorted rows are no clusters
    assert not vc.certify(votes[order], y[order], weights="uniform").notes

"""``vc.triage``: what it says holds in worlds with a known truth, and nothing else can be made of it."""

from __future__ import annotations

import itertools
import json
import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta, binom

import votecert as vc
from votecert.certificate.record import digest
from votecert.certificate.triage import rules
from votecert.numerics import OUTWARD
from votecert.rows.ballots import Ballots
from votecert.rows.split import in_fitting_part


def panel(rng, m, skills=(0.9, 0.8, 0.8, 0.7, 0.7)):
    y = rng.integers(2, size=m)
    return np.where(rng.random((m, len(skills))) < skills, y[:, None], 1 - y[:, None]), y


def direct_limit(k, n, level):
    return 1.0 if k >= n else float(beta.isf(level, k + 1, n - k))


def direct_passing(answered, errors, starts, level, target):
    """The rule, written out: what was carried so far and its own share."""
    carried, found = 0.0, []
    for place, (n, k, start) in enumerate(zip(answered, errors, starts, strict=True)):
        carried += start / sum(starts)
        if n and carried and direct_limit(k, n, level * carried) <= target:
            found.append(place)
        else:
            carried = 0.0
    return found


def test_counts_threshold_coverage_and_curve_are_what_they_say():
    votes, y = panel(np.random.default_rng(0), 800)
    found = vc.triage(votes, y, weights="uniform", max_risk=0.04, delta=0.1)
    share = np.abs((votes == 1).sum(axis=1) - (votes == 0).sum(axis=1)) / 5
    wrong = (votes.sum(axis=1) > 2).astype(int) != y
    assert found.cuts == (5, 3, 1)
    assert found.answered == tuple(int((share >= t).sum()) for t in (1, 0.6, 0.2))
    assert found.errors == tuple(int((wrong & (share >= t)).sum()) for t in (1, 0.6, 0.2))
    passed = direct_passing(found.answered, found.errors, found.starts, 0.07, 0.04)
    risks = [direct_limit(k, n, 0.02 / 3) for k, n in zip(found.errors, found.answered, strict=True)]
    assert [point.risk for point in found.curve] == pytest.approx(risks, rel=1e-9)
    place = max([*passed, *(i for i in range(3) if risks[i] <= 0.04)])
    assert found.threshold == (1, 0.6, 0.2)[place]
    n, m = found.answered[place], 800
    lower = [float(beta.ppf(0.005 / 3, n, m - n + 1)), n / m - math.sqrt(math.log(1 / 0.005) / 2 / m)]
    assert found.coverage == pytest.approx(max(lower), rel=1e-9)
    assert found.risk == 0.04
    assert sum(found.ledger.values()) == pytest.approx(0.1)
    decided = found.decide(votes)
    assert [label is None for label in decided] == (share < found.threshold).tolist()
    assert all(
        label == (row.sum() > 2) for row, label in zip(votes, decided, strict=True) if label is not None
    )
    assert found.verify(votes, y)


def test_nothing_can_be_answered_and_the_reason_is_told():
    votes, y = panel(np.random.default_rng(1), 300, (0.6, 0.6, 0.6))
    found = vc.triage(votes, y, weights="uniform", max_risk=0.02)
    assert found.threshold is None
    assert found.coverage == 0
    assert found.risk == 1
    assert set(found.decide(votes)) == {None}
    assert "More rows would not help" in found.reason
    few = vc.triage(votes[:40], y[:40], weights="uniform", max_risk=0.02)
    assert f"it takes {rules.fewest_rows(0.02, 0.05)} without an error" in few.reason
    good, truth = np.zeros((500, 3), dtype=int), (np.arange(500) < 4).astype(int)
    close = vc.triage(good, truth, weights="uniform", max_risk=0.012)
    assert "About 10 times as many like these would do" in close.reason
    assert found.verify(votes, y)


@pytest.mark.parametrize(("risk", "delta"), [(0.05, 0.05), (0.01, 0.2), (0.3, 0.01)])
def test_the_fewest_rows_are_those_that_pass_without_an_error(risk, delta):
    rows = rules.fewest_rows(risk, delta)
    assert direct_limit(0, rows, 0.7 * delta) <= risk < direct_limit(0, rows - 1, 0.7 * delta)


def test_thresholds_in_use_must_have_limits():
    votes, y = panel(np.random.default_rng(3), 900)
    found = vc.triage(votes, y, weights="uniform", max_risk=0.03)
    strict, loose = (found.decide(votes, threshold=t) for t in (1.0, 0.2))
    assert sum(label is None for label in strict) > sum(label is None for label in loose) == 0
    with pytest.raises(ValueError, match=r"no limit here; there are 0\.2, 0\.6, 1"):
        found.decide(votes, threshold=0.5)


def test_abstentions_fallback_and_soft_ties_are_handed_over_alike_when_counted_and_decided():
    rng = np.random.default_rng(4)
    votes, y = panel(rng, 400)
    mixed = votes.astype(object)
    mixed[rng.random(votes.shape) < 0.3] = None
    mixed[:20] = None
    for fallback in (None, 1):
        found = vc.triage(mixed, y, weights="uniform", max_risk=0.3, fallback=fallback)
        for point in found.curve:
            decided = found.decide(mixed, threshold=point.threshold)
            answered = np.array([label is not None for label in decided])
            assert point.answered == answered.sum()
            assert point.errors == (decided[answered] != y[answered]).sum()
        assert (found.curve[-1].answered == 400) == (fallback is not None)
    scores = rng.dirichlet([1, 1], size=(400, 4))
    scores[:30] = 0.5
    soft = vc.triage(y=y, scores=scores, weights="uniform", max_risk=0.6)
    for point in soft.curve:
        decided = soft.decide(scores, threshold=point.threshold)
        answered = np.array([label is not None for label in decided])
        assert point.answered == answered.sum()
        assert point.errors == (decided[answered] != y[answered]).sum()
    assert soft.curve[-1].answered == 370
    assert soft.verify(scores, y)


def test_learned_votes_and_thresholds_come_from_the_fitting_part_alone():
    rng = np.random.default_rng(5)
    votes, y = panel(rng, 1200, (0.95, 0.6, 0.6, 0.6, 0.6, 0.6))
    found = vc.triage(votes, y, max_risk=0.06)
    assert found.origin == "learned"
    assert found.n_rows + found.n_fitted == 1200
    assert found.weights[0] > 0.3
    assert found.verify(votes, y)
    rest = ~in_fitting_part(1200, found.split, found.seed)
    other, other_y = votes.copy(), y.copy()
    other[rest], other_y[rest] = rng.integers(2, size=(rest.sum(), 6)), rng.integers(2, size=rest.sum())
    again = vc.triage(other, other_y, max_risk=0.06)
    assert (again.votes, again.offsets, again.cuts, again.starts) == (
        found.votes,
        found.offsets,
        found.cuts,
        found.starts,
    )
    assert vc.triage(Ballots.from_votes(votes, y), max_risk=0.06) == found


SKILLS = np.array([0.55, 0.7, 0.8, 0.95, 0.99])
"""Rows are of five difficulties, which nobody is told."""

SURE = (0.55, 0.75, 0.95)
"""How sure voters say they are, whether they are right or not."""


def scores_of(said, sure):
    return np.stack([np.where(said == k, sure, 1 - sure) for k in (0, 1)], axis=-1)


def world(rng, m, soft):
    y = rng.integers(2, size=m)
    right = rng.random((m, 4)) < rng.choice(SKILLS, size=m)[:, None]
    votes = np.where(right, y[:, None], 1 - y[:, None])
    return (scores_of(votes, rng.choice(SURE, size=(m, 4))) if soft else votes), y


def population(soft):
    """Every row that there can be, for both labels, with its chance."""
    votes = np.array(list(itertools.product((0, 1), repeat=4)))
    rows, chance = votes, np.ones(len(votes))
    if soft:
        sure = np.array(list(itertools.product(SURE, repeat=4)))
        rows = scores_of(votes[:, None], sure[None]).reshape(-1, 4, 2)
        votes, chance = np.repeat(votes, len(sure), axis=0), np.full(len(rows), 1 / len(sure))
    both = []
    for label in (0, 1):
        right = (votes == label).sum(axis=1)[:, None]
        both.append(chance / 2 * np.mean(SKILLS**right * (1 - SKILLS) ** (4 - right), axis=1))
    assert sum(map(sum, both)) == pytest.approx(1)
    return rows, np.stack(both)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("weights", ["uniform", "learn"])
def test_targets_and_coverage_hold_as_often_as_promised(soft, weights):
    rng, delta, missed, answers = np.random.default_rng(6), 0.2, 0, 0
    draws = 10 if weights == "learn" else 25
    every, chance = population(soft)
    for _ in range(draws):
        rows, y = world(rng, 400, soft)
        given = {"scores": rows} if soft else {"votes": rows}
        found = vc.triage(y=y, weights=weights, max_risk=0.1, delta=delta, classes=[0, 1], **given)
        decided = found.decide(every)
        answered = np.array([label is not None for label in decided])
        wrong = sum(chance[label][answered & (decided != label)].sum() for label in (0, 1))
        answers += answered.any()
        missed += wrong > found.risk * chance[:, answered].sum() or chance[:, answered].sum() < found.coverage
    assert answers > draws / 3
    assert missed <= binom.isf(1e-9, draws, delta)


def nested(rng, draws, n_layers, risk, m):
    """Rows answered and errors at nested thresholds, the highest first; in the end nine tenths."""
    layers = rng.multinomial(m, [0.9 / n_layers] * n_layers + [0.1], size=draws)[:, :-1]
    return layers.cumsum(axis=1), rng.binomial(layers, risk).cumsum(axis=1)


def many_limits(errors, answered, level):
    """The limits of Clopper and Pearson, for many at once."""
    some = beta.isf(level, errors + 1, np.maximum(answered - errors, 1))
    return np.where((errors >= answered) | (level <= 0), 1.0, some)


def many_passing(answered, errors, starts, level, target):
    """The rule for many draws at once: which thresholds pass."""
    carried, found = np.zeros(len(answered)), []
    for n, k, start in zip(answered.T, errors.T, starts, strict=True):
        carried = carried + start / sum(starts)
        found.append(many_limits(k, n, level * carried) <= target)
        carried = np.where(found[-1], carried, 0.0)
    return np.stack(found, axis=1)


def test_the_rule_is_the_one_that_is_simulated_below():
    rng = np.random.default_rng(7)
    answered, errors = nested(rng, 25, 8, 0.07, 300)
    for starts in ((1, 0, 0, 0, 0, 0, 0, 0), (2, 1, 0, 1, 0, 1, 0, 1)):
        direct = many_passing(answered, errors, starts, 0.07, 0.1)
        assert direct.any()
        assert not direct.all()
        for n, k, passed in zip(answered.tolist(), errors.tolist(), direct, strict=True):
            counts = rules.Counts(300, starts, n, k)
            assert rules.passing(OUTWARD, counts, 0.1, 0.1) == np.flatnonzero(passed).tolist()


@pytest.mark.parametrize("starts", [(1, *[0] * 11), (2, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0), (1,) * 12])
def test_no_starting_shares_let_false_thresholds_pass_too_often(starts):
    """Every threshold is a little above the target: whatever passes is wrong."""
    target, delta, draws = 0.1, 0.1, 20_000
    answered, errors = nested(np.random.default_rng(8), draws, 12, 0.1001, 600)
    most = binom.isf(1e-9, draws, delta)
    missed = many_passing(answered, errors, starts, delta, target).any(axis=1).sum()
    assert 0.2 * delta * draws < missed <= most
    any_that_passes = (many_limits(errors, answered, delta) <= target).any(axis=1).sum()
    assert any_that_passes > 1.5 * most  # which is not valid


def test_the_limit_at_the_selected_threshold_is_none_and_the_curve_is_one_for_all():
    target, delta, draws = 0.12, 0.1, 20_000
    answered, errors = nested(np.random.default_rng(9), draws, 12, 0.1, 600)
    most = binom.isf(1e-9, draws, delta)
    passed = many_passing(answered, errors, (1, *[0] * 11), delta, target)
    last = np.where(passed, np.arange(12), -1).max(axis=1)
    limits = many_limits(errors, answered, delta)
    below = limits < 0.1
    assert (passed.any(axis=1) & below[np.arange(draws), last]).sum() < below.any(axis=1).sum()
    assert below.any(axis=1).sum() > most  # the curve, if nothing is paid for it
    assert (many_limits(errors, answered, delta / 12) < 0.1).any(axis=1).sum() <= most
    counts = rules.Counts(600, (1,) * 12, answered[0].tolist(), errors[0].tolist())
    own = rules.curve_risks(OUTWARD, counts, Fraction(delta) / rules.SHARES["curve"])
    assert own == pytest.approx(many_limits(errors[0], answered[0], delta / 12), rel=1e-9)


def test_coverage_holds_for_all_thresholds_at_once_and_unpaid_would_not():
    delta, draws, m = 0.2, 20_000, 200
    answered, _ = nested(np.random.default_rng(10), draws, 10, 0.0, m)
    true, most = np.arange(1, 11) * 0.09, binom.isf(1e-9, draws, delta)
    exact = 1 - many_limits(m - answered, np.full_like(answered, m), delta / 20)
    even = answered / m - math.sqrt(math.log(2 / delta) / 2 / m)
    paid = np.maximum(exact, even)
    assert 0 < (paid > true).any(axis=1).sum() <= most
    assert (1 - many_limits(m - answered, np.full_like(answered, m), delta) > true).any(axis=1).sum() > most
    whole = Fraction(delta) / rules.SHARES["coverage"]
    for draw in range(5):
        counts = rules.Counts(m, (1,) * 10, answered[draw].tolist(), [0] * 10)
        own = [rules.coverage(OUTWARD, counts, place, whole) for place in range(10)]
        assert own == pytest.approx(paid[draw], rel=1e-9)


def test_a_grid_from_the_certifying_rows_is_never_used():
    """Thresholds depend on the vote and on declarations alone: other rows, the same thresholds."""
    rng = np.random.default_rng(10)
    grids = {
        vc.triage(*panel(rng, m, (skill,) * 7), weights="uniform", classes=[0, 1], can_abstain=False).cuts
        for m, skill in ((50, 0.6), (500, 0.99), (2000, 0.8))
    }
    assert grids == {(7, 5, 3, 1)}
    shares = {vc.triage(*panel(rng, 100), weights="uniform").starts for _ in range(5)}
    assert len(shares) == 1


def test_declared_thresholds_and_many_voters():
    votes, y = panel(np.random.default_rng(11), 600, (0.8,) * 9)
    found = vc.triage(votes, y, weights="uniform", thresholds=[0.5, 0.9, 0.1])
    assert found.cuts == (9, 5, 1)
    assert "declared before" in str(found.verify(votes, y))
    learned = vc.triage(votes, y, thresholds=[0.5, 0.2])
    assert learned.verify(votes, y)
    assert len(learned.cuts) == 2
    wide = vc.triage(*panel(np.random.default_rng(12), 300, (0.7,) * 301), weights="uniform")
    assert len(wide.cuts) < 75
    assert len(wide.curve) <= rules.MOST_POINTS
    with pytest.raises(ValueError, match="from 0 to 1"):
        vc.triage(votes, y, weights="uniform", thresholds=[1.5])


def test_options_that_cannot_be_are_refused():
    votes, y = panel(np.random.default_rng(13), 60)
    with pytest.raises(ValueError, match="max_risk"):
        vc.triage(votes, y, max_risk=0)
    with pytest.raises(ValueError, match="fixed_in_advance=True"):
        vc.triage(votes, y, weights=[0.2] * 5)
    with pytest.raises(ValueError, match="too few"):
        vc.triage(votes[:30], y[:30])
    with pytest.raises(ValueError, match="split"):
        vc.triage(votes, y, split=0)
    fixed = vc.triage(votes, y, weights=[0.4, 0.3, 0.1, 0.1, 0.1], fixed_in_advance=True, max_risk=0.3)
    assert "not equal" in str(fixed.verify(votes, y))


@pytest.fixture(scope="module")
def results():
    votes, y = panel(np.random.default_rng(14), 500)
    learned = vc.triage(votes, y, thresholds=[0.8, 0.4, 0.1], max_risk=0.08)
    return [vc.triage(votes, y, weights="uniform", max_risk=0.08), learned]


def test_json_comes_back(results):
    for found in results:
        again = vc.Triage.from_json(found.to_json())
        assert again == found
        assert again.intact
        assert again.verify()
        content = json.loads(found.to_json())
        assert content["votecert_triage"] == 1
        assert content["statement"] == found.statement


FORGERIES = {
    "max_risk": lambda old: old / 2,
    "delta": lambda old: old / 10,
    "threshold": lambda old: 0.123,
    "coverage": lambda old: min(1.0, old + 1e-6),
    "errors": lambda old: [0] * len(old),
    "answered": lambda old: [2 * n for n in old],
    "n_rows": lambda old: old - 40,
    "starts": lambda old: [0] * len(old),
    "cuts": lambda old: old[::-1],
    "curve": lambda old: [[t, max(0.0, r - 1e-6), c, n, k] for t, r, c, n, k in old],
    "votes": lambda old: [-1, *old[1:]],
    "offsets": lambda old: [],
    "classes": lambda old: [0, 0],
    "kind": lambda old: "loud",
    "origin": lambda old: "given",
    "n_fitted": lambda old: old + 1,
    "fallback": lambda old: 7,
    "voters": lambda old: ["one"],
    "n_outputs": lambda old: 9,
    "table": lambda old: [[[1]]],
    "split": lambda old: math.nan,
    "statement": lambda old: "Nothing can go wrong.",
    "surprise": lambda old: 1,
}


@pytest.mark.parametrize("field", FORGERIES)
def test_edited_results_are_refused_with_and_without_a_new_digest(results, field):
    for found in results:
        content = json.loads(found.to_json())
        edited = {**content, field: FORGERIES[field](content.get(field))}
        for text in (edited, {**edited, "digest": digest(edited)}):
            try:
                verdict = vc.Triage.from_json(json.dumps(text)).verify()
            except ValueError:
                continue
            assert not verdict, (field, found.origin)


def test_words_of_another_version_are_on_trust(results):
    content = json.loads(results[0].to_json())
    content |= {"votecert_version": "0", "statement": "It never errs."}
    content["digest"] = digest(content)
    checked = vc.Triage.from_json(json.dumps(content)).verify()
    assert checked
    assert any("another version" in line for line in checked.on_trust)


def test_a_threshold_that_did_not_pass_is_refused():
    found = vc.triage(*panel(np.random.default_rng(0), 800), weights="uniform", max_risk=0.04)
    lowest = found.curve[-1]
    assert found.threshold > lowest.threshold
    content = json.loads(found.to_json()) | {"threshold": lowest.threshold, "coverage": lowest.coverage}
    content["statement"] = replace(found, threshold=lowest.threshold, coverage=lowest.coverage).statement
    content["digest"] = digest(content)
    forged = vc.Triage.from_json(json.dumps(content))
    assert forged.intact
    assert "not certified" in str(forged.verify())


def test_rows_tell_forged_counts_and_votes(results):
    votes, y = panel(np.random.default_rng(14), 500)
    fixed, learned = results
    assert not fixed.verify(votes, 1 - y)
    assert not fixed.verify(votes[:400], y[:400])
    content = json.loads(learned.to_json())
    content["votes"] = [1, 0, 0, 0, 0]
    content["offsets"] = [0, 0]
    content["digest"] = digest(content)
    with suppress(ValueError):
        assert not vc.Triage.from_json(json.dumps(content)).verify(votes, y)


@pytest.mark.parametrize("options", [{"max_risk": 0.5}, {"costs": [[0, 1], [2, 0]]}], ids=["triage", "costs"])
def test_scores_of_new_rows_are_checked(options):
    y = np.arange(200) % 2
    scores = np.repeat(np.eye(2)[y][:, None], 3, axis=1)
    make = vc.certify if "costs" in options else vc.triage
    found = make(scores=scores, y=y, weights="uniform", **options)
    answer = found.predict if "costs" in options else found.decide
    assert len(answer(scores)) == 200
    with pytest.raises(ValueError, match="missing or infinite"):
        answer(np.where(np.arange(2) == 1, np.nan, scores))

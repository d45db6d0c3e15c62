"""The fitted vote: its regressions are solved, its numbers are whole, its own rows alone decide on it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import votecert as vc
from votecert.learning._answers import Answers
from votecert.learning._candidates import FREE, candidates
from votecert.learning._confusions import dawid_skene, log_confusions
from votecert.learning._logistic import Directions, LogisticProblems
from votecert.learning.budget import Budget
from votecert.learning.fitted_vote import RESOLUTION, fit_vote, fit_without_labels, whole_numbers
from votecert.learning.learn import learn
from votecert.rows.ballots import Ballots
from votecert.rows.predictor import influence
from votecert.rows.scores import Scores


def jury(m: int, accuracies, n_classes: int = 2, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=m)
    right = rng.random((m, len(accuracies))) < np.asarray(accuracies)
    return np.where(right, y[:, None], rng.integers(n_classes, size=right.shape)), y


def biased_jury(m: int, d: int = 20, seed: int = 0):
    """Voters who are to be believed when they say 1, and say 0 much too often; some the other way round."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=m)
    is_shy = np.arange(d) % 4 > 0
    says_one = np.where(is_shy, 0.35, 0.97), np.where(is_shy, 0.03, 0.65)
    return (rng.random((m, d)) < np.where(y[:, None] == 1, *says_one)).astype(int), y


def answers_of(votes, y, n_classes: int = 2) -> Answers:
    counts = np.ones(len(y), dtype=np.int64)
    return Answers.of_votes(votes.astype(np.uint8), y.astype(np.intp), counts, n_classes, False)


def fitted(rows, **options):
    declared = {"classes_declared": True, "abstention_declared": True} | options
    return fit_vote(rows, Budget(), n_outputs=rows.n_outputs, **declared)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_regression_is_that_of_another_solver(n_classes):
    votes, y = jury(400, [0.8, 0.6, 0.5, 0.4, 0.2], n_classes)
    answers = answers_of(votes, y, n_classes)
    for C in (0.1, 1.0):
        problems = LogisticProblems(
            Directions.of(answers.flat, answers.counts.astype(float)),
            answers.plain,
            answers.labels,
            np.ones((1, len(answers.labels))),
            np.array([1 / C]),
            np.array([False]),
            Budget(),
        )
        totals = problems.solve()[0][:, :, 0]
        # two classes with a table each share the penalty of their difference
        other = LogisticRegression(C=2 * C if n_classes == 2 else C, tol=1e-8, max_iter=5000)
        chances = np.exp(totals) / np.exp(totals).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(chances, other.fit(answers.flat, y).predict_proba(answers.flat), atol=0.01)


def test_problems_solved_together_are_those_solved_alone():
    votes, y = jury(200, [0.8, 0.6, 0.5])
    answers = answers_of(votes, y)
    directions = Directions.of(answers.flat, answers.counts.astype(float))
    weights = np.random.default_rng(0).integers(3, size=(4, 200)).astype(float)
    penalties, anchored = np.array([10.0, 1.0, 10.0, 1.0]), np.array([True, True, False, False])
    shared = directions, answers.plain, answers.labels
    together = LogisticProblems(*shared, weights, penalties, anchored, Budget()).solve()[0]
    for b in range(4):
        one = slice(b, b + 1)
        alone = LogisticProblems(*shared, weights[one], penalties[one], anchored[one], Budget()).solve()[0]
        np.testing.assert_allclose(together[:, :, b], alone[:, :, 0], atol=0.02)


def test_folds_hold_out_every_row_equally_often():
    votes, y = jury(150, [0.8, 0.6, 0.5], 3)
    ballots = Ballots.from_votes(votes, y)
    answers = Answers.of_votes(ballots.codes, ballots.labels, ballots.counts, 3, False)
    held_out = answers.folds()
    assert (held_out >= 0).all()
    np.testing.assert_array_equal(held_out.sum(axis=0), ballots.counts)
    by_label = held_out @ answers.truth
    assert (by_label.max(axis=0) - by_label.min(axis=0)).max() <= 1


def test_a_fold_does_not_know_its_own_labels():
    """What is fitted without a fold is the same whatever the labels in that fold are."""
    votes, y = jury(60, [0.8, 0.6, 0.5, 0.5])
    held_out = np.arange(60) % 3 == 0
    weights = np.stack([~held_out, np.ones(60)]).astype(float)
    other = np.where(held_out, 1 - y, y)
    for one, same in zip(
        candidates(answers_of(votes, y), weights, Budget()),
        candidates(answers_of(votes, other), weights, Budget()),
        strict=True,
    ):
        np.testing.assert_allclose(one.totals[:, :, 0], same.totals[:, :, 0], atol=1e-4, err_msg=one.name)


def test_on_coins_no_kind_looks_better_than_it_is():
    """Labels that toss coins: whatever is fitted errs half of the time, and the record says so."""
    rng = np.random.default_rng(0)
    votes, y = rng.integers(2, size=(120, 60)), rng.integers(2, size=120)  # coins
    errors = fitted(Ballots.from_votes(votes, y, classes=[0, 1])).errors
    assert min(errors.values()) > 0.3


def test_log_confusions_of_many_rows_are_the_logarithms_of_the_chances():
    votes, y = biased_jury(40_000, d=2)
    answers = answers_of(votes, y)
    weights = np.ones((1, len(y)))
    tables, _ = log_confusions(answers.confusions(weights), weights @ answers.truth, 4.0)
    np.testing.assert_allclose(np.exp(tables[0, 0, 1]), [0.65, 0.97], atol=0.02)
    np.testing.assert_allclose(np.exp(tables[0, 1, 1]), [0.03, 0.35], atol=0.02)


@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("m", [1, 5, 200])
def test_numbers_are_whole_and_small(m, n_classes):
    votes, y = jury(m, [0.9, 0.5, 0.1], n_classes)
    vote = fitted(Ballots.from_votes(votes, y, classes=range(n_classes)))
    assert vote.votes.sum() > 0
    for numbers in (vote.offsets, vote.votes if vote.table is None else vote.table):
        assert numbers.dtype == np.int64
        assert 0 <= numbers.min() <= numbers.max() <= RESOLUTION
    if vote.table is not None:
        assert np.array_equal(vote.votes, influence(vote.table))


def test_shares_sum_to_one_and_every_kind_has_an_error():
    vote = fitted(Ballots.from_votes(*jury(100, [0.9, 0.5, 0.1])))
    assert sum(vote.shares.values()) == pytest.approx(1)
    assert vote.shares.keys() == vote.errors.keys()
    assert len(vote.errors) == 3 + 2 + len(FREE) + 3
    assert vote.kind == max(vote.shares, key=vote.shares.get)


def test_answers_that_are_worth_more_get_more():
    votes, y = biased_jury(300)
    vote = fitted(Ballots.from_votes(votes, y))
    new, truth = biased_jury(4000, seed=1)
    rows = Ballots.from_votes(new, truth)
    assert rows.errors(vote.table, vote.offsets) < 0.4 * rows.errors(np.ones(20))


def test_soft_votes_and_abstaining_ones():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    scores = rng.dirichlet(np.ones(3), size=(300, 4)) + 0.5 * np.eye(3)[y][:, None]
    soft = Scores.from_scores(scores, y)
    vote = fitted(soft)
    assert soft.errors(vote.table, vote.offsets) < 60
    votes, y = jury(300, [0.9, 0.8, 0.7])
    table = votes.astype(object)
    table[rng.random(votes.shape) < 0.2] = None
    table[(rng.random(300) < 0.9) & (y == 1), 2] = None  # to abstain says something
    ballots = Ballots.from_votes(table, y, classes=[0, 1])
    vote = fitted(ballots)
    assert vote.table.shape == (3, 3, 2)
    assert vote.table[2, 2, 1] > vote.table[2, 2, 0]
    assert ballots.errors(vote.table, vote.offsets) < ballots.errors([1, 1, 1])


def test_votes_out_of_bag_are_fitted_for_the_vote_of_everybody():
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.5).astype(int)
    share = np.where(y == 1, 0.8, 0.62)[:, None] + 0.1 * rng.random((4000, 1))
    votes = (rng.random((4000, 40)) < share).astype(int)  # all say 1 far too often
    part = votes.astype(object)
    part[rng.random(votes.shape) > 0.3] = None
    whole, asked = Ballots.from_votes(votes, y), Ballots.from_votes(part, y, classes=[0, 1])

    everybody, out_of_bag = fitted(whole), fitted(asked, missing_is_unasked=True)
    errors = whole.errors(out_of_bag.table[:, :2], out_of_bag.offsets)
    assert errors < 1.1 * whole.errors(everybody.table, everybody.offsets)
    assert not out_of_bag.table[:, 2].any()  # not to be asked says nothing
    seen = Answers.of_votes(asked.codes, asked.labels, asked.counts, 2, True, missing_is_unasked=True)
    np.testing.assert_allclose(seen.values.sum(axis=(1, 2)), 40, rtol=1e-5)  # as if all had answered


def test_learning_knows_out_of_bag_votes_from_abstentions(monkeypatch):
    votes, y = jury(600, [0.8, 0.7, 0.7])
    table = votes.astype(object)
    table[::3, 0] = None
    told = []

    def record(*rows, missing_is_unasked=False, **options):
        told.append(missing_is_unasked)
        return fit_vote(*rows, missing_is_unasked=missing_is_unasked, **options)

    for module in ("whole_votes", "_looks"):
        monkeypatch.setattr(f"votecert.learning.{module}.fit_vote", record)
    other = {"prior_votes": table[:300], "prior_y": y[:300]}
    learn(votes[300:], y[300:], **other)
    learn(votes[300:], y[300:], **other, can_abstain=True)
    learn(table[300:], y[300:], **other)
    learn(table, y, split=0.25)
    assert told == [True, False, True, False]


def test_other_rows_may_be_ballots_or_scores():
    votes, y = jury(600, [0.8, 0.7, 0.7], 3)
    other = Ballots.from_votes(votes[:300], y[:300])
    found = learn(votes[300:], y[300:], prior_votes=other).evaluation
    assert found == learn(votes[300:], y[300:], prior_votes=votes[:300], prior_y=y[:300]).evaluation
    scores = np.eye(3)[votes] + 0.1
    soft = learn(scores=scores[300:], y=y[300:], prior_votes=Scores.from_scores(scores[:300], y[:300]))
    assert soft.evaluation.terms.choice["list"] == "other"
    with pytest.raises(ValueError, match="same kind"):
        learn(scores=scores[300:], y=y[300:], prior_votes=other)


@pytest.mark.parametrize(
    ("prior_votes", "prior_y", "error", "advice"),
    [
        ([[0, 1]], [0], ValueError, "2 voters, the certifying ones 3"),
        ([[0, 1, 7]], [0], ValueError, "In prior_votes.*same classes.*7"),
        ([[0, 1, 1]], [7], ValueError, "In prior_votes.*same classes.*7"),
        ([[0, 1, 1]], [0, 1], ValueError, "In prior_votes.*1 rows"),
        ([[0, 1]], None, ValueError, "2 voters, the certifying ones 3"),
        (None, [0], TypeError, "prior_votes, which are missing"),
        (np.zeros((0, 3), dtype=int), [], ValueError, "no rows"),
        (Ballots.from_votes([[0, 1, 1]], [0], classes=[1, 0]), None, ValueError, r"classes=\[0, 1\]"),
    ],
)
def test_bad_other_rows_say_what_to_do(prior_votes, prior_y, error, advice):
    votes, y = jury(50, [0.8, 0.7, 0.7])
    with pytest.raises(error, match=advice):
        learn(votes, y, prior_votes=prior_votes, prior_y=prior_y)


def test_other_rows_may_lack_a_class_or_every_vote():
    votes, y = jury(200, [0.8, 0.7, 0.7], 3)
    for other in (votes[:1], np.full((3, 3), None), np.zeros((4, 3), dtype=int)):
        found = learn(votes, y, prior_votes=other, prior_y=[0] * len(other))
        assert 0 < found.risk < 1


def test_a_vote_that_nobody_can_change_is_a_constant():
    rows = Ballots.from_votes([[0, 0]] * 30, [1] * 30, classes=[0, 1])
    vote = fitted(rows)
    assert rows.errors(vote.votes if vote.table is None else vote.table, vote.offsets) == 0


def test_rounding_keeps_the_proportions():
    table = np.random.default_rng(0).normal(size=(5, 3, 3))
    whole, offsets = whole_numbers(table, np.array([0.3, 0.1, 0.2]))
    lead = whole - whole[:, :, :1]
    np.testing.assert_allclose(
        lead / offsets[0] * 0.2, table - table[:, :, :1], atol=5e-3 * np.abs(table).max()
    )


def test_fits_do_not_depend_on_the_order_of_the_rows():
    votes, y = jury(500, np.linspace(0.1, 0.7, 12), 3)
    order = np.random.default_rng(1).permutation(500)
    one, other = (fitted(Ballots.from_votes(v, t)) for v, t in ((votes, y), (votes[order], y[order])))
    assert np.array_equal(one.table, other.table)
    assert one.errors == other.errors


class TestVotesWithoutLabels:
    def test_the_model_is_found_where_it_holds(self):
        votes, y = biased_jury(3000)
        table, offsets = dawid_skene(votes, np.ones(3000, dtype=int), 2, Budget(), one_coin=False)
        np.testing.assert_allclose(np.exp(table[0, 1]), [0.65, 0.97], atol=0.05)
        np.testing.assert_allclose(np.exp(offsets), [0.5, 0.5], atol=0.05)
        totals = offsets + sum(table[i][votes[:, i]] for i in range(20))
        assert np.mean(totals.argmax(axis=1) != y) < 0.02

    def test_counts_are_rows(self):
        votes, _ = biased_jury(300, d=3)
        ballots = Ballots.from_votes(votes, np.zeros(300, dtype=int), classes=[0, 1])
        one = dawid_skene(votes, np.ones(300, dtype=int), 2, Budget(), one_coin=False)
        merged = dawid_skene(ballots.codes, ballots.counts, 2, Budget(), one_coin=False)
        np.testing.assert_allclose(one[0], merged[0], atol=1e-6)

    def test_they_help_where_labels_are_few(self):
        votes, y = biased_jury(1000, d=9, seed=1)
        alone = [vc.certify(votes[:60], y[:60], random_state=seed).risk for seed in range(4)]
        found = [vc.certify(votes[:60], y[:60], prior_votes=votes[60:], random_state=s) for s in range(4)]
        assert np.mean([one.risk for one in found]) < 0.9 * np.mean(alone)
        helped = next(one for one in found if one.terms.choice["statement"] == "list")
        assert helped.terms.choice["unlabelled"]
        assert any("decided at random" in text for text in helped.assumptions)
        outcome = helped.verify(votes[:60], y[:60])
        assert outcome
        assert "rows without labels" in str(outcome)
        assert vc.Certificate.from_json(helped.to_json()).verify()

    def test_with_few_labels_none_is_spent(self):
        votes, y = biased_jury(1000, d=9, seed=1)
        few, enough = (vc.certify(votes[:m], y[:m], prior_votes=votes[200:]).terms for m in (79, 200))
        assert few.choice["list"] == "other"
        assert few.choice["unlabelled"]
        assert few.statistics["rows"] == few.n_rows
        assert enough.choice["list"] == "split"
        asked = vc.certify(votes[:79], y[:79], prior_votes=votes[200:], split=0.2).terms
        assert asked.choice["list"] == "split"

    def test_without_labels_only_the_votes_count(self):
        votes, _ = biased_jury(300, d=5)
        votes[votes == 0] = 2  # a class that nobody names must not matter, wherever it stands in the list

        def fitted(y, classes):
            rows = Ballots.from_votes(votes, y, classes=classes)
            found = fit_without_labels(rows, Budget(), n_outputs=len(classes), classes_declared=False)
            return {
                (said, k): found.table[:, classes.index(said), classes.index(k)].tolist()
                for said in (1, 2)
                for k in (1, 2)
            }

        found = fitted([1] * 300, [1, 2])
        assert found == fitted([2] * 300, [1, 2])
        assert found == fitted([0] * 300, [0, 1, 2])
        assert found == fitted([9] * 300, [1, 2, 9])

    def test_without_labels_one_class_is_no_vote(self):
        rows = Ballots.from_votes([[1, 1]] * 30, [0] * 30, classes=[0, 1])
        assert fit_without_labels(rows, Budget(), n_outputs=2, classes_declared=False) is None

    def test_some_labels_may_be_missing(self):
        votes, y = biased_jury(400)
        labels = y.astype(object)
        labels[200:] = None
        found = vc.certify(votes[:100], y[:100], prior_votes=votes[100:], prior_y=labels[100:])
        assert found.terms.choice["list"] == "other"
        assert any(name.endswith("without labels") for name in found.details)

    def test_where_they_mislead_the_certificate_still_holds(self):
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=2000)
        shared = rng.random(2000) < 0.45  # on these rows most voters are wrong together
        wrong = np.where(np.arange(9) < 7, shared[:, None], rng.random((2000, 9)) < 0.1)
        votes = np.where(wrong, 1 - y[:, None], y[:, None])
        found = vc.certify(votes[:200], y[:200], prior_votes=votes[200:])
        assert np.mean(found.predict(votes[200:]) != y[200:]) <= found.risk

    def test_scores_and_groups_need_labels(self):
        votes, y = jury(100, [0.9, 0.8])
        with pytest.raises(ValueError, match="scores need labels"):
            vc.certify(scores=np.eye(2)[votes], y=y, prior_votes=np.eye(2)[votes])
        with pytest.raises(TypeError, match="prior_votes= would be ignored"):
            vc.certify(votes, y, prior_votes=votes, groups="class")


def test_a_fallback_that_the_fitting_rows_do_not_show_is_wrong_on_them():
    votes, y = jury(60, [0.8, 0.7, 0.6])
    votes, y = 2.0 * votes, 2 * y  # classes 0 and 2 of three
    votes[:20], y[:20] = np.nan, 2
    rows = Ballots.from_votes(votes, y, classes=[0, 1, 2])
    error = {
        fallback: fitted(rows, classes_declared=False, abstention_declared=False, fallback=fallback).errors
        for fallback in (None, 1, 2)
    }
    assert error[1] == error[None]
    assert error[2]["plain vote"] < error[1]["plain vote"]

"""Ballots against plain Python on tiny problems, compressed against uncompressed; exact, and immutable."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from votecert.rows.ballots import Ballots

QUICK = settings(max_examples=80, deadline=None, derandomize=True)


@st.composite
def problems(draw, max_classes=6):
    """(votes as codes with None for an abstention, true classes, number of classes)."""
    n_classes = draw(st.integers(1, max_classes))
    n_rows, n_voters = draw(st.integers(1, 8)), draw(st.integers(1, 10))
    vote = st.integers(0, n_classes - 1)
    if draw(st.booleans()):
        vote = st.one_of(vote, st.none())
    row = st.lists(vote, min_size=n_voters, max_size=n_voters)
    votes = draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    truth = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    copies = draw(st.lists(st.integers(0, n_rows - 1), max_size=8))  # so that rows repeat
    return votes + [votes[i] for i in copies], truth + [truth[i] for i in copies], n_classes


def make(problem, **options):
    votes, truth, n_classes = problem
    return Ballots.from_votes(votes, truth, classes=range(n_classes), **options)


def per_row(ballots, values):
    """Values per pattern spread over the original rows."""
    return np.asarray(values)[ballots.pattern_of_row]


def random_votes(seed, n_rows, n_voters, n_classes, missing=0.0):
    rng = np.random.default_rng(seed)
    votes = rng.integers(0, n_classes, (n_rows, n_voters)).astype(float)
    votes[rng.random(votes.shape) < missing] = np.nan
    return votes, rng.integers(0, n_classes, n_rows)


@QUICK
@given(problems(), st.sampled_from(["auto", True, False]))
def test_patterns_and_counts_are_those_of_a_dictionary(problem, compress):
    votes, truth, n_classes = problem
    ballots = make(problem, compress=compress)
    rows = [
        (label, *(n_classes if vote is None else vote for vote in row))
        for row, label in zip(votes, truth, strict=True)
    ]
    stored = [
        (int(label), *map(int, codes)) for label, codes in zip(ballots.labels, ballots.codes, strict=True)
    ]
    assert [stored[pattern] for pattern in ballots.pattern_of_row] == rows
    assert ballots.counts.sum() == ballots.n_rows == len(rows)
    if compress is False:
        assert stored == rows
        assert ballots.counts.tolist() == [1] * len(rows)
    else:
        assert dict(zip(stored, ballots.counts.tolist(), strict=True)) == Counter(rows)


@pytest.mark.parametrize(("n_voters", "compressed"), [(10, True), (40, False)])
def test_auto_compresses_only_when_rows_repeat(n_voters, compressed):
    votes, truth = random_votes(7, 20_000, n_voters, 2)
    ballots = Ballots.from_votes(votes, truth)
    assert ballots.n_patterns <= 2048 if compressed else ballots.n_patterns == ballots.n_rows
    assert (per_row(ballots, ballots.codes) == votes).all()


def test_transposed_votes_are_stored_by_row():
    votes = np.asfortranarray(np.random.default_rng(9).integers(0, 2, (50, 7), dtype=np.uint8))
    for compress in (True, False):
        ballots = Ballots.from_votes(votes, votes[:, 0], compress=compress)
        assert ballots.codes.flags.c_contiguous
        assert (per_row(ballots, ballots.codes) == votes).all()


@QUICK
@given(problems(), st.data())
def test_weights_and_margins_are_exact_sums(problem, data):
    votes, truth, n_classes = problem
    n_voters = len(votes[0])
    parts = data.draw(st.lists(st.integers(0, 1000), min_size=n_voters, max_size=n_voters))
    theta = np.array(parts) / max(1, sum(parts))
    exact = [Fraction(float(weight)) for weight in theta]
    can_abstain = data.draw(st.sampled_from([None, True]))
    ballots = make(problem, can_abstain=can_abstain, compress=data.draw(st.booleans()))
    outputs = list(range(n_classes)) + ([None] if ballots.can_abstain else [])
    assert ballots.n_outputs == len(outputs)
    for number, (row, label) in enumerate(zip(votes, truth, strict=True)):
        pattern = ballots.pattern_of_row[number]
        by_output = [sum(w for w, vote in zip(exact, row, strict=True) if vote == k) for k in outputs]
        rivals = [value for k, value in zip(outputs, by_output, strict=True) if k != label]
        margin = (by_output[label] - max(rivals, default=0)) / 2
        wrong = sum(w for w, vote in zip(exact, row, strict=True) if vote != label)
        close = {"rel": 2e-15, "abs": 2e-16}
        assert ballots.class_votes(theta)[pattern] == pytest.approx([float(v) for v in by_output], **close)
        assert ballots.correct_weight(theta)[pattern] == pytest.approx(float(by_output[label]), **close)
        assert ballots.wrong_weight(theta)[pattern] == pytest.approx(float(wrong), **close)
        assert ballots.margins(theta)[pattern] == pytest.approx(float(margin), **close)
        assert ballots.correct[pattern].tolist() == [vote == label for vote in row]


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("n_voters", [1, 8, 100, 301])
def test_a_row_weighs_the_same_in_any_company(n_voters, n_classes):
    """Bit for bit: compressed or not, alone or among many rows."""
    votes, truth = random_votes(10, 4000, n_voters, n_classes, missing=0.05)
    theta = np.random.default_rng(11).dirichlet(np.full(n_voters, 0.3))
    together = Ballots.from_votes(votes, truth, compress=False)
    compressed = Ballots.from_votes(votes, truth, compress=True)
    few = Ballots.from_votes(votes[1234:1237], truth[1234:1237], classes=range(n_classes), can_abstain=True)
    for name in ("correct_weight", "wrong_weight", "margins", "class_votes"):
        expected = getattr(together, name)(theta)
        assert np.array_equal(per_row(compressed, getattr(compressed, name)(theta)), expected)
        assert np.array_equal(per_row(few, getattr(few, name)(theta)), expected[1234:1237])
    exact = together.correct @ theta.astype(np.longdouble)
    assert np.allclose(together.correct_weight(theta).astype(np.longdouble), exact, rtol=3e-15, atol=1e-300)


def test_small_wrong_weight_keeps_its_digits():
    ballots = Ballots.from_votes([[0, 0, 1]], [0], classes=[0, 1])
    assert ballots.wrong_weight([0.5, 0.5, 1e-30])[0] == 1e-30


@pytest.mark.parametrize("n_classes", [2, 7])
def test_sums_over_votes_are_the_transposed_products(n_classes):
    votes, truth = random_votes(12, 5000, 70, n_classes, missing=0.1)
    ballots = Ballots.from_votes(votes, truth)
    rng = np.random.default_rng(13)
    values = rng.normal(size=(ballots.n_patterns, ballots.n_outputs))
    theta = rng.random(70)
    by_correct = ballots.sum_over_correct(values[:, 0])
    assert by_correct @ theta == pytest.approx(values[:, 0] @ ballots.correct_weight(theta), rel=1e-12)
    assert by_correct == pytest.approx(values[:, 0] @ ballots.correct, rel=1e-12)
    by_vote = ballots.sum_over_votes(values)
    assert by_vote @ theta == pytest.approx((values * ballots.class_votes(theta)).sum(), rel=1e-12)
    picked = values[np.arange(ballots.n_patterns)[:, None], ballots.codes]
    assert by_vote == pytest.approx(picked.sum(axis=0), rel=1e-12)


def test_mean_is_over_rows_not_patterns():
    ballots = Ballots.from_votes([[0], [0], [0], [1]], [0, 0, 0, 0])
    assert ballots.mean(ballots.correct[:, 0]) == 0.75


@QUICK
@given(problems(), st.booleans())
def test_counts_are_those_of_plain_loops(problem, compress):
    votes, truth, _ = problem
    ballots = make(problem, compress=compress)
    n_voters = len(votes[0])
    wrong = [[vote != label for vote in row] for row, label in zip(votes, truth, strict=True)]
    pairs = list(itertools.product(range(n_voters), repeat=2))
    both = [sum(row[i] and row[j] for row in wrong) for i, j in pairs]
    assert ballots.voter_errors().tolist() == [sum(column) for column in zip(*wrong, strict=True)]
    assert ballots.tandem_counts().ravel().tolist() == both
    for counts in (ballots.voter_errors(), ballots.tandem_counts()):
        assert counts.dtype == np.int64


def test_counts_of_many_rows_are_exact():
    """Beyond what float32 holds, in several blocks."""
    votes, truth = random_votes(14, 6000, 90, 2)
    few = Ballots.from_votes(votes, truth, compress=False)
    huge = np.random.default_rng(15).integers(1, 2**38, few.n_patterns)
    ballots = dataclasses.replace(few, counts=huge, pattern_of_row=None)
    wrong = (~few.correct).astype(object)
    assert ballots.voter_errors().tolist() == (huge.astype(object) @ wrong).tolist()
    some = [0, 17, 89]
    expected = (wrong[:, some] * huge[:, None].astype(object)).T @ wrong[:, some]
    assert ballots.tandem_counts()[np.ix_(some, some)].tolist() == expected.tolist()
    assert ballots.n_rows == sum(huge.tolist())


def test_voter_order_only_permutes_the_counts():
    votes, truth = random_votes(16, 400, 9, 4, missing=0.2)
    order = np.random.default_rng(17).permutation(9)
    plain, permuted = Ballots.from_votes(votes, truth), Ballots.from_votes(votes[:, order], truth)
    assert np.array_equal(permuted.tandem_counts(), plain.tandem_counts()[np.ix_(order, order)])
    weights = np.arange(9)
    assert permuted.errors(weights[order]) == plain.errors(weights)


def plain_winner(row, n, offsets, fallback):
    totals = list(offsets)
    for vote, votes_of_voter in zip(row, n, strict=True):
        if vote is not None:
            totals[vote] += votes_of_voter
    winner = totals.index(max(totals)) if max(totals) else (-1 if fallback is None else fallback)
    return totals, winner, max(totals) > 0 and totals.count(max(totals)) > 1


@QUICK
@given(problems(max_classes=7), st.data())
def test_whole_number_votes_are_counted_one_by_one(problem, data):
    votes, truth, n_classes = problem
    ballots = make(problem, compress=data.draw(st.booleans()))
    n = data.draw(
        st.lists(st.integers(0, 3), min_size=ballots.n_voters, max_size=ballots.n_voters).filter(any)
    )
    offsets = data.draw(st.none() | st.lists(st.integers(0, 2), min_size=n_classes, max_size=n_classes))
    fallback = data.draw(st.none() | st.integers(0, n_classes - 1))
    rows = [plain_winner(row, n, offsets or [0] * n_classes, fallback) for row in votes]
    assert per_row(ballots, ballots.vote_totals(n, offsets)).tolist() == [totals for totals, _, _ in rows]
    assert per_row(ballots, ballots.predict(n, offsets, fallback)).tolist() == [
        winner for _, winner, _ in rows
    ]
    wrong = sum(winner != label for (_, winner, _), label in zip(rows, truth, strict=True))
    assert ballots.errors(n, offsets, fallback) == wrong
    assert ballots.ties(n, offsets) == sum(tied for _, _, tied in rows)


def test_ties_go_to_the_first_declared_class():
    votes, truth = [["no", "yes"]], ["yes"]
    assert Ballots.from_votes(votes, truth, classes=["no", "yes"]).errors([1, 1]) == 1
    assert Ballots.from_votes(votes, truth, classes=["yes", "no"]).errors([1, 1]) == 0


def test_a_row_without_votes_is_an_error_unless_a_fallback_is_fixed():
    ballots = Ballots.from_votes([[None, None], [0, 1]], [0, 0], classes=[0, 1])
    assert (ballots.errors([1, 1]), ballots.ties([1, 1])) == (1, 1)
    assert ballots.errors([1, 1], fallback=0) == 0
    assert ballots.errors([1, 1], fallback=1) == 1
    assert ballots.errors([0, 0], offsets=[1, 0]) == 0


@pytest.mark.parametrize("n_classes", [2, 9])
def test_large_whole_numbers_are_exact(n_classes):
    """Totals that differ by one vote in 2^52 are told apart."""
    half = 2**51
    ballots = Ballots.from_votes([[0, 1, 1]], [1], classes=range(n_classes))
    assert ballots.vote_totals([half + 1, half, 1])[0, :2].tolist() == [half + 1, half + 1]
    assert ballots.ties([half + 1, half, 1]) == 1
    assert ballots.errors([half, half, 1]) == 0
    assert ballots.vote_totals([half, half - 1, 0])[0, :2].tolist() == [half, half - 1]


@QUICK
@given(problems(), st.data())
def test_a_subset_is_the_ballots_of_these_rows(problem, data):
    votes, truth, n_classes = problem
    rows = data.draw(st.lists(st.integers(0, len(votes) - 1), min_size=1, unique=True))
    ballots = make(problem, compress=data.draw(st.booleans()))
    subset = ballots.subset(rows)
    chosen = [votes[row] for row in rows], [truth[row] for row in rows], n_classes
    expected = make(chosen, compress=False, can_abstain=ballots.can_abstain)
    assert per_row(subset, subset.codes).tolist() == expected.codes.tolist()
    assert per_row(subset, subset.labels).tolist() == expected.labels.tolist()
    assert (np.bincount(subset.pattern_of_row) == subset.counts).all()
    assert subset.n_rows == len(rows)
    assert (subset.can_abstain, subset.classes_declared) == (ballots.can_abstain, True)
    mask = np.isin(np.arange(len(votes)), rows)
    assert ballots.subset(mask).tandem_counts().tolist() == expected.tandem_counts().tolist()


def test_classes_and_abstentions_declared_or_inferred():
    votes, truth = [["b", "a"], ["c", "a"]], ["a", "b"]
    inferred = Ballots.from_votes(votes, truth)
    assert inferred.classes.tolist() == ["a", "b", "c"]
    assert (inferred.classes_declared, inferred.can_abstain, inferred.n_outputs) == (False, False, 3)
    declared = Ballots.from_votes(votes, truth, classes=["c", "b", "a", "z"], can_abstain=True)
    assert declared.classes.tolist() == ["c", "b", "a", "z"]
    assert (declared.classes_declared, declared.can_abstain, declared.n_outputs) == (True, True, 5)
    assert Ballots.from_votes([["a", None]], ["b"]).can_abstain
    sizes = (declared.n_rows, declared.n_voters, declared.n_classes, declared.n_patterns, declared.n_outputs)
    assert all(type(size) is int for size in sizes)


def test_representation():
    assert repr(Ballots.from_votes([[1, None]], [2])) == (
        "Ballots(1 row, 1 pattern, 2 voters, 2 classes, abstentions)"
    )
    assert repr(Ballots.from_votes([[1], [2]], [2, 2])) == "Ballots(2 rows, 2 patterns, 1 voter, 2 classes)"


@pytest.mark.parametrize("compress", [True, False])
def test_ballots_do_not_change(compress):
    votes, truth = np.array([[0, 1], [1, 1]], dtype=np.uint8), np.array([0, 1])
    ballots = Ballots.from_votes(votes, truth, compress=compress)
    before = ballots.codes.tolist()
    votes[:], truth[:] = 0, 0  # the caller's arrays stay the caller's
    assert ballots.codes.tolist() == before
    assert sorted(ballots.labels.tolist()) == [0, 1]
    for array in (
        ballots.codes,
        ballots.labels,
        ballots.counts,
        ballots.classes,
        ballots.pattern_of_row,
        ballots.correct,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        ballots.counts = np.array([1, 1])


def test_pickle_keeps_everything():
    ballots = Ballots.from_votes([["a", None], ["b", "b"]], ["a", "b"])
    again = pickle.loads(pickle.dumps(ballots))
    assert again.codes.tolist() == ballots.codes.tolist()
    assert again.errors([1, 2]) == ballots.errors([1, 2])


def refusals():
    ballots = Ballots.from_votes([[0, 1, 1], [1, 0, 0]], [0, 1])
    unknown_rows = dataclasses.replace(ballots, pattern_of_row=None)
    nan = float("nan")
    return {
        "compress": (
            lambda: Ballots.from_votes([[0, 1]], [0], compress="yes"),
            ValueError,
            "compress must be",
        ),
        "abstains": (
            lambda: Ballots.from_votes([[0, 1], [0, None]], [0, 1], can_abstain=False),
            ValueError,
            "Voter 1 has no vote in row 1 ",
        ),
        "length of theta": (
            lambda: ballots.correct_weight([0.5, 0.5]),
            ValueError,
            r"3, but its shape is \(2,\)",
        ),
        "NaN in theta": (lambda: ballots.margins([nan, 0.5, 0.5]), ValueError, "finite"),
        "length of n": (lambda: ballots.errors([1, 1]), ValueError, r"n needs one number a voter, 3 in all"),
        "fraction of a vote": (lambda: ballots.errors([1, 0.5, 1]), ValueError, "n must be whole numbers"),
        "negative votes": (lambda: ballots.errors([1, -1, 1]), ValueError, "n must be whole numbers"),
        "NaN votes": (lambda: ballots.errors([1, nan, 1]), ValueError, "n must be whole numbers"),
        "words as votes": (lambda: ballots.errors(["1", "1", "1"]), ValueError, "n must be whole numbers"),
        "length of offsets": (
            lambda: ballots.errors([1, 1, 1], [1]),
            ValueError,
            "offsets needs one number a class, 2",
        ),
        "negative offsets": (
            lambda: ballots.ties([1, 1, 1], [0, -1]),
            ValueError,
            "offsets must be whole numbers",
        ),
        "no votes": (lambda: ballots.predict([0, 0, 0]), ValueError, "Nobody has a vote"),
        "too many votes": (
            lambda: ballots.errors([2**52, 2**52, 1]),
            ValueError,
            "too many votes to count exactly",
        ),
        "huge votes": (lambda: ballots.errors([2**62, 0, 0]), ValueError, "n must be whole numbers"),
        "fallback": (
            lambda: ballots.predict([1, 1, 1], fallback=2),
            ValueError,
            "fallback must be a class index",
        ),
        "subset twice": (lambda: ballots.subset([0, 0]), ValueError, "listed twice"),
        "subset outside": (lambda: ballots.subset([2]), IndexError, "from 0 to 1"),
        "subset negative": (lambda: ballots.subset([-1]), IndexError, "from 0 to 1"),
        "subset of nothing": (lambda: ballots.subset([False, False]), ValueError, "no rows"),
        "short mask": (lambda: ballots.subset([True]), ValueError, "one entry a row, 2"),
        "subset of fractions": (
            lambda: ballots.subset([0.5]),
            TypeError,
            "mask of bools or a list of row indices",
        ),
        "subset without rows": (lambda: unknown_rows.subset([0]), ValueError, "do not know their rows"),
    }


@pytest.mark.parametrize("case", refusals())
def test_bad_use_is_refused_with_advice(case):
    call, error, words = refusals()[case]
    with pytest.raises(error, match=words):
        call()


def test_counts_are_kept_for_the_vote_that_they_are_about(monkeypatch):
    """Votes, head starts and the fallback all make a difference, and the same vote is counted once."""
    votes = [["a", "b", None], ["b", "b", "a"], [None, None, None], ["a", "b", "b"]]
    ballots = Ballots.from_votes(votes, ["b", "a", "b", "b"])
    asked = [
        ([1, 1, 1], None, None),
        ([2, 1, 1], None, None),
        ([1, 1, 1], [0, 1], None),
        ([1, 1, 1], [0, 0], 1),
    ]
    for n, offsets, fallback in asked * 2:
        fresh = Ballots.from_votes(votes, ["b", "a", "b", "b"])
        assert ballots.errors(n, offsets, fallback) == fresh.errors(n, offsets, fallback)
        assert ballots.ties(n, offsets) == fresh.ties(n, offsets)
    monkeypatch.setattr(Ballots, "predict", None)
    assert [ballots.errors(*vote) for vote in asked] == [3, 4, 1, 2]
    with pytest.raises(ValueError, match="whole numbers"):
        ballots.errors([0.5, 1, 1])

"""Votes in which each answer of a voter has votes of its own: counted alike in every kind of rows."""

from __future__ import annotations

import numpy as np
import pytest

from votecert.bounds.kinds import MOST_FOR_AN_ANSWER, VoteTable
from votecert.rows.ballots import Ballots
from votecert.rows.blocks import read_ballots
from votecert.rows.predictor import WeightedVote, influence
from votecert.rows.scores import Scores
from votecert.rows.vote_sums import total_votes


def a_problem(c: int, abstain: bool, seed: int = 0, m: int = 300, d: int = 11):
    rng = np.random.default_rng(seed)
    codes = rng.integers(c + abstain, size=(m, d)).astype(np.uint8)
    table = rng.integers(0, 50, size=(d, c + abstain, c))
    return codes, rng.integers(c, size=m), table, rng.integers(0, 50, size=c)


def by_hand(codes, table, offsets):
    """Totals, one addition at a time."""
    totals = np.tile(offsets, (len(codes), 1))
    for row, said in zip(totals, codes, strict=True):
        for voter, s in enumerate(said):
            if s < table.shape[1]:
                row += table[voter, s]
    return totals


@pytest.mark.parametrize(("c", "abstain"), [(2, False), (2, True), (3, True), (7, False), (9, True)])
def test_counts_are_those_by_hand(c, abstain):
    codes, y, table, offsets = a_problem(c, abstain)
    totals = by_hand(codes, table, offsets)
    assert np.array_equal(total_votes(codes, c, table, offsets), totals)
    labels = np.array([f"k{k}" for k in range(c)] + [None], dtype=object)
    ballots = Ballots.from_votes(labels[codes], labels[y], classes=labels[:c].tolist())
    assert ballots.errors(table, offsets) == np.count_nonzero(totals.argmax(axis=1) != y)
    second, first = np.sort(totals, axis=1)[:, -2:].T
    assert ballots.ties(table, offsets) == np.count_nonzero(first == second)
    leads = ballots.leads(table, offsets)[ballots.pattern_of_row]
    assert np.array_equal(leads, first - second)
    as_tuples = tuple(tuple(map(tuple, rows)) for rows in table.tolist())
    vote = WeightedVote(tuple(influence(table)), tuple(offsets.tolist()), tuple(labels[:c]), table=as_tuples)
    assert vote.predict(labels[codes]).tolist() == labels[totals.argmax(axis=1)].tolist()
    assert np.array_equal(vote.answers(labels[codes])[1], first - second)
    assert hash(vote) == hash(WeightedVote(*(getattr(vote, name) for name in vote.__dataclass_fields__)))


def test_an_answer_without_a_place_is_worth_nothing():
    codes, _, table, offsets = a_problem(6, True)
    shorter = table[:, :-1]
    assert np.array_equal(total_votes(codes, 6, shorter, offsets), by_hand(codes, shorter, offsets))
    few, _, table, offsets = a_problem(2, True)
    assert np.array_equal(total_votes(few, 2, table[:, :2], offsets), by_hand(few, table[:, :2], offsets))


@pytest.mark.parametrize("c", [2, 5])
def test_blocks_on_disk_count_the_same(c, tmp_path):
    codes, y, table, offsets = a_problem(c, True, m=2000, d=40)
    votes = codes.astype(object)
    votes[codes == c] = None
    whole = Ballots.from_votes(votes, y, classes=range(c))
    blocks = [(votes[i : i + 500], y[i : i + 500]) for i in range(0, 2000, 500)]
    spilled = read_ballots(blocks, classes=range(c), memory_budget=300_000)
    assert type(spilled) is not Ballots
    assert spilled.errors(table, offsets) == whole.errors(table, offsets)
    assert spilled.ties(table, offsets) == whole.ties(table, offsets)


def test_soft_votes_multiply_scores_and_table():
    rng = np.random.default_rng(1)
    scores, y = rng.dirichlet(np.ones(3), size=(200, 4)), rng.integers(3, size=200)
    table, offsets = rng.integers(0, 50, size=(4, 3, 3)), np.array([3, 0, 1])
    totals = offsets + np.einsum("ris,isk->rk", scores, table)
    rows = Scores.from_scores(scores, y, classes=range(3))
    assert rows.errors(table, offsets) == np.count_nonzero(totals.argmax(axis=1) != y)
    diagonal = np.einsum("i,sk->isk", np.array([1, 2, 3, 4]), np.eye(3, dtype=int))
    assert rows.errors(diagonal) == rows.errors([1, 2, 3, 4])


def test_a_table_of_plain_weights_is_the_plain_vote():
    codes, _, _, offsets = a_problem(4, True)
    weights = np.arange(1, 12)
    table = np.einsum("i,sk->isk", weights, np.eye(5, 4, dtype=int))
    assert np.array_equal(total_votes(codes, 4, table, offsets), total_votes(codes, 4, weights, offsets))
    assert influence(table).tolist() == weights.tolist()


def test_constant_answers_are_seen():
    one = WeightedVote((1,), (3, 0), ("a", "b"), table=(((2, 0), (0, 2)),))
    assert one.constant_label == "a"
    tied = WeightedVote((1,), (2, 0), ("a", "b"), table=(((2, 0), (0, 2)),))
    assert tied.constant_label is None  # a tie goes to "a", too, but that is not outvoting
    assert WeightedVote((1,), (0, 0), ("a", "b"), table=(((5, 0), (5, 0)),)).constant_label is None


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ([[[1, 0], [0, 1]]], None),
        (None, None),
        ([[[1, 0]]], "is not a table"),
        ([[[1, 0], [0, -1]]], "not whole numbers"),
        ([[[1, 0], [0, 1.5]]], "not whole numbers"),
        ([[[1, 0], [0, True]]], "not whole numbers"),
        ([[[1, 0], [0, MOST_FOR_AN_ANSWER + 1]]], "not whole numbers"),
        ("table", "is not a table"),
    ],
)
def test_stored_tables_are_checked(table, problem):
    class Sizes:
        n_voters, n_outputs, n_classes = 1, 2, 2

    found = VoteTable().problem(table, Sizes)
    assert (found is None) if problem is None else (found is not None and problem in found)


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="what each answer is worth"):
        total_votes(np.zeros((1, 2), np.uint8), 2, np.ones((2, 2)))
    with pytest.raises(ValueError, match="too many votes"):
        total_votes(np.zeros((1, 2), np.uint8), 2, np.full((2, 2, 2), 2**53))

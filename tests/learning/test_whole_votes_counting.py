"""The search counts errors in clever ways; every one must agree with counting them on the rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from votecert.learning._criterion import Criterion
from votecert.learning._error_counter import BinaryErrorCounter, MulticlassErrorCounter, error_counter
from votecert.numerics.binomial import clopper_pearson_upper
from votecert.rows.ballots import Ballots
from votecert.rows.patterns import content_sample
from votecert.rows.scores import Scores

STEPS = (-2, -1, 1, 2)


def some_ballots(seed: int, n_classes: int, abstain: bool) -> Ballots:
    rng = np.random.default_rng(seed)
    m, d = 60, 5
    y = rng.integers(n_classes, size=m)
    votes = np.where(rng.random((m, d)) < 0.5, y[:, None], rng.integers(n_classes, size=(m, d)))
    votes[:, 3] = votes[:, 1]  # equal columns are merged
    votes[:, 4] = 0  # like a constant
    table = votes.astype(object)
    if abstain:
        table[rng.random((m, d)) < 0.4] = None
    return Ballots.from_votes(table, y, classes=range(n_classes), can_abstain=abstain)


def some_scores(seed: int, n_classes: int) -> Scores:
    rng = np.random.default_rng(seed)
    values = rng.dirichlet(np.ones(n_classes), size=(50, 4)).round(2)  # rounded: there are ties
    return Scores.from_scores(values, rng.integers(n_classes, size=50), classes=range(n_classes))


def counted(rows, votes, fallback=None):
    d = rows.n_voters
    return rows.errors(votes[:d], votes[d:], fallback)


KINDS = {
    "binary": lambda seed: some_ballots(seed, 2, abstain=False),
    "plural": lambda seed: some_ballots(seed, 4, abstain=False),
    "abstaining": lambda seed: some_ballots(seed, 2, abstain=True),
    "more classes than voters": lambda seed: some_ballots(seed, 9, abstain=False),
    "more classes than abstaining voters": lambda seed: some_ballots(seed, 9, abstain=True),
    "one class": lambda seed: some_ballots(seed, 1, abstain=False),
    "soft": lambda seed: some_scores(seed, 3),
    "soft, two classes": lambda seed: some_scores(seed, 2),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_every_way_of_counting_agrees(kind, seed):
    rows = KINDS[kind](seed % 100)
    d, c = rows.n_voters, rows.n_classes
    fallback = seed % c if seed % 2 else None
    counter = error_counter(rows, fallback=fallback)
    vote = np.random.default_rng(seed).integers(0, 4, d + c)
    if seed % 3 == 0:  # then rows are silent where those who have votes abstain
        vote[d:], vote[:d] = 0, vote[:d] // 3
    vote[seed % d] += 1
    tally = counter.tally(vote)
    assert counter.errors(tally) == counted(rows, vote, fallback)

    after = counter.errors_after(tally, STEPS)
    candidates = vote + np.array(STEPS)[:, None, None] * np.eye(d + c, dtype=int)
    possible = (candidates.min(axis=-1) >= 0) & candidates.any(axis=-1)
    for place, who in np.argwhere(possible):
        assert after[place, who] == counted(rows, candidates[place, who], fallback)
        moved = counter.moved(tally, who, STEPS[place])
        assert counter.errors(moved) == after[place, who]
    many = counter.errors_of_many(candidates[possible])
    np.testing.assert_array_equal(many, after[possible])


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), steps=st.sampled_from([(1, 1), (1, -1), (-1, -1)]))
def test_pairs_by_one_matrix_product(seed, steps):
    ballots = some_ballots(seed % 100, 2, abstain=False)
    counter = error_counter(ballots)
    assert isinstance(counter, BinaryErrorCounter)
    vote = np.random.default_rng(seed).integers(2, 5, 7)
    who = np.array([0, 1, 2, 4, 5, 6])
    found = counter.errors_after_pairs(counter.tally(vote), steps, who)
    unit = np.eye(7, dtype=int)
    for i, one in enumerate(who):
        for j, other in enumerate(who):
            changed = vote + steps[0] * unit[one] + steps[1] * unit[other]
            if changed.min() >= 0:
                assert found[i, j] == counted(ballots, changed)


def test_voter_records_with_abstentions():
    ballots = Ballots.from_votes([[0, None], [1, 1], [0, 1], [0, None]], [0, 1, 1, 1], classes=[0, 1])
    counter = error_counter(ballots)
    assert isinstance(counter, MulticlassErrorCounter)
    assert counter.voter_errors().tolist() == [2, 2]
    assert counter.votes_cast().tolist() == [4, 2]


def test_weights_of_columns_go_to_voters_and_constants():
    ballots = Ballots.from_votes([[0, 0, 1], [0, 0, 0], [0, 0, 1]], [0, 1, 0], classes=[0, 1])
    counter = error_counter(ballots)
    weights = np.zeros(counter.n_columns)
    weights[counter.column_of[0]], weights[counter.column_of[2]] = 2.0, 3.0
    # voters 0 and 1 always say 0, as the constant of class 0 does: it gets their weight
    assert counter.by_voter(weights).tolist() == [0, 0, 3, 2, 0]


def test_sample_depends_on_contents_only():
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 2, (3000, 12)).astype(np.uint8), rng.integers(0, 2, 3000)
    rows = (codes, labels, np.arange(3000))
    chosen = content_sample([rows], 500)[2]
    order = rng.permutation(3000)
    again = content_sample([tuple(array[piece] for array in rows) for piece in np.split(order, 6)], 500)[2]
    assert 500 <= len(chosen) <= 600  # rows equal to the last one come with it
    np.testing.assert_array_equal(np.sort(again), chosen)


def test_judge_finds_the_smallest_bound():
    rng = np.random.default_rng(0)
    criterion = Criterion(n_rows=300, log_share=np.log(0.02))
    for _ in range(20):
        errors, log_priors = rng.integers(0, 120, (4, 9)), -rng.exponential(20, (4, 9))
        risks = clopper_pearson_upper(errors, 300, np.log(0.02) + log_priors)
        index, risk = criterion.best(errors, log_priors, below=1.0)
        assert risk == pytest.approx(risks.min(), rel=1e-12)
        assert risks.flat[index] == pytest.approx(risk, rel=1e-12)
        assert criterion.best(errors, log_priors, below=risks.min()) is None


def test_judge_of_a_sample_counts_errors_for_all_rows():
    criterion = Criterion(n_rows=1000, log_share=np.log(0.05), scale=4.0)
    assert criterion.risk(25, 0.0) == pytest.approx(float(clopper_pearson_upper(100, 1000, np.log(0.05))))


def test_rows_of_soft_votes_are_few_where_constants_would_fill_the_memory():
    scores = some_scores(0, 30)  # 4 voters, but 30 constants
    assert error_counter(scores, most_entries=34 * 30 * 7).values.shape == (7, 34, 30)
    assert error_counter(scores).n_rows == 50

"""Ballots on disk answer like ballots in memory, within their budget."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from scale_problems import PROBLEMS, Problem, drawn, read_iterator

import votecert as vc
from votecert.rows.ballots import Ballots
from votecert.rows.blocks.counting import Declaration, count_patterns, join_counts, pack_block
from votecert.rows.blocks.spill import COPIES, SpilledBallots, merge_runs, write_run

BUDGET = 120_000


@pytest.fixture(
    scope="module", params=["two classes", "three classes and abstentions", "labels that come late"]
)
def pair(request) -> tuple[SpilledBallots, Ballots]:
    """The same ballots on disk and in memory."""
    if request.param == "two classes":
        problem = Problem(*drawn(0, 3000, 30, 2), (700, 1400, 2100))
    elif request.param == "three classes and abstentions":
        votes, y = drawn(1, 3000, 25, 3)
        holes = np.random.default_rng(0).random(votes.shape) < 0.1
        problem = Problem(np.where(holes, np.nan, votes), y, (10, 1500))
    else:
        few, few_y = drawn(2, 2000, 20, 2)
        many, many_y = drawn(3, 2000, 20, 5)
        problem = Problem(np.concatenate([few, many]), np.concatenate([few_y, many_y]), (1000, 2000, 3000))
    spilled = read_iterator(problem, memory_budget=BUDGET)
    assert isinstance(spilled, SpilledBallots)
    assert len(list(spilled.slices())) > 3
    return spilled, problem.in_memory()


def with_room(spilled: SpilledBallots) -> SpilledBallots:
    """The same files, with a budget for whole columns."""
    return SpilledBallots(replace(spilled.source, memory_budget=10**9), spilled.folder)


def test_sizes_and_kinds(pair):
    spilled, ballots = pair
    for name in ("n_rows", "n_patterns", "n_voters", "n_classes", "n_outputs", "can_abstain"):
        assert getattr(spilled, name) == getattr(ballots, name), name
    assert repr(spilled) == repr(ballots)
    assert (spilled.classes == ballots.classes).all()


def test_counts_are_added_up_exactly(pair):
    ballots = pair[1]
    rng = np.random.default_rng(0)
    for part in (None, True, False):
        one, other = (b if part is None else b.part(0.25, 0, fitting=part) for b in pair)
        votes, offsets = rng.integers(0, 3, ballots.n_voters), rng.integers(0, 3, ballots.n_classes)
        assert one.errors(votes, offsets, 0) == other.errors(votes, offsets, 0)
        assert one.ties(votes, offsets) == other.ties(votes, offsets)
        for name in ("voter_errors", "tandem_counts"):
            assert np.array_equal(getattr(one, name)(), getattr(other, name)()), name
        assert (one.n_rows, one.n_patterns) == (other.n_rows, other.n_patterns)


def test_columns_are_the_same_bit_for_bit_where_there_is_room(pair):
    spilled, ballots = with_room(pair[0]), pair[1]
    theta = np.random.default_rng(1).dirichlet(np.ones(ballots.n_voters))
    votes = np.random.default_rng(2).integers(1, 4, ballots.n_voters)
    for name in ("codes", "labels", "counts", "correct"):
        assert np.array_equal(getattr(spilled, name), getattr(ballots, name)), name
    for name in ("correct_weight", "wrong_weight", "class_votes", "margins"):
        assert np.array_equal(getattr(spilled, name)(theta), getattr(ballots, name)(theta)), name
    for name in ("vote_totals", "predict"):
        assert np.array_equal(getattr(spilled, name)(votes), getattr(ballots, name)(votes)), name
    values = np.random.default_rng(3).random((ballots.n_patterns, ballots.n_outputs))
    assert spilled.mean(values[:, 0]) == ballots.mean(values[:, 0])


def test_gradients_are_added_up_in_slices(pair):
    spilled, ballots = pair
    values = np.random.default_rng(3).random((ballots.n_patterns, ballots.n_outputs))
    assert np.allclose(spilled.sum_over_correct(values[:, 0]), ballots.sum_over_correct(values[:, 0]), 1e-12)
    assert np.allclose(spilled.sum_over_votes(values), ballots.sum_over_votes(values), 1e-12)


def test_no_answer_is_larger_than_the_budget(pair):
    spilled, ballots = pair
    assert COPIES * 8 * ballots.n_patterns > BUDGET
    theta = np.full(ballots.n_voters, 1 / ballots.n_voters)
    for ask in (lambda: spilled.codes, lambda: spilled.counts, lambda: spilled.margins(theta)):
        with pytest.raises(ValueError, match=r"memory_budget is 0\.00012 GB"):
            ask()
    for part in spilled.slices():
        assert COPIES * (part.codes.nbytes + part.counts.nbytes) <= BUDGET


def test_every_method_of_ballots_is_answered_from_disk():
    """A method that was inherited unawares would ask for all codes at once."""
    # not about patterns, or made of others
    by_rows = {"from_votes", "from_codes", "subset", "with_counts", "mean", "derived", "errors", "ties"}
    by_rows |= {"can_split"}
    for name, method in inspect.getmembers(Ballots, inspect.isfunction):
        if (not name.startswith("_") and name not in by_rows) or name.startswith("_count_"):
            assert getattr(SpilledBallots, name) is not method, name


def test_the_sample_for_the_search_is_the_one_that_memory_gives(pair):
    from votecert.learning._error_counter import error_counter

    spilled, ballots = pair
    for most_entries in (200, 5000, 10**9):
        on_disk, in_memory = error_counter(spilled, most_entries), error_counter(ballots, most_entries)
        assert np.array_equal(on_disk.codes, in_memory.codes)
        assert np.array_equal(on_disk.labels, in_memory.labels)
        assert np.array_equal(on_disk.counts, in_memory.counts)


@pytest.mark.parametrize("bound", ["occam", "test-set", "fo", "cctnd", "c-bound"])
def test_bounds_that_count_need_no_more_than_the_budget(bound):
    problem = Problem(*drawn(0, 3000, 30, 2), (700, 1400, 2100))
    spilled = read_iterator(problem, memory_budget=BUDGET)
    found = vc.certify(spilled, weights="uniform", bound=bound)
    expected = vc.certify(problem.in_memory(), weights="uniform", bound=bound)
    assert (found.risk, found.errors, found.terms) == (expected.risk, expected.errors, expected.terms)


def test_workers_answer_the_same(pair, cluster):
    here = pair[0]
    there = SpilledBallots(here.source, here.folder, cluster)
    votes = np.random.default_rng(0).integers(1, 4, here.n_voters)
    assert there.errors(votes) == here.errors(votes)
    assert (there.tandem_counts() == here.tandem_counts()).all()
    roomy = SpilledBallots(replace(here.source, memory_budget=10**6), here.folder, cluster)
    theta = votes / votes.sum()
    assert np.array_equal(roomy.correct_weight(theta), with_room(here).correct_weight(theta))
    assert there.part(0.25, 0, fitting=True).client is cluster


def test_slices_without_a_row_of_the_part_do_no_harm():
    problem = Problem(*drawn(0, 3000, 30, 2), (700, 1400, 2100))
    spilled = read_iterator(problem, memory_budget=BUDGET, split=0.002)
    fitting = spilled.part(0.002, 0, fitting=True)
    assert any(part.n_rows == 0 for part in fitting.slices())
    expected = problem.in_memory().part(0.002, 0, fitting=True)
    assert fitting.errors(np.ones(30)) == expected.errors(np.ones(30))
    assert (fitting.tandem_counts() == expected.tandem_counts()).all()


@pytest.mark.parametrize("method", ["lbfgs", "adam"])
def test_smooth_weights_are_learned_on_a_sample_and_certified_on_all_rows(method, monkeypatch):
    monkeypatch.setattr("votecert.learning._real_weights.SAMPLE_ENTRIES", 1000 * 12)
    problem = Problem(*drawn(0, 3000, 12, 2), (1000,))
    spilled = read_iterator(problem, memory_budget=BUDGET)
    assert isinstance(spilled, SpilledBallots)
    found = vc.learn(spilled, objective="so", method=method)
    again = vc.certify(problem.in_memory(), weights=found.weights, bound="so")
    assert found.risk == pytest.approx(again.risk, rel=1e-12)
    assert found.evaluation.terms.n_rows == 3000


def test_patterns_that_fit_after_all_are_loaded():
    problem = PROBLEMS["binary, uneven and empty blocks"]()
    ballots = read_iterator(problem, memory_budget=30_000)  # runs on the way, few patterns in the end
    assert not isinstance(ballots, SpilledBallots)
    assert (ballots.counts == problem.in_memory().counts).all()


@pytest.mark.parametrize("d", [5, 40, 130])
@pytest.mark.parametrize("n_at_once", [7, 100, 10**6])
def test_merged_runs_are_joined_counts(d, n_at_once, tmp_path):
    declared = Declaration(split=0.3, seed=2)
    blocks = [drawn(seed, 200, d, 2) for seed in range(5)]
    counts = [
        count_patterns(pack_block(*block, number, declared), 200 * number, declared)
        for number, block in enumerate(blocks)
    ]
    run = merge_runs(
        [write_run([part], part.layout, str(tmp_path)) for part in counts], str(tmp_path), n_at_once
    )
    found, expected = run.read(), join_counts(counts)
    for name in ("words", "counts", "fitting"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name

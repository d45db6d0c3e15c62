"""The same rows give the same ballots and certificates, however they are cut and whoever counts them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scale_problems import PROBLEMS, WAYS, Problem, drawn

import votecert as vc
from votecert.rows.ballots import Ballots
from votecert.rows.blocks import read_ballots

LEARNED = ["binary, uneven and empty blocks", "many voters", "abstentions", "labels that come late"]


def assert_same(found: Ballots, expected: Ballots) -> None:
    assert found.codes.dtype == expected.codes.dtype
    for name in ("codes", "labels", "counts", "classes"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name
    assert found.classes.dtype == expected.classes.dtype
    assert found.classes_declared == expected.classes_declared
    assert found.can_abstain == expected.can_abstain
    assert found.n_rows == expected.n_rows


def assert_same_parts(found: Ballots, expected: Ballots) -> None:
    for fitting in (True, False):
        assert_same(found.part(0.25, 0, fitting=fitting), expected.part(0.25, 0, fitting=fitting))


def as_json(certificate: vc.Certificate) -> dict:
    """What a certificate says, but for when it was made."""
    return {key: value for key, value in json.loads(certificate.to_json()).items() if key != "created"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_ballots_and_their_parts_are_those_of_all_rows_at_once(name, way):
    problem = PROBLEMS[name]()
    found = WAYS[way](problem)
    assert_same(found, problem.in_memory())
    assert_same_parts(found, problem.in_memory())


@pytest.mark.parametrize("way", ["chunks", "unknown"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_two_processes_count_the_same(name, way, cluster):
    problem = PROBLEMS[name]()
    found = WAYS[way](problem, client=cluster)
    assert_same(found, problem.in_memory())
    assert_same_parts(found, problem.in_memory())


@pytest.mark.parametrize("name", LEARNED)
def test_learned_certificates_are_equal(name, cluster):
    problem = PROBLEMS[name]()
    # the number of rows in blocks is not known in advance, so the split does not depend on it
    expected = as_json(vc.certify(problem.votes, problem.y, split=0.25, **problem.options))
    for found in (
        WAYS["iterator"](problem),
        WAYS["unknown"](problem),
        WAYS["chunks"](problem, client=cluster),
        WAYS["iterator"](problem, memory_budget=50_000),
    ):
        assert as_json(vc.certify(found)) == expected


@pytest.mark.parametrize("bound", ["test-set", "dirichlet", "fo", "so", "bin-margin"])
def test_certificates_of_given_weights_are_equal(bound, cluster):
    problem = PROBLEMS["abstentions"]()
    expected = as_json(vc.certify(problem.in_memory(), weights="uniform", bound=bound))
    for found in (WAYS["iterator"](problem), WAYS["chunks"](problem, client=cluster)):
        assert as_json(vc.certify(found, weights="uniform", bound=bound)) == expected


@settings(max_examples=20, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 300), max_size=6),
    d=st.sampled_from([1, 4, 33]),
    c=st.integers(2, 5),
    budget=st.sampled_from([20_000, 10**9]),
)
def test_any_cuts_and_any_budget_give_the_same_counts(cuts, d, c, budget):
    problem = Problem(*drawn(d + c, 300, d, c), tuple(sorted(cuts)))
    found = WAYS["iterator"](problem, memory_budget=budget)
    expected = problem.in_memory()
    votes = np.random.default_rng(0).integers(1, 4, d)
    assert found.errors(votes) == expected.errors(votes)
    assert found.ties(votes) == expected.ties(votes)
    assert (found.tandem_counts() == expected.tandem_counts()).all()
    assert found.part(0.25, 0, fitting=True).errors(votes) == expected.part(0.25, 0, fitting=True).errors(
        votes
    )


def test_the_split_that_certify_is_asked_for_is_the_one_that_is_counted():
    votes, y = drawn(11, 2000, 9, 2)
    votes[:, 0] = y ^ (np.random.default_rng(0).random(2000) < 0.01)  # the list finds the good voter
    options = {"random_state": 3, "split": 0.4}
    blocks = ((votes[i : i + 700], y[i : i + 700]) for i in range(0, 2000, 700))
    assert as_json(vc.certify(blocks, **options)) == as_json(vc.certify(votes, y, **options))


def test_another_split_than_the_counted_one_is_refused():
    problem = PROBLEMS["binary, uneven and empty blocks"]()
    for budget in (10**9, 2000):
        ballots = WAYS["iterator"](problem, split=0.3, seed=1, memory_budget=budget)
        with pytest.raises(ValueError, match=r"split=0.3 and seed=1.*split=0.3 and random_state=0"):
            vc.certify(ballots)
        assert vc.certify(ballots, split=0.3, random_state=1).risk < 1


def test_without_a_split_no_list_is_fitted():
    ballots = WAYS["iterator"](PROBLEMS["one block"](), split=0)
    certificate = vc.certify(ballots)
    assert certificate.terms.choice["list"] == "none"


def test_certify_and_learn_take_dask_votes_and_iterators():
    import dask.array as da

    votes, y = drawn(12, 1500, 6, 3)
    chunked = da.from_array(votes, chunks=(400, 4)), da.from_array(y, chunks=500)
    expected = as_json(vc.certify(votes, y))
    assert as_json(vc.certify(*chunked)) == expected
    assert as_json(vc.certify(chunked[0], y)) == expected
    assert vc.certify(votes, y).verify(*chunked)
    assert not vc.certify(votes, y).verify(chunked[0], 2 - chunked[1])
    assert vc.learn(iter([(votes, y)])).risk == expected["risk"]
    assert len(vc.compare(*chunked)) == len(vc.compare(Ballots.from_votes(votes, y)))


def test_columns_of_dask_dataframes_name_the_voters():
    import dask.dataframe as dd
    import pandas as pd

    votes, y = drawn(13, 300, 3, 2)
    frame = pd.DataFrame(votes, columns=["ann", "bob", "cy"]).assign(truth=y)
    chunked = dd.from_pandas(frame, npartitions=4)
    certificate = vc.certify(chunked[["ann", "bob", "cy"]], chunked["truth"])
    assert certificate.voters == ("ann", "bob", "cy")
    assert vc.certify(read_ballots(chunked, "truth")).risk == certificate.risk
    with pytest.raises(ValueError, match="no column 'label'"):
        read_ballots(chunked, "label")
    assert as_json(certificate) == as_json(vc.certify(frame[["ann", "bob", "cy"]], frame["truth"]))


def test_rows_that_are_gone_cannot_be_grouped():
    problem = PROBLEMS["one block"]()
    with pytest.raises(ValueError, match="cannot be grouped"):
        vc.certify(problem.blocks(), groups="class")


def test_progress_is_told_after_each_block():
    told = []
    read_ballots(PROBLEMS["many voters"]().blocks(), progress=told.append)
    assert told == [300, 799, 800]

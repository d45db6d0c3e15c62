from __future__ import annotations

import numpy as np
import pytest
from problems import guessed

import votecert as vc


def data(n_classes=2, m=500):
    return guessed(m, [0.8] * 6, n_classes)


def test_one_row_a_bound_with_guarantees_first():
    table = vc.compare(*data(), weights=np.full(6, 1 / 6))
    assert len(table) == len(vc.BOUNDS)
    kinds = [certificate.is_guarantee for certificate in table]
    assert kinds == sorted(kinds, reverse=True)
    assert table["fo"].risk > table["dirichlet"].risk
    assert table[0].risk == min(c.risk for c in table if c.is_guarantee)
    assert {row["bound"] for row in table.to_dicts()} == set(vc.BOUNDS)


def test_bounds_that_do_not_apply_are_skipped_with_a_reason():
    table = vc.compare(*data(n_classes=3))
    assert {"gz", "bg", "bg+", "bg++", "c-bound"} == set(table.skipped)
    with pytest.raises(KeyError, match="two classes only"):
        table["bg"]
    with pytest.raises(KeyError, match="there are"):
        table["nonsense"]


def test_simultaneous_costs_more_and_says_so():
    votes, y = data()
    alone = vc.compare(votes, y, bounds=["fo", "so", "f2"])
    together = vc.compare(votes, y, bounds=["fo", "so", "f2"], simultaneous=True)
    for name in ("fo", "so", "f2"):
        assert together[name].delta == pytest.approx(0.05 / 3)
        assert together[name].risk > alone[name].risk
    assert "together" in repr(together)
    assert "holds on its own" in repr(alone)


def test_published_bounds_are_marked_wherever_they_are_shown():
    text = repr(vc.compare(*data()))
    for line in text.splitlines():
        if line.startswith(("dirichlet-margin-published", "dirichlet-stochastic-published")):
            assert "NOT A GUARANTEE" in line


def test_paper_search_is_available_and_never_tighter_than_the_default_for_the_corrected_bound():
    votes, y = data()
    default = vc.compare(votes, y, bounds=["dirichlet-margin"])
    paper = vc.compare(votes, y, bounds=["dirichlet-margin"], search="paper")
    assert len(paper[0].options["margins"]) == 1000
    assert default[0].risk <= paper[0].risk


def test_learned_weights_are_learned_once():
    votes, y = data()
    table = vc.compare(votes, y, weights="learn", bounds=["occam", "fo"])
    assert all(certificate.origin == "learned" for certificate in table)


def test_the_test_set_bound_is_a_guarantee_only_for_weights_said_to_be_fixed():
    votes, y = data()
    weights = [0.3, 0.2, 0.2, 0.1, 0.1, 0.1]
    given = vc.compare(votes, y, weights=weights)
    fixed = vc.compare(votes, y, weights=weights, fixed_in_advance=True)
    assert given["test-set"].risk == fixed["test-set"].risk
    assert fixed[0] is fixed["test-set"]
    assert fixed["test-set"].caveat is None
    assert not given["test-set"].is_guarantee
    assert given[0].is_guarantee
    (line,) = [line for line in repr(given).splitlines() if line.startswith("test-set")]
    assert "NOT A GUARANTEE: Nobody says" in line
    (note,) = [row["note"] for row in given.to_dicts() if row["bound"] == "test-set"]
    assert "fixed_in_advance=True" in note
    assert vc.compare(votes, y)["test-set"].is_guarantee  # the plain vote


def test_what_is_no_guarantee_takes_no_share_of_delta():
    votes, y = data()
    weights = [0.3, 0.2, 0.2, 0.1, 0.1, 0.1]
    options = {"bounds": ["test-set", "fo"], "simultaneous": True, "weights": weights}
    assert vc.compare(votes, y, **options)["fo"].delta == 0.05
    assert vc.compare(votes, y, fixed_in_advance=True, **options)["fo"].delta == 0.025


def test_the_table_says_which_weights_were_compared():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    votes = np.where(rng.random((200, 3)) < 0.8, y[:, None], 1 - y[:, None])
    weights = [0.5, 0.3, 0.2]
    for options, said in (
        ({}, "the plain vote, with equal weights"),
        ({"weights": "learn"}, "weights learned on these rows"),
        ({"weights": weights}, "weights given by the user"),
        ({"weights": weights, "fixed_in_advance": True}, "weights fixed in advance"),
    ):
        table = vc.compare(votes, y, bounds=["occam"], **options)
        assert f"All are about {said}. " in repr(table)
        assert said in table._repr_html_()

"""The fitted vote is paid for as one vote: it must not depend on the rows that certify it, in any way."""

from __future__ import annotations

import numpy as np
import pytest

import votecert as vc
from votecert.bounds.occam import Occam
from votecert.learning import fitted_vote, whole_votes
from votecert.rows.ballots import Ballots
from votecert.rows.blocks.spill import SpilledBallots
from votecert.rows.scores import Scores
from votecert.rows.split import in_fitting_part

M, D = 400, 6
FITS = in_fitting_part(M, 0.25, 0)


def some_rows(m: int = M):
    """Labels "a" and "c"; two voters that are the same on all rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=m)
    right = rng.random((m, D)) < np.linspace(0.9, 0.55, D)
    votes = np.where(right, y[:, None], 1 - y[:, None])
    votes[:, 5] = votes[:, 0]
    names = np.array(["a", "c"], dtype=object)
    return names[votes], names[y]


def unchanged(votes, y):
    pass


def a_missing_vote(votes, y):
    votes[0, 1] = None


def a_new_class_among_votes(votes, y):
    votes[0, 1] = "b"  # in the middle of the others: their codes change


def a_new_class_among_labels(votes, y):
    y[0] = "b"


def a_last_class_among_labels(votes, y):
    y[0] = "z"


def many_classes(votes, y):
    y[:] = [f"b{number}" for number in range(len(y))]  # more than fit into a byte


def voters_that_differ(votes, y):
    votes[:, 5] = np.where(votes[:, 5] == "a", "c", "a")


def all_rows_the_same(votes, y):
    votes[:], y[:] = votes[0], y[0]


CHANGES = [
    a_missing_vote,
    a_new_class_among_votes,
    a_new_class_among_labels,
    a_last_class_among_labels,
    many_classes,
    voters_that_differ,
    all_rows_the_same,
]


def in_memory(votes, y):
    return Ballots.from_votes(votes, y)


def not_compressed(votes, y):
    return Ballots.from_votes(votes, y, compress=False)


def in_blocks(votes, y):
    return vc.read_ballots(iter([(votes[:90], y[:90]), (votes[90:], y[90:])]))


def on_disk(votes, y):
    rows = vc.read_ballots(iter([(votes[:90], y[:90]), (votes[90:], y[90:])]), memory_budget=1000)
    assert isinstance(rows, SpilledBallots) or len(set(map(tuple, votes))) < 10
    return rows


@pytest.fixture
def fitted(monkeypatch):
    """A function that learns and returns the fitted vote: what each answer is worth, by the labels."""
    found = []
    fit = whole_votes._Search.fit_vote

    def record(search, *other_rows):
        fit(search, *other_rows)
        vote, labels = search.fitted, search.rows.classes.tolist()
        if vote is None:
            found.append(None)
            return
        numbers = vote.votes if vote.table is None else vote.table
        worth = {}
        for place, number in np.ndenumerate(numbers):
            said = (place[0], *((*labels, None)[s] for s in place[1:]))
            worth |= {said: int(number)} if number else {}
        constants = {label: int(b) for label, b in zip(labels, vote.offsets, strict=True) if b}
        found.append((worth, constants, vote.errors))

    monkeypatch.setattr(whole_votes._Search, "fit_vote", record)
    monkeypatch.setattr(whole_votes._Search, "search_whole_votes", lambda search: None)
    monkeypatch.setattr(whole_votes._Search, "result", lambda search: None)
    monkeypatch.setattr(whole_votes.Budget, "marked", lambda budget, found: found, raising=False)

    def learned(rows, **options):
        whole_votes.WholeVotes(**options).learn(rows, Occam(), 0.05)
        return found[-1]

    return learned


EVERYTHING, SAMPLE = 1 << 24, 300
"""Answers that the vote is fitted on."""

WAYS = [(in_memory, EVERYTHING), *((way, SAMPLE) for way in (in_memory, not_compressed, in_blocks, on_disk))]


@pytest.mark.parametrize(("way", "n_entries"), WAYS)
@pytest.mark.parametrize("change", [unchanged, *CHANGES])
def test_certifying_rows_do_not_change_what_is_fitted_on_the_others(
    fitted, change, way, n_entries, monkeypatch
):
    monkeypatch.setattr(fitted_vote, "MOST_ANSWERS", n_entries)
    votes, y = some_rows()
    if n_entries not in EXPECTED:
        EXPECTED[n_entries] = fitted(in_memory(votes, y))
    certifying, labels = votes[~FITS], y[~FITS]
    change(certifying, labels)
    votes[~FITS], y[~FITS] = certifying, labels
    assert EXPECTED[n_entries][0]
    assert fitted(way(votes, y)) == EXPECTED[n_entries]


EXPECTED: dict[int, dict] = {}
"""What is fitted on the fitting rows, once for all tests."""


@pytest.mark.parametrize("change", CHANGES)
def test_certifying_rows_do_not_change_what_is_fitted_on_rows_without_labels(fitted, change):
    votes, y = some_rows(200)
    other, votes, y = votes[:140].copy(), votes[140:], y[140:]
    expected = fitted(Ballots.from_votes(votes, y), prior_votes=other)
    assert expected[0]
    change(votes, y)
    if change is all_rows_the_same:
        votes[0], y[0] = ["c", "a", "a", "a", "a", "a"], "c"  # both labels have to occur
    assert fitted(Ballots.from_votes(votes, y), prior_votes=other) == expected


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_certifying_rows_do_not_change_what_is_fitted_on_other_rows(fitted, change, missing):
    votes, y = some_rows(200)
    other, truth = votes[:100].copy(), y[:100].copy()
    if missing:
        other[::3, 2] = None

    def list_for(rows):
        return fitted(rows, prior_votes=Ballots.from_votes(other, truth, classes=rows.classes.tolist()))

    expected = list_for(Ballots.from_votes(votes, y))
    change(votes, y)
    if change is all_rows_the_same:
        votes[0], y[0] = ["c", "a", "a", "a", "a", "a"], "c"  # both labels have to occur
    assert list_for(Ballots.from_votes(votes, y)) == expected


def test_what_is_declared_is_used_although_the_fitting_rows_do_not_show_it(fitted):
    votes, y = some_rows()
    plain = fitted(Ballots.from_votes(votes, y))
    three = fitted(Ballots.from_votes(votes, y, classes=["a", "b", "c"]))
    silent = fitted(Ballots.from_votes(votes, y, can_abstain=True))
    assert plain != three  # confusions with one more class
    assert plain[2] == {name: silent[2][name] for name in plain[2]}
    assert len(silent[2]) > len(plain[2])  # to abstain may say something


def test_soft_votes_are_not_fitted_where_the_fitting_rows_do_not_tell_the_labels_apart(fitted):
    """With "b" or with "d" in the other rows the second place would stand for "b" or for "c"."""
    rng = np.random.default_rng(0)
    values = rng.dirichlet(np.ones(3), size=(M, D))
    y = np.where(rng.random(M) < 0.5, "a", "c")
    for third in ("b", "d"):
        labels = y.copy()
        labels[np.flatnonzero(~FITS)[:5]] = third
        assert fitted(Scores.from_scores(values, labels)) is None
        declared = Scores.from_scores(values, labels, classes=sorted({"a", "c", third}))
        assert fitted(declared)
    y[np.flatnonzero(FITS)[:5]] = "b"
    expected = fitted(Scores.from_scores(values, y))
    assert expected[0]
    y[~FITS] = "b"
    assert fitted(Scores.from_scores(values, y)) == expected


def test_the_classifier_takes_its_classes_from_all_labels_so_they_are_not_declared():
    X = np.random.default_rng(0).normal(size=(100, 3))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int)
    stumps = vc.DecisionStumps(2, ranges=(-2, 2))
    certificate = vc.CertifiedVotingClassifier(stumps, random_state=0).fit(X, y).certificate_
    assert not certificate.classes_declared
    assert certificate.abstention_declared  # classifiers always answer


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("which", ["same", "first", "last", "some", "soft"])
def test_the_certifying_rows_are_no_other_rows(labels, which):
    rng = np.random.default_rng(3)
    y, votes = rng.integers(2, size=120), rng.integers(2, size=(120, 40))
    chosen = {"same": slice(None), "first": slice(60), "last": slice(60, None), "some": y == 1}
    rows = chosen.get(which, slice(None))
    other = {"prior_votes": votes} | ({"prior_y": y} if labels else {})
    if which == "soft":
        scores = np.stack([1 - votes, votes], axis=2) * 0.5 + 0.25
        with pytest.raises(ValueError, match=r"certifying rows in it|scores need labels"):
            vc.certify(scores=scores, y=y, **other | {"prior_votes": scores})
        return
    with pytest.raises(ValueError, match="certifying rows in it"):
        vc.certify(votes[rows], y[rows], **other)


def test_rows_that_look_alike_may_be_others():
    rng = np.random.default_rng(4)
    y = np.arange(60) % 2
    votes = np.where(rng.random((60, 3)) < 0.95, y[:, None], 1 - y[:, None])  # hardly any differ
    found = vc.certify(votes, y, prior_votes=votes[::-1], prior_y=y[::-1])
    assert "None of these rows" in " ".join(found.assumptions)

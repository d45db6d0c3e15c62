"""What is no table of votes is refused with the remedy; what is unusual is warned of and noted."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import votecert as vc
from votecert.rows.ballots import Ballots
from votecert.rows.checks import VoteWarning, checked, likely_options

M = 400


def jury(seed: int = 0, m: int = M, d: int = 5, classes=("no", "yes")) -> tuple[np.ndarray, np.ndarray]:
    """Voters who are right four times out of five."""
    rng = np.random.default_rng(seed)
    y = rng.integers(len(classes), size=m)
    votes = np.where(rng.random((m, d)) < 0.8, y[:, None], rng.integers(len(classes), size=(m, d)))
    return np.array(classes)[votes], np.array(classes)[y]


def notes(votes, y, voters=None) -> str:
    return " ".join(checked(Ballots.from_votes(votes, y), voters).notes)


def refusal(votes, y, voters=None) -> str:
    with pytest.raises(ValueError, match=r"validate=False\.$") as refused:
        checked(Ballots.from_votes(votes, y), voters)
    return str(refused.value)


@pytest.mark.parametrize("d", [2, 5, 12])
@pytest.mark.parametrize("classes", [("no", "yes"), tuple("abcde")])
@pytest.mark.parametrize("seed", range(5))
def test_usual_votes_pass_without_a_word(seed, d, classes):
    votes, y = jury(seed, d=d, classes=classes)
    assert notes(votes, y) == ""
    order = np.argsort(y, kind="stable")  # a table that is sorted by the truth is nothing unusual
    assert notes(votes[order], y[order]) == ""


def with_column(votes: np.ndarray, column) -> np.ndarray:
    return np.column_stack([votes.astype(object), np.array(column, dtype=object)])


NAMES = ["ann", "bob", "eve", "joe", "kim"]


@pytest.mark.parametrize(
    ("column", "name", "words"),
    [
        ([f"q{i}" for i in range(M)], "item", ["'item' has 400 different values", "ignore='item'"]),
        ([f"q{i // 5}" for i in range(M)], "item", ["82 different labels", "ignore='item'", "classes="]),
        ([f"{i / M:.4f}" for i in range(M)], "p", ["probabilities", "scores", "ignore='p'"]),
        (["0.5", "1.5"] * (M // 2), "p", ["'0.5' is no whole number"]),
        ([f"q{i}" for i in range(M)], "", ["position 5 has no name", "ignore='5'"]),
        ([f"q{i}" for i in range(M)], "Unnamed: 0", ["index", "ignore='Unnamed: 0'"]),
        ([f"w{i % 7}" for i in range(M)], "worker_id", ["long table", "column 'worker_id' names who votes"]),
        (["MT-Bench"] * M, "subset", ["'subset' never says a label that is true", "ignore='subset'"]),
        (["-1"] * M, "lf3", ["abstain='-1'"]),
    ],
)
def test_what_is_no_voter(column, name, words):
    votes, y = jury()
    said = refusal(with_column(votes, column), y, [*NAMES, name])
    assert all(word in said for word in words), said


def test_all_that_is_no_voter_is_named_at_once():
    votes, y = jury()
    table = with_column(with_column(votes, [f"q{i}" for i in range(M)]), ["MT-Bench"] * M)
    assert "ignore='item,subset'" in refusal(table, y, [*NAMES, "item", "subset"])


def test_a_long_table_is_told_apart_from_a_jury_with_a_model():
    votes, y = jury()
    long = np.column_stack([np.arange(M) // 4, [f"w{i % 4}" for i in range(M)], votes[:, 0]])
    said = refusal(long, y, ["item", "judge", "label"])
    assert "item='item', judge='judge', vote='label'." in said
    assert notes(votes, y, ["model", "judge", "user", "rater", "lf"]) == ""


def test_few_rows_and_declared_classes_are_left_alone():
    assert notes([["a", "b"], ["c", "d"], ["e", "f"]], ["a", "c", "e"]).startswith("'b', 'd', 'f' are voted")
    rows = Ballots.from_votes([[i] for i in range(50)], [0, 1] * 25, classes=range(60))
    assert checked(rows, ["item"]).notes == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v, y: (np.column_stack([v, y]), y), "right on every row. Is it a copy"),
        (lambda v, y: (np.where(np.arange(5) == 2, np.where(v == "no", "-1", v), v), y), "'-1' is voted for"),
        (lambda v, y: (np.column_stack([v, v[:, 1]]), y), "Voter 1 and voter 5 vote the same"),
        (lambda v, y: (np.concatenate([v, v]), np.concatenate([y, y])), "Every row is there 2 times"),
        (lambda v, y: (v[:4], y[:4]), "fewer rows (4) than voters (5)"),
    ],
)
def test_notes(change, words):
    assert words in notes(*change(*jury()))


def test_rows_in_blocks_of_equal_items():
    votes, y = jury(d=8, classes=tuple("abcd"))
    assert "same items?" in notes(np.repeat(votes, 3, axis=0), np.repeat(y, 3))
    assert notes(votes, y) == ""


def test_some_copied_rows_among_many_different_ones():
    votes, y = jury(d=30, classes=tuple("abcd"))
    assert notes(votes, y) == ""
    order = np.random.default_rng(0).permutation(M + 100)
    copied, truth = np.concatenate([votes, votes[:100]])[order], np.concatenate([y, y[:100]])[order]
    assert "rows are there exactly twice and 298 once" in notes(copied, truth)


def test_python_warns_and_the_certificate_remembers():
    votes, y = jury()
    votes = np.column_stack([votes, y])
    with pytest.warns(VoteWarning, match="Is it a copy") as warned:
        certificate = vc.certify(votes, y)
    assert warned[0].filename == __file__
    assert len(certificate.notes) == 1
    again = vc.Certificate.from_json(certificate.to_json())
    assert again.notes == certificate.notes
    assert again.intact
    assert again.verify(votes, y)
    assert "Is it a copy" in certificate.to_markdown()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unasked = vc.certify(votes, y, validate=False)
    assert unasked.notes == ()
    assert '"notes"' not in unasked.to_json()
    assert unasked.risk == certificate.risk


def test_edited_notes_are_noticed():
    votes, y = jury()
    certificate = vc.certify(np.column_stack([votes, y]), y)
    edited = certificate.to_json().replace("Is it a copy", "It is no copy")
    assert not vc.Certificate.from_json(edited).verify()


@pytest.mark.parametrize("function", [vc.certify, vc.compare, vc.learn])
def test_all_refuse(function):
    votes, y = jury()
    table = with_column(votes, [f"q{i}" for i in range(M)])
    with pytest.raises(ValueError, match="it is no voter"):
        function(table, y)


def test_labels_of_other_rows():
    pd = pytest.importorskip("pandas")
    votes, y = jury()
    table, truth = pd.DataFrame(votes), pd.Series(y)
    certificate = vc.certify(table, truth)
    assert vc.certify(table, y) == certificate
    other = truth.sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match=r"y\.loc\[votes\.index\].*y\.to_numpy\(\)"):
        vc.certify(table, other)
    assert vc.certify(table, other.loc[table.index]) == certificate
    with pytest.raises(ValueError, match="index of y"):
        vc.certify(table, truth.rename(lambda place: place + 1))


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (["Item", "Judge", "Vote", "Gold"], "item='Item', judge='Judge', vote='Vote', label='Gold'"),
        (
            ["task_id", "worker", "label", "gold"],
            "item='task_id', judge='worker', vote='label', label='gold'",
        ),
        (["id", "model", "answer"], "item='id', judge='model', vote='answer'"),
        (["a", "b", "y"], "label='y'"),
        (["", "a", "b"], ""),
    ],
)
def test_likely_options(names, options):
    assert likely_options(names) == options

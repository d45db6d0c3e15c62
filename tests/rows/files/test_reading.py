"""Every kind of file gives the same ballots as the votes themselves."""

from __future__ import annotations

import csv
import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from votecert.rows.ballots import Ballots
from votecert.rows.files import delimited
from votecert.rows.files.read import read_votes
from votecert.rows.vocabulary import Numbered, Vocabulary
from votecert.rows.vote_table import VoteTable

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(3, size=40)
VOTES = np.where(RNG.random((40, 4)) < 0.7, TRUTH[:, None], RNG.integers(3, size=(40, 4)))


def rows_of(ballots: Ballots) -> list[list]:
    """Votes and truth of each row as labels, None where a vote is missing."""
    labels = [*ballots.classes.tolist(), None]
    return [
        [labels[code] for code in ballots.codes[pattern]] + [labels[ballots.labels[pattern]]]
        for pattern in ballots.pattern_of_row
    ]


def same(found: Ballots, expected: Ballots) -> bool:
    """Whether two ballots hold the same rows, classes and patterns."""
    return (
        rows_of(found) == rows_of(expected)
        and found.classes.tolist() == expected.classes.tolist()
        and found.classes.dtype.kind == expected.classes.dtype.kind
        and found.codes.dtype == expected.codes.dtype
        and found.can_abstain == expected.can_abstain
        and found.classes_declared == expected.classes_declared
        and found.n_patterns == expected.n_patterns
    )


def as_csv(rows: list[list], header: list[str], **options) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, **{"lineterminator": "\n"} | options)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


HEADER = ["truth", "a", "b", "c", "d"]
TABLE = np.column_stack([TRUTH, VOTES])


def write_csv(path: Path) -> Path:
    path.write_bytes(as_csv(TABLE.tolist(), HEADER))
    return path


def write_tsv(path: Path) -> Path:
    path.write_bytes(as_csv(TABLE.tolist(), HEADER, delimiter="\t"))
    return path


def write_semicolons(path: Path) -> Path:
    path.write_bytes(as_csv(TABLE.tolist(), HEADER, delimiter=";", lineterminator="\r\n"))
    return path


def write_parquet(path: Path) -> Path:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = [pa.array(TABLE[:, 0]), pa.array(TABLE[:, 1].astype(float)), *map(pa.array, TABLE[:, 2:].T)]
    names = [f" {name} " for name in HEADER]
    parquet.write_table(pa.table(columns, names=names), path, row_group_size=7)
    return path


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("votes.csv", write_csv),
        ("votes.tsv", write_tsv),
        ("votes.CSV", write_semicolons),
        ("votes.parquet", write_parquet),
    ],
)
@pytest.mark.parametrize("label", ["truth", "0", 0, -5])
def test_tables_of_every_kind(tmp_path, name, write, label):
    found = read_votes(write(tmp_path / name), label=label)
    assert same(found.ballots, Ballots.from_votes(VOTES, TRUTH))
    assert found.voters == ("a", "b", "c", "d")
    assert found.groups is None


@pytest.mark.parametrize("names", [("votes", "y"), ("votes_bound", "y_bound")])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz(tmp_path, names, save):
    save(tmp_path / "votes.npz", **dict(zip(names, (VOTES, TRUTH), strict=True)))
    found = read_votes(tmp_path / "votes.npz")
    assert same(found.ballots, Ballots.from_votes(VOTES, TRUTH))
    assert found.voters is None


def test_npz_with_names_groups_and_another_label(tmp_path):
    path = tmp_path / "votes.npz"
    groups = np.where(TRUTH > 0, "late", "early")
    np.savez(path, votes=VOTES, judged=TRUTH, where=groups, voters=np.array(["a", "b", "c", "d"]))
    found = read_votes(path, label="judged", group="where", ignore=["b", -1])
    assert same(found.ballots, Ballots.from_votes(VOTES[:, [0, 2]], TRUTH))
    assert found.voters == ("a", "c")
    assert found.groups.tolist() == groups.tolist()


@pytest.mark.parametrize("label", [0, 2, -1])
def test_npy_with_the_label_anywhere(tmp_path, label):
    place = label % 5
    table = np.insert(VOTES, place, TRUTH, axis=1)
    np.save(tmp_path / "votes.npy", table)
    found = read_votes(tmp_path / "votes.npy", label=label)
    assert same(found.ballots, Ballots.from_votes(VOTES, TRUTH))


def test_npz_with_text_takes_declared_numbers_as_text(tmp_path):
    np.savez(tmp_path / "v.npz", votes=VOTES.astype(str), y=TRUTH.astype(str))
    found = read_votes(tmp_path / "v.npz", classes=[2, 1, 0])
    assert same(
        found.ballots, Ballots.from_votes(VOTES.astype(str), TRUTH.astype(str), classes=["2", "1", "0"])
    )


def read(text: str | bytes, **options) -> VoteTable:
    options = {"label": "y"} | options
    return read_votes(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


@pytest.mark.parametrize(
    ("text", "rows", "classes"),
    [
        ("a,y\n1,0\n0,1\n", [[1, 0], [0, 1]], [0, 1]),
        ("a,y\n1.0,0\n,1\n", [[1, 0], [None, 1]], [0, 1]),  # a column with gaps, as table programs write it
        ("a,y\n10,2\n2,10\n", [[10, 2], [2, 10]], [2, 10]),  # numbers are sorted as numbers
        ("a,y\n-1,+\n+,-1\n", [["-1", "+"], ["+", "-1"]], ["+", "-1"]),
        ("a,y\n01,1\n1,01\n", [["01", "1"], ["1", "01"]], ["01", "1"]),  # codes, not numbers
        ("a,y\ntrue,FALSE\nFalse,True\n", [[True, False], [False, True]], [False, True]),
        ("a,y\nyes , no\nno,yes\n", [["yes", "no"], ["no", "yes"]], ["no", "yes"]),
        ("a,y\nNaN,no\nNA,yes\nnull,no\n", [[None, "no"], [None, "yes"], [None, "no"]], ["no", "yes"]),
        ("a,y\n0.5,0\n0,1\n", [["0.5", "0"], ["0", "1"]], ["0", "0.5", "1"]),
        ("a,y\nä,ö\nö,ä\n", [["ä", "ö"], ["ö", "ä"]], ["ä", "ö"]),
        ('a,y\n"x,1",b\nb,"x,1"\n', [["x,1", "b"], ["b", "x,1"]], ["b", "x,1"]),
        ('a,y\n"say ""hi""",b\nb,b\n', [['say "hi"', "b"], ["b", "b"]], ["b", 'say "hi"']),
        ("a,y\r\n1,0\r\n0,1", [[1, 0], [0, 1]], [0, 1]),
        ("\n\na,y\n\n1,0\n\n\n0,1\n\n", [[1, 0], [0, 1]], [0, 1]),
        ("\ufeffa,y\n1,0\n0,1\n", [[1, 0], [0, 1]], [0, 1]),
    ],
)
def test_cells(text, rows, classes):
    found = read(text, validate=False).ballots
    assert rows_of(found) == rows
    assert found.classes.tolist() == classes
    assert [type(label) for label in found.classes.tolist()] == [type(label) for label in classes]


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        (["NA", "b"], [["NA", "b"], [None, "NA"]]),  # a declared class is never a missing vote
        (["b", "NA", "c"], [["NA", "b"], [None, "NA"]]),
    ],
)
def test_a_declared_class_that_looks_missing(classes, expected):
    found = read("a,y\nNA,b\n,NA\n", classes=classes).ballots
    assert rows_of(found) == expected
    assert found.classes.tolist() == classes
    assert found.classes_declared


@pytest.mark.parametrize(
    ("classes", "text", "expected"),
    [
        ([1, 0], "a,y\n1.0,0\n0,1\n", [[1, 0], [0, 1]]),
        (["1", "0"], "a,y\n1,0\n0,1\n", [["1", "0"], ["0", "1"]]),
        ([False, True], "a,y\n1,0\n0,1\n", [[True, False], [False, True]]),
        ([False, True], "a,y\nTrue,false\n,true\n", [[True, False], [None, True]]),
        ([0, 1, 2], "a,y\n1,1\n1,1\n", [[1, 1], [1, 1]]),  # one label is enough when all are declared
    ],
)
def test_declared_classes_say_what_text_means(classes, text, expected):
    found = read(text, classes=classes).ballots
    assert rows_of(found) == expected
    assert found.classes.tolist() == classes


def test_groups_ignored_columns_and_counts():
    found = read("id,a,b,y,where\n7,x,,x,eu\n8,y,z,x,us\n", group="where", ignore=["id"])
    assert rows_of(found.ballots) == [["x", None, "x"], ["y", "z", "x"]]
    assert found.groups.tolist() == ["eu", "us"]
    assert found.voters == ("a", "b")
    assert found.n_abstentions == 1
    assert "'y', 'z' are voted for but never true" in found.ballots.notes[0]


def test_the_label_column_may_give_the_groups():
    found = read("a,y\n1,0\n0,1\n", group="y")
    assert found.groups.tolist() == ["0", "1"]


def test_repeated_rows_are_compressed_and_counted():
    found = read("a,b,y\n" + "0,,1\n1,1,1\n" * 50)
    assert found.ballots.n_rows == 100
    assert found.ballots.n_patterns == 2
    assert found.n_abstentions == 50


def test_without_header():
    found = read("1,0,1\n0,1,1\n", label=-1, header=False)
    assert rows_of(found.ballots) == [[1, 0, 1], [0, 1, 1]]
    assert found.voters == ("column 0", "column 1")


def test_can_abstain_is_declared_or_seen():
    assert read("a,y\n1,0\n0,1\n", can_abstain=True).ballots.can_abstain
    assert not read("a,y\n1,0\n0,1\n").ballots.can_abstain
    with pytest.raises(ValueError, match="missing votes"):
        read("a,y\n,0\n0,1\n", can_abstain=False)


def test_more_labels_than_fit_in_a_byte():
    labels = [f"class {i}" for i in range(300)]
    text = "a,b,y\n" + "".join(f"{one},{labels[0]},{one}\n" for one in labels)
    found = read(text, validate=False).ballots
    assert found.codes.dtype == np.uint16
    assert rows_of(found) == [[one, labels[0], one] for one in labels]


def test_numbers_that_are_written_in_many_ways_still_fit_in_a_byte():
    numbers = [f"{i}.{'0' * zeros}" for i in range(100) for zeros in range(3)]
    found = read("a,y\n" + "".join(f"{number},1\n" for number in numbers), validate=False).ballots
    assert found.codes.dtype == np.uint8
    assert found.classes.tolist() == list(range(100))


cells = st.one_of(
    st.sampled_from(["0", "1", "2", ""]),
    st.sampled_from(["cat", "dog, or so", 'a "dog"', "two\nlines", ""]),
)


@settings(max_examples=60, deadline=None)
@given(
    table=st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=30),
    block=st.integers(3, 60),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_any_cut_into_blocks_reads_the_same(table, block, ending):
    """Wherever the blocks end, and from whichever row on there are quotes."""
    rows = [[*votes, "0", "1"][: len(votes) + 1] for votes in table] + [["cat", "1", "2", "1"]]
    expected = [[cell.strip() or None for cell in row] for row in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK_BYTES", block)
        found = read(as_csv(rows, ["a", "b", "c", "y"], lineterminator=ending))
    assert rows_of(found.ballots) == [[_typed(cell, rows) for cell in row] for row in expected]


def _typed(cell: str | None, rows: list[list[str]]) -> str | int | None:
    used = {text for row in rows for text in row if text.strip()}
    return int(cell) if cell is not None and used <= {"0", "1", "2"} else cell


def test_memory_stays_near_a_byte_a_vote(tmp_path):
    """A text of two bytes a vote, and as one large file would: it is never there as a whole."""
    n_rows, n_voters = 100_000, 50
    rng = np.random.default_rng(1)
    digits = rng.integers(0, 2, size=(n_rows, n_voters + 1), dtype=np.uint8)
    text = np.full((n_rows, 2 * n_voters + 2), ord(","), dtype=np.uint8)
    text[:, ::2] = digits + ord("0")
    text[:, -1] = ord("\n")
    path = tmp_path / "large.csv"
    path.write_bytes(",".join([*map(str, range(n_voters)), "y"]).encode() + b"\n" + text.tobytes())
    done: list[int] = []
    tracemalloc.start()
    found = read_votes(path, label="y", progress=lambda read, total: done.append(read))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.ballots.codes == digits[:, :-1]).all()
    assert done[-1] == path.stat().st_size
    assert peak < n_rows * n_voters + 30_000_000


def test_room_grows_towards_the_promised_size():
    part = Numbered(Vocabulary("votes"), 1)
    for share in (0.25, 0.5, 0.75, 1.0):
        part.append(np.full((100, 1), 2, np.uint16), share)
        assert len(part._numbers) <= 1.1 * 400 + 64
    assert part.shape == (400, 1)


@pytest.mark.parametrize("abstain", [-1, "-1", np.int64(-1), [-1, "none"]])
@pytest.mark.parametrize("kind", [list, int, float, str])
def test_codes_for_abstentions_in_arrays_of_any_kind(abstain, kind):
    votes = [[0, 1, 1], [-1, 1, 0], [1, 0, 1]] * 5
    array = votes if kind is list else np.array(votes, dtype=kind)
    labels = np.array([0, 1, 1] * 5).astype(str if kind is str else int)
    found = read_votes(array, label=labels, abstain=abstain)
    assert found.ballots.n_classes == 2
    assert found.n_abstentions == 5


def test_labels_of_their_own_are_one_a_row_and_the_only_ones():
    table = {"item": np.arange(6), "ann": [0, 1] * 3, "bob": [1, 1] * 3}
    frame = pytest.importorskip("pandas").DataFrame(table)
    with pytest.raises(ValueError, match="votes have 6 rows but y has 2 labels"):
        read_votes(frame, label=[0, 1], item="item")
    with pytest.raises(ValueError, match="gold= would be ignored"):
        read_votes(frame, label=[0, 1] * 3, item="item", gold=frame)

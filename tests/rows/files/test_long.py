"""Long tables, JSON, packed files, several files and labels of their own: one and the same table of votes."""

from __future__ import annotations

import bz2
import csv as csv_module
import gzip
import io
import json
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import votecert as vc
from votecert.rows.checks import VoteWarning
from votecert.rows.files import open as opening
from votecert.rows.files.columns import Layout
from votecert.rows.files.read import read_new_votes, read_votes

LONG = {"item": "item", "judge": "who", "vote": "says", "label": "gold"}
JUDGES = ["ann", "bob", "cal"]


def jury(m: int = 120, seed: int = 0):
    """Items, votes with gaps and true labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=m)
    votes = np.where(rng.random((m, 3)) < 0.8, y[:, None], 1 - y[:, None])
    words = np.array(["no", "yes"], dtype=object)
    said = words[votes]
    said[rng.random((m, 3)) < 0.2] = None
    said[:, 0] = words[votes[:, 0]]  # somebody votes on every item
    return [f"q{i}" for i in range(m)], said, words[y]


ITEMS, SAID, TRUTH = jury()
TRIPLES = [
    {"item": item, "who": judge, "says": vote, "gold": truth}
    for item, row, truth in zip(ITEMS, SAID, TRUTH, strict=True)
    for judge, vote in zip(JUDGES, row, strict=True)
    if vote is not None
]


def csv(columns: list[str], rows: list[list[object]]) -> str:
    cells = [columns, *([("" if cell is None else str(cell)) for cell in row] for row in rows)]
    return "\n".join(map(",".join, cells)) + "\n"


WIDE = csv(
    ["item", *JUDGES, "gold"], [[i, *row, y] for i, row, y in zip(ITEMS, SAID.tolist(), TRUTH, strict=True)]
)
LONG_CSV = csv(["item", "who", "says", "gold"], [list(line.values()) for line in TRIPLES])


def read(text: str | bytes, **options):
    return read_votes(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


def assert_same(found, items: bool = True) -> None:
    assert found.voters == tuple(JUDGES)
    assert found.votes.tolist() == SAID.tolist()
    assert found.y.tolist() == TRUTH.tolist()
    assert not items or found.items.tolist() == ITEMS
    assert found.notes == ()


def test_wide_and_long_text():
    assert_same(read(WIDE, label="gold", item="item"))
    assert_same(read(LONG_CSV, **LONG))
    found = read(LONG_CSV, **LONG)
    certificate = vc.certify(found)
    assert certificate.voters == tuple(JUDGES)
    assert certificate == vc.certify(SAID, TRUTH, voters=JUDGES)
    assert certificate.verify(found)
    assert certificate.predict(found).tolist() == certificate.predict(SAID).tolist()


def test_the_order_of_lines_matters_for_the_order_of_items_only():
    lines = LONG_CSV.splitlines()
    order = np.random.default_rng(0).permutation(np.arange(1, len(lines)))
    found = read("\n".join([lines[0], *(lines[place] for place in order)]), **LONG)
    assert found.voters == tuple(JUDGES)
    row_of = dict(zip(found.items, found.votes.tolist(), strict=True))
    assert [row_of[item] for item in ITEMS] == SAID.tolist()


def flat() -> list[dict[str, object]]:
    rows = zip(ITEMS, SAID.tolist(), TRUTH, strict=True)
    return [{"item": i, **dict(zip(JUDGES, row, strict=True)), "gold": y} for i, row, y in rows]


def nested() -> list[dict[str, object]]:
    return [
        {
            "item": one["item"],
            "votes": [{"model": judge, "out": {"value": one[judge]}} for judge in JUDGES if one[judge]],
            "meta": {"gold": one["gold"]},
        }
        for one in flat()
    ]


NESTED = {"item": "item", "votes": "votes", "judge": "model", "vote": "out.value", "label": "meta.gold"}


@pytest.mark.parametrize("indent", ["lines", "list", "indented list"])
@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (flat(), {"item": "item", "label": "gold"}),
        (TRIPLES, LONG),
        (nested(), NESTED),
        (
            [{**one, "votes": {v["model"]: v["out"] for v in one["votes"]}} for one in nested()],
            {**NESTED, "judge": None, "vote": "value"},
        ),
    ],
)
def test_json(rows, options, indent, monkeypatch):
    monkeypatch.setattr("votecert.rows.files.json_lines.BLOCK_BYTES", 1000)
    if indent == "lines":
        text = "\n".join(map(json.dumps, rows)) + "\n"
    else:
        text = json.dumps(rows, indent=2 if "indented" in indent else None)
    assert_same(read(text, **options))
    assert_same(read_votes(rows, **options))


def test_flat_json_keeps_the_order_of_its_fields_and_needs_no_item():
    rows = [{"b": "no", "a": "yes", "y": "no"}, {"a": "no", "y": "no", "c": "no"}]
    found = read_votes(rows, label="y")
    assert found.voters == ("b", "a", "c")
    assert found.votes.tolist() == [["no", "yes", None], [None, "no", "no"]]
    assert found.items is None


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def packed(content: bytes, kind: str) -> bytes:
    if kind != ".zst":
        return PACKERS[kind](content)
    pa = pytest.importorskip("pyarrow")
    return pa.compress(content, codec="zstd", asbytes=True)


@pytest.mark.parametrize("kind", [*PACKERS, ".zst"])
def test_packed_files_and_streams(kind, tmp_path):
    jsonl = "\n".join(map(json.dumps, TRIPLES))
    for name, text in (("votes.csv", LONG_CSV), ("votes.jsonl", jsonl)):
        content = packed(text.encode(), kind)
        (tmp_path / (name + kind)).write_bytes(content)
        assert_same(read_votes(tmp_path / (name + kind), **LONG))
        assert_same(read(content, **LONG))
        half = len(content) // 2
        for damaged in (content[:half], content[:half] + b"\xff" * 20 + content[half + 20 :], text.encode()):
            (tmp_path / (name + kind)).write_bytes(damaged)
            with pytest.raises(ValueError, match="damaged, or not packed as its name says"):
                read_votes(tmp_path / (name + kind), **LONG)


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "LARGEST_UNPACKED", 100_000)
    content = gzip.compress(b"a,y\n" + b"1,0\n0,1\n" * 100_000)
    (tmp_path / "v.csv.gz").write_bytes(content)
    for source in (tmp_path / "v.csv.gz", io.BytesIO(content)):
        with pytest.raises(ValueError, match="as bombs do"):
            read_votes(source, label="y")
    (tmp_path / "v.npz.gz").write_bytes(b"")
    with pytest.raises(ValueError, match=r"unpack it first; \.npz"):
        read_votes(tmp_path / "v.npz.gz")


def test_several_files_of_one_judge_each(tmp_path):
    for place, judge in enumerate(JUDGES):
        rows = [[item, row[place]] for item, row in zip(ITEMS, SAID.tolist(), strict=True)]
        (tmp_path / f"{judge}.csv").write_text(csv(["item", "answer"], rows))
    (tmp_path / "gold.csv").write_text(csv(["item", "truth"], list(zip(ITEMS, TRUTH, strict=True))))
    paths = [tmp_path / f"{judge}.csv" for judge in JUDGES]
    assert_same(read_votes(paths, item="item", gold=tmp_path / "gold.csv"))
    assert_same(read_votes(paths, item="item", vote="answer", gold=tmp_path / "gold.csv", label="truth"))
    by_judge = dict(zip(JUDGES, paths, strict=True))
    assert_same(read_votes(by_judge, item="item", gold=tmp_path / "gold.csv"))
    with pytest.raises(ValueError, match="joined by item: say item="):
        read_votes(paths, gold=tmp_path / "gold.csv")
    halves = LONG_CSV.splitlines()[1:]
    header = LONG_CSV.splitlines()[0]
    for name, lines in (("one", halves[:100]), ("two", halves[100:])):
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]))
    assert_same(read_votes([tmp_path / "one.csv", tmp_path / "two.csv"], **LONG))


def test_labels_of_their_own():
    votes = csv(["item", *JUDGES], [[i, *row] for i, row in zip(ITEMS, SAID.tolist(), strict=True)])
    gold = csv(["item", "gold"], [*zip(ITEMS, TRUTH, strict=True)][::-1])
    assert_same(read(votes, item="item", gold=io.BytesIO(gold.encode())))
    rows = [{"item": item, "truth": truth, "by": "eve"} for item, truth in zip(ITEMS, TRUTH, strict=True)]
    assert_same(read(votes, item="item", gold=rows, label="truth"))
    with pytest.raises(ValueError, match="gold= needs item="):
        read(votes, gold=rows, label="truth")
    with pytest.raises(ValueError, match="say with label= which column"):
        read(votes, item="item", gold=rows)
    with pytest.raises(ValueError, match="'q0' has two different true labels"):
        read(votes, item="item", gold=[*rows, {"item": "q0", "truth": "other"}], label="truth")
    more = [*rows[1:], {"item": "elsewhere", "truth": "no"}]
    found = read(votes, item="item", gold=more, label="truth")
    assert found.notes[0].startswith("1 items of votes have no votes")
    assert found.notes[1].startswith("1 of 120 rows has no true label")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dask"])
def test_tables_in_memory(library, tmp_path):
    columns = {name: [line[name] for line in TRIPLES] for name in TRIPLES[0]}
    module = pytest.importorskip("dask.dataframe" if library == "dask" else library)
    if library == "pyarrow":
        table = module.table(columns)
    elif library == "dask":
        pandas = pytest.importorskip("pandas")
        table = module.from_pandas(pandas.DataFrame(columns), npartitions=3)
    else:
        table = module.DataFrame(columns)
    assert_same(read_votes(table, **LONG))
    if library == "pandas":
        wide = module.DataFrame(flat())
        assert_same(read_votes(wide, item="item", label="gold"))
        series = wide.pop("gold")
        assert_same(read_votes(wide, item="item", label=series))
        with pytest.raises(ValueError, match="index of y"):
            read_votes(wide, item="item", label=series.rename(lambda place: place + 1))
        with pytest.raises(ValueError, match="two columns of the same name"):
            read_votes(module.DataFrame([[1, 2]], columns=["a", "a"]), label="a")
    if library == "pyarrow":
        from pyarrow import parquet

        parquet.write_table(table, tmp_path / "long.parquet")
        assert_same(read_votes(tmp_path / "long.parquet", **LONG))


def test_arrays_of_labelling_tools(tmp_path):
    codes = np.array([[-1 if vote is None else int(vote == "yes") for vote in row] for row in SAID])
    truth = (TRUTH == "yes").astype(int)
    np.savez(tmp_path / "lfs.npz", L=codes, Y=truth)
    for found in (
        read_votes(tmp_path / "lfs.npz", abstain=-1),
        read_votes(codes, label=truth, abstain=-1),
        read_votes(codes, label=truth, abstain=["-1"]),
    ):
        assert found.ballots.classes.tolist() == [0, 1]
        assert found.ballots.can_abstain
        words = {0: "no", 1: "yes", None: None}
        assert [[words[vote] for vote in row] for row in found.votes] == SAID.tolist()
    with pytest.warns(VoteWarning, match="-1 is voted for but never true.*abstain="):
        read_votes(tmp_path / "lfs.npz")


@pytest.mark.parametrize("abstain", [-1, "-1", [-1, "skip"]])
def test_codes_for_abstentions(abstain):
    found = read("a,b,y\n-1,1,1\n0,-1.0,0\n1,0,-1\n1,1,1\n", label="y", abstain=abstain)
    assert found.votes.tolist() == [[None, 1], [0, None], [1, 1]]
    assert found.unlabelled.tolist() == [[1, 0]]
    rows = [{"a": -1, "b": "-1", "y": 1}, {"a": 0, "y": 1}, {"a": 1, "y": 0}]
    assert read_votes(rows, label="y", abstain=abstain).votes[:, 0].tolist() == [None, 0, 1]


def test_rows_without_a_label_are_kept_apart():
    def without(text: str) -> str:
        lines = text.splitlines()
        return "\n".join(line.rpartition(",")[0] + "," if line.startswith("q4,") else line for line in lines)

    for found in (read(without(WIDE), label="gold", item="item"), read(without(LONG_CSV), **LONG)):
        assert found.items.tolist() == ITEMS[:4] + ITEMS[5:]
        assert found.votes.tolist() == [row for place, row in enumerate(SAID.tolist()) if place != 4]
        assert found.unlabelled.tolist() == [SAID[4].tolist()]
        assert found.unlabelled_items.tolist() == ["q4"]
        assert found.notes[0].startswith("1 of 120 rows has no true label: nothing is certified on them")
        assert vc.certify(found).notes == found.notes


def test_learning_looks_at_rows_without_a_label(monkeypatch):
    """As if they had been given as other rows; they never count among those that certify."""
    truth = [None if place < 40 else label for place, label in enumerate(TRUTH)]
    found = read_votes(
        [{**row, "gold": label} for row, label in zip(flat(), truth, strict=True)], item="item", label="gold"
    )
    assert len(found.unlabelled) == 40
    certificate = vc.certify(found)
    assert certificate.terms.n_rows == 80
    other = vc.certify(SAID[40:], TRUTH[40:], voters=JUDGES, prior_votes=SAID[:40], validate=False)
    assert certificate.risk == other.risk
    assert certificate.terms == other.terms
    assert certificate.terms.choice != vc.certify(SAID[40:], TRUTH[40:]).terms.choice
    assert certificate.verify(found)
    assert vc.learn(found).risk == certificate.risk
    assert [one.terms.n_rows for one in vc.certify(found, groups=["a", "b"] * 40)] == [40, 40]
    monkeypatch.setattr("votecert.rows.vote_table.FEWEST_UNLABELLED", 41)
    assert vc.certify(found).terms.choice == vc.certify(SAID[40:], TRUTH[40:]).terms.choice


def test_one_line_with_a_label_is_enough():
    found = read("item,who,says,gold\n1,a,no,\n1,b,yes,yes\n2,a,no,no\n", **LONG)
    assert found.y.tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("q0,ann,maybe,{0}", "the judge 'ann' has two different votes on the item 'q0'"),
        ("q0,dan,no,other", "the item 'q0' has two different true labels"),
        (",ann,no,no", r"line \d+ .* has no item"),
        ("q0,,no,no", r"line \d+ .* has no judge"),
    ],
)
def test_contradictions(change, message):
    with pytest.raises(ValueError, match=message):
        read(LONG_CSV + change.format(TRUTH[0]) + "\n", **LONG)


def test_contradictions_in_other_blocks(monkeypatch):
    """What was said first is remembered from block to block."""
    monkeypatch.setattr("votecert.rows.files.delimited.BLOCK_BYTES", 100)
    end = "\nq0,ann," + {"no": "yes", "yes": "no"}[SAID[0, 0]] + f",{TRUTH[0]}\n"
    with pytest.raises(ValueError, match="two different votes"):
        read(LONG_CSV.rstrip() + end, **LONG)
    with pytest.raises(ValueError, match="two different true labels"):
        read(LONG_CSV + "q0,dan,no,other\n", **LONG)


def test_few_lines_that_make_a_huge_table_are_refused(monkeypatch):
    monkeypatch.setattr("votecert.rows.files.long.LARGEST_UNPACKED", 10_000_000)
    text = "item,who,says,gold\n" + "".join(f"{i},w{i},{i % 2},{i % 2}\n" for i in range(5000))
    with pytest.raises(ValueError, match=r"5000 items x 5000 judges, 25000000 bytes.*right one"):
        read(text, **LONG)


def test_saying_the_same_twice_is_no_contradiction():
    assert_same(read(LONG_CSV + "\n".join(LONG_CSV.splitlines()[5:20]) + "\n", **LONG))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (LONG_CSV, {**LONG, "judge": None}, "judge= is missing"),
        (LONG_CSV, {**LONG, "item": None}, "item= is missing"),
        (LONG_CSV, {**LONG, "vote": "gold"}, "'gold' is named as vote and as true label"),
        (LONG_CSV, {**LONG, "judge": "whom"}, r"no column 'whom'. Did you mean 'who'"),
        (LONG_CSV, {"label": "gold", "votes": "says"}, "votes= names a field of nested JSON"),
        (LONG_CSV, {}, "say which column holds the true label"),
        (LONG_CSV.replace("who", "judge"), {}, r"Perhaps: label='gold', ignore='item'"),
        ('{"a": 1, "y": 0}', {}, "Perhaps: label='y'"),
        ('{"a": [1], "y": 0}', {"label": "y"}, "object 1: the field 'a' is nested.*votes='a'"),
        ('{"a": 1, "y": 0}', {"label": "z"}, "no object has the field 'z'"),
        ('{"a": 1, "y": 0}\n{"a": 1, "y": 1', {"label": "y"}, "is not JSON"),
        ('{"a": 1, "y": 0} x', {"label": "y"}, "is not JSON"),
        ('{"a": 1, "a": 0}', {"label": "a"}, "two fields of the same name"),
        ("[1, 2]", {"label": "a"}, "must hold objects"),
        ('{"a": ' + "[" * 100_000, {"label": "a"}, "nested too deeply|is not JSON"),
        ('{"a": 0.5, "y": 0}', {"label": "y"}, "0.5, which is no class label"),
        ('{"a": Infinity, "y": 0}', {"label": "y"}, "Infinity"),
        ('{"i": 1, "v": 3, "y": 0}', {"label": "y", "votes": "v"}, "no list of votes"),
        ('{"i": 1, "v": [{"j": 1}], "y": 0}', {"label": "y", "votes": "v"}, "judge= and vote="),
        (b'{"a": "\xff", "y": 0}', {"label": "y"}, "UTF-8"),
    ],
)
def test_refusals(text, options, message):
    with pytest.raises(ValueError, match=message):
        read(text, **options)


cell = st.sampled_from(["a", "b,c", 'd "e"', "f\ng", "ä", "  h ", "a" * 70])


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.tuples(cell, cell), st.sampled_from("xyz"), min_size=1), st.randoms())
def test_any_long_text_is_read_as_python_reads_it(votes, random):
    """Quotes, line breaks and blanks; compared with a dictionary."""
    lines = [(item, judge, vote) for (item, judge), vote in votes.items()]
    random.shuffle(lines)
    text = io.StringIO()
    writer = csv_module.writer(text, lineterminator="\n")
    writer.writerows([("item", "who", "says", "gold"), *((*line, "x") for line in lines)])
    found = read(text.getvalue(), **LONG, classes=["x", "y", "z"])
    known = {(item.strip(), judge.strip()): vote for item, judge, vote in lines}
    assert found.voters == tuple(sorted({judge for _, judge in known}))
    assert found.items.tolist() == list(dict.fromkeys(item.strip() for item, _, _ in lines))
    for item, row in zip(found.items, found.votes, strict=True):
        assert row.tolist() == [known.get((item, judge)) for judge in found.voters]


def test_fields_that_are_no_voters():
    rows = [{"id": 1, "text": "t", "more": {"x": 1}, "a": "no", "y": "no"}, {"id": 2, "a": "yes", "y": "yes"}]
    found = read_votes(rows, label="y", ignore="id,text,more")
    assert found.voters == ("a",)
    new = read_new_votes(rows, ["no", "yes"], Layout(voters=("a",), n_voters=1))  # by name: no need to say it
    assert new.votes.tolist() == [[0], [1]]
    with pytest.raises(ValueError, match="there are 3 judges for 2 voters without names"):
        read_new_votes(TRIPLES, ["no", "yes"], Layout(item="item", judge="who", vote="says", n_voters=2))


def test_judges_of_a_certificate_who_are_not_there():
    options = {"item": "item", "judge": "who", "vote": "says", "voters": ("bob", "eve")}
    new = read_new_votes(TRIPLES, ["no", "yes"], Layout(**options))
    assert (new.votes[:, 1] == 2).all()
    assert new.notes == ("eve cast no vote here.",)
    with pytest.raises(ValueError, match="none of the voters is there; the judges are ann, bob, cal"):
        read_new_votes(TRIPLES, ["no", "yes"], Layout(**options | {"voters": ("eve",)}))


def test_groups_of_items():
    text = "item,who,says,gold,where\n1,a,no,no,eu\n1,b,yes,no,eu\n2,a,yes,yes,us\n"
    assert read(text, **LONG, group="where").groups.tolist() == ["eu", "us"]
    with pytest.raises(ValueError, match="'1' has two different groups"):
        read(text + "1,c,no,no,us\n", **LONG, group="where")


def test_rows_of_one_item_in_a_wide_table_are_noted():
    found = read(
        "item,a,y\n" + "".join(f"{i // 2},{i % 2},{i % 2}\n" for i in range(8)), item="item", label="y"
    )
    assert found.notes[0].startswith("8 rows are about 4 items")


@pytest.mark.parametrize("length", [1, 3, 8, 9, 17, 40, 64, 65, 200])
def test_many_names_of_any_length(length):
    """Enough lines for columns to be compared as words; names that differ in the last place only."""
    names = [("x" * 300 + str(place))[-length:] for place in range(10 ** min(length, 2))]
    rng = np.random.default_rng(0)
    picked = rng.integers(len(names), size=6000)
    votes = rng.integers(2, size=6000)
    lines = [
        f"{row},{names[place]},{vote},1" for row, (place, vote) in enumerate(zip(picked, votes, strict=True))
    ]
    found = read("item,who,says,gold\n" + "\n".join(lines), **LONG, validate=False)
    assert found.voters == tuple(sorted(set(names)))
    expected = np.full((6000, len(found.voters)), None)
    column = {name: place for place, name in enumerate(found.voters)}
    expected[np.arange(6000), [column[names[place]] for place in picked]] = votes
    assert (found.votes == expected).all()
    assert found.items.tolist() == [str(row) for row in range(6000)]


def test_a_field_with_a_dot_in_its_name_is_no_voter():
    rows = [{"ann": "x", "bob": "y", "gold.label": label} for label in ("x", "y")]
    assert read_votes(rows, label="gold.label").voters == ("ann", "bob")


def test_fields_to_ignore_may_have_spaces_between_them():
    rows = [{"ann": "x", "bob": "y", "id": "1", "n": "2", "gold": label} for label in ("x", "y")]
    assert read_votes(rows, label="gold", ignore="id, n").voters == ("ann", "bob")


def test_a_line_without_an_item_is_counted_in_its_file(tmp_path):
    (tmp_path / "ann.csv").write_text("item,says\n1,x\n2,y\n3,x\n")
    (tmp_path / "bob.csv").write_text("item,says\n1,x\n,y\n3,x\n")
    files = [tmp_path / "ann.csv", tmp_path / "bob.csv"]
    with pytest.raises(ValueError, match=r"bob\.csv: line 2 .* has no item"):
        read_votes(files, item="item", gold=io.BytesIO(b"item,gold\n1,x\n2,y\n"))
    gold = io.BytesIO(b"item,gold\n1,x\n,\n,y\n,x\n3,x\n")  # a line without anything says nothing
    with pytest.raises(ValueError, match=r"line 3 .* has no item"):
        read_votes(files[:1], item="item", gold=gold)


def test_several_files_of_nested_json(tmp_path):
    for number in (0, 1):
        rows = [
            {"item": f"{number}{i}", "votes": {"ann": "x", "bob": said}, "gold": said}
            for i, said in enumerate("xyxy")
        ]
        (tmp_path / f"{number}.json").write_text(json.dumps(rows))
    files = [tmp_path / "0.json", tmp_path / "1.json"]
    found = read_votes(files, item="item", votes="votes", label="gold", validate=False)
    assert found.voters == ("ann", "bob")
    assert found.votes.tolist() == [["x", "x"], ["x", "y"]] * 4
    (tmp_path / "ann.csv").write_text("item,says,gold\n1,x,x\n")
    with pytest.raises(ValueError, match="votes= names a field of nested JSON"):
        read_votes([tmp_path / "ann.csv"], item="item", votes="votes", label="gold")

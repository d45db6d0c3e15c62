"""Every format of votes, plain, packed and from stdin, gives one and the same certificate."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma

import numpy as np
import pytest

JUDGES = ["ann", "bob", "cal"]
LONG = ("--item", "item", "--judge", "model", "--vote", "value")
M = 150


def jury() -> list[dict]:
    """Objects with an item, the votes of three judges, some of them missing, and the truth."""
    rng = np.random.default_rng(1)
    found = []
    for place in range(M):
        truth = int(rng.integers(2))
        votes = [int(truth ^ (rng.random() > skill)) for skill in (0.95, 0.8, 0.7)]
        said = [None if i and rng.random() < 0.15 else vote for i, vote in enumerate(votes)]
        found.append({"item": f"q{place}", **dict(zip(JUDGES, said, strict=True)), "gold": truth})
    return found


def cells(rows: list[list]) -> str:
    return "".join(",".join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)


ROWS = jury()
LINES = [
    {"item": row["item"], "model": judge, "value": row[judge], "gold": row["gold"]}
    for row in ROWS
    for judge in JUDGES
    if row[judge] is not None
]


def nested() -> list[dict]:
    return [
        {
            "item": row["item"],
            "votes": [{"model": judge, "value": row[judge]} for judge in JUDGES if row[judge] is not None],
            "gold": row["gold"],
        }
        for row in ROWS
    ]


def json_lines(rows: list[dict]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


TEXTS = {
    "wide.csv": (cells([list(ROWS[0]), *(list(row.values()) for row in ROWS)]), ("--item", "item")),
    "ignored.csv": (cells([list(ROWS[0]), *(list(row.values()) for row in ROWS)]), ("--ignore", "item")),
    "coded.csv": (
        cells([list(ROWS[0]), *([-9 if cell is None else cell for cell in row.values()] for row in ROWS)]),
        ("--item", "item", "--abstain", "-9", "--abstain", "none"),
    ),
    "long.csv": (cells([list(LINES[0]), *(list(line.values()) for line in LINES)]), LONG),
    "flat.jsonl": (json_lines(ROWS), ("--item", "item")),
    "long.jsonl": (json_lines(LINES), LONG),
    "nested.jsonl": (json_lines(nested()), ("--votes", "votes", *LONG)),
    "nested.json": (json.dumps(nested(), indent=1), ("--votes", "votes", *LONG)),
}


def certified(invoke, *arguments, stdin: bytes = b"", label=("--label", "gold")) -> str:
    options = ("--classes", "0,1", "--weights", "uniform", "--json", "-")
    done = invoke("certify", *arguments, *label, *options, stdin=stdin)
    assert done.exit_code == 0, done.stderr
    assert "Note" not in done.stderr
    return done.stdout


@pytest.fixture
def expected(invoke, tmp_path) -> str:
    (tmp_path / "expected.csv").write_text(TEXTS["wide.csv"][0])
    return certified(invoke, "expected.csv", "--item", "item")


@pytest.mark.parametrize("name", TEXTS)
def test_text(invoke, tmp_path, expected, name):
    text, options = TEXTS[name]
    (tmp_path / name).write_text(text)
    assert certified(invoke, name, *options) == expected
    assert certified(invoke, "-", *options, stdin=text) == expected
    for suffix, pack in ((".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)):
        (tmp_path / (name + suffix)).write_bytes(pack(text.encode()))
        assert certified(invoke, name + suffix, *options) == expected
    assert certified(invoke, "-", *options, stdin=gzip.compress(text.encode())) == expected


def test_zstd_parquet_and_arrays(invoke, tmp_path, expected):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    text, options = TEXTS["long.csv"]
    (tmp_path / "long.csv.zst").write_bytes(pa.compress(text.encode(), codec="zstd", asbytes=True))
    assert certified(invoke, "long.csv.zst", *options) == expected
    parquet.write_table(pa.Table.from_pylist(LINES), tmp_path / "long.parquet")
    assert certified(invoke, "long.parquet", *LONG) == expected
    parquet.write_table(pa.Table.from_pylist(ROWS), tmp_path / "wide.parquet")
    assert certified(invoke, "wide.parquet", "--ignore", "item") == expected
    votes = np.array([[-1 if row[judge] is None else row[judge] for judge in JUDGES] for row in ROWS])
    np.savez(tmp_path / "l.npz", L=votes, Y=[row["gold"] for row in ROWS], voters=np.array(JUDGES))
    assert certified(invoke, "l.npz", "--abstain", "-1", label=()) == expected


def test_several_files_and_labels_of_their_own(invoke, tmp_path, expected):
    for judge in JUDGES:
        rows = [["item", "answer"], *([row["item"], row[judge]] for row in ROWS)]
        (tmp_path / f"{judge}.csv").write_text(cells(rows))
    (tmp_path / "gold.csv").write_text(cells([["item", "gold"], *([r["item"], r["gold"]] for r in ROWS)]))
    files = [f"{judge}.csv" for judge in JUDGES]
    assert certified(invoke, *files, "--item", "item", "--gold", "gold.csv", label=()) == expected
    assert certified(invoke, *files, "--item", "item", "--vote", "answer", "--gold", "gold.csv") == expected
    done = invoke("certify", *files, "--label", "gold")
    assert done.exit_code == 2
    assert "--item" in done.stderr


def test_the_other_commands_find_voters_by_name(invoke, tmp_path, expected):
    """In other formats than the one that was certified, and without --ignore."""
    (tmp_path / "c.json").write_text(expected)
    (tmp_path / "wide.csv").write_text(
        "subset,item,cal,bob,ann,gold\n"
        + cells([["x", r["item"], r["cal"], r["bob"], r["ann"], r["gold"]] for r in ROWS])
    )
    (tmp_path / "long.csv").write_text(TEXTS["long.csv"][0] + f"q0,dan,0,{ROWS[0]['gold']}\n")
    for arguments in (("wide.csv",), ("long.csv", *LONG)):
        done = invoke("verify", "c.json", *arguments, "--label", "gold")
        assert done.exit_code == 0, done.stderr
        assert "recounted from the rows" in done.stdout
        done = invoke("report", "c.json", *arguments, "--label", "gold", "--html", "r.html")
        assert done.exit_code == 0, done.stderr
    by_row = invoke("predict", "c.json", "wide.csv").stdout.splitlines()
    by_item = invoke("predict", "c.json", "long.csv", *LONG).stdout.splitlines()
    assert by_item[0] == "item,prediction"
    assert [line.split(",") for line in by_item[1:]] == [
        [row["item"], label] for row, label in zip(ROWS, by_row[1:], strict=True)
    ]


def test_items_without_a_label_are_said_and_do_not_certify(invoke, tmp_path):
    lines = TEXTS["wide.csv"][0].splitlines()
    lines += [f"new{place},1,0,1," for place in range(7)]
    (tmp_path / "v.csv").write_text("\n".join(lines))
    done = invoke("certify", "v.csv", "--label", "gold", "--item", "item", "--json", "c.json")
    assert done.exit_code == 0, done.stderr
    assert "7 of 157 rows have no true label" in done.stderr
    content = json.loads((tmp_path / "c.json").read_text())
    assert content["terms"]["n_rows"] == M
    assert "7 of 157 rows have no true label" in content["notes"][0]
    assert invoke("verify", "c.json", "v.csv", "--label", "gold", "--item", "item").exit_code == 0


TRAPS = {
    "long table": (TEXTS["long.csv"][0], ("--item item --judge model --vote value", "long table")),
    "item column": (TEXTS["wide.csv"][0], ("--ignore item",)),
    "index column": (
        "".join(
            f"{place},{line.partition(',')[2]}\n"
            for place, line in enumerate(TEXTS["wide.csv"][0].splitlines())
        ).replace("0,", ",", 1),
        ("no name", "--ignore 0"),
    ),
    "probabilities": (
        "p,q,gold\n" + "".join(f"{(i * 37 % 101) / 101:.3f},1,{i % 2}\n" for i in range(200)),
        ("probabilities", "--ignore p"),
    ),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_traps(invoke, tmp_path, trap):
    text, words = TRAPS[trap]
    (tmp_path / "v.csv").write_text(text)
    done = invoke("certify", "v.csv", "--label", "gold", "--max-risk", "0.9", "--json", "c.json")
    assert done.exit_code == 2
    assert not (tmp_path / "c.json").exists()
    for word in (*words, "--force"):
        assert word in done.stderr
    forced = invoke("certify", "v.csv", "--label", "gold", "--weights", "uniform", "--force")
    assert forced.exit_code == 0, forced.stderr


def test_without_options_the_remedy_is_told(invoke, tmp_path):
    (tmp_path / "long.csv").write_text(TEXTS["long.csv"][0])
    done = invoke("certify", "long.csv")
    assert done.exit_code == 2
    assert "--item item --judge model --vote value --label gold" in done.stderr


def test_notes_are_printed_stored_and_reported(invoke, tmp_path):
    lines = [line.split(",") for line in TEXTS["wide.csv"][0].splitlines()]
    copied = "\n".join(",".join([*line[1:], line[-1] if i else "copy"]) for i, line in enumerate(lines))
    (tmp_path / "v.csv").write_text(copied)
    done = invoke("certify", "v.csv", "--label", "gold", "--json", "c.json", "--html", "r.html")
    assert done.exit_code == 0, done.stderr
    assert "'copy' is right on every row. Is it a copy" in done.stderr
    assert "right on every row" in json.loads((tmp_path / "c.json").read_text())["notes"][0]
    assert "right on every row" in (tmp_path / "r.html").read_text()
    assert "right on every row" in invoke("report", "c.json", "--markdown", "-").stdout
    assert invoke("verify", "c.json").exit_code == 0

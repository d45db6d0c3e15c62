"""Bad files are refused with their name, the place and the remedy; nothing in them is executed."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

from votecert.rows import vocabulary
from votecert.rows.files import arrays, columns, delimited
from votecert.rows.files import parquet as parquet_reader
from votecert.rows.files.read import read_votes


def read(text: str | bytes, **options):
    options = {"label": "y"} | options
    return read_votes(io.BytesIO(text.encode() if isinstance(text, str) else text), **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,y\n", "no rows"),
        ("y\n1\n", "only one column"),
        ("a,b,x\n1,1,1\n", r"no column 'y'.*a, b, x"),
        ("a,b,yy\n1,1,1\n", r"no column 'y'.*mean 'yy'"),
        ("y,y\n1,0\n", "2 columns are named 'y'"),
        ("a,y\n1,0\n1\n", r"row 2 .* 1 cells .* 2 columns"),
        ("a,y\n1,0,1\n0,1,0\n", r"row 1 .* 3 cells"),
        ("a,b,y\n1,0\n1,0,1,0\n", r"row 1 .* 2 cells"),
        ('a,y\n"1",0\n"1"\n', r"row 2 .* 1 cells"),
        ('a,y\n"1"x,0\n0,1\n', "bad quoting"),
        ('"a,y\n1,0\n', "open quote"),
        ("a,y\n1,\n0,\n", "no row has a true label"),
        ("a,y\n1,1\n1,1\n", r"Only one label, 1,.*classes=\[\.\.\.\]"),
        ("a,y\n1,0\n\xe4\xf6,0\n".encode("latin-1"), "UTF-8"),
        ('a,y\n"1",0\n\xe4\xf6,0\n'.encode("latin-1"), "UTF-8"),
        ("\xe4,y\n1,0\n".encode("latin-1"), "UTF-8"),
        ("a,y\n1,0\n0,1\n".encode("utf-16"), "UTF-8"),
        ("a,y\r1,0\r0,1\r", "line ends"),
        (f"a,y\n{'x' * 1001},0\n1,1\n", "column 'a' holds a text of 1001 characters"),
    ],
)
def test_bad_text(text, message):
    with pytest.raises(ValueError, match=message) as refusal:
        read(text)
    assert "standard input" in str(refusal.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": None}, "say which column holds the true label.*a, b, y"),
        ({"label": 3}, "no column at position 3"),
        ({"label": "-4"}, "no column at position -4"),
        ({"group": "where"}, "no column 'where'"),
        ({"ignore": ["c"]}, "no column 'c'"),
        ({"ignore": ["a", "b"]}, "no column is left for the voters"),
        ({"classes": [0, 1]}, r"column 'b' holds labels that are not among the declared classes: 2"),
    ],
)
def test_bad_choices(options, message):
    with pytest.raises(ValueError, match=message):
        read("a,b,y\n0,2,0\n1,1,1\n", **options)


def test_a_group_must_be_named_in_every_row():
    with pytest.raises(ValueError, match=r"row 2 .* no group in column 'g'"):
        read("a,y,g\n0,1,eu\n1,0,\n", group="g")


def test_too_many_labels_are_no_labels(monkeypatch):
    monkeypatch.setattr(vocabulary, "MOST_LABELS", 50)
    text = "id,y\n" + "".join(f"{i},{i % 2}\n" for i in range(1000))
    with pytest.raises(ValueError, match="column 'id' brings the file to more than 50 different labels"):
        read(text)


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz", "npy"])
def test_missing_files_and_folders(tmp_path, ending):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_votes(tmp_path / f"votes.{ending}", label="y")
    (tmp_path / f"folder.{ending}").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_votes(tmp_path / f"folder.{ending}", label="y")


@pytest.mark.parametrize("name", ["votes", "votes.xlsx", "votes.gz", "votes.csv.zip"])
def test_unknown_kinds(tmp_path, name):
    (tmp_path / name).write_text("a,y\n1,0\n")
    with pytest.raises(ValueError, match=r"must end in \.csv"):
        read_votes(tmp_path / name, label="y")


def bounded(work) -> float:
    """Run, expect a refusal, and return the largest memory in use, in megabytes."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r".") as refusal:
            work()
        return tracemalloc.get_traced_memory()[1] / 1e6, str(refusal.value)
    finally:
        tracemalloc.stop()


class Endless(io.RawIOBase):
    """A file that never ends: whoever reads it must stop by himself."""

    def __init__(self, start: bytes, more: bytes) -> None:
        self._start, self._more = start, more

    def read(self, size: int = -1) -> bytes:
        assert size > 0
        found, self._start = self._start, b""
        return found or (self._more * (size // len(self._more) + 1))[:size]


@pytest.mark.parametrize(
    ("start", "more", "message"),
    [
        (b"", b"x", "line of more than"),
        (b"a,y\n1,0\n", b"1", "line of more than"),
        (b"a,y\n1,0\n", b"1,", "line of more than"),
        (b"a,y\n1,0\n", b'"x', "line of more than"),
        (b'a,y\n1,0\n"', b"1,0\n", "quote may not be closed"),
        (b"a,", b"b,", "line of more than"),
    ],
)
def test_bombs_of_text_are_refused_within_bounded_memory(monkeypatch, start, more, message):
    monkeypatch.setattr(delimited, "LONGEST_LINE", 2_000_000)
    megabytes, said = bounded(lambda: read_votes(Endless(start, more), label="y"))
    assert message in said
    assert megabytes < 12 * delimited.LONGEST_LINE / 1e6


def test_millions_of_columns_are_refused_before_they_are_made():
    text = b"a," * 3_000_000 + b"y\n" + b"1," * 3_000_000 + b"1\n"
    megabytes, said = bounded(lambda: read_votes(io.BytesIO(text), label="y"))
    assert f"more than {columns.MOST_COLUMNS} columns" in said
    assert megabytes < 60


class Malicious:
    """Leaves a trace when unpickled."""

    def __init__(self, trace) -> None:
        self.trace = trace

    def __reduce__(self):
        return (open, (str(self.trace), "w"))


def test_pickles_are_never_loaded(tmp_path):
    trace = tmp_path / "trace"
    payload = pickle.dumps(Malicious(trace))
    objects = np.array([[Malicious(trace), 1]], dtype=object)
    np.save(tmp_path / "objects.npy", objects)
    np.savez(tmp_path / "objects.npz", votes=objects, y=np.array([1]))
    for name in ("raw.npy", "raw.npz", "raw.csv", "raw.parquet", "raw.pkl", "raw.pickle", "raw.joblib"):
        (tmp_path / name).write_bytes(payload)
    with zipfile.ZipFile(tmp_path / "member.npz", "w") as archive:
        archive.writestr("votes.npy", payload)
        archive.writestr("y.npy", payload)
    for path in [*tmp_path.glob("objects.*"), *tmp_path.glob("raw.*"), tmp_path / "member.npz"]:
        with pytest.raises(ValueError, match=path.name):
            read_votes(path, label="y")
    assert not trace.exists()
    pickle.loads(payload).close()  # the trap works
    assert trace.exists()


def test_arrays_of_objects_are_called_what_they_are(tmp_path):
    np.savez(tmp_path / "v.npz", votes=np.array([[None, 1]], dtype=object), y=np.array([1]))
    with pytest.raises(ValueError, match="'votes' holds Python objects, which are stored as a pickle"):
        read_votes(tmp_path / "v.npz")


def npy(shape: str, dtype: str = "|u1", data: bytes = b"") -> bytes:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def test_damaged_npy_headers(tmp_path):
    (tmp_path / "v.npy").write_bytes(npy("(2, 2"))
    with pytest.raises(ValueError, match=r"v.npy is not an npy file that can be read"):
        read_votes(tmp_path / "v.npy", label=0)


def test_npy_headers_as_python_2_wrote_them(tmp_path):
    """They are read, without a warning."""
    (tmp_path / "v.npy").write_bytes(npy("(2L, 2L)", data=b"\0\1\1\0"))
    assert read_votes(tmp_path / "v.npy", label=0).ballots.n_rows == 2


@pytest.mark.parametrize("point", [0x110000, 0xFFFFFFFF, 0xD800])
def test_text_that_is_no_unicode(tmp_path, point):
    text = np.array([["no", "yes"], ["yes", "no"]])
    text.view(np.uint32)[1, 0] = point
    np.save(tmp_path / "v.npy", text)
    np.savez(tmp_path / "v.npz", votes=text, y=np.array(["no", "yes"]))
    for name in ("v.npy", "v.npz"):
        with pytest.raises(ValueError, match=f"{name} .*characters that there are none of"):
            read_votes(tmp_path / name, label=0 if name == "v.npy" else None)


def test_damaged_deflate_data(tmp_path):
    votes = np.random.default_rng(0).integers(2, size=(2000, 3), dtype=np.uint8)
    np.savez_compressed(tmp_path / "v.npz", votes=votes, y=votes[:, 0])
    content = bytearray((tmp_path / "v.npz").read_bytes())
    with zipfile.ZipFile(tmp_path / "v.npz") as archive:
        start = archive.infolist()[0].header_offset
    content[start + 30 + len("votes.npy") + 20] = 0x07  # a block of a type that does not exist
    (tmp_path / "v.npz").write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"v.npz is not an npz file that can be read"):
        read_votes(tmp_path / "v.npz")


@pytest.mark.parametrize("shape", ["(1000000000000, 10)", "(10, 1000000000000)", "(1000000,)"])
def test_arrays_that_claim_more_than_they_hold(tmp_path, shape):
    with zipfile.ZipFile(tmp_path / "v.npz", "w") as archive:
        archive.writestr("votes.npy", npy(shape, data=b"\0" * 100))
    (tmp_path / "v.npy").write_bytes(npy(shape, data=b"\0" * 100))
    for name, message in (("v.npz", "it is damaged"), ("v.npy", "is not an npy file")):
        megabytes, said = bounded(lambda name=name: read_votes(tmp_path / name, label=0))
        assert message in said
        assert megabytes < 5


def test_archives_that_unpack_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "memory_limit", lambda: 100_000)
    np.savez_compressed(tmp_path / "v.npz", votes=np.zeros((100_000, 20), np.uint8), y=np.zeros(100_000))
    megabytes, said = bounded(lambda: read_votes(tmp_path / "v.npz"))
    assert "v.npz" in said
    assert "more than half of this machine's memory" in said
    assert megabytes < 1


def test_archives_of_many_arrays_that_unpack_to_too_much_together(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "memory_limit", lambda: 100_000)
    parts = {f"part{i}": np.zeros(9000, np.uint8) for i in range(20)}
    np.savez_compressed(tmp_path / "v.npz", votes=np.eye(2, dtype=np.uint8), y=np.zeros(2), **parts)
    assert "more than half of this machine's memory" in bounded(lambda: read_votes(tmp_path / "v.npz"))[1]


def test_archives_of_more_arrays_than_anybody_needs(tmp_path):
    with zipfile.ZipFile(tmp_path / "v.npz", "w") as archive:
        for i in range(arrays.MOST_ARRAYS + 1):
            archive.writestr(f"{i}.npy", b"")
    assert "it holds 1001 arrays" in bounded(lambda: read_votes(tmp_path / "v.npz"))[1]


def test_parquet_with_more_votes_than_memory(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    column = pa.array([0, 1] * 500)
    parquet.write_table(pa.table([column] * 11, names=[*"abcdefghij", "y"]), tmp_path / "v.parquet")
    assert read_votes(tmp_path / "v.parquet", label="y").ballots.n_rows == 1000
    monkeypatch.setattr(arrays, "memory_limit", lambda: 9_999)
    with pytest.raises(ValueError, match=r"v.parquet unpacks to 10000 bytes, more than half"):
        read_votes(tmp_path / "v.parquet", label="y")


def test_parquet_that_is_blown_up(tmp_path, monkeypatch):
    """The limits are those of archives: a file of next to nothing stands for any number of equal votes."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.setattr(arrays, "LARGEST_UNPACKED", 1_000_000)
    same, names = pa.array(np.zeros(1_000_000, np.int8)), ["a", "b", "c", "y"]
    parquet.write_table(pa.table([same] * 4, names=names), tmp_path / "bomb.parquet")
    megabytes, said = bounded(lambda: read_votes(tmp_path / "bomb.parquet", label="y"))
    assert "bomb.parquet unpacks to 3000000 bytes, more than 200 times its size, as bombs do" in said
    assert megabytes < 1
    rng = np.random.default_rng(0)
    votes = [pa.array(rng.integers(2, size=400_000, dtype=np.int8)) for _ in names]
    parquet.write_table(pa.table(votes, names=names), tmp_path / "honest.parquet")
    assert read_votes(tmp_path / "honest.parquet", label="y").ballots.n_rows == 400_000


@pytest.mark.parametrize("shared", [True, False])
def test_parquet_with_long_texts(tmp_path, monkeypatch, shared):
    """A text that a million cells share, or one a cell: neither is made a million times."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    n_rows = 200_000 if shared else 100
    texts = pa.array(
        [50_000 * "x", 50_000 * "z"] if shared else [f"{i}" + 50_000 * "x" for i in range(n_rows)]
    )
    places = pa.array(np.arange(n_rows, dtype=np.int32) % len(texts))
    table = pa.table(
        [pa.DictionaryArray.from_arrays(places, texts), pa.array([0, 1] * (n_rows // 2))], ["a", "y"]
    )
    parquet.write_table(
        table, tmp_path / "v.parquet", compression="zstd", use_dictionary=shared, store_schema=False
    )
    monkeypatch.setattr(parquet_reader, "LARGEST_PAGES", 1_000_000)
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(ValueError, match="text of 50000 characters" if shared else "as bombs do"):
        read_votes(tmp_path / "v.parquet", label="y")
    assert pa.default_memory_pool().max_memory() - before < 50_000_000


def test_parquet_whose_columns_contradict_their_statistics(tmp_path):
    """Asked for a column of such a file, some versions of pyarrow abort the whole program."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    words = pa.array(["no", "yes"] * 30)
    parquet.write_table(pa.table([words, words, words], names=["a", "b", "y"]), tmp_path / "v.parquet")
    content = (tmp_path / "v.parquet").read_bytes()
    optional, required = b"\x25\x02\x18\x01b", b"\x25\x00\x18\x01b"  # in the schema, before the name
    assert content.count(optional) == 1
    (tmp_path / "v.parquet").write_bytes(content.replace(optional, required))
    program = (
        "import sys; from votecert.rows.files.read import read_votes; read_votes(sys.argv[1], label='y')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "v.parquet"], capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done.stderr
    assert "terminate" not in done.stderr


def test_archives_that_are_blown_up(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "LARGEST_UNPACKED", 1_000_000)
    votes = np.random.default_rng(0).integers(2, size=(100_000, 20), dtype=np.uint8)
    np.savez_compressed(tmp_path / "honest.npz", votes=votes, y=votes[:, 0])
    assert read_votes(tmp_path / "honest.npz").ballots.n_rows == 100_000
    np.savez_compressed(tmp_path / "bomb.npz", votes=np.zeros((100_000, 20), np.uint8), y=votes[:, 0] * 0)
    megabytes, said = bounded(lambda: read_votes(tmp_path / "bomb.npz"))
    assert "as bombs do" in said
    assert megabytes < 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"votes": np.zeros((2, 2), int)}, "must hold the arrays 'votes' and 'y'; it holds 'votes'"),
        ({"votes": np.zeros(2, int), "y": np.zeros(2, int)}, r"rows x voters, but its shape is \(2,\)"),
        ({"votes": np.eye(2, dtype=int), "y": np.zeros(3, int)}, "one true label a row"),
        ({"votes": np.eye(2), "y": np.array([0.5, 1])}, r"v.npz: y holds 0.5"),
        ({"votes": np.eye(2), "y": np.eye(2)[0], "voters": np.array(["a"])}, "1 names for 2 voters"),
    ],
)
def test_npz_of_the_wrong_layout(tmp_path, content, message):
    np.savez(tmp_path / "v.npz", **content)
    with pytest.raises(ValueError, match=message):
        read_votes(tmp_path / "v.npz")


def test_npz_without_the_groups_asked_for(tmp_path):
    np.savez(tmp_path / "v.npz", votes=np.eye(2, dtype=int), y=np.array([0, 1]), g=np.array([1]))
    with pytest.raises(ValueError, match="no array 'where' of groups"):
        read_votes(tmp_path / "v.npz", group="where")
    with pytest.raises(ValueError, match="one group a row"):
        read_votes(tmp_path / "v.npz", group="g")


def test_npy_of_the_wrong_shape(tmp_path):
    np.save(tmp_path / "v.npy", np.zeros(3, int))
    with pytest.raises(ValueError, match="rows x voters"):
        read_votes(tmp_path / "v.npy", label=0)


def test_parquet_refusals(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "v.parquet"
    for column, error, message in (
        (pa.array([0.5, 1.0]), ValueError, "column 'a' holds 0.5, which is no class label"),
        (pa.array([[1], [2]]), ValueError, "column 'a' is nested"),
        (pa.array([{"x": 1}, {"x": 2}]), ValueError, "column 'a' is nested"),
        (pa.array(["no", "yes"]), TypeError, "column 'a' holds the string 'no' and column 'y' the number 0"),
        (pa.array([1, 2], pa.timestamp("s")), TypeError, "column 'a' holds datetime.*no label"),
        (pa.array([2**63, 1], pa.uint64()), ValueError, "64 bits"),
    ):
        parquet.write_table(pa.table([column, pa.array([0, 1])], names=["a", "y"]), path)
        with pytest.raises(error, match=message):
            read_votes(path, label="y")
    path.write_bytes(b"PAR1 nonsense PAR1")
    with pytest.raises(ValueError, match="is not a parquet file that can be read"):
        read_votes(path, label="y")


def test_parquet_keeps_types(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "v.parquet"
    for values, classes in (
        (["1", "0", None], ["0", "1"]),
        ([True, False, None], [False, True]),
        ([1.0, 0.0, float("nan")], [0, 1]),
    ):
        column = pa.array(values)
        truth = pa.array([values[1], values[0], values[0]])
        parquet.write_table(
            pa.table([column, column.dictionary_encode(), truth], names=["a", "b", "y"]), path
        )
        found = read_votes(path, label="y").ballots
        assert found.classes.tolist() == classes
        assert [type(label) for label in found.classes.tolist()] == [type(label) for label in classes]
        assert found.codes[found.pattern_of_row].tolist() == [[1, 1], [0, 0], [2, 2]]

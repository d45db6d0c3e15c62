"""Labels of every kind become the same codes; anything else is refused with advice."""

from __future__ import annotations

import enum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from votecert.rows.labels import encode, encode_votes

# Rows of two voters over the labels a < b < c, None = no vote, and the true labels.
VOTES = [["a", "b"], ["c", None], ["b", "b"], [None, "a"]]
TRUTH = ["a", "c", "b", "a"]
CODES = [[0, 1], [2, 3], [1, 1], [3, 0]]
LABELS = [0, 2, 1, 0]


def relabel(names):
    """The votes and true labels above with other names for a, b, c (and for no vote)."""
    return [[names[vote] for vote in row] for row in VOTES], [names[label] for label in TRUTH]


def assert_encoded(encoded, classes):
    assert encoded.codes.tolist() == CODES
    assert encoded.codes.dtype == np.uint8
    assert encoded.labels.tolist() == LABELS
    assert encoded.classes.tolist() == classes
    assert encoded.any_missing


STRINGS = {"a": "x", "b": "yes", "c": "zebra", None: None}
NUMBERS = {"a": -3, "b": 0, "c": 70, None: None}
WHOLE_FLOATS = {"a": -1.0, "b": 0.0, "c": 1.0, None: np.nan}


@pytest.mark.parametrize(
    "names", [STRINGS, NUMBERS, WHOLE_FLOATS], ids=["strings", "numbers", "whole floats"]
)
@pytest.mark.parametrize("wrap", [list, lambda rows: np.array(rows, dtype=object)], ids=["lists", "objects"])
def test_lists_and_object_arrays(names, wrap):
    votes, truth = relabel(names)
    assert_encoded(encode(wrap(votes), wrap(truth)), [names[name] for name in "abc"])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_float_arrays_with_nan(dtype):
    votes, truth = relabel(WHOLE_FLOATS)
    encoded = encode(np.array(votes, dtype=dtype), np.array(truth, dtype=dtype))
    assert_encoded(encoded, [-1, 0, 1])
    assert encoded.classes.dtype == np.int64


@pytest.mark.parametrize("names", [("u", "vv", "www"), (0, 1, 2), (5, 6, 7), (-100, 3, 10**12)])
def test_masked_arrays(names):
    votes, truth = relabel(dict(zip("abc", names, strict=True)) | {None: names[0]})
    mask = [[vote is None for vote in row] for row in VOTES]
    assert_encoded(encode(np.ma.array(votes, mask=mask), np.ma.array(truth)), list(names))
    if max(names) == 2:  # these could pass as codes, but for the mask
        votes = np.ma.array(votes, mask=mask, dtype=np.uint8)
        assert_encoded(encode(votes, truth), list(names))


def test_string_dtypes():
    votes, truth = relabel(STRINGS | {None: None})
    variable = np.dtypes.StringDType(na_object=None)
    assert_encoded(encode(np.array(votes, dtype=variable), np.array(truth)), ["x", "yes", "zebra"])


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.uint8, np.int8, np.int64, np.uint64, np.float64, object, ">i4"]
)
def test_binary_arrays_of_every_number_type(dtype):
    votes = np.array([[0, 1], [1, 1]]).astype(dtype)
    encoded = encode(votes, np.array([1, 0]).astype(dtype))
    assert encoded.codes.tolist() == [[0, 1], [1, 1]]
    assert encoded.labels.tolist() == [1, 0]
    assert encoded.classes.dtype == (bool if dtype is np.bool_ else np.int64)
    assert not encoded.any_missing


def test_bools_and_zero_one_are_the_same_labels():
    encoded = encode(np.array([[True, False]]), [0])
    assert encoded.codes.tolist() == [[1, 0]]
    assert encoded.classes.tolist() == [0, 1]
    assert encode([[True, None]], [False]).classes.dtype == bool


def test_enumerations_are_their_values():
    class Verdict(str, enum.Enum):  # noqa: UP042 (whose str() is not its value)
        GUILTY = "guilty"
        FREE = "free"

    encoded = encode([[Verdict.GUILTY, "free"]], np.array(["free"]))
    assert encoded.classes.tolist() == ["free", "guilty"]
    assert all(type(label) is str for label in encoded.classes.tolist())


def test_votes_that_are_codes_are_not_copied():
    votes = np.array([[0, 1], [1, 1]], dtype=np.uint8)
    assert np.shares_memory(encode(votes, [0, 1]).codes, votes)
    assert not np.shares_memory(encode(votes, [0, 1], classes=[1, 0]).codes, votes)


def test_declared_classes_fix_the_order():
    encoded = encode([["no", "yes"]], ["no"], classes=["yes", "no", "maybe"])
    assert encoded.codes.tolist() == [[1, 0]]
    assert encoded.labels.tolist() == [1]
    assert encoded.classes.tolist() == ["yes", "no", "maybe"]
    assert encode(np.array([[7, 2]]), [7], classes=range(8)).codes.tolist() == [[7, 2]]
    assert encode([[7, 7]], [7], classes=np.array([7.0])).codes.tolist() == [[0, 0]]
    assert encode([[True]], [True], classes=[True, False]).classes.dtype == bool


@pytest.mark.parametrize(
    "values", [range(300), range(-150, 150), range(0, 3000, 10)], ids=["0..", "shifted", "gaps"]
)
@pytest.mark.parametrize("dtype", [np.int64, np.float64, object, str])
def test_more_classes_than_a_byte_holds(values, dtype):
    votes = np.array(values).reshape(-1, 2).astype(dtype)
    encoded = encode(votes, votes[:, 0])
    assert encoded.codes.dtype == np.uint16
    assert (encoded.classes[encoded.codes].astype(str) == np.array(values).reshape(-1, 2).astype(str)).all()


def test_255_classes_and_abstentions_fit_a_byte():
    votes = np.arange(256.0).reshape(-1, 2)
    votes[-1, -1] = np.nan
    encoded = encode(votes, votes[:, 0])
    assert encoded.codes.dtype == np.uint8
    assert encoded.codes.ravel().tolist() == list(range(256))


def test_values_that_first_appear_late():
    """Blocks after the first must not be taken for more of the same."""
    for late in (1, 2, 5):
        votes = np.zeros((400_000, 2), dtype=np.int64)
        votes[:200_000] = 3
        votes[-1, 1] = late
        encoded = encode(votes, votes[:, 0])
        assert encoded.classes.tolist() == sorted({0, 3, late})
        assert (encoded.classes[encoded.codes] == votes).all()
    fraction = np.zeros((400_000, 2))
    fraction[0], fraction[-1, 1] = 1, 0.5
    with pytest.raises(ValueError, match=r"votes holds 0\.5"):
        encode(fraction, fraction[:, 0])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data())
def test_codes_are_ranks_in_the_sorted_labels(data):
    pools = [
        st.integers(-3, 3),
        st.sampled_from([-(2**40), -7, 0, 9, 2**62]),
        st.text(alphabet="abB1 é", max_size=3),
        st.integers(-5, 5).map(float),
    ]
    label = data.draw(st.sampled_from(pools))
    n_rows, n_voters = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    row = st.lists(st.one_of(label, st.none()), min_size=n_voters, max_size=n_voters)
    votes = data.draw(st.lists(row, min_size=n_rows, max_size=n_rows))
    truth = data.draw(st.lists(label, min_size=n_rows, max_size=n_rows))
    classes = sorted({vote for row in votes for vote in row if vote is not None} | set(truth))
    if len(classes) == 1:
        classes.append("zz" if isinstance(classes[0], str) else classes[0] + 1)
        encoded = encode(votes, truth, classes=classes)
    else:
        encoded = encode(votes, truth)
    rank = {name: place for place, name in enumerate(classes)} | {None: len(classes)}
    assert encoded.codes.tolist() == [[rank[vote] for vote in row] for row in votes]
    assert encoded.labels.tolist() == [rank[name] for name in truth]
    assert encoded.any_missing == any(None in row for row in votes)
    assert encode_votes(votes, encoded.classes).tolist() == encoded.codes.tolist()


def test_pandas():
    pd = pytest.importorskip("pandas")
    votes, truth = relabel(STRINGS)
    frame = pd.DataFrame(votes, columns=["one", "one"])
    names = ["x", "yes", "zebra"]
    assert_encoded(encode(frame, pd.Series(truth)), names)
    assert_encoded(encode(frame.astype("string"), pd.Series(truth, dtype="string")), names)
    assert_encoded(encode(frame.astype("category"), pd.Categorical(truth)), names)
    votes, truth = relabel(NUMBERS)
    frame = pd.DataFrame(votes, columns=["one", "two"])
    assert_encoded(encode(frame, pd.Series(truth)), [-3, 0, 70])
    assert_encoded(encode(frame.astype("Int64"), pd.array(truth, dtype="Int64")), [-3, 0, 70])
    assert_encoded(encode(frame.astype("Int64").astype("category"), pd.Index(truth)), [-3, 0, 70])
    nullable = pd.array([True, None], dtype="boolean")
    mixed = pd.DataFrame({"one": nullable, "two": [False, True], "silent": [np.nan, np.nan]})
    encoded = encode(mixed, pd.array([True, False], dtype="boolean"))
    assert encoded.codes.tolist() == [[1, 0, 2], [2, 1, 2]]
    assert encoded.classes.dtype == bool


def test_pandas_column_types_may_differ():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"int": [1, 2], "float": [2.0, np.nan], "bool": [True, True], "empty": [None, None]})
    encoded = encode(frame, [1, 2])
    assert encoded.codes.tolist() == [[0, 1, 0, 2], [1, 2, 0, 2]]
    assert encoded.classes.tolist() == [1, 2]


def test_polars():
    pl = pytest.importorskip("polars")
    votes, truth = relabel(STRINGS)
    frame = pl.DataFrame(votes, schema=["one", "two"], orient="row")
    names = ["x", "yes", "zebra"]
    assert_encoded(encode(frame, pl.Series(truth)), names)
    assert_encoded(encode(frame.cast(pl.Categorical), pl.Series(truth)), names)
    votes, truth = relabel(NUMBERS)
    frame = pl.DataFrame(votes, schema=["one", "two"], orient="row")
    assert_encoded(encode(frame, pl.Series(truth)), [-3, 0, 70])


def test_pyarrow():
    pa = pytest.importorskip("pyarrow")
    votes, truth = relabel(STRINGS)
    one, two = zip(*votes, strict=True)
    assert_encoded(encode(pa.table({"one": one, "two": two}), pa.array(truth)), ["x", "yes", "zebra"])


REFUSED = {
    "strings and numbers": (
        [["1", "2"]],
        [1],
        None,
        TypeError,
        r"votes holds the string '1' and y the number 1",
    ),
    "mixed votes": ([["1", 2]], ["1"], None, TypeError, "Strings and numbers cannot be mixed"),
    "classes of another kind": ([[1, 2]], [1], ["1", "2"], TypeError, "classes holds the string '1'"),
    "fractions": (np.array([[0.37, 1]]), [1], None, ValueError, r"votes holds 0.37, .*Turn scores"),
    "fractional objects": ([[1, 0.5]], [1], None, ValueError, "votes holds 0.5"),
    "infinity": (np.array([[np.inf, 1]]), [1], None, ValueError, "votes holds inf"),
    "huge floats": (np.array([[2.0**60, 1]]), [1], None, ValueError, "no class label"),
    "bytes": ([[b"a"]], [1], None, TypeError, "decode"),
    "byte arrays": (np.array([[b"a"]]), [1], None, TypeError, r"votes are of type \|S1"),
    "dates": (np.array([["2020-01-01"]], dtype="M8[D]"), [1], None, TypeError, "datetime64"),
    "complex": ([[1j]], [1], None, TypeError, "of type complex"),
    "lists as labels": (
        np.array([[[1], (2, 3)], [1, 2]], dtype=object),
        [1, 2],
        None,
        TypeError,
        "not lists or arrays",
    ),
    "long numbers": ([[2**70, 1]], [1], None, ValueError, "64 bits"),
    "one voter flat": ([1, 0, 1], [1, 0, 1], None, ValueError, r"reshape\(-1, 1\)"),
    "flat strings": (["a", "b"], ["a", "b"], None, ValueError, r"reshape\(-1, 1\)"),
    "ragged": ([[1, 2], [1]], [1, 2], None, ValueError, "rows differ in length"),
    "three dimensions": (np.zeros((2, 2, 2)), [1, 2], None, ValueError, r"shape is \(2, 2, 2\)"),
    "no rows": ([], [], None, ValueError, "no rows"),
    "no rows but voters": (np.zeros((0, 3)), [], None, ValueError, "no rows"),
    "no voters": (np.zeros((3, 0)), [1, 2, 3], None, ValueError, "no columns"),
    "scalar votes": (3, [1], None, ValueError, r"shape is \(\)"),
    "text as votes": ("yes", [1], None, TypeError, "not a str"),
    "mapping as votes": ({"a": [1]}, [1], None, TypeError, "not a dict"),
    "column y": ([[1, 2]], [[1]], None, ValueError, r"y must have one dimension.*ravel\(\)"),
    "no y": ([[1, 2]], None, None, ValueError, "y must have one dimension"),
    "lengths": ([[1, 2], [2, 1]], [1, 2, 1], None, ValueError, r"2 rows but y has 3 labels: .* needed\.$"),
    "transposed": ([[1, 2, 2], [2, 1, 1]], [1, 2, 1], None, ValueError, "transposed"),
    "missing y": (
        [[1, 2]] * 4,
        [1, None, 2, np.nan],
        None,
        ValueError,
        r"row 1 \(counted from 0\) and 1 more",
    ),
    "missing float y": ([[1, 2]] * 3, np.array([1, 2, np.nan]), None, ValueError, "no label in row 2 "),
    "nothing known": ([[None]], [None], None, ValueError, "no label in row 0"),
    "one class": ([[1, 1]], [1], None, ValueError, "Only one label, 1, .*classes="),
    "unknown vote": ([["a", "c"]], ["a"], ["a", "b"], ValueError, "votes holds labels .*: 'c'"),
    "unknown y": ([["a", "a"]], ["c"], ["a", "b"], ValueError, "y holds labels .*: 'c'"),
    "many unknown": ([list(range(9))], [0], [0, 1], ValueError, "2, 3, 4, 5, 6, ..."),
    "class twice": ([[1, 2]], [1], [1, 2, 1.0], ValueError, "twice"),
    "missing class": ([[1, 2]], [1], [1, 2, None], ValueError, "missing value"),
    "mixed classes": ([[1, 2]], [1], [1, "2"], TypeError, "cannot be mixed"),
    "no classes": ([[1, 2]], [1], [], ValueError, "empty"),
}


@pytest.mark.parametrize(("votes", "truth", "classes", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_with_advice(votes, truth, classes, error, words):
    with pytest.raises(error, match=words):
        encode(votes, truth, classes)


def test_new_votes_are_checked_as_well():
    classes = np.array(["a", "b"])
    with pytest.raises(ValueError, match="not among the classes of the certificate: 'c'"):
        encode_votes([["c"]], classes)
    with pytest.raises(TypeError, match="cannot be mixed"):
        encode_votes([[1]], classes)


def test_missing_pandas_labels_are_refused():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="no label in row 1 "):
        encode([[1], [2]], pd.array([1, pd.NA], dtype="Int64"))

"""Tables: columns are found by the names of the voters, whatever their order."""

from __future__ import annotations

import numpy as np
import pytest

import votecert as vc

NAMES = ("ann", "bob", "cleo")
WEIGHTS = (0.6, 0.3, 0.1)


def columns():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 200)
    other = np.where(y == "no", "yes", "no")
    return {
        name: np.where(rng.random(200) < accuracy, y, other)
        for name, accuracy in zip(NAMES, (0.9, 0.7, 0.6), strict=True)
    }, y


def as_table(library, data):
    if library == "pyarrow":
        return pytest.importorskip("pyarrow").table(data)
    return pytest.importorskip(library).DataFrame(data)


def shuffled(data):
    return {"id": np.arange(200).astype(str)} | {name: data[name] for name in reversed(NAMES)}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_order_of_named_columns_does_not_matter(library):
    data, y = columns()
    certificate = vc.certify(as_table(library, data), y, weights=WEIGHTS)
    assert certificate.voters == NAMES
    expected = certificate.predict(np.column_stack([data[name] for name in NAMES]))
    assert (certificate.predict(as_table(library, data)) == expected).all()
    assert (certificate.predict(as_table(library, shuffled(data))) == expected).all()
    assert certificate.verify(as_table(library, shuffled(data)), y)


def test_reports_and_pictures_find_columns_by_name():
    pytest.importorskip("jinja2"), pytest.importorskip("matplotlib")
    data, y = columns()
    plain, turned = as_table("pandas", data), as_table("pandas", shuffled(data))
    certificate = vc.certify(plain, y, weights=WEIGHTS)
    assert certificate.to_html(votes=turned, y=y) == certificate.to_html(votes=plain, y=y)
    shown = [vc.MarginDisplay.from_certificate(certificate, table, y) for table in (plain, turned)]
    assert (shown[0].leads == shown[1].leads).all()


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_missing_voter_is_named(library):
    data, y = columns()
    certificate = vc.certify(as_table(library, data), y, weights=WEIGHTS)
    with pytest.raises(ValueError, match="no column for the voter 'ann'"):
        certificate.predict(as_table(library, {"bob": data["bob"], "cleo": data["cleo"], "dan": data["bob"]}))


@pytest.mark.parametrize("name", ["predict", "columns", "column_names", "select"])
def test_a_voter_may_have_any_name(name):
    data, y = columns()
    data = {name: data["ann"], "bob": data["bob"], "cleo": data["cleo"]}
    certificate = vc.certify(as_table("pandas", data), y, weights=WEIGHTS)
    assert certificate.voters == (name, "bob", "cleo")
    turned = as_table("pandas", dict(reversed(data.items())))
    assert (certificate.predict(turned) == certificate.predict(as_table("pandas", data))).all()


def test_voters_that_were_named_otherwise_go_by_position():
    pandas = pytest.importorskip("pandas")
    data, y = columns()
    certificate = vc.certify(pandas.DataFrame(data), y, weights=WEIGHTS, voters=["a", "b", "c"])
    votes = np.column_stack([data[name] for name in NAMES])
    assert (certificate.predict(pandas.DataFrame(data)) == certificate.predict(votes)).all()


@pytest.mark.parametrize("kind", [dict, "Series"])
def test_weights_are_found_by_name(kind):
    pandas = pytest.importorskip("pandas")
    data, y = columns()
    table = pandas.DataFrame(data)
    named = dict(zip(reversed(NAMES), reversed(WEIGHTS), strict=True))
    make = dict if kind is dict else pandas.Series
    expected = vc.certify(table, y, weights=WEIGHTS)
    assert vc.certify(table, y, weights=make(named)) == expected
    assert vc.certify(table, y, weights=make(named), voters=NAMES) == expected
    assert vc.compare(table, y, weights=make(named), bounds=["fo"])["fo"].weights == pytest.approx(WEIGHTS)
    with pytest.raises(ValueError, match="no weight for the voter 'ann'"):
        vc.certify(table, y, weights=make({"bob": 0.5, "cleo": 0.5}))


def test_weights_with_names_that_nobody_has():
    data, y = columns()
    votes = np.column_stack([data[name] for name in NAMES])
    named = dict(zip(NAMES, WEIGHTS, strict=True))
    with pytest.raises(ValueError, match="need voters with names"):
        vc.certify(votes, y, weights=named)
    with pytest.raises(ValueError, match="no voter 'dan'; the voters are ann, bob, cleo"):
        vc.certify(votes, y, weights=named | {"dan": 0.0}, voters=NAMES)


def test_a_series_without_names_goes_by_position():
    pandas = pytest.importorskip("pandas")
    data, y = columns()
    table = pandas.DataFrame(data)
    assert vc.certify(table, y, weights=pandas.Series(WEIGHTS)) == vc.certify(table, y, weights=WEIGHTS)


def test_other_rows_to_learn_on_are_found_by_name():
    data, y = columns()
    plain, turned = as_table("pandas", data), as_table("pandas", shuffled(data))
    found = [vc.learn(plain, y, prior_votes=prior, prior_y=y).evaluation for prior in (plain, turned)]
    assert found[0] == found[1]
    made = [vc.certify(plain, y, prior_votes=prior, prior_y=y) for prior in (plain, turned)]
    assert made[0] == made[1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_label_column_is_no_voter(library):
    data, y = columns()
    table = as_table(library, data | {"truth": y})
    for make in (vc.certify, vc.compare, vc.learn):
        with pytest.raises(ValueError, match="column 'truth', which is among the votes"):
            make(table, table["truth"])
    votes = as_table(library, data)
    assert vc.certify(votes, table["truth"]) == vc.certify(votes, y)


def test_repeated_names_are_refused_at_once():
    pandas = pytest.importorskip("pandas")
    data, y = columns()
    votes = np.column_stack([data[name] for name in NAMES])
    table = pandas.DataFrame(votes, columns=["a", "a", "b"])
    for make in (vc.certify, vc.compare):
        with pytest.raises(ValueError, match="2 voters are named 'a'"):
            make(table, y)
        with pytest.raises(ValueError, match="2 voters are named 'x'"):
            make(votes, y, voters=["x", "y", "x"])
    certificate = vc.certify(table.set_axis(["a", "b", "c"], axis=1), y, weights=WEIGHTS)
    with pytest.raises(ValueError, match="'a' occurs more than once"):
        certificate.predict(pandas.concat([table.set_axis(["a", "b", "c"], axis=1), table[["a"]]], axis=1))


def test_lazy_tables_are_to_be_collected():
    polars = pytest.importorskip("polars")
    data, y = columns()
    table = polars.DataFrame(data)
    certificate = vc.certify(table, y)
    lazy, labels = table.lazy(), polars.DataFrame({"y": y}).lazy()
    for ask in (
        lambda: vc.certify(lazy, y),
        lambda: vc.certify(table, labels),
        lambda: vc.learn(lazy, y),
        lambda: certificate.predict(lazy),
        lambda: certificate.verify(lazy, y),
        lambda: vc.collect_votes([vc.DecisionStumps().fit([[0], [1]], [0, 1])], lazy),
        lambda: vc.CertifiedVotingClassifier().fit(lazy, y),
    ):
        with pytest.raises(TypeError, match=r"collect it first, as in frame\.collect\(\)"):
            ask()


def test_new_rows_with_unknown_labels_say_what_to_do():
    data, y = columns()
    votes = np.column_stack([data[name] for name in NAMES])
    certificate = vc.certify(votes, y)
    votes[3, 1] = "maybe"
    with pytest.raises(ValueError, match=r"classes of the certificate: 'may.*certify anew with classes="):
        certificate.predict(votes)

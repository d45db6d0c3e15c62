from __future__ import annotations

import math

import numpy as np
import pytest
from problems import voted
from sklearn.tree import DecisionTreeClassifier

import votecert as vc
from votecert.bounds.gibbs import Binomial
from votecert.numerics import clopper_pearson_upper

CLASSES = ["ham", "spam"]


def data(m=400, accuracies=(0.9, 0.8, 0.7, 0.6), seed=0):
    return voted(m, accuracies, seed=seed, names=CLASSES)


def test_defaults_follow_where_the_weights_come_from():
    votes, y = data()
    assert vc.certify(votes, y).bound == "occam"
    assert vc.certify(votes, y, weights=[0.4, 0.3, 0.2, 0.1]).bound == "dirichlet"
    uniform = vc.certify(votes, y, weights="uniform")
    assert (uniform.bound, uniform.origin) == ("test-set", "fixed")
    assert uniform.risk == pytest.approx(
        float(clopper_pearson_upper(uniform.errors, 400, math.log(0.05))), rel=1e-9
    )


def test_weights_that_were_fixed_in_advance_have_to_be_called_so():
    votes, y = data()
    theta = [0.4, 0.3, 0.2, 0.1]
    fixed = vc.certify(votes, y, weights=theta, fixed_in_advance=True)
    assert (fixed.bound, fixed.origin, fixed.is_guarantee) == ("test-set", "fixed", True)
    assert any("fixed without looking" in line for line in fixed.assumptions)
    given = vc.certify(votes, y, weights=theta, bound="test-set")
    assert (given.risk, given.is_guarantee) == (fixed.risk, False)
    assert given.statement.startswith("NOT A GUARANTEE")
    assert "fixed_in_advance=True" in given.statement
    again = vc.Certificate.from_json(fixed.to_json())
    assert again.is_guarantee
    assert again.verify(votes, y)


@pytest.mark.parametrize("bound", ["occam", "dirichlet", "fo", "test-set"])
def test_predict_is_the_certified_predictor(bound):
    votes, y = data()
    certificate = vc.certify(votes, y, weights=[0.4, 0.3, 0.2, 0.1], bound=bound)
    assert np.mean(certificate.predict(votes) != y) == certificate.empirical_risk
    assert set(certificate.predict(votes)) <= set(CLASSES)
    assert certificate.weights.sum() == pytest.approx(1)


def test_ties_go_to_the_first_declared_class():
    votes, y = [["b", "a"]] * 10, ["b"] * 10
    first = vc.certify(votes, y, weights="uniform", classes=["b", "a"])
    second = vc.certify(votes, y, weights="uniform", classes=["a", "b"])
    assert (first.errors, second.errors) == (0, 10)
    assert first.ties == second.ties == 10
    assert first.predict(votes)[0] == "b"
    assert second.predict(votes)[0] == "a"


def test_best_splits_delta_and_keeps_the_ledger():
    votes, y = data()
    best = vc.certify(votes, y, weights=[0.4, 0.3, 0.2, 0.1], bound="best")
    assert best.delta == 0.05
    assert math.fsum(best.ledger.values()) <= 0.05 * (1 + 1e-12)
    assert {"occam", "dirichlet", "bin-margin"} == {name.split()[0].rstrip(":") for name in best.ledger}
    assert best.verify(votes, y)


def test_groups_share_delta_and_the_predictor():
    votes, y = data()
    table = vc.certify(votes, y, groups="class")
    assert [certificate.group for certificate in table] == CLASSES
    assert all(certificate.delta == 0.025 for certificate in table)
    assert table["ham"].predictor == table["spam"].predictor
    assert sum(certificate.terms.n_rows for certificate in table) == 400
    assert table["ham"].verify(votes[y == "ham"], y[y == "ham"])
    own = vc.certify(votes, y, groups=["x"] * 100 + ["y"] * 300, weights="uniform")
    assert [certificate.terms.n_rows for certificate in own] == [100, 300]


def test_prior_changes_the_bound_and_must_fit():
    votes, y = data()
    theta = [0.7, 0.1, 0.1, 0.1]
    plain = vc.certify(votes, y, weights=theta, bound="fo").risk
    informed = vc.certify(votes, y, weights=theta, bound="fo", prior=theta).risk
    assert informed < plain
    with pytest.raises(ValueError, match="one number a voter"):
        vc.certify(votes, y, weights=theta, bound="fo", prior=[1, 2])
    with pytest.raises(ValueError, match="positive"):
        vc.certify(votes, y, weights=theta, bound="fo", prior=[1, 2, 0, 1])


def test_a_bound_with_options_can_be_passed():
    votes, y = data()
    few = vc.certify(votes, y, weights="uniform", bound=Binomial(n_draws=5))
    assert few.options == {"n_draws": 5}
    assert few.verify()


def test_statement_says_what_is_guaranteed_for_which_predictor():
    votes, y = data()
    sentence = vc.certify(votes, y, weights="uniform").statement
    assert "95 %" in sentence
    assert "hard vote of 4 voters" in sentence
    assert "smallest class" in sentence
    published = vc.certify(votes, y, weights=[0.4, 0.3, 0.2, 0.1], bound="dirichlet-margin-published")
    assert published.statement.startswith("NOT A GUARANTEE")
    assert "NOT A GUARANTEE" in repr(published)
    assert not published.is_guarantee
    nothing = vc.certify(votes[:1], y[:1], weights=[0.4, 0.3, 0.2, 0.1], bound="so", classes=CLASSES)
    assert nothing.risk == 1.0
    assert nothing.reason in nothing.statement


def test_assumptions_tell_what_was_declared_and_what_inferred():
    votes, y = data()

    def inferred(**declared):
        certificate = vc.certify(votes, y, weights="uniform", **declared)
        again = vc.Certificate.from_json(certificate.to_json())
        assert again == certificate
        assert again.intact
        assert again.assumptions == certificate.assumptions
        return [line.split(",")[0].split(" (")[0] for line in again.assumptions if "inferred" in line]

    assert inferred() == ["The classes", "No voter abstains"]
    assert inferred(classes=CLASSES) == ["No voter abstains"]
    assert inferred(can_abstain=False) == ["The classes"]
    assert inferred(classes=CLASSES, can_abstain=False) == []
    votes = votes.astype(object)
    votes[0, 0] = None  # it is seen that voters abstain: nothing is assumed then
    assert inferred(classes=CLASSES) == []
    scores = np.stack([(y == name)[:, None] * np.ones(3) for name in CLASSES], axis=2)
    soft = vc.certify(y=y, scores=scores, weights="uniform", classes=CLASSES)
    assert not any("inferred" in line for line in soft.assumptions)


def test_citation_is_bibtex_of_what_was_used():
    votes, y = data()
    text = vc.certify(votes, y, weights="uniform", bound="fo").cite()
    assert "langford2003" in text
    assert "votecert" in text
    assert text.count("@") == 3


def test_abstentions_and_fallback():
    votes = np.array([["a", None], [None, None], ["b", "b"], ["a", "a"]] * 30, dtype=object)
    y = np.array(["a", "b", "b", "a"] * 30)
    without = vc.certify(votes, y, weights="uniform")
    with_fallback = vc.certify(votes, y, weights="uniform", fallback="b")
    assert (without.errors, with_fallback.errors) == (30, 0)
    assert with_fallback.predict([[None, None]])[0] == "b"
    assert with_fallback.risk < without.risk
    with pytest.raises(ValueError, match="not one of the classes"):
        vc.certify(votes, y, fallback="z")


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"delta": 0}, ValueError, "between 0 and 1"),
        ({"delta": 1.5}, ValueError, "between 0 and 1"),
        ({"delta": "0.05"}, TypeError, "must be a number"),
        ({"weights": "best"}, ValueError, "'learn', 'uniform'"),
        ({"weights": [0.5, 0.5]}, ValueError, "4 in all"),
        ({"weights": [0.5, 0.5, 0.5, 0.5]}, ValueError, "sum to 2 and must sum to 1"),
        ({"weights": [1.5, -0.5, 0, 0]}, ValueError, "negative"),
        ({"weights": [np.nan, 0.5, 0.5, 0]}, ValueError, "missing or infinite"),
        ({"bound": "nonsense"}, ValueError, "Known bounds"),
        ({"bound": "ocam"}, ValueError, "Did you mean 'occam'?"),
        ({"wieghts": "uniform"}, TypeError, "no option 'wieghts'. Did you mean 'weights'?"),
        ({"time_bugdet": 1}, TypeError, "Did you mean 'time_budget'?"),
        ({"bound": "test-set"}, ValueError, "does not cover weights learned"),
        ({"fixed_in_advance": True}, ValueError, "learned on these rows cannot"),
        ({"weights": "uniform", "split": 0.1}, TypeError, "only be used with weights='learn'"),
        ({"groups": "gender"}, ValueError, "'class', 'predicted' or one label a row"),
        ({"groups": [1, 2]}, ValueError, "400 in all"),
        ({"voters": ["one"]}, ValueError, "1 names for 4 voters"),
        ({"classes": ["ham", "eggs"]}, ValueError, "spam"),
    ],
)
def test_bad_arguments_say_what_to_do(change, error, match):
    votes, y = data()
    with pytest.raises(error, match=match):
        vc.certify(votes, y, **change)


def test_a_model_in_place_of_votes():
    y = data()[1]
    model = DecisionTreeClassifier().fit(np.arange(len(y))[:, None], y)
    with pytest.raises(TypeError, match=r"votes is a DecisionTreeClassifier.*collect_votes"):
        vc.certify(model, y)


def test_missing_arguments_say_what_to_do():
    votes, y = data()
    with pytest.raises(TypeError, match="true labels"):
        vc.certify(votes)
    with pytest.raises(TypeError, match="either votes"):
        vc.certify(None, y)


def test_names_of_voters_come_from_a_table():
    pandas = pytest.importorskip("pandas")
    votes, y = data()
    certificate = vc.certify(pandas.DataFrame(votes, columns=list("abcd")), y, weights="uniform")
    assert certificate.voters == ("a", "b", "c", "d")

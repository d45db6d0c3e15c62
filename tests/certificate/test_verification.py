"""JSON round trips, and verification that notices every edited field."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from problems import voted

import votecert as vc
from votecert.bounds.partition import Partition
from votecert.certificate.record import digest
from votecert.numerics.arithmetic import OUTWARD
from votecert.rows.scores import Scores


def data(m=300):
    return voted(m, (0.9, 0.8, 0.7, 0.6))


def certificates():
    votes, y = data()
    table = vc.compare(votes, y, weights=[0.4, 0.3, 0.2, 0.1])
    return {certificate.bound: certificate for certificate in table} | {"learned": vc.certify(votes, y)}


CERTIFICATES = certificates()


@pytest.mark.parametrize("name", CERTIFICATES)
def test_round_trip_and_verification(name):
    votes, y = data()
    certificate = CERTIFICATES[name]
    again = vc.Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.to_json() == certificate.to_json()
    assert again.verify()
    outcome = again.verify(votes, y)
    assert outcome, str(outcome)
    assert outcome.rows_recounted
    assert np.array_equal(again.predict(votes), certificate.predict(votes))


def leaves(value, path=()):
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif isinstance(value, list) and value:
        for place, item in enumerate(value[:3]):
            yield from leaves(item, (*path, place))
    else:
        yield path, value


def edited(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    return "x"


@pytest.mark.parametrize("name", ["learned", "dirichlet", "fo"])
def test_any_edited_field_fails(name):
    content = json.loads(CERTIFICATES[name].to_json())
    for path, value in leaves(content):
        if path == ("votecert_certificate",):
            continue
        copy = json.loads(CERTIFICATES[name].to_json())
        place = copy
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = edited(value)
        try:
            outcome = vc.Certificate.from_json(json.dumps(copy)).verify()
        except ValueError:
            continue  # refused on reading: fails as well
        assert not outcome, f"editing {path} went unnoticed"


@pytest.mark.parametrize("name", ["learned", "dirichlet", "fo", "test-set"])
def test_a_lower_risk_with_a_fresh_digest_fails(name):
    content = json.loads(CERTIFICATES[name].to_json())
    content["risk"] *= 0.9
    content["digest"] = digest(content)
    assert not vc.Certificate.from_json(json.dumps(content)).verify()


def forged(name, path, value):
    """A certificate with one field edited, everything that follows from it made anew, and a fresh digest."""
    content = json.loads(CERTIFICATES[name].to_json())
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    content["digest"] = digest(content)
    certificate = vc.Certificate.from_json(json.dumps(content))
    assert certificate.intact
    formula = certificate.method.formula(OUTWARD, certificate.terms)
    return replace(certificate, risk=min(1.0, float(formula.risk) * (1 + 1e-12)))


UNPAID = [
    ("dirichlet", "margin", 0.123),
    ("dirichlet", "concentration", 1e11),
    ("dirichlet-margin", "margin", 0.123),
    ("dirichlet-margin", "concentration", 1e11),
    ("dirichlet-stochastic", "margin", 0.123),
    ("bg", "margin", 0.123),
    ("bg+", "margin", 0.123),
    ("bg++", "margin", 0.123),
    ("bg++", "draws", 7.5),
    ("bin-margin", "draws", 12345),
    ("cctnd", "offset", 0.7),
    ("ccpbb", "offset", 0.123),
    ("ccpbb", "variance_scale", 0.123),
    ("ccpbb", "bennett_scale", 0.123),
    ("f2", "concentration", 1e11),
    ("learned", "list", "everything"),
]


@pytest.mark.parametrize(("name", "field", "value"), UNPAID)
def test_a_choice_that_was_not_paid_for_fails(name, field, value):
    """The number is what the formula gives at that choice, but delta was not shared over such choices."""
    problem = str(forged(name, ("terms", "choice", field), value).verify())
    assert f"The choice '{field}'" in problem or "not in the grid" in problem or "not below 1/2" in problem


def test_a_member_of_a_list_that_was_not_declared_fails():
    certificate = CERTIFICATES["learned"]
    choice = {**certificate.terms.choice, "list": "none", "statement": "list", "member": "log-odds"}
    terms = replace(certificate.terms, choice=choice)
    risk = certificate.method.formula(OUTWARD, terms).risk
    assert "if and only if one was declared" in str(
        replace(certificate, terms=terms, risk=float(risk)).verify()
    )


@pytest.mark.parametrize("rows", [100, 301])
def test_errors_that_were_counted_on_other_rows_than_all_fail(rows):
    certificate = CERTIFICATES["learned"]
    assert certificate.terms.n_rows == 300
    terms = replace(certificate.terms, statistics={**certificate.terms.statistics, "rows": rows})
    risk = certificate.method.formula(OUTWARD, terms).risk
    outcome = replace(certificate, terms=terms, risk=float(risk) * (1 + 1e-12)).verify()
    assert f"counted on {rows} rows, not on" in str(outcome) or "'rows' is 301" in str(outcome)


def test_a_posterior_of_partition_that_was_not_paid_for_fails():
    votes, y = data()
    certificate = vc.certify(votes, y, weights=[0.4, 0.3, 0.2, 0.1], bound=Partition(family="dirichlet"))
    for change in ({"concentration": 1e11}, {"family": "categorical"}):
        terms = replace(certificate.terms, choice=certificate.terms.choice | change)
        risk = certificate.method.formula(OUTWARD, terms).risk
        outcome = replace(certificate, terms=terms, risk=min(1.0, float(risk) * (1 + 1e-12))).verify()
        assert "concentration" in str(outcome) or "not the one this bound is for" in str(outcome)


def test_a_choice_that_is_not_finite_fails():
    certificate = CERTIFICATES["cctnd"]
    terms = replace(certificate.terms, choice={"offset": -math.inf})
    assert "The choice 'offset' is -inf" in str(replace(certificate, terms=terms).verify())


def test_a_smaller_delta_than_was_spent_fails():
    certificate = CERTIFICATES["dirichlet"]
    less = {name: share / 10 for name, share in certificate.ledger.items()}
    outcome = replace(certificate, delta=certificate.delta / 10, ledger=less).verify()
    assert "ledger" in str(outcome)
    assert "ledger" in str(replace(certificate, ledger={"everything": certificate.delta / 10}).verify())


@pytest.mark.parametrize(("name", "outputs", "match"), [("fo", 1, "outputs"), ("bg", 3, "two classes")])
def test_outputs_that_there_cannot_be_fail(name, outputs, match):
    certificate = CERTIFICATES[name]
    terms = replace(certificate.terms, n_outputs=outputs)
    assert match in str(replace(certificate, terms=terms).verify())


def test_weights_that_do_not_sum_to_one_fail():
    certificate = CERTIFICATES["fo"]
    terms = replace(certificate.terms, weights=tuple(0.9 * w for w in certificate.terms.weights))
    risk = certificate.method.formula(OUTWARD, terms).risk
    outcome = replace(certificate, terms=terms, risk=float(risk) * (1 + 1e-12)).verify()
    assert "with the sum one" in str(outcome)


def test_soft_votes_are_recounted_from_scores():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    right = rng.beta(4, 2, size=(200, 3))
    scores = np.where(y[:, None, None] == [0, 1], right[:, :, None], 1 - right[:, :, None])
    certificate = vc.certify(None, y, scores=scores)
    assert certificate.predictor.kind == "soft"
    assert certificate.verify(scores, y)
    assert not certificate.verify(scores, 1 - y)
    assert np.mean(certificate.predict(scores) != y) <= certificate.empirical_risk


def test_other_rows_fail():
    votes, y = data()
    outcome = CERTIFICATES["dirichlet"].verify(votes, 1 - y)
    assert not outcome
    assert "not verify" in str(outcome)
    assert not CERTIFICATES["dirichlet"].verify(votes[:-1], y[:-1])
    with pytest.raises(ValueError, match="both votes and y"):
        CERTIFICATES["dirichlet"].verify(votes)


@pytest.mark.parametrize("name", ["learned", "dirichlet", "fo", "test-set"])
def test_ballots_are_recounted_like_votes(name):
    votes, y = data()
    certificate = CERTIFICATES[name]
    outcome = certificate.verify(vc.Ballots.from_votes(votes, y))
    assert outcome, str(outcome)
    assert outcome.rows_recounted
    assert not certificate.verify(vc.Ballots.from_votes(votes, 1 - y))
    assert not certificate.verify(vc.Ballots.from_votes(votes[1:], y[1:]))


def test_a_group_is_verified_from_a_part_of_the_ballots():
    votes, y = data()
    ballots = vc.Ballots.from_votes(votes, y)
    table = vc.certify(ballots, groups="class")
    assert table["0"].verify(ballots.subset(y == 0))
    assert not table["0"].verify(ballots.subset(y == 1))


def test_scores_that_were_read_before_are_recounted():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100)
    scores = rng.dirichlet(np.ones(2), size=(100, 3)) + 0.5 * np.eye(2)[y][:, None]
    rows = Scores.from_scores(scores, y)
    certificate = vc.certify(rows)
    assert certificate.verify(rows)
    assert not certificate.verify(Scores.from_scores(scores, 1 - y, classes=[0, 1]))
    with pytest.raises(ValueError, match="soft vote"):
        certificate.verify(vc.Ballots.from_votes(*data()))


def test_ballots_must_be_read_as_the_certificate_says():
    votes, y = data()
    with pytest.raises(ValueError, match=r"classes=\[0, 1\] and can_abstain=False"):
        CERTIFICATES["fo"].verify(vc.Ballots.from_votes(votes, y, classes=[1, 0]))
    with pytest.raises(ValueError, match="can_abstain=False"):
        CERTIFICATES["fo"].verify(vc.Ballots.from_votes(votes, y, can_abstain=True))
    with pytest.raises(ValueError, match="leave y out"):
        CERTIFICATES["fo"].verify(vc.Ballots.from_votes(votes, y), y)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("not json", "not valid JSON"),
        ("[]", "not a certificate"),
        ('{"votecert_certificate": 99}', "schema version"),
        ('{"votecert_certificate": 1}', "incomplete"),
    ],
)
def test_files_that_are_no_certificates(text, match):
    with pytest.raises(ValueError, match=match):
        vc.Certificate.from_json(text)

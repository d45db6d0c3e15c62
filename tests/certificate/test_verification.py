"""JSON round trips, and verification that notices every edited field."""

from __future__ import annotations

import json

import numpy as np
import pytest

import votecert as vc
from votecert.certificate.serial import digest


def data(m=300):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=m)
    return np.where(rng.random((m, 4)) < (0.9, 0.8, 0.7, 0.6), y[:, None], 1 - y[:, None]), y


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

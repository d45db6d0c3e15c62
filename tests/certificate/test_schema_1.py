"""Certificates as version 0.1 wrote them are still read, and still verify."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_forgery import edited, kind

import votecert as vc
from votecert.certificate.record import digest

STORED = json.loads((Path(__file__).parent / "schema_1.json").read_text())


def read(content):
    return vc.Certificate.from_json(json.dumps(content))


@pytest.mark.parametrize("name", STORED)
def test_it_verifies_with_and_without_its_rows(name):
    certificate, (_, votes, y) = read(STORED[name]), kind(name)
    assert certificate.intact
    for outcome in (certificate.verify(), certificate.verify(votes, y)):
        assert outcome, str(outcome)
        assert "another version" in str(outcome)
    assert certificate.risk == STORED[name]["risk"]
    assert list(certificate.predictor.votes) == STORED[name]["predictor"]["votes"]
    assert certificate.predictor.fallback == STORED[name]["predictor"]["fallback"]


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("learned", ("predictor", "offsets"), [9, 0]),
        ("fallback, occam", ("predictor", "fallback"), 0),
        ("fallback, dirichlet", ("predictor", "votes", 0), 1),
        ("best", ("predictor", "votes"), [0, 0, 0, 1]),
        ("fixed", ("is_guarantee",), False),
        ("learned", ("more",), 1),
    ],
)
def test_a_predictor_that_is_not_the_certified_one_fails(name, path, value):
    content = edited(json.dumps(STORED[name]), path, value)
    content["digest"] = digest(content)
    assert not read(content).verify()

"""What a notebook shows of a certificate."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from problems import voted
from report_cases import learned

import votecert as vc

HOSTILE = "<script>alert('\"')</script>\u202e"


def rows(m=300, labels=("bad", "good")):
    return voted(m, [0.9] * 3, names=np.array(labels, dtype=object))


def shown(thing):
    """The text of the HTML, which must be well-formed."""
    return " ".join("".join(ElementTree.fromstring(f"<div>{thing._repr_html_()}</div>").itertext()).split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"split": 0}, ["Guarantee at 95 % confidence", "learned on the very rows", "300 rows"]),
        ({}, ["Guarantee at 95 % confidence", "fitted on some of the rows", "held-out rows"]),
        ({"weights": [0.5, 0.3, 0.2], "bound": "test-set"}, ["NOT A GUARANTEE", "Do not rely on it"]),
        ({"weights": [1, 0, 0], "bound": "f2"}, ["SAYS NOTHING", "100 %"]),
    ],
)
def test_the_verdict_comes_first(options, words):
    certificate = vc.certify(*rows(), **options) if options else learned()[0]
    text = shown(certificate)
    assert text.startswith(words[0])
    assert all(word in text for word in words)
    assert ("<s>" in certificate._repr_html_()) == (not certificate.is_guarantee)


def test_a_table_has_all_certificates_and_says_how_they_hold():
    votes, y = rows()
    table = vc.compare(votes, y)
    assert all(certificate.bound in shown(table) for certificate in table)
    assert "Each holds on its own" in shown(table)
    assert "hold together with 95 % confidence" in shown(vc.compare(votes, y, simultaneous=True))


def test_user_strings_stay_text():
    votes, y = rows(labels=(HOSTILE, "good"))
    certificates = vc.certify(votes, y, groups="class", voters=[HOSTILE, "a", "b"])
    for thing in (certificates, *certificates):
        assert "<script" not in thing._repr_html_()
        assert "\u202e" not in thing._repr_html_()
    assert "<script>alert('\"')</script>\\u202e" in shown(certificates)

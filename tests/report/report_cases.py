"""Certificates to report on, and strings that must stay strings."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np

import votecert as vc

HOSTILE = (
    "<script>alert(1)</script>",
    "</script></style></title><img src=x onerror=alert(2)>",
    "\"quoted\" 'twice' & <b>bold</b>",
    "{{ 7 * 7 }} {% raw %}",
    "👩‍⚖️ judge 🇪🇺",
    "القاضي الأول",
    "שופט",
    "abc\u202etxt.exe",
    "nul\x00 bell\x07 half\ud800",
    "]]><!-- -->",
    "javascript:alert(3)",
    "w" * 300,
)
ACCURACIES = np.linspace(0.9, 0.6, len(HOSTILE))


def rows(m=300, accuracies=(0.9, 0.85, 0.8, 0.7, 0.6), labels=("ham", "spam"), seed=0):
    """Votes and true labels of a small panel."""
    rng = np.random.default_rng(seed)
    c = len(labels)
    y = rng.integers(c, size=m)
    wrong = (y[:, None] + rng.integers(1, c, size=(m, len(accuracies)))) % c
    votes = np.where(rng.random((m, len(accuracies))) < accuracies, y[:, None], wrong)
    names = np.array(labels, dtype=object)
    return names[votes], names[y]


WEIGHTS = [0.3, 0.25, 0.2, 0.15, 0.1]


@cache
def guarantee():
    votes, y = rows()
    return vc.certify(votes, y, weights=WEIGHTS, bound="occam", classes=["ham", "spam"])


@cache
def not_a_guarantee():
    votes, y = rows()
    return vc.certify(votes, y, weights=WEIGHTS, bound="dirichlet-margin-published")


@cache
def vacuous():
    votes, y = rows(m=6)
    return vc.certify(votes, y, weights=WEIGHTS, bound="fo")


@cache
def weak():
    votes, y = rows(m=300, accuracies=(0.55, 0.55, 0.55))
    return vc.certify(votes, y, weights=[0.5, 0.3, 0.2], bound="occam")


@cache
def learned():
    """A vote fitted on a part of the rows and certified on the rest, as ``weights="learn"`` may return it."""
    votes, y = rows(m=560, accuracies=tuple(np.linspace(0.95, 0.5, 12)), labels=("a", "b", "c"))
    certificate = vc.certify(votes, y)
    return certificate, votes, y


@cache
def hostile():
    """A certificate, its rows and tables in which every user string is hostile."""
    labels = HOSTILE[:4]
    votes, y = rows(m=400, accuracies=tuple(ACCURACIES), labels=labels)
    kwargs = {"weights": "uniform", "voters": HOSTILE}
    certificate = vc.certify(votes, y, **kwargs)
    groups = np.array(HOSTILE[4:8], dtype=object)[np.arange(400) % 4]
    table = vc.certify(votes, y, groups=groups, **kwargs)
    comparison = vc.compare(votes, y, weights="uniform", bounds=["test-set", "fo"])
    return dataclasses.replace(certificate, group=HOSTILE[0]), votes, y, (comparison, table)


def tampered():
    """A certificate that claims less than its counts support."""
    return dataclasses.replace(guarantee(), risk=guarantee().risk / 2)

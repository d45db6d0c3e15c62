"""What is tried is paid for, what is printed is not too small, and a certificate that claims more fails."""

from __future__ import annotations

from dataclasses import replace

import pytest
from problems import voted

import votecert as vc
from votecert.certificate.text import rounded_up

THETA = [0.4, 0.3, 0.2, 0.1]


@pytest.fixture(scope="module")
def rows():
    return voted(400, [0.9, 0.8, 0.7, 0.6])


def certify(rows, **options):
    return vc.certify(*rows, weights=THETA, delta=0.06, **options)


def test_the_best_of_three_is_the_smallest_at_a_third_of_delta(rows):
    best = certify(rows, bound="best")
    each = [
        vc.certify(*rows, weights=THETA, delta=0.02, bound=name)
        for name in ("occam", "dirichlet", "bin-margin")
    ]
    assert best.risk == min(one.risk for one in each)
    assert sum(best.ledger.values()) == pytest.approx(0.06, rel=1e-12)
    assert len([name for name in best.ledger if "not used" in name]) == 2


def test_bounds_that_hold_together_share_delta(rows):
    names = ["fo", "dirichlet", "gz", "bin-margin"]  # gz is no guarantee and takes no share
    table = vc.compare(*rows, weights=THETA, delta=0.06, bounds=names, simultaneous=True)
    for name in ("fo", "dirichlet", "bin-margin"):
        alone = vc.certify(*rows, weights=THETA, delta=0.02, bound=name)
        assert (table[name].risk, table[name].delta) == (alone.risk, pytest.approx(0.02, rel=1e-12))


def test_only_weights_that_were_fixed_in_advance_have_a_test_set_guarantee(rows):
    assert not certify(rows, bound="test-set").is_guarantee
    assert certify(rows, bound="test-set", fixed_in_advance=True).is_guarantee
    assert "NOT A GUARANTEE" in certify(rows, bound="test-set").statement


@pytest.mark.parametrize("risk", [0.12341, 0.123401, 1e-9, 0.99991, 1 / 3])
def test_printed_risks_are_rounded_up(risk):
    assert risk <= float(rounded_up(risk)) <= risk + 1e-4


@pytest.mark.parametrize("bound", ["occam", "dirichlet", "so", "test-set"])
class TestForged:
    def test_a_risk_that_is_a_little_too_low(self, rows, bound):
        honest = certify(rows, bound=bound)
        assert honest.verify(*rows)
        assert not replace(honest, risk=honest.risk - 1e-8).verify()

    def test_a_ledger_that_spends_too_much(self, rows, bound):
        honest = certify(rows, bound=bound)
        forged = replace(honest, ledger=honest.ledger | {"something else": 0.01})
        assert "spends" in str(forged.verify())

    def test_errors_that_are_not_those_of_the_rows(self, rows, bound):
        honest = certify(rows, bound=bound)
        for errors in (honest.errors - 1, honest.errors + 1):
            assert not replace(honest, errors=errors).verify(*rows)


def test_a_statistic_that_is_a_little_too_low_fails_when_the_rows_are_there(rows):
    for bound in ("dirichlet", "so", "fo"):
        honest = certify(rows, bound=bound)
        lower = honest.terms.statistics | {"empirical": honest.terms.statistics["empirical"] - 1e-7}
        found = honest.method.from_terms(replace(honest.terms, statistics=lower))
        forged = replace(honest, terms=found.terms, risk=found.risk, details=found.details)
        assert forged.risk < honest.risk
        assert not forged.verify(*rows)

from __future__ import annotations

import math

import pytest
from report_cases import WEIGHTS, guarantee, learned, rows, vacuous

import votecert as vc
from votecert.numerics import clopper_pearson_upper
from votecert.report.charts import FACTORS, growth, with_more_rows


@pytest.mark.parametrize("factor", FACTORS)
def test_occam_is_the_binomial_limit_at_the_same_price(factor):
    certificate = guarantee()
    log_share = certificate.details["log_share"] + math.log(0.05)
    exact = clopper_pearson_upper(certificate.errors * factor, 300 * factor, log_share)
    assert with_more_rows(certificate, factor) == pytest.approx(float(exact), rel=1e-9)


def test_held_out_rows_grow_with_the_others():
    certificate, _, _ = learned()
    statistics = certificate.terms.statistics
    log_share = certificate.details["log_share"] + math.log(0.05)
    exact = clopper_pearson_upper(5 * statistics["errors"], 5 * statistics["rows"], log_share)
    assert with_more_rows(certificate, 5) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("factor", FACTORS)
def test_the_test_set_limit_grows_likewise(factor):
    votes, y = rows()
    certificate = vc.certify(votes, y, weights="uniform")
    exact = clopper_pearson_upper(certificate.errors * factor, 300 * factor, math.log(0.05))
    assert with_more_rows(certificate, factor) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("bound", ["dirichlet", "fo", "so", "bin", "f2", "dirichlet-margin", "cctnd"])
def test_more_rows_never_hurt(bound):
    votes, y = rows()
    certificate = vc.certify(votes, y, weights=WEIGHTS, bound=bound)
    risks = [point.y for point in growth(certificate)]
    assert risks[0] == certificate.risk
    assert risks == sorted(risks, reverse=True)
    assert risks[-1] < risks[0]


def test_a_vacuous_certificate_can_become_useful():
    assert growth(vacuous())[-1].y < 1

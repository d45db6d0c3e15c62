"""A new bound is one class and one line of the registry: everything else picks it up by itself."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import checks
import pytest
import test_contract as contract
from problems import problem

import votecert as vc
from votecert import bounds
from votecert.bounds.base import Bound, Value
from votecert.bounds.kinds import Whole
from votecert.rows.predictor import scaled_votes


@dataclass(frozen=True)
class Hoeffding(Bound):
    """Hoeffding's bound for a vote that was fixed in advance: ``k/m + sqrt(log(1/delta) / (2m))``."""

    id: ClassVar[str] = "hoeffding"
    title: ClassVar[str] = "Hoeffding"
    references: ClassVar[tuple[str, ...]] = ("clopper1934",)
    counts_errors: ClassVar[bool] = True
    origins: ClassVar[tuple[str, ...]] = ("fixed",)
    statistics: ClassVar[dict] = {"errors": Whole(0, "n_rows")}

    def measure(self, ballots, weights, choice):
        return {"errors": ballots.errors(scaled_votes(weights), fallback=choice.get("fallback"))}

    def formula(self, ar, terms):
        m = terms.n_rows
        return Value(ar.number(terms.statistics["errors"]) / m + ar.sqrt(-ar.log(terms.delta) / (2 * m)))


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(bounds._REGISTERED, "hoeffding", Hoeffding())
    monkeypatch.setitem(checks.TOLERANCES, "hoeffding", 1e-12)


@pytest.fixture
def rows():
    p = problem("two classes")
    return p.votes, p.y


def test_it_certifies_and_is_verified(rows):
    found = vc.certify(*rows, weights="uniform", bound="hoeffding")
    assert found.is_guarantee
    assert found.risk > vc.certify(*rows, weights="uniform").risk
    again = vc.Certificate.from_json(found.to_json())
    assert again.verify(*rows)
    with pytest.raises(ValueError, match="'errors' is -1"):
        Hoeffding().check(replace(found.terms, statistics={"errors": -1}))


def test_it_refuses_learned_weights(rows):
    with pytest.raises(ValueError, match="does not cover weights learned"):
        vc.certify(*rows, bound="hoeffding")


def test_it_is_compared(rows):
    table = vc.compare(*rows)
    assert table["test-set"].risk < table["hoeffding"].risk
    assert "hoeffding" in vc.compare(*rows, weights="learn", time_budget=0).skipped


def test_the_command_line_lists_it():
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from votecert.cli.app import app

    listed = CliRunner().invoke(app, ["bounds", "--json"])
    assert "hoeffding" in [one["id"] for one in json.loads(listed.stdout)]


def test_it_keeps_the_contract():
    for where in ("two rows", "one voter", "two classes", "abstentions, three classes"):
        contract.test_is_a_probability_and_not_below_its_own_errors("hoeffding", where)
    for check in (
        contract.test_order_of_rows_and_voters_and_names_of_labels_do_not_matter,
        contract.test_compressed_and_uncompressed_rows_agree,
        contract.test_more_confidence_costs_more,
    ):
        check("hoeffding", "three classes")
    contract.test_one_voter_is_never_certified_below_clopper_pearson("hoeffding", 10)
    checks.check_rounding(Hoeffding(), contract.evaluated("hoeffding", "three classes"))


def test_a_default_is_declared():
    defaults = {origin: name for name, bound in vc.BOUNDS.items() for origin in bound.default_for}
    assert defaults == {"learned": "occam", "given": "dirichlet", "fixed": "test-set"}
    assert [name for name, bound in vc.BOUNDS.items() if bound.in_best] == [
        "occam",
        "dirichlet",
        "bin-margin",
    ]


def test_anybody_may_register_one(monkeypatch, rows):
    monkeypatch.delitem(bounds._REGISTERED, "hoeffding")
    bounds.register(Hoeffding())
    bounds.register(Hoeffding())  # as a cell of a notebook that is run again
    assert vc.certify(*rows, weights="uniform", bound="hoeffding").verify(*rows)
    with pytest.raises(ValueError, match="another bound 'fo'"):
        bounds.register(type("Other", (Hoeffding,), {"id": "fo"})())
    with pytest.raises(TypeError, match="not a bound"):
        bounds.register(Hoeffding)


def test_it_is_gone_afterwards(monkeypatch):
    monkeypatch.delitem(bounds._REGISTERED, "hoeffding")
    assert "hoeffding" not in vc.BOUNDS
    with pytest.raises(ValueError, match="There is no bound"):
        bounds.find_bound("hoeffding")

"""The commands ``votecert paper ...``."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from typer.testing import CliRunner

from votecert.cli.app import app
from votecert.paper.catalogue import CATALOGUE
from votecert.paper.cells import FIGURES, plan
from votecert.paper.protocol import votes_of
from votecert.paper.results import read_results


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("VOTECERT_DATA", str(tmp_path / "data"))
    votes_of.cache_clear()
    return lambda *arguments: CliRunner().invoke(app, ["paper", *map(str, arguments)])


def test_from_nothing_to_the_report(invoke, tmp_path):
    options = ("--figure", "margins", "--datasets", "tictactoe", "--trials", 1, "--jobs", 1)
    ran = invoke("run", *options)
    assert ran.exit_code == 0, ran.output
    assert ran.stdout == ""
    assert "6/6 tictactoe/stumps/0/occam" in ran.stderr
    assert len(read_results(tmp_path / "paper" / "results")) == 6 + 1  # and how long it took
    assert "6 of 6 cells are done" in invoke("run", *options).stderr
    assert invoke("figures", "-q").exit_code == 0
    text = (tmp_path / "paper" / "README.md").read_text()
    assert f"6 of {len(plan(FIGURES, CATALOGUE, 5))} cells" in text
    assert re.search(
        r"A run of 6 cells from nothing, voters included, took \d+ minutes with 1 process\.", text
    )


def test_data_set_that_is_not_there(invoke):
    ran = invoke("run", "--figure", "margins", "--datasets", "haberman", "--jobs", 1)
    assert ran.exit_code == 2
    assert "haberman.npz is not in" in ran.stderr
    assert "--download" in ran.stderr


def test_list_of_data_sets(invoke):
    shown = invoke("data")
    assert shown.exit_code == 0
    for part in ("protein", "made by code", "CC BY 4.0"):
        assert part in shown.stdout


@pytest.mark.parametrize("wrong", [("--figure", "pie"), ("--datasets", "iris")])
def test_unknown_names(invoke, wrong):
    ran = invoke("run", *wrong)
    assert ran.exit_code == 2
    assert wrong[1] in ran.stderr


def test_the_authors_programs_are_compared_with(invoke, tmp_path):
    ran = invoke("authors", tmp_path)
    assert ran.exit_code == 2
    assert "records.jsonl" in ran.stderr
    (tmp_path / "records.jsonl").write_text("")
    ran = invoke("authors", tmp_path, "--output", tmp_path / "out")
    assert ran.exit_code == 0, ran.output
    assert "0 of 0 lines agree" in (tmp_path / "out" / "tables" / "authors.md").read_text()

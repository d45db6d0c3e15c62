"""The table of bugs fits the sources and the documentation; ``benchmarks/mutants.py`` tries the bugs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "benchmarks" / "mutant_table.py"
PAGE = ROOT / "docs" / "mutants.md"


def load_table():
    spec = importlib.util.spec_from_file_location("mutant_table", TABLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutant_table"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module.MUTANTS


if not TABLE.exists():
    pytest.skip("only where the repository is", allow_module_level=True)

MUTANTS = load_table()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.breaks}")
def test_each_edit_fits_once_and_its_tests_exist(mutant):
    text = (ROOT / "src" / "votecert" / mutant.file).read_text()
    assert text.count(mutant.old) == 1
    assert mutant.old != mutant.new
    assert (ROOT / mutant.tests[0]).exists()


def test_there_are_many_different_ones():
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS) >= 60


def test_the_documentation_lists_them_all():
    listed = [line.split(" | ")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert listed == [mutant.breaks for mutant in MUTANTS]

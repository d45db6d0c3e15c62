"""``votecert`` offers its names without loading everything behind them."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import votecert as vc


def imported_for_type_checkers() -> dict[str, str]:
    """The home of each public name, as editors and mypy see it."""
    (block,) = [
        node for node in ast.parse(Path(vc.__file__).read_text("utf-8")).body if isinstance(node, ast.If)
    ]
    return {alias.asname: node.module for node in block.body for alias in node.names}


def test_names_are_the_same_for_people_and_for_type_checkers():
    homes = imported_for_type_checkers()
    assert sorted(homes) == vc.__all__
    assert set(vc.__all__) <= set(dir(vc))
    everything: dict[str, object] = {}
    exec("from votecert import *", everything)
    assert set(vc.__all__) <= set(everything)
    for name, home in homes.items():
        __import__(home)
        assert getattr(vc, name) is getattr(sys.modules[home], name)


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'certifie'"):
        vc.certifie  # noqa: B018
    with pytest.raises(ImportError):
        from votecert import certifie  # noqa: F401


@pytest.mark.parametrize(
    ("program", "unneeded"),
    [
        ("import votecert", ["numpy", "scipy", "sklearn"]),
        ("import votecert.cli.app", ["numpy", "scipy", "sklearn", "pandas"]),
        ("import votecert as vc; vc.certify, vc.compare, vc.learn, vc.rows_needed", ["sklearn", "pandas"]),
    ],
)
def test_what_is_not_needed_is_not_loaded(program, unneeded):
    if "cli" in program:
        pytest.importorskip("typer")
    check = f"import sys; {program}; sys.exit(' '.join(set({unneeded!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.stderr.strip() == ""

"""The reference shows every public name and every bound."""

from __future__ import annotations

from pathlib import Path

import pytest

import votecert as vc

PAGES = (Path(__file__).parents[2] / "docs" / "api").glob("*.md")
SHOWN = {
    line.removeprefix("::: ") for page in PAGES for line in page.read_text(encoding="utf-8").splitlines()
}


@pytest.mark.parametrize("name", vc.__all__)
def test_public_name(name: str) -> None:
    assert f"votecert.{name}" in SHOWN


@pytest.mark.parametrize("bound", vc.BOUNDS.values(), ids=vc.BOUNDS)
def test_bound(bound: vc.bounds.Bound) -> None:
    assert f"{type(bound).__module__}.{type(bound).__name__}" in SHOWN

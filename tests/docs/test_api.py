"""The reference shows every public name."""

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

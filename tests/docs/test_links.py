"""Links inside the README and the documentation lead somewhere, and every bound has its theorem."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from votecert import BOUNDS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
MADE_WHEN_BUILT = {
    "index.md",
    "gallery.md",
    "references.md",
    "contributing.md",
    "changelog.md",
    "commands.md",
}


def anchors(page: Path) -> set[str]:
    """Ids of the headings: given ones, or made from the title as the site does."""
    found = set()
    for title in re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
        given = re.search(r"\{#([\w-]+)\}", title)
        slug = re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())
        found.add(given[1] if given else slug)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_internal_links(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        path = path.replace("schemas/", "../src/votecert/schemas/")  # the site has them beside its pages
        target = (page.parent / path).resolve() if path else page
        if target.parent == DOCS and target.name in MADE_WHEN_BUILT:
            continue
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}"


@pytest.mark.parametrize("name", BOUNDS)
def test_every_bound_is_in_the_theory_chapter(name: str) -> None:
    anchor = "bound-" + name.replace("+", "p")
    assert any(anchor in anchors(page) for page in (DOCS / "theory").glob("*.md"))

"""The site as it is built: it makes no request to the network, and works on a phone and a laptop.

Needs the extra ``docs``; the part in a browser also needs Chromium and playwright.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import pytest

import votecert as vc

ROOT = Path(__file__).parents[2]
BUILT_WITH = ("mkdocs", "material", "mkdocstrings", "latex2mathml")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PHONE, LAPTOP = {"width": 390, "height": 844}, {"width": 1440, "height": 900}

pytestmark = pytest.mark.skipif(
    not all(map(find_spec, BUILT_WITH)), reason="the extra 'docs' is not installed"
)

LOOK = r"""() => {
  const text = document.querySelector(".md-content").innerText;
  const page = document.documentElement;
  return {
    wide: page.scrollWidth > page.clientWidth,
    raw: text.match(/\$\$|\\\(|\\\[|:math:|\.\. math::|\$[^$\n]{1,60}\$/g),
    formulas: document.querySelectorAll("math").length,
    missing: [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src),
  };
}"""


class Page(HTMLParser):
    """What a page links to, what it loads, and which anchors it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag != "a":
            self.loaded += [values[name] for name in ("src", "href") if name in values]


def remote(address: str) -> bool:
    return address.startswith(("http:", "https:", "//"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def check_files(site: Path) -> None:
    """No dead link, nothing from the network, every public name."""
    pages = {path: Page(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        assert not [address for address in page.loaded if remote(address)], path
        for link in page.links:
            if remote(link) or link.startswith("mailto:"):
                continue
            name, _, anchor = unquote(link).partition("#")
            start = site if name.startswith("/") else path.parent
            target = (start / name.lstrip("/")).resolve() if name else path
            assert target.exists(), f"{path.name}: {link}"
            assert not anchor or target not in pages or anchor in pages[target].anchors, (
                f"{path.name}: {link}"
            )
    for style in site.rglob("*.css"):
        addresses = re.findall(r"""url\(["']?([^"')]+)""", style.read_text(encoding="utf-8"))
        assert not [address for address in addresses if remote(address)], style
    shown = set().union(*(pages[path].anchors for path in (site / "api").glob("*.html")))
    bounds = {f"{type(bound).__module__}.{type(bound).__name__}" for bound in vc.BOUNDS.values()}
    assert {f"votecert.{name}" for name in vc.__all__} | bounds <= shown


def check_in_browser(site: Path) -> None:
    """Opened from files, as by somebody without a network."""
    from playwright.sync_api import sync_playwright

    asked: list[str] = []
    formulas = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for viewport in (PHONE, LAPTOP):
            tab = browser.new_page(viewport=viewport)  # type: ignore[arg-type]
            tab.set_default_timeout(180_000)  # a busy machine is no failure
            tab.on("request", lambda request: asked.append(request.url))
            for path in sorted(site.rglob("*.html")):
                tab.goto(path.as_uri())
                seen = tab.evaluate(LOOK)
                formulas += seen["formulas"]
                where = f"{path.relative_to(site)} at {viewport['width']}"
                assert not seen["wide"], f"{where}: the page scrolls sideways"
                assert not seen["raw"], f"{where}: {seen['raw']} is no formula yet"
                assert not seen["missing"], f"{where}: {seen['missing']}"
            for start in ("index.html", "theory/dirichlet.html"):
                tab.goto((site / start).as_uri())
                if viewport is PHONE:
                    tab.click("label[for=__search].md-header__button")
                tab.click("input[name=query]")
                tab.keyboard.type("Clopper")
                tab.wait_for_selector(".md-search-result__item")
        browser.close()
    assert formulas > 1000
    assert not [address for address in asked if remote(address)]


def test_site(site: Path) -> None:
    """One test, so that the site is built once, however many processes run tests."""
    check_files(site)
    if CHROMIUM and find_spec("playwright"):
        check_in_browser(site)

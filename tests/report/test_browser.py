"""The report in a real browser. Needs Chromium (Debian: ``apt-get install chromium``) and playwright."""

from __future__ import annotations

import re
import shutil
from itertools import combinations, pairwise

import pytest
from report_cases import (
    HOSTILE,
    WEIGHTS,
    guarantee,
    hostile,
    learned,
    not_a_guarantee,
    rows,
    vacuous,
)

import votecert as vc
from votecert.report import to_html

playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
PHONE, SMALL_PHONE, LAPTOP = (390, 844), (360, 640), (1366, 768)
WHITE, DARK = "rgb(255, 255, 255)", "rgb(21, 24, 28)"


def full_report():
    votes, y = rows()
    groups = vc.certify(votes, y, weights=WEIGHTS, bound="occam", groups=y)
    table = vc.compare(votes, y, weights=WEIGHTS)
    return to_html(guarantee(), votes=votes, y=y, table=[table, groups], title="Spam filter")


def hostile_report():
    certificate, votes, y, tables = hostile()
    return to_html(certificate, votes=votes, y=y, table=tables, title=HOSTILE[1])


def learned_report():
    certificate, votes, y = learned()
    return to_html(certificate, votes=votes, y=y)


def report_on_many():
    votes, y = rows(accuracies=(0.7,) * 60)
    return to_html(vc.certify(votes, y, weights="uniform"), votes=votes, y=y)


REPORTS = {
    "full": full_report,
    "hostile": hostile_report,
    "learned": learned_report,
    "many": report_on_many,
    "not": lambda: to_html(not_a_guarantee(), votes=rows()[0], y=rows()[1]),
    "vacuous": lambda: to_html(vacuous()),
    "triage": lambda: vc.triage(*rows(), weights="uniform", max_risk=0.1, voters=HOSTILE[:5]).to_html(),
    "costs": lambda: vc.certify(*rows(), weights="uniform", costs=[[0, 1], [9, 0]]).to_html(),
    "faultless": lambda: to_html(vc.certify([[0, 0], [1, 1]] * 90, [0, 1] * 90, validate=False)),
}


@pytest.fixture(scope="module")
def browser():
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    for name, make in REPORTS.items():
        (folder / f"{name}.html").write_text(make(), "utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in REPORTS}


class Visit:
    """A page with a record of what it did: messages, errors, dialogs and requests."""

    def __init__(self, browser, address, size=LAPTOP, **options):
        self.context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        self.page, self.noise, self.requests = self.context.new_page(), [], []
        self.page.on("console", lambda message: self.noise.append(message.text))
        self.page.on("pageerror", lambda error: self.noise.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.noise.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.address = address
        self.page.goto(address)


@pytest.fixture
def visit(browser, addresses):
    """Opens reports. Whatever a test does there, no page writes messages or asks for anything but itself."""
    visits = []

    def open_report(name="full", size=LAPTOP, **options):
        visits.append(Visit(browser, addresses[name], size, **options))
        return visits[-1].page

    yield open_report
    for one in visits:
        one.context.close()
        assert one.noise == []
        assert {url for url in one.requests if not url.startswith("data:")} == {one.address}


def test_hostile_strings_run_nothing(visit):
    page = visit("hostile")
    assert page.locator("script").count() == 1
    assert page.locator("img, iframe, object, embed, b").count() == 0
    assert page.title() == f"{HOSTILE[1]}"
    assert page.locator("h1").inner_text() == HOSTILE[1]
    names = page.locator(".voters tbody th").all_inner_texts()
    assert HOSTILE[0] in names
    assert HOSTILE[4] in names


def column(page, table, place):
    return page.locator(f"{table} tbody tr").evaluate_all(
        f"rows => rows.map(row => row.cells[{place}].innerText.trim())"
    )


def numbers(texts):
    return [float(text.split()[0].replace(",", "")) for text in texts]


def test_sorting_by_click(visit):
    page = visit()
    place = page.locator(".voters th", has_text="Wrong alone")
    unsorted = column(page, ".voters", 2)
    place.get_by_role("button").click()
    assert place.get_attribute("aria-sort") == "descending"
    assert numbers(column(page, ".voters", 2)) == sorted(numbers(unsorted), reverse=True)
    place.get_by_role("button").click()
    assert place.get_attribute("aria-sort") == "ascending"
    assert numbers(column(page, ".voters", 2)) == sorted(numbers(unsorted))
    assert page.locator(".voters [aria-sort]").count() == 1


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_sorting_by_keyboard(visit, key):
    page = visit()
    head = page.get_by_role("columnheader", name="Voter")
    head.get_by_role("button").focus()
    page.keyboard.press(key)
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, ".voters", 1) == [f"Voter {place}" for place in range(1, 6)]
    page.keyboard.press(key)
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, ".voters", 1)[0] == "Voter 5"
    assert head.get_by_role("button").evaluate("button => button === document.activeElement")


def test_every_table_that_can_be_sorted_can_be_sorted(visit):
    page = visit()
    assert page.locator("table.sortable").count() == 3
    rows_before = [page.locator(f"table.sortable >> nth={i} >> tbody tr").count() for i in range(3)]
    for head in page.locator("table.sortable th[data-sort]").all():
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") in ("ascending", "descending")
    assert [page.locator(f"table.sortable >> nth={i} >> tbody tr").count() for i in range(3)] == rows_before


def paper(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize(("scheme", "before", "after"), [("light", WHITE, DARK), ("dark", DARK, WHITE)])
def test_the_theme_follows_the_system_and_the_button(visit, scheme, before, after):
    page = visit(color_scheme=scheme)
    button = page.locator("#theme")
    other = {"light": "dark", "dark": "light"}[scheme]
    assert paper(page) == before
    assert button.inner_text() == f"Switch to {other}"  # what it will do
    button.focus()
    page.keyboard.press("Enter")
    assert paper(page) == after
    assert button.inner_text() == f"Switch to {scheme}"
    page.reload()
    assert paper(page) == after


@pytest.mark.parametrize("size", [SMALL_PHONE, PHONE, LAPTOP])
@pytest.mark.parametrize("name", ["full", "learned", "faultless"])
def test_labels_of_the_growth_chart_do_not_collide(visit, name, size):
    texts = visit(name, size).locator("#rows svg text")
    boxes = [texts.nth(k).bounding_box() for k in range(texts.count())]
    assert len(boxes) == 12
    for one, other in combinations(boxes, 2):
        apart = [
            min(one[at] + one[long], other[at] + other[long]) <= max(one[at], other[at])
            for at, long in (("x", "width"), ("y", "height"))
        ]
        assert any(apart)


@pytest.mark.parametrize("clicks", [0, 1])
def test_paper_is_white_whatever_the_theme(visit, clicks):
    page = visit(color_scheme="dark" if clicks == 0 else "light")
    for _ in range(clicks):
        page.locator("#theme").click()
    assert paper(page) == DARK
    page.emulate_media(media="print")
    assert paper(page) == WHITE
    assert not page.locator("#theme").is_visible()


def resize(page, size):
    page.set_viewport_size({"width": size[0], "height": size[1]})


def boxes(page, selector):
    """Left, right, top and bottom of all elements."""
    return page.locator(selector).evaluate_all(
        "all => all.map(one => one.getBoundingClientRect())"
        "  .map(box => [box.left, box.right, box.top, box.bottom])"
    )


@pytest.mark.parametrize("name", REPORTS)
def test_nothing_is_wider_than_the_screen(visit, name):
    page = visit(name)
    page.locator("summary").first.click()
    page.locator("#theme").click()
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    for size in (SMALL_PHONE, PHONE, LAPTOP):
        resize(page, size)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        for left, right, _, _ in boxes(page, "svg text"):
            assert 0 <= left <= right <= size[0]


def test_labels_of_charts_do_not_touch(visit):
    page = visit()
    for size in (SMALL_PHONE, LAPTOP):
        resize(page, size)
        for chart in ("#margins", "#rows"):
            labels = boxes(page, f"{chart} svg.chart text.middle")
            assert len(labels) >= 5
            for one, other in combinations(labels, 2):
                apart_x = one[1] < other[0] or other[1] < one[0]
                apart_y = one[3] <= other[2] or other[3] <= one[2]
                assert apart_x or apart_y


def test_screen_readers_find_landmarks_headings_and_charts(visit):
    page = visit()
    assert page.get_by_role("main").count() == page.get_by_role("banner").count() == 1
    assert page.get_by_role("navigation", name="Sections").count() == 1
    assert page.get_by_role("contentinfo").count() == 1
    levels = [int(head.evaluate("head => head.tagName[1]")) for head in page.get_by_role("heading").all()]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    charts = page.get_by_role("img")
    assert charts.count() == 3
    for name in ("squares stand for", "Rows by the lead of the true class", "The certificate with more rows"):
        assert page.get_by_role("img", name=re.compile(name)).count() == 1
    assert page.get_by_role("rowheader", name="Voter 1").count() == 1


def test_the_keyboard_reaches_everything(visit):
    page = visit()
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the certificate")
    assert skip.evaluate("link => link === document.activeElement")
    assert skip.bounding_box()["y"] >= 0
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "(at => [at.innerText.trim(), getComputedStyle(at).outlineStyle])(document.activeElement)"
        )
        if "How to cite" in name:  # the page itself: once around
            break
        assert outline != "none"
        reached.add(name)
    assert {"Switch to dark", "Meaning", "Weight", "Download certificate.json"} <= reached


def test_the_download_is_the_certificate(visit, tmp_path):
    page = visit()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download certificate.json").click()
    assert download.value.suggested_filename == "certificate.json"
    download.value.save_as(tmp_path / "certificate.json")
    certificate = vc.Certificate.from_json((tmp_path / "certificate.json").read_text("utf-8"))
    assert certificate == guarantee()
    assert certificate.verify()


def test_without_scripts_all_is_readable_and_nothing_is_dead(visit):
    page = visit(java_script_enabled=False)
    assert not page.locator("#theme").is_visible()
    assert page.locator("th button").count() == 0
    assert page.locator(".number").is_visible()
    assert page.locator(".voters tbody tr").count() == 5
    page = visit("many", java_script_enabled=False)
    assert page.locator(".voters tbody tr:visible").count() == 60


def test_many_voters_are_folded(visit):
    page = visit("many")
    shown = page.locator(".voters tbody tr:visible")
    more = page.get_by_role("button", name="Show all 60")
    assert shown.count() == 25
    for _ in range(2):
        page.get_by_role("button", name="Voter").click()  # sorted anew, the first ones of the new order show
    assert shown.count() == 25
    assert shown.first.locator("th").inner_text() == "Voter 60"
    page.emulate_media(media="print")
    assert page.get_by_text("These are 25 of 60").is_visible()
    assert not more.is_visible()
    page.emulate_media(media="screen")
    more.focus()
    page.keyboard.press("Enter")
    assert shown.count() == 60
    assert page.get_by_role("button", name="Show 25 only").get_attribute("aria-expanded") == "true"
    page.emulate_media(media="print")
    assert not page.get_by_text("These are 25 of 60").is_visible()
    assert shown.count() == 60


def test_values_are_shown_on_hover(visit):
    page = visit()
    assert page.locator("svg.chart rect.right title, svg.chart rect.wrong title").count() >= 2
    assert page.locator("svg.chart circle title").count() == 4
    assert page.locator("svg.bar rect.fill title").count() == page.locator("svg.bar").count()


@pytest.mark.parametrize("name", ["full", "not", "vacuous"])
def test_the_verdict_is_on_the_first_screen(visit, name, tmp_path):
    page = visit(name)
    for size in (PHONE, LAPTOP):
        resize(page, size)
        for _, _, top, bottom in boxes(page, ".badge, .number, .sentence"):
            assert 0 <= top < bottom <= size[1]
        page.screenshot(path=tmp_path / "screen.png")
        assert (tmp_path / "screen.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", ["full", "not"])
def test_it_prints_on_a4(visit, name):
    pdf = visit(name).pdf(prefer_css_page_size=True, print_background=True)
    boxes = re.findall(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)\s*\]", pdf)
    assert 3 <= len(boxes) <= 12
    for width, height in boxes:
        assert float(width) == pytest.approx(595.3, abs=1)
        assert float(height) == pytest.approx(841.9, abs=1)


def test_heads_of_tables_are_plain_text_on_paper(visit):
    page = visit()
    head = page.get_by_role("columnheader", name="Weight")
    page.emulate_media(media="print")
    assert head.inner_text() == "Weight"
    assert not head.locator("button").is_visible()


@pytest.mark.parametrize("size", [PHONE, (1100, 800)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_slider_moves_along_the_curve(visit, size, scheme):
    page = visit("triage", size, color_scheme=scheme)
    points = page.locator("#points tbody tr")
    told = page.locator("#readout dd")
    for place in range(points.count()):
        page.locator("#point").fill(str(place))
        assert told.all_text_contents() == points.nth(place).locator("th, td").all_text_contents()
        assert page.locator("#threshold").text_content() == points.nth(place).get_attribute("data-threshold")
        assert [mark.get_attribute("r") for mark in page.locator("#tradeoff .mark").all()].index("9") == place
    assert points.count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    costs = visit("costs", size, color_scheme=scheme)
    assert costs.evaluate("document.documentElement.scrollWidth") <= size[0]

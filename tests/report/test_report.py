from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from report_cases import (
    HOSTILE,
    WEIGHTS,
    guarantee,
    hostile,
    learned,
    not_a_guarantee,
    rows,
    tampered,
    vacuous,
    weak,
)

import votecert as vc
from votecert.certificate.text import percent, visible
from votecert.report import page, to_html
from votecert.report.page import SHOWN_JSON
from votecert.report.tables import SHOWN_VOTERS, fixed_vote_limit

VOID = {"meta", "link", "br", "img", "input", "hr"}
ALLOWED_DATA = re.compile(r"data:(,|application/json;base64,[A-Za-z0-9+/=]+)$")


class Page(HTMLParser):
    """A strict reader: every element is closed in order, and what matters is collected."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(names) == len(set(names)), f"double attribute in {tag}"
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        raise AssertionError(f"self-closed {tag}")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.texts.append(data)

    def all(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]

    @property
    def text(self):
        return " ".join("".join(self.texts).split())


def full_report(**changes):
    votes, y = rows()
    table = vc.compare(votes, y, weights=WEIGHTS)
    groups = vc.certify(votes, y, weights=WEIGHTS, bound="occam", groups=y)
    return to_html(guarantee(), **({"votes": votes, "y": y, "table": [table, groups]} | changes))


@pytest.fixture(scope="module")
def full():
    return Page(full_report(title="Spam filter"))


@pytest.fixture(scope="module")
def hostile_text():
    certificate, votes, y, tables = hostile()
    return to_html(certificate, votes=votes, y=y, table=tables, title=HOSTILE[1])


@pytest.fixture(scope="module")
def hostile_page(hostile_text):
    return Page(hostile_text)


def test_the_number_comes_first_rounded_up_with_a_sentence(full):
    number = percent(guarantee().risk)
    assert float(number.split()[0]) / 100 >= guarantee().risk
    before, after = full.text.split("The vote errs on at most", 1)
    assert len(before) < 200
    assert "Guarantee at 95" in before
    assert after.strip().startswith(number.split()[0])
    assert f"the vote gets at most {' '.join(number.split())} wrong" in full.text


def test_all_sections_are_there_and_linked(full):
    sections = {attributes["id"] for attributes in full.all("section")}
    assert sections == {
        *("meaning", "steps", "predictor", "assumptions", "margins", "bounds", "groups", "voters", "rows"),
        *("ledger", "verify", "cite"),
    }
    links = [attributes["href"] for attributes in full.all("a")]
    assert {link[1:] for link in links if link.startswith("#")} == sections | {"main"}


def test_optional_sections_need_their_data():
    bare = Page(to_html(guarantee()))
    sections = {attributes["id"] for attributes in bare.all("section")}
    assert not sections & {"margins", "bounds", "groups"}
    assert bare.text.count("Risk certificate") == 2  # the title and the heading


def test_what_is_said_is_what_the_certificate_says(full):
    certificate = guarantee()
    for line in [certificate.statement, *certificate.assumptions, certificate.cite()]:
        assert " ".join(line.split()) in full.text
    for name in certificate.ledger:
        assert name in full.text
    assert "votecert verify certificate.json" in full.text
    assert "smallest class in the fixed order" in full.text
    assert percent(fixed_vote_limit(certificate)) in full.text


def ids(document):
    return [attributes["id"] for _, attributes in document.elements if "id" in attributes]


@pytest.mark.parametrize("name", ["full", "hostile_page"])
def test_structure(name, request):
    document = request.getfixturevalue(name)
    assert document.elements[0] == ("html", {"lang": "en"})
    for tag in ("main", "header", "footer", "nav", "h1"):
        assert len(document.all(tag)) == 1, tag
    levels = [int(tag[1]) for tag, _ in document.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(ids(document)) == len(set(ids(document)))
    for _, attributes in document.elements:
        for reference in ("aria-labelledby", "aria-describedby"):
            assert set(attributes.get(reference, "").split()) <= set(ids(document))
    assert all("scope" in attributes for attributes in document.all("th"))
    tables = len(document.all("table"))
    assert tables == len(document.all("caption")) == len(document.all("thead"))


@pytest.mark.parametrize("name", ["full", "hostile_page"])
def test_nothing_is_loaded_from_anywhere(name, request):
    document = request.getfixturevalue(name)
    for tag, attributes in document.elements:
        assert not {"src", "srcset", "action", "style", "background", "poster"} & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")]
        href = attributes.get("href", "#")
        assert href.startswith("#") or ALLOWED_DATA.match(href)
    assert {tag for tag, _ in document.elements} <= {
        *("html", "head", "meta", "title", "link", "style", "body", "a", "svg", "defs", "pattern", "line"),
        *("div", "header", "span", "button", "main", "h1", "h2", "h3", "bdi", "p", "dl", "dt", "dd", "nav"),
        *("ul", "li", "section", "blockquote", "strong", "code", "table", "caption", "thead", "tbody", "tr"),
        *("th", "td", "rect", "details", "summary", "figure", "figcaption", "pre", "footer", "script"),
        *("text", "circle", "desc", "path"),
    }


def test_no_resource_addresses_at_all():
    text = full_report()
    assert not re.search(r"(https?:)?//\w", text.replace("http-equiv", ""))
    assert "@import" not in text
    assert set(re.findall(r"url\((.*?)\)", text)) == {"#hatch-caution", "#hatch-alarm"}


def test_the_policy_allows_exactly_the_own_style_and_script(hostile_text):
    document = Page(hostile_text)
    (policy,) = [
        a["content"] for a in document.all("meta") if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    contents = re.findall(r"<(style|script)\b[^>]*>(.*?)</\1>", hostile_text, re.S)
    assert [kind for kind, _ in contents] == ["style", "style", "script"]
    for _, content in contents:
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_scripts_and_styles_hold_no_user_strings(hostile_text):
    plain = to_html(guarantee())
    contents = [re.findall(r"<(?:style|script)\b[^>]*>(.*?)</", text, re.S) for text in (hostile_text, plain)]
    assert contents[0] == contents[1]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_strings_stay_text(hostile_page, hostile_text, text):
    assert visible(text) in "".join(hostile_page.texts)
    if "<" in text:
        assert text not in hostile_text
    hostile_text.encode()


def test_direction_of_writing_cannot_leak(hostile_text):
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08]", hostile_text)
    for name in HOSTILE[4:7]:
        assert f"<bdi>{html.escape(name)}</bdi>" in hostile_text


def test_the_same_arguments_give_the_same_text():
    assert full_report() == full_report()


def test_the_same_text_in_another_process():
    pytest.importorskip("jinja2")
    script = (
        "import sys, votecert as vc; from votecert.report import to_html; "
        "sys.stdout.write(to_html(vc.Certificate.from_json(sys.stdin.read())))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        input=guarantee().to_json().encode(),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONUTF8": "1"},
    )
    assert run.stdout.decode() == to_html(guarantee())


def test_not_a_guarantee_is_unmistakable():
    votes, y = rows()
    document = Page(to_html(not_a_guarantee(), votes=votes, y=y))
    assert document.text.startswith("NOT A GUARANTEE:")
    assert [a for a in document.all("div") if a.get("class") == "hero warning"]
    assert "Do not rely on it" in document.text
    assert "Guarantee at" not in document.text
    assert "rows" not in {attributes["id"] for attributes in document.all("section")}


def test_a_vacuous_certificate_is_unmistakable():
    document = Page(to_html(vacuous()))
    assert document.text.startswith("SAYS NOTHING:")
    assert [a for a in document.all("div") if a.get("class") == "hero vacuous"]
    assert vacuous().reason in document.text
    assert "Guarantee at" not in document.text


def test_a_limit_no_better_than_guessing_says_so():
    assert 0.5 <= weak().risk < 1
    assert "guessing among 2 classes would do as well" in Page(to_html(weak())).text


def test_bounds_that_are_no_guarantee_are_marked_in_the_comparison(full):
    votes, y = rows()
    table = vc.compare(votes, y, weights=WEIGHTS)
    marked = [a for a in full.all("span") if a.get("class") == "flag warning"]
    hatched = [a for a in full.all("rect") if a.get("class") == "fill warning"]
    invalid = sum(not certificate.is_guarantee for certificate in table)
    assert len(marked) == len(hatched) == full.text.count("NOT A GUARANTEE") == invalid > 0
    for certificate in table:
        assert certificate.method.title in full.text
    assert "picking the smallest afterwards would not be covered" in full.text


def test_the_comparison_holds_the_certificate_itself_once():
    votes, y = rows(accuracies=(0.8,) * 9)
    certificate = vc.certify(votes, y)
    table = vc.compare(votes, y, weights=certificate.weights)
    assert table["occam"].risk < certificate.risk  # which pays for a list of fitted votes as well
    text = to_html(certificate, table=table)
    assert text.count(", this certificate</span>") == 1
    assert "without what else was tried for it" in text
    votes, y = rows()
    same = vc.compare(votes, y, weights=WEIGHTS, bounds=["fo", "occam", "gz"])
    text = to_html(guarantee(), table=same)
    assert text.count(", this certificate</span>") == 1
    assert "without what else was tried for it" not in text
    listed = [float(value) for value in re.findall(r'data-value="([\d.]+)">[\d.]+.%</td></tr>', text)]
    assert guarantee().risk in listed


def test_a_group_is_told_apart_from_the_others():
    votes, y = rows()
    groups = vc.certify(votes, y, weights=WEIGHTS, bound="occam", groups=y)
    worst = max(groups, key=lambda one: one.risk)
    said = "This is {} of 2 groups' limits, which hold together with 95"
    for one in groups:
        place = "the largest" if one is worst else "one"
        assert said.format(place) in Page(to_html(one, table=groups)).text
    assert "groups' limits" not in Page(to_html(guarantee(), table=groups)).text


def test_the_picture_is_left_out_where_it_would_say_nothing():
    assert 'class="squares"' in to_html(guarantee())
    for certificate in (not_a_guarantee(), vacuous()):
        assert 'class="squares"' not in to_html(certificate)


def test_bounds_of_another_vote_are_marked():
    votes, y = rows()
    table = vc.compare(votes, y, weights="uniform", bounds=["fo"])
    assert "About another vote" in Page(to_html(guarantee(), table=table)).text
    same = vc.compare(votes, y, weights=guarantee().weights, bounds=["fo"])
    assert "About another vote" not in Page(to_html(guarantee(), table=same)).text
    terms = guarantee().terms
    terms = replace(terms, choice={**terms.choice, "offsets": [1, 0]})
    found = guarantee().method.from_terms(terms)
    ahead = replace(guarantee(), terms=terms, risk=found.risk, details=found.details)
    assert "other offsets" in Page(to_html(ahead, table=same)).text
    assert "other offsets" not in Page(to_html(guarantee(), table=same)).text


def test_the_test_set_limit_of_learned_weights_is_no_guarantee():
    certificate, votes, y = learned()
    for said in (False, True):  # that they were fixed in advance, which the certificate knows better
        options = {"weights": certificate.weights, "bounds": ["test-set", "fo"], "fixed_in_advance": said}
        document = Page(to_html(certificate, table=vc.compare(votes, y, **options)))
        assert document.text.count("NOT A GUARANTEE") == 1


def test_held_out_rows_are_told():
    certificate, votes, y = learned()
    assert certificate.terms.statistics["rows"] < certificate.terms.n_rows
    document = Page(to_html(certificate, votes=votes, y=y))
    assert f"{certificate.terms.statistics['rows']:,} held-out rows" in document.text
    assert "learned on the very rows that certify them" not in document.text
    assert "fitted on some of the rows and is certified on the others" in document.text


def test_a_vote_that_is_always_wrong_is_called_bad():
    y = np.array([0, 1] * 20)
    certificate = vc.certify((1 - y)[:, None], y, weights="uniform", classes=[0, 1])
    assert certificate.risk == 1
    document = Page(to_html(certificate)).text
    assert "It is not a sign that the vote is bad" not in document
    assert "a sign that the vote is bad: it gets 100" in document
    assert "It is not a sign that the vote is bad" in Page(to_html(vacuous())).text


def test_fixed_weights_carry_the_condition():
    votes, y = rows()
    certificate = vc.certify(votes, y, weights=WEIGHTS, fixed_in_advance=True)
    assert certificate.bound == "test-set"
    document = Page(to_html(certificate, table=vc.compare(votes, y, weights=WEIGHTS, bounds=["test-set"])))
    assert "The weights were fixed without looking at these rows." in document.text
    assert "NOT A GUARANTEE" not in document.text
    given = vc.certify(votes, y, weights=WEIGHTS, bound="test-set")
    assert "NOT A GUARANTEE" in Page(to_html(given)).text


def test_the_embedded_certificate_verifies(hostile_page):
    (url,) = [a["href"] for a in hostile_page.all("a") if "download" in a]
    text = base64.b64decode(url.split(",", 1)[1]).decode()
    assert vc.Certificate.from_json(text).verify()
    shown = "".join(hostile_page.texts)
    start = shown.index('{\n  "votecert_certificate"')
    assert json.JSONDecoder().raw_decode(shown[start:])[0] == json.loads(text)
    assert json.loads(text)["digest"] in hostile_page.text


def test_many_voters_are_cut_with_a_note():
    rng = np.random.default_rng(0)
    votes, y = rng.integers(2, size=(50, 10_000)), rng.integers(2, size=50)
    weights = rng.permutation(np.arange(1.0, 10_001))
    certificate = vc.certify(votes, y, weights=weights / weights.sum(), bound="test-set")
    text = to_html(certificate, votes=votes, y=y)
    document = Page(text)
    assert f"The {SHOWN_VOTERS} largest of 10,000 weights" in document.text
    assert f">Voter {weights.argmax() + 1}<" in text
    assert f">Voter {weights.argmin() + 1}<" not in text
    assert len(certificate.to_json()) > SHOWN_JSON
    assert "it is not shown here" in document.text
    assert text.count("<tr") < 300


def test_a_certificate_that_does_not_verify_gets_no_report(tmp_path):
    with pytest.raises(ValueError, match="does not verify"):
        to_html(tampered(), tmp_path / "report.html")
    edited = vc.Certificate.from_json(guarantee().to_json().replace('"spam"', '"eggs"'))
    with pytest.raises(ValueError, match="edited"):
        to_html(edited, tmp_path / "report.html")
    assert os.listdir(tmp_path) == []


def test_a_report_on_a_certificate_from_a_file_is_the_same(tmp_path):
    read = vc.Certificate.from_json(guarantee().to_json())
    assert to_html(read) == to_html(guarantee())


def test_the_file_is_the_returned_text(tmp_path):
    path = tmp_path / "report.html"
    text = to_html(guarantee(), path, title="Größe")
    assert path.read_bytes() == text.encode()
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_failed_write_leaves_the_old_report_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        to_html(guarantee(), path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.html"]
    with pytest.raises(IsADirectoryError, match="folder"):
        to_html(guarantee(), tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        to_html(guarantee(), tmp_path / "nowhere" / "report.html")


def test_without_jinja2_the_message_says_what_to_install(monkeypatch):
    page._environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match="pip install jinja2"):
        to_html(guarantee())


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


TEXT_PAIRS = [
    *((ink, paper) for ink in ("ink", "soft", "accent") for paper in ("paper", "raised")),
    *((ink, "paper") for ink in ("good", "alarm", "caution")),
    *(("ink", paper) for paper in ("alarm-paper", "caution-paper")),
    *(("soft", paper) for paper in ("alarm-paper", "caution-paper")),
    ("alarm-ink", "alarm-solid"),
    ("caution-paper", "caution"),
]
GRAPHIC_PAIRS = [(colour, "paper") for colour in ("right", "wrong", "accent", "alarm", "caution", "soft")]


@pytest.mark.parametrize("theme", ["report.css", "dark.css"])
def test_contrasts_are_at_least_double_a(theme):
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", page._asset(theme)))
    for pairs, least in ((TEXT_PAIRS, 4.5), (GRAPHIC_PAIRS, 3.0)):
        for one, other in pairs:
            light, dark = sorted((luminance(colours[one]), luminance(colours[other])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= least, (theme, one, other)


def test_a_limit_that_was_set_is_told_and_a_broken_one_is_red():
    html = to_html(guarantee(), max_risk=0.01)
    assert '<p class="limit broken">Too risky: ' in html
    assert "is above the limit of 1 % that was set." in html
    assert re.search(r"\.limit\.broken \{ background: var\(--alarm-solid\)", page._asset("report.css"))
    assert '<p class="limit kept">Within the limit of 50 % that was set.' in to_html(
        guarantee(), max_risk=0.5
    )
    assert '<p class="limit broken">The limit of 50 %' in to_html(not_a_guarantee(), max_risk=0.5)
    assert 'class="limit' not in to_html(guarantee())
    assert guarantee().to_html(max_risk=0.01) == html


def test_nobody_is_told_to_install_what_is_not_published():
    source = Path(vc.__file__).parent
    for file in [*source.rglob("*.py"), *source.rglob("*.jinja")]:
        assert not re.search(r"pip install '?votecert", file.read_text("utf-8")), file
    for said in (to_html(guarantee()), guarantee().to_markdown()):
        assert "in a clone of the votecert repository" in said

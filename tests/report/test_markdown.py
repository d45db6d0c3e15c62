from __future__ import annotations

import re

import pytest
from report_cases import guarantee, hostile, not_a_guarantee, rows, vacuous

import votecert as vc
from votecert.certificate import words
from votecert.report import to_markdown
from votecert.report.markdown import escaped


def test_the_number_comes_first_and_is_rounded_up():
    text = to_markdown(guarantee())
    first = text.splitlines()[2]
    shown = float(re.search(r"At most ([\d.]+) %", first)[1])
    assert guarantee().risk <= shown / 100 < 1.01 * guarantee().risk
    assert "95 % confidence" in first


def test_it_is_a_section_with_assumptions_verification_and_citation():
    text = to_markdown(guarantee())
    assert re.findall(r"^#+ .*", text, re.M)[0] == "## Risk certificate"
    assert {len(mark) for mark in re.findall(r"^(#+) ", text, re.M)} == {2, 3}
    for line in guarantee().assumptions:
        assert escaped(line) in text
    assert "votecert verify certificate.json" in text
    assert guarantee().cite() in text


def test_tables_have_two_cells_a_line():
    for certificate in (guarantee(), hostile()[0]):
        lines = [line for line in to_markdown(certificate).splitlines() if line.startswith("|")]
        assert len(lines) > 8
        assert all(line.count("|") == 3 for line in lines)


@pytest.mark.parametrize(
    ("certificate", "mark"), [(not_a_guarantee(), "NOT A GUARANTEE"), (vacuous(), "SAYS NOTHING")]
)
def test_what_is_no_guarantee_says_so_first(certificate, mark):
    assert to_markdown(certificate).splitlines()[2].startswith(f"> **{mark}**")


def test_user_strings_stay_text():
    text = to_markdown(hostile()[0])
    outside_code = re.sub(r"```.*?```", "", text, flags=re.S)
    assert "<script" not in outside_code
    assert "<img" not in outside_code
    assert "&lt;script&gt;" in outside_code
    assert "\u202e" not in text
    text.encode()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a|b", "a&#124;b"),
        ("[x](y)", r"\[x\](y)"),
        ("&lt;", "&amp;lt;"),
        ("back\\slash", r"back\\slash"),
        ("https://example.org", r"https\://example.org"),
        ("www.example.org", r"www\.example.org"),
        ("two\nlines", "two lines"),
        ("`code`", r"\`code\`"),
    ],
)
def test_escapes(text, kept):
    assert escaped(text) == kept


def test_all_that_is_told_of_learning_is_in_it():
    certificate = vc.certify(*rows(m=600, accuracies=(0.9, 0.85, 0.8, 0.75, 0.7)))
    told = words.about_learning(certificate)
    assert len(told) > 1
    assert all(escaped(sentence) in to_markdown(certificate) for sentence in told)


def test_costs_say_how_to_check_them():
    found = vc.certify([[0, 0], [1, 1]] * 100, [0, 1] * 100, weights="uniform", costs=[[0, 1], [5, 0]])
    assert "votecert verify certificate.json" in found.to_markdown()

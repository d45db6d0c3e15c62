from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from votecert.certificate.text import chance, confidence, one_in, percent, rounded_up, share, visible

QUICK = settings(max_examples=100, deadline=None, derandomize=True)


def number(text):
    assert text.endswith(" %")
    return Fraction(text[:-2]) / 100


@QUICK
@given(st.floats(0, 1, allow_subnormal=False))
@example(0.126)
@example(1 - 2**-53)
def test_a_limit_is_never_rounded_down(risk):
    shown = number(percent(risk))
    assert shown >= Fraction(risk) * (1 - Fraction(2, 10**12))
    assert shown <= Fraction(risk) * Fraction(1011, 1000)
    assert "e" not in percent(risk)
    assert Fraction(rounded_up(risk)) == shown


@pytest.mark.parametrize(
    ("risk", "text"), [(1.0, "100"), (0.0, "0.00"), (0.05, "5.00"), (0.99999, "99.999"), (0.12345, "12.35")]
)
def test_limits_in_print(risk, text):
    assert percent(risk) == f"{text} %"


@QUICK
@given(st.floats(1e-12, 1 - 1e-9))
def test_confidence_and_chance_are_rounded_the_safe_way(delta):
    assert number(chance(delta)) >= Fraction(str(delta))
    assert number(confidence(delta)) == 1 - number(chance(delta))


@QUICK
@given(st.floats(1e-9, 1))
def test_one_in_n_is_never_below_the_risk(risk):
    n = one_in(risk)
    assert n is None or 1 / n >= risk


def test_small_shares_are_written_out():
    assert share(1e-7) == "0.00001 %"


@QUICK
@given(st.text(st.characters()))
@example("\u202e\x00\ud800")
def test_visible_json_is_the_same_json_and_can_be_written(text):
    shown = visible(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text
    shown.encode()
    assert not set(shown) & set("\u202e\x00\x07\u2066\ud800")


@pytest.mark.parametrize("text", ["emoji 👩‍⚖️", "القاضي", "שופט\u200f", "tab\tand\nline", "é"])
def test_ordinary_writing_is_left_alone(text):
    assert visible(text) == text

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import HOSTILE

from votecert.certificate.text import visible
from votecert.report.charts import HEADROOM, HEIGHT, SQUARES, Point, nice_ceiling
from votecert.report.margins import Bin
from votecert.report.page import _environment

CHARTS = _environment().get_template("charts.html.jinja").module

BINS = [Bin(-1.0, -0.5, 0, 7), Bin(-0.5, 0.0, 3, 5), Bin(0.0, 0.5, 0, 0), Bin(0.5, 1.0, 900, 0)]
POINTS = [Point(0.1, 0.3, "1x", "30 %"), Point(0.5, 0.2, "2x", "20 %"), Point(0.9, 0.15, "5x", "15 %")]

QUICK = settings(max_examples=100, deadline=None, derandomize=True)


def draw(text):
    return ElementTree.fromstring(text)


def drawn_histogram(bins=BINS, **changes):
    return draw(CHARTS.histogram(bins, **({"name": "h", "title": "Rows", "description": "Leads"} | changes)))


def drawn_curve(points=POINTS, **changes):
    options = {"name": "c", "title": "Rows", "description": "More", "floor": 0.1, "floor_label": "error rate"}
    return draw(CHARTS.curve(points, **(options | changes)))


def drawn_squares(certified=0.0662, counted=0.0317, **changes):
    options = {"whole": 100, "name": "s", "title": "Rows", "description": "Squares"}
    return draw(CHARTS.squares(certified, counted, **(options | changes)))


def of_class(svg, name):
    return [element for element in svg.iter() if name in element.get("class", "").split()]


@pytest.mark.parametrize(
    "svg", [drawn_histogram(), drawn_curve(), drawn_squares()], ids=["histogram", "curve", "squares"]
)
def test_charts_are_named_and_described_images(svg):
    assert svg.get("role") == "img"
    ids = {element.get("id"): element for element in svg.iter()}
    assert ids[svg.get("aria-labelledby")].tag == "title"
    assert ids[svg.get("aria-labelledby")].text == "Rows"
    assert ids[svg.get("aria-describedby")].tag == "desc"


@pytest.mark.parametrize("text", HOSTILE)
def test_every_string_stays_text(text):
    for svg in (
        drawn_histogram(title=text, description=text),
        drawn_curve(title=text, description=text, floor_label=text, points=[Point(0.5, 0.5, text, text)]),
        drawn_squares(title=text, description=text),
        draw(CHARTS.bar(0.5, 1.0, title=text)),
    ):
        assert {element.tag for element in svg.iter()} <= {
            *("svg", "title", "desc", "rect", "line", "text", "circle", "path")
        }
        assert visible(text) in "".join(svg.itertext())


def test_bars_of_the_histogram_show_all_rows_in_proportion():
    svg = drawn_histogram()
    right, wrong = of_class(svg, "right"), of_class(svg, "wrong")
    assert [int(box[0].text.split()[0]) for box in right] == [3, 900]
    assert [int(box[0].text.split()[0]) for box in wrong] == [7, 5]
    assert float(right[1].get("height")) == pytest.approx(HEIGHT * 900 / nice_ceiling(900))
    for box in right + wrong:
        assert float(box.get("height")) >= 2
        assert float(box.get("y")) >= HEADROOM
        assert float(box.get("y")) + float(box.get("height")) <= HEADROOM + HEIGHT + 0.01
        assert 0 <= float(box.get("x")[:-1]) <= 100 - float(box.get("width")[:-1])


def test_bars_stand_on_each_other():
    svg = drawn_histogram()
    wrong, right = of_class(svg, "wrong")[1], of_class(svg, "right")[0]
    assert float(right.get("y")) + float(right.get("height")) == pytest.approx(
        float(wrong.get("y")), abs=0.02
    )
    assert right.get("x") == wrong.get("x")


@pytest.mark.parametrize("cut", [0.0, 0.4])
def test_the_loss_region_ends_at_the_cut(cut):
    svg = drawn_histogram(cut=cut)
    (region,), (line,) = of_class(svg, "region"), of_class(svg, "cut")
    assert region.get("width") == line.get("x1") == line.get("x2") == f"{100 * (1 + cut) / 2:g}%"


def test_a_histogram_without_rows_is_still_a_chart():
    svg = drawn_histogram(bins=[Bin(-1.0, 1.0, 0, 0)])
    assert not of_class(svg, "right")
    assert not of_class(svg, "wrong")


def test_marks_of_the_curve_fall_as_the_values_do():
    svg = drawn_curve()
    heights = [float(mark.get("cy")) for mark in of_class(svg, "mark")]
    assert heights == sorted(heights)
    assert heights[0] == pytest.approx(HEADROOM)
    (floor,) = of_class(svg, "floor")
    assert float(floor.get("y1")) > heights[-1]
    assert len(of_class(svg, "curve")) == 2
    assert [mark[0].text for mark in of_class(svg, "mark")] == ["1x: 30 %", "2x: 20 %", "5x: 15 %"]


@pytest.mark.parametrize(("value", "width"), [(0.0, "0%"), (0.25, "50%"), (0.5, "100%"), (0.9, "100%")])
def test_a_bar_is_as_long_as_its_value_and_never_longer_than_the_axis(value, width):
    svg = draw(CHARTS.bar(value, 0.5, title="x", limit=0.25, kind="warning"))
    (fill,) = of_class(svg, "fill")
    assert fill.get("width") == width
    assert "warning" in fill.get("class")
    assert of_class(svg, "limit")[0].get("x1") == "50%"
    assert svg.get("aria-hidden") == "true"  # the number is in the next cell


@pytest.mark.parametrize("whole", SQUARES)
@pytest.mark.parametrize(("certified", "counted"), [(0.0662, 0.0317), (0.5, 0.0), (0.0101, 0.01), (1.0, 1.0)])
def test_squares_cover_the_shares_that_they_stand_for(whole, certified, counted):
    svg = drawn_squares(certified, counted, whole=whole)
    width, height = map(float, svg.get("viewBox").split()[2:])
    for kind, expected in (("rest", 1.0), ("certified", certified), ("counted", counted)):
        drawn = [
            [float(number) for number in box]
            for path in of_class(svg, kind)
            for box in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z", path.get("d"))
        ]
        side = 0.8 * SQUARES[whole][1]
        assert sum(box[2] for box in drawn) / (side * whole) == pytest.approx(expected, abs=1e-5)
        for x, y, across, down in drawn:
            assert x + across <= width + 1e-9
            assert y + down <= height + 1e-9


@QUICK
@given(st.floats(1e-300, 1e300))
def test_the_axis_ends_at_a_round_number_just_above(value):
    top = nice_ceiling(value)
    assert value * (1 - 1e-9) <= top <= value * 1.6
    assert len(f"{top:.3g}".split("e")[0].replace(".", "").strip("0")) <= 2

"""The monitor in a picture, on a page, and in the report of its certificate."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest
from watching import answers, certificate, rows

import votecert as vc


@pytest.fixture(scope="module")
def monitor() -> vc.Monitor:
    monitor = vc.Monitor(certificate())
    for day in range(60):
        monitor.update(
            **answers(np.arange(50) % 50 < (2 if day < 40 else 12)), batch=f"day {day}", when=f"day {day}"
        )
    return monitor


def text_of(html: str) -> str:
    found: list[str] = []

    class Texts(HTMLParser):
        def handle_data(self, data: str) -> None:
            found.append(data)

    Texts().feed(html)
    return " ".join(found)


def test_the_display_has_the_history_and_the_alarm(monitor):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    display = monitor.plot()
    assert display.rows.tolist() == [50 * day for day in range(1, 61)]
    assert display.errors[0] == 2 / 50
    assert (display.lower <= display.errors).all()
    assert (display.errors <= display.upper).all()
    shown = [line.get_text() for line in display.ax_.get_legend().get_texts()]
    assert f"alarm after {monitor.first_alarm.rows:,} rows" in shown
    quiet = vc.MonitorDisplay.from_monitor(
        vc.Monitor(monitor.certificates[0]).update(*rows(30, seed=5))
    ).plot()
    assert quiet.alarm is None
    with pytest.raises(ValueError, match="no stream 'men'; there are: error"):
        vc.MonitorDisplay.from_monitor(monitor, stream="men")
    matplotlib.pyplot.close("all")


def test_the_page_tells_what_was_seen(monitor, tmp_path):
    pytest.importorskip("jinja2")
    html = monitor.to_html(tmp_path / "monitor.html", title="<Spam> & co")
    assert (tmp_path / "monitor.html").read_text("utf-8") == html
    assert "ALARM: &lt;Spam&gt; &amp; co</title>" in html
    assert "http" not in html.replace("http-equiv", "")
    text = text_of(html)
    for part in (monitor.statement, f"after {monitor.first_alarm.rows:,} rows, {monitor.first_alarm.when}"):
        assert part in text
    assert html.count('<circle class="mark"') <= 41  # not every look
    calm = vc.Monitor(monitor.certificates[0]).to_html()
    assert "ALARM" not in calm
    assert "<circle" not in calm


def test_groups_are_lines_of_the_page():
    pytest.importorskip("jinja2")
    votes, y = rows(600)
    table = vc.certify(votes, y, weights="uniform", groups=np.where(np.arange(600) % 3, "<many>", "few"))
    monitor = vc.Monitor(table).update(*rows(60, seed=3), groups=["few"] * 60)
    html = monitor.to_html()
    assert html.count("<bdi>&lt;many&gt;</bdi>") == 1
    assert html.count("<bdi>few</bdi>") == 2


def test_the_report_has_a_section(monitor):
    pytest.importorskip("jinja2")
    made = monitor.certificates[0]
    assert 'id="monitoring"' not in made.to_html()
    html = made.to_html(monitor=monitor)
    assert monitor.statement in text_of(html)
    with pytest.raises(ValueError, match="another certificate"):
        certificate(delta=0.2).to_html(monitor=monitor)


def test_clusters_are_not_called_rows():
    monitor = vc.Monitor(certificate(), by_cluster=True)
    for day in range(40):
        wrong = answers(np.arange(50) % 2 == 0)
        monitor.update(**wrong, clusters=[f"{day} {place // 5}" for place in range(50)], when=f"day {day}")
    assert monitor.alarm
    page = text_of(monitor.to_html())
    assert f"After {monitor.rows} clusters" in page
    assert f"after {monitor.first_alarm.rows} clusters" in page
    assert vc.MonitorDisplay.from_monitor(monitor).unit == "cluster"

"""The same certificate says the same number and the same phrase wherever it is shown."""

from __future__ import annotations

import re

import pytest
from report_cases import WEIGHTS, guarantee, learned, not_a_guarantee, rows

import votecert as vc
from votecert.certificate.text import percent
from votecert.certificate.words import errors_of_rows

CASES = {
    "guarantee": (guarantee, rows, ["--weights", "w.csv", "--bound", "occam"]),
    "fitted on a part": (lambda: learned()[0], lambda: learned()[1:], []),
    "not a guarantee": (
        not_a_guarantee,
        rows,
        ["--weights", "w.csv", "--bound", "dirichlet-margin-published"],
    ),
}


def words(text):
    """The text without tags and backslashes, in one line."""
    return " ".join(re.sub(r"<[^>]*>", "", text.replace("\\", "")).split())


def command(name, votes, y, options, folder):
    """What the command line prints about these rows."""
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from votecert.cli.app import app

    names = [f"v{i}" for i in range(votes.shape[1])]
    lines = [
        ",".join([*names, "truth"]),
        *(",".join([*row, label]) for row, label in zip(votes, y, strict=True)),
    ]
    (folder / "v.csv").write_text("\n".join(lines))
    (folder / "w.csv").write_text(
        "\n".join(f"{name},{weight}" for name, weight in zip(names, WEIGHTS, strict=False))
    )
    done = CliRunner().invoke(app, [name, "v.csv", "--label", "truth", *options])
    assert done.exit_code == 0, done.output
    return words(done.stdout)


@pytest.mark.parametrize("name", CASES)
def test_one_number_and_one_phrase(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, made_from, options = CASES[name]
    certificate = make()
    number, counted = percent(certificate.risk), errors_of_rows(certificate)
    assert counted.endswith("held-out rows") == (name == "fitted on a part")
    assert number in certificate.statement
    html = re.sub(r"(?s)<(style|script)\b.*?</\1>", "", certificate.to_html())
    for place, text in {
        "repr": words(repr(certificate)),
        "notebook": words(certificate._repr_html_()),
        "Markdown": words(certificate.to_markdown()),
        "HTML": words(html),
        "command line": command("certify", *made_from(), options, tmp_path),
    }.items():
        assert number in text, place
        assert counted in text, place
        others = {other for other in re.findall(r"[\d.]+ %", text) if is_close(other, certificate.risk)}
        shares = {f"{100 * share:g} %" for share in certificate.ledger.values()}  # of delta: may be close
        assert others - shares == {number}, place


def is_close(text, risk):
    return abs(float(text.rstrip(" %")) / 100 - risk) < 6e-4


def test_tables_agree(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from votecert.display import BoundComparisonDisplay

    monkeypatch.chdir(tmp_path)
    bounds = ["occam", "fo", "dirichlet-margin-published"]
    table = vc.compare(*rows(), weights=WEIGHTS, bounds=bounds)
    drawn = "\n".join(text.get_text() for text in BoundComparisonDisplay.from_table(table).plot().ax_.texts)
    printed = command("compare", *rows(), ["--weights", "w.csv", "--bounds", ",".join(bounds)], tmp_path)
    for certificate in table:
        number, counted = percent(certificate.risk), errors_of_rows(certificate)
        assert number in drawn
        for text in (repr(table), words(table._repr_html_()), printed):
            assert number in text
            assert counted in text

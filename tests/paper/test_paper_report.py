"""Figures, tables, claims, errata and the README, from results made up so that answers are known."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from votecert.paper.cells import PUBLISHED, TEXT, plan
from votecert.paper.claims import judge
from votecert.paper.errata import errata
from votecert.paper.figures import draw_comparison
from votecert.paper.report import readme, write_report
from votecert.paper.results import ResultFiles, read_results
from votecert.paper.summary import Mean, Results
from votecert.paper.tables import all_tables, margins_table


def made_up(cell, *, printed: float = 0.3) -> dict:
    """A record in which the printed bound is the given number."""
    many = cell.group.data == "pendigits"
    objective = {"fo": 0.5, "so": 0.45, "bin": 0.4, "f2": 0.35, PUBLISHED: 0.32}.get(cell.objective, 0.6)
    risks = {"objective": objective, "printed": printed, "printed-wide": printed, "corrected": 0.31}
    risks |= {"dirichlet": 0.25, "test-set": 0.12}
    risks |= {"printed-wrong-weight": 0.5} if many else {"bg": 1.0, "bg+": 0.7, "bg++": 0.55, "gz": 0.9}
    if cell.objective == "occam":
        risks = {"occam": 0.15, "test-set": 0.12}
    return {
        "cell": cell.key,
        "data": cell.group.data,
        "voters": cell.group.voters,
        "trial": cell.group.trial,
        "objective": cell.objective,
        "classes": 10 if many else 2,
        "test_error": 0.1 + 0.01 * cell.group.trial,
        "bounds": {name: {"risk": value, "margin": 0.05} for name, value in risks.items()},
        "seconds": 1.0,
    }


def panel(cell) -> dict:
    """A comparison in which everything falls with the margin."""
    margins = [0.05, 0.1, 0.2, 0.4]
    falling = {"bg": [1.0, 1.0, 0.9, 0.8], "bg+": [1.0, 0.9, 0.6, 0.4], "gz": [1.0, 1.0, 0.8, 0.6]}
    for number in (1, 2, 3):
        falling[f"bg++ {number}"] = [0.8, 0.6, 0.4, 0.3]
        for name in ("dirichlet-margin-published", "dirichlet-margin", "dirichlet"):
            falling[f"{name} {number}"] = [0.3, 0.2, 0.19, 0.19]
    return {
        "cell": cell.key,
        "rows": cell.n_rows,
        "margin_error": cell.margin_error,
        "margins": margins,
        "series": falling,
        "limit": 0.11,
        "seconds": 1.0,
    }


def results(**options) -> Results:
    cells = plan(
        ["margins", "pac-bayes", "optimisation", "stumps", "comparison"], ["haberman", "pendigits"], 2
    )
    return Results(
        {cell.key: made_up(cell, **options) if hasattr(cell, "group") else panel(cell) for cell in cells}
    )


class TestClaims:
    def test_all_hold(self):
        verdicts = {verdict.claim[:40]: verdict for verdict in judge(results())}
        assert verdicts["Theorem 1 is always tighter than the bou"].holds == "holds"
        assert verdicts["Theorem 1 is always tighter than the bou"].number == "8 of 8 cases"
        sharp = next(verdict for name, verdict in verdicts.items() if "sharp" in verdict.claim)
        assert sharp.holds == "does not hold"
        assert sharp.number.startswith("0 of 2 cases; worst exception: Haberman rf FO, 0.300 against 0.240")
        best = next(verdict for verdict in verdicts.values() if "every other objective" in verdict.claim)
        assert (best.holds, best.number) == ("holds", "2 of 2 cases")
        assert best.cells.startswith("32 cells; theorem 2, theorem 2 (text), FO")
        assert best.cells.endswith("rf: Haberman, Pendigits")
        adult = next(verdict for verdict in verdicts.values() if "Adult" in verdict.claim)
        assert adult.holds == "not run"

    def test_one_exception_refutes_always(self):
        found = results()
        for trial in (0, 1):
            for name in ("printed", "printed-wide"):
                found.records[f"pendigits/rf/{trial}/f2"]["bounds"][name]["risk"] = 0.36
        verdict = next(one for one in judge(found) if "always tighter" in one.claim)
        assert verdict.holds == "does not hold"
        assert verdict.number == "7 of 8 cases; worst exception: Pendigits rf f2, 0.360 against 0.350"

    def test_the_better_variant_of_theorem_2_counts(self):
        found = results()
        for trial in (0, 1):
            found.records[f"haberman/rf/{trial}/{PUBLISHED}"]["bounds"]["objective"]["risk"] = 0.9
            found.records[f"haberman/rf/{trial}/{PUBLISHED + TEXT}"]["bounds"]["objective"]["risk"] = 0.33
        verdict = next(one for one in judge(found) if "every other objective" in one.claim)
        assert verdict.holds == "holds"
        for trial in (0, 1):
            found.records[f"haberman/rf/{trial}/{PUBLISHED + TEXT}"]["bounds"]["objective"]["risk"] = 0.4
        verdict = next(one for one in judge(found) if "every other objective" in one.claim)
        assert verdict.number == "1 of 2 cases; worst exception: Haberman (f2), 0.400 against 0.350"

    def test_adult_is_examined_at_all_learned_weights(self):
        cells = plan(["stumps"], ["adult"], 2)
        found = Results({cell.key: made_up(cell, printed=0.8) for cell in cells})
        for trial in (0, 1):
            found.records[f"adult/stumps/{trial}/so"]["bounds"]["printed-wide"]["risk"] = 0.36
        verdict = next(one for one in judge(found) if "Adult" in one.claim)
        assert verdict.holds == "holds"
        assert "SO weights: 0.360 ± 0.000" in verdict.number
        assert verdict.cells == "18 cells; stumps: Adult, all learned weights"

    def test_nothing_was_run(self):
        assert {verdict.holds for verdict in judge(Results({}))} == {"not run"}

    def test_older_margin_bounds_win(self):
        first = judge(results(printed=0.8))[0]
        assert first.holds == "does not hold"
        assert first.number.startswith("0 of 2 cases")
        assert "any K 0 of 4" in first.number


class TestErrata:
    def test_known_numbers(self):
        texts = dict(errata(results()))
        assert list(texts) == [f"E{number}" for number in range(1, 15)]
        assert "1.15e-03" in texts["E1"]
        assert "1.23e-04" in texts["E1"]
        assert "0.99853" in texts["E2"]
        assert "0.540" in texts["E6"]
        assert "0.460" in texts["E6"]
        assert "pendigits 0.500 and 0.300" in texts["E10"]
        assert "Bin, stumps, test error, program and text: haberman 0.105 and 0.105." in texts["E12"]

    def test_single_precision_is_far_off(self):
        noisy, value = map(
            float, re.findall(r"gives ([-\d.]+); the value is (\d+\.\d)", dict(errata(Results({})))["E9"])[0]
        )
        assert abs(noisy - value) > 5


class TestTables:
    def test_means_and_forms(self):
        table = margins_table(results())
        words, means = table.rows[0]
        assert words == ("Haberman", "rf", "FO")
        assert means[-1].value == pytest.approx(0.105)
        assert means[-1].spread == pytest.approx(np.std([0.1, 0.11], ddof=1))
        assert len(table.csv().splitlines()) == len(table.rows) + 1
        assert table.latex().count(r"\\") == len(table.rows) + 1

    def test_nothing_run_means_no_tables(self):
        assert all_tables(Results({})) == []

    def test_empty_mean(self):
        assert str(Mean.of([])) == ""


def test_report_is_complete_and_repeats(tmp_path):
    with ResultFiles.open(tmp_path / "results") as files:
        for record in results().records.values():
            files.append("all.jsonl", record)
    written = write_report(tmp_path / "results", tmp_path / "out")
    names = {path.name for path in written}
    for figure in ("margins", "pac-bayes", "optimisation"):
        assert {f"{figure}.svg", f"{figure}.png", f"{figure}-rescaled.svg"} <= names
    assert {"stumps-rescaled.svg", "comparison.svg", "margins.csv", "margins.md", "margins.tex"} <= names
    text = (tmp_path / "out" / "README.md").read_text()
    assert all((tmp_path / "out" / link).exists() for link in re.findall(r"\]\((figures/.*?)\)", text))
    assert "| haberman | rf | 20 | 50 |" in text
    assert "mnist/rf: all" in text
    assert "nan" not in text.lower().replace("finance", "")
    (again, _) = draw_comparison(results(), tmp_path / "again")
    assert again.read_bytes() == (tmp_path / "out" / "figures" / "comparison.svg").read_bytes()


def test_cells_of_an_earlier_version_are_named():
    found = results()
    for key in ("haberman/rf/0/fo", "haberman/rf/1/fo"):
        found.records[key]["method"] = "adam"
    found.records["haberman/rf/1/fo"]["start"] = "random"
    assert "1 cells are from an earlier version" in readme(found, [], [])
    assert "logarithm of alpha: FO (rf)." in readme(found, [], [])
    found.records["haberman/rf/0/fo"]["start"] = "random"
    assert "earlier version" not in readme(found, [], [])


def test_report_without_results(tmp_path):
    with pytest.raises(ValueError, match="no results"):
        write_report(tmp_path, tmp_path)


def test_records_survive_the_file(tmp_path):
    record = made_up(plan(["margins"], ["haberman"], 1)[0])
    with ResultFiles.open(tmp_path) as files:
        files.append("a.jsonl", record)
    assert read_results(tmp_path)[record["cell"]] == json.loads(json.dumps(record))

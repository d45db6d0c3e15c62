"""The numbers behind the figures as csv, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from votecert.paper.catalogue import CATALOGUE
from votecert.paper.cells import OBJECTIVES
from votecert.paper.summary import TITLES, Mean, Results, own_bound
from votecert.rows.files.atomic import write_atomically


@dataclass(frozen=True)
class Table:
    """Rows of means under named columns; the first columns are words.

    Examples
    --------
    >>> table = Table("t", ("set",), ("risk",), ((("a_b",), (Mean.of([0.5, 0.5]),)),))
    >>> table.markdown().splitlines()[-1]
    '| a_b | 0.500 ± 0.000 |'
    >>> "a\\\\_b & $0.500 \\\\pm 0.000$" in table.latex()
    True
    """

    name: str
    words: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[Mean, ...]], ...]

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = ["| " + " | ".join(self.words + self.columns) + " |"]
        lines.append("|" + "---|" * len(self.words) + "---:|" * len(self.columns))
        lines += ["| " + " | ".join([*words, *map(str, means)]) + " |" for words, means in self.rows]
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """The table as a LaTeX tabular."""
        lines = [r"\begin{tabular}{" + "l" * len(self.words) + "r" * len(self.columns) + "}", r"\hline"]
        lines.append(" & ".join(map(_escaped, self.words + self.columns)) + r" \\ \hline")
        for words, means in self.rows:
            numbers = [f"${mean}$".replace("±", r"\pm") if mean.count else "" for mean in means]
            lines.append(" & ".join([*map(_escaped, words), *numbers]) + r" \\")
        return "\n".join([*lines, r"\hline", r"\end{tabular}"]) + "\n"

    def csv(self) -> str:
        """Means, standard deviations and numbers of trials, in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        parts = [f"{column} {part}" for column in self.columns for part in ("mean", "std", "trials")]
        writer.writerow([*self.words, *parts])
        for words, means in self.rows:
            cells = [cell for mean in means for cell in _csv_cells(mean)]
            writer.writerow([*words, *cells])
        return text.getvalue()

    def write(self, folder: Path) -> list[Path]:
        """All three forms."""
        folder.mkdir(parents=True, exist_ok=True)
        forms = {"csv": self.csv(), "md": self.markdown(), "tex": self.latex()}
        for ending, text in forms.items():
            write_atomically(folder / f"{self.name}.{ending}", text)
        return [folder / f"{self.name}.{ending}" for ending in forms]


def _csv_cells(mean: Mean) -> tuple[str, str, str]:
    return (f"{mean.value:.7g}", f"{mean.spread:.3g}", str(mean.count)) if mean.count else ("", "", "0")


def _escaped(text: str) -> str:
    return text.replace("_", r"\_").replace("&", r"\&").replace("%", r"\%")


def all_tables(results: Results) -> list[Table]:
    """The tables for which there are results."""
    made = [
        margins_table(results),
        pac_bayes_table(results),
        objectives_table(results, "rf", "optimisation"),
        objectives_table(results, "stumps", "stumps"),
        certificates_table(results),
    ]
    return [table for table in made if table.rows]


def margins_table(results: Results) -> Table:
    """Margin bounds at FO and f2 weights."""
    bounds = {
        "GZ": "gz",
        "BG": "bg",
        "BG+": "bg+",
        "BG++ (corrected)": "bg++",
        "printed": "printed",
        "printed, any K": "printed-wide",
        "corrected": "corrected",
        "dirichlet": "dirichlet",
        "test-set limit": "test-set",
    }
    return _at_weights(results, "margins", ("rf", "stumps"), ("fo", "f2"), bounds, binary=True)


def pac_bayes_table(results: Results) -> Table:
    """The bound of each objective and others at its weights."""
    bounds = {
        "own bound": "objective",
        "printed": "printed",
        "printed, wrong-weight margin": "printed-wrong-weight",
        "corrected": "corrected",
        "dirichlet": "dirichlet",
        "test-set limit": "test-set",
    }
    return _at_weights(results, "pac-bayes", ("rf",), ("fo", "so", "bin", "f2"), bounds, binary=False)


def _at_weights(
    results: Results,
    name: str,
    kinds: Sequence[str],
    objectives: Sequence[str],
    bounds: dict[str, str],
    *,
    binary: bool,
) -> Table:
    rows = []
    for voters in kinds:
        for data in results.data_sets(voters, binary=binary):
            for objective in objectives:
                which = {"data": data, "voters": voters, "objective": objective}
                if not results.cells(**which):
                    continue
                means = [results.risk(bound, **which) for bound in bounds.values()]
                words = (CATALOGUE[data].title, voters, TITLES[objective])
                rows.append((words, (*means, results.test_error(**which))))
    return Table(name, ("data", "voters", "weights"), (*bounds, "test error"), tuple(rows))


def objectives_table(results: Results, voters: str, name: str) -> Table:
    """The bound of every objective, and the test error in a second line."""
    objectives = OBJECTIVES[name]["rf" if voters == "rf" else "stumps"]
    rows = []
    for data in results.data_sets(voters):
        which = {"data": data, "voters": voters}
        bounds = tuple(results.risk(own_bound(one), objective=one, **which) for one in objectives)
        errors = tuple(results.test_error(objective=one, **which) for one in objectives)
        rows += [((CATALOGUE[data].title, "bound"), bounds), ((CATALOGUE[data].title, "test error"), errors)]
    return Table(name, ("data", ""), tuple(TITLES[one] for one in objectives), tuple(rows))


def certificates_table(results: Results) -> Table:
    """The library's certificates next to what a test set of the same size would show."""
    rows = []
    for voters in ("rf", "stumps"):
        for data in results.data_sets(voters):
            which = {"data": data, "voters": voters, "objective": "occam"}
            learned = results.risk("objective", **(which | {"objective": "dirichlet"}))
            means = (learned, results.risk("occam", **which), results.risk("test-set", **which))
            rows.append(((CATALOGUE[data].title, voters), (*means, results.test_error(**which))))
    columns = ("dirichlet, learned", "occam, learned", "test-set limit of occam's vote", "its test error")
    return Table("certificates", ("data", "voters"), columns, tuple(rows))

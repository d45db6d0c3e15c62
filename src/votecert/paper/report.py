"""Everything that is made from the results: figures, tables, and the text that explains them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from votecert.paper.catalogue import CATALOGUE
from votecert.paper.cells import FIGURES, plan
from votecert.paper.claims import judge
from votecert.paper.errata import errata
from votecert.paper.figures import draw_all
from votecert.paper.results import read_results
from votecert.paper.summary import TITLES, Results
from votecert.paper.tables import Table, all_tables
from votecert.rows.files.atomic import write_atomically

TRIALS = 5

CAPTIONS = {
    "margins": "Margin bounds at the weights learned by FO and f2, for forests and stumps.",
    "margins-rescaled": "The same with a scale for each data set.",
    "pac-bayes": "The bound that was optimised, and others at the same weights, for forests.",
    "pac-bayes-rescaled": "The same with a scale for each data set.",
    "optimisation": "Bound and test error of every objective, for forests.",
    "optimisation-rescaled": "The same with a scale for each data set.",
    "stumps-rescaled": "Bound and test error of every objective, for stumps.",
    "comparison": "Margin bounds as functions of the margin, without data: d = 100, delta = 0.5, three "
    "weight vectors drawn from the simplex.",
}

TABLE_TITLES = {
    "margins": "Margin bounds (figure `margins`)",
    "pac-bayes": "PAC-Bayes bounds (figure `pac-bayes`)",
    "optimisation": "Objectives, forests (figure `optimisation`)",
    "stumps": "Objectives, stumps (figure `stumps-rescaled`)",
    "certificates": "The library's certificates",
}

INTRODUCTION = """# The paper, reproduced

F. Biggs, V. Zantedeschi, B. Guedj, *On Margins and Generalisation for Voting Classifiers*, NeurIPS 2022:
its experiments, run again with exact arithmetic, next to the corrected theorems and the certificates of
this library. This page, the figures and the tables are written by `votecert paper figures` from the files
in `results/`; no number is typed by hand.

    export VOTECERT_DATA=FOLDER         # NAME.npz files; `votecert paper data` shows what is there
    votecert paper run --figure all --trials 5 --jobs 2
    votecert paper figures

A run may be stopped and taken up again, or done in parts (`--datasets`, `--trials`): the seeds of a cell
depend on its trial only, and finished cells are not run again.
"""

READING = """## How to read it

- *printed*: the paper's theorem 1 as printed, in exact arithmetic, with the paper's search (1000 margins,
  paid for; K from its first value to 2^16 times that). Not a guarantee: its lemma is false (E1). *Any K*:
  K from 0.01 to 1e9.
- *corrected*: the theorem with the right exponent and, for many classes, the right factor; any K, 1000
  margins.
- *dirichlet*: the library's certificate for given weights. *occam*: the library's default, a vote in whole
  numbers that it learns itself. Both are proved.
- *test-set limit*: what a fresh sample of the same size with the same share of errors would show. No
  certificate for weights that were learned on the rows can be expected below it; it is a line in the
  figures.
- Numbers are means and standard deviations over the trials; a number without ± is from a single trial.
  Hatched bars are no guarantees.

## Protocol

As in the appendix: 80 % of the rows train and 20 % test, at random; ordinal codes for categories;
standardised by the training rows. Forests: ten trees on one half of the training rows (half-size bags,
square root of the features), the other half certifies. Stumps: six thresholds per feature and sign, all
training rows certify. FO, SO, Bin, f2 and theorem 2 are minimised by Adam (rate 0.1, batches of 100, at
most 100 epochs, patience 25, rate divided by 10 after 2 epochs without progress) as the authors' program
does: alpha = K theta starts uniformly in (0, 2), and the margin of theorem 2 is learned along and then moved
to the best margin of a grid that is paid for. *(text)* marks what the text says instead: equal weights, K =
2, and a margin that stays near 0.01. CCTND and CCPBB are minimised by full-batch descent as their authors
do, `dirichlet` and `occam` by the library's own searches. delta = 0.05. Splits, forests, starts and orders
of rows are seeded by the trial.
"""

AUTHORS = """## Checked against the authors' programs

[tables/authors.md](tables/authors.md) puts every objective next to what the authors' programs recorded on
the same votes, starting from the same weights; `votecert paper authors FOLDER` writes it.
"""


def write_report(results: Path, output: Path) -> list[Path]:
    """Draw the figures and write tables and README.md.

    Parameters
    ----------
    results : Path
        Folder of the JSON lines.
    output : Path
        Gets ``figures/``, ``tables/`` and ``README.md``.

    Returns
    -------
    list of Path
        What was written.
    """
    found = Results(read_results(results))
    if not found.records:
        raise ValueError(f"There are no results in {results}: run `votecert paper run` first.")
    output.mkdir(parents=True, exist_ok=True)
    figures = draw_all(found, output / "figures")
    tables = all_tables(found)
    written = figures + [path for table in tables for path in table.write(output / "tables")]
    checked = AUTHORS if (output / "tables" / "authors.md").exists() else ""
    write_atomically(output / "README.md", readme(found, tables, figures, checked))
    return [*written, output / "README.md"]


def readme(results: Results, tables: list[Table], figures: list[Path], checked: str = "") -> str:
    """The text; ``checked`` tells of the authors' programs."""
    drawn = [path.stem for path in figures if path.suffix == ".png"]
    pictures = [f"![{CAPTIONS[name]}](figures/{name}.png)\n\n*{CAPTIONS[name]}*\n" for name in drawn]
    parts = [
        INTRODUCTION,
        _what_was_run(results),
        READING,
        *filter(None, [checked]),
        "## Claims of the paper\n",
        _claims(results),
    ]
    parts += ["## Figures\n", *pictures, "## Errata\n", _errata(results), "## Tables\n"]
    parts.append("Also in `tables/` as csv (with standard deviations and numbers of trials) and LaTeX.\n")
    parts += [f"### {TABLE_TITLES[table.name]}\n\n{table.markdown()}" for table in tables]
    parts += ["## Data sets\n", _data_sets()]
    return "\n".join(parts)


def _what_was_run(results: Results) -> str:
    """Which cells are there and which are missing."""
    expected = {cell.key for cell in plan(FIGURES, CATALOGUE, TRIALS)}
    done = expected & results.records.keys()
    hours = sum(float(record["seconds"]) for record in results.records.values()) / 3600
    lines = [
        "## What was run\n",
        f"{len(done)} of {len(expected)} cells of the full plan ({TRIALS} trials, all figures); "
        f"{hours:.1f} hours of processor time in all; the growing of the voters is not counted."
        f"{_wall_time(results)}\n",
        "| data | voters | cells done | of |",
        "|---|---|---:|---:|",
    ]
    total, there = (Counter(key.rsplit("/", 2)[0] for key in keys) for keys in (expected, done))
    for name in sorted(total, key=lambda group: _place(group)):
        data, _, voters = name.partition("/")
        lines.append(f"| {data} | {voters or '-'} | {there[name]} | {total[name]} |")
    missing = sorted(expected - done)
    if missing:
        lines.append(f"\nMissing ({len(missing)}): " + "; ".join(_missing(missing)) + ".")
        if any(key.startswith("protein/") for key in missing):
            lines.append("protein could not be had where this was run; its downloader and parser exist.")
    else:
        lines.append("\nNothing is missing.")
    older = [cell for cell in results.cells() if cell.get("method") == "adam" and "start" not in cell]
    if older:
        names = sorted({f"{TITLES[cell['objective']]} ({cell['voters']})" for cell in older})
        lines.append(
            f"\n{len(older)} cells are from an earlier version, in which Adam started from equal weights and "
            f"stepped in the logarithm of alpha: {', '.join(names)}."
        )
    return "\n".join(lines) + "\n"


def _wall_time(results: Results) -> str:
    """How long the longest run from nothing took, if there was one."""
    runs = [record for key, record in results.records.items() if key.startswith("run/")]
    if not runs:
        return ""
    longest = max(runs, key=lambda record: int(record["cells"]))
    minutes = longest["wall_seconds"] / 60
    return (
        f" A run of {longest['cells']} cells from nothing, voters included, took {minutes:.0f} minutes with "
        f"{longest['jobs']} process{'es' * (longest['jobs'] > 1)}."
    )


def _place(group: str) -> tuple[int, str]:
    data, _, voters = group.partition("/")
    order = list(CATALOGUE)
    return (order.index(data) if data in order else len(order)), voters


def _missing(keys: list[str]) -> list[str]:
    """Missing cells in few words: objectives by data set, voters and trials."""
    total = Counter(cell.key.rsplit("/", 2)[0] for cell in plan(FIGURES, CATALOGUE, TRIALS))
    absent = Counter(key.rsplit("/", 2)[0] for key in keys)
    trials: dict[str, dict[str, list[str]]] = {}
    for key in keys:
        group, trial, objective = key.rsplit("/", 2)
        trials.setdefault(group, {}).setdefault(objective, []).append(trial)
    texts = []
    for group, by_objective in trials.items():
        alike: dict[str, list[str]] = {}
        for objective, listed in by_objective.items():
            alike.setdefault(", ".join(listed), []).append(objective)
        parts = [f"trials {listed} of {', '.join(names)}" for listed, names in alike.items()]
        texts.append(f"{group}: " + ("all" if absent[group] == total[group] else " and ".join(parts)))
    return texts


def _claims(results: Results) -> str:
    lines = [
        "In exact arithmetic, on the cells above, each in the reading that is best for the paper: the K that "
        "suits the printed theorem best, the better of the two ways of learning theorem 2, and numbers are "
        "equal that differ by less than a standard deviation over the trials. A case is a data set, kind of "
        "voters and objective, averaged over its trials. The printed theorems are evaluated outside what is "
        "proved (E1, E2, E3), so a claim that holds is about formulas, not about guarantees.\n",
        "| claim | verdict | number | rests on |",
        "|---|---|---|---|",
    ]
    lines += [f"| {one.claim} | **{one.holds}** | {one.number} | {one.cells} |" for one in judge(results)]
    return "\n".join(lines) + "\n"


def _errata(results: Results) -> str:
    return "\n".join(f"- **{name}** {text}" for name, text in errata(results)) + "\n"


def _data_sets() -> str:
    lines = ["| name | rows | features | classes | source | licence |", "|---|---:|---:|---:|---|---|"]
    for entry in CATALOGUE.values():
        rows, features = entry.shape
        lines.append(
            f"| {entry.name} | {rows} | {features} | {entry.n_classes} | {entry.source} | {entry.licence} |"
        )
    lines.append(
        "\nEvery file is checked: shape, class counts, and a checksum of its numbers; of protein the shape "
        "and the number of classes."
    )
    return "\n".join(lines) + "\n"

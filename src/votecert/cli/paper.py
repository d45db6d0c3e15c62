"""``votecert paper``: the experiments of the paper, its figures and tables, its data sets."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from votecert.cli.command import add_command
from votecert.cli.console import Talk, data, messages, plain, table
from votecert.cli.errors import Guarded
from votecert.cli.learning import noticing_interruption

app = typer.Typer(cls=Guarded, no_args_is_help=True, rich_markup_mode="rich")

FIGURES = "margins|pac-bayes|optimisation|comparison|stumps|all"

DataFolder = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="Folder of NAME.npz files; VOTECERT_DATA by default."),
]
Results = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the JSON lines of finished cells.")]


@app.callback()
def about() -> None:
    """Reproduce the experiments of the paper.

    F. Biggs, V. Zantedeschi, B. Guedj, On Margins and Generalisation for
    Voting Classifiers, NeurIPS 2022.
    """


def run_cells(
    *,
    figure: Annotated[list[str] | None, typer.Option(metavar=FIGURES)] = None,
    datasets: str | None = None,
    trials: Annotated[int | None, typer.Option(min=1)] = None,
    jobs: Annotated[int, typer.Option(min=1)] = 2,
    quick: bool = False,
    results: Results = Path("paper/results"),
    folder: DataFolder = None,
    cluster: str | None = None,
    talk: Talk,
) -> None:
    """Run every cell that has no result yet.

    A cell is a data set, a kind of voters, a random split and an objective.
    Stop at any time: finished cells are on disk and are not run again. Votes
    are kept in votecert/votes in the user's cache (XDG_CACHE_HOME, or
    ~/.cache), which may be deleted.

    Parameters
    ----------
    figure
        Which; may be repeated.
    datasets : A,B,...
        Which; all that are at hand by default.
    trials : N
        Random splits a data set; 5 by default.
    jobs : N
        Cells at a time.
    quick
        Small data sets and two trials.
    cluster : ADDRESS
        Scheduler of a Dask cluster to run on.
    """
    from votecert.paper.cells import FIGURES as ALL
    from votecert.paper.cells import QUICK, plan
    from votecert.paper.run import missing, run

    wanted = [name for name in figure or ["all"] if name != "all"]
    figures = wanted if figure and len(wanted) == len(figure) else list(ALL)
    names = _names(datasets, folder, QUICK if quick else None)
    cells = plan(figures, names, trials or (2 if quick else 5))
    left = missing(cells, results)
    talk.say(f"{len(cells) - len(left)} of {len(cells)} cells are done; {len(left)} are left.")
    began, done = time.perf_counter(), 0
    with _on(cluster), talk.wait("Running") as waiting, noticing_interruption() as interruption:

        def news(key: str, seconds: float) -> None:
            nonlocal done
            done += not key.endswith("/votes")
            waiting.advance(done, len(left), f"{done}/{len(left)} {plain(key)}")
            if not messages().is_terminal:
                talk.say(f"{done}/{len(left)} {plain(key)} {seconds:.1f} s")
            if interruption.pressed:  # and lost where Python drops exceptions, in a destructor for example
                raise KeyboardInterrupt

        count = run(left, results, jobs=jobs, data=folder, news=news)
    talk.say(f"{count} cells in {time.perf_counter() - began:.0f} s; results are in {plain(results)}.")


def draw_figures(
    *, results: Results = Path("paper/results"), output: Path = Path("paper"), talk: Talk
) -> None:
    """Draw all figures and write all tables and the README from the results.

    Parameters
    ----------
    output : FOLDER
        Where figures, tables and README.md go.
    """
    from votecert.paper.report import write_report

    with talk.wait("Drawing"):
        written = write_report(results, output)
    talk.say(f"{len(written)} files are in {plain(output)}.")


def compare_authors(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False)],
    *,
    output: Path = Path("paper"),
    talk: Talk,
) -> None:
    """Learn what the authors' programs learned, on the same votes, and compare.

    FOLDER holds votes/DATA_KIND_SEED.npz (votes_bound, y_bound, votes_test,
    y_test) and records.jsonl, what the programs made of them.

    Parameters
    ----------
    folder
        Folder of votes and records.
    output : FOLDER
        Where tables/authors.md goes.
    """
    from votecert.paper.authors import compare, page
    from votecert.rows.files.atomic import write_atomically

    with talk.wait("Learning") as waiting:
        table = compare(folder, lambda done, total, name: waiting.advance(done, total, plain(name)))
    path = output / "tables" / "authors.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, page(table))
    talk.say(f"{len(table.rows)} records are compared in {plain(path)}.")


def data_sets(
    names: Annotated[list[str] | None, typer.Argument()] = None,
    *,
    download: bool = False,
    folder: DataFolder = None,
    talk: Talk,
) -> None:
    """Show the data sets of the paper: source, licence, and whether they are at hand.

    Parameters
    ----------
    names : [NAME]...
        Which; all by default.
    download
        Get those that are missing.
    """
    from votecert.paper.catalogue import CATALOGUE, find_entry
    from votecert.paper.load import data_folder, fetch, is_at_hand

    entries = [find_entry(name) for name in names or CATALOGUE]
    if download:
        for entry in entries:
            with talk.wait(f"Getting {entry.name}") as waiting:
                fetch(entry.name, folder, lambda file, done, total: waiting.advance(done, total, plain(file)))
    shown = table("name", "rows", "features", "classes", "at hand", "source", "licence", numbers=("rows",))
    for entry in entries:
        there = "made by code" if entry.generate else "yes" if is_at_hand(entry.name, folder) else "no"
        counts = [str(number) for number in (*entry.shape, entry.n_classes)]
        shown.add_row(entry.name, *counts, there, entry.source, entry.licence)
    data().print(shown)
    talk.say(f"They are looked for in {plain(folder or data_folder())}.")


def _names(datasets: str | None, folder: Path | None, quick: tuple[str, ...] | None) -> list[str]:
    """The data sets that were asked for, or all that are at hand."""
    from votecert.paper.catalogue import CATALOGUE, find_entry
    from votecert.paper.load import is_at_hand

    if datasets:
        return [find_entry(name.strip()).name for name in datasets.split(",")]
    if quick is not None:
        return list(quick)
    return [name for name in CATALOGUE if is_at_hand(name, folder)]


def _on(cluster: str | None) -> Any:
    """Joblib's Dask backend, or nothing."""
    if cluster is None:
        return nullcontext()
    from distributed import Client
    from joblib import parallel_config

    Client(cluster)
    return parallel_config(backend="dask")


add_command(app, run_cells, name="run")
add_command(app, draw_figures, name="figures")
add_command(app, compare_authors, name="authors")
add_command(app, data_sets, name="data")

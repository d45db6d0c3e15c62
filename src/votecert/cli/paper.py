"""``votecert paper``: the experiments of the paper, its figures and tables, its data sets."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from votecert.cli import options as opt
from votecert.cli.console import Talk, data, messages, plain, table
from votecert.cli.errors import Guarded, noticing_interruption

app = typer.Typer(cls=Guarded, no_args_is_help=True, rich_markup_mode="rich")

FIGURES = "margins|pac-bayes|optimisation|comparison|stumps|all"

DataFolder = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="Folder of NAME.npz files; VOTECERT_DATA by default."),
]
Results = Annotated[
    Path, typer.Option("--results", metavar="FOLDER", help="Folder of the JSON lines of finished cells.")
]


@app.callback()
def about() -> None:
    """Reproduce the experiments of the paper.

    F. Biggs, V. Zantedeschi, B. Guedj, On Margins and Generalisation for
    Voting Classifiers, NeurIPS 2022.
    """


@app.command("run")
def run_cells(
    figure: Annotated[
        list[str] | None, typer.Option("--figure", metavar=FIGURES, help="Which; may be repeated.")
    ] = None,
    datasets: Annotated[
        str | None,
        typer.Option("--datasets", metavar="A,B,...", help="Which; all that are at hand by default."),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", metavar="N", min=1, help="Random splits a data set; 5 by default."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Cells at a time.")] = 2,
    quick: Annotated[bool, typer.Option("--quick", help="Small data sets and two trials.")] = False,
    results: Results = Path("paper/results"),
    folder: DataFolder = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="Scheduler of a Dask cluster to run on."),
    ] = None,
    quiet: opt.Quiet = False,
) -> None:
    """Run every cell that has no result yet.

    A cell is a data set, a kind of voters, a random split and an objective.
    Stop at any time: finished cells are on disk and are not run again. Votes
    are kept in votecert/votes in the user's cache (XDG_CACHE_HOME, or
    ~/.cache), which may be deleted.
    """
    from votecert.paper.cells import FIGURES as ALL
    from votecert.paper.cells import QUICK, plan
    from votecert.paper.run import missing, run

    wanted = [name for name in figure or ["all"] if name != "all"]
    figures = wanted if figure and len(wanted) == len(figure) else list(ALL)
    names = _names(datasets, folder, QUICK if quick else None)
    cells = plan(figures, names, trials or (2 if quick else 5))
    left = missing(cells, results)
    talk = Talk(quiet)
    talk.say(f"{len(cells) - len(left)} of {len(cells)} cells are done; {len(left)} are left.")
    began = time.perf_counter()
    with _on(cluster), Board(len(left), quiet) as board, noticing_interruption() as interruption:

        def news(key: str, seconds: float) -> None:
            board.news(key, seconds)
            if interruption.pressed:  # and lost where Python drops exceptions, in a destructor for example
                raise KeyboardInterrupt

        count = run(left, results, jobs=jobs, data=folder, news=news)
    talk.say(f"{count} cells in {time.perf_counter() - began:.0f} s; results are in {plain(results)}.")


@app.command("figures")
def draw_figures(
    results: Results = Path("paper/results"),
    output: Annotated[
        Path, typer.Option("--output", metavar="FOLDER", help="Where figures, tables and README.md go.")
    ] = Path("paper"),
    quiet: opt.Quiet = False,
) -> None:
    """Draw all figures and write all tables and the README from the results."""
    from votecert.paper.report import write_report

    talk = Talk(quiet)
    with talk.wait("Drawing"):
        written = write_report(results, output)
    talk.say(f"{len(written)} files are in {plain(output)}.")


@app.command("data")
def data_sets(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which; all by default.")
    ] = None,
    download: Annotated[bool, typer.Option("--download", help="Get those that are missing.")] = False,
    folder: DataFolder = None,
    quiet: opt.Quiet = False,
) -> None:
    """Show the data sets of the paper: source, licence, and whether they are at hand."""
    from votecert.paper.catalogue import CATALOGUE, find_entry
    from votecert.paper.load import data_folder, fetch, is_at_hand

    entries = [find_entry(name) for name in names or CATALOGUE]
    if download:
        for entry in entries:
            with Bytes(quiet) as board:
                fetch(entry.name, folder, board.news)
    shown = table("name", "rows", "features", "classes", "at hand", "source", "licence", numbers=("rows",))
    for entry in entries:
        there = "made by code" if entry.generate else "yes" if is_at_hand(entry.name, folder) else "no"
        counts = [str(number) for number in (*entry.shape, entry.n_classes)]
        shown.add_row(entry.name, *counts, there, entry.source, entry.licence)
    data().print(shown)
    Talk(quiet).say(f"They are looked for in {plain(folder or data_folder())}.")


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


class Board:
    """How far a run has come: a bar on a terminal, a line a cell elsewhere."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._total, self._done, self._quiet = total, 0, quiet
        columns = (TextColumn("{task.description:<40}"), BarColumn(), MofNCompleteColumn())
        console = messages()
        self._is_terminal = console.is_terminal
        self._progress = Progress(
            *columns,
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=quiet or not self._is_terminal,
        )

    def __enter__(self) -> Board:
        self._progress.start()
        self._task = self._progress.add_task("starting", total=self._total)
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def news(self, key: str, seconds: float) -> None:
        """A piece of work is finished."""
        is_cell = not key.endswith("/votes")
        self._done += is_cell
        self._progress.update(self._task, advance=int(is_cell), description=plain(key))
        if not self._quiet and not self._is_terminal:
            messages().print(f"{self._done}/{self._total} {plain(key)} {seconds:.1f} s", soft_wrap=True)


class Bytes:
    """How far a download has come."""

    def __init__(self, quiet: bool) -> None:
        console = messages()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:,.0f} bytes"),
            console=console,
            disable=quiet or not console.is_terminal,
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Bytes:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def news(self, name: str, done: int, total: int | None) -> None:
        """So many bytes of a file are there."""
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(plain(name), total=total)
        self._progress.update(self._tasks[name], completed=done, total=total)

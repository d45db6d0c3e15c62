"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import votecert as vc
from votecert.cli.errors import complain

ROWS, WEIGHTS, RESULT = "What is in the file", "The vote and its bound", "What to do with the result"


def complete_bound(incomplete: str) -> list[tuple[str, str]]:
    """Ids of bounds with their titles, for the shell."""
    return [(name, bound.title) for name, bound in vc.BOUNDS.items() if name.startswith(incomplete)]


def complete_weights(incomplete: str) -> list[str]:
    """The two words; files are completed by the shell."""
    return [word for word in ("learn", "uniform") if word.startswith(incomplete)]


def checked_delta(delta: float) -> float:
    """Refuse a delta that makes no sense before any work is done."""
    from votecert.rows.read import check_delta

    check_delta(delta)
    if delta > 0.5:
        complain(
            f"Note: delta {delta:g} is a confidence of {100 * (1 - delta):.4g} % only. For a confidence of "
            f"{100 * delta:.4g} % give --delta {1 - delta:.4g}."
        )
    return delta


Votes = Annotated[
    str,
    typer.Argument(
        metavar="VOTES",
        help="csv, tsv, parquet, npz or npy file: a row a case, a column a voter; - reads csv from stdin.",
    ),
]
OptionalVotes = Annotated[
    str | None,
    typer.Argument(metavar="VOTES", help="The certified rows, to recount the statistics from them."),
]
CertificateFile = Annotated[
    Path, typer.Argument(metavar="CERTIFICATE", help="A certificate written with --json.")
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label",
        "-l",
        metavar="COLUMN",
        help="Column of the true labels: its name or its position (0, 1, ...; -1 is the last). npz: the name "
        "of the array, y by default.",
        rich_help_panel=ROWS,
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="COLUMN",
        help="Certify each group of rows that this column names; delta is split over the groups. The label "
        "column gives one certificate a class.",
        rich_help_panel=ROWS,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="COLUMN,...",
        help="Columns that are no voters. May be repeated.",
        rich_help_panel=ROWS,
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(
        "--classes",
        metavar="A,B,...",
        help="All labels there can be, in the order that breaks ties. By default those in the file, sorted.",
        rich_help_panel=ROWS,
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="csv: the first line is data already.", rich_help_panel=ROWS),
]
CanAbstain = Annotated[
    bool,
    typer.Option(
        "--can-abstain",
        help="Voters can abstain even if none does in this file. An empty cell is an abstention anyway.",
        rich_help_panel=ROWS,
    ),
]
Fallback = Annotated[
    str | None,
    typer.Option(
        "--fallback",
        metavar="LABEL",
        help="Prediction where every voter abstains; without it such rows count as errors.",
        rich_help_panel=WEIGHTS,
    ),
]
Weights = Annotated[
    str,
    typer.Option(
        "--weights",
        "-w",
        metavar="learn|uniform|FILE",
        help="Learn them on these rows, give every voter the same, or read a csv, json or npy file.",
        autocompletion=complete_weights,
        rich_help_panel=WEIGHTS,
    ),
]
FixedInAdvance = Annotated[
    bool,
    typer.Option(
        "--fixed-in-advance",
        help="The weights in the file were fixed without looking at these rows: then nothing is tighter than "
        "the test-set bound.",
        rich_help_panel=WEIGHTS,
    ),
]
BoundId = Annotated[
    str | None,
    typer.Option(
        "--bound",
        "-b",
        metavar="ID",
        help="Which bound, see [bold]votecert bounds[/]; 'best' pays for trying three. By default occam for "
        "learned weights, dirichlet for a file, test-set for what was fixed in advance.",
        autocompletion=complete_bound,
        rich_help_panel=WEIGHTS,
    ),
]
Delta = Annotated[
    float,
    typer.Option(
        "--delta",
        "-d",
        metavar="D",
        callback=checked_delta,
        help="The certificate holds with probability 1 - D.",
        rich_help_panel=WEIGHTS,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        help="Seed of the split and of random starts, 0 by default. Choose it once: trying seeds voids the "
        "guarantee.",
        rich_help_panel=WEIGHTS,
    ),
]
Split = Annotated[
    float | None,
    typer.Option(
        "--split",
        metavar="F",
        min=0.0,
        max=0.9,
        help="Share of the rows spent on fitting a short list of weighted votes, 0.25 by default; 0: none.",
        rich_help_panel=WEIGHTS,
    ),
]
TimeBudget = Annotated[
    float | None,
    typer.Option(
        "--time-budget",
        metavar="SECONDS",
        min=0.0,
        help="Stop learning after so many seconds.",
        rich_help_panel=WEIGHTS,
    ),
]
Json = Annotated[
    str | None,
    typer.Option(
        "--json", metavar="FILE", help="Write the certificate as JSON; - is stdout.", rich_help_panel=RESULT
    ),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a report to look at.", rich_help_panel=RESULT),
]
MaxRisk = Annotated[
    float | None,
    typer.Option(
        "--max-risk",
        metavar="R",
        min=0.0,
        max=1.0,
        help="Exit with code 1 if the certified risk is above R.",
        rich_help_panel=RESULT,
    ),
]
Title = Annotated[
    str | None,
    typer.Option("--title", metavar="TEXT", help="What the report is about.", rich_help_panel=RESULT),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No messages and no progress on stderr.", rich_help_panel=RESULT),
]

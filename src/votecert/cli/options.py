"""Options that several commands share: groups of them, and single ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

import votecert as vc
from votecert.cli.console import RESULT
from votecert.cli.errors import complain
from votecert.cli.groups import option
from votecert.rows.files.label_book import typed_texts

VOTE = "The vote and its bound"
"""Heading in the help."""


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


@dataclass(frozen=True)
class RowOptions:
    """What the user says about a file of votes."""

    panel: ClassVar[str] = "What is in the file"

    label: str | None = option(
        "--label",
        "-l",
        metavar="COLUMN",
        help="Column of the true labels: its name or its position (0, 1, ...; -1 is the last). npz: the name "
        "of the array, y by default.",
    )
    group: str | None = option(
        metavar="COLUMN",
        help="Certify each group of rows that this column names; delta is split over the groups. The label "
        "column gives one certificate a class.",
    )
    ignore: list[str] | None = option(
        metavar="COLUMN,...", help="Columns that are no voters. May be repeated."
    )
    classes: str | None = option(
        metavar="A,B,...",
        help="All labels there can be, in the order that breaks ties. By default those in the file, sorted.",
    )
    no_header: bool = option("--no-header", default=False, help="csv: the first line is data already.")
    can_abstain: bool = option(
        "--can-abstain",
        default=False,
        help="Voters can abstain even if none does in this file. An empty cell is an abstention anyway.",
    )

    def declared_classes(self) -> Sequence[Any] | None:
        """The declared classes, as numbers or bools if all of them are."""
        if self.classes is None:
            return None
        texts = [text.strip() for text in self.classes.split(",")]
        if "" in texts or len(set(texts)) < len(texts):
            raise ValueError(f"--classes {self.classes!r} must list different labels, separated by commas.")
        return typed_texts(texts)


@dataclass(frozen=True)
class VoteOptions:
    """Which vote is certified, and by which bound."""

    panel: ClassVar[str] = VOTE

    weights: str = option(
        "--weights",
        "-w",
        default="learn",
        metavar="learn|uniform|FILE",
        help="Learn them on these rows, give every voter the same, or read a csv, json or npy file.",
        autocompletion=complete_weights,
    )
    fixed_in_advance: bool = option(
        "--fixed-in-advance",
        default=False,
        help="The weights in the file were fixed without looking at these rows: then nothing is tighter than "
        "the test-set bound.",
    )
    bound: str | None = option(
        "--bound",
        "-b",
        metavar="ID",
        help="Which bound, see [bold]votecert bounds[/]; 'best' pays for trying three. By default occam for "
        "learned weights, dirichlet for a file, test-set for what was fixed in advance.",
        autocompletion=complete_bound,
    )
    fallback: str | None = option(
        metavar="LABEL",
        help="Prediction where every voter abstains; without it such rows count as errors.",
    )


@dataclass(frozen=True)
class LearningOptions:
    """How weights are learned."""

    panel: ClassVar[str] = VOTE

    seed: int | None = option(
        metavar="N",
        min=0,
        help="Seed of the split and of random starts, 0 by default. Choose it once: trying seeds voids the "
        "guarantee.",
    )
    split: float | None = option(
        metavar="F",
        min=0.0,
        max=0.9,
        help="Share of the rows spent on fitting a short list of weighted votes, 0.25 by default; 0: none.",
    )
    time_budget: float | None = option(
        metavar="SECONDS", min=0.0, help="Stop learning after so many seconds."
    )

    def given(self, weights: str = "learn") -> dict[str, Any]:
        """Those that the user gave, as the library calls them; refused where nothing is learned."""
        options = {"random_state": self.seed, "split": self.split, "time_budget": self.time_budget}
        options = {name: value for name, value in options.items() if value is not None}
        if options and weights != "learn":
            raise ValueError("--seed, --split and --time-budget are for --weights learn only.")
        return options


Votes = Annotated[
    str,
    typer.Argument(
        metavar="VOTES",
        help="csv, tsv, parquet, npz or npy file: a row a case, a column a voter; - reads csv from stdin.",
    ),
]
CertifiedVotes = Annotated[
    str | None,
    typer.Argument(metavar="VOTES", help="The certified rows, to recount the statistics from them."),
]
CertificateFile = Annotated[
    Path, typer.Argument(metavar="CERTIFICATE", help="A certificate written with --json.")
]
Delta = Annotated[
    float,
    typer.Option(
        "--delta",
        "-d",
        metavar="D",
        callback=checked_delta,
        help="The certificate holds with probability 1 - D.",
        rich_help_panel=VOTE,
    ),
]
Json = Annotated[
    str | None,
    typer.Option(
        "--json", metavar="FILE", help="Write the certificate as JSON; - is stdout.", rich_help_panel=RESULT
    ),
]
Title = Annotated[
    str | None, typer.Option(metavar="TEXT", help="What the report is about.", rich_help_panel=RESULT)
]
Report = Annotated[
    Path, typer.Option("--html", metavar="FILE", help="Where to write the report.", rich_help_panel=RESULT)
]
REPORT = Path("votecert-report.html")

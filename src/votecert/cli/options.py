"""Options that several commands share: groups of them, and single ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import votecert as vc
from votecert.cli.errors import complain

if TYPE_CHECKING:  # help need not wait for NumPy
    from votecert.rows.files.columns import Layout

VOTE, RESULT = "The vote and its bound", "What to do with the result"
"""Headings in the help."""


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
    """What is in the file.

    Attributes
    ----------
    label : COLUMN
        Column of the true labels: its name or its position (0, 1, ...; -1 is the last). npz: the name of the
        array, y by default.
    item : COLUMN
        What a row is about. Needed for long tables, several files and --gold; no voter in others.
    judge : COLUMN
        Long tables, one line a vote: who votes. Several files without it are one judge each.
    vote : COLUMN
        Long tables: what is voted.
    votes_field : FIELD
        Nested JSON: the field with the votes of an item, in which --judge and --vote are fields.
    gold : FILE
        The true labels by item, if they are in a file of their own.
    abstain : CODE
        A code for 'says nothing', such as -1, besides empty cells. May be repeated.
    group : COLUMN
        Names groups of rows, each with a certificate of its own; delta is split over them. The label column
        gives one certificate a class; the word predicted, one for each answer of the vote.
    ignore : COLUMN,...
        Columns that are no voters. May be repeated.
    classes : A,B,...
        All labels there can be, in the order that breaks ties. By default those in the file, sorted.
    no_header
        csv: the first line is data already.
    can_abstain
        Voters can abstain even if none does in this file. An empty cell is an abstention anyway.
    force
        Go on even if this looks like no table of votes.
    """

    label: Annotated[str | None, typer.Option("--label", "-l")] = None
    item: str | None = None
    judge: str | None = None
    vote: str | None = None
    votes_field: Annotated[str | None, typer.Option("--votes")] = None
    gold: str | None = None
    abstain: list[str] | None = None
    group: str | None = None
    ignore: list[str] | None = None
    classes: str | None = None
    no_header: bool = False
    can_abstain: bool = False
    force: bool = False

    def layout(self, **instead: Any) -> Layout:
        """What is what in the file; ``instead`` of options, what a certificate wants."""
        from votecert.rows.files.columns import Layout

        columns = ("label", "group", "item", "judge", "vote")
        chosen: dict[str, Any] = {name: getattr(self, name) for name in columns}
        chosen |= {"votes": self.votes_field, "ignore": tuple(self.ignore or ())}
        return Layout(**chosen | instead)

    def declared_classes(self) -> Sequence[Any] | None:
        """The declared classes, as numbers or bools if all of them are."""
        from votecert.rows.vocabulary import typed_texts

        if self.classes is None:
            return None
        texts = [text.strip() for text in self.classes.split(",")]
        if "" in texts or len(set(texts)) < len(texts):
            raise ValueError(f"--classes {self.classes!r} must list different labels, separated by commas.")
        return typed_texts(texts)


@dataclass(frozen=True)
class VoteOptions:
    """The vote and its bound.

    Attributes
    ----------
    weights : learn|uniform|FILE
        Learn them on these rows, give every voter the same, or read a csv, json or npy file.
    fixed_in_advance
        The weights in the file were fixed without looking at these rows: then nothing is tighter than the
        test-set bound.
    bound : ID
        Which bound, see [bold]votecert bounds[/]; 'best' pays for trying three. By default occam for learned
        weights, dirichlet for a file, test-set for what was fixed in advance.
    fallback : LABEL
        Prediction where every voter abstains and the vote has learned no answer for that; without it such
        rows count as errors.
    """

    weights: Annotated[str, typer.Option("--weights", "-w", autocompletion=complete_weights)] = "learn"
    fixed_in_advance: bool = False
    bound: Annotated[str | None, typer.Option("--bound", "-b", autocompletion=complete_bound)] = None
    fallback: str | None = None


@dataclass(frozen=True)
class LearningOptions:
    """The vote and its bound.

    Attributes
    ----------
    seed : N
        Seed of the split and of random starts, 0 by default. Choose it once: trying seeds voids the
        guarantee.
    split : F
        Share of the rows spent on fitting a vote that the others certify; by default it depends on how many
        rows and voters there are. 0: none.
    time_budget : SECONDS
        Stop learning after so many seconds.
    """

    seed: Annotated[int | None, typer.Option(min=0)] = None
    split: Annotated[float | None, typer.Option(min=0.0, max=0.9)] = None
    time_budget: Annotated[float | None, typer.Option(min=0.0)] = None

    def given(self, weights: str = "learn") -> dict[str, Any]:
        """Those that the user gave, as the library calls them; refused where nothing is learned."""
        options = {"random_state": self.seed, "split": self.split, "time_budget": self.time_budget}
        options = {name: value for name, value in options.items() if value is not None}
        if options and weights != "learn":
            raise ValueError("--seed, --split and --time-budget are for --weights learn only.")
        return options


@dataclass(frozen=True)
class ResultOptions:
    """What to do with the result.

    Attributes
    ----------
    json_file : FILE
        Write the result as JSON; - is stdout.
    html : FILE
        Write a report to look at.
    title : TEXT
        What the report is about.
    """

    json_file: Annotated[str | None, typer.Option("--json")] = None
    html: Path | None = None
    title: str | None = None


Votes = Annotated[
    list[str],
    typer.Argument(
        metavar="VOTES",
        help="csv, tsv, json, parquet, npz or npy file: a row a case and a column a voter, or a line a vote; "
        "- reads csv or JSON from stdin. Several files are joined by --item.",
    ),
]
CertifiedVotes = Annotated[
    list[str] | None,
    typer.Argument(metavar="VOTES", help="The certified rows, to recount the statistics from them."),
]
CertificateFile = Annotated[
    Path, typer.Argument(metavar="CERTIFICATE", help="A certificate, or a triage, written with --json.")
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

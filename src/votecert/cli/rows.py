"""The rows that a command works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from votecert.cli.console import Talk, plain, standard_input
from votecert.rows.ballots import Ballots
from votecert.rows.files import VoteFile, read_votes, read_weights
from votecert.rows.tables import places_of
from votecert.rows.vocabulary import typed_texts

if TYPE_CHECKING:
    from votecert import Certificate

MANY_ABSENT = 20
"""So many labels that are never true hint at a column that is no voter."""


@dataclass(frozen=True)
class RowOptions:
    """What the user says about a file of votes."""

    votes: str
    label: str | None = None
    group: str | None = None
    ignore: Sequence[str] = ()
    classes: str | Sequence[Any] | None = None
    header: bool = True
    can_abstain: bool | None = None

    @property
    def name(self) -> str:
        """How messages call the file."""
        return "standard input" if self.votes == "-" else self.votes

    def declared(self) -> Sequence[Any] | None:
        """The declared classes, as numbers or bools if all of them are."""
        if not isinstance(self.classes, str):
            return self.classes
        texts = [text.strip() for text in self.classes.split(",")]
        if "" in texts or len(set(texts)) < len(texts):
            raise ValueError(f"--classes {self.classes!r} must list different labels, separated by commas.")
        return typed_texts(texts)


def read_rows(options: RowOptions, talk: Talk) -> VoteFile:
    """Read the file and say what was found in it."""
    with talk.wait(f"Reading {plain(options.name)}") as waiting:
        found = read_votes(
            standard_input() if options.votes == "-" else options.votes,
            label=options.label,
            group=options.group,
            ignore=options.ignore,
            classes=options.declared(),
            can_abstain=options.can_abstain,
            header=options.header,
            progress=waiting.advance,
        )
    rows = found.ballots
    missing = f", {found.n_abstentions} missing votes (abstentions)" if found.n_abstentions else ""
    amounts = f"{rows.n_rows} rows, {rows.n_voters} voters, {rows.n_classes} classes"
    talk.say(f"{plain(options.name)}: {amounts}{missing}")
    if not rows.classes_declared and len(found.never_true) > min(MANY_ABSENT, rows.n_classes // 2):
        absent = ", ".join(plain(label) for label in found.never_true[:3])
        talk.say(
            f"[yellow]Note:[/] {len(found.never_true)} labels ({absent}, ...) are voted for but never true. "
            "If a column is no voter, leave it out with --ignore."
        )
    return found


def rows_of_group(certificate: Certificate, found: VoteFile) -> Ballots:
    """The rows that a certificate speaks about, with its voters in their order."""
    rows = _with_voters_of(certificate, found)
    if certificate.group is None or found.groups is None:
        return rows
    return rows.subset(found.groups == certificate.group)


def _with_voters_of(certificate: Certificate, found: VoteFile) -> Ballots:
    if certificate.voters is None or found.voters is None:
        return found.ballots
    places = places_of(certificate.voters, found.voters)
    if places is None:
        return found.ballots
    others = [name for name in found.voters if name not in certificate.voters]
    if others:
        raise ValueError(
            f"The column {others[0]!r} is no voter of the certificate: leave it out with --ignore."
        )
    return replace(found.ballots, codes=found.ballots.codes[:, places])


def weights_of(text: str, found: VoteFile) -> Any:
    """The weights: "learn", "uniform" or numbers from a file."""
    if text in ("learn", "uniform"):
        return text
    return read_weights(text, found.ballots.n_voters, found.voters)


def learning_options(
    weights: str, *, seed: int | None, split: float | None, time_budget: float | None
) -> dict[str, Any]:
    """Options for learning, refused where nothing is learned."""
    given = {"random_state": seed, "split": split, "time_budget": time_budget}
    given = {name: value for name, value in given.items() if value is not None}
    if given and weights != "learn":
        raise ValueError("--seed, --split and --time-budget are for --weights learn only.")
    return given


def fallback_of(text: str | None, found: VoteFile) -> Any:
    """The class that a fallback names."""
    if text is None:
        return None
    for label in found.ballots.classes.tolist():
        if str(label) == text:
            return label
    known = ", ".join(map(str, found.ballots.classes.tolist()[:8]))
    raise ValueError(f"--fallback {text!r} is not one of the classes: {known}.")

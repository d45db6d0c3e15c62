"""The rows that a command works on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import votecert as vc
from votecert.cli.console import Talk, plain, source_of
from votecert.cli.errors import in_options
from votecert.cli.options import RowOptions, VoteOptions
from votecert.rows.ballots import Ballots
from votecert.rows.files import VoteFile, read_votes, read_weights
from votecert.rows.tables import places_of

Result = vc.Certificate | vc.Triage
"""What a file may hold that speaks about rows."""


def read_rows(votes: str, options: RowOptions, talk: Talk, **instead: Any) -> VoteFile:
    """Read the file and say what was found in it; ``instead`` of options, what a certificate wants."""
    name, source = source_of(votes)
    wanted: dict[str, Any] = {
        "label": options.label,
        "group": options.group,
        "ignore": options.ignore or (),
        "classes": options.declared_classes(),
        "can_abstain": options.can_abstain or None,
        "header": not options.no_header,
        "validate": not options.force,
    }
    with talk.wait(f"Reading {plain(name)}") as waiting:
        found = read_votes(source, **wanted | instead, progress=waiting.advance)
    rows = found.ballots
    missing = f", {found.n_abstentions} missing votes (abstentions)" if found.n_abstentions else ""
    amounts = f"{rows.n_rows} rows, {rows.n_voters} voters, {rows.n_classes} classes"
    talk.say(f"{plain(name)}: {amounts}{missing}")
    for note in rows.notes:
        talk.say(f"[yellow]Note:[/] {plain(in_options(note))}")
    return found


def encoding(certificate: Result, options: RowOptions) -> dict[str, Any]:
    """How to read the rows that a certificate speaks about: with its classes and its rule for abstentions."""
    if certificate.group is not None and options.group is None:
        raise ValueError(
            "This is a certificate of one group: say with --group which column names the groups."
        )
    counted = certificate if isinstance(certificate, vc.Triage) else certificate.terms
    return {
        "group": None if certificate.group is None else options.group,
        "classes": list(certificate.predictor.classes),
        "can_abstain": counted.n_outputs > len(certificate.predictor.classes),
    }


def rows_of_group(certificate: Result, found: VoteFile) -> Ballots:
    """The rows that a certificate speaks about, with its voters in their order."""
    rows, voters = found.ballots, certificate.voters
    if voters is not None and found.voters is not None:
        places = places_of(voters, found.voters)
        others = [name for name in found.voters if name not in voters]
        if places is not None and others:
            raise ValueError(
                f"The column {others[0]!r} is no voter of the certificate: leave it out with --ignore."
            )
        rows = rows if places is None else replace(rows, codes=rows.codes[:, places])
    if certificate.group is None or found.groups is None:
        return rows
    return rows.subset(found.groups == certificate.group)


def vote_of(options: VoteOptions, found: VoteFile) -> dict[str, Any]:
    """The vote that is to be certified, as arguments of the library."""
    weights: Any = options.weights
    if weights not in ("learn", "uniform"):
        weights = read_weights(weights, found.ballots.n_voters, found.voters)
    labels = {str(label): label for label in found.ballots.classes.tolist()}
    if options.fallback is not None and options.fallback not in labels:
        known = ", ".join(list(labels)[:8])
        raise ValueError(f"--fallback {options.fallback!r} is not one of the classes: {known}.")
    return {
        "weights": weights,
        "fixed_in_advance": options.fixed_in_advance,
        "fallback": None if options.fallback is None else labels[options.fallback],
        "voters": found.voters,
    }

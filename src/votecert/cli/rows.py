"""The rows that a command works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import votecert as vc
from votecert.cli.console import Talk, plain, source_of
from votecert.cli.errors import in_options
from votecert.cli.options import RowOptions, VoteOptions

Result: TypeAlias = "vc.Certificate | vc.Triage | vc.LossCertificate"  # a text: help need not wait for SciPy
"""What a file may hold that speaks about rows."""


PREDICTED = "predicted"
"""What --group says for groups by what the vote says: no column."""


def read_rows(votes: Sequence[str], options: RowOptions, talk: Talk, **instead: Any) -> vc.VoteTable:
    """Read the file and say what was found in it; ``instead`` of options, what a certificate wants."""
    from votecert.rows.checks import CLUSTERED
    from votecert.rows.files.read import read_table

    name, source = source_of(votes)
    named = {option: instead.pop(option) for option in ("group", "voters") if option in instead}
    if options.group == PREDICTED:
        named["group"] = None
    wanted: dict[str, Any] = {
        "gold": options.gold,
        "abstain": options.abstain or (),
        "classes": options.declared_classes(),
        "can_abstain": options.can_abstain or None,
        "header": not options.no_header,
        "validate": not options.force,
    }
    with talk.wait(f"Reading {plain(name)}") as waiting:
        found = read_table(source, options.layout(**named), **wanted | instead, progress=waiting.advance)
    rows = found.ballots
    missing = f", {found.n_abstentions} missing votes (abstentions)" if found.n_abstentions else ""
    amounts = f"{rows.n_rows} rows, {rows.n_voters} voters, {rows.n_classes} classes"
    talk.say(f"{plain(name)}: {amounts}{missing}")
    for note in [one for one in rows.notes if one != CLUSTERED or not named.get("group")]:
        talk.note(plain(in_options(note)))
    return found


def encoding(certificate: Result, options: RowOptions) -> dict[str, Any]:
    """How to read the rows that a certificate speaks about: with its classes and its rule for abstentions."""
    if certificate.group is not None and options.group is None:
        raise ValueError(
            "This is a certificate of one group: say with --group which column names the groups."
        )
    by_column = certificate.group is not None
    if isinstance(certificate, vc.LossCertificate):
        by_column = certificate.clusters or certificate.single_rows
        if certificate.clusters and options.group is None:
            raise ValueError("This was certified by cluster: say with --cluster which column names them.")
    counted = certificate.terms if isinstance(certificate, vc.Certificate) else certificate
    return {
        "group": options.group if by_column else None,
        "classes": list(certificate.predictor.classes),
        "can_abstain": counted.n_outputs > len(certificate.predictor.classes),
        "voters": certificate.voters,
        "validate": False,  # its maker has seen the notes
    }


def rows_of_group(certificate: Result, found: vc.VoteTable) -> vc.Ballots:
    """The rows that a certificate speaks about, read with its voters."""
    if certificate.group is None:
        return found.ballots
    if found.groups is None:  # --group predicted
        from votecert.certificate.groups import predicted

        said = found.ballots.classes[predicted(found.ballots, certificate.predictor)].astype(str)
        return found.ballots.subset(said == certificate.group)
    return found.ballots.subset(found.groups == certificate.group)


def vote_of(options: VoteOptions, found: vc.VoteTable) -> dict[str, Any]:
    """The vote that is to be certified, as arguments of the library."""
    from votecert.rows.files.weights import read_weights

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

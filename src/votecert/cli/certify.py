"""The commands that make certificates: ``certify``, ``compare``, ``learn``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import Talk, data, plain, table
from votecert.cli.errors import Code, leave, noticing_interruption
from votecert.cli.results import (
    STDOUT,
    check_outputs,
    comparison,
    gate,
    percent,
    show_certificate,
    show_table,
    to_json,
    write_html,
    write_json,
)
from votecert.cli.rows import RowOptions, fallback_of, learning_options, read_rows, rows_of_group, weights_of
from votecert.rows.files import format_weights, write_atomically

SHOWN_WEIGHTS = 25
"""Voters listed by ``learn``."""


def certify(
    votes: opt.Votes,
    label: opt.Label = None,
    group: opt.Group = None,
    ignore: opt.Ignore = None,
    classes: opt.Classes = None,
    no_header: opt.NoHeader = False,
    can_abstain: opt.CanAbstain = False,
    weights: opt.Weights = "learn",
    fixed_in_advance: opt.FixedInAdvance = False,
    bound: opt.BoundId = None,
    delta: opt.Delta = 0.05,
    fallback: opt.Fallback = None,
    seed: opt.Seed = None,
    split: opt.Split = None,
    time_budget: opt.TimeBudget = None,
    json_file: opt.Json = None,
    html: opt.Html = None,
    title: opt.Title = None,
    max_risk: opt.MaxRisk = None,
    quiet: opt.Quiet = False,
) -> None:
    """Bound the true error of a weighted majority vote.

    The number holds with probability 1 - delta although the weights were
    learned on the same rows. With --quiet only the number is printed.
    """
    talk = Talk(quiet)
    learning = learning_options(weights, seed=seed, split=split, time_budget=time_budget)
    check_outputs(json_file, html)
    rows = RowOptions(votes, label, group, ignore or (), classes, not no_header, can_abstain or None)
    found = read_rows(rows, talk)
    make = vc.certify  # loaded before it can be interrupted
    with noticing_interruption() as interruption, talk.wait("Certifying") as waiting:
        if weights == "learn":
            learning["callback"] = waiting.news
        result = make(
            found.ballots,
            weights=weights_of(weights, found),
            fixed_in_advance=fixed_in_advance,
            bound=bound,
            delta=delta,
            fallback=fallback_of(fallback, found),
            groups=found.groups,
            voters=found.voters,
            **learning,
        )
    made = list(result) if isinstance(result, vc.CertificateTable) else [result]
    if json_file != STDOUT and isinstance(result, vc.CertificateTable):
        show_table(result, quiet, "Certificates by group")
    elif json_file != STDOUT:
        show_certificate(result, quiet)
    write_json(json_file, to_json(result), talk)
    if html is not None:
        worst = max(made, key=lambda certificate: certificate.risk)
        rows_of_worst = rows_of_group(worst, found)
        tables = [comparison(worst, rows_of_worst, talk), *([] if worst is result else [result])]
        write_html(html, worst, talk, rows=rows_of_worst, tables=tables, title=title)
    _end_interrupted(interruption.pressed, talk, [c.details for c in made])
    gate(made, max_risk)


def compare(
    votes: opt.Votes,
    label: opt.Label = None,
    ignore: opt.Ignore = None,
    classes: opt.Classes = None,
    no_header: opt.NoHeader = False,
    can_abstain: opt.CanAbstain = False,
    weights: opt.Weights = "uniform",
    fixed_in_advance: opt.FixedInAdvance = False,
    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds", metavar="ID,ID,...", help="Which bounds; all by default.", rich_help_panel=opt.WEIGHTS
        ),
    ] = None,
    simultaneous: Annotated[
        bool,
        typer.Option(
            "--simultaneous",
            help="Split delta so that the bounds hold together and the smallest may be picked.",
            rich_help_panel=opt.WEIGHTS,
        ),
    ] = False,
    delta: opt.Delta = 0.05,
    fallback: opt.Fallback = None,
    seed: opt.Seed = None,
    split: opt.Split = None,
    time_budget: opt.TimeBudget = None,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Evaluate every bound at the same weights.

    Each risk holds on its own with probability 1 - delta: the table is for
    looking, unless --simultaneous.
    """
    talk = Talk(quiet)
    learning = learning_options(weights, seed=seed, split=split, time_budget=time_budget)
    check_outputs(json_file)
    rows = RowOptions(votes, label, None, ignore or (), classes, not no_header, can_abstain or None)
    found = read_rows(rows, talk)
    make = vc.compare  # loaded before it can be interrupted
    with noticing_interruption() as interruption, talk.wait("Comparing bounds") as waiting:
        if weights == "learn":
            learning["callback"] = waiting.news
        result = make(
            found.ballots,
            weights=weights_of(weights, found),
            fixed_in_advance=fixed_in_advance,
            delta=delta,
            bounds=None if bounds is None else [name.strip() for name in bounds.split(",")],
            simultaneous=simultaneous,
            fallback=fallback_of(fallback, found),
            voters=found.voters,
            **learning,
        )
    if json_file != STDOUT:
        show_table(result, quiet, f"Bounds on the error of the vote, delta {delta:g}")
    write_json(json_file, to_json(result), talk)
    _end_interrupted(interruption.pressed, talk, [c.details for c in result])


def learn(
    votes: opt.Votes,
    label: opt.Label = None,
    ignore: opt.Ignore = None,
    classes: opt.Classes = None,
    no_header: opt.NoHeader = False,
    can_abstain: opt.CanAbstain = False,
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="ID",
            help="The bound to minimise, see [bold]votecert bounds[/].",
            autocompletion=opt.complete_bound,
            rich_help_panel=opt.WEIGHTS,
        ),
    ] = "occam",
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="lbfgs|adam",
            help="For smooth objectives: full-batch descent, the default, or the paper's mini-batches.",
            rich_help_panel=opt.WEIGHTS,
        ),
    ] = None,
    delta: opt.Delta = 0.05,
    seed: opt.Seed = None,
    split: opt.Split = None,
    time_budget: opt.TimeBudget = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the weights: csv, json or npy, for --weights FILE.",
            rich_help_panel=opt.RESULT,
        ),
    ] = None,
    json_file: Annotated[
        str | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write weights, offsets and the bound as JSON; - is stdout.",
            rich_help_panel=opt.RESULT,
        ),
    ] = None,
    quiet: opt.Quiet = False,
) -> None:
    """Find the weights with the smallest bound.

    The bound covers that they were learned on these rows. For a certificate
    use [bold]certify[/], which learns as well.
    """
    talk = Talk(quiet)
    learning = learning_options("learn", seed=seed, split=split, time_budget=time_budget)
    check_outputs(output, json_file)
    if output is not None:
        format_weights(output, *_no_weights())  # refuse a name of the wrong kind before the work
    rows = RowOptions(votes, label, None, ignore or (), classes, not no_header, can_abstain or None)
    found = read_rows(rows, talk)
    make = vc.learn  # loaded before it can be interrupted
    with noticing_interruption() as interruption, talk.wait("Learning weights") as waiting:
        learned = make(
            found.ballots,
            objective=objective,
            delta=delta,
            method=method,  # type: ignore[arg-type]
            callback=waiting.news,
            **learning,
        )
    names = found.voters or tuple(str(position) for position in range(found.ballots.n_voters))
    content = {
        "objective": learned.objective,
        "risk": learned.risk,
        "delta": delta,
        "concentration": learned.concentration,
        "voters": list(names),
        "weights": learned.weights.tolist(),
        "classes": found.ballots.classes.tolist(),
        "offsets": learned.offsets.tolist(),
    }
    if json_file != STDOUT:
        _show_weights(content, quiet)
    write_json(json_file, json.dumps(content, indent=2, ensure_ascii=False) + "\n", talk)
    if output is not None:
        write_atomically(output, format_weights(output, learned.weights, found.voters))
        talk.say(f"Wrote {plain(output)}")
        if learned.offsets.any():
            talk.say(
                "[yellow]Note:[/] this vote also has offsets for some classes, which a file of "
                "weights does not hold; certify --weights learn certifies it whole."
            )
    _end_interrupted(interruption.pressed, talk, [learned.evaluation.details])


def _no_weights() -> tuple[Any, list[str]]:
    import numpy as np

    return np.zeros(0), []


def _show_weights(content: dict[str, Any], quiet: bool) -> None:
    order = sorted(range(len(content["weights"])), key=lambda i: -content["weights"][i])
    shown = table("voter", "weight", numbers=("weight",))
    for i in order[:SHOWN_WEIGHTS]:
        shown.add_row(plain(content["voters"][i]), f"{content['weights'][i]:.4f}")
    for label, offset in zip(content["classes"], content["offsets"], strict=True):
        if offset:
            shown.add_row(f"always {plain(label)}", f"{offset:+.4f}")
    data().print("[bold]Learned weights, largest first[/]")
    data().print(shown)
    if len(order) > SHOWN_WEIGHTS:
        data().print(f"... and {len(order) - SHOWN_WEIGHTS} more")
    if not quiet:
        bound = vc.BOUNDS[content["objective"]]
        data().print(f"{plain(bound.title)}: the error is at most {percent(content['risk'])}.")


def _end_interrupted(pressed: bool, talk: Talk, details: Iterable[dict[str, Any]]) -> None:
    """After Ctrl-C during learning the result is complete and valid; the exit code tells scripts."""
    if pressed:
        talk.say("Interrupted while learning: this is the best vote found until then, and its bound holds.")
        leave(Code.INTERRUPTED)
    if any(found.get("interrupted") for found in details):
        talk.say(
            "The time for learning was used up: this is the best vote found until then; its bound holds."
        )

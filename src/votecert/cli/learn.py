"""``learn``: weights for another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk, data, plain, table
from votecert.cli.learning import learning
from votecert.cli.results import as_json, check_outputs, deliver, percent, save
from votecert.cli.rows import read_rows

SHOWN_WEIGHTS = 25
"""So many voters are listed."""


def learn(
    votes: opt.Votes,
    *,
    row_options: Annotated[opt.RowOptions, without("group")],
    objective: Annotated[
        str, typer.Option(autocompletion=opt.complete_bound, rich_help_panel=opt.VOTE)
    ] = "occam",
    method: Annotated[str | None, typer.Option(rich_help_panel=opt.VOTE)] = None,
    delta: opt.Delta = 0.05,
    learning_options: opt.LearningOptions,
    output: Annotated[Path | None, typer.Option("--output", "-o", rich_help_panel=opt.RESULT)] = None,
    result_options: Annotated[opt.ResultOptions, without("html", "title")],
    talk: Talk,
) -> None:
    """Find the weights with the smallest bound.

    The bound covers that they were learned on these rows. For a certificate
    use [bold]certify[/], which learns as well.

    Parameters
    ----------
    objective : ID
        The bound to minimise, see [bold]votecert bounds[/].
    method : lbfgs|adam
        For smooth objectives: full-batch descent, the default, or the paper's mini-batches.
    output : FILE
        Write the weights: csv, json or npy, for --weights FILE.

    Examples
    --------
    votecert learn votes.csv --label truth --objective f2 --output weights.csv
    """
    import numpy as np

    from votecert.rows.files.weights import format_weights

    check_outputs(result_options, output)
    if output is not None:
        format_weights(output, np.zeros(0), [])  # refuse a name of the wrong kind before the work
    found = read_rows(votes, row_options, talk)
    options = {"objective": objective, "method": method, "delta": delta, **learning_options.given()}
    learned, interruption = learning(vc.learn, "Learning weights", talk, found, **options)
    content = {
        "votecert_weights": 1,
        "votecert_version": vc.__version__,
        "objective": learned.objective,
        "risk": learned.risk,
        "delta": delta,
        "concentration": learned.concentration,
        "voters": list(found.voters or map(str, range(found.ballots.n_voters))),
        "weights": learned.weights.tolist(),
        "classes": found.ballots.classes.tolist(),
        "offsets": learned.offsets.tolist(),
        "table": None if learned.table is None else learned.table.tolist(),
    }
    deliver(as_json(content), result_options, talk, lambda: _show(content, talk))
    if output is not None:
        save(output, format_weights(output, learned.weights, found.voters), talk)
        if learned.offsets.any() or learned.table is not None:
            more = "offsets for some classes" if learned.table is None else "votes of its own for each answer"
            talk.note(
                f"this vote also has {more}, which a file of weights does not hold; certify --weights learn "
                "certifies it whole."
            )
    interruption.end(talk, [learned.evaluation.details])


def _show(content: dict[str, Any], talk: Talk) -> None:
    pairs = sorted(zip(content["voters"], content["weights"], strict=True), key=lambda pair: -pair[1])
    shown = table("voter", "weight", numbers=("weight",))
    for voter, weight in pairs[:SHOWN_WEIGHTS]:
        shown.add_row(plain(voter), f"{weight:.4f}")
    for label, offset in zip(content["classes"], content["offsets"], strict=True):
        if offset:
            shown.add_row(f"always {plain(label)}", f"{offset:+.4f}")
    data().print("[bold]Learned weights, largest first[/]")
    data().print(shown)
    if len(pairs) > SHOWN_WEIGHTS:
        data().print(f"... and {len(pairs) - SHOWN_WEIGHTS} more")
    if not talk.quiet:
        bound = vc.BOUNDS[content["objective"]]
        data().print(f"{plain(bound.title)}: the error is at most {percent(content['risk'])}.")

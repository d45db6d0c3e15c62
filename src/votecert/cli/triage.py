"""``triage``: what the vote may decide alone."""

from __future__ import annotations

from typing import Annotated

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk, data, plain, table
from votecert.cli.errors import Code, leave
from votecert.cli.results import check_outputs, deliver, percent, save_report
from votecert.cli.rows import read_rows, vote_of


def triage(
    votes: opt.Votes,
    *,
    row_options: Annotated[opt.RowOptions, without("group")],
    max_risk: Annotated[float, typer.Option(min=0.0, max=1.0, rich_help_panel=opt.VOTE)] = 0.05,
    vote: Annotated[opt.VoteOptions, without("bound")],
    thresholds: Annotated[str | None, typer.Option(rich_help_panel=opt.VOTE)] = None,
    delta: opt.Delta = 0.05,
    learning_options: Annotated[opt.LearningOptions, without("time_budget")],
    result_options: opt.ResultOptions,
    talk: Talk,
) -> None:
    """Say which cases the vote may decide alone, and hand over the rest.

    It answers where its winner leads clearly. With probability 1 - delta at
    most R of the new cases that it answers are wrong, and at least the printed
    share of new cases is answered. With --quiet only that share is printed.
    Exit code 1: nothing can be answered.

    Parameters
    ----------
    max_risk : R
        The share of errors that is allowed among answered cases. Choose it before you see the result.
    thresholds : T,...
        Leads to try, in shares of all votes, fixed without looking at these rows.

    Examples
    --------
    votecert triage judges.csv --label human --max-risk 0.02 --json triage.json
    votecert predict triage.json new.csv --output decided.csv
    """
    given = learning_options.given(vote.weights)
    check_outputs(result_options)
    leads = None if thresholds is None else _numbers(thresholds)
    found = read_rows(votes, row_options, talk)
    with talk.wait("Testing thresholds"):
        given |= vote_of(vote, found)
        result = vc.triage(found.ballots, max_risk=max_risk, delta=delta, thresholds=leads, **given)
    coverage = f"{int(result.coverage * 10_000) / 10_000:.4f}"
    deliver(result.to_json(), result_options, talk, lambda: show(result), coverage)
    save_report(result, result_options, talk)
    if result.threshold is None:
        why = f"Nothing can be answered with a risk of {percent(max_risk)}: {result.reason}"
        leave(Code.TOO_RISKY, why)


def _numbers(thresholds: str) -> list[float]:
    try:
        return [float(text) for text in thresholds.split(",")]
    except ValueError:
        raise ValueError(f"--thresholds {thresholds!r} must be numbers, separated by commas.") from None


def show(result: vc.Triage) -> None:
    """The result in a few lines, and the curve."""
    from votecert.certificate.text import at_least
    from votecert.certificate.triage.words import lead

    curve = table("lead at least", "wrong at most", "answered at least", "answered", "wrong", "handed over")
    for point in result.curve:
        counts = point.answered, point.errors, result.n_rows - point.answered
        style = "bold" if point.threshold == result.threshold else None
        limits = lead(point.threshold), percent(point.risk), at_least(point.coverage)
        curve.add_row(*limits, *(f"{n:,}" for n in counts), style=style)
    data().print(plain(result.statement))
    data().print(curve)
    data().print(f"Limits of the table hold together: any of them may be chosen. Of {result.n_rows:,} rows.")

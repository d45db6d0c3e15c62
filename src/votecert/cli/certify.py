"""``certify``: a certificate, or one for each group of rows; of errors, of costs or of errors by cluster."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import Talk, text_of
from votecert.cli.learning import learning
from votecert.cli.results import check_outputs, comparison, gate, gate_losses, save_report, show
from votecert.cli.rows import PREDICTED, read_rows, rows_of_group, vote_of

LARGEST_TABLE = 10_000_000
"""Larger files are no tables of costs."""


def certify(
    votes: opt.Votes,
    *,
    row_options: opt.RowOptions,
    vote: opt.VoteOptions,
    delta: opt.Delta = 0.05,
    learning_options: opt.LearningOptions,
    result_options: opt.ResultOptions,
    costs: Annotated[Path | None, typer.Option(rich_help_panel=opt.VOTE)] = None,
    cluster: Annotated[str | None, typer.Option(rich_help_panel=opt.VOTE)] = None,
    largest_cluster: Annotated[int | None, typer.Option(min=1, rich_help_panel=opt.VOTE)] = None,
    sequential: Annotated[bool, typer.Option("--sequential", rich_help_panel=opt.VOTE)] = False,
    max_risk: Annotated[float | None, typer.Option(min=0.0, rich_help_panel=opt.RESULT)] = None,
    talk: Talk,
) -> None:
    """Bound the true error of a weighted majority vote.

    The number holds with probability 1 - delta although the weights were
    learned on the same rows. With --quiet only the number is printed.

    Parameters
    ----------
    costs : FILE
        csv table of what each answer (column) costs for each true class (row): limit the expected cost.
    cluster : COLUMN
        Which rows belong together, to one conversation or patient: clusters are then what is counted.
    largest_cluster : N
        No cluster has more rows: then rows count alike, however large their clusters.
    sequential
        You look while rows come in, and stop when the number is small enough. For a vote fixed in advance.
    max_risk : R
        Exit with code 1 if the certified risk, or cost, is above R.

    Examples
    --------
    votecert certify votes.csv --label truth --json certificate.json --html report.html
    votecert certify judges.csv --label human --max-risk 0.1 || echo 'too risky'
    """
    given = learning_options.given(vote.weights)
    check_outputs(result_options)
    if largest_cluster is not None and cluster is None:
        raise ValueError("--largest-cluster goes with --cluster, which says what belongs together.")
    if costs is not None or cluster is not None:
        if row_options.group is not None or vote.bound is not None or sequential:
            raise ValueError("--costs and --cluster do not go with --group, --bound or --sequential.")
        found = read_rows(votes, row_options, talk, group=cluster)
        with talk.wait("Certifying"):
            limited = vc.certify(
                found.ballots,
                delta=delta,
                costs=None if costs is None else read_costs(costs),
                clusters=found.groups,
                largest_cluster=largest_cluster,
                **vote_of(vote, found),
                **given,
            )
        show(limited, result_options, talk)
        save_report(limited, result_options, talk)
        gate_losses(limited, max_risk)
        return
    found = read_rows(votes, row_options, talk)
    asked = {"bound": vote.bound, "delta": delta, "sequential": sequential, **vote_of(vote, found), **given}
    asked["groups"] = PREDICTED if row_options.group == PREDICTED else found.groups
    result, interruption = learning(vc.certify, "Certifying", talk, found, **asked)
    show(result, result_options, talk, "Certificates by group")
    made = [result] if isinstance(result, vc.Certificate) else list(result)
    if result_options.html is not None:
        worst = max(made, key=lambda certificate: certificate.risk)
        rows = rows_of_group(worst, found)
        tables = [comparison(worst, rows, talk), *([] if worst is result else [result])]
        save_report(worst, result_options, talk, votes=rows, table=tables, max_risk=max_risk)
    interruption.end(talk, [one.details for one in made])
    gate(made, max_risk)


def read_costs(path: Path) -> dict[str, dict[str, float]]:
    """A csv table of costs: the first column names true classes, the others are answers."""
    text = text_of(path, LARGEST_TABLE, "a table of costs")
    lines = [[cell.strip() for cell in line] for line in csv.reader(text.splitlines(True)) if any(line)]
    if len(lines) < 2 or any(len(line) != len(lines[0]) for line in lines):
        raise ValueError(
            f"{path}: a table of costs has a line with the answers, and one for each true class."
        )
    for names in (lines[0][1:], [true for true, *_ in lines[1:]]):
        if len(set(names)) < len(names):
            raise ValueError(f"{path}: a class is listed twice in {', '.join(names)}.")
    try:
        return {true: dict(zip(lines[0][1:], map(float, row), strict=True)) for true, *row in lines[1:]}
    except ValueError:
        raise ValueError(f"{path}: costs must be numbers.") from None

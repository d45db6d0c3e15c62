"""``certify``: a certificate, or one for each group of rows."""

from __future__ import annotations

from typing import Annotated

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import Talk
from votecert.cli.learning import learning
from votecert.cli.results import check_outputs, comparison, gate, save_report, show
from votecert.cli.rows import PREDICTED, read_rows, rows_of_group, vote_of


def certify(
    votes: opt.Votes,
    *,
    row_options: opt.RowOptions,
    vote: opt.VoteOptions,
    delta: opt.Delta = 0.05,
    learning_options: opt.LearningOptions,
    result_options: opt.ResultOptions,
    sequential: Annotated[bool, typer.Option("--sequential", rich_help_panel=opt.VOTE)] = False,
    max_risk: Annotated[float | None, typer.Option(min=0.0, max=1.0, rich_help_panel=opt.RESULT)] = None,
    talk: Talk,
) -> None:
    """Bound the true error of a weighted majority vote.

    The number holds with probability 1 - delta although the weights were
    learned on the same rows. With --quiet only the number is printed.

    Parameters
    ----------
    sequential
        You look while rows come in, and stop when the number is small enough. For a vote fixed in advance.
    max_risk : R
        Exit with code 1 if the certified risk is above R.

    Examples
    --------
    votecert certify votes.csv --label truth --json certificate.json --html report.html
    votecert certify judges.csv --label human --max-risk 0.1 || echo 'too risky'
    """
    given = learning_options.given(vote.weights)
    check_outputs(result_options)
    found = read_rows(votes, row_options, talk)
    result, interruption = learning(
        vc.certify,
        "Certifying",
        talk,
        found,
        learns=vote.weights == "learn",
        bound=vote.bound,
        delta=delta,
        groups=PREDICTED if row_options.group == PREDICTED else found.groups,
        sequential=sequential,
        **vote_of(vote, found),
        **given,
    )
    show(result, result_options, talk, "Certificates by group")
    made = [result] if isinstance(result, vc.Certificate) else list(result)
    if result_options.html is not None:
        worst = max(made, key=lambda certificate: certificate.risk)
        rows = rows_of_group(worst, found)
        tables = [comparison(worst, rows, talk), *([] if worst is result else [result])]
        save_report(worst, rows, tables, result_options, talk, max_risk)
    interruption.end(talk, [one.details for one in made])
    gate(made, max_risk)

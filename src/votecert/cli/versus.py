"""``versus``: is one vote better than the other?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk, data, plain
from votecert.cli.results import check_outputs, deliver
from votecert.cli.rows import read_rows
from votecert.cli.verify import sound_results

PLAIN = "vote"
WIDTH = 61
"""Characters of the picture, an odd number: zero is in the middle."""


def versus(
    votes: opt.Votes,
    *,
    row_options: Annotated[opt.RowOptions, without("group")],
    first: Annotated[str, typer.Option("--first", "-1", rich_help_panel=opt.VOTE)],
    second: Annotated[str, typer.Option("--second", "-2", rich_help_panel=opt.VOTE)],
    cluster: Annotated[str | None, typer.Option(rich_help_panel=opt.VOTE)] = None,
    delta: opt.Delta = 0.05,
    result_options: Annotated[opt.ResultOptions, without("html", "title")],
    talk: Talk,
) -> None:
    """Compare the errors of two voters, or votes, on the same rows.

    Prints limits on the difference of their errors on new rows that hold with
    probability 1 - delta. One is called better only if the limits say so. Both
    must have been fixed without looking at these rows. With --quiet only the
    two limits are printed.

    Parameters
    ----------
    first : WHO
        A column of VOTES, vote (the plain vote of all voters), or a certificate written with --json.
    second : WHO
        The other one.
    cluster : COLUMN
        Which rows belong together, to one conversation or patient: clusters are then what is counted.

    Examples
    --------
    votecert versus judges.csv --label human --first vote --second large_model
    votecert versus new.csv --label human --first new.json --second old.json
    """
    check_outputs(result_options)
    found = read_rows(votes, row_options, talk, group=cluster)
    rows = found.ballots
    answers = [_answers(who, found)[rows.pattern_of_row] for who in (first, second)]
    truth = rows.labels[rows.pattern_of_row]
    result = vc.difference(truth, *answers, delta=delta, clusters=found.groups, names=(first, second))

    def screen() -> None:
        for line in (*picture(result), result.statement):
            data().print(plain(line))

    deliver(result.to_json(), result_options, talk, screen, f"{result.lower!r} {result.upper!r}")


def _answers(who: str, found: vc.VoteTable) -> Any:
    """What a voter, the plain vote or a certified one says on each pattern: class places; -1 is no answer."""
    import numpy as np

    from votecert.rows.tables import places_of

    rows = found.ballots
    if who in (found.voters or ()):
        codes = rows.codes[:, (found.voters or ()).index(who)].astype(np.int64)
        return np.where(codes < rows.n_classes, codes, -1)
    if who == PLAIN:
        return rows.predict(np.ones(rows.n_voters, dtype=np.int64)).astype(np.int64)
    if not Path(who).exists():
        known = ", ".join([*(found.voters or ()), PLAIN][:8])
        raise ValueError(f"{who!r} is no column of votes and no file; there are {known}.")
    certificate, *others = {one.predictor: one for one in sound_results(Path(who))}.values()
    if others:
        raise ValueError(
            f"{who} has certificates of {1 + len(others)} different votes; one is compared here."
        )
    if not isinstance(certificate, vc.Certificate):
        raise ValueError(f"{who} is a {certificate.kind_of_record} file; this takes a certificate of errors.")
    vote, own = certificate.predictor, rows
    if certificate.voters is not None and found.voters is not None:
        places = places_of(certificate.voters, found.voters)
        own = rows if places is None else replace(rows, codes=rows.codes[:, places])
    if list(map(str, vote.classes)) != list(map(str, rows.classes.tolist())):
        listed = ",".join(map(str, vote.classes))
        raise ValueError(f"{who} has the classes {listed}: declare them with --classes {listed}.")
    errors = own.errors(vote.numbers, vote.offsets, vote.fallback)
    same = (own.n_rows, errors) == (certificate.terms.n_rows, certificate.errors)
    if same and certificate.origin == "learned":
        raise ValueError(f"{who} was learned on these very rows: compare on rows that neither has seen.")
    return own.predict(vote.numbers, vote.offsets, vote.fallback).astype(np.int64)


def picture(found: vc.Difference) -> tuple[str, str]:
    """The interval as a line of characters, with zero in the middle, and what is where.

    Examples
    --------
    >>> import numpy as np, votecert as vc
    >>> y = np.zeros(400, dtype=int)
    >>> picture(vc.difference(y, (np.arange(400) % 4 == 0).astype(int), y))[0].strip()
    '|            <=====o=====>'
    """
    reach = max(-found.lower, found.upper)
    reach = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0) if step >= reach)
    half = WIDTH // 2

    def place(value: float) -> int:
        return half + round(value / reach * half)

    line = [" "] * WIDTH
    line[place(found.lower) : place(found.upper) + 1] = "=" * (place(found.upper) - place(found.lower) + 1)
    line[half] = "|"
    for value, sign in ((found.lower, "<"), (found.upper, ">"), (found.estimate, "o")):
        line[place(value)] = sign
    ends = f"-{100 * reach:g} %", f"+{100 * reach:g} %"
    return "".join(line).rstrip(), ends[0] + "first - second".center(WIDTH - sum(map(len, ends))) + ends[1]

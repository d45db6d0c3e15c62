"""``monitor``: labelled rows go in as they come; code 1 says that the certificate no longer holds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk, data, plain
from votecert.cli.errors import Code, leave
from votecert.cli.results import STDOUT, check_outputs, save
from votecert.cli.rows import read_rows
from votecert.cli.verify import LARGEST_CERTIFICATE, sound_certificates
from votecert.rows.files import write_atomically
from votecert.rows.files.lock import locked

ALPHA = 0.01

MonitorRowOptions = Annotated[opt.RowOptions, without("classes", "can_abstain", "force")]


def monitor(
    certificate: opt.CertificateFile,
    votes: Annotated[
        list[str] | None,
        typer.Argument(metavar="NEW...", help="New labelled rows; without any the state is shown."),
    ] = None,
    *,
    state: Annotated[Path, typer.Option("--state", "-s", rich_help_panel=opt.RESULT)],
    row_options: MonitorRowOptions,
    prediction: Annotated[str | None, typer.Option(rich_help_panel="What is in the file")] = None,
    batch: Annotated[str | None, typer.Option(rich_help_panel="What is in the file")] = None,
    skip_seen: Annotated[bool, typer.Option("--skip-seen", rich_help_panel="What is in the file")] = False,
    alpha: Annotated[float | None, typer.Option("--alpha", "-a", rich_help_panel=opt.RESULT)] = None,
    result_options: Annotated[opt.ResultOptions, without("json_file")],
    talk: Talk,
) -> None:
    """Watch a certified vote in use.

    Feeds new labelled rows to the monitor in --state, which is made if it is
    not there. Exit code 1 is an alarm: the error is above what was certified.
    However often this is run, a false alarm has probability at most alpha.
    Rows that were fed before are refused, and then nothing is fed. With
    --quiet only one line is printed.

    Parameters
    ----------
    state : FILE
        Where the monitor is kept: replaced as a whole, one writer at a time.
    prediction : COLUMN
        What the vote said, in place of the votes.
    batch : NAME
        A name for these rows, such as the date: each is fed once. By default a digest of the file.
    skip_seen
        Leave out the --item that were fed before: for a file that grows.
    alpha : A
        Chance of a false alarm over all time, 0.01 by default. Fixed when the state is made.

    Examples
    --------
    votecert monitor certificate.json today.csv --label truth --state monitor.json
    votecert monitor certificate.json all.csv --label truth --item id --skip-seen --state monitor.json
    """
    from votecert.monitoring.words import line  # brings SciPy, which the other commands need not wait for

    check_outputs(result_options, state)
    if str(state) == STDOUT:
        raise ValueError("--state must be a file: it is read and written.")
    watched = _watched(sound_certificates(certificate), certificate)
    if not votes and not state.exists():
        raise ValueError(f"There is no monitor in {state} yet: give new rows to start with.")
    with locked(state):
        now = _opened(state, watched, alpha, talk)
        if votes:
            before = now.rows
            now.update(**_new_rows(votes, watched, row_options, prediction, batch, talk), skip_seen=skip_seen)
            if now.rows > before or not state.exists():
                write_atomically(state, now.to_json())
            talk.say(f"{now.rows - before:,} new rows, {now.rows:,} in all; {plain(state)}")
    if result_options.html is not None:
        save(result_options.html, now.to_html(title=result_options.title), talk)
    data().print(plain(line(now)), soft_wrap=True)
    if not talk.quiet:
        data().print(plain(now.statement))
    if now.alarm:
        leave(Code.TOO_RISKY)


def _watched(certificates: list[vc.Certificate], path: Path) -> vc.Certificate | vc.CertificateTable:
    """The certificate of a file, or its table of groups."""
    if len(certificates) == 1:
        return certificates[0]
    if any(one.group is None for one in certificates):
        raise ValueError(f"{path} holds certificates by several bounds: give a file with one of them.")
    return vc.CertificateTable(tuple(certificates), "group", simultaneous=True)


def _opened(
    state: Path, watched: vc.Certificate | vc.CertificateTable, alpha: float | None, talk: Talk
) -> vc.Monitor:
    """The monitor of a state file, or a new one."""
    if not state.exists():
        talk.say(f"A new monitor starts in {plain(state)}.")
        return vc.Monitor(watched, ALPHA if alpha is None else alpha)
    if state.stat().st_size > LARGEST_CERTIFICATE:
        raise ValueError(f"{state} is too large to be the state of a monitor.")
    try:
        found = vc.Monitor.from_json(state.read_text("utf-8"), watched)
    except ValueError as error:
        raise ValueError(f"{state}: {error}") from None
    if alpha is not None and alpha != found.alpha:
        raise ValueError(f"The monitor in {state} was made with alpha {found.alpha:g}: leave --alpha out.")
    return found


def _new_rows(
    votes: Sequence[str],
    watched: vc.Certificate | vc.CertificateTable,
    options: opt.RowOptions,
    prediction: str | None,
    batch: str | None,
    talk: Talk,
) -> dict[str, Any]:
    """What to feed."""
    one, group = watched, options.group
    if isinstance(watched, vc.CertificateTable):
        one = watched[0]
        if group is None:
            raise ValueError("These certificates are by group: say with --group which column that is.")
    elif group is not None:
        raise ValueError("--group would be ignored here: the certificate is about all rows.")
    assert isinstance(one, vc.Certificate)
    classes = one.predictor.classes
    voters = one.voters if prediction is None else (prediction,)
    # voters that fall silent are what one wants to hear of, whether or not they ever did
    wanted = {"group": group, "classes": list(classes), "voters": voters, "can_abstain": None}
    found = read_rows(votes, options, talk, **wanted, validate=False)
    if batch is None and found.items is None and "-" not in votes:
        batch = hashlib.sha256(b"".join(Path(name).read_bytes() for name in votes)).hexdigest()
    fed: dict[str, Any] = {"items": found.items, "groups": found.groups, "batch": batch}
    if prediction is None:
        return {**fed, "votes": found.ballots}
    if found.voters != voters:
        raise ValueError(f"{found.source} has no column {prediction!r} with predictions.")
    rows = found.ballots
    labels = np.array([*classes, None], dtype=object)
    said = labels[rows.codes[rows.pattern_of_row, 0]]
    return {**fed, "predictions": said.tolist(), "y": labels[rows.labels[rows.pattern_of_row]].tolist()}

"""``monitor``: labelled rows go in as they come; code 1 says that the certificate no longer holds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk, data, plain, text_of
from votecert.cli.errors import Code, leave
from votecert.cli.results import STDOUT, check_outputs, save_report
from votecert.cli.rows import Result, read_rows
from votecert.cli.verify import LARGEST_CERTIFICATE, sound_results
from votecert.rows.files.atomic import write_atomically
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
    cluster: Annotated[str | None, typer.Option(rich_help_panel="What is in the file")] = None,
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
    cluster : COLUMN
        Which rows belong together, to one conversation or patient: each cluster is then one loss. Fixed when
        the state is made.
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
    from votecert.rows.files.table import NoRowsError

    check_outputs(result_options, state)
    if str(state) == STDOUT:
        raise ValueError("--state must be a file: it is read and written.")
    watched = _watched(sound_results(certificate), certificate)
    if not votes and not state.exists():
        raise ValueError(f"There is no monitor in {state} yet: give new rows to start with.")
    with locked(state):
        now = _opened(state, watched, alpha, cluster is not None)
        if votes:
            before = now.rows
            try:
                rows = _new_rows(votes, now, row_options, prediction, cluster, talk)
                now.update(**rows, batch=_batch(batch, votes, rows), skip_seen=skip_seen)
            except NoRowsError as nothing:  # a day without labels is no reason to wake anybody
                talk.note(f"{plain(nothing)} Nothing was fed.")
            if not state.exists():
                talk.say(f"A new monitor starts in {plain(state)}.")
            if now.rows > before or not state.exists():
                write_atomically(state, now.to_json())
            talk.say(f"{now.rows - before:,} new {now.unit}s, {now.rows:,} in all; {plain(state)}")
    save_report(now, result_options, talk)
    data().print(plain(line(now)), soft_wrap=True)
    if not talk.quiet:
        data().print(plain(now.statement))
    if now.alarm:
        leave(Code.TOO_RISKY)


def _watched(results: list[Result], path: Path) -> Any:
    """The certificate or triage of a file, or its table of groups."""
    if len(results) == 1:
        return results[0]
    if any(isinstance(one, vc.Triage) or one.group is None for one in results):
        raise ValueError(f"{path} holds certificates by several bounds: give a file with one of them.")
    return vc.CertificateTable(tuple(cast(list[vc.Certificate], results)), "group", simultaneous=True)


def _opened(state: Path, watched: Any, alpha: float | None, by_cluster: bool) -> vc.Monitor:
    """The monitor of a state file, or a new one."""
    if not state.exists():
        return vc.Monitor(watched, ALPHA if alpha is None else alpha, by_cluster=by_cluster)
    text = text_of(state, LARGEST_CERTIFICATE, "the state of a monitor")
    try:
        found = vc.Monitor.from_json(text, watched)
    except ValueError as error:
        raise ValueError(f"{state}: {error}") from None
    if alpha is not None and alpha != found.alpha:
        raise ValueError(f"The monitor in {state} was made with alpha {found.alpha:g}: leave --alpha out.")
    return found


def _new_rows(
    votes: Sequence[str],
    monitor: vc.Monitor,
    options: opt.RowOptions,
    prediction: str | None,
    cluster: str | None,
    talk: Talk,
) -> dict[str, Any]:
    """What to feed: answers or votes, true labels, and to what each row belongs."""
    one = monitor.certificates[0]
    if cluster is not None and options.group is not None:
        raise ValueError("--cluster and --group cannot be given together here: use Monitor.update in Python.")
    import numpy as np

    # voters that fall silent are what one wants to hear of, whether or not they ever did
    wanted = {"classes": list(one.classes), "can_abstain": None, "validate": False}
    voters = one.voters if prediction is None else (prediction,)
    try:
        found = read_rows(votes, options, talk, **wanted, group=cluster or options.group, voters=voters)
    except ValueError as error:
        told, unknown, _ = str(error).partition(" Add them to")
        if not unknown:
            raise
        raise ValueError(
            f"{told} On rows whose true label is such the vote errs: do not leave them out. Feed them with "
            "Monitor.update in Python, which counts them as errors."
        ) from None
    if prediction is not None and found.voters != voters:
        raise ValueError(f"{found.source} has no column {prediction!r} with predictions.")
    said, truth, items = found.votes, found.y.tolist(), found.items
    if isinstance(one, vc.Triage):  # for the coverage
        said, truth = np.concatenate([said, found.unlabelled]), truth + [None] * len(found.unlabelled)
        if items is not None and found.unlabelled_items is not None:
            items = np.append(items, found.unlabelled_items)
    fed: dict[str, Any] = {"y": truth, "items": None if cluster else items}
    fed["groups" if cluster is None else "clusters"] = found.groups
    if prediction is not None:
        return {**fed, "predictions": said[:, 0].tolist()}
    return {**fed, "votes": said}


def _batch(name: str | None, votes: Sequence[str], rows: dict[str, Any]) -> str | None:
    """The name of a batch: as given, or a digest of its files, unless its rows or clusters have names."""
    if name is not None or "-" in votes or rows["items"] is not None or rows.get("clusters") is not None:
        return name
    return hashlib.sha256(b"".join(Path(name).read_bytes() for name in votes)).hexdigest()

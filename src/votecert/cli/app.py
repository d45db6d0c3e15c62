"""The app: which commands there are."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from votecert.cli import paper
from votecert.cli.bounds import bounds
from votecert.cli.certify import certify
from votecert.cli.command import add_command
from votecert.cli.compare import compare
from votecert.cli.demo import demo
from votecert.cli.errors import BUG_REPORT, Code, Ending, Guarded, complain, delivered, is_about_a_closed_pipe
from votecert.cli.learn import learn
from votecert.cli.monitor import monitor
from votecert.cli.plan import plan
from votecert.cli.predict import predict
from votecert.cli.report import report
from votecert.cli.triage import triage
from votecert.cli.verify import verify
from votecert.cli.versus import versus

app = typer.Typer(
    name="votecert",
    cls=Guarded,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 too risky, or an alarm, 2 bad usage or input, 3 not verified, 70 a bug.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from votecert import __version__

        typer.echo(f"votecert {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Risk certificates for voting classifiers.

    How wrong can a majority vote be on new rows? Give the votes and the true
    labels of some rows; the answer holds with probability 1 - delta although
    the weights were learned on the same rows.
    """


COMMANDS = (demo, certify, triage, versus, compare, learn, verify, report, predict, monitor, bounds, plan)
for function in COMMANDS:
    add_command(app, function)
app.add_typer(paper.app, name="paper")

ASK_FOR_TEXT = frozenset({"-h", "--help", "--version", "--install-completion", "--show-completion"})
"""Options that end well without any command."""


def run() -> int:
    """Run the command that was asked for and return the exit code.

    It fails closed: what the framework says counts only if a command says so too. "Done" takes a command that
    came to its end, "too risky" and "not verified" one that ended with just that.
    """
    Ending.code = None
    try:
        app(prog_name="votecert")
        code = int(Code.DONE)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if is_about_a_closed_pipe(end):
            return delivered(Code.PIPE_CLOSED)
    only_text = "_VOTECERT_COMPLETE" in os.environ or not ASK_FOR_TEXT.isdisjoint(sys.argv[1:])
    if code == Ending.code or code == Code.BAD_INPUT or (code == Code.DONE and only_text):
        return delivered(code)
    complain(f"The command did not come to its end (code {code}). {BUG_REPORT}")
    return Code.BUG

"""Costs from files, and certificates of costs or of errors by cluster on the screen."""

from __future__ import annotations

import csv
from pathlib import Path

import typer

import votecert as vc
from votecert.cli.console import Talk, data, plain
from votecert.cli.errors import Code, complain, leave
from votecert.cli.options import ResultOptions
from votecert.cli.results import STDOUT, percent, rounded_up, save

LARGEST_TABLE = 10_000_000


def read_costs(path: Path) -> dict[str, dict[str, float]]:
    """A csv table of costs: the first column names true classes, the others are answers."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.stat().st_size > LARGEST_TABLE:
        raise ValueError(f"{path} is too large to be a table of costs.")
    with path.open(encoding="utf-8", newline="") as stream:
        lines = [[cell.strip() for cell in line] for line in csv.reader(stream) if any(line)]
    if len(lines) < 2 or any(len(line) != len(lines[0]) for line in lines):
        raise ValueError(
            f"{path}: a table of costs has a line with the answers, and one for each true class."
        )
    try:
        return {true: dict(zip(lines[0][1:], map(float, row), strict=True)) for true, *row in lines[1:]}
    except ValueError:
        raise ValueError(f"{path}: costs must be numbers.") from None


def show_losses(
    found: vc.LossCertificate, options: ResultOptions, talk: Talk, max_risk: float | None
) -> None:
    """Print what was found and write its files; leave with code 1 if the risk is above the limit."""
    if options.json_file != STDOUT:
        if talk.quiet:
            typer.echo(rounded_up(found.risk) if found.costs is None else repr(found.cost))
        else:
            data().print(plain(found.statement))
    save(options.json_file, found.to_json(), talk)
    if options.html is not None:
        save(options.html, found.to_html(title=options.title), talk)
    if max_risk is not None and found.cost > max_risk:
        said = percent(found.risk) if found.costs is None else f"cost {found.cost:.4g}"
        complain(f"The certified {said} is above --max-risk {max_risk:g}.")
        leave(Code.TOO_RISKY)

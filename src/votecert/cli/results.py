"""Certificates on the screen and in files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

import votecert as vc
from votecert.cli.console import Talk, data, plain, table
from votecert.cli.errors import Code, in_options, leave
from votecert.cli.options import ResultOptions
from votecert.cli.rows import Result
from votecert.rows.files.atomic import check_writable, write_atomically

STDOUT = "-"

SHOWN_VOTERS = 12
"""Up to so many voters are listed with their weights."""

SHOWN_ANSWERS = 24
"""So many answers are listed with what they are worth."""

COUNTABLE_VOTES = 1000
"""Up to so many votes in all, whole numbers say more than percentages."""


def percent(risk: float) -> str:
    """A risk in percent, rounded up as certificates do it."""
    from votecert.certificate.text import percent

    return percent(risk)


def rounded_up(risk: float) -> str:
    """A risk as a number, rounded up as certificates do it."""
    from votecert.certificate.text import rounded_up

    return rounded_up(risk)


def marked(risk: float, is_guarantee: bool) -> str:
    """A risk in a table, in parentheses if it is no guarantee."""
    return percent(risk) if is_guarantee else f"[dim]({percent(risk)})[/]"


def check_outputs(options: ResultOptions | None, *more: str | Path | None) -> None:
    """Refuse files that cannot be written, and a title for no report, before any work is done."""
    named = (options.json_file, options.html) if options is not None else ()
    if options is not None and str(options.html) == STDOUT:
        raise ValueError("--html must be a file: the report does not go to standard output.")
    if options is not None and options.title is not None and options.html is None:
        raise ValueError("--title is for the report: say with --html where that goes.")
    files = [str(path) for path in (*named, *more) if path is not None and str(path) != STDOUT]
    for place, path in enumerate(files):
        if path in files[:place] and path != os.devnull:
            raise ValueError(f"{path} is given for two results: the second would replace the first.")
        check_writable(path)


def deliver(
    text: str, options: ResultOptions, talk: Talk, screen: Callable[[], None], number: str | None = None
) -> None:
    """Show what was found, when quiet its number only, and write its JSON: on stdout that stands alone."""
    if options.json_file != STDOUT:
        if talk.quiet and number is not None:
            typer.echo(number)
        else:
            screen()
    save(options.json_file, text, talk)


def as_json(content: Any) -> str:
    """JSON for files that people may read."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def show(result: Any, options: ResultOptions, talk: Talk, title: str = "") -> None:
    """Print a certificate, of errors or of losses, or a table of them, and write its JSON."""
    if isinstance(result, vc.LossCertificate):
        number = rounded_up(result.risk) if result.costs is None else repr(result.cost)
        deliver(result.to_json(), options, talk, lambda: data().print(plain(result.statement)), number)
    elif isinstance(result, vc.Certificate):
        number = rounded_up(result.risk)
        deliver(result.to_json(), options, talk, lambda: show_certificate(result, talk), number)
    else:
        text = as_json([json.loads(one.to_json()) for one in result])
        deliver(text, options, talk, lambda: show_table(result, talk, title))


def show_certificate(certificate: vc.Certificate, talk: Talk) -> None:
    """The certificate in a few lines."""
    from votecert.certificate.text import confidence
    from votecert.certificate.words import about_learning, errors_of_rows

    terms, vote = certificate.terms, certificate.predictor
    used = sum(votes > 0 for votes in vote.votes)
    mark = "" if certificate.is_guarantee else " [bold red]NOT A GUARANTEE[/]"
    shown = table("", "")
    shown.show_header = False
    for name, text in (
        ("risk", f"[bold]at most {percent(certificate.risk)}[/]{mark}"),
        ("confidence", f"{confidence(certificate.delta)} (delta {certificate.delta:g})"),
        ("errors", errors_of_rows(certificate)),
        ("ties", f"{certificate.ties:,} of {terms.n_rows:,} rows"),
        ("vote", f"{used:,} of {terms.n_voters:,} voters have weight, {terms.n_classes:,} classes"),
        ("weights", certificate.origin + plain(_weights_in_words(certificate))),
        ("bound", f"{certificate.bound} ({plain(certificate.method.title)})"),
    ):
        shown.add_row(name, text)
    data().print(shown)
    show_answers(certificate)
    data().print(plain(certificate.statement))
    for sentence in about_learning(certificate):
        talk.say(plain(in_options(sentence)))


def show_answers(certificate: vc.Certificate) -> None:
    """What each answer is worth, if that differs and is not too long a list."""
    from votecert.certificate.words import worth_of_answers

    listed = worth_of_answers(certificate) if certificate.terms.n_voters <= SHOWN_VOTERS else []
    if listed:
        shown = table("voter", "says", "counts for", "percent", numbers=("percent",))
        for voter, answer, label, share in listed[:SHOWN_ANSWERS]:
            shown.add_row(plain(voter), plain(answer), plain(label), f"{100 * share:.1f}")
        data().print(shown)
    if len(listed) > SHOWN_ANSWERS:
        data().print(f"... and {len(listed) - SHOWN_ANSWERS} more, which a report (--html) lists")


def _weights_in_words(certificate: vc.Certificate) -> str:
    """The votes of each voter, and the offsets of the classes, if there are few."""
    vote = certificate.predictor
    if vote.table is not None:
        return ", each answer has votes of its own"
    if len(vote.votes) > SHOWN_VOTERS:
        return ""
    names = certificate.voters or tuple(f"voter {place}" for place in range(1, len(vote.votes) + 1))
    is_whole = sum(vote.votes) <= COUNTABLE_VOTES

    def said(names: Iterable[str], votes: Sequence[int]) -> str:
        shares = [str(n) if is_whole else f"{100 * n / sum(vote.votes):.3g} %" for n in votes]
        return ", ".join(f"{name} {share}" for name, share in zip(names, shares, strict=True))

    offsets = {label: n for label, n in zip(map(str, vote.classes), vote.offsets, strict=True) if n}
    ending = f"; offsets {said(offsets, list(offsets.values()))}" if offsets else ""
    return f": {said(names, vote.votes)}{ending}"


def show_table(certificates: vc.CertificateTable, talk: Talk, title: str) -> None:
    """Certificates side by side, by bound or by group."""
    from votecert.certificate.words import errors_of_rows, how_they_hold

    shown = table(certificates.by, "risk", "errors", "note", numbers=("risk", "errors"))
    for one in certificates:
        risk = marked(one.risk, one.is_guarantee)
        shown.add_row(plain(getattr(one, certificates.by)), risk, errors_of_rows(one), plain(_note_on(one)))
    for name, why in certificates.skipped.items():
        shown.add_row(name, "-", "-", plain(_first_sentence(in_options(why))))
    data().print(f"[bold]{title}[/]")
    data().print(shown)
    if not talk.quiet:
        all_proved = all(one.is_guarantee for one in certificates)
        marks = "" if all_proved else " In parentheses: no guarantee here."
        data().print(how_they_hold(certificates) + marks)


def _note_on(certificate: vc.Certificate) -> str:
    """What to know about a line of a comparison."""
    if certificate.origin in certificate.method.origins:
        return _first_sentence(in_options(certificate.caveat or certificate.reason or ""))
    learned = certificate.origin == "learned"
    told = "; these were learned." if learned else ": say --fixed-in-advance if these were."
    return f"The limit for weights fixed in advance{told}"


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".") + "." if text else ""


def save(path: str | Path | None, content: str | bytes, talk: Talk) -> None:
    """Write to a file, if there is to be one, or to stdout."""
    if path == STDOUT:  # typer.echo would drop escape sequences that are part of a label
        sys.stdout.write(str(content))
    elif path is not None:
        write_atomically(path, content)
        talk.say(f"Wrote {plain(path)}")


def save_report(result: Result | vc.Monitor, options: ResultOptions, talk: Talk, **more: Any) -> None:
    """Write the report, if there is to be one, with ``more`` in it than the result itself."""
    if options.html is not None:
        with talk.wait("Writing the report"):
            html = result.to_html(title=options.title, **more)
        save(options.html, html, talk)


def comparison(certificate: vc.Certificate, rows: vc.Ballots, talk: Talk) -> vc.CertificateTable:
    """Every bound at the weights of a certificate, for looking."""
    from votecert.certificate import compare_at

    with talk.wait("Comparing bounds"):
        return compare_at(certificate, rows)


def gate(certificates: Iterable[vc.Certificate], max_risk: float | None) -> None:
    """Leave with code 1 if a certified risk is above the limit."""
    if max_risk is None:
        return
    worst = max(certificates, key=lambda certificate: certificate.risk)
    if not worst.is_guarantee:
        raise ValueError(f"--max-risk needs a guarantee, which the bound {worst.bound!r} does not give here.")
    if not worst.risk <= max_risk:  # so that nothing passes a limit that is no number
        where = "" if worst.group is None else f" of group {worst.group}"
        why = f"The certified risk{where}, {percent(worst.risk)}, is above --max-risk {max_risk:g}."
        leave(Code.TOO_RISKY, why)


def gate_losses(found: vc.LossCertificate, max_risk: float | None) -> None:
    """Leave with code 1 if the certified cost, or the risk by cluster, is above the limit."""
    if max_risk is not None and not found.cost <= max_risk:
        said = percent(found.risk) if found.costs is None else f"cost {found.cost:.4g}"
        leave(Code.TOO_RISKY, f"The certified {said} is above --max-risk {max_risk:g}.")

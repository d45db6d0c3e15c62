"""``verify``: certificates of a file, checked; the other commands that take certificates check them, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk, data, plain
from votecert.cli.errors import NotVerifiedError
from votecert.cli.rows import Result, encoding, read_rows, rows_of_group
from votecert.rows.vote_table import VoteTable

LARGEST_CERTIFICATE = 500_000_000
"""Larger files are no certificates."""

CertifiedRowOptions = Annotated[opt.RowOptions, without("classes", "can_abstain")]
"""The certificate says the rest."""


def verify(
    certificate: opt.CertificateFile,
    votes: opt.CertifiedVotes = None,
    *,
    row_options: CertifiedRowOptions,
    talk: Talk,
) -> None:
    """Check a certificate that somebody made.

    The number is recomputed from the stored statistics in exact arithmetic;
    with VOTES the statistics are recounted too. What cannot be checked is said.

    Examples
    --------
    votecert verify certificate.json
    votecert verify certificate.json votes.csv --label truth
    """
    read: dict[str, Any] | None = None
    found = None
    for one in load_results(certificate):
        # the groups of one file share their rows
        if votes and (wanted := encoding(one, row_options)) != read:
            read, found = wanted, read_rows(votes, row_options, talk, **wanted)
        with talk.wait("Verifying"):
            verdict = check(certificate, one, found)
        if not talk.quiet:
            name = "triage" if isinstance(one, vc.Triage) else one.bound
            name += "" if one.group is None else f", group {one.group}"
            data().print(f"{plain(name)}: {plain(verdict)}")
            data().print(plain(one.statement))


def sound_certificates(path: Path, bound: str | None = None) -> list[vc.Certificate]:
    """The certificates of a file, by one bound or by any, verified."""
    certificates = []
    for one in sound_results(path, bound):
        if isinstance(one, vc.Triage):
            raise ValueError(f"{path} says what a vote may decide alone; this takes a certificate.")
        certificates.append(one)
    return certificates


def sound_results(path: Path, bound: str | None = None) -> list[Result]:
    """The certificates of a file, by one bound or by any, or its triage, verified."""
    found = [one for one in load_results(path) if isinstance(one, vc.Triage) or bound in (None, one.bound)]
    for one in found:
        check(path, one)
    return found


def load_results(path: Path) -> list[Result]:
    """Read the certificates of a file, or its triage; JSON that is nothing sound counts as not verified."""
    if path.is_dir() or not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.stat().st_size > LARGEST_CERTIFICATE:
        raise ValueError(f"{path} is too large to be a certificate.")
    try:
        content = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a certificate: it is not JSON ({error}).") from None
    listed = content if isinstance(content, list) else [content]
    if not listed:
        raise ValueError(f"{path} holds no certificate.")
    return [_read(path, one) for one in listed]


def _read(path: Path, content: Any) -> Result:
    is_triage = isinstance(content, dict) and "votecert_triage" in content
    kind: type[Result] = vc.Triage if is_triage else vc.Certificate
    try:
        certificate = kind.from_json(json.dumps(content))
    except Exception as error:
        # Whatever an edited field leads to, it must not look like a sound certificate.
        raise NotVerifiedError(f"{path}: it does not verify: {error}") from None
    if not certificate.intact:  # nothing in it is used then, so that no value can do harm
        raise NotVerifiedError(
            f"{path}: it does not verify: some field was edited after the certificate was made."
        )
    return certificate


def check(path: Path, certificate: Result, found: VoteTable | None = None) -> str:
    """Verify, and say how; nonsense values may break the arithmetic in any way."""
    try:
        with np.errstate(all="ignore"):  # the verdict tells, NumPy need not warn
            verdict = certificate.verify(None if found is None else rows_of_group(certificate, found))
    except Exception as error:
        raise NotVerifiedError(f"{path}: it does not verify: {type(error).__name__}: {error}") from None
    if not verdict:
        raise NotVerifiedError(f"{path}: {verdict}")
    return str(verdict)

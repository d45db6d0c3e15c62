"""``verify``: certificates of a file, checked; the other commands that take certificates check them, too."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk, data, plain, text_of
from votecert.cli.errors import NotVerifiedError
from votecert.cli.rows import Result, encoding, read_rows, rows_of_group

LARGEST_CERTIFICATE = 500_000_000
"""Larger files are no certificates."""

CertifiedRowOptions = Annotated[opt.RowOptions, without("classes", "can_abstain")]
"""The certificate says the rest."""


def verify(
    certificate: opt.CertificateFile,
    votes: opt.CertifiedVotes = None,
    *,
    row_options: CertifiedRowOptions,
    cluster: str | None = None,
    talk: Talk,
) -> None:
    """Check a certificate that somebody made.

    The number is recomputed from the stored statistics in exact arithmetic;
    with VOTES the statistics are recounted too. What cannot be checked is said.

    Parameters
    ----------
    cluster : COLUMN
        The clusters, for what was certified with --cluster.

    Examples
    --------
    votecert verify certificate.json
    votecert verify certificate.json votes.csv --label truth
    """
    if cluster is not None and row_options.group is not None:
        raise ValueError("--cluster and --group do not go together: a certificate has one of them.")
    if cluster is not None:
        row_options = replace(row_options, group=cluster)
    read: dict[str, Any] | None = None
    found = None
    for one in load_results(certificate):
        # the groups of one file share their rows
        if votes and (wanted := encoding(one, row_options)) != read:
            read, found = wanted, read_rows(votes, row_options, talk, **wanted)
            if cluster is not None and found.groups is None:
                raise ValueError("This certificate was not made by clusters: leave --cluster out.")
        with talk.wait("Verifying"):
            verdict = check(certificate, one, found)
        if not talk.quiet:
            name = one.bound if isinstance(one, vc.Certificate) else one.kind_of_record
            name += "" if one.group is None else f", group {one.group}"
            data().print(f"{plain(name)}: {plain(verdict)}")
            data().print(plain(one.statement))


def sound_results(path: Path, bound: str | None = None) -> list[Result]:
    """The certificates of a file, by one bound or by any, or its triage, verified."""
    found = [
        one for one in load_results(path) if not isinstance(one, vc.Certificate) or bound in (None, one.bound)
    ]
    for one in found:
        check(path, one)
    return found


def load_results(path: Path) -> list[Result]:
    """Read the certificates of a file, or its triage; JSON that is nothing sound counts as not verified."""
    text = text_of(path, LARGEST_CERTIFICATE, "a certificate")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a certificate: it is not JSON ({error}).") from None
    listed = content if isinstance(content, list) else [content]
    if not listed:
        raise ValueError(f"{path} holds no certificate.")
    return [_read(path, one) for one in listed]


def _read(path: Path, content: Any) -> Result:
    kinds: dict[str, type[Result]] = {"votecert_triage": vc.Triage, "votecert_losses": vc.LossCertificate}
    kind = next(
        (kinds[mark] for mark in kinds if isinstance(content, dict) and mark in content), vc.Certificate
    )
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


def check(path: Path, certificate: Result, found: vc.VoteTable | None = None) -> str:
    """Verify, and say how; nonsense values may break the arithmetic in any way."""
    import numpy as np

    try:
        with np.errstate(all="ignore"):  # the verdict tells, NumPy need not warn
            rows = None if found is None else rows_of_group(certificate, found)
            if isinstance(certificate, vc.LossCertificate):
                verdict = certificate.verify(rows, clusters=None if found is None else found.groups)
            else:
                verdict = certificate.verify(rows)
    except Exception as error:
        raise NotVerifiedError(f"{path}: it does not verify: {type(error).__name__}: {error}") from None
    if not verdict:
        raise NotVerifiedError(f"{path}: {verdict}")
    return str(verdict)

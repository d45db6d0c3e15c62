"""The rows of a certificate, read again as it was made from them."""

from __future__ import annotations

from typing import Any

from votecert.certificate.certificate import Certificate
from votecert.rows.ballots import Ballots
from votecert.rows.blocks import is_in_blocks, read_ballots
from votecert.rows.scores import Scores
from votecert.rows.tables import in_order
from votecert.rows.vote_table import VoteTable


def certified_rows(certificate: Certificate, votes: Any, y: Any) -> Ballots | Scores:
    """The rows, encoded with the certificate's own classes and its rule for abstentions.

    Parameters
    ----------
    certificate : Certificate
    votes, y
        As given to ``certify``, in memory or in blocks; scores for a soft vote; or Ballots or Scores, which
        have the labels in them.
    """
    terms = certificate.terms
    classes, abstain = list(certificate.classes), terms.n_outputs > terms.n_classes
    if isinstance(votes, VoteTable):
        y = votes.y if y is None else y
    if isinstance(votes, Ballots | Scores):
        if y is not None:
            raise ValueError("Ballots have the true labels in them: leave y out.")
        kind = "soft" if isinstance(votes, Scores) else "hard"
        if kind != certificate.kind:
            raise ValueError(
                f"The certificate is about a {certificate.kind} vote, but these rows are of a {kind} one."
            )
        if votes.classes.tolist() != classes or votes.n_outputs != terms.n_outputs:
            raise ValueError(
                "These rows were not read with the certificate's classes and its rule for abstentions: read "
                f"them with classes={classes!r} and can_abstain={abstain}."
            )
        return votes
    if votes is None or y is None:
        raise ValueError("To count again both votes and y are needed.")
    if certificate.kind == "soft":
        return Scores.from_scores(votes, y, classes=classes)
    votes = in_order(votes, certificate.voters)
    if is_in_blocks(votes, y):
        split, seed = terms.choice.get("split", 0.0), terms.choice.get("seed", 0)
        return read_ballots(votes, y, classes=classes, can_abstain=abstain, split=split, seed=seed)
    return Ballots.from_votes(votes, y, classes=classes, can_abstain=abstain)

"""Votes, weights and results on disk. Nothing that is read is ever executed; nothing is left half-written."""

from votecert.rows.files.atomic import check_writable, write_atomically
from votecert.rows.files.read import VoteFile, read_new_votes, read_votes
from votecert.rows.files.weights import format_weights, read_weights

__all__ = [
    "VoteFile",
    "check_writable",
    "format_weights",
    "read_new_votes",
    "read_votes",
    "read_weights",
    "write_atomically",
]

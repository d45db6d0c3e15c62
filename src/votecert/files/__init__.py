"""Votes, weights and results on disk. Nothing that is read is ever executed; nothing is left half-written."""

from votecert.files.atomic import check_writable, write_atomically
from votecert.files.new_rows import read_new_votes
from votecert.files.reading import VoteFile, read_votes
from votecert.files.weights import format_weights, read_weights

__all__ = [
    "VoteFile",
    "check_writable",
    "format_weights",
    "read_new_votes",
    "read_votes",
    "read_weights",
    "write_atomically",
]

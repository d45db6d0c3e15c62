"""Votes, weights and results on disk. Nothing that is read is ever executed; nothing is left half-written."""

from votecert.rows.files.atomic import check_writable, write_atomically
from votecert.rows.files.columns import Layout
from votecert.rows.files.read import read_new_votes, read_table, read_votes
from votecert.rows.files.weights import format_weights, read_weights

__all__ = [
    "Layout",
    "check_writable",
    "format_weights",
    "read_new_votes",
    "read_table",
    "read_votes",
    "read_weights",
    "write_atomically",
]

"""Votes, weights and results on disk. Nothing that is read is ever executed; nothing is left half-written."""

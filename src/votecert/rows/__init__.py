"""Votes and true labels: in memory, in files, in blocks; one way in."""

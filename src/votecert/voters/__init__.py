"""Votes out of fitted ensembles, and decision stumps."""

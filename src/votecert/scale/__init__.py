"""Votes larger than memory: ballots from Dask collections, from files and from iterators of blocks.

The statistics of a certificate are small however many rows there are. One pass over the blocks keeps the
different rows with counts, and everything else runs on these as usual.
"""

from votecert.scale.dask_votes import collect_dask_votes
from votecert.scale.reading import MEMORY_BUDGET, read_ballots
from votecert.scale.recognition import is_dask, is_in_blocks

__all__ = ["MEMORY_BUDGET", "collect_dask_votes", "is_dask", "is_in_blocks", "read_ballots"]

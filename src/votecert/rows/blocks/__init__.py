"""Votes larger than memory: ballots from Dask collections, from files and from iterators of blocks.

The statistics of a certificate are small however many rows there are. One pass over the blocks keeps the
different rows with counts, and everything else runs on these as usual.
"""

from votecert.rows.blocks.dask import is_dask
from votecert.rows.blocks.read import MEMORY_BUDGET, is_in_blocks, read_ballots

__all__ = ["MEMORY_BUDGET", "is_dask", "is_in_blocks", "read_ballots"]

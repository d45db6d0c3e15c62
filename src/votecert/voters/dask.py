"""Votes of a fitted ensemble on Dask features: the ensemble goes to the workers once, rows stay there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from votecert.rows.blocks.dask import current_client, in_rows, is_array
from votecert.voters.panels import Panel

Ask = Callable[[Any, Any], npt.NDArray[Any]]


def collect_dask_votes(ensemble: Any, X: Any, panel: Panel, ask: Ask) -> npt.NDArray[Any]:
    """:func:`~votecert.voters.collect.collect_votes` on a Dask array or dataframe.

    Parameters
    ----------
    ensemble : fitted ensemble
    X : Dask array or dataframe
    panel : Panel
        The members of the ensemble.
    ask : callable
        Gets the ensemble and a block of rows in memory, which may have none, gives their votes.

    Returns
    -------
    votes : dask.array.Array of shape (m, d)
        Nothing is computed yet. Chunks have the rows of those of ``X``; for dataframes their sizes are
        unknown.
    """
    import dask
    import dask.array as da

    if is_array(X):
        sizes = X.chunks[0]
        blocks = in_rows(X, "X", "features").to_delayed().ravel()
    else:
        blocks = X.to_delayed()
        sizes = (np.nan,) * len(blocks)
    everywhere = _sent_once(ensemble)
    on_block = dask.delayed(ask, pure=False)
    votes = [
        da.from_delayed(on_block(everywhere, block), (size, panel.n_voters), panel.classes.dtype)
        for block, size in zip(blocks, sizes, strict=True)
    ]
    joined: npt.NDArray[Any] = da.concatenate(votes, allow_unknown_chunksizes=True)
    return joined


def _sent_once(ensemble: Any) -> Any:
    """The ensemble as one node of the graph: on all workers of the current cluster, if there is one."""
    import dask

    client = current_client()
    if client is not None:
        return client.scatter([ensemble], broadcast=True)[0]
    return dask.delayed(ensemble, pure=False, traverse=False)

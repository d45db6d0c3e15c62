"""Votes of a fitted ensemble on Dask features: the ensemble goes to the workers once, rows stay there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from votecert.rows.blocks.counting import n_rows_of
from votecert.rows.blocks.recognition import current_client, is_array


def collect_dask_votes(ensemble: Any, X: Any, *, n_jobs: int | None, block_size: int) -> npt.NDArray[Any]:
    """:func:`~votecert.voters.collect.collect_votes` on a Dask array or dataframe.

    Returns
    -------
    votes : dask.array.Array of shape (m, d)
        Nothing is computed yet. Chunks have the rows of those of ``X``; for dataframes their sizes are
        unknown.
    """
    import dask
    import dask.array as da

    from votecert.voters.panels import panel_of  # scikit-learn: a second that readers of votes can do without

    panel = panel_of(ensemble)
    if is_array(X):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, rows x features, but has {X.ndim}.")
        sizes = X.chunks[0]
        blocks = (X.rechunk({1: -1}) if X.numblocks[1] > 1 else X).to_delayed().ravel()
    else:
        blocks = X.to_delayed()
        sizes = (np.nan,) * len(blocks)
    everywhere = _sent_once(ensemble)
    ask = dask.delayed(votes_on_block, pure=False)
    votes = [
        da.from_delayed(
            ask(everywhere, block, panel.n_voters, n_jobs, block_size),
            shape=(size, panel.n_voters),
            dtype=panel.classes.dtype,
        )
        for block, size in zip(blocks, sizes, strict=True)
    ]
    joined: npt.NDArray[Any] = da.concatenate(votes, allow_unknown_chunksizes=True)
    return joined


def votes_on_block(
    ensemble: Any, X: Any, n_voters: int, n_jobs: int | None, block_size: int
) -> npt.NDArray[Any]:
    """The votes on one block, which may be empty."""
    from votecert.voters.collect import collect_votes, voter_classes

    if n_rows_of(X) == 0:
        return np.empty((0, n_voters), dtype=voter_classes(ensemble).dtype)
    return collect_votes(ensemble, X, n_jobs=n_jobs, block_size=block_size)


def _sent_once(ensemble: Any) -> Any:
    """The ensemble as one node of the graph: on all workers of the current cluster, if there is one."""
    import dask

    client = current_client()
    if client is not None:
        return client.scatter([ensemble], broadcast=True)[0]
    return dask.delayed(ensemble, pure=False, traverse=False)

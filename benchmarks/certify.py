"""How fast ``certify`` is on many rows, as a ratio against two plain passes over the same votes.

    python benchmarks/certify.py [ROWS [VOTERS]]

The reference is what anybody would write first: count who is right, and a sort-based unique of the rows'
correctness patterns. Memory is the peak of what ``certify`` allocates itself, measured in a second run.
"""

from __future__ import annotations

import sys
import time
import tracemalloc

import numpy as np

import votecert as vc


def problem(rows: int, voters: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=rows, dtype=np.uint8)
    wrong = rng.random((rows, voters), dtype=np.float32) < 0.3
    return y[:, None] ^ wrong, y


def seconds(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def plain(votes: np.ndarray, y: np.ndarray) -> None:
    (votes == y[:, None]).sum()
    np.unique(np.packbits(votes == y[:, None], axis=1), axis=0, return_counts=True)


def main(rows: int = 1_000_000, voters: int = 100) -> None:
    votes, y = problem(rows, voters)

    def certify() -> vc.Certificate:
        return vc.certify(votes, y, weights="uniform", bound="dirichlet")

    certificate = certify()
    reference = min(seconds(lambda: plain(votes, y)) for _ in range(3))
    ours = min(seconds(certify) for _ in range(3))
    tracemalloc.start()
    certify()
    peak = tracemalloc.get_traced_memory()[1]
    print(f"{rows} rows x {voters} voters: {certificate}")
    print(f"plain count and unique  {reference:8.3f} s")
    print(f"certify                 {ours:8.3f} s   ratio {ours / reference:.2f} (limit 3)")
    print(f"extra memory            {peak / 1e6:8.0f} MB  (limit 1000; votes {votes.nbytes / 1e6:.0f})")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:3]))

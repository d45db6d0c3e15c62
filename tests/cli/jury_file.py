"""A jury's votes as csv text, and how to name its columns."""

from __future__ import annotations

import numpy as np

ROWS = ("--label", "human", "--ignore", "question,region")


def jury(n_rows: int = 400, seed: int = 0) -> str:
    """Three judges of differing quality, one of whom sometimes fails, and a person who knows better."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_rows)
    lines = ["question,alice,bob,carol,region,human"]
    for row, label in enumerate(truth):
        votes = [("bad", "good")[label ^ (rng.random() > skill)] for skill in (0.95, 0.85, 0.7)]
        if rng.random() < 0.1:
            votes[2] = ""
        lines.append(f"q{row},{','.join(votes)},{('eu', 'us')[row % 3 == 0]},{('bad', 'good')[label]}")
    return "\n".join(lines) + "\n"

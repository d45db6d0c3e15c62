"""The protocol of the paper's experiments: split, standardise, make the voters, let them vote.

80 % of the rows train, 20 % test, at random. Features are standardised by the training rows. *Forest*: ten
trees, each on a bag of half as many rows as there are in one half of the training rows; the other half
certifies. *Stumps*: six thresholds a feature and sign, evenly spread over the range of the training rows, all
of which certify.

Strictly, voters must not know the certifying rows, and here they do a little: standardisation and the
stumps' thresholds come from all training rows (erratum E14). This is what the paper did; the library itself
takes ranges that were declared in advance.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import votecert as vc
from votecert.paper.cells import Group
from votecert.paper.formats import Array
from votecert.paper.load import cache_folder, load
from votecert.rows.files.atomic import write_atomically

LAYOUT = 1
"""Counted up whenever the votes of a group change, so that older files are not used."""


@dataclass(frozen=True)
class Votes:
    """What the voters say about certifying and test rows, with the true classes."""

    votes: Array
    y: Array
    test_votes: Array
    test_y: Array
    n_classes: int

    def ballots(self) -> vc.Ballots:
        """The certifying rows. The classes are declared: the problem has them, seen or not."""
        return vc.Ballots.from_votes(self.votes, self.y, classes=range(self.n_classes))

    def test_ballots(self) -> vc.Ballots:
        """The test rows."""
        return vc.Ballots.from_votes(self.test_votes, self.test_y, classes=range(self.n_classes))


def vote(group: Group, X: Array, y: Array) -> Votes:
    """Split the rows, make the voters and collect their votes.

    Examples
    --------
    >>> made = vote(Group("tictactoe", "rf", 0), *load("tictactoe"))
    >>> made.votes.shape, made.test_votes.shape
    ((383, 10), (192, 10))
    """
    seed = group.trial
    X_train, X_test, y_train, y_test = train_test_split(
        X.astype(np.float32), y, test_size=0.2, random_state=seed
    )
    scaler = StandardScaler().fit(X_train)
    X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    voters: Any
    if group.voters == "rf":
        X_fit, X_train, y_fit, y_train = train_test_split(X_train, y_train, test_size=0.5, random_state=seed)
        voters = vc.paper_forest(random_state=seed).fit(X_fit, y_fit)
    else:
        voters = vc.DecisionStumps(n_thresholds=6).fit(X_train, y_train)
    return Votes(
        votes=vc.collect_votes(voters, X_train).astype(np.uint8),
        y=y_train,
        test_votes=vc.collect_votes(voters, X_test).astype(np.uint8),
        test_y=y_test,
        n_classes=int(y.max()) + 1,
    )


@lru_cache(maxsize=1)
def votes_of(group: Group, data: Path | None = None, cache: Path | None = None) -> Votes:
    """The votes of a group, from the cache or made anew and put there.

    A file that is damaged or belongs to another layout is made again.
    """
    path = votes_file(group, cache)
    found = _cached(path)
    if found is None:
        found = vote(group, *load(group.data, data))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, _packed(found))
    return found


def votes_file(group: Group, cache: Path | None = None) -> Path:
    """Where the votes of a group are kept."""
    folder = cache_folder() / "votes" if cache is None else cache
    return folder / f"{group.data}-{group.voters}-{group.trial}-{LAYOUT}.npz"


def _packed(votes: Votes) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, digest=np.array(_digest(votes)), **asdict(votes))
    return content.getvalue()


def _cached(path: Path) -> Votes | None:
    """The votes in the file, None if there is none or it is damaged."""
    try:
        # NumPy leaves a damaged file open unless it is opened for it.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            names = ("votes", "y", "test_votes", "test_y")
            votes, y, test_votes, test_y = (arrays[name] for name in names)
            found = Votes(votes, y, test_votes, test_y, int(arrays["n_classes"]))
            return found if str(arrays["digest"]) == _digest(found) else None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None


def _digest(votes: Votes) -> str:
    digest = hashlib.sha256(json.dumps(votes.n_classes).encode())
    for array in (votes.votes, votes.y, votes.test_votes, votes.test_y):
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array, dtype=np.uint8).tobytes())
    return digest.hexdigest()

"""Reading and checking what the user passes to ``certify``, ``compare`` and ``learn``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from votecert._types import FloatArray, Origin
from votecert.rows import tables
from votecert.rows.ballots import Ballots
from votecert.rows.blocks import is_in_blocks, read_ballots
from votecert.rows.checks import checked, warn_of
from votecert.rows.scores import Scores
from votecert.rows.split import SPLIT
from votecert.rows.vote_table import VoteTable

Floats = FloatArray
Rows = Ballots | Scores


class KnownWeights(NamedTuple):
    """Weights that were found before, with where they come from: as mere numbers they would look given."""

    numbers: Floats
    origin: Origin


Weights = npt.ArrayLike | Mapping[str, float] | Literal["learn", "uniform"] | KnownWeights


def check_delta(delta: float, name: str = "delta", usual: float = 0.05) -> None:
    """Refuse a confidence parameter that is not strictly between 0 and 1."""
    if not isinstance(delta, int | float | np.number) or isinstance(delta, bool):
        raise TypeError(f"{name} must be a number, not {type(delta).__name__}.")
    if not 0 < delta < 1:
        raise ValueError(f"{name} must be between 0 and 1, both excluded, not {delta!r}; {usual} is usual.")


def read_rows(
    votes: Any,
    y: Any,
    scores: Any,
    classes: Any,
    can_abstain: bool | None,
    learning: Mapping[str, Any] | None = None,
    validate: bool = True,
    voters: Sequence[str] | None = None,
) -> Rows:
    """Ballots from votes, in memory or in blocks, or Scores from class scores.

    Of the options for learning, ``split`` and ``random_state`` are needed for rows that come in blocks: once
    counted they are gone, so their fitting part has to be counted on the way. Unless ``validate`` is false,
    what is no table of votes is refused, by the names of ``voters`` or columns; rows that were encoded before
    were checked then.
    """
    if isinstance(votes, VoteTable):
        votes = votes.ballots
    if isinstance(votes, Ballots | Scores):
        others = {"y": y, "scores": scores, "classes": classes, "can_abstain": can_abstain}
        if said := [name for name, value in others.items() if value is not None]:
            raise TypeError(
                f"{', '.join(said)}= would be ignored here: {type(votes).__name__} have labels, classes and "
                "abstentions in them. Leave it out, or give the votes themselves."
            )
        return votes
    if (label := getattr(y, "name", None)) is not None and str(label) in (tables.column_names(votes) or ()):
        raise ValueError(
            f"The true labels y are the column {label!r}, which is among the votes, too: leave it out there, "
            "or it is a voter that is always right."
        )
    if scores is None and is_in_blocks(votes, y):
        split, seed = (learning or {}).get("split"), (learning or {}).get("random_state")
        split, seed = SPLIT if split is None else split, 0 if seed is None else seed
        found = read_ballots(votes, y, classes=classes, can_abstain=can_abstain, split=split, seed=seed)
        return _checked(found, voters or tables.column_names(votes)) if validate else found
    if hasattr(type(votes), "predict"):  # a table may have a column of that name
        raise TypeError(
            f"votes is a {type(votes).__name__}. Ask its members first: collect_votes(model, X), with rows X "
            "that they were not fitted on."
        )
    if y is None:
        raise TypeError("The true labels y are missing: certify(votes, y).")
    if (votes is None) == (scores is None):
        raise TypeError("Give either votes (labels of each voter) or scores= (class scores of each voter).")
    if scores is not None:
        if can_abstain:
            raise TypeError("can_abstain=True is for votes: a voter that gives scores cannot abstain.")
        return Scores.from_scores(scores, y, classes=classes)
    tables.refuse_other_index(votes, y)
    found = Ballots.from_votes(votes, y, classes=classes, can_abstain=can_abstain)
    return _checked(found, voters or tables.column_names(votes)) if validate else found


def _checked(rows: Ballots, names: Sequence[str] | None) -> Ballots:
    if type(rows) is not Ballots:  # on disk: they are too many to look at
        return rows
    rows = checked(rows, names if names is not None and len(names) == rows.n_voters else None)
    warn_of(rows.notes, stacklevel=4)
    return rows


def read_weights(
    weights: Weights, n_voters: int, fixed_in_advance: bool = False, voters: Sequence[str] | None = None
) -> tuple[Floats | None, Origin]:
    """The weights as an array that sums to one (None if they are to be learned) and where they come from."""
    origin: Origin = "fixed" if fixed_in_advance else "given"
    if isinstance(weights, KnownWeights):
        weights, origin = weights
    if isinstance(weights, str):
        if weights == "learn":
            if fixed_in_advance:
                raise ValueError("Weights that are learned on these rows cannot be fixed_in_advance.")
            return None, "learned"
        if weights == "uniform":
            return np.full(n_voters, 1 / n_voters), "fixed"
        raise ValueError(
            f"weights must be 'learn', 'uniform' or an array with one number a voter, not {weights!r}."
        )
    theta = np.asarray(_by_voter(weights, voters), dtype=np.float64)
    tables.refuse_other_shape(theta, n_voters, "weights", "number a voter")
    if not np.all(np.isfinite(theta)):
        raise ValueError("Some weights are missing or infinite.")
    if np.any(theta < 0):
        raise ValueError(
            "Some weights are negative: a voter that is better reversed needs its votes reversed."
        )
    total = theta.sum()
    if abs(total - 1) > 1e-6:
        raise ValueError(f"The weights sum to {total:.6g} and must sum to 1: divide them by their sum.")
    return theta / total, origin


def _by_voter(weights: Any, voters: Sequence[str] | None) -> Any:
    """Weights that have names, a dictionary or a pandas series, in the order of the voters."""
    if isinstance(weights, Mapping):
        if voters is None:
            raise ValueError("Weights with names need voters with names: give a table, or voters=[...].")
        names, numbers = [str(name) for name in weights], list(weights.values())
    elif hasattr(weights, "index") and hasattr(weights, "to_numpy") and voters is not None:
        names, numbers = [str(name) for name in weights.index], weights.to_numpy()
    else:
        return weights
    if isinstance(weights, Mapping) and (unknown := sorted(set(names) - set(voters))):
        raise ValueError(f"There is no voter {unknown[0]!r}; the voters are {', '.join(voters[:8])}.")
    places = tables.places_of(voters, names, "weight")
    return numbers if places is None else [numbers[place] for place in places]


def read_prior(prior: npt.ArrayLike | None, n_voters: int) -> Floats | None:
    """The prior over voters as an array of positive numbers."""
    if prior is None:
        return None
    beta = np.asarray(prior, dtype=np.float64)
    tables.refuse_other_shape(beta, n_voters, "prior", "number a voter")
    if not np.all(np.isfinite(beta)) or np.any(beta <= 0):
        raise ValueError("The prior must be positive and finite for every voter.")
    return beta


def voter_names(votes: Any, given: Iterable[str] | None, n_voters: int) -> tuple[str, ...] | None:
    """Names of the voters: as given, or the columns of a table."""
    listed = tables.column_names(votes) if given is None else tuple(str(name) for name in given)
    if listed is None:
        return None
    if len(listed) != n_voters:
        raise ValueError(f"There are {len(listed)} names for {n_voters} voters.")
    tables.refuse_repeated(listed)
    return listed

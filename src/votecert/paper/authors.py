"""Our learners next to what the authors' programs made of the same votes.

A folder of reference holds ``votes/{data}_{kind}_{seed}.npz`` (arrays ``votes_bound``, ``y_bound``,
``votes_test``, ``y_test``) and ``records.jsonl``, one object for each of them and objective: the weights that
the program started from, how many epochs it ran, and its bound and test error. Adam starts there, too, keeps
the margin that was kept there, and stops after as many epochs where the program was cut off; only the order
of the rows differs, so each objective is learned with several of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import votecert as vc
from votecert.bounds.base import Objective
from votecert.bounds.gibbs import Binomial, mean_gradient
from votecert.numerics import binomial_tail, binomial_tail_slope
from votecert.paper.catalogue import CATALOGUE
from votecert.paper.cells import PUBLISHED
from votecert.paper.measure import DELTA, vote_error, wrong_weight
from votecert.paper.protocol import Votes
from votecert.paper.results import Record
from votecert.paper.summary import TITLES, Mean
from votecert.paper.tables import Table

NAMES = {
    "FO": "fo",
    "SO": "so",
    "Bin": "bin",
    "f2": "f2",
    "margin": PUBLISHED,
    "CCTND": "cctnd",
    "CCPBB": "ccpbb",
}
"""Objectives as the records call them."""

ORDERS, MORE_ORDERS = 5, 15
"""Orders of the rows, and how many more where the program's number is not among the first ones."""

CLOSE = 0.005
"""Relative difference that is none."""

ZERO = 1e-8
"""Losses below are zero for the authors' program."""

News = Callable[[int, int, str], None]


class AuthorsBinomial(Binomial):
    """The binomial bound as in the authors' program. Not valid (E6): a tie is no error there.

    Also, the program has no slope, not even of the divergence, where the loss of a batch rounds to zero.
    """

    is_guarantee = False

    def loss(self, ballots: Any, weights: Any) -> tuple[float, Any]:
        wrong, most = np.clip(ballots.wrong_weight(weights), 0, 1), self.n_draws // 2 + 1
        slope = binomial_tail_slope(self.n_draws, most, wrong)
        return ballots.mean(binomial_tail(self.n_draws, most, wrong)), -mean_gradient(ballots, slope)

    def objective(self, ballots: Any, weights: Any, *rest: Any, **named: Any) -> Objective:
        found = super().objective(ballots, weights, *rest, **named)
        is_flat = self.loss(ballots, weights)[0] < ZERO
        return replace(found, d_weights=0 * found.d_weights) if is_flat else found


@dataclass(frozen=True)
class Outcome:
    """What learning ended with; ``margin_bound`` is theorem 1 as printed, searched at the weights."""

    bound: float
    test_error: float
    margin_bound: float | None

    @classmethod
    def recorded(cls, record: Record) -> Outcome:
        """What the authors' program ended with, in exact arithmetic where there is the choice."""
        searched = record.get("margin_search", {}).get("dirichlet@f64")
        bound = record["bound_f64"] if "bound_f64" in record else record["bound"]
        return cls(bound, record["test_error"], searched["bound"] if searched else None)


def compare(folder: Path, news: News | None = None) -> Table:
    """One line for each record: the program's numbers, ours, and whether they agree.

    Parameters
    ----------
    folder : Path
        The folder of reference.
    news : callable, optional
        Called with the number of finished records, of all, and the name of the last.
    """
    records, rows = read_records(folder), []
    for number, record in enumerate(records, start=1):
        theirs, ours = Outcome.recorded(record), list(_learned(folder, record, range(ORDERS)))
        if not _agree(theirs, ours) and "init_posterior" in record:
            ours += _learned(folder, record, range(ORDERS, ORDERS + MORE_ORDERS))
        rows.append((_words(folder, record, theirs, ours), _numbers(theirs, ours)))
        if news is not None:
            news(number, len(records), " ".join(rows[-1][0][:3]))
    columns = [
        f"{what}, {whose}" for what in ("bound", "test error", "theorem 1") for whose in ("theirs", "ours")
    ]
    return Table(
        "authors", ("data", "voters", "objective", "epochs", "agreement"), tuple(columns), tuple(rows)
    )


def read_records(folder: Path) -> list[Record]:
    """The records that can be compared. Of several optimisers of one objective the first is taken."""
    path = folder / "records.jsonl"
    if not path.exists():
        raise FileNotFoundError(f"There is no records.jsonl in {folder}.")
    found: dict[tuple[str, str], Record] = {}
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record["objective"] in NAMES:
            found.setdefault((_stem(record), record["objective"]), record)
    return list(found.values())


def _stem(record: Record) -> str:
    return f"{record['dataset']}_{record['kind']}_{record['seed']}"


@lru_cache(maxsize=1)
def _votes(path: Path, n_classes: int) -> Votes:
    with np.load(path, allow_pickle=False) as arrays:
        names = ("votes_bound", "y_bound", "votes_test", "y_test")
        votes, y, test_votes, test_y = (arrays[name] for name in names)
        return Votes(votes, y, test_votes, test_y, n_classes)


def _votes_of(folder: Path, record: Record) -> Votes:
    return _votes(folder / "votes" / f"{_stem(record)}.npz", record["classes"])


def _learned(folder: Path, record: Record, seeds: range) -> Iterator[Outcome]:
    """The objective of a record learned with several orders of the rows; once if none are drawn."""
    votes = _votes_of(folder, record)
    for seed in seeds if "init_posterior" in record else seeds[:1]:
        values: list[float] = []
        method: Any = vc.LBFGS(random_state=seed)
        if "init_posterior" in record:
            method = vc.Adam(
                start=tuple(record["init_posterior"]),
                learn_margin=False,
                random_state=seed,
                epochs=record["epochs"] if record["stopped"] == "time_cap" else vc.Adam.epochs,
                callback=partial(_note, values),
            )
        found = vc.learn(votes.ballots(), objective=_objective(record), delta=DELTA, method=method)
        searched = wrong_weight(votes, found.weights)["risk"] if "init_posterior" in record else None
        bound = min(values, default=found.risk)  # those that were told are not cut at one
        yield Outcome(bound, vote_error(votes.test_ballots(), found.weights), searched)


def _note(values: list[float], told: dict[str, Any]) -> None:
    values.append(told["value"])


def _objective(record: Record) -> Any:
    if record["objective"] == "Bin":
        return AuthorsBinomial()
    bound: Any = vc.BOUNDS[NAMES[record["objective"]]]
    return replace(bound, margins=(record["gamma"],)) if record["objective"] == "margin" else bound


def _agree(theirs: Outcome, ours: list[Outcome]) -> bool:
    return all(_is_among(*pair) for pair in _pairs(theirs, ours).values())


def _pairs(theirs: Outcome, ours: list[Outcome]) -> dict[str, tuple[float, list[float]]]:
    """Their number and our numbers, by what they are."""
    pairs: dict[str, tuple[float, list[float]]] = {
        "bound": (theirs.bound, [one.bound for one in ours]),
        "test error": (theirs.test_error, [one.test_error for one in ours]),
    }
    if theirs.margin_bound is not None:
        searched = [one.margin_bound for one in ours if one.margin_bound is not None]
        pairs["theorem 1"] = (theirs.margin_bound, searched)
    return pairs


def _is_among(theirs: float, ours: list[float]) -> bool:
    return min(ours) * (1 - CLOSE) <= theirs <= max(ours) * (1 + CLOSE)


def _words(folder: Path, record: Record, theirs: Outcome, ours: list[Outcome]) -> tuple[str, ...]:
    epochs = str(record.get("epochs", "")) + (" (cut off)" if record.get("stopped") == "time_cap" else "")
    beyond = {
        name: (number, numbers)
        for name, (number, numbers) in _pairs(theirs, ours).items()
        if not _is_among(number, numbers)
    }
    title = CATALOGUE[record["dataset"]].title
    objective = TITLES[NAMES[record["objective"]]]
    agreement = "; ".join(_reason(folder, record, name, *pair) for name, pair in beyond.items())
    within = "yes" if len(ours) <= ORDERS else f"among {len(ours)} orders of the rows"
    return title, record["kind"], objective, epochs, agreement or within


def _reason(folder: Path, record: Record, name: str, theirs: float, ours: list[float]) -> str:
    """Why a number is beyond ours, as far as it can be told, and by how much."""
    nearest = min(ours, key=lambda number: abs(number - theirs))
    if name == "test error":
        rows = round(abs(theirs - nearest) * record["m_test"])
        return f"test error: {rows} of {record['m_test']} rows apart"
    side, size = "lower" if theirs < nearest else "higher", abs(theirs / nearest - 1)
    return f"{name}: theirs is {side} by {size:.1%}" + _at_their_weights(folder, record, name)


def _at_their_weights(folder: Path, record: Record, name: str) -> str:
    """Our value of the same bound at the recorded weights: does the formula differ, or do the weights?"""
    votes, weights = _votes_of(folder, record), np.array(record["posterior"]) / sum(record["posterior"])
    if name == "theorem 1":
        value = wrong_weight(votes, weights)["risk"]
    elif "init_posterior" in record:
        return ""
    else:
        value = _objective(record).evaluate(votes.ballots(), weights, DELTA).risk
    return f" (we have {value:.4f} at their weights)"


def _numbers(theirs: Outcome, ours: list[Outcome]) -> tuple[Mean, ...]:
    pairs = _pairs(theirs, ours)
    pairs.setdefault("theorem 1", (math.nan, []))
    return tuple(mean for number, numbers in pairs.values() for mean in (_single(number), Mean.of(numbers)))


def _single(number: float) -> Mean:
    return Mean.of([] if math.isnan(number) else [number])


PAGE = """# The authors' programs and this one, on the same votes

Written by `votecert paper authors FOLDER` from a folder of votes and of records of the authors' programs
(for FO, SO, Bin, f2 and theorem 2 that of the paper, for CCTND and CCPBB the one that the paper uses).

- *bound* is the objective at the end of learning, not cut at one; theorem 2 at its margin of 0.01, which
  the released scripts keep and do not pay for. *theorem 1* is the printed theorem at the learned weights,
  searched over 1000 margins and K, with the total wrong weight as their program counts it (E10), in exact
  arithmetic. Neither is a guarantee. Bin has their loss here, which is not valid (E6), and nowhere else.
- Adam starts from the recorded weights; *ours* are mean and standard deviation over {orders} orders of the
  rows, {more} where their number is not among the first {orders}. Where their program was cut off, ours stops
  after as many epochs. Numbers agree if theirs lies between our smallest and our largest, give or take
  {close:.1%}.
- CCTND and CCPBB have no draws, so ours is one number. It is lower where their program ends with another
  offset and other scales than the best ones, or above the lowest weights; what our bound, which searches
  offset and scales, is at their weights is in brackets. Other weights also get other test rows wrong.
- A run that was cut off ends somewhere within the noise of its steps.

{agree} of {total} lines agree in every number.

"""


def page(table: Table) -> str:
    """The table with what has to be known to read it."""
    agree = sum(words[-1] == "yes" or words[-1].startswith("among") for words, _ in table.rows)
    numbers = {"orders": ORDERS, "more": ORDERS + MORE_ORDERS, "close": CLOSE}
    return PAGE.format(agree=agree, total=len(table.rows), **numbers) + table.markdown()

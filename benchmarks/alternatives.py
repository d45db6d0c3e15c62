"""What people do instead: how often their limits are wrong, how tight they are, and what they cost.

Rows are drawn, again and again, from a population that is known as a whole, so that the true error of every
vote is known, too. ``wrong`` is the share of repetitions in which the true error is above the limit; at a
confidence of 95 % it ought to be at most 5 %. ``lost`` are rows, on
average, that serve for nothing but the test; votecert decides on its own whether there are such::

    python benchmarks/alternatives.py [--repetitions 100] [--csv FILE]

The second table is about a plain vote that may hand over cases: so many of its answers may be wrong at most.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import votecert as vc

Array = np.ndarray[Any, Any]
DELTA = 0.05
ALLOWED, DECIDING_ROWS = 0.03, 1000
"""Share of answers that may be wrong, and rows to find out from."""


@dataclass(frozen=True)
class Population:
    """All rows there are, and how many are drawn from it."""

    name: str
    votes: Array
    y: Array
    m: int

    def draw(self, rng: np.random.Generator) -> tuple[Array, Array]:
        rows = rng.integers(len(self.y), size=self.m)
        return self.votes[rows], self.y[rows]


class Limit(NamedTuple):
    """A vote, the limit on its error, and rows that went into nothing but the limit."""

    predict: Callable[[Array], Array]
    limit: float
    lost: int = 0


def populations() -> Iterator[Population]:
    """A jury, labelling functions, a forest, and the digits that come with scikit-learn."""
    rng = np.random.default_rng(0)
    skills = np.array([0.93, 0.9, 0.85, 0.75, 0.7, 0.65, 0.6])
    yield Population("jury of 7", *independent(rng, 10_000, skills, 2), 300)
    weak = rng.uniform(0.5, 0.75, size=60)
    yield Population("60 weak voters", *independent(rng, 10_000, weak, 2), 200)
    X, y = make_classification(11_000, 20, n_informative=8, flip_y=0.02, random_state=0)
    forest = RandomForestClassifier(100, random_state=0).fit(X[:1000], y[:1000])
    yield Population("forest of 100", vc.collect_votes(forest, X[1000:]), y[1000:], 400)
    X, Z, y, z = train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=0)
    forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    yield Population("digits, forest of 50", vc.collect_votes(forest, Z), z, 300)


def independent(rng: np.random.Generator, n: int, skills: Array, n_classes: int) -> tuple[Array, Array]:
    y = rng.integers(n_classes, size=n)
    wrong = (y[:, None] + rng.integers(1, n_classes, size=(n, len(skills)))) % n_classes
    return np.where(rng.random((n, len(skills))) < skills, y[:, None], wrong), y


def clopper_pearson(errors: int, m: int) -> float:
    return 1.0 if errors >= m else float(stats.beta.ppf(1 - DELTA, errors + 1, m - errors))


def standard_error(errors: int, m: int) -> float:
    p = errors / m
    return p + stats.norm.ppf(1 - DELTA) * np.sqrt(p * (1 - p) / m)


def stacked(votes: Array, y: Array) -> Callable[[Array], Array]:
    """The stacking recipe: logistic regression on the votes."""
    if len(set(y.tolist())) < 2:
        return lambda new: np.full(len(new), y[0])
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=2000))
    return model.fit(votes, y).predict  # type: ignore[no-any-return]


def plain_vote(votes: Array) -> Array:
    return np.argmax([(votes == label).sum(1) for label in range(votes.max() + 1)], axis=0)


def errors_of(predict: Callable[[Array], Array], votes: Array, y: Array) -> int:
    return int(np.sum(predict(votes) != y))


def plain(test: Callable[[int, int], float]) -> Callable[[Array, Array], Limit]:
    return lambda votes, y: Limit(plain_vote, test(errors_of(plain_vote, votes, y), len(y)))


def same_rows(test: Callable[[int, int], float]) -> Callable[[Array, Array], Limit]:
    def limit(votes: Array, y: Array) -> Limit:
        vote = stacked(votes, y)
        return Limit(vote, test(errors_of(vote, votes, y), len(y)))

    return limit


def hold_out(votes: Array, y: Array) -> Limit:
    half = len(y) // 2
    vote = stacked(votes[:half], y[:half])
    rest = len(y) - half
    return Limit(vote, clopper_pearson(errors_of(vote, votes[half:], y[half:]), rest), rest)


def cross_validated(votes: Array, y: Array) -> Limit:
    """Ten folds, and the t interval of their errors."""
    shares = [
        errors_of(stacked(votes[fit], y[fit]), votes[test], y[test]) / len(test)
        for fit, test in KFold(10).split(votes)
    ]
    spread = stats.t.ppf(1 - DELTA, 9) * np.std(shares, ddof=1) / np.sqrt(10)
    return Limit(stacked(votes, y), float(np.mean(shares) + spread))


def certified(votes: Array, y: Array) -> Limit:
    found = vc.certify(votes, y, delta=DELTA, classes=CLASSES, validate=False)
    held_out = found.terms.statistics["rows"] if found.fitted_on == "part" else 0
    return Limit(found.predict, found.risk, held_out)


CLASSES: list[int] = []
LIMITS: dict[str, Callable[[Array, Array], Limit]] = {
    "plain vote, standard error": plain(standard_error),
    "plain vote, Clopper-Pearson (votecert)": plain(clopper_pearson),
    "stacking, standard error": same_rows(standard_error),
    "stacking, Clopper-Pearson on the same rows": same_rows(clopper_pearson),
    "stacking, cross-validation": cross_validated,
    "stacking, half held out, Clopper-Pearson": hold_out,
    "votecert, learned weights": certified,
}


def lead(votes: Array) -> Array:
    """By how many votes the winner leads."""
    counts = np.sort([(votes == label).sum(1) for label in CLASSES], axis=0)
    return np.asarray(counts[-1] - counts[-2])


def threshold_by(loss: Callable[[Array, Array], float], votes: Array, y: Array, most: float) -> float:
    """The lowest lead with a loss that is small enough; its errors and answers are handed to ``loss``."""
    ahead, wrong = lead(votes), plain_vote(votes) != y
    for cut in np.unique(ahead):
        if loss(wrong[ahead >= cut], y) <= most:
            return float(cut)
    return np.inf


def conformal(votes: Array, y: Array, most: float) -> Callable[[Array], Array]:
    """Conformal risk control of the share of rows that are answered wrongly."""
    cut = threshold_by(lambda wrong, rows: (wrong.sum() + 1) / (len(rows) + 1), votes, y, most)
    return lambda new: lead(new) >= cut


def tuned(votes: Array, y: Array, most: float) -> Callable[[Array], Array]:
    """The lowest lead with few enough errors among the answers on these rows."""
    cut = threshold_by(lambda wrong, rows: wrong.mean(), votes, y, most)
    return lambda new: lead(new) >= cut


def triaged(votes: Array, y: Array, most: float) -> Callable[[Array], Array]:
    found = vc.triage(
        votes, y, max_risk=most, weights="uniform", classes=CLASSES, delta=DELTA, validate=False
    )
    return lambda new: np.array([answer is not None for answer in found.decide(new)])


DECISIONS = {"threshold tuned": tuned, "conformal risk control": conformal, "votecert triage": triaged}


def compare(one: Population, repetitions: int, seed: int) -> Iterator[list[Any]]:
    """One line a method: its name, share of wrong limits, mean limit, mean true error, rows lost."""
    CLASSES[:] = sorted(set(one.y.tolist()))
    for name, method in LIMITS.items():
        rng, found = np.random.default_rng(seed), []
        for _ in range(repetitions):
            votes, y = one.draw(rng)
            vote, limit, lost = method(votes, y)
            truth = errors_of(vote, one.votes, one.y) / len(one.y)
            found.append((truth > limit, limit, truth, lost))
        yield [one.name, name, *np.mean(found, axis=0).tolist()]


def compare_decisions(one: Population, repetitions: int, seed: int) -> Iterator[list[Any]]:
    """How often there are more errors among answers than allowed, and what is answered on average."""
    CLASSES[:] = sorted(set(one.y.tolist()))
    wrong = plain_vote(one.votes) != one.y
    for name, method in DECISIONS.items():
        rng, found = np.random.default_rng(seed), []
        for _ in range(repetitions):
            answers = method(*one.draw(rng), ALLOWED)(one.votes)
            error = wrong[answers].mean() if answers.any() else 0.0
            found.append((error > ALLOWED, answers.mean()))
        yield [one.name, name, *np.mean(found, axis=0).tolist()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--csv", help="also write all numbers to this file")
    options = parser.parse_args()
    known, lines = list(populations()), []
    print(f"{options.repetitions} repetitions, confidence 95 %")
    print(f"{'rows from':22}{'rows':>5}  {'limit by':44}{'wrong':>6}{'limit':>8}{'truth':>8}{'lost':>6}")
    for one in known:
        for line in compare(one, options.repetitions, options.seed):
            where, name, wrong, limit, truth, lost = line
            print(
                f"{where:22}{one.m:5}  {name:44}{wrong:6.1%}{limit:8.4f}{truth:8.4f}{lost:6.0f}", flush=True
            )
            lines.append(["limit", *line])
    print(f"\nanswers of which at most {ALLOWED:.0%} may be wrong, from {DECIDING_ROWS} rows")
    print(f"{'rows from':22}{'threshold by':26}{'above':>6}{'answered':>10}")
    for one in known:
        if (plain_vote(one.votes) != one.y).mean() <= ALLOWED:
            continue  # it may answer everything
        for line in compare_decisions(replace(one, m=DECIDING_ROWS), options.repetitions, options.seed):
            where, name, above, answered = line
            print(f"{where:22}{name:26}{above:6.1%}{answered:10.1%}", flush=True)
            lines.append(["decision", *line])
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)


if __name__ == "__main__":
    main()

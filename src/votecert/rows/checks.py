"""What is no table of votes, and what to think twice about: the same checks for arrays, tables and files.

A refusal is an error that names the remedy. A note is a sentence that goes with the rows: it is shown when
they are read, and stands in every certificate that is made from them.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

import numpy as np

from votecert._types import BoolArray
from votecert.rows.ballots import Ballots

FEW = 10
"""So many classes are never too many, and on fewer rows nothing is suspicious."""

MANY_ROWS = 20
"""On so many rows a voter who never says a true label is none."""

JUDGES = re.compile(
    r"(judge|worker|annotator|rater|coder|labell?er|user|model|lf)([_ ]?(id|name))?|completed_by"
)
ITEMS = re.compile(
    r"(item|row|example|task|question|case|sample|doc|document|prompt)?[_ ]?id|item|index|idx|task"
)
VOTES = ("vote", "label", "answer", "response", "value", "verdict", "rating", "prediction", "choice")
TRUTHS = ("gold", "truth", "y", "true_label", "gold_label", "target", "ground_truth", "expert", "label")
"""What the columns of judges, items, votes and true labels are often called."""

CLUSTERED = (
    "Rows that stand next to each other are wrong together, far more often than by chance. If they belong "
    "together (to one conversation, patient or query), say so with clusters=: as independent rows they "
    "promise too much."
)

_NUMBER = re.compile(r"-?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?")


class VoteWarning(UserWarning):
    """Something about the votes that is worth a second look; certificates have it among their notes."""


def checked(rows: Ballots, voters: Sequence[str] | None, more: Sequence[str] = ()) -> Ballots:
    """Rows that may be a table of votes, with notes on what to think twice about.

    Parameters
    ----------
    rows : Ballots
    voters : sequence of str or None
        Names of the columns.
    more : sequence of str
        Notes of whoever read the rows.

    Raises
    ------
    ValueError
        If this is no table of votes.

    Examples
    --------
    >>> rows = Ballots.from_votes([["no", "yes", "no"], ["yes", "yes", "yes"]] * 20, ["yes", "no"] * 20)
    >>> checked(rows, ["ann", "bob", "eve"]).notes
    ("'ann' and 'eve' vote the same on every row. Are they two voters?",)
    >>> checked(Ballots.from_votes([[i] for i in range(50)], [0, 1] * 25), ["item"])
    Traceback (most recent call last):
    ValueError: Column 'item' has 50 different values in 50 rows, as numbers of items or texts have: it is no
    voter. Leave it out with ignore='item'. To go on nevertheless: validate=False.
    """
    named = _Named(rows, voters)
    problem = next(_problems(named), None)
    if problem is not None:
        raise ValueError(f"{problem} To go on nevertheless: validate=False.")
    return replace(rows, notes=(*more, *_notes(named)))


def warn_of(notes: Sequence[str], stacklevel: int = 3) -> None:
    """Show notes to whoever called the library."""
    for note in notes:
        warnings.warn(note, VoteWarning, stacklevel=stacklevel + 1)


@contextmanager
def not_told_of_clusters(named: bool) -> Iterator[None]:
    """Whoever has named the clusters need not be told that there are some."""
    with warnings.catch_warnings():
        if named:
            warnings.filterwarnings("ignore", re.escape(CLUSTERED), VoteWarning)
        yield


def likely_options(names: Sequence[str], label_is_known: bool = False) -> str:
    """Options that would read a table with these columns, as far as their names tell; or nothing.

    Examples
    --------
    >>> likely_options(["item", "judge", "label", "gold"])
    "item='item', judge='judge', vote='label', label='gold'"
    >>> likely_options(["id", "ann", "bob", "truth"])
    "label='truth', ignore='id'"
    >>> likely_options(["ann", "bob"])
    ''
    """
    known = {name.strip().lower(): name.strip() for name in names if name.strip()}

    def first(wanted: re.Pattern[str]) -> str | None:
        return next((known[name] for name in known if wanted.fullmatch(name)), None)

    def best(wanted: Sequence[str], *but: str | None) -> str | None:
        return next((known[name] for name in wanted if name in known and known[name] not in but), None)

    item, judge, truth = first(ITEMS), first(JUDGES), None if label_is_known else best(TRUTHS)
    vote = best(VOTES, truth) if item and judge else None
    found = {"item": item, "judge": judge, "vote": vote, "label": truth}
    if vote is None:
        found = {"label": truth, "ignore": item if truth else None}
    return ", ".join(f"{option}={name!r}" for option, name in found.items() if name is not None)


class _Named:
    """Rows whose voters have names, and what is asked more than once about them."""

    def __init__(self, rows: Ballots, voters: Sequence[str] | None) -> None:
        self.rows, self.voters = rows, voters
        self.is_true: BoolArray = np.bincount(rows.labels, minlength=rows.n_classes) > 0
        self.head = rows.codes[:256]  # what these patterns rule out need not be looked at on all of them

    def column(self, place: int) -> str:
        return f"voter {place} (from 0)" if self.voters is None else f"column {self.voters[place]!r}"

    def says_truth(self, place: int) -> bool:
        """Whether a voter ever says a label that is true of some row; or hardly says anything."""
        codes = self.rows.codes[:, place]
        present = codes < self.rows.n_classes
        cast = int(self.rows.counts[present].sum())
        return cast <= self.rows.n_rows // 2 or bool(self.is_true[codes[present]].any())

    @cached_property
    def never_true(self) -> list[int]:
        """Voters who never say a label that is true of any row."""
        if self.rows.n_rows < MANY_ROWS:
            return []
        said = np.append(self.is_true, False)[self.head]
        return [place for place in np.flatnonzero(~said.any(axis=0)).tolist() if not self.says_truth(place)]

    def left_out(self, place: int) -> str:
        """The remedy for a column that is no voter, and for others that are none in the same go."""
        if self.voters is None:
            return "Leave it out."
        names = [self.voters[one] or str(one) for one in dict.fromkeys([place, *self.never_true])]
        names = [name for name in names if "," not in name] if "," not in names[0] else names[:1]
        return f"Leave it out with ignore={','.join(names)!r}."


def _problems(named: _Named) -> Iterator[str]:
    rows, voters = named.rows, named.voters
    n, classes = rows.n_rows, rows.classes
    for place, name in enumerate(voters or ()):
        if not name.strip() or name.startswith("Unnamed:"):
            yield (
                f"The column at position {place} has no name: mostly that is an index that was saved along "
                f"with the table. {named.left_out(place)}"
            )
        if n >= MANY_ROWS and JUDGES.fullmatch(name.strip().lower()) and not named.says_truth(place):
            options = likely_options(voters or (), label_is_known=True)
            how = f"Say which column is what: {options}." if "vote=" in options else ""
            yield (
                f"This looks like a long table, one line a vote: {named.column(place)} names who votes. "
                f"{how or 'Say which column is what with item=, judge= and vote=.'}"
            )
    if rows.classes_declared:
        return
    if rows.n_classes > max(FEW, n / 10):
        place, labels = _most_values(rows)
        what, most, fractions = named.column(place), len(labels), [*filter(_is_fraction, labels)]
        if 2 * len(fractions) > most:
            yield (
                f"{_capital(what)} holds numbers such as {fractions[0]!r}: if these are "
                "probabilities or scores, they are no votes. Give them to certify(scores=...), or turn them "
                f"into labels first. If it is no voter: {named.left_out(place)}"
            )
        if most > max(FEW, n / 2):
            yield (
                f"{_capital(what)} has {most} different values in {n} rows, as numbers of items "
                f"or texts have: it is no voter. {named.left_out(place)}"
            )
        yield (
            f"There are {rows.n_classes} different labels in {n} rows, {most} of them in {what}: mostly that "
            f"is no voter. {named.left_out(place)} If there are so many classes, list them in classes=."
        )
    if classes.dtype.kind == "U" and (found := [text for text in classes.tolist() if _is_fraction(text)]):
        yield (
            f"The label {found[0]!r} is no whole number: turn probabilities or scores into labels first, or "
            "declare the labels with classes=."
        )
    for place in named.never_true:
        label = classes[int(rows.codes[:, place].min())].item()
        yield (
            f"{_capital(named.column(place))} never says a label that is true of any row (it says "
            f"{label!r}): it is no voter. {named.left_out(place)} If {label!r} means that nothing is said: "
            f"abstain={str(label)!r}."
        )


def _most_values(rows: Ballots) -> tuple[int, list[str]]:
    """The voter with the most different votes, and these."""
    place = int(np.argmax([np.count_nonzero(np.bincount(codes)) for codes in rows.codes.T]))
    codes = np.unique(rows.codes[:, place])
    return place, [str(label) for label in rows.classes[codes[codes < rows.n_classes]].tolist()]


def _is_fraction(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text)) and float(text) % 1 != 0


def _notes(named: _Named) -> Iterator[str]:
    rows = named.rows
    right = np.flatnonzero((named.head == rows.labels[:256, None]).all(axis=0)).tolist()
    right = [place for place in right if np.array_equal(rows.codes[:, place], rows.labels)]
    if right and rows.n_rows > FEW:
        asked = "is right on every row. Is it a copy" if len(right) == 1 else "are right on every row. Copies"
        yield f"{_capital(_listed([_quoted(named, place) for place in right]))} {asked} of the true labels?"
    absent = rows.classes[~named.is_true].tolist()
    if absent and not rows.classes_declared:
        yield (
            f"{_listed([repr(label) for label in absent])} {'is' if len(absent) == 1 else 'are'} voted for "
            "but never true on these rows. If that means 'no vote', declare it with abstain=; if a column is "
            "no voter, leave it out with ignore=."
        )
    if same := [pair for pair in _equal_voters(named) if pair[0] not in right]:
        pairs = " and ".join(_quoted(named, place) for place in same[0])
        more = f"; {len(same)} pairs in all" if len(same) > 1 else ""
        yield f"{_capital(pairs)} vote the same on every row{more}. Are they two voters?"
    if rows.n_rows < rows.n_voters:
        yield (
            f"There are fewer rows ({rows.n_rows}) than voters ({rows.n_voters}). Is the table turned on its "
            "side?"
        )
    yield from _repetitions(rows)
    if _errs_in_runs(rows):
        yield CLUSTERED


def _errs_in_runs(rows: Ballots) -> bool:
    """Whether neighbouring rows are wrong together, far beyond chance, and not because rows are sorted."""
    if rows.pattern_of_row is None or rows.n_rows < MANY_ROWS:
        return False
    wrong = rows.predict(np.ones(rows.n_voters, dtype=np.int64)) != rows.labels
    errors = wrong[rows.pattern_of_row].astype(np.float64)
    spread, runs = errors - errors.mean(), np.count_nonzero(np.diff(errors) > 0)
    if min(errors.sum(), rows.n_rows - errors.sum()) < MANY_ROWS or runs < FEW:
        return False
    alike = float(spread[1:] @ spread[:-1] / (spread @ spread))
    return alike > 0.3 and alike > 6 / np.sqrt(rows.n_rows)


def _quoted(named: _Named, place: int) -> str:
    return f"voter {place}" if named.voters is None else repr(named.voters[place])


def _equal_voters(named: _Named) -> Iterator[tuple[int, int]]:
    """Pairs of voters who always say the same, each voter with the first such one.

    Of people who label a few items each, two may well have had the same, and be right on all of them.
    """
    rows = named.rows
    if rows.n_rows <= FEW:
        return
    alike: dict[bytes, list[int]] = defaultdict(list)
    for place, column in enumerate(np.ascontiguousarray(named.head.T)):
        others = alike[column.tobytes()]
        codes = rows.codes[:, place]
        for other in others:
            if np.array_equal(codes, rows.codes[:, other]):
                if 2 * rows.counts[codes < rows.n_classes].sum() > rows.n_rows:
                    yield other, place
                break
        else:
            others.append(place)


def _repetitions(rows: Ballots) -> Iterator[str]:
    r"""Rows that are there more often than chance explains, and equal rows that stand together.

    However likely each pattern is, the number of times that it occurs is nearly a Poisson variable, so that
    the numbers :math:`f_1, f_2, f_3` of patterns that occur once, twice and three times have
    :math:`(2f_2)^2\le f_1\cdot 6f_3` on average (Cauchy and Schwarz). Rows that were copied break this, by
    more than the three or four standard deviations that are allowed for.
    """
    counts = rows.counts
    once, twice, thrice = (int(np.count_nonzero(counts == times)) for times in (1, 2, 3))
    times = int(np.gcd.reduce(counts)) if len(counts) >= MANY_ROWS else 1
    if times > 1:
        yield f"Every row is there {times} times, or a multiple. Were rows copied? Copies certify nothing."
    elif twice - 4 * twice**0.5 > (1.5 * once * (thrice + 3 * (thrice + 1) ** 0.5)) ** 0.5:
        yield (
            f"{twice} rows are there exactly twice and {once} once, more than chance explains. Were rows "
            "copied? Copies certify nothing."
        )
    if rows.pattern_of_row is None or rows.n_patterns == rows.n_rows:
        return
    order = rows.pattern_of_row
    together = int(np.count_nonzero(order[1:] == order[:-1]))
    of_label = np.bincount(rows.labels, weights=counts, minlength=rows.n_classes)[rows.labels]
    by_chance = float((counts * (counts - 1) / np.maximum(of_label, 1)).sum())  # even if sorted by label
    if together > 1.5 * by_chance + 10 * by_chance**0.5 + MANY_ROWS:
        yield (
            f"{together} rows have the same votes as the row before; chance explains {by_chance:.0f}. Are "
            "they about the same items? Rows of one item are not independent."
        )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")

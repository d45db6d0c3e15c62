"""What a certificate says in words: which vote it speaks about."""

from __future__ import annotations

from collections.abc import Sequence

from votecert.rows.predictor import WeightedVote

FEW = 12
"""So many voters' votes are listed in a sentence."""

LONGEST_NAME = 60
"""Longer names of voters are cut off in a sentence."""


def who_votes(vote: WeightedVote, voters: Sequence[str] | None) -> str:
    """Whose vote it is: all voters', that of some of them, of one alone, or of none.

    Examples
    --------
    >>> who_votes(WeightedVote((0, 2, 0), (0, 0), ("ham", "spam")), ("Ann", "Bob", "Eve"))
    'voter Bob alone, of 3 voters'
    >>> who_votes(WeightedVote((1, 2, 0), (0, 0), ("ham", "spam")), None)
    'the hard vote of 2 of 3 voters'
    >>> who_votes(WeightedVote((1, 1), (5, 0), ("ham", "spam")), None)
    "the answer 'ham' to everything, which outvotes all 2 voters"
    """
    used = [place for place, votes in enumerate(vote.votes) if votes]
    d = len(vote.votes)
    of_all = f"{d} voter{'' if d == 1 else 's'}"
    if (label := vote.constant_label) is not None:
        return f"the answer {label!r} to everything, which outvotes all {of_all}"
    if len(used) == 1:
        name = f"number {used[0] + 1}" if voters is None else str(voters[used[0]])[:LONGEST_NAME]
        start = " with a head start for some classes" if any(vote.offsets) else ""
        return f"voter {name} alone{f', of {of_all}' if d > 1 else ''}{start}"
    return f"the {vote.kind} vote of {of_all if len(used) == d else f'{len(used)} of {of_all}'}"


def with_weights(vote: WeightedVote, origin: str, rounded: bool) -> str:
    """With which weights.

    Parameters
    ----------
    vote : WeightedVote
    origin : {"learned", "given", "fixed"}
    rounded : bool
        Whether the vote has whole numbers to which weights of another origin than learning were rounded,
        chosen on the rows: then it is another vote than the one with the weights themselves.

    Examples
    --------
    >>> vote = WeightedVote((1, 0, 0, 0), (0, 0), ("ham", "spam"))
    >>> with_weights(vote, "given", rounded=True)
    'with the given weights rounded to whole numbers: 1, 0, 0, 0'
    """
    if not rounded or origin == "learned":
        return f"with {origin} weights"
    if len(set(vote.votes)) == 1:
        return "with equal weights"
    listed = ", ".join(map(str, vote.votes)) if len(vote.votes) <= FEW else f"{sum(vote.votes)} votes in all"
    return f"with the {origin} weights rounded to whole numbers: {listed}"

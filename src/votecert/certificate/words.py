"""What a certificate says in words, one way for all: sentences, the verdict, and the rows that count.

The certificate's own text, the command line, notebooks, Markdown, the HTML report and the pictures take their
words from here and their numbers from :mod:`votecert.certificate.text`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from votecert.certificate.groups import PREDICTED
from votecert.certificate.text import amount, confidence, one_in, percent, sentence
from votecert.learning.fitted_vote import CROSS_VALIDATED, PLAIN_ERRORS, SHARE
from votecert.numerics.binomial import clopper_pearson_upper
from votecert.rows.predictor import TIE_RULE, WeightedVote

if TYPE_CHECKING:
    from votecert.certificate.certificate import Certificate
    from votecert.certificate.table import CertificateTable
    from votecert.certificate.vote_record import VoteRecord

FEW = 12
"""So many voters' votes are listed in a sentence."""

LONGEST_NAME = 60
"""Longer names of voters are cut off in a sentence."""

VOTERS = "The voters, their order, preprocessing, delta and options were fixed before seeing these rows."

ALTHOUGH = {
    "all": ", although the weights were learned on the very rows that certify them.",
    "part": ", and pays for every vote that was tried: this one was fitted on some of the rows and is "
    "certified on the others.",
    "other": ", and pays for every vote that was tried: this one was fitted on other rows.",
    "given": ", however the weights were chosen.",
    "fixed": ": the weights were fixed before the rows were seen.",
}
"""What is remarkable about the confidence, by where the weights come from."""


ORIGINS = {
    "given": "given by the user",
    "fixed": "fixed without looking at the rows",
    "all": "learned on these rows",
    "part": "fitted on a part of these rows that does not certify them",
    "other": "fitted on other rows",
}
"""Where weights come from, for a reader; those that were learned, by the rows they were learned on."""

AT_ALL_TIMES = ", however often one looked while the rows came in"


@dataclass(frozen=True)
class Verdict:
    """The first thing that the reader sees.

    Attributes
    ----------
    kind : {"guarantee", "weak", "vacuous", "warning"}
        "weak": proven, but no better than guessing. "vacuous": the number is 1. "warning": it is not a
        proven limit, whatever its size.
    badge : str
        The verdict in a few words.
    number : str
        The risk in percent, rounded up.
    sentences : tuple of two str
        What it means.
    """

    kind: Literal["guarantee", "weak", "vacuous", "warning"]
    badge: str
    number: str
    sentences: tuple[str, str]


class Fact(NamedTuple):
    """A name, what is to be said about it, and user strings that follow."""

    name: str
    text: str
    labels: tuple[str, ...] = ()


def verdict(certificate: Certificate) -> Verdict:
    """The verdict on a certificate."""
    number = percent(certificate.risk)
    if not certificate.is_guarantee:
        proven = f"This number is not a proven limit. {certificate.caveat or 'No theorem covers it.'}"
        trust = "Do not rely on it: the true error may well be larger."
        return Verdict("warning", "NOT A GUARANTEE", number, (proven, trust))
    if certificate.risk >= 1:
        nothing = f"The error is at most {number}. That is always true, so it says nothing about this vote."
        return Verdict("vacuous", "SAYS NOTHING", number, (nothing, certificate.reason or ""))
    level, classes = f"{confidence(certificate.delta)} confidence", certificate.terms.n_classes
    n = one_in(certificate.risk)
    odds = f", no more than 1\u00a0in\u00a0{n:,}" if n else ""
    where = "" if certificate.group is None else " of this group"
    claim = f"Of new rows{where}, the vote gets at most {number} wrong{odds}."
    if certificate.risk >= 1 - 1 / classes:
        guess = f"The limit holds, but guessing among {amount(classes, 'class')} would do as well."
        return Verdict("weak", f"Guarantee at {level}", number, (claim, guess))
    holds = f"This holds with {level}{ALTHOUGH[certificate.fitted_on or certificate.origin]}"
    return Verdict("guarantee", f"Guarantee at {level}", number, (claim, holds))


def headline(certificate: Certificate) -> list[Fact]:
    """The few numbers that stand under the verdict."""
    return [
        Fact("Errors counted", errors_of_rows(certificate)),
        Fact("Predictor", sentence(who_votes(certificate.predictor, certificate.voters))),
        Fact("Weights", sentence(weights_of(certificate))),
        Fact("Bound", certificate.method.title),
    ]


def weights_of(certificate: Certificate) -> str:
    """Where the weights come from, and what became of them."""
    votes, origin = certificate.predictor.votes, certificate.fitted_on or certificate.origin
    rounded = certificate.origin != "learned" and certificate.method.rounds_weights and len(set(votes)) > 1
    return ORIGINS[origin] + (", rounded to whole numbers: the rounded vote is certified" if rounded else "")


def statement(certificate: Certificate) -> str:
    """One sentence: what is guaranteed, for which predictor."""
    where = f" in group {certificate.group}" if certificate.group is not None else ""
    if PREDICTED in certificate.declared:
        where += " (those to which it gives this answer)"
    who = who_votes(certificate.predictor, certificate.voters)
    how = with_weights(certificate.predictor, certificate.origin, certificate.method.rounds_weights)
    what = f"{who}{',' if ',' in who else ''} {how}"
    if certificate.risk >= 1:
        return f"Nothing can be said about the error of {what}{where}: {certificate.reason}"
    claim = f"errs on at most {percent(certificate.risk)} of new rows{where}"
    if not certificate.is_guarantee:
        return f"NOT A GUARANTEE: {what} {claim}. {certificate.caveat}"
    looks = AT_ALL_TIMES if certificate.options.get("sequential") else ""
    return f"With confidence {confidence(certificate.delta)}{looks}, {what} (ties go to {TIE_RULE}) {claim}."


def assumptions(certificate: Certificate) -> list[str]:
    """What must be true for the statement to hold."""
    terms, method = certificate.terms, certificate.method
    units = amount(terms.n_rows, "row")
    listed = common_assumptions(certificate, units, terms.n_outputs, method.assumptions())
    if certificate.origin == "fixed" or method.origins == ("fixed",):  # which says nothing about others
        listed.append("The weights were fixed without looking at these rows.")
    if terms.choice.get("list") == "other" or terms.choice.get("unlabelled"):
        listed.append("None of these rows is among the other rows that a vote was fitted on.")
    if terms.choice.get("unlabelled"):
        listed.append("Which rows were labelled was decided at random: those without are of the same kind.")
    if certificate.group is not None and PREDICTED not in certificate.declared:
        listed.append("The groups were fixed without looking at these rows.")
    return [*listed, *certificate.declared]


def common_assumptions(
    result: Certificate | VoteRecord, units: str, n_outputs: int, about_voters: Sequence[str] = ()
) -> list[str]:
    """What must be true for every result about a vote."""
    labels = result.classes
    listed_labels = ", ".join(map(str, labels[:6])) + ("..." if len(labels) > 6 else "")
    inferred = " (inferred from the rows; it is assumed that there are no others)"
    listed = [
        f"The {units} are independent draws from the distribution it is about.",
        *(about_voters or [VOTERS]),
        f"The classes, in this order, are {listed_labels}{'' if result.classes_declared else inferred}.",
    ]
    if not result.abstention_declared and n_outputs == len(labels):
        listed.append("No voter abstains (inferred from the rows; it is assumed that none ever does).")
    return listed


def counted_errors(certificate: Certificate) -> tuple[int, int]:
    """Errors and rows that the statement is about: not all rows where a part of them was held out."""
    statistics = certificate.terms.statistics
    if "errors" not in statistics:
        return certificate.errors, certificate.terms.n_rows
    return int(statistics["errors"]), int(statistics.get("rows", certificate.terms.n_rows))


def errors_of_rows(certificate: Certificate) -> str:
    """The same in words, such as "133 of 1,492 held-out rows"."""
    errors, rows = counted_errors(certificate)
    return f"{errors:,} of {amount(rows, 'row' if rows == certificate.terms.n_rows else 'held-out row')}"


def how_they_hold(table: CertificateTable) -> str:
    """Which weights were compared, and whether one of a table may be picked after a look at all of them."""
    if table.simultaneous:
        picked = f"They hold together with {together(table)} confidence: any of them may be picked."
    else:
        picked = "Each holds on its own; picking the smallest afterwards would not be covered."
    return f"{_weights_compared(table)}{picked}"


def _weights_compared(table: CertificateTable) -> str:
    if table.by != "bound" or not table.certificates:
        return ""
    one = table.certificates[0]
    if one.origin == "learned":
        several = len({other.predictor for other in table}) > 1
        more = "; offsets and what each answer is worth are left out but for 'occam'" if several else ""
        return f"All are about weights learned on these rows{more}. "
    if len(set(one.terms.weights)) == 1:
        return "All are about the plain vote, with equal weights. "
    return f"All are about weights {'fixed in advance' if one.origin == 'fixed' else 'given by the user'}. "


def left_out(table: CertificateTable) -> str:
    """What a table has no certificate of."""
    if not table.skipped:
        return ""
    why = "Not for this problem" if table.by == "bound" else "Never said on these rows"
    return f" {why}: {', '.join(table.skipped)}."


def together(table: CertificateTable) -> str:
    """The confidence that all guarantees of a table hold; the shares of a split delta add up to it again."""
    spent = math.fsum(other.delta for other in table if other.is_guarantee)
    return confidence(min(1.0, spent * (1 - 1e-12)))


def note(certificate: Certificate) -> str:
    """What to know about a line of a table: mostly, why it is no guarantee."""
    mark = "" if certificate.is_guarantee else "NOT A GUARANTEE: "
    return mark + (certificate.caveat or certificate.reason or "")


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
    of_all = amount(d, "voter")
    if (label := vote.constant_label) is not None:
        return f"the answer {label!r} to everything, which outvotes all {of_all}"
    if len(used) == 1:
        name = f"number {used[0] + 1}" if voters is None else str(voters[used[0]])[:LONGEST_NAME]
        offsets = " with offsets for some classes" if any(vote.offsets) else ""
        return f"voter {name} alone{f', of {of_all}' if d > 1 else ''}{offsets}"
    return f"the {vote.kind} vote of {of_all if len(used) == d else f'{len(used):,} of {of_all}'}"


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
    if vote.table is not None:
        return f"with {origin} votes for each answer"
    if not rounded or origin == "learned":
        return f"with {origin} weights"
    if len(set(vote.votes)) == 1:
        return "with equal weights"
    few = len(vote.votes) <= FEW
    listed = ", ".join(map(str, vote.votes)) if few else f"{sum(vote.votes):,} votes in all"
    return f"with the {origin} weights rounded to whole numbers: {listed}"


def names_of(certificate: Certificate) -> Sequence[str]:
    """The names of the voters, or what stands for them."""
    return certificate.voters or [f"voter {place + 1}" for place in range(len(certificate.predictor.votes))]


def worth_of_answers(certificate: Certificate) -> list[tuple[str, str, str, float]]:
    """What answers are worth in a vote with a table: voter, what it says, for which label, and how much.

    That is its lead over every other label, as a share of all voters' weight. Voters with most weight come
    first; answers that change nothing are left out.
    """
    vote = certificate.predictor
    if vote.table is None:
        return []
    names, listed = names_of(certificate), []
    for voter in sorted(range(len(vote.votes)), key=lambda place: -vote.votes[place])[:FEW]:
        for answer, votes in zip((*vote.classes, "nothing"), vote.table[voter], strict=False):
            second, first = sorted((0, *votes))[-2:] if len(votes) < 2 else sorted(votes)[-2:]
            if first > second:
                label = vote.classes[votes.index(first)]
                share = (first - second) / max(1, sum(vote.votes))
                listed.append((names[voter][:LONGEST_NAME], str(answer), str(label), share))
    return listed


def kinds_compared(certificate: Certificate) -> list[tuple[str, float, float]]:
    """Kinds of votes that were fitted: name, cross-validated error, and share in the fitted vote."""
    details = certificate.details
    kinds = [name.removeprefix(CROSS_VALIDATED) for name in details if name.startswith(CROSS_VALIDATED)]
    return [(kind, details[CROSS_VALIDATED + kind], details.get(SHARE + kind, 0.0)) for kind in kinds]


def about_learning(certificate: Certificate) -> list[str]:
    """What learning found, what it gained, and what to do the next time."""
    terms, sentences = certificate.terms, []
    if compared := kinds_compared(certificate):
        errors = {kind: percent(error) for kind, error, _ in compared}
        simple = [name for name in ("plain vote", "best single voter") if name in errors]
        others = " and ".join(f"{errors[name]} by the {name}" for name in simple)
        name, _, part = max(compared, key=lambda kind: kind[2])
        mostly = f" It is mostly {name!r}, which errs on {errors[name]} there." if part else ""
        used = terms.choice.get("statement") == "list"
        which = "The fitted vote is certified." if used else "A whole-number vote has the smaller limit."
        sentences.append(
            f"On the rows that a vote was fitted on, cross-validated errors are {others}.{mostly} {which}"
        )
    if (plain := certificate.details.get(PLAIN_ERRORS)) is not None:
        limit = float(clopper_pearson_upper(plain, terms.n_rows, math.log(terms.delta)))
        if limit < certificate.risk:
            sentences.append(
                f"The plain vote, had it been fixed in advance, would have the limit {percent(limit)}: "
                "next time, on new rows, weights='uniform' is the better choice. To switch now, after this "
                "look at these rows, is not covered."
            )
    return sentences

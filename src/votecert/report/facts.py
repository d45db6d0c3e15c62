"""The facts around a certificate: which predictor, which rows, and the numbers on the way."""

from __future__ import annotations

from votecert.certificate import words
from votecert.certificate.certificate import Certificate
from votecert.certificate.table import CertificateTable
from votecert.certificate.text import amount, percent, sentence, share
from votecert.certificate.words import Fact
from votecert.rows.predictor import TIE_RULE

KINDS = {
    "hard": "Each voter names a class; the class with the most weight wins.",
    "soft": "Each voter gives every class a score; the class with the largest weighted sum wins.",
}
"""How each kind of vote is taken."""

SHOWN_CLASSES = 50
"""More labels than this are counted, not listed."""


def limit_kept(certificate: Certificate, max_risk: float) -> tuple[bool, str]:
    """Whether a limit that was set for the risk is certified to be kept, and the sentence that says so."""
    limit = share(max_risk)
    if not certificate.is_guarantee:
        return False, f"The limit of {limit} that was set is not certified: this is no guarantee."
    if certificate.risk > max_risk:
        return False, f"Too risky: {percent(certificate.risk)} is above the limit of {limit} that was set."
    return True, f"Within the limit of {limit} that was set."


def predictor_facts(certificate: Certificate) -> list[Fact]:
    """Which predictor the certificate speaks about."""
    vote, terms = certificate.predictor, certificate.terms
    verb = "is" if certificate.ties == 1 else "are"
    tied = f"{amount(certificate.ties, 'row')} {verb} tied" if certificate.ties else "No row is tied"
    facts = [
        Fact("Vote", KINDS[vote.kind]),
        Fact("Weights", f"{sentence(words.weights_of(certificate))}."),
        Fact("Ties", f"Go to {TIE_RULE}. {tied}."),
        _classes(certificate),
    ]
    if any(vote.offsets):
        text = "Votes that these classes have before anybody voted, in percent of all voters' votes:"
        by_class = zip(vote.classes, certificate.offsets.tolist(), strict=True)
        facts.append(Fact("Offsets", text, tuple(f"{label}: {share(n)}" for label, n in by_class if n)))
    if listed := words.worth_of_answers(certificate):
        text = "What answers are worth, in percent of all voters' weight, of those with most weight:"
        worth = (f"{voter} says {said}: {share(w)} for {label}" for voter, said, label, w in listed)
        facts.append(Fact("Answers", text, tuple(worth)))
    if vote.fallback is not None:
        text = "Voters may abstain; a row on which no class has a vote gets this one:"
        facts.append(Fact("Abstentions", text, (str(vote.classes[vote.fallback]),)))
    elif terms.n_outputs > terms.n_classes:
        text = "Voters may abstain; a row on which nobody votes counts as an error."
        facts.append(Fact("Abstentions", text))
    return facts


def _classes(certificate: Certificate) -> Fact:
    labels = tuple(str(label) for label in certificate.classes)
    source = "declared in advance" if certificate.classes_declared else "inferred from the rows"
    listed = ", in this order:"
    if len(labels) > SHOWN_CLASSES:
        listed = f"; the first {SHOWN_CLASSES} in their order:"
    return Fact("Classes", f"{len(labels):,}, {source}{listed}", labels[:SHOWN_CLASSES])


def learning_facts(certificate: Certificate) -> list[Fact]:
    """How a learned vote was found."""
    told = " ".join(words.about_learning(certificate))
    facts = [Fact("Learning", told)] if told else []
    if kinds := words.kinds_compared(certificate):
        text = "Kinds of votes that were fitted: cross-validated error, and share in the fitted vote."
        listed = (f"{name}: {share(error)}, {share(part)}" for name, error, part in kinds)
        facts.append(Fact("Kinds", text, tuple(listed)))
    return facts


def row_facts(certificate: Certificate) -> list[Fact]:
    """Which rows the number was computed on."""
    n_rows = certificate.terms.n_rows
    wrong = f"The vote gets {certificate.errors:,} of them wrong, {share(certificate.empirical_risk)}."
    facts = [Fact("Certifying rows", f"{n_rows:,}, each with its true label."), Fact("Errors", wrong)]
    if certificate.group is not None:
        facts.insert(0, Fact("Group", "Only rows of this group:", (certificate.group,)))
    errors, rows = words.counted_errors(certificate)
    if rows != n_rows:
        held_out = (
            f"The weights were fitted on some of the rows and certified on the other {rows:,}, "
            f"of which the vote gets {errors:,} wrong."
        )
        facts.append(Fact("Held out", held_out))
    return facts


def assumptions(certificate: Certificate) -> list[str]:
    """What must be true for the statement to hold, and what its bound warns of."""
    warned = [certificate.caveat] if certificate.is_guarantee and certificate.caveat else []
    return [*certificate.assumptions, *warned]


def numbers_on_the_way(certificate: Certificate) -> list[Fact]:
    """The intermediate numbers of the bound, for those who know it."""
    choice = {
        name: value
        for name, value in certificate.terms.choice.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }
    known = {**choice, **certificate.terms.statistics, **certificate.details}
    return [
        Fact(sentence(name.replace("_", " ")), f"{value:.6g}" if isinstance(value, float) else str(value))
        for name, value in known.items()
    ]


def among_groups(certificate: Certificate, table: CertificateTable) -> str:
    """How the group that a report is about compares with the others, if their certificates hold together."""
    if not table.simultaneous or len(table) < 2 or certificate not in table.certificates:
        return ""
    largest = certificate.risk >= max(other.risk for other in table)
    place = f"{'the largest' if largest else 'one'} of {len(table):,} groups' limits"
    return f"This is {place}, which hold together with {words.together(table)} confidence."

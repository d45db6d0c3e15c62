"""No certificate passes that was edited to say more, whoever sealed it again."""

from __future__ import annotations

import importlib.util
import json
import math
from dataclasses import replace
from functools import cache

import numpy as np
import problems
import pytest
from sklearn.ensemble import RandomForestClassifier

import votecert as vc
from votecert.bounds import BOUNDS
from votecert.certificate import verify as verification
from votecert.certificate.record import digest
from votecert.learning.budget import Budget
from votecert.rows.ballots import Ballots

WEIGHTS = [0.4, 0.3, 0.2, 0.1]


def voted(m=120, accuracies=(0.9, 0.8, 0.7, 0.6), seed=0):
    return problems.voted(m, accuracies, seed=seed)


def abstaining():
    votes, y = voted()
    votes = votes.astype(float)
    votes[np.random.default_rng(1).random(votes.shape) < 0.3] = np.nan
    return votes, y


def stumps():
    """Votes whose fitted weights beat every whole-number vote."""
    rng = np.random.default_rng(3)
    x = rng.random((400, 3))
    y = (x @ [3.0, 2.0, 1.0] > 3).astype(int)
    cuts = (np.arange(8) + 1) / 9
    return (x[:, :, None] > cuts).reshape(400, -1).astype(int), y


def scored():
    votes, y = voted()
    right = np.random.default_rng(2).beta(4, 2, size=votes.shape)
    return np.where(y[:, None, None] == [0, 1], right[:, :, None], 1 - right[:, :, None]), y


def bagged():
    votes, y = voted()
    forest = RandomForestClassifier(8, max_depth=2, random_state=0).fit(votes, y)
    return vc.out_of_bag_votes(forest, votes), y, forest, votes


def _given(bound):
    votes, y = voted()
    return vc.certify(votes, y, weights=WEIGHTS, bound=bound), votes, y


def _learned():
    votes, y = voted(accuracies=(0.8,) * 5)
    return vc.certify(votes, y), votes, y


def _fitted_on_a_part():
    votes, y = stumps()
    return vc.certify(votes, y, random_state=8), votes, y


def _fitted_on_other_rows():
    votes, y = stumps()
    certificate = vc.certify(votes[:200], y[:200], prior_votes=votes[200:], prior_y=y[200:])
    return certificate, votes[:200], y[:200]


def _group():
    votes, y = voted()
    return vc.certify(votes, y, groups="class")["1"], votes[y == 1], y[y == 1]


def _soft():
    scores, y = scored()
    return vc.certify(None, y, scores=scores), scores, y


def _with_fallback(bound):
    votes, y = abstaining()
    return vc.certify(votes, y, weights=WEIGHTS, bound=bound, fallback=1), votes, y


def _out_of_bag():
    votes, y, forest, X = bagged()
    return vc.certify_oob(forest, X, y, bound="cctnd"), votes, y


def _best():
    votes, y = voted()
    return vc.certify(votes, y, weights=WEIGHTS, bound="best"), votes, y


def _fixed():
    votes, y = voted()
    return vc.certify(votes, y, weights="uniform"), votes, y


KINDS = {name: (lambda name=name: _given(name)) for name in BOUNDS} | {
    "learned": _learned,
    "fitted on a part": _fitted_on_a_part,
    "fitted on other rows": _fitted_on_other_rows,
    "one group": _group,
    "soft": _soft,
    "fallback, dirichlet": lambda: _with_fallback("dirichlet"),
    "fallback, occam": lambda: _with_fallback("occam"),
    "out of bag": _out_of_bag,
    "best": _best,
    "fixed": _fixed,
}


@cache
def kind(name):
    return KINDS[name]()


def test_the_kinds_are_what_their_names_say():
    assert kind("learned")[0].fitted_on == "all"
    assert kind("fitted on a part")[0].fitted_on == "part"
    assert kind("fitted on other rows")[0].fitted_on == "other"


@pytest.mark.parametrize("name", KINDS)
def test_an_honest_certificate_verifies(name):
    certificate, votes, y = kind(name)
    again = vc.Certificate.from_json(certificate.to_json())
    assert again == certificate
    assert again.verify(), str(again.verify())
    assert again.verify(votes, y), str(again.verify(votes, y))


def leaves(value, path=()):
    """Paths to all values of a JSON text, of long lists the first two."""
    yield path, value
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, (*path, name))
    elif isinstance(value, list):
        for place, item in enumerate(value[:2]):
            yield from leaves(item, (*path, place))


def edits(value):
    """Values to put in place of another: near, far, out of range, and of other kinds."""
    if isinstance(value, bool):
        return [not value, None, 2]
    if isinstance(value, int):
        return [value + 1, value - 1, value + 0.5, -value, float(value), 2**31, True, None]
    if isinstance(value, float):
        return [value / 2, value * 1.01, -value, value + 1, 0, 1e308, "x"]
    if isinstance(value, str):
        return [value + "x", *WORDS, 0]
    if isinstance(value, list):
        return [value[:-1], [*value, *value[:1]], value[::-1], {}, None]
    if isinstance(value, dict):
        return [{**value, "more": 1}, dict(list(value.items())[1:]), [], None]
    return [0, "x", 1.5]


OWN = (("terms", "choice"), ("terms", "statistics"))
"""Where kinds of certificates have leaves of their own; all others are edited in every kind."""


def in_turn(listed, turn, n):
    """A few of the edits: other ones for the next leaf, and for the same leaf of the next kind."""
    return [listed[(turn * n + place) % len(listed)] for place in range(min(n, len(listed)))]


WORDS = ("learned", "fixed", "soft", "whole", "none", "split", "other", "log-odds", "fo")


def edited(text, path, value):
    content = json.loads(text)
    place = content
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return content


def sealed(content):
    """The edited certificate as a forger would write it: read, and written again with what follows."""
    content["digest"] = digest(content)
    certificate = vc.Certificate.from_json(json.dumps(content))
    return vc.Certificate.from_json(certificate.to_json())


def recomputed(certificate):
    """With the number, the ledger and the details that follow from the edited terms."""
    found = certificate.method.from_terms(certificate.terms)
    fields = {"risk": found.risk, "details": found.details, "reason": found.reason}
    if certificate.delta == certificate.terms.delta:
        fields["ledger"] = found.ledger
    return replace(certificate, **fields)


REFUSED = (ValueError, TypeError)

FREE = {("bg++", "draws"), ("cctnd", "offset"), ("out of bag", "offset")}
"""The theorem holds for all of these at once: another one is another, just as valid certificate."""


@pytest.mark.parametrize("name", KINDS)
def test_an_edited_certificate_is_refused_or_says_no_more(name, monkeypatch):
    # forty digits are for the honest ones above: here it is about what is refused, thousands of times
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    honest, votes, y = kind(name)
    text = honest.to_json()
    trusted = set(honest.verify().on_trust)
    for turn, (path, value) in enumerate(leaves(json.loads(text)), start=list(KINDS).index(name)):
        if path in ((), ("digest",)) or path[0] in ("votecert_certificate", "votecert_version"):
            continue
        for new in in_turn(edits(value), turn, n=3 if path[:2] in OWN else 1):
            try:
                written = sealed(edited(text, path, new))
            except REFUSED:
                continue
            for rows in ((), (votes, y)):
                try:
                    forged = recomputed(written) if rows else written
                    outcome = forged.verify(*rows)
                except REFUSED:
                    continue
                if not outcome or (name, path[-1]) in FREE:
                    continue
                says_no_more = forged.risk >= honest.risk * (1 - 1e-13) and forged.delta >= honest.delta
                on_trust = set(outcome.on_trust) - trusted
                assert says_no_more or (rows and on_trust), f"{path}: {value!r} -> {new!r}, {forged.risk}"


@pytest.mark.parametrize("number", [10**400, -(10**400)], ids=["large", "small"])
def test_numbers_that_no_float_holds_are_refused(number):
    honest = kind("dirichlet")[0]
    for change in ({"choice": {"concentration": number}}, {"statistics": {"empirical": number}}):
        ((part, values),) = change.items()
        terms = replace(honest.terms, **{part: getattr(honest.terms, part) | values})
        assert "not a number from" in str(replace(honest, terms=terms).verify())


def test_nan_in_the_statistics_fails():
    for name in ("learned", "dirichlet", "fo"):
        honest = kind(name)[0]
        for field in honest.terms.statistics:
            statistics = {**honest.terms.statistics, field: math.nan}
            forged = replace(honest, terms=replace(honest.terms, statistics=statistics))
            assert field in str(forged.verify())
            with pytest.raises(ValueError, match="not valid JSON"):
                sealed(edited(honest.to_json(), ("terms", "statistics", field), math.nan))


def with_choice(certificate, **change):
    return replace(certificate, terms=replace(certificate.terms, choice=certificate.terms.choice | change))


def test_the_predictor_follows_from_the_choice():
    """There is no second place in a certificate that could say something else about the certified vote."""
    honest = kind("fallback, occam")[0]
    assert "predictor" not in json.loads(honest.to_json())
    forged = with_choice(honest, offsets=[0, 9])
    assert forged.predictor.offsets == (0, 9)
    assert not recomputed(forged).verify(*kind("fallback, occam")[1:])
    assert not recomputed(with_choice(honest, fallback=0)).verify(*kind("fallback, occam")[1:])
    assert "offsets" in str(with_choice(honest, offsets=[0, 9, 0]).verify())


def test_counts_are_whole_numbers_in_their_range():
    honest = kind("learned")[0]
    for errors in (honest.errors - 0.5, -1, honest.terms.n_rows + 1, True):
        terms = replace(honest.terms, statistics={**honest.terms.statistics, "errors": errors})
        assert "'errors'" in str(replace(honest, terms=terms).verify())


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("fo", "empirical", -0.1),
        ("cctnd", "tandem", -1e-9),
        ("ccpbb", "loss", -0.1),
        ("bg", "margin_error", 1.5),
    ],
)
def test_shares_are_between_zero_and_one(name, field, value):
    honest = kind(name)[0]
    terms = replace(honest.terms, statistics={**honest.terms.statistics, field: value})
    assert not replace(honest, terms=terms).verify()


def test_a_choice_that_the_bound_does_not_have_fails():
    assert "'luck'" in str(with_choice(kind("dirichlet")[0], luck=1).verify())
    assert "'dropped'" in str(with_choice(kind("f2")[0], dropped=0.5).verify())


def test_a_searched_vote_passed_off_as_fitted_on_other_rows_is_named():
    honest = kind("learned")[0]
    forged = with_choice(honest, list="other", statement="list", member="log-odds", split=0.0, seed=0)
    assert forged.terms.choice["votes"] == honest.terms.choice["votes"]
    outcome = recomputed(forged).verify(*kind("learned")[1:])
    assert any("fitted on other rows" in text for text in outcome.on_trust)
    assert "fitted on other rows" in str(outcome)


def test_a_searched_vote_passed_off_as_fitted_on_a_part_fails():
    honest, votes, y = kind("fitted on a part")
    d = honest.terms.n_voters
    searched = [1] + [0] * (d - 1)
    rows = vc.Ballots.from_votes(votes, y)
    weights = tuple(float(n) for n in searched)
    choice = honest.terms.choice | {"votes": searched, "offsets": [0, 0], "table": None}
    terms = replace(honest.terms, choice=choice, weights=weights)
    counted = honest.method.measure(rows, np.array(weights), choice)
    forged = recomputed(replace(honest, terms=replace(terms, statistics=counted)))
    forged = replace(forged, errors=rows.errors(searched), ties=rows.ties(searched))
    assert forged.verify()  # without the rows nobody can tell, and it says so
    assert "seed picks" in str(forged.verify())
    assert "not the one that is fitted" in str(forged.verify(votes, y))


def test_a_fit_that_another_machine_rounds_differently_is_on_trust(monkeypatch):
    honest, votes, y = kind("fitted on a part")
    fit_on_part = verification.fit_on_part

    def elsewhere(*rows, **declared):
        split, vote = fit_on_part(*rows, **declared)
        return split, replace(vote, offsets=vote.offsets + 3)

    assert not honest.verify(votes, y).on_trust[1:]
    monkeypatch.setattr(verification, "fit_on_part", elsewhere)
    outcome = honest.verify(votes, y)
    assert outcome
    assert "again, it differs by" in str(outcome)


def test_a_fit_of_another_version_is_on_trust(monkeypatch):
    honest, votes, y = kind("fitted on a part")
    split, vote = verification.fit_on_part(
        Ballots.from_votes(votes, y),
        honest.terms.choice,
        Budget(),
        fallback=None,
        classes_declared=False,
        abstention_declared=False,
    )
    other = split, replace(vote, offsets=np.array([99_999, 0]))
    monkeypatch.setattr(verification, "fit_on_part", lambda *rows, **declared: other)
    assert "not the one that is fitted" in str(honest.verify(votes, y))
    content = json.loads(honest.to_json()) | {"votecert_version": "0.1.9"}
    outcome = vc.Certificate.from_json(json.dumps(content | {"digest": digest(content)})).verify(votes, y)
    assert outcome
    assert "by another version of votecert" in str(outcome)


@pytest.mark.parametrize("name", ["learned", "dirichlet", "fo", "test-set", "ccpbb"])
@pytest.mark.parametrize("n_rows", [-400, 0, 10**15, 2.5, True])
def test_absurd_numbers_of_rows_are_refused_at_once(name, n_rows):
    honest = kind(name)[0]
    assert "'n_rows'" in str(replace(honest, terms=replace(honest.terms, n_rows=n_rows)).verify())


@pytest.mark.parametrize("votes", [2**31, 2**33, 2**60, 10**30])
def test_absurd_numbers_of_votes_end_at_once(votes):
    honest = kind("learned")[0]
    listed = [votes, *honest.terms.choice["votes"][1:]]
    weights = tuple(n / sum(listed) for n in listed)
    terms = replace(honest.terms, weights=weights, choice=honest.terms.choice | {"votes": listed})
    assert not replace(honest, terms=terms).verify()


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', "[" * 100_000, '{"votecert_certificate": NaN}', "9" * 5000]
)
def test_texts_that_readers_could_disagree_about_are_refused(text):
    with pytest.raises(ValueError, match="not a certificate"):
        vc.Certificate.from_json(text)


def test_what_is_told_about_the_fit_is_found_again():
    certificate, votes, y = kind("fitted on a part")
    assert certificate.verify(votes, y)
    told = [name for name in certificate.details if name.startswith(("cross-", "share, ", "errors of the"))]
    assert len(told) > 3
    for name in (told[0], told[-1], told[len(told) // 2]):
        edited = replace(certificate, details={**certificate.details, name: certificate.details[name] + 0.5})
        assert not edited.verify(votes, y), name

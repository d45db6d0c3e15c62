"""A vote is fitted on a part that grows until it is enough, which is decided by that part alone."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from draws import violated_too_often
from problems import voted

import votecert as vc
from votecert.learning._looks import fit_on_part
from votecert.learning.budget import Budget
from votecert.rows.ballots import Ballots
from votecert.rows.blocks import read_ballots
from votecert.rows.split import default_looks, in_fitting_part

LOOKS = (0.25, 0.35, 0.5)
DECLARED = {"looks": LOOKS, "split": LOOKS[-1], "seed": 0}
M, D = 400, 40


def fitted(votes, y):
    rows = Ballots.from_votes(votes, y, classes=[0, 1])
    options = {"fallback": None, "classes_declared": True, "abstention_declared": False}
    return fit_on_part(rows, DECLARED, Budget(), **options)


def jury(split: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows on which the fit stops at this look: many voters are soon outdone, few good ones found late."""
    skills = {0.25: [0.2] * 20 + [0.7] * 20, 0.35: [0.9] * 4 + [0.4] * (D - 4), 0.5: [0.9] + [0.5] * (D - 1)}
    return voted(M, skills[split], seed=1)


def test_the_problems_have_these_looks():
    assert default_looks(M, D, 2) == LOOKS


@pytest.mark.parametrize(
    "looks", [default_looks(m, d, c) for m in (60, 160, 5000) for d, c in ((3, 2), (40, 3))]
)
def test_parts_are_nested(looks):
    parts = [in_fitting_part(1000, look, seed=3) for look in looks]
    for small, large in itertools.pairwise(parts):
        assert small.sum() < large.sum()
        assert not (small & ~large).any()


@pytest.mark.parametrize("split", LOOKS)
def test_rows_outside_do_not_decide_whether_a_part_is_enough(split):
    votes, y = jury(split)
    found = fitted(votes, y)
    assert found[0] == split
    outside = ~in_fitting_part(M, split, 0)
    rng = np.random.default_rng(2)
    for changed in (1 - y, rng.integers(2, size=M)):
        other = fitted(
            np.where(outside[:, None], rng.integers(2, size=votes.shape), votes),
            np.where(outside, changed, y),
        )
        assert other[0] == split
        assert other[1].choice() == found[1].choice()


def test_small_parts_that_are_empty_are_passed_over():
    votes, y = jury(0.25)
    n = int(np.flatnonzero(in_fitting_part(M, 0.25, 0))[0])
    larger = [split for split in LOOKS if in_fitting_part(n, split, 0).any()]
    assert larger
    split, vote = fitted(votes[:n], y[:n])
    assert split in larger
    assert vote is not None


def test_certificates_hold_as_often_as_they_say():
    """Whichever look the fit stops at; all three do happen."""
    delta, draws, stops = 0.2, 80, set()

    def violations():
        for seed in range(draws):
            rng = np.random.default_rng([5, seed])
            skills = [0.9, 0.85, *[rng.choice([0.45, 0.5, 0.55, 0.6])] * (D - 2)]
            votes, y = voted(M, skills, seed=seed)
            new, truth = voted(20_000, skills, seed=10_000 + seed)
            found = vc.certify(votes, y, classes=[0, 1], delta=delta)
            stops.add(found.terms.choice["split"])
            yield found.risk < np.mean(found.predict(new) != truth)

    assert not violated_too_often(violations(), draws, delta)
    assert stops == set(LOOKS)


class TestVerification:
    """Where the fit stopped is found again."""

    @staticmethod
    def certified(split):
        votes, y = jury(split)
        certificate = vc.certify(votes, y, classes=[0, 1])
        assert certificate.fitted_on == "part"
        assert certificate.terms.choice["split"] == split
        return certificate, votes, y

    @pytest.mark.parametrize("split", LOOKS)
    def test_honest(self, split):
        certificate, votes, y = self.certified(split)
        again = vc.Certificate.from_json(certificate.to_json())
        assert again.terms.choice["looks"] == [*LOOKS]
        outcome = again.verify(votes, y)
        assert outcome
        assert not outcome.on_trust
        blocks = [(votes[i : i + 90], y[i : i + 90]) for i in range(0, M, 90)]
        gone = read_ballots(blocks, classes=[0, 1], split=split)
        assert again.verify(gone)
        assert "with all in memory this is checked" in str(again.verify(gone))

    def test_a_stop_that_suited_better_is_found_out(self):
        honest, votes, y = self.certified(0.25)
        rows = Ballots.from_votes(votes, y, classes=[0, 1])
        only = {"split": 0.5, "seed": 0}
        vote = fit_on_part(
            rows, only, Budget(), fallback=None, classes_declared=True, abstention_declared=False
        )[1]
        choice = honest.terms.choice | vote.choice() | {"split": 0.5}
        numbers = np.array(choice["votes"])
        counted = honest.method.measure(rows, numbers / numbers.sum(), choice)
        weights = tuple(numbers / numbers.sum())
        terms = replace(honest.terms, choice=choice, weights=weights, statistics=counted)
        found = honest.method.from_terms(terms)
        forged = replace(honest, terms=terms, risk=found.risk, details=found.details)
        forged = replace(
            forged,
            errors=rows.errors(forged.predictor.numbers, forged.predictor.offsets),
            ties=rows.ties(forged.predictor.numbers, forged.predictor.offsets),
        )
        assert forged.verify()
        assert "25 % of the rows are enough to fit on, not 50 %" in str(forged.verify(votes, y))

    def test_other_shares_than_the_usual_are_on_trust(self):
        votes, y = jury(0.25)
        chosen = vc.certify(votes, y, classes=[0, 1], split=0.33)
        assert "How many rows a vote is fitted on was decided once" in str(chosen.verify(votes, y))
        assert not vc.certify(votes, y, classes=[0, 1], split=0.25).verify(votes, y).on_trust

    @pytest.mark.parametrize(
        "looks", [[0.1, 0.3], [0.25], [0.25, 0.1], [0.25, 1.0], [0.25, "0.5"], 0.25, None]
    )
    def test_looks_that_cannot_be(self, looks):
        honest = self.certified(0.25)[0]
        forged = replace(honest, terms=replace(honest.terms, choice=honest.terms.choice | {"looks": looks}))
        assert not forged.verify()

from __future__ import annotations

import numpy as np
import pytest
from report_cases import WEIGHTS, guarantee, learned, rows

import votecert as vc
from votecert.report.margins import BINS, read_margins
from votecert.rows.ballots import Ballots


def totals(margins):
    return sum(part.right for part in margins.bins), sum(part.wrong for part in margins.bins)


def test_every_row_is_in_one_bin_and_errors_are_the_certified_ones():
    certificate = guarantee()
    margins = read_margins(certificate, *rows())
    assert totals(margins) == (300 - certificate.errors, certificate.errors)
    assert all(part.start >= 0 or not part.right or part.end == 0 for part in margins.bins)
    assert not any(part.wrong for part in margins.bins if part.start >= 0)
    assert [part.start for part in margins.bins] == pytest.approx(np.linspace(-1, 1, BINS + 1)[:-1])


def test_leads_are_those_of_plain_counting():
    votes = np.array([["a", "a", "a"], ["a", "a", "b"], ["b", "b", "a"], ["c", "b", "a"]])
    y = np.array(["a", "a", "a", "a"])
    certificate = vc.certify(votes, y, weights="uniform", classes=["b", "a", "c"])
    found = {
        (part.start, part.end): (part.right, part.wrong)
        for part in read_margins(certificate, votes, y).bins
        if part.rows
    }
    # leads 1, 1/3, -1/3 and 0; the tie goes to "b" and is wrong
    assert found == {(0.95, 1.0): (1, 0), (0.3, 0.35): (1, 0), (-0.35, -0.3): (0, 1), (-0.05, 0.0): (0, 1)}


def test_margin_bounds_mark_the_margin_they_count():
    votes, y = rows()
    for bound in ("dirichlet-margin", "bg++", "dirichlet-margin-published"):  # the last is no guarantee
        certificate = vc.certify(votes, y, weights=WEIGHTS, bound=bound)
        margins = read_margins(certificate, votes, y)
        assert margins.cut == 2 * certificate.terms.choice["margin"] > 0
        assert margins.counted == round(300 * certificate.terms.statistics["margin_error"])


def test_a_sampled_margin_is_not_marked_as_a_margin_of_the_vote():
    votes, y = rows()
    certificate = vc.certify(votes, y, weights=WEIGHTS, bound="dirichlet")
    assert read_margins(certificate, votes, y).cut == 0


def test_abstentions_and_offsets_are_part_of_the_vote():
    votes, y = rows(labels=("a", "b", "c"))
    votes = np.where(np.random.default_rng(1).random(votes.shape) < 0.3, None, votes)
    certificate = vc.certify(votes, y, weights="uniform")
    assert totals(read_margins(certificate, votes, y))[1] == certificate.errors
    votes = np.zeros((100, 3), dtype=int)
    votes[:, 0] = y = np.arange(100) % 10 == 0
    votes[:, 2] = 1 - y
    learned = vc.certify(votes, y.astype(int))
    assert totals(read_margins(learned, votes, y.astype(int)))[1] == learned.errors


def test_leads_of_sparse_juries_are_shares_of_the_votes_cast():
    """Of ten voters two or three are asked on a row; where they agree, the lead is 100 %."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    votes = np.full((200, 10), None, dtype=object)
    for row, label in enumerate(y):
        asked = rng.choice(10, size=2 + row % 2, replace=False)
        votes[row, asked] = ["b" if label else "a"] * len(asked)
    truth = np.array(["a", "b"])[y]
    votes[0, np.flatnonzero(votes[0] != None)[0]] = "b" if truth[0] == "a" else "a"  # noqa: E711
    votes[1] = None
    certificate = vc.certify(votes, truth, weights="uniform", validate=False)
    found = {part.end: part.rows for part in read_margins(certificate, votes, truth).bins if part.rows}
    assert found == {0.0: 2, 1.0: 198}  # the tie, the row without votes, and all others


def test_held_out_rows_do_not_matter_for_the_picture():
    certificate, votes, y = learned()
    margins = read_margins(certificate, votes, y)
    assert totals(margins)[1] == certificate.errors
    assert margins.voter_errors == (votes != y[:, None]).sum(axis=0).tolist()


def test_soft_votes_have_leads_too():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200)
    scores = rng.random((200, 4, 3))
    scores[np.arange(200), :, y] += 0.3
    certificate = vc.certify(scores=scores, y=y, weights="uniform")
    margins = read_margins(certificate, scores, y)
    assert totals(margins) == (200 - certificate.errors, certificate.errors)
    assert margins.voter_errors is None


def test_ballots_will_do():
    votes, y = rows()
    ballots = Ballots.from_votes(votes, y, classes=["ham", "spam"])
    assert read_margins(guarantee(), ballots, None) == read_margins(guarantee(), votes, y)


def test_other_rows_are_refused():
    votes, y = rows()
    with pytest.raises(ValueError, match="not the certified rows"):
        read_margins(guarantee(), votes[:-1], y[:-1])
    with pytest.raises(ValueError, match="not the certified rows"):
        read_margins(guarantee(), votes, y[::-1])
    with pytest.raises(ValueError, match="5 voters, these rows have 4"):
        read_margins(guarantee(), votes[:, :4], y)
    with pytest.raises(ValueError, match="both votes and y"):
        read_margins(guarantee(), votes, None)


def test_rows_in_blocks_give_the_same_report():
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    votes = np.where(rng.random((400, 5)) < 0.8, y[:, None], 1 - y[:, None])
    certificate = vc.certify(votes, y, weights="uniform", classes=[0, 1])
    blocks = {"votes": da.from_array(votes, chunks=(100, 5)), "y": da.from_array(y, chunks=100)}
    assert certificate.to_html(**blocks) == certificate.to_html(votes=votes, y=y)

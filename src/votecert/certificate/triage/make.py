"""``triage``: from votes and labels to what the vote may decide alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from votecert.certificate.make import fallback_index
from votecert.certificate.triage import rules
from votecert.certificate.triage.leads import (
    Leads,
    always_odd,
    declared_cuts,
    fit_vote,
    fitted_cuts,
    scale_of,
    vote_of,
)
from votecert.certificate.triage.record import Triage
from votecert.certificate.triage.rules import Counts, OperatingPoint
from votecert.certificate.units import Units
from votecert.certificate.vote_record import vote_fields
from votecert.numerics.arithmetic import OUTWARD
from votecert.rows.predictor import scaled_votes
from votecert.rows.read import Weights, check_delta, read_rows, read_weights, voter_names
from votecert.rows.split import SPLIT


def triage(
    votes: Any = None,
    y: Any = None,
    *,
    max_risk: float = 0.05,
    weights: Weights = "learn",
    fixed_in_advance: bool = False,
    delta: float = 0.05,
    thresholds: Iterable[float] | None = None,
    classes: Any = None,
    can_abstain: bool | None = None,
    fallback: Any = None,
    scores: Any = None,
    voters: Iterable[str] | None = None,
    split: float = SPLIT,
    random_state: int = 0,
    validate: bool = True,
) -> Triage:
    """Find what a vote may decide alone: it answers where its winner leads clearly, and hands over the rest.

    Parameters
    ----------
    votes, y, delta, classes, can_abstain, scores, voters, validate
        As for :func:`votecert.certify`.
    fallback : label, optional
        As for :func:`votecert.certify`. Without it a row on which nobody votes is handed over.
    max_risk : float, default=0.05
        The error that is allowed among the rows that the vote answers, fixed before the rows are seen.
    weights : "learn", "uniform", (d,) array or dict, default="learn"
        "learn" fits the vote, and the thresholds, on a part of the rows; the others certify. "uniform" is the
        plain vote, which all rows certify. An array must have been fixed without looking at these rows, and
        needs ``fixed_in_advance=True``.
    thresholds : numbers from 0 to 1, optional
        Leads to try, in shares of all votes, fixed without looking at these rows. By default all leads that
        there can be, or fifty; for learned votes, leads on the fitting rows.
    split : float, default=0.25
        Share of the rows that a learned vote is fitted on.
    random_state : int, optional
        Seed of the split. To be chosen once: trying several until much is answered voids the guarantee.

    Returns
    -------
    Triage
        With probability 1 - delta all of it holds together: among new rows that are answered at most
        ``risk = max_risk`` are wrong, at least ``coverage`` are answered, and ``curve`` limits the error
        at other thresholds. ``threshold`` is None when nothing can be answered; ``reason`` says why.

    See Also
    --------
    certify : a limit on the error of all answers.

    Notes
    -----
    See :mod:`votecert.certificate.triage.rules` for what is computed, and why it holds.

    Examples
    --------
    >>> import numpy as np, votecert as vc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1000)
    >>> votes = np.where(rng.random((1000, 5)) < 0.8, y[:, None], 1 - y[:, None])
    >>> found = vc.triage(votes, y, max_risk=0.03, weights="uniform")
    >>> found.threshold, round(found.coverage, 2)
    (0.6, 0.7)
    >>> found.decide([[0, 0, 0, 0, 1], [0, 1, 0, 1, 1]]).tolist()
    [0, None]
    """
    check_delta(delta)
    if not 0 < max_risk < 1:
        raise ValueError(f"max_risk must be between 0 and 1, both excluded, not {max_risk!r}.")
    drawn = {"split": split, "random_state": random_state}
    voters = None if voters is None else tuple(voters)
    rows = read_rows(votes, y, scores, classes, can_abstain, drawn, validate, voters)
    names = voter_names(votes, voters, rows.n_voters)
    theta, origin = read_weights(weights, rows.n_voters, fixed_in_advance, names)
    if origin == "given":
        raise ValueError(
            "Triage with an array of weights is only valid if they were fixed without looking at these rows: "
            "say so with fixed_in_advance=True, or learn them with weights='learn'."
        )
    place, certifying = fallback_index(fallback, rows), rows
    if theta is not None:
        split, random_state = 0.0, 0
        vote = vote_of(rows, scaled_votes(theta), place)
        cuts, starts = declared_cuts(vote, thresholds, always_odd(vote, rows))
    else:
        fitting, certifying = (part.rows for part in Units(rows, None).parts(split, random_state))
        vote = fit_vote(fitting, place, rows)
        if thresholds is not None:
            cuts, starts = declared_cuts(vote, thresholds, False)
        else:
            cuts, starts = fitted_cuts(vote, fitting, certifying.n_rows / fitting.n_rows, max_risk, delta)
    counts = Leads.of(vote, certifying).counts(certifying.n_rows, cuts, starts)
    return Triage(
        max_risk=float(max_risk),
        delta=float(delta),
        **limits(counts, [cut / scale_of(vote) for cut in cuts], max_risk, delta),
        **vote_fields(vote, rows, origin, split, random_state, names),
        cuts=cuts,
        starts=starts,
        answered=tuple(counts.answered),
        errors=tuple(counts.errors),
        n_rows=certifying.n_rows,
        n_fitted=rows.n_rows - certifying.n_rows,
    )


def limits(counts: Counts, thresholds: Sequence[float], max_risk: float, delta: float) -> dict[str, Any]:
    """Test the thresholds: the one that is used, its coverage, and the curve."""
    risks = rules.curve_risks(OUTWARD, counts, delta)
    place = rules.selected(OUTWARD, counts, max_risk, delta, risks)

    def least(place: int) -> float:
        return max(0.0, float(rules.coverage(OUTWARD, counts, place, delta)) - 1e-15)

    curve = tuple(
        OperatingPoint(thresholds[at], float(risk), least(at), counts.answered[at], counts.errors[at])
        for at, risk in zip(rules.points(len(thresholds)), risks, strict=True)
    )
    if place is None:
        return {"threshold": None, "coverage": 0.0, "curve": curve}
    return {"threshold": thresholds[place], "coverage": least(place), "curve": curve}

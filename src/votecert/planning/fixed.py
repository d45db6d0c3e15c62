"""How many labelled rows a target certificate takes, if their number is fixed in advance.

Symbols: m rows, k errors among them, e the expected error of the vote, R the target, d voters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrik

from votecert.bounds.base import Floats
from votecert.bounds.occam import Occam
from votecert.bounds.occam_prior import log_of_reciprocal
from votecert.certificate.triage.rules import SHARES, smallest
from votecert.numerics.arithmetic import OUTWARD
from votecert.numerics.binomial import clopper_pearson_upper, log_binomial_cdf
from votecert.rows.read import check_delta
from votecert.rows.split import SPLIT

_FIRST_SHARE = {"learned": 3, "fixed": 4}  # tests of thresholds begin with one part of so many

Vote = Literal["learned", "fixed"]


def rows_needed(
    target_risk: float,
    expected_error: float,
    n_voters: int,
    delta: float = 0.05,
    *,
    vote: Vote = "learned",
    n_classes: int = 2,
    assurance: float = 0.5,
    fitted_list: bool = True,
    answered: float | None = None,
) -> int:
    r"""Count the labelled rows that bring the certificate down to a target.

    Parameters
    ----------
    target_risk : float
        The risk R that the certificate should not exceed.
    expected_error : float
        The true error e that the vote is expected to have, below the target.
    n_voters : int
        Number of voters d.
    delta : float, default=0.05
        The certificate holds with probability 1 - delta.
    vote : {"learned", "fixed"}
        "learned": weights are learned on the rows and certified by "occam"; the plan pays for the plain vote,
        which learning can only improve on. "fixed": weights fixed in advance, the test-set bound.
    n_classes : int, default=2
    assurance : float, default=0.5
        Chance that the certificate then is at most the target: 0.5 plans for ordinary luck.
    fitted_list : bool, default=True
        Whether a part of delta goes to a fitted vote, as it does by default in ``certify``.
    answered : float, optional
        Plan for ``triage``: the share of rows that the vote is expected to answer, with the expected error
        among these. A learned vote is fitted on a quarter of the rows besides.

    Returns
    -------
    rows : int

    Notes
    -----
    The certificate of k errors among m rows is at most R if and only if
    :math:`P(Bin(m,R)\le k)\le\delta\pi`, where :math:`\pi` is the part of delta that the plain vote has (1 if
    the vote is fixed). For each k that takes :math:`m_k` rows; the answer is an :math:`m_k` with
    :math:`P(Bin(m_k,e)\le k)` at least the assurance. This chance rises with k, but in saw teeth, so that
    the bisection may miss a slightly smaller number that happens to do.

    References
    ----------
    J. Langford, Tutorial on practical prediction theory for classification, JMLR 6, 2005.

    Examples
    --------
    >>> rows_needed(0.05, 0.03, n_voters=10, vote="fixed")
    286
    >>> 286 < rows_needed(0.05, 0.03, n_voters=10) < 500  # learning costs some rows
    True
    >>> rows_needed(0.02, 0.005, n_voters=5, vote="fixed", answered=0.6)  # triage
    710
    """
    _check_plan(expected_error, n_voters, delta, n_classes, vote, assurance)
    check_target(target_risk, expected_error)
    level = math.log(delta) - _vote_cost(vote, n_voters, n_classes, fitted_list)
    if answered is not None:
        if not 0 < answered <= 1:
            raise ValueError(f"answered must be above 0 and at most 1, not {answered!r}.")
        level = math.log(delta * float(SHARES["target"])) - math.log(_FIRST_SHARE[vote])

    def rows_for(errors: int) -> int:
        return smallest(lambda rows: float(log_binomial_cdf(errors, rows, target_risk)) <= level, errors + 1)

    def is_likely(errors: int) -> bool:
        chance = float(log_binomial_cdf(errors, rows_for(errors), expected_error))
        return chance >= math.log(assurance)

    needed = rows_for(smallest(is_likely, 0))
    if answered is None:
        return needed
    return math.ceil(needed / answered / (1 - SPLIT if vote == "learned" else 1))


def certificate_curve(
    expected_error: float,
    n_voters: int,
    rows: Iterable[int],
    delta: float = 0.05,
    *,
    vote: Vote = "learned",
    n_classes: int = 2,
    assurance: float = 0.5,
    fitted_list: bool = True,
) -> Floats:
    """Certificates to expect from different numbers of rows.

    Parameters
    ----------
    expected_error, n_voters, delta, vote, n_classes, assurance, fitted_list
        As for :func:`rows_needed`.
    rows : iterable of int
        Numbers of rows m.

    Returns
    -------
    risks : array
        For each number of rows, what the certificate is at most, with the chance ``assurance``.

    Examples
    --------
    >>> certificate_curve(0.03, 10, [100, 1000, 10_000], vote="fixed").round(3)
    array([0.076, 0.04 , 0.033])
    """
    _check_plan(expected_error, n_voters, delta, n_classes, vote, assurance)
    amounts = np.array(list(rows), dtype=np.int64)
    if not amounts.size or amounts.min() < 1:
        raise ValueError("Every number of rows must be at least 1.")
    errors = _typical_errors(amounts, expected_error, assurance)
    level = math.log(delta) - _vote_cost(vote, n_voters, n_classes, fitted_list)
    return np.asarray(clopper_pearson_upper(errors, amounts, level))


def check_target(target_risk: float, expected_error: float) -> None:
    """Refuse a target that no number of rows reaches."""
    if not 0 <= expected_error < target_risk < 1:
        raise ValueError(
            f"The target risk, {target_risk!r}, must lie above the expected error, {expected_error!r}, and "
            "below 1: no number of rows certifies less than the true error."
        )


def _typical_errors(rows: npt.NDArray[np.int64], expected_error: float, assurance: float) -> Floats:
    """The smallest k with P(Bin(m, e) <= k) at least the assurance."""
    if expected_error == 0:
        return np.zeros(len(rows))
    errors = np.maximum(np.ceil(bdtrik(assurance, rows, expected_error)), 0.0)
    one_less = log_binomial_cdf(errors - 1, rows, expected_error) >= math.log(assurance)
    return np.where(one_less, errors - 1, errors)


def _vote_cost(vote: Vote, n_voters: int, n_classes: int, fitted_list: bool) -> float:
    """Nats that the plain vote of all voters costs: log(1/prior)."""
    if vote == "fixed":
        return 0.0
    bound = Occam()
    mass = bound.whole_mass({"list": "split" if fitted_list else "none"})
    plain = bound.prior.probability((1,) * n_voters, (0,) * n_classes)
    return float(log_of_reciprocal(OUTWARD, Fraction(mass) * plain))


def _check_plan(
    expected_error: float, n_voters: int, delta: float, n_classes: int, vote: str, assurance: float
) -> None:
    check_delta(delta)
    if not 0 <= expected_error < 1:
        raise ValueError(f"The expected error must be at least 0 and below 1, not {expected_error!r}.")
    if n_voters < 1 or n_classes < 1:
        raise ValueError("There must be at least one voter and one class.")
    if vote not in ("learned", "fixed"):
        raise ValueError(f"vote must be 'learned' or 'fixed', not {vote!r}.")
    if not 0 < assurance < 1:
        raise ValueError(f"assurance must be between 0 and 1, both excluded, not {assurance!r}.")

"""The prior of very many whole-number votes at once, in plain float64: a guide for the search.

The prior sees seven numbers of a vote only, and a change of one voter's votes changes each by an amount
that does not depend on the other voters. So the prior after any one or two changes costs a few array
operations. The number that a certificate states comes from :meth:`OccamPrior.log_probability`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from votecert.bounds.base import Floats
from votecert.bounds.occam_prior import MOST_DRAWN_VOTES, OccamPrior
from votecert.rows.patterns import IntArray

_IMPOSSIBLE = -np.inf


@dataclass(frozen=True)
class PriorScores:
    """Log prior probabilities of votes of length d + c: the voters, then the constants.

    Examples
    --------
    >>> scores = PriorScores(OccamPrior(), n_voters=3, n_classes=2)
    >>> bool(np.isclose(scores.of_many(np.array([[1, 1, 1, 0, 0]])), np.log(0.95), atol=0.01)[0])
    True
    """

    prior: OccamPrior
    n_voters: int
    n_classes: int

    def of_many(self, votes: IntArray) -> Floats:
        """Log prior of each row of (J, d + c)."""
        return self._of_features(self._features(votes).sum(axis=-1))

    def after(self, vote: IntArray, steps: Sequence[int]) -> Floats:
        """Log prior after each step of each voter or constant, (len(steps), d + c)."""
        now = self._features(vote)
        after = self._features(vote + np.array(steps)[:, None])
        return self._of_features(now.sum(axis=-1)[:, None, None] + after - now[:, None, :])

    def after_pairs(self, vote: IntArray, steps: tuple[int, int], who: npt.NDArray[np.intp]) -> Floats:
        """Log prior after ``steps[0]`` for one of ``who`` and ``steps[1]`` for another, all pairs."""
        now = self._features(vote)
        one, other = ((self._features(vote + step) - now)[:, who] for step in steps)
        pairs = now.sum(axis=-1)[:, None, None] + one[:, :, None] + other[:, None, :]
        log_prior = self._of_features(pairs)
        np.fill_diagonal(log_prior, _IMPOSSIBLE)
        return log_prior

    def _features(self, votes: IntArray) -> Floats:
        """What each adds to the seven numbers, (7, ..., d + c); not a number where votes are negative."""
        values = np.where(votes < 0, np.nan, votes)
        used = (values > 0).astype(np.float64)
        urn = self.prior.urn
        features = np.stack(
            [
                *(used, values, gammaln(values + 1), gammaln(values + urn) - gammaln(urn)),
                *(used, values, np.log(np.where(values > 0, values * (values + 1), 1.0)) + 0 * values),
            ]
        )
        features[:4, ..., self.n_voters :] *= 0
        features[4:, ..., : self.n_voters] *= 0
        return features

    def _of_features(self, features: Floats) -> Floats:
        """Log prior from the seven numbers; impossible votes get minus infinity."""
        possible = ~np.isnan(features).any(axis=0) & (features[1] > 0.5)
        s, total, factorials, rising, q, offsets, log_offsets = np.where(possible, features, 1.0)
        subset = np.abs(total - s) < 0.5
        drawn = self._drawn(s, total, factorials, rising, subset) + self._offset_term(q, log_offsets)
        named = np.where(subset, self._named(s, q, offsets), _IMPOSSIBLE)
        return np.where(possible, np.logaddexp(drawn, named), _IMPOSSIBLE)

    def _drawn(
        self, s: Floats, total: Floats, factorials: Floats, rising: Floats, subset: npt.NDArray[np.bool_]
    ) -> Floats:
        d, urn = self.n_voters, self.prior.urn
        by_support = self._by_support[:, np.clip(np.rint(s), 0, d).astype(np.intp)]
        support = by_support[0] - total * np.log(2)
        arrangements = gammaln(total + 1) - factorials - np.log(total * (total + 1))
        multinomial = _log(self.prior.multinomial) - total * np.log(d)
        polya = _log(self.prior.polya) + gammaln(d * urn) - gammaln(total + d * urn) + rising
        drawn = arrangements + np.logaddexp(multinomial, polya)
        drawn = np.where(total > MOST_DRAWN_VOTES, _IMPOSSIBLE, drawn)
        of_one_each = np.where(subset, by_support[1], _IMPOSSIBLE)
        return np.asarray(np.logaddexp(np.logaddexp(support, drawn), of_one_each))

    @cached_property
    def _by_support(self) -> Floats:
        """For s = 0..d voters: ``support`` without its 2^-N, and ``small`` plus ``drop``."""
        d = self.n_voters
        s = np.arange(1.0, d + 1)
        ways = gammaln(d + 1) - gammaln(s + 1) - gammaln(d - s + 1)
        small = np.log((d + 1) / d) - np.log(s * (s + 1)) - ways
        left_out = np.maximum(d - s, 1)
        drop = np.log(d / max(d - 1, 1)) - np.log(left_out * (left_out + 1)) - ways
        drop = np.where(s < d, _log(self.prior.drop) + drop, _IMPOSSIBLE)
        table = np.stack(
            [_log(self.prior.support) + small, np.logaddexp(_log(self.prior.small) + small, drop)]
        )
        return np.concatenate([np.full((2, 1), _IMPOSSIBLE), table], axis=1)

    def _named(self, s: Floats, q: Floats, offsets: Floats) -> Floats:
        """Everybody, with a tie-break or outvoted, and one voter; for votes of one each."""
        d, c, prior = self.n_voters, self.n_classes, self.prior
        everybody, one_class = s > d - 0.5, np.abs(q - 1) < 0.5
        plain = np.where(everybody, _log(prior.everybody), _IMPOSSIBLE)
        plain = np.logaddexp(plain, np.where(s < 1.5, _log(prior.single) - np.log(d), _IMPOSSIBLE))
        tie_break = everybody & one_class & (np.abs(offsets - 1) < 0.5)
        constant = everybody & one_class & (np.abs(offsets - d - 1) < 0.5)
        special = np.where(
            tie_break, _log(prior.tie_break), np.where(constant, _log(prior.constant), _IMPOSSIBLE)
        )
        return np.where(q < 0.5, plain, special - np.log(c))

    def _offset_term(self, q: Floats, log_offsets: Floats) -> Floats:
        c, constants = self.n_classes, self.prior.constants
        with_offsets = np.clip(q, 1, max(c - 1, 1))
        ways = gammaln(c + 1) - gammaln(with_offsets + 1) - gammaln(c - with_offsets + 1)
        which = np.log(c / max(c - 1, 1)) - np.log(with_offsets * (with_offsets + 1)) - ways
        drawn = np.where(q > c - 0.5, _IMPOSSIBLE, _log(constants) + which - log_offsets)
        return np.where(q < 0.5, _log(1 - constants), drawn)


def _log(mass: float) -> float:
    return float(np.log(mass)) if mass > 0 else _IMPOSSIBLE

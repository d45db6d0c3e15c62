"""Learning whole-number votes: the vote with the smallest ``occam`` certificate on the rows that certify it.

The certificate pays for every vote through its prior, whatever the search does: the search decides how
tight the certificate is, never whether it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self, cast

import numpy as np

from votecert.bounds.base import Bound, Choice, Evaluation, Floats
from votecert.bounds.occam import NO_LIST, Occam, whole_choice
from votecert.bounds.occam_prior import log_of_reciprocal
from votecert.learning._criterion import Criterion
from votecert.learning._descent import Descent, FoundVote
from votecert.learning._error_counter import error_counter
from votecert.learning._looks import fit_on_part
from votecert.learning._other_rows import by_label, refuse_other_kind, refuse_same_rows
from votecert.learning._prior_scores import PriorScores
from votecert.learning._stacking import stacking_weights
from votecert.learning._starts import all_votes, log_odds_weights, rounded_votes, simple_votes
from votecert.learning._threads import one_thread
from votecert.learning.base import Learner
from votecert.learning.budget import Budget
from votecert.learning.fitted_vote import PLAIN_ERRORS, FittedVote, fit_vote, fit_without_labels
from votecert.numerics.arithmetic import OUTWARD
from votecert.numerics.binomial import clopper_pearson_upper
from votecert.rows.ballots import Ballots
from votecert.rows.read import Rows
from votecert.rows.scores import Scores
from votecert.rows.split import default_looks
from votecert.rows.tables import in_order, is_missing, n_rows_of

MOST_ENTRIES = 1 << 24
"""Votes that the search looks at; of more, some rows are searched and all of them judge the best."""

FITTED_ENTRIES = 1 << 22
"""Votes that real weights, from which the search starts, are fitted on."""

FEWEST_ROWS_TO_SPLIT = 40
"""With fewer rows none are spent on fitting a vote."""

FEWEST_ROWS_TO_CHOOSE = 80
"""With fewer rows none are spent on choosing between votes fitted with labels and without."""

_DESCENTS = 8  # starts of each kind that are followed downhill
_FEW_DESCENTS = 2  # the same where there is a fitted vote
_FINISHING = 3.0  # what the result takes, in units of the time it takes to make the rows ready
_FINALISTS = 12  # votes found on a sample of the rows that are counted on all of them


@dataclass(frozen=True, kw_only=True)
class WholeVotes(Learner):
    """Learn a vote for the bound "occam": a search among whole-number votes, and one vote that is fitted.

    Parameters
    ----------
    split : float, optional
        Share of the rows spent on fitting a vote that the other rows certify; 0 turns that off, as fewer than
        40 rows do. By default 0.25 to 0.35, by the numbers of rows, voters and declared classes; with many
        voters and 150 to 2000 rows a part that grows from 0.25 to 0.5 until it finds itself large enough.
    prior_votes, prior_y : optional
        Votes and labels of *other* rows (out-of-bag, out-of-fold) to fit on, at no cost in certifying rows;
        or ballots. With ``scores``, the scores of those rows. A missing vote means that the voter was not
        asked (as out of bag), unless ``can_abstain=True`` says that voters abstain. Rows whose label in
        ``prior_y`` is missing, or all if there is no ``prior_y``, are looked at without labels: what voters
        agree on tells who is right how often, if they err independently. Such votes are candidates like all
        others, chosen on rows with labels; where fewer than 80 rows certify, these are not split for that,
        and all of them certify the vote that was fitted without labels.
    random_state : int, default=0
        Seed of the split. To be chosen once: trying several until the certificate is small voids it.
    time_budget : float or None, default=60
        Seconds for the search; None for no limit. The result depends on the machine only if they are used up.
    callback : callable, optional
        Gets a dictionary now and then: ``stage``, ``iteration``, ``value``, ``seconds``.

    Examples
    --------
    >>> import numpy as np, votecert as vc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1000)
    >>> votes = np.where(rng.random((1000, 3)) < [0.95, 0.6, 0.6], y[:, None], 1 - y[:, None])
    >>> found = vc.learn(votes, y, method=vc.WholeVotes(split=0.2, time_budget=10))
    >>> int(found.weights.argmax()), bool(found.risk < 0.1)
    (0, True)
    """

    split: float | None = None
    prior_votes: Any = None
    prior_y: Any = None
    time_budget: float | None = 60.0

    id: ClassVar[str] = "whole-votes"
    purpose: ClassVar[str] = "whole-number votes and the vote that 'occam' fits"

    def __post_init__(self) -> None:
        super().__post_init__()
        split = self.split
        if split is not None and not (isinstance(split, int | float | np.number) and 0 <= split < 1):
            raise ValueError(f"split must be at least 0 and below 1, not {split!r}.")
        if isinstance(self.prior_votes, Ballots | Scores) and self.prior_y is not None:
            raise TypeError("prior_y is in prior_votes already: leave it out.")
        if self.prior_votes is None and self.prior_y is not None:
            raise TypeError("prior_y are the labels of prior_votes, which are missing.")
        if self._has_other_labels and split:
            raise TypeError(
                "split= would be ignored here: with prior_votes= and prior_y= the vote is fitted on those "
                "rows. Leave one out."
            )

    @property
    def _has_other_labels(self) -> bool:
        """Whether there are other rows with labels."""
        if isinstance(self.prior_votes, Ballots | Scores):
            return True
        return self.prior_y is not None and (not len(self.prior_y) or not is_missing(self.prior_y).all())

    @classmethod
    def learns(cls, bound: Bound) -> bool:
        return isinstance(bound, Occam)

    def for_groups(self) -> Self:
        """Without a fitted vote, which would need its own held-out rows in every group, if not on others."""
        if self._has_other_labels:
            return self
        for name, is_given in {"split": self.split, "prior_votes": self.prior_votes is not None}.items():
            if is_given:
                raise TypeError(
                    f"{name}= would be ignored here: with groups= no vote is fitted on some of the rows. "
                    "Leave it out, or give other rows with labels to fit on as prior_votes= and prior_y=."
                )
        return replace(self, split=0.0)

    def for_voters(self, names: Sequence[str] | None, unlabelled: Any = None) -> Self:
        other = unlabelled if self.prior_votes is None and self.split != 0 else self.prior_votes
        return replace(self, prior_votes=in_order(other, names))

    def learn(
        self,
        rows: Rows,
        bound: Bound,
        delta: float,
        *,
        prior: Floats | None = None,
        fallback: int | None = None,
    ) -> Evaluation:
        other_rows, unlabelled = self._other_rows(rows)
        budget = Budget(self.time_budget, self.callback)
        search = _Search(rows, delta, cast(Occam, bound), self._declared(rows), fallback, budget)
        with budget.cut_short(), one_thread():
            if self._has_other_labels:  # that vote has nearly all of delta: it comes before time runs out
                search.fit_vote(other_rows, unlabelled)
                search.search_whole_votes()
            else:
                search.search_whole_votes()
                search.fit_vote(other_rows, unlabelled)
        return budget.marked(search.result())

    def _declared(self, rows: Rows) -> dict[str, Any]:
        """How a vote is fitted: decided before votes and labels are looked at."""
        if self._has_other_labels:
            return {"list": "other", "split": 0.0, "seed": 0}
        split, looks = self.split, {}
        unlabelled = {} if self.prior_votes is None else {"unlabelled": True}
        if split is None:
            if unlabelled and rows.n_rows < FEWEST_ROWS_TO_CHOOSE:
                return {"list": "other", "split": 0.0, "seed": 0} | unlabelled
            c = rows.n_classes if rows.classes_declared else None
            shares = [rows.drawn_split] if rows.drawn_split else default_looks(rows.n_rows, rows.n_voters, c)
            split, looks = shares[-1], {"looks": [*shares]} if len(shares) > 1 else {}
        can_split = rows.can_split(split, self.random_state)
        if self.split and not can_split:
            raise ValueError(
                f"split={split!r} is not possible: which rows are which is not known any more. Read them "
                "with read_ballots(..., split=..., seed=...), or give other rows to fit on as prior_votes=."
            )
        if split == 0 or not can_split or (rows.n_rows < FEWEST_ROWS_TO_SPLIT and not unlabelled):
            return NO_LIST
        return {"list": "split", "split": float(split), "seed": int(self.random_state)} | looks | unlabelled

    def _other_rows(self, rows: Rows) -> tuple[Rows | None, Ballots | None]:
        """Other rows with labels and without, with the classes of the certifying rows."""
        other, soft = self.prior_votes, isinstance(rows, Scores)
        if other is None:
            return None, None
        classes, unlabelled = rows.classes.tolist(), None
        if not isinstance(other, Ballots | Scores):
            try:
                other, labels, others = by_label(other, self.prior_y)
                if others is not None:
                    if soft:
                        raise ValueError("scores need labels; rows without are for votes.")
                    unlabelled = Ballots.from_votes(others, [classes[0]] * n_rows_of(others), classes=classes)
                if other is not None:
                    read = Scores.from_scores if soft else Ballots.from_votes
                    other = read(other, labels, classes=classes)
            except ValueError as error:
                raise ValueError(
                    f"In prior_votes and prior_y, which need the same classes: {error}"
                ) from None
        for part in (other, unlabelled):
            if part is not None:
                refuse_other_kind(part, rows)
                refuse_same_rows(part, rows)
        return other, unlabelled


@dataclass
class _Search:
    """One run of :class:`WholeVotes`: what it works on, and what it has found."""

    rows: Rows
    delta: float
    bound: Occam
    declared: dict[str, Any]
    fallback: int | None
    budget: Budget
    found: list[FoundVote] = field(default_factory=list)
    fitted: FittedVote | None = None
    sampled: bool = False

    def __post_init__(self) -> None:
        d, c = self.rows.n_voters, self.rows.n_classes
        everybody = np.concatenate([np.ones(d, dtype=np.int64), np.zeros(c, dtype=np.int64)])
        self.found.append(FoundVote(everybody, self.rows.n_rows, 1.0))

    def search_whole_votes(self) -> None:
        """Find the votes whose certificates on the rows, or a large sample of them, are smallest."""
        d, c, m = self.rows.n_voters, self.rows.n_classes, self.rows.n_rows
        began = self.budget.seconds
        voters = error_counter(self.rows, MOST_ENTRIES, self.fallback)
        self.sampled = voters.n_rows < m
        # to go over all rows takes as long as that, or less
        self.budget.reserve(_FINISHING * (self.budget.seconds - began))
        criterion = Criterion(
            m, self._log_mass(self.bound.whole_mass(self.declared)), scale=m / voters.n_rows
        )
        descent = Descent(voters, PriorScores(self.bound.prior, d, c), criterion, self.budget, self.found)
        is_alone = self.declared["list"] == "none"  # else the fitted vote beats what takes long to find
        n_descents = _DESCENTS if is_alone else _FEW_DESCENTS
        descent.run(np.concatenate([simple_votes(voters), all_votes(voters)]), n_descents)
        weights = [log_odds_weights(voters)]
        if is_alone:
            weights += stacking_weights(voters.part(FITTED_ENTRIES), budget=self.budget)
        descent.run(rounded_votes(weights, d), n_descents)
        if is_alone:
            descent.polish()

    def fit_vote(self, other_rows: Rows | None, unlabelled: Ballots | None) -> None:
        """Fit a vote on the rows that were declared for it."""
        options: dict[str, Any] = {
            "fallback": self.fallback,
            "classes_declared": self.rows.classes_declared,
            "unlabelled": unlabelled,
        }
        abstention_declared = self.rows.abstention_declared
        if self.declared["list"] == "split":
            self.declared["split"], self.fitted = fit_on_part(
                self.rows, self.declared, self.budget, abstention_declared=abstention_declared, **options
            )
        elif other_rows is not None:
            # Voters miss votes on other rows only where they were not asked, as out of bag, unless they were
            # declared to abstain. That they do on the certifying rows must not change what is fitted.
            self.fitted = fit_vote(
                other_rows,
                self.budget,
                n_outputs=self.rows.n_outputs,
                abstention_declared=other_rows.abstention_declared,
                missing_is_unasked=not (abstention_declared and self.rows.can_abstain),
                **options,
            )
        elif unlabelled is not None and self.declared["list"] == "other":
            self.fitted = fit_without_labels(
                unlabelled,
                self.budget,
                n_outputs=self.rows.n_outputs,
                classes_declared=self.rows.classes_declared,
            )

    def result(self) -> Evaluation:
        """The smallest certificate, counted on all the rows that certify it."""
        evaluations = [self._best_whole_vote()]
        if self.fitted is not None:
            choice = {**self.declared, **self.fitted.choice(), "fallback": self.fallback}
            evaluations.append(self._evaluate(choice))
        found = min(evaluations, key=lambda evaluation: evaluation.risk)
        plain = self.rows.errors(self.found[0].votes[: self.rows.n_voters], fallback=self.fallback)
        more = {PLAIN_ERRORS: float(plain)} | ({} if self.fitted is None else self.fitted.details())
        return replace(found, details=found.details | more)

    def _best_whole_vote(self) -> Evaluation:
        """The best whole-number vote that was found; what beats everybody's on a sample may not on all."""
        finalists = sorted(self.found, key=lambda vote: vote.risk)[: _FINALISTS if self.sampled else 1]
        votes = np.array([vote.votes for vote in (*finalists, self.found[0])])
        d = self.rows.n_voters
        errors: list[int] = []
        choices = [
            whole_choice(vote[:d], vote[d:], declared=self.declared, fallback=self.fallback) for vote in votes
        ]
        for choice in choices:
            if errors and not self.budget.has_time():
                break
            errors.append(self.rows.errors(choice["votes"], choice["offsets"], self.fallback))
        shares = [self._log_mass(self.bound.share(choice)) for choice in choices[: len(errors)]]
        risks = clopper_pearson_upper(errors, self.rows.n_rows, shares)
        return self._evaluate(choices[int(np.argmin(risks))])

    def _evaluate(self, choice: Choice) -> Evaluation:
        votes = np.array(choice["votes"], dtype=np.float64)
        rows = cast(Ballots, self.rows)  # scores count errors by methods of the same names
        return self.bound.at(rows, votes / votes.sum(), self.delta, choice)

    def _log_mass(self, mass: Fraction) -> float:
        return -float(log_of_reciprocal(OUTWARD, Fraction(self.delta) * mass))

"""Learning whole-number votes: as good as enumeration where that is possible, and steady everywhere."""

import itertools
import math

import numpy as np
import pytest
from problems import guessed

import votecert as vc
from votecert.bounds.occam import MEMBERS, FittedMass, Occam, counted_votes
from votecert.learning import whole_votes
from votecert.learning._criterion import Criterion
from votecert.learning._descent import Descent, FoundVote
from votecert.learning._error_counter import error_counter
from votecert.learning._prior_scores import PriorScores
from votecert.learning.budget import Budget
from votecert.learning.whole_votes import WholeVotes
from votecert.numerics.binomial import clopper_pearson_upper
from votecert.rows.ballots import Ballots
from votecert.rows.scores import Scores
from votecert.rows.split import in_fitting_part


def learn_occam(rows, delta, *, fallback=None, **options):
    return WholeVotes(**options).learn(rows, Occam(), delta, fallback=fallback)


def ballots_of(votes, y) -> Ballots:
    return Ballots.from_votes(votes, y, classes=range(int(max(np.max(votes), np.max(y))) + 1))


def every_vote(d: int, c: int, most: int, most_offset: int):
    shared = [n for n in itertools.product(range(most + 1), repeat=d) if 0 < sum(n) <= most]
    offsets = [(0,) * c]
    offsets += [tuple(t * (k == j) for j in range(c)) for k in range(c) for t in range(1, most_offset + 1)]
    return np.array([n + b for n in shared for b in offsets])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("d", [3, 6])
def test_within_a_percent_of_the_best_of_all_votes(d, seed, n_classes):
    rng = np.random.default_rng(seed)
    m = int(rng.choice([40, 150, 600]))
    accuracies = rng.uniform(0.2, 0.9, d) if seed % 2 else np.r_[0.9, 0.8, rng.uniform(0, 0.3, d - 2)]
    ballots = ballots_of(*guessed(m, accuracies, n_classes, seed))
    votes = every_vote(d, n_classes, most=7, most_offset=2 if d == 6 else 6)
    criterion = Criterion(m, math.log(0.05))
    errors = error_counter(ballots).errors_of_many(votes)
    best = criterion.best(errors, PriorScores(Occam().prior, d, n_classes).of_many(votes), below=1.0)
    found = learn_occam(ballots, 0.05, split=0)
    assert best is None or found.risk <= 1.01 * best[1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_two_voters_at_once_where_one_does_not_help(n_classes):
    # one voter more than one makes ties; two more make a majority
    ballots = ballots_of(*guessed(2000, [0.8] * 3 + [0.0] * 20, n_classes))
    found: list[FoundVote] = []
    scores = PriorScores(Occam().prior, 23, n_classes)
    descent = Descent(error_counter(ballots), scores, Criterion(2000, math.log(0.05)), Budget(), found)
    descent.run(np.eye(1, 23 + n_classes, dtype=np.int64), 1)
    assert len(found) == 1
    descent.polish()
    assert found[-1].votes.tolist() == [1] * 3 + [0] * (20 + n_classes)


def test_a_few_good_voters_are_found_among_many():
    votes, y = guessed(4000, [0.97, 0.97, 0.97] + [0.0] * 60, seed=3)
    found = learn_occam(ballots_of(votes, y), 0.05, split=0)
    assert found.terms.choice["votes"][:3] == [1, 1, 1]
    assert sum(found.terms.choice["votes"]) == 3


@pytest.mark.parametrize("split", [0.0, 0.25])
def test_same_seed_same_result(split):
    ballots = ballots_of(*guessed(300, np.linspace(0.3, 0.8, 20), 3))
    first, second = (learn_occam(ballots, 0.05, split=split, random_state=5) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("n_classes", [2, 4])
def test_order_of_rows_and_compression_change_nothing_without_split(n_classes):
    votes, y = guessed(400, np.linspace(0.1, 0.7, 15), n_classes)
    order = np.random.default_rng(1).permutation(400)
    variants = [
        Ballots.from_votes(v, t, classes=range(n_classes), compress=compress)
        for v, t in ((votes, y), (votes[order], y[order]))
        for compress in (True, False)
    ]
    results = [learn_occam(ballots, 0.05, split=0) for ballots in variants]
    assert all(result.terms == results[0].terms and result.risk == results[0].risk for result in results)


def test_the_certificate_counts_what_the_predictor_does():
    votes, y = guessed(500, [0.8, 0.5, 0.3, 0.3, 0.2], 3, seed=1)
    ballots = ballots_of(votes, y)
    for split in (0.0, 0.25):
        found = learn_occam(ballots, 0.05, split=split)
        choice, counted = found.terms.choice, found.terms.statistics
        rows = np.ones(500, dtype=bool)
        if choice["statement"] == "list":
            rows = ~in_fitting_part(500, 0.25, 0)
        worth = np.array(choice.get("table") or [np.diag([n] * 3) for n in choice["votes"]])
        totals = np.array([sum(worth[i, said] for i, said in enumerate(row)) for row in votes])
        totals += choice["offsets"]
        assert counted["errors"] == np.sum(totals[rows].argmax(axis=1) != y[rows])
        assert counted["rows"] == rows.sum()
        mass = float(Occam().share(choice))
        limit = clopper_pearson_upper(counted["errors"], counted["rows"], math.log(0.05 * mass))
        assert found.risk == pytest.approx(float(limit), rel=1e-9)


def test_the_list_wins_where_many_weak_voters_are_needed():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(3000, 12))
    y = (features[:, :6] @ np.linspace(1, 2, 6) > 0.4).astype(int)
    cuts = np.linspace(-1.2, 1.2, 5)
    votes = np.concatenate([(features > t).astype(int) for t in cuts], axis=1)
    found = learn_occam(ballots_of(votes, y), 0.05)
    assert found.terms.choice["member"] in MEMBERS
    assert found.risk < 0.8 * learn_occam(ballots_of(votes, y), 0.05, split=0).risk
    assert found.ledger.keys() == {"whole-number votes", "fitted list"}
    assert sum(found.ledger.values()) == pytest.approx(0.05)


def test_other_rows_fit_the_list_and_all_rows_certify_it():
    votes, y = guessed(4000, np.linspace(0.1, 0.6, 30), seed=2)
    other, rows = ballots_of(votes[:2000], y[:2000]), ballots_of(votes[2000:], y[2000:])
    found = learn_occam(rows, 0.05, prior_votes=other)
    assert found.terms.choice["list"] == "other"
    assert found.terms.statistics["rows"] == 2000
    assert found.terms.choice["statement"] == "list"
    assert found.risk < learn_occam(rows, 0.05, split=0).risk
    with pytest.raises(ValueError, match="30"):
        learn_occam(rows, 0.05, prior_votes=ballots_of(votes[:, :29], y))


def test_few_rows_are_not_split():
    votes, y = guessed(whole_votes.FEWEST_ROWS_TO_SPLIT - 1, [0.8, 0.8])
    assert learn_occam(ballots_of(votes, y), 0.05).terms.choice["list"] == "none"


@pytest.mark.parametrize("split", [-0.1, 1.0, float("nan")])
def test_refuses_a_split_that_is_no_share(split):
    with pytest.raises(ValueError, match="split"):
        learn_occam(ballots_of(*guessed(50, [0.8, 0.7])), 0.05, split=split)


def test_interrupted_after_any_number_of_steps():
    ballots = ballots_of(*guessed(300, np.linspace(0.2, 0.8, 12)))
    full = learn_occam(ballots, 0.05)
    risks = []
    for last in (1, 3, 10):

        def stop(news, last=last):
            if news["iteration"] == last:
                raise KeyboardInterrupt

        found = learn_occam(ballots, 0.05, callback=stop)
        assert found.details["interrupted"] == 1.0
        assert full.risk <= found.risk < 1.0
        risks.append(found.risk)
    assert risks == sorted(risks, reverse=True)
    assert full.details["interrupted"] == 0.0


def test_out_of_time_still_certifies():
    found = learn_occam(ballots_of(*guessed(300, np.linspace(0.2, 0.8, 12))), 0.05, time_budget=0.0)
    assert found.details["interrupted"] == 1.0
    assert 0 < found.risk < 1


def test_progress_is_told():
    news = []
    learn_occam(ballots_of(*guessed(300, np.linspace(0.2, 0.8, 12))), 0.05, callback=news.append)
    assert {"whole-number votes", "fitted vote"} == {entry["stage"] for entry in news}
    values = [entry["value"] for entry in news]
    assert values == sorted(values, reverse=True)
    assert [entry["iteration"] for entry in news] == list(range(1, len(news) + 1))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_sample_of_the_rows_is_searched_and_all_are_counted(monkeypatch, n_classes):
    votes, y = guessed(6000, np.linspace(0.1, 0.5, 25), n_classes)
    ballots = ballots_of(votes, y)
    full = learn_occam(ballots, 0.05, split=0)
    monkeypatch.setattr(whole_votes, "MOST_ENTRIES", 20_000)
    monkeypatch.setattr(whole_votes, "FITTED_ENTRIES", 10_000)
    found = learn_occam(ballots, 0.05, split=0)
    choice = found.terms.choice
    assert found.terms.statistics["errors"] == ballots.errors(choice["votes"], choice["offsets"])
    assert found.risk <= 1.1 * full.risk


HARD_CASES = {
    "separable": lambda rng, y: np.column_stack([y, 1 - y, y]),
    "all identical": lambda rng, y: np.repeat(rng.integers(2, size=(len(y), 1)), 30, axis=1),
    "one voter": lambda rng, y: rng.integers(2, size=(len(y), 1)),
    "more voters than rows": lambda rng, y: rng.integers(2, size=(len(y), 3 * len(y))),
    "1500 voters": lambda rng, y: rng.integers(2, size=(len(y), 1500)),
    "always wrong": lambda rng, y: np.column_stack([1 - y, 1 - y]),
    "constant": lambda rng, y: np.zeros((len(y), 4), dtype=int),
}


@pytest.mark.parametrize("split", [0.0, 0.25])
@pytest.mark.parametrize("m", [1, 2, 100])
@pytest.mark.parametrize("case", HARD_CASES)
def test_hard_cases_end_well(case, m, split):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=m)
    ballots = Ballots.from_votes(HARD_CASES[case](rng, y), y, classes=[0, 1])
    found = learn_occam(ballots, 0.05, split=split)
    assert 0 < found.risk <= 1
    assert (found.reason is None) == (found.risk < 1)
    counted = found.terms.statistics
    assert found.risk >= counted["errors"] / counted["rows"]
    if case == "separable" and m == 100:
        assert counted["errors"] == 0
    if case == "always wrong" and m == 100:
        assert found.risk < 0.75  # a constant class is far better than the voters


def test_fifty_classes():
    votes, y = guessed(600, [0.9, 0.6, 0.5, 0.5, 0.4], 50)
    found = learn_occam(ballots_of(votes, y), 0.05)
    assert found.risk < 0.2


def test_labels_at_random_are_not_certified():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    found = learn_occam(ballots_of(rng.integers(2, size=(200, 40)), y), 0.05)
    assert found.risk > 0.5


def test_ties_go_to_the_first_class_and_a_tie_break_is_found():
    # two voters that disagree wherever one errs: a disagreement is a tie, and class 1 is mostly right there
    rng = np.random.default_rng(0)
    y = (rng.random(1000) < 0.7).astype(int)
    doubt = rng.random(1000) < 0.3
    votes = np.column_stack([np.where(doubt & (y == 1), 0, y), np.where(doubt & (y == 0), 1, y)])
    found = learn_occam(ballots_of(votes, y), 0.05, split=0)
    plain = Ballots.from_votes(votes, y).errors([1, 1])
    assert found.terms.statistics["errors"] < plain


def test_abstentions_and_rows_without_votes():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    votes = np.where(rng.random((400, 4)) < 0.9, y[:, None], 1 - y[:, None]).astype(object)
    votes[rng.random((400, 4)) < 0.3] = None
    votes[:20] = None
    ballots = Ballots.from_votes(votes, y, classes=[0, 1])
    found = learn_occam(ballots, 0.05, split=0)
    choice = found.terms.choice
    assert found.terms.statistics["errors"] == ballots.errors(choice["votes"], choice["offsets"])
    with_fallback = learn_occam(ballots, 0.05, split=0, fallback=int(y[:20].mean() > 0.5))
    assert with_fallback.risk <= found.risk


def test_soft_votes_are_learned_and_use_more_than_the_labels():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=900)
    signal = np.eye(3)[y][:, None, :] * np.array([1.5, 1.0, 0.2, 0.1])[:, None]
    scores = np.exp(signal + rng.normal(size=(900, 4, 3)))
    scores /= scores.sum(axis=2, keepdims=True)
    soft = Scores.from_scores(scores, y)
    hard = ballots_of(scores.argmax(axis=2), y)
    for split in (0.0, 0.25):
        found = learn_occam(soft, 0.05, split=split)
        choice = found.terms.choice
        rows = soft if choice["statement"] == "whole" else soft.subset(~in_fitting_part(900, 0.25, 0))
        assert found.terms.statistics["errors"] == rows.errors(counted_votes(choice), choice["offsets"])
        assert found.risk < learn_occam(hard, 0.05, split=split).risk
    order = rng.permutation(900)
    permuted = learn_occam(Scores.from_scores(scores[order], y[order]), 0.05, split=0)
    assert permuted == learn_occam(soft, 0.05, split=0)


def never_worse(votes, y, delta=0.05, **options):
    """The learned certificate, and that of the plain vote among whole-number votes, with the same options."""
    learned = vc.certify(votes, y, delta=delta, **options)
    learned = [*learned] if "groups" in options else [learned]
    left = delta * (1 - FittedMass().split)
    plain = vc.certify(votes, y, weights="uniform", bound="occam", delta=left, **options)
    plain = [*plain] if "groups" in options else [plain]
    return max(one.risk for one in learned), max(one.risk for one in plain)


@pytest.mark.parametrize("kind", ["plain", "abstentions", "fallback", "ties", "offsets", "soft", "groups"])
def test_learning_is_never_worse_than_the_plain_vote_with_the_same_options(kind):
    """At most the share of delta that the fitted vote has is lost, whatever the options are."""
    rng = np.random.default_rng(0)
    y = (rng.random(240) < (0.85 if kind in ("fallback", "offsets") else 0.5)).astype(int)
    votes = np.where(rng.random((240, 4 if kind == "ties" else 5)) < 0.75, y[:, None], 1 - y[:, None])
    options: dict = {"classes": [0, 1]}
    if kind in ("abstentions", "fallback"):
        votes = votes.astype(object)
        votes[rng.random(votes.shape) < 0.75] = None
    if kind == "fallback":
        options["fallback"] = 1
    if kind == "groups":
        options["groups"] = rng.integers(2, size=240)
    if kind == "soft":
        options["scores"] = np.stack([1 - 0.6 * votes, 0.4 + 0.6 * votes], axis=-1)
        votes = None
    learned, plain = never_worse(votes, y, **options)
    assert learned <= plain * (1 + 1e-9)


def test_the_search_knows_the_fallback():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.9).astype(int)
    votes = np.where(rng.random((400, 6)) < 0.9, y[:, None], 1 - y[:, None]).astype(object)
    votes[rng.random(votes.shape) < 0.8] = None
    ballots = Ballots.from_votes(votes, y, classes=[0, 1])
    found = learn_occam(ballots, 0.05, split=0, fallback=1)
    choice = found.terms.choice
    everybody = Occam().evaluate(ballots, np.full(6, 1 / 6), 0.05)
    plain = Occam().at(ballots, np.full(6, 1 / 6), 0.05, everybody.terms.choice | {"fallback": 1})
    assert found.risk <= plain.risk
    counted = ballots.errors(choice["votes"], choice["offsets"], 1)
    assert found.terms.statistics["errors"] == counted


def test_a_search_cut_short_has_the_vote_that_was_fitted_on_other_rows():
    """It has 95 % of delta: what is left of that for other votes is worth little."""

    def interrupt(news):
        if news.get("stage") != "fitted vote":
            raise KeyboardInterrupt

    votes, y = guessed(400, [0.9, 0.6, 0.6, 0.6, 0.6])
    found = vc.learn(votes[200:], y[200:], prior_votes=votes[:200], prior_y=y[:200], callback=interrupt)
    assert found.evaluation.details["interrupted"] == 1
    assert found.evaluation.terms.choice["statement"] == "list"

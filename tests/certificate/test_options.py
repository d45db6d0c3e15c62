"""No option is ever swallowed: in every situation it is used, or refused by its name."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import votecert as vc
from votecert.rows.ballots import Ballots
from votecert.rows.scores import Scores

rng = np.random.default_rng(0)
Y = rng.integers(2, size=120)
VOTES = np.where(rng.random((120, 4)) < [0.9, 0.8, 0.7, 0.6], Y[:, None], 1 - Y[:, None])
SCORES = 0.2 + 0.6 * np.eye(2)[VOTES]
THETA = [0.4, 0.3, 0.2, 0.1]
BALLOTS = Ballots.from_votes(VOTES, Y)
FOREST = RandomForestClassifier(5, random_state=0).fit(rng.normal(size=(60, 3)), Y[:60])

SITUATIONS = {
    "occam learned": (vc.certify, {"votes": VOTES, "y": Y}),
    "f2 learned": (vc.certify, {"votes": VOTES, "y": Y, "bound": "f2"}),
    "best learned": (vc.certify, {"votes": VOTES, "y": Y, "bound": "best", "time_budget": 0.0}),
    "groups occam": (vc.certify, {"votes": VOTES, "y": Y, "groups": "class"}),
    "groups fo": (vc.certify, {"votes": VOTES, "y": Y, "groups": "class", "bound": "fo"}),
    "groups given": (vc.certify, {"votes": VOTES, "y": Y, "groups": "class", "weights": THETA}),
    "groups margin": (
        vc.certify,
        {"votes": VOTES, "y": Y, "groups": "class", "weights": THETA, "bound": "dirichlet-margin"},
    ),
    "dirichlet given": (vc.certify, {"votes": VOTES, "y": Y, "weights": THETA}),
    "occam given": (vc.certify, {"votes": VOTES, "y": Y, "weights": THETA, "bound": "occam"}),
    "best given": (vc.certify, {"votes": VOTES, "y": Y, "weights": THETA, "bound": "best"}),
    "margin given": (vc.certify, {"votes": VOTES, "y": Y, "weights": THETA, "bound": "dirichlet-margin"}),
    "uniform": (vc.certify, {"votes": VOTES, "y": Y, "weights": "uniform"}),
    "soft": (vc.certify, {"y": Y, "scores": SCORES}),
    "ballots": (vc.certify, {"votes": BALLOTS}),
    "soft ballots": (vc.certify, {"votes": Scores.from_scores(SCORES, Y)}),
    "parts": (vc.certify, {"votes": BALLOTS.part(0.5, 0, fitting=False).in_memory(1)}),
    "forgotten": (vc.certify, {"votes": vc.read_ballots(iter([(VOTES, Y)]), split=0)}),
    "compare learned": (vc.compare, {"votes": VOTES, "y": Y, "weights": "learn", "bounds": ["occam", "fo"]}),
    "compare uniform": (vc.compare, {"votes": VOTES, "y": Y, "bounds": ["fo", "dirichlet-margin"]}),
    "compare counts": (vc.compare, {"votes": VOTES, "y": Y, "bounds": ["test-set", "occam"]}),
    "learn occam": (vc.learn, {"votes": VOTES, "y": Y}),
    "learn f2": (vc.learn, {"votes": VOTES, "y": Y, "objective": "f2"}),
    "learn adam": (vc.learn, {"votes": VOTES, "y": Y, "objective": "fo", "method": "adam"}),
    "learn ballots": (vc.learn, {"votes": BALLOTS}),
    "read blocks": (vc.read_ballots, {"votes": [(VOTES, Y)]}),
}

OPTIONS = {
    "method": "lbfgs",
    "split": 0.3,
    "prior_votes": VOTES[:40],
    "prior": [1, 2, 1, 1],
    "time_budget": 100.0,
    "random_state": 1,
    "callback": print,
    "search": "paper",
    "fallback": 1,
    "y": Y,
    "classes": [0, 1],
    "can_abstain": True,
    "groups": "class",
    "voters": list("abcd"),
    "fixed_in_advance": True,
    "progress": lambda rows: None,
}

SHARED = ("random_state", "time_budget", "callback")
LEARNED = ["occam learned", "f2 learned", "best learned", "groups occam", "groups fo", "soft", "ballots"]
LEARNED += ["compare learned", "learn occam", "learn f2", "learn adam", "learn ballots"]
GIVEN = ["dirichlet given", "occam given", "best given", "uniform", "groups given", "compare uniform"]

# What the option does there: "used", or the words of the refusal, which must have the option's name.
CASES = {
    **{(option, where): "used" for option in SHARED for where in LEARNED},
    **{(option, where): "only be used with weights='learn'" for option in SHARED for where in GIVEN},
    **{
        (option, where): "only be used with weights='learn'"
        for option in ("method", "split", "prior_votes")
        for where in GIVEN
    },
    ("method", "occam learned"): "for objectives with real-valued weights",
    ("method", "soft"): "for objectives with real-valued weights",
    ("method", "groups occam"): "for objectives with real-valued weights",
    ("method", "compare learned"): "for objectives with real-valued weights",
    ("method", "learn occam"): "for objectives with real-valued weights",
    ("method", "f2 learned"): "used",
    ("method", "best learned"): "used",
    ("method", "groups fo"): "used",
    ("method", "learn f2"): "used",
    ("split", "occam learned"): "used",
    ("split", "best learned"): "used",
    ("split", "soft"): "used",
    ("split", "ballots"): "used",
    ("split", "compare learned"): "used",
    ("split", "learn occam"): "used",
    ("split", "f2 learned"): "the vote that 'occam' fits",
    ("split", "groups fo"): "the vote that 'occam' fits",
    ("split", "groups occam"): "with groups=",
    ("split", "learn f2"): "the vote that 'occam' fits",
    ("split", "learn adam"): "the vote that 'occam' fits",
    ("split", "forgotten"): "not known any more",
    ("prior_votes", "occam learned"): "used",
    ("prior_votes", "best learned"): "used",
    ("prior_votes", "groups occam"): "used",
    ("prior_votes", "learn occam"): "used",
    ("prior_votes", "compare learned"): "used",
    ("prior_votes", "f2 learned"): "the vote that 'occam' fits",
    ("prior_votes", "groups fo"): "the vote that 'occam' fits",
    ("prior_votes", "learn f2"): "the vote that 'occam' fits",
    ("prior", "occam learned"): "bounds with a prior over the voters",
    ("prior", "occam given"): "bounds with a prior over the voters",
    ("prior", "uniform"): "bounds with a prior over the voters",
    ("prior", "soft"): "bounds with a prior over the voters",
    ("prior", "groups occam"): "bounds with a prior over the voters",
    ("prior", "compare counts"): "bounds with a prior over the voters",
    ("prior", "learn occam"): "bounds with a prior over the voters",
    ("prior", "f2 learned"): "used",
    ("prior", "best learned"): "used",
    ("prior", "groups fo"): "used",
    ("prior", "dirichlet given"): "used",
    ("prior", "best given"): "used",
    ("prior", "compare uniform"): "used",
    ("prior", "compare learned"): "used",
    ("prior", "learn f2"): "used",
    ("prior", "learn adam"): "used",
    ("search", "margin given"): "used",
    ("search", "groups margin"): "used",
    ("search", "compare uniform"): "used",
    ("search", "occam learned"): "bounds with a grid of margins",
    ("search", "uniform"): "bounds with a grid of margins",
    ("search", "groups fo"): "bounds with a grid of margins",
    ("search", "compare counts"): "bounds with a grid of margins",
    ("fallback", "occam learned"): "used",
    ("fallback", "uniform"): "used",
    ("fallback", "dirichlet given"): "used",
    ("fallback", "soft"): "it is for votes",
    ("fallback", "soft ballots"): "it is for votes",
    **{
        (option, where): "have labels, classes and abstentions in them"
        for option in ("y", "classes", "can_abstain")
        for where in ("ballots", "soft ballots", "learn ballots")
    },
    ("classes", "occam learned"): "used",
    ("classes", "soft"): "used",
    ("can_abstain", "occam learned"): "used",
    ("can_abstain", "soft"): "cannot abstain",
    ("groups", "ballots"): "used",
    ("groups", "soft ballots"): "used",
    ("groups", "forgotten"): "be grouped",
    ("groups", "best learned"): "groups= need one bound",
    ("voters", "ballots"): "used",
    ("fixed_in_advance", "dirichlet given"): "used",
    ("fixed_in_advance", "occam learned"): "cannot be fixed_in_advance",
    ("progress", "read blocks"): "used",
}


def shown(found):
    """Everything in a result that an option could change."""
    if isinstance(found, Ballots):
        return repr(found)
    if isinstance(found, vc.CertificateTable):
        return [certificate.to_json() for certificate in found]
    return found.to_json() if isinstance(found, vc.Certificate) else repr(found.evaluation)


@cache
def without_option(where):
    function, arguments = SITUATIONS[where]
    return shown(function(**arguments))


SAME_RESULT = (*SHARED, "classes", "method", "progress")
"""Options with which the result may well be the same."""


@pytest.mark.parametrize(("option", "where"), CASES)
def test_used_or_refused_by_its_name(option, where):
    function, arguments = SITUATIONS[where]
    arguments = {**arguments, option: OPTIONS[option]}
    if option == "prior_votes":
        arguments["prior_y"] = Y[:40]
    expected = CASES[option, where]
    if expected == "used":
        found = shown(function(**arguments))
        if option not in SAME_RESULT and not where.startswith("best"):  # where "occam" wins in any case
            assert found != without_option(where)
        return
    with pytest.raises((TypeError, ValueError), match=option.rstrip("s")) as caught:
        function(**arguments)
    assert expected in str(caught.value)


@pytest.mark.parametrize("where", ["f2 learned", "groups fo", "learn f2"])
def test_the_method_makes_a_difference(where):
    function, arguments = SITUATIONS[where]
    results = [shown(function(**arguments, method=method)) for method in ("lbfgs", "adam")]
    assert results[0] != results[1]
    assert results[0] == shown(function(**arguments))


@pytest.mark.parametrize("where", LEARNED)
@pytest.mark.parametrize("by", ["budget", "callback"])
def test_every_learner_can_be_cut_short_and_tells_it(where, by):
    function, arguments = SITUATIONS[where]
    news = []

    def stop(entry):
        news.append(entry)
        raise KeyboardInterrupt

    options = {"time_budget": 0.0} if by == "budget" else {"time_budget": None, "callback": stop}
    found = function(**{**arguments, **options})
    assert by == "budget" or all(entry["value"] > 0 for entry in news)
    assert bool(news) == (by == "callback")
    if hasattr(found, "evaluation"):
        found = [found.evaluation]
    for one in found if isinstance(found, vc.CertificateTable | list) else [found]:
        assert one.details["interrupted"] == 1.0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"method": "nonsense"}, "method must be one of 'whole-votes', 'lbfgs', 'adam'"),
        ({"method": "nonsense", "bound": "f2"}, "method must be one of 'whole-votes', 'lbfgs', 'adam'"),
        ({"search": "nonsense"}, "search must be 'default' or 'paper'"),
        ({"split": 1.0}, "split must be"),
        ({"split": "half"}, "split must be"),
        ({"time_budget": -1.0}, "time_budget must be"),
        ({"time_budget": float("nan")}, "time_budget must be"),
        ({"time_budget": "long"}, "time_budget must be"),
        ({"random_state": 0.5}, "random_state must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"random_state": True}, "random_state must be"),
        ({"callback": "print"}, "callback must be"),
        ({"split": 0.5, "prior_votes": VOTES, "prior_y": Y}, "split= would be ignored"),
        ({"prior_y": Y}, "which are missing"),
        ({"prior_y": Y, "bound": "f2"}, "prior_y="),
        ({"prior_votes": BALLOTS, "prior_y": Y}, "prior_y is in prior_votes"),
    ],
)
def test_values_that_make_no_sense_are_refused(options, match):
    with pytest.raises((TypeError, ValueError), match=match):
        vc.certify(VOTES, Y, **options)


def test_none_stands_for_the_default():
    options = dict.fromkeys(("method", "split", "prior_votes", "prior_y", "time_budget", "callback"))
    assert vc.certify(VOTES, Y, **options) == vc.certify(VOTES, Y)
    assert vc.certify(VOTES, Y, bound="fo", **options) == vc.certify(VOTES, Y, bound="fo")


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"objective": "uniform", "prior": "cv"}, "prior='cv' would be ignored"),
        ({"objective": "uniform", "time_budget": 1.0}, "time_budget=1.0 would be ignored"),
        ({"objective": "best", "prior": "oob"}, "prior='oob' would be ignored"),
        ({"objective": "f2", "prior": "split"}, "prior='split' is for the objective 'occam'"),
    ],
)
def test_the_classifier_refuses_what_it_would_ignore(parameters, match):
    with pytest.raises(ValueError, match=match):
        vc.CertifiedVotingClassifier(FOREST, **parameters).fit(SCORES[:, :, 0], Y)


@pytest.mark.parametrize(
    "parameters", [{"objective": "best", "prior": "none"}, {"objective": "f2", "prior": "none"}]
)
def test_the_classifier_learns_without_a_prior(parameters):
    found = vc.CertifiedVotingClassifier(FOREST, random_state=0, **parameters).fit(SCORES[:, :, 0], Y)
    assert "occam: fitted list" not in found.certificate_.ledger


def test_the_classifier_tells_that_learning_was_cut_short():
    options = {"objective": "f2", "bound": "occam", "time_budget": 0.0, "random_state": 0}
    found = vc.CertifiedVotingClassifier(FOREST, **options).fit(SCORES[:, :, 0], Y)
    assert found.certificate_.details["interrupted"] == 1.0


def test_dask_has_progress_bars_of_its_own():
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="progress="):
        vc.read_ballots(da.from_array(VOTES), da.from_array(Y), progress=print)


@pytest.mark.parametrize("rows", [BALLOTS, Scores.from_scores(SCORES, Y)])
@pytest.mark.parametrize(
    "mask", [np.ones(119, dtype=bool), np.ones(121, dtype=bool), np.ones((120, 1), dtype=bool)]
)
def test_a_mask_of_the_wrong_length_is_refused(rows, mask):
    with pytest.raises(ValueError, match="one entry a row, 120 in all"):
        rows.subset(mask)

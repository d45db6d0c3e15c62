"""Ensembles of other libraries taken apart. None of them is imported: a model of theirs brings its library.

Where the members of such a model vote in no way of their own there is nothing to take apart; it is one voter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit, softmax

from votecert.voters.members import Codes, Floats, Labels, SingleVoter, labelled_voter, member_voter

Floats32 = NDArray[np.float32]  # as XGBoost counts

BOOSTING = ("xgboost", "lightgbm", "catboost")
"""Libraries whose trees give numbers to add, and no votes."""


def is_from(model: Any, library: str, *names: str) -> bool:
    """Whether a model is of a library, or of certain classes of it, or of a class derived from these."""
    return any(
        kind.__module__.split(".")[0] == library and (not names or kind.__name__ in names)
        for kind in type(model).__mro__
    )


def is_stack(model: Any) -> bool:
    """Whether a final classifier decides what the members' answers mean."""
    return is_from(model, "mlxtend", "StackingClassifier", "StackingCVClassifier")


@dataclass(frozen=True)
class XGBTrees:
    """The trees of an XGBRFClassifier, each asked as if it were the whole forest.

    The forest adds up the outputs of n trees, each of which was fitted alone and divided by n. So a tree by
    itself says ``base + n * output``, and what the forest says is the mean of that over its trees. With more
    than two classes a voter is the k-th tree of every class.
    """

    estimator: Any
    base: Floats32
    outputs: tuple[Floats32, ...]

    @property
    def n_voters(self) -> int:
        return len(self.outputs) // len(self.base)

    def margins(self, X: Any) -> Iterator[Floats32]:
        """What voters add up for each class in turn, (voters, rows); of two classes the first has zero."""
        leaves = np.asarray(self.estimator.apply(X)).reshape(-1, len(self.outputs))
        leaves = leaves.T.astype(np.int32, order="C")
        if len(self.base) == 1:
            yield np.zeros((self.n_voters, leaves.shape[1]), dtype=np.float32)
        for k, base in enumerate(self.base):
            own = slice(k * self.n_voters, (k + 1) * self.n_voters)
            told = [output.take(leaf) for output, leaf in zip(self.outputs[own], leaves[own], strict=True)]
            yield base + np.float32(self.n_voters) * np.stack(told)

    def votes(self, X: Any) -> Codes:
        margins = self.margins(X)
        most = next(margins)
        winners = np.zeros(most.shape, dtype=np.uint32)
        for k, margin in enumerate(margins, start=1):
            winners[margin > most] = k
            np.maximum(most, margin, out=most)
        return winners.T

    def scores(self, X: Any) -> Floats:
        each = np.stack(list(self.margins(X)), axis=2).transpose(1, 0, 2)
        return np.asarray(softmax(each.astype(np.float64), axis=2))


def members_of(model: Any, name: str, classes: Labels) -> tuple[SingleVoter | XGBTrees, ...] | None:
    """The members of a fitted ensemble of another library, or None if it is one voter."""
    if is_stack(model) or is_from(model, "mlxtend", "EnsembleVoteClassifier"):
        encoded = not is_stack(model) and model.fit_base_estimators
        return tuple(member_voter(one, k, model, classes, encoded) for k, one in enumerate(model.clfs_))
    if is_from(model, "xgboost", "XGBRFClassifier"):
        return _xgboost_forest(model)
    if is_from(model, "lightgbm", "LGBMClassifier"):
        return _lightgbm_forest(model, name, classes)
    return None


def _xgboost_forest(model: Any) -> tuple[XGBTrees] | None:
    learner = json.loads(bytes(model.get_booster().save_raw("json")))["learner"]
    objective, booster = learner["objective"]["name"], learner["gradient_booster"]
    if objective not in ("binary:logistic", "multi:softprob", "multi:softmax") or booster["name"] != "gbtree":
        return None
    trees, class_of_tree = booster["model"]["trees"], np.array(booster["model"]["tree_info"])
    n_outputs = 1 if objective == "binary:logistic" else model.n_classes_
    rounds = len(trees) // (n_outputs * int(booster["model"]["gbtree_model_param"]["num_parallel_tree"]))
    if rounds != 1 or not np.array_equal(np.unique(class_of_tree), np.arange(n_outputs)):
        return None  # boosted rounds of forests, or trees with one output for every class
    score = np.array(json.loads(learner["learner_model_param"]["base_score"]), dtype=np.float64)
    base = np.broadcast_to(logit(score) if n_outputs == 1 else score, n_outputs).astype(np.float32)
    by_class = [trees[k]["split_conditions"] for k in np.argsort(class_of_tree, kind="stable")]
    return (XGBTrees(model, base, tuple(np.array(tree, dtype=np.float32) for tree in by_class)),)


def _lightgbm_forest(model: Any, name: str, classes: Labels) -> tuple[SingleVoter, ...] | None:
    header, _, _ = model.booster_.model_to_string(num_iteration=1).partition("\nTree=")
    if "average_output" not in header.splitlines():
        return None
    n_trees = model.best_iteration_ or model.n_estimators_
    whole = labelled_voter(model, name, classes)
    alone = [{"start_iteration": k, "num_iteration": 1} for k in range(n_trees)]
    return tuple(replace(whole, name=f"Tree {k} of {name}", options=one) for k, one in enumerate(alone))

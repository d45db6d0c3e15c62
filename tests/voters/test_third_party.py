"""What becomes of a model: every row of the table in the guide, where its library is installed."""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import votecert as vc
from votecert import CertifiedVotingClassifier, collect_scores, collect_votes, voter_classes

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM to itself

GUIDE = Path(__file__).parents[2] / "docs/guides/models.md"
NAMES = np.array(["ant", "bee", "cat"])
N = 5


def rows(n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    X = np.random.default_rng(0).normal(X, 0.5)  # so that models disagree
    order = np.random.default_rng(1).permutation(len(y))
    return X[order], np.minimum(y[order], n_classes - 1)


def three() -> list[Any]:
    return [DecisionTreeClassifier(max_depth=2, random_state=0), GaussianNB(), LogisticRegression()]


def named() -> list[tuple[str, Any]]:
    return [(f"m{k}", model) for k, model in enumerate(three())]


def estimators(model: Any) -> list[Any]:
    return list(model.estimators_)


@dataclass(frozen=True)
class Case:
    """How to make a model, who its members are, and whether they answer in codes of its labels."""

    make: Callable[[Any], Any]
    members: Callable[[Any], Sequence[Any]] | None = None
    encoded: bool = True
    text: bool = True
    module: str = "sklearn"


def balanced(name: str, encoded: bool = True) -> Case:
    return Case(
        lambda module: getattr(module, name)(n_estimators=N, random_state=0),
        estimators,
        encoded=encoded,
        module="imblearn.ensemble",
    )


def boosted_rf(module: Any) -> Any:
    options = {"bagging_freq": 1, "bagging_fraction": 0.7, "min_child_samples": 3, "verbose": -1, "n_jobs": 1}
    return module.LGBMClassifier(boosting_type="rf", n_estimators=N, random_state=0, **options)


CASES = {
    ("scikit-learn", "RandomForestClassifier"): Case(
        lambda _: ensemble.RandomForestClassifier(N, random_state=0), estimators
    ),
    ("scikit-learn", "ExtraTreesClassifier"): Case(
        lambda _: ensemble.ExtraTreesClassifier(N, random_state=0), estimators
    ),
    ("scikit-learn", "BaggingClassifier"): Case(
        lambda _: ensemble.BaggingClassifier(n_estimators=N, random_state=0), estimators
    ),
    ("scikit-learn", "AdaBoostClassifier"): Case(
        lambda _: ensemble.AdaBoostClassifier(n_estimators=N, random_state=0), estimators, encoded=False
    ),
    ("scikit-learn", "VotingClassifier"): Case(lambda _: ensemble.VotingClassifier(named()), estimators),
    ("scikit-learn", "StackingClassifier"): Case(lambda _: ensemble.StackingClassifier(named()), estimators),
    ("scikit-learn", "GradientBoostingClassifier"): Case(
        lambda _: ensemble.GradientBoostingClassifier(n_estimators=3)
    ),
    ("scikit-learn", "HistGradientBoostingClassifier"): Case(
        lambda _: ensemble.HistGradientBoostingClassifier(max_iter=3)
    ),
    ("scikit-learn", "CalibratedClassifierCV"): Case(lambda _: CalibratedClassifierCV(GaussianNB(), cv=2)),
    ("scikit-learn", "any other classifier"): Case(lambda _: GaussianNB()),
    ("votecert", "DecisionStumps"): Case(lambda _: vc.DecisionStumps(2)),
    ("imbalanced-learn", "BalancedRandomForestClassifier"): balanced("BalancedRandomForestClassifier"),
    ("imbalanced-learn", "BalancedBaggingClassifier"): balanced("BalancedBaggingClassifier"),
    ("imbalanced-learn", "EasyEnsembleClassifier"): balanced("EasyEnsembleClassifier"),
    ("imbalanced-learn", "RUSBoostClassifier"): balanced("RUSBoostClassifier", encoded=False),
    ("imbalanced-learn", "Pipeline"): Case(
        lambda module: module.make_pipeline(
            importlib.import_module("imblearn.over_sampling").RandomOverSampler(random_state=0),
            ensemble.RandomForestClassifier(N, random_state=0),
        ),
        lambda model: model[-1].estimators_,
        module="imblearn.pipeline",
    ),
    ("xgboost", "XGBRFClassifier"): Case(
        lambda module: module.XGBRFClassifier(n_estimators=N, random_state=0, n_jobs=1),
        text=False,
        module="xgboost",
    ),
    ("xgboost", "XGBClassifier"): Case(
        lambda module: module.XGBClassifier(n_estimators=3, n_jobs=1), text=False, module="xgboost"
    ),
    ("lightgbm", 'LGBMClassifier(boosting_type="rf")'): Case(boosted_rf, module="lightgbm"),
    ("lightgbm", "LGBMClassifier"): Case(
        lambda module: module.LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1), module="lightgbm"
    ),
    ("catboost", "CatBoostClassifier"): Case(
        lambda module: module.CatBoostClassifier(
            iterations=3, verbose=0, thread_count=1, allow_writing_files=False
        ),
        module="catboost",
    ),
    ("mlxtend", "EnsembleVoteClassifier"): Case(
        lambda module: module.EnsembleVoteClassifier(three()),
        lambda model: model.clfs_,
        module="mlxtend.classifier",
    ),
    ("mlxtend", "StackingClassifier"): Case(
        lambda module: module.StackingClassifier(three(), LogisticRegression()),
        lambda model: model.clfs_,
        encoded=False,
        text=False,
        module="mlxtend.classifier",
    ),
    ("mlxtend", "StackingCVClassifier"): Case(
        lambda module: module.StackingCVClassifier(three(), LogisticRegression(), cv=2),
        lambda model: model.clfs_,
        encoded=False,
        text=False,
        module="mlxtend.classifier",
    ),
}


def table() -> dict[tuple[str, str], tuple[str, str]]:
    """The rows of the guide: library and model, its voters, and whether their plain vote is its own."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in GUIDE.read_text(encoding="utf-8").splitlines()
        if re.match(r"\| [a-z]", line)
    ]
    found = {}
    for library, model, voters, plain in cells[1:]:
        code = re.match(r"`(.*?)`", model)
        found[library, code[1] if code else model] = (voters, plain)
    return found


TABLE = table()


def fitted(case: Case, n_classes: int = 3) -> tuple[Any, np.ndarray, np.ndarray]:
    """The model fitted on some rows, and the others."""
    module = pytest.importorskip(case.module)
    X, y = rows(n_classes)
    y = NAMES[y] if case.text else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of their own
        return case.make(module).fit(X[:100], y[:100]), X[100:], y[100:]


def plurality(votes: np.ndarray) -> np.ndarray:
    """The label with most votes, the first of those that are tied."""
    return np.array([max(np.unique(row), key=row.tolist().count) for row in votes])


def test_every_row_of_the_guide_is_tried():
    assert set(TABLE) == set(CASES)


@pytest.mark.parametrize("row", CASES, ids=" ".join)
def test_the_guide_tells_what_becomes_of_a_model(row):
    case, (voters, plain) = CASES[row], TABLE[row]
    model, X, y = fitted(case, 2 if row[0] == "votecert" else 3)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        votes = collect_votes(model, X)
    told = [
        str(one.message) for one in said if "voter" in str(one.message) or "vote here" in str(one.message)
    ]
    predicted = np.ravel(model.predict(X))
    if voters == "one":
        np.testing.assert_array_equal(votes, predicted[:, None])
        assert "is one voter" in told[0]
        assert said[0].filename == __file__
    else:
        assert votes.shape[1] == {"votecert": 16, "mlxtend": 3}.get(row[0], 3 if "m0" in str(model) else N)
        assert [one for one in told if "is not about the stack" in one] == told
        assert bool(told) == ("warning" in plain)
    if case.members is not None:
        answers = [np.asarray(member.predict(X)) for member in case.members(model)]
        if case.encoded:
            answers = [model.classes_[answer.astype(int)] for answer in answers]
        np.testing.assert_array_equal(votes, np.column_stack(answers))
    if plain.startswith("yes"):
        np.testing.assert_array_equal(plurality(votes), predicted)
    assert (votes == y[:, None]).mean() > 0.45  # labels, not merely consistent codes
    assert set(np.unique(votes)) <= set(voter_classes(model).tolist())


def test_the_example_of_the_guide_runs(capsys, monkeypatch, tmp_path):
    for library in ("catboost", "lightgbm", "xgboost"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)  # where catboost writes files
    X, y = rows(2)
    names = {"vc": vc, "X_fit": X[:100], "y_fit": y[:100], "X_certify": X[100:], "y_certify": y[100:]}
    (example,) = re.findall(r"^```py\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec(example.replace("CatBoostClassifier(", "CatBoostClassifier(iterations=3, "), names)
    assert "3 voters" in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:.*is one voter")
@pytest.mark.filterwarnings("ignore:The members of")
@pytest.mark.parametrize(
    "row", [row for row in CASES if row[0] not in ("scikit-learn", "votecert")], ids=" ".join
)
def test_the_classifier_certifies_models_of_other_libraries(row):
    case = CASES[row]
    module = pytest.importorskip(case.module)
    X, y = rows()
    y = NAMES[y] if case.text else y
    model = case.make(module)
    classifier = CertifiedVotingClassifier(model, random_state=0, prior="split").fit(X, y)
    certificate = classifier.certificate_
    assert certificate.terms.n_rows == 75
    assert certificate.bound == ("test-set" if TABLE[row][0] == "one" else "occam")
    assert certificate.risk < 0.5
    np.testing.assert_array_equal(classifier.predict(X), certificate.predict(classifier.votes(X)))
    assert certificate.verify()


# --- how the trees of other forests are taken apart ---


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_of_xgboost_average_to_the_forest(n_classes):
    model, X, _ = fitted(CASES["xgboost", "XGBRFClassifier"], n_classes)
    (member,) = vc.voters.panels.panel_of(model).members
    margins = np.stack(list(member.margins(X)), axis=2).transpose(1, 0, 2)
    assert margins.shape == (50, N, n_classes)
    whole = model.predict(X, output_margin=True)
    np.testing.assert_allclose(margins.mean(axis=1)[:, -whole[0].size :], whole.reshape(50, -1), atol=1e-5)
    scores = collect_scores(model, X)
    np.testing.assert_allclose(scores.sum(axis=2), 1)
    np.testing.assert_array_equal(scores.argmax(axis=2), collect_votes(model, X))


def test_a_forest_of_one_tree_votes_as_it_predicts():
    for row in [("xgboost", "XGBRFClassifier"), ("lightgbm", 'LGBMClassifier(boosting_type="rf")')]:
        for n_classes in (2, 3):
            module = pytest.importorskip(row[0])
            X, y = rows(n_classes)
            model = CASES[row].make(module).set_params(n_estimators=1).fit(X, y)
            np.testing.assert_array_equal(collect_votes(model, X)[:, 0], model.predict(X))
            np.testing.assert_allclose(collect_scores(model, X)[:, 0], model.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_of_lightgbm_average_to_the_forest(n_classes):
    model, X, _ = fitted(CASES["lightgbm", 'LGBMClassifier(boosting_type="rf")'], n_classes)
    scores = collect_scores(model, X)
    sums = np.log(scores[..., 1:] / scores[..., :1]).mean(axis=1)
    whole = model.predict_proba(X)
    np.testing.assert_allclose(sums, np.log(whole[:, 1:] / whole[:, :1]), atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*is one voter")
@pytest.mark.parametrize(
    "options", [{"objective": "binary:hinge"}, {"num_parallel_tree": 2, "n_estimators": 3}]
)
def test_other_forests_of_xgboost_are_one_voter(options):
    xgboost = pytest.importorskip("xgboost")
    X, y = rows(2)
    kind = xgboost.XGBClassifier if "num_parallel_tree" in options else xgboost.XGBRFClassifier
    model = kind(n_jobs=1, **options).fit(X, y)
    np.testing.assert_array_equal(collect_votes(model, X)[:, 0], model.predict(X))


def test_tables_go_to_models_of_other_libraries_as_they_are():
    pandas = pytest.importorskip("pandas")
    X, y = rows()
    table = pandas.DataFrame(X, columns=list("abcd")).assign(kind=pandas.Categorical(list("pqr") * 50))
    for row, options in {
        ("xgboost", "XGBRFClassifier"): {"enable_categorical": True},
        ("lightgbm", 'LGBMClassifier(boosting_type="rf")'): {},
    }.items():
        model = CASES[row].make(pytest.importorskip(row[0])).set_params(**options).fit(table, y)
        votes = collect_votes(model, table, block_size=40)
        assert votes.shape == (150, N)
        assert (plurality(votes) == model.predict(table)).mean() > 0.9


def test_members_of_mlxtend_that_were_fitted_before_answer_in_labels():
    mlxtend = pytest.importorskip("mlxtend.classifier")
    X, y = rows()
    models = [model.fit(X, NAMES[y]) for model in three()]
    vote = mlxtend.EnsembleVoteClassifier(models, fit_base_estimators=False, use_clones=False)
    vote.fit(X, NAMES[y])
    np.testing.assert_array_equal(collect_votes(vote, X), np.column_stack([m.predict(X) for m in models]))


def test_a_sampler_between_steps_is_left_out():
    pipeline = pytest.importorskip("imblearn.pipeline")
    sampler = pytest.importorskip("imblearn.under_sampling").RandomUnderSampler(random_state=0)
    X, y = rows()
    forest = ensemble.RandomForestClassifier(N, random_state=0)
    model = pipeline.make_pipeline(StandardScaler(), sampler, forest).fit(X, y)
    plain = make_pipeline(model[0], model[-1])
    np.testing.assert_array_equal(collect_votes(model, X), collect_votes(plain, X))


# --- one voter ---


def test_one_voter_gets_the_exact_bound():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    votes = np.where(rng.random((400, 1)) < 0.8, y[:, None], 1 - y[:, None])
    found, plain = vc.certify(votes, y, random_state=3), vc.certify(votes, y, weights="uniform")
    assert found == plain
    assert found.bound == "test-set"
    assert found.is_guarantee
    assert vc.certify(votes, y, bound="occam").risk > found.risk


def test_thresholds_of_one_soft_voter_are_learned():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    scores = rng.random((600, 1, 2))
    scores[np.arange(600), 0, y] += 0.5
    scores[:, 0, 0] += 0.4  # the voter leans to the first class
    learned = vc.certify(scores=scores, y=y)
    assert learned.bound == "occam"
    assert learned.risk < vc.certify(scores=scores, y=y, weights="uniform").risk


def test_the_classifier_says_once_that_there_is_one_voter_and_fits_it_once():
    X, y = rows()
    fits = []

    class Counted(GaussianNB):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    classifier = CertifiedVotingClassifier(Counted(), prior="cv", random_state=0)
    with pytest.warns(UserWarning, match="is one voter") as said:
        classifier.fit(X, y)
    classifier.predict(X)  # without a warning
    assert len(said) == 1
    assert said[0].filename == __file__
    assert fits == [75]
    assert classifier.certificate_.bound == "test-set"
    meant = ensemble.VotingClassifier([("alone", GaussianNB())])
    same = CertifiedVotingClassifier(meant, random_state=0).fit(X, y).certificate_  # without a warning
    assert (same.risk, same.errors) == (classifier.certificate_.risk, classifier.certificate_.errors)

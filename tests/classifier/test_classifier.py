from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from votecert import CertifiedVotingClassifier, DecisionStumps, collect_scores, collect_votes

pytestmark = pytest.mark.filterwarnings("ignore:Recorder is one voter", "ignore:The members of Stacking")

FOREST = RandomForestClassifier(10, random_state=0)
SMALL = RandomForestClassifier(5, random_state=0)


@parametrize_with_checks(
    [
        CertifiedVotingClassifier(SMALL, random_state=0),
        CertifiedVotingClassifier(SMALL, voting="soft", prior="cv", random_state=0),
        CertifiedVotingClassifier(SMALL, objective="fo", prior="oob", random_state=0),
        CertifiedVotingClassifier(SMALL, objective="uniform", random_state=0),
        CertifiedVotingClassifier(DecisionStumps(2, ranges=(-10, 10)), random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def panel(*, kind=VotingClassifier, **options):
    members = [
        ("tree", DecisionTreeClassifier(random_state=0)),
        ("bayes", GaussianNB()),
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
    ]
    return kind(members, **options)


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("prior", ["auto", "cv", "split", "none"])
def test_predict_is_the_certified_vote_on_strings(voting, prior):
    X, y = load_wine(return_X_y=True)
    names = np.array(["red", "rosé", "white"])[y]
    classifier = CertifiedVotingClassifier(panel(), voting=voting, prior=prior, random_state=0).fit(X, names)
    certificate = classifier.certificate_
    ask = collect_votes if voting == "hard" else collect_scores
    answers = ask(classifier.estimator_, X)
    assert certificate.predictor.kind == voting
    assert np.array_equal(classifier.predict(X), certificate.predict(answers))
    shares = classifier.predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1)
    assert np.array_equal(classifier.classes_[shares.argmax(axis=1)], classifier.predict(X))
    assert classifier.weights_.shape == (3,)
    assert classifier.voters_ == list(classifier.estimator_.estimators_)
    assert certificate.voters == ("tree", "bayes", "logistic")
    assert not certificate.classes_declared
    assert certificate.verify()


def test_the_certificate_is_about_exactly_the_rows_that_fitted_no_member():
    """A frozen ensemble is certified on all rows, so its certificate can be recounted from them."""
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X[::2], y[::2])
    fitted = CertifiedVotingClassifier(FrozenEstimator(forest), random_state=0).fit(X[1::2], y[1::2])
    votes = collect_votes(forest, X[1::2])
    assert fitted.certificate_.terms.n_rows == len(y[1::2])
    assert fitted.certificate_.verify(votes, y[1::2])
    assert fitted.certificate_.errors == np.count_nonzero(fitted.predict(X[1::2]) != y[1::2])
    assert fitted.voters_ == list(forest.estimators_)


class Stubborn(ClassifierMixin, BaseEstimator):
    """Always says the same."""

    def __init__(self, says, classes):
        self.says = says
        self.classes_ = classes

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), self.says)

    def predict_proba(self, X):
        return np.tile((self.classes_ == self.says).astype(float), (len(X), 1))


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_ties_go_to_the_first_class_as_they_were_certified(voting):
    X, y = load_iris(return_X_y=True)
    names = np.array(["b", "a", "c"])[y]
    models = [(says, FrozenEstimator(Stubborn(says, np.array(["a", "b", "c"])))) for says in "cb"]
    options = {"objective": "uniform", "voting": voting}
    fitted = CertifiedVotingClassifier(VotingClassifier(models), **options).fit(X, names)
    assert set(fitted.predict(X)) == {"b"}
    assert fitted.predict_proba(X)[0].tolist() == [0, 0.5, 0.5]
    certificate = fitted.certificate_
    assert certificate.ties == 150
    # where the tie is between sums of scores, rounding might decide it: all such rows count as errors
    assert certificate.errors == (100 if voting == "hard" else 150)


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the rows (by their first feature) and weights it was fitted on."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.rows_ = X[:, 0].astype(int).tolist()
        self.sample_weight_ = sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def numbered(n: int = 200):
    return np.arange(n, dtype=float)[:, None], np.arange(n) % 3


def test_fitting_and_certifying_rows_are_apart_and_drawn_without_labels():
    X, y = numbered()
    fitted = CertifiedVotingClassifier(Recorder(), certify_size=0.3, random_state=5).fit(X, y)
    assert len(fitted.estimator_.rows_) == 140
    assert fitted.certificate_.terms.n_rows == 60
    relabelled = CertifiedVotingClassifier(Recorder(), certify_size=0.3, random_state=5).fit(X, y[::-1] * 7)
    assert relabelled.estimator_.rows_ == fitted.estimator_.rows_
    left_out = np.setdiff1d(np.arange(200), fitted.estimator_.rows_)
    assert fitted.certificate_.errors == np.count_nonzero(fitted.predict(X[left_out]) != y[left_out])


def test_sample_weights_go_to_the_members_only():
    X, y = numbered()
    fitted = CertifiedVotingClassifier(Recorder(), random_state=0).fit(X, y, sample_weight=1 + X[:, 0])
    plain = CertifiedVotingClassifier(Recorder(), random_state=0).fit(X, y)
    assert (fitted.estimator_.sample_weight_ - 1).tolist() == fitted.estimator_.rows_
    assert fitted.certificate_ == plain.certificate_
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        CertifiedVotingClassifier(Recorder()).fit(X, y, sample_weight=[1, 2])
    with pytest.raises(ValueError, match="sample_weight leaves one class"):
        CertifiedVotingClassifier(Recorder()).fit(X, y, sample_weight=y == 1)


def test_metadata_is_routed_to_the_members():
    X, y = numbered()
    with sklearn.config_context(enable_metadata_routing=True):
        asks = CertifiedVotingClassifier(Recorder().set_fit_request(sample_weight=True), random_state=0)
        fitted = asks.fit(X, y, sample_weight=1 + X[:, 0])
        assert (fitted.estimator_.sample_weight_ - 1).tolist() == fitted.estimator_.rows_
        refuses = CertifiedVotingClassifier(Recorder().set_fit_request(sample_weight=False), random_state=0)
        with pytest.raises(TypeError, match="sample_weight"):
            refuses.fit(X, y, sample_weight=1 + X[:, 0])
        scored = asks.set_score_request(sample_weight=False)  # which scikit-learn used to ask for
        search = GridSearchCV(scored, {"delta": [0.05]}, cv=2).fit(X, y, sample_weight=1 + X[:, 0])
        assert search.best_estimator_.estimator_.sample_weight_ is not None


def test_the_list_is_fitted_on_rows_that_do_not_certify():
    X, y = load_breast_cancer(return_X_y=True)

    def choice(estimator, prior):
        fitted = CertifiedVotingClassifier(estimator, prior=prior, random_state=0).fit(X, y)
        assert fitted.certificate_.terms.n_rows == round(0.5 * len(y))
        return fitted.certificate_.terms.choice["list"]

    assert choice(FOREST, "oob") == choice(panel(), "cv") == choice(panel(), "auto") == "other"
    assert choice(FOREST, "auto") == choice(FOREST, "split") == "split"
    assert choice(FOREST, "none") == "none"


def test_objectives_with_real_weights_get_a_prior_from_other_rows():
    X, y = make_classification(600, n_informative=5, random_state=0)
    options = {"objective": "f2", "random_state": 0}
    learned = CertifiedVotingClassifier(DecisionStumps(3), **options).fit(X, y).certificate_
    flat = CertifiedVotingClassifier(DecisionStumps(3), prior="none", **options).fit(X, y).certificate_
    assert flat.terms.prior is None
    assert len(learned.terms.prior) == 120
    assert min(learned.terms.prior) > 0
    assert learned.risk < flat.risk
    assert learned.verify()


def test_a_prior_of_real_weights_is_learned_out_of_bag():
    X, y = load_breast_cancer(return_X_y=True)
    trees = BaggingClassifier(DecisionTreeClassifier(max_depth=3), 15, max_features=0.5, random_state=0)
    options = {"objective": "f2", "random_state": 0}
    learned = CertifiedVotingClassifier(trees, prior="oob", **options).fit(X, y).certificate_
    flat = CertifiedVotingClassifier(trees, prior="none", **options).fit(X, y).certificate_
    assert learned.terms.n_rows == flat.terms.n_rows == round(0.5 * len(y))
    assert flat.terms.prior is None
    assert min(learned.terms.prior) > 0
    assert np.ptp(learned.terms.prior) > 0.5
    assert learned.risk < flat.risk
    assert learned.verify()


def test_another_bound_can_certify_learned_weights():
    X, y = make_classification(600, random_state=0)
    fitted = CertifiedVotingClassifier(FOREST, objective="f2", bound="dirichlet", random_state=0).fit(X, y)
    assert fitted.certificate_.bound == "dirichlet"
    assert fitted.certificate_.origin == "learned"
    assert fitted.certificate_.risk < 1
    plain = CertifiedVotingClassifier(FOREST, objective="uniform", random_state=0).fit(X, y)
    assert plain.certificate_.bound == "test-set"
    assert plain.certificate_.origin == "fixed"
    assert np.ptp(plain.weights_) == 0


@pytest.mark.parametrize(
    "ensemble",
    [
        BaggingClassifier(DecisionTreeClassifier(), 8, max_features=0.5, random_state=0),
        AdaBoostClassifier(n_estimators=8, random_state=0),
        make_pipeline(StandardScaler(), RandomForestClassifier(8, random_state=0)),
        panel(kind=StackingClassifier),
        GridSearchCV(RandomForestClassifier(8, random_state=0), {"max_depth": [1, None]}, cv=2),
        None,
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_ensembles_of_all_kinds(ensemble):
    X, y = load_breast_cancer(return_X_y=True)
    fitted = CertifiedVotingClassifier(ensemble, prior="split", random_state=0).fit(X, y)
    assert fitted.certificate_.risk < 0.25
    assert fitted.score(X, y) > 0.9


def test_panels_of_frozen_models_are_certified_on_all_rows():
    X, y = load_wine(return_X_y=True)
    names = np.array(["c", "a", "b"])[y]
    models = [(name, FrozenEstimator(model.fit(X[::2], names[::2]))) for name, model in panel().estimators]
    for ensemble in (VotingClassifier(models), make_pipeline(None, VotingClassifier(models))):
        fitted = CertifiedVotingClassifier(ensemble, random_state=0).fit(X[1::2], names[1::2])
        assert fitted.certificate_.terms.n_rows == 89
        assert fitted.score(X, names) > 0.9
    partly = VotingClassifier([*models, ("new", GaussianNB())])
    assert CertifiedVotingClassifier(partly, random_state=0).fit(X, names).certificate_.terms.n_rows == 89
    scaled = make_pipeline(StandardScaler(), VotingClassifier(models))
    fitted = CertifiedVotingClassifier(scaled, random_state=0).fit(X, names)
    assert fitted.certificate_.terms.n_rows == 89


def test_stumps_with_declared_ranges_use_all_rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    y = (X[:, 0] > 0).astype(int)
    stumps = DecisionStumps(n_thresholds=5, ranges=[(-1, 1), (-1, 1)])
    fitted = CertifiedVotingClassifier(stumps, random_state=0).fit(X, y)
    assert fitted.certificate_.terms.n_rows == 300
    assert fitted.certificate_.risk < 0.2
    assert fitted.weights_.shape == (20,)
    assert fitted.voters_ == [fitted.estimator_]
    ranged_by_rows = CertifiedVotingClassifier(DecisionStumps(5), random_state=0).fit(X, y)
    assert ranged_by_rows.certificate_.terms.n_rows == 150


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_a_class_that_no_member_has_seen_is_never_predicted_and_counts_as_an_error(voting):
    X, y = load_iris(return_X_y=True)
    X, y = np.vstack([X, X[:1] + 50]), np.append(y, 7)
    for seed in range(20):
        fitted = CertifiedVotingClassifier(FOREST, voting=voting, prior="none", random_state=seed).fit(X, y)
        if 7 not in fitted.estimator_.classes_:
            break
    assert fitted.classes_.tolist() == [0, 1, 2, 7]
    assert fitted.predict_proba(X).shape == (151, 4)
    assert 7 not in fitted.predict(X)
    assert fitted.certificate_.errors >= 1


@pytest.mark.parametrize(
    "labels",
    [np.array([False, True, True]), np.array([1.0, 2.0, 5.0]), np.array(["x", "yy", "z"], dtype=object)],
)
def test_predictions_have_the_type_of_the_labels(labels):
    X, y = load_iris(return_X_y=True)
    fitted = CertifiedVotingClassifier(SMALL, random_state=0).fit(X, labels[y])
    predicted = fitted.predict(X)
    assert predicted.dtype == labels.dtype
    assert np.mean(predicted == labels[y]) > 0.9


def test_works_in_searches_and_pipelines_and_is_deterministic():
    X, y = load_iris(return_X_y=True)
    classifier = CertifiedVotingClassifier(SMALL, random_state=0)
    grid = {"estimator__max_depth": [1, 3], "delta": [0.05]}
    search = GridSearchCV(classifier, grid, cv=2, refit=False).fit(X, y)
    assert search.best_params_["delta"] == 0.05
    assert cross_val_score(make_pipeline(StandardScaler(), classifier), X, y, cv=2).mean() > 0.8
    first, second = clone(classifier).fit(X, y), clone(classifier).set_params(n_jobs=2).fit(X, y)
    assert first.certificate_ == second.certificate_
    copied = pickle.loads(pickle.dumps(first))
    assert copied.certificate_ == first.certificate_
    assert np.array_equal(copied.predict_proba(X), first.predict_proba(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_keep_feature_names(library):
    frames = pytest.importorskip(library)
    X, y = load_iris(return_X_y=True)
    table = frames.DataFrame({f"f{k}": X[:, k] for k in range(4)})
    species = frames.Series(np.array(["setosa", "versicolor", "virginica"])[y])
    fitted = CertifiedVotingClassifier(panel(), random_state=0).fit(table, species)
    assert fitted.feature_names_in_.tolist() == ["f0", "f1", "f2", "f3"]
    assert np.mean(fitted.predict(table) == np.asarray(species)) > 0.9
    same = CertifiedVotingClassifier(panel(), random_state=0).fit(X, np.asarray(species))
    assert same.certificate_ == fitted.certificate_


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_steps_before_and_inside_may_put_out_tables(library):
    """Predictors have no output to set, but get what set_output makes of the steps around them."""
    frames = pytest.importorskip(library)
    X, y = load_iris(return_X_y=True)
    table = frames.DataFrame({f"f{k}": X[:, k] for k in range(4)})
    plain = make_pipeline(StandardScaler(), CertifiedVotingClassifier(SMALL, random_state=0)).fit(X, y)
    before = clone(plain).set_output(transform=library).fit(table, y)
    inside = make_pipeline(StandardScaler(), SMALL).set_output(transform=library)
    within = CertifiedVotingClassifier(inside, random_state=0).fit(table, y)
    assert before[-1].feature_names_in_.tolist() == ["f0", "f1", "f2", "f3"]
    for fitted in (before, within):
        assert np.array_equal(fitted.predict(table), plain.predict(X))
    assert before[-1].certificate_ == plain[-1].certificate_


def test_two_rows_of_a_second_class_are_enough():
    X, y = load_iris(return_X_y=True)
    rows = [50, 51, *range(10)]
    for seed in range(5):
        fitted = CertifiedVotingClassifier(DecisionStumps(2), random_state=seed).fit(X[rows], y[rows])
        assert fitted.certificate_.terms.n_rows >= 1
        assert fitted.certificate_.verify()


def test_sparse_rows_are_as_good_as_dense_ones():
    X, y = load_breast_cancer(return_X_y=True)
    dense = CertifiedVotingClassifier(SMALL, random_state=0).fit(X, y)
    sparse = CertifiedVotingClassifier(SMALL, random_state=0).fit(csr_array(X), y)
    assert sparse.certificate_ == dense.certificate_
    assert np.array_equal(sparse.predict(csr_array(X)), dense.predict(X))


@pytest.mark.parametrize(
    ("options", "error", "advice"),
    [
        ({"certify_size": 1.5}, ValueError, "certify_size"),
        ({"delta": 2}, ValueError, "delta"),
        ({"voting": "loud"}, ValueError, "hard, soft"),
        ({"prior": "guess"}, ValueError, "oob"),
        ({"objective": "nothing"}, ValueError, "nothing"),
        ({"voting": "soft", "prior": "oob"}, ValueError, "hard votes"),
        ({"voting": "soft", "objective": "dirichlet"}, ValueError, "soft votes"),
        ({"objective": "dirichlet", "prior": "split"}, ValueError, "occam"),
        ({"bound": "test-set"}, ValueError, "uniform"),
        ({"estimator": [SMALL]}, TypeError, "VotingClassifier"),
        ({"estimator": DecisionStumps(ranges=(0, 9)), "prior": "cv"}, ValueError, "all rows certify"),
    ],
)
def test_bad_parameters_say_what_to_do(options, error, advice):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(error, match=advice):
        CertifiedVotingClassifier(**{"estimator": SMALL, **options}).fit(X[:100], y[:100])


def test_bad_data_say_what_to_do():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="two classes"):
        CertifiedVotingClassifier(SMALL).fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="contains NaN"):
        CertifiedVotingClassifier(SMALL).fit(X, np.where(y == 0, np.nan, y))
    with pytest.raises(ValueError, match="minimum of 4"):
        CertifiedVotingClassifier(SMALL).fit(X[:3], [0, 1, 1])


@pytest.mark.parametrize(
    "estimator",
    [
        None,
        RandomForestClassifier(8),
        VotingClassifier([("a", RandomForestClassifier(3)), ("b", DecisionTreeClassifier(max_features=2))]),
    ],
)
def test_the_seed_of_the_classifier_seeds_the_ensemble(estimator):
    X, y = make_classification(300, flip_y=0.2, random_state=1)
    first, second = (CertifiedVotingClassifier(estimator, random_state=7).fit(X, y) for _ in range(2))
    assert first.certificate_.to_json() == second.certificate_.to_json()
    assert np.array_equal(first.votes(X), second.votes(X))
    if estimator is not None:
        assert "random_state=7" not in repr(estimator)  # the caller's ensemble stays as it was

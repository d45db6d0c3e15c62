from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import votecert as vc
from votecert import CertifiedVotingClassifier, DecisionStumps, certify, collect_scores, compare
from votecert.display import BoundComparisonDisplay, CertificateCurveDisplay, MarginDisplay, WeightsDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def problem(m: int = 400, d: int = 5, c: int = 2):
    rng = np.random.default_rng(0)
    y = rng.integers(c, size=m)
    votes = np.where(rng.random((m, d)) < 0.8, y[:, None], (y[:, None] + 1) % c)
    return votes, y


@pytest.fixture(scope="module")
def fitted():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(8, random_state=0)
    return CertifiedVotingClassifier(forest, random_state=0).fit(X[:400], y[:400]), X[400:], y[400:]


def texts(display) -> str:
    legend = display.ax_.get_legend().get_texts()
    return "\n".join(text.get_text() for text in [*display.ax_.texts, *legend])


def displays(fitted) -> list:
    classifier, X, y = fitted
    votes, truth = problem()
    certificate = certify(votes, truth)
    return [
        MarginDisplay.from_estimator(classifier, X, y),
        MarginDisplay.from_certificate(certificate, votes, truth),
        BoundComparisonDisplay.from_estimator(classifier, X, y, bounds=["fo", "dirichlet"]),
        BoundComparisonDisplay.from_predictions(votes, truth, bounds=["fo", "so"]),
        BoundComparisonDisplay.from_table(compare(votes, truth, bounds=["fo"])),
        BoundComparisonDisplay.from_certificate(certificate, votes, truth, bounds=["fo"]),
        WeightsDisplay.from_estimator(classifier),
        WeightsDisplay.from_certificate(certificate),
        CertificateCurveDisplay.from_estimator(classifier),
        CertificateCurveDisplay.from_certificate(certificate),
        CertificateCurveDisplay.from_predictions(votes, truth, weights="uniform"),
    ]


def test_every_display_draws_on_given_axes_or_makes_its_own(fitted):
    for display in displays(fitted):
        assert display.ax_ is None
        assert display.plot() is display
        assert display.figure_ is display.ax_.figure
        assert len(display.figure_.axes) == 1
        figure, ax = pyplot.subplots()
        display.plot(ax)
        assert display.ax_ is ax
        figure.canvas.draw()
        pyplot.close("all")


@pytest.mark.parametrize(("style", "paper"), [("default", 1.0), ("dark_background", 0.0)])
def test_what_is_drawn_is_seen_on_light_and_dark_paper(fitted, style, paper):
    votes, truth = problem()
    monitor = vc.Monitor(certify(votes, truth, weights="uniform"))
    monitor.update(votes, truth)
    more = [
        vc.TriageDisplay.from_triage(vc.triage(votes, truth, max_risk=0.3, weights="uniform")),
        vc.DifferenceDisplay.from_difference(vc.difference(truth, votes[:, 0], votes[:, 1])),
        vc.MonitorDisplay.from_monitor(monitor),
    ]
    with pyplot.style.context(style):
        for display in [*displays(fitted), *more]:
            ax = display.plot().ax_
            colours = [line.get_color() for line in ax.lines] + [text.get_color() for text in ax.texts]
            for colour in colours:
                assert abs(np.mean(to_rgb(colour)) - paper) > 0.25, (type(display), colour)
            pyplot.close("all")


def test_every_constructor_can_draw_at_once(fitted):
    classifier, X, y = fitted
    votes, truth = problem()
    figure, axes = pyplot.subplots(2, 2)
    MarginDisplay.from_estimator(classifier, X, y, ax=axes[0, 0])
    BoundComparisonDisplay.from_predictions(votes, truth, bounds=["fo"], ax=axes[0, 1])
    WeightsDisplay.from_estimator(classifier, ax=axes[1, 0])
    CertificateCurveDisplay.from_estimator(classifier, ax=axes[1, 1])
    assert all(ax.get_xlabel() for ax in axes.ravel())
    figure.canvas.draw()


def test_margins_are_those_of_the_vote():
    votes = np.array([["a", "a", "b"], ["b", "b", "b"], ["c", "b", "b"], ["a", "b", "c"]] * 30)
    y = np.array(["a", "b", "c", "a"] * 30)
    certificate = certify(votes, y, weights="uniform")
    display = MarginDisplay.from_certificate(certificate, votes, y)
    assert display.leads[:4] == pytest.approx([1 / 3, 1, -1 / 3, 0])
    assert display.errors == certificate.empirical_risk
    line = display.plot().ax_.lines[0]
    for x, share in ((-0.34, 0.0), (-0.33, 0.25), (0.0, 0.5), (0.34, 0.75), (1.0, 1.0)):
        below = line.get_xdata() <= x + 1e-12
        assert line.get_ydata()[below][-1] == share
    assert "certified error" in texts(display)


def test_margins_of_soft_votes_and_of_margin_bounds(fitted):
    _, X, y = fitted
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X[::2], y[::2])
    scores = collect_scores(forest, X[1::2])
    certificate = certify(scores=scores, y=y[1::2], weights="uniform")
    display = MarginDisplay.from_certificate(certificate, scores, y[1::2])
    shares = forest.predict_proba(X[1::2])
    assert display.leads == pytest.approx(shares[:, 1] * (2 * y[1::2] - 1) - shares[:, 0] * (2 * y[1::2] - 1))
    votes, truth = problem()
    bound = certify(votes, truth, weights=np.full(5, 0.2), bound="dirichlet-margin")
    display = MarginDisplay.from_certificate(bound, votes, truth).plot()
    assert display.cut == 2 * bound.terms.choice["margin"] > 0
    assert "counted as lost" in texts(display)


def test_what_is_no_guarantee_looks_different_and_says_so():
    votes, y = problem()
    table = compare(votes, y, bounds=["fo", "dirichlet-margin-published", "bg"])
    display = BoundComparisonDisplay.from_table(table).plot()
    bars, labels = display.ax_.patches, [text.get_text() for text in display.ax_.texts]
    assert len(bars) == 3
    for certificate, bar, label in zip(table, bars, labels, strict=True):
        assert bar.get_width() == certificate.risk
        assert (bar.get_hatch() is None) == certificate.is_guarantee
        assert ("NO GUARANTEE" in label) == (not certificate.is_guarantee)
        assert ("says nothing" in label) == (certificate.risk == 1)
    claimed = certify(votes, y, weights="uniform", bound="dirichlet-margin-published")
    assert "NOT A GUARANTEE" in texts(MarginDisplay.from_certificate(claimed, votes, y).plot())
    assert "NOT A GUARANTEE" in texts(CertificateCurveDisplay.from_certificate(claimed).plot())


def test_bounds_beside_a_certificate_know_where_its_weights_come_from():
    votes, y = problem()
    for weights, bounds in (("learn", ["fo", "test-set"]), ("uniform", ["test-set", "fo"])):
        certificate = certify(votes, y, weights=weights)
        beside = BoundComparisonDisplay.from_certificate(certificate, votes, y, bounds=["fo", "test-set"])
        assert [one.bound for one in beside.table] == bounds
        assert beside.table["test-set"].is_guarantee == (weights == "uniform")
        assert np.allclose(beside.table["fo"].weights, certificate.weights, rtol=1e-12)


def test_groups_have_bars_of_their_own():
    votes, y = problem(c=3)
    table = certify(votes, y, weights="uniform", groups="class")
    display = BoundComparisonDisplay.from_table(table).plot()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["0", "1", "2"]
    assert "together" in display.ax_.get_xlabel()
    marks = display.ax_.lines[0].get_xdata()
    assert list(marks) == [certificate.empirical_risk for certificate in table]


def test_weights_are_sorted_and_the_small_ones_lumped_together():
    votes, y = problem(d=6)
    theta = np.array([0.1, 0.3, 0.05, 0.25, 0.2, 0.1])
    certificate = certify(votes, y, weights=theta, bound="dirichlet", voters=["a", "b", "$c", "d", "e", "f"])
    display = WeightsDisplay.from_certificate(certificate).plot(max_voters=3)
    assert [bar.get_width() for bar in display.ax_.patches] == pytest.approx([0.3, 0.25, 0.2, 0.25])
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [
        "b",
        "d",
        "e",
        "3 others together",
    ]
    display.plot()
    assert r"\$c" in [label.get_text() for label in display.ax_.get_yticklabels()]
    display.figure_.canvas.draw()


def test_constant_votes_are_shown_as_such():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(500, 2))
    y = np.where(X.sum(axis=1) > 1.4, "rare", "common")
    classifier = CertifiedVotingClassifier(DecisionStumps(9, ranges=(0, 1)), random_state=0).fit(X, y)
    constants = np.flatnonzero(classifier.certificate_.offsets)
    assert len(constants) > 0
    display = WeightsDisplay.from_estimator(classifier).plot()
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels[-len(constants) :] == [f"always {classifier.classes_[k]}" for k in constants]


def test_curve_falls_towards_the_errors():
    votes, y = problem(m=2000)
    display = CertificateCurveDisplay.from_predictions(votes, y, shares=(1.0, 0.1, 0.4), weights="uniform")
    assert display.rows.tolist() == [200, 800, 2000]
    whole = certify(votes, y, weights="uniform")
    assert display.risks[-1] == whole.risk == display.projected_risks[0]
    assert np.all(np.diff(display.risks) < 0)
    assert np.all(np.diff(display.projected_risks) < 0)
    assert whole.empirical_risk < display.projected_risks[-1] < whole.empirical_risk + 0.01
    doubled = certify(np.repeat(votes, 2, axis=0), np.repeat(y, 2), weights="uniform")
    assert display.projected_risks[1] == pytest.approx(doubled.risk, abs=1e-9)


def test_wrong_labels_are_refused():
    votes, y = problem()
    with pytest.raises(ValueError, match="not among the declared classes"):
        MarginDisplay.from_certificate(certify(votes, y, weights="uniform"), votes, y + 5)


def test_without_matplotlib_displays_can_be_made_but_not_drawn():
    program = """
import sys
sys.modules["matplotlib"] = None
from votecert import certify
from votecert.display import WeightsDisplay
display = WeightsDisplay.from_certificate(certify([[0, 1], [1, 1]] * 30, [0, 1] * 30, weights="uniform"))
try:
    display.plot()
except ImportError as error:
    assert "pip install matplotlib" in str(error), error
else:
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("missing", [np.nan, None])
def test_curve_of_votes_that_are_missing(missing):
    votes, y = problem()
    sparse = votes.astype(float if missing is not None else object)
    sparse[::7, 0] = missing
    display = CertificateCurveDisplay.from_predictions(sparse, y, weights="uniform")
    assert display.risks[-1] == certify(sparse, y, weights="uniform").risk


def test_voters_without_names_are_counted_from_one():
    names = WeightsDisplay.from_certificate(certify(*problem(), weights="uniform")).names
    assert names == [f"voter {place}" for place in (1, 2, 3, 4, 5)]

"""``votecert demo``: certify, decide and watch, on data that is there already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, NamedTuple

import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.command import without
from votecert.cli.console import Talk, data, plain, table
from votecert.cli.learning import learning
from votecert.cli.report import REPORT
from votecert.cli.results import check_outputs, comparison, marked, percent, save_report
from votecert.datasets import DATA_SETS, DataSet, load

NOTES = {
    "occam": "the certificate's bound, without its fitted vote",
    "test-set": "the limit, had this vote been fixed in advance",
}
"""What to say on some lines of the comparison."""

ALLOWED = 0.05
"""Share of the cases that are decided alone that may be wrong."""


class Certified(NamedTuple):
    """An ensemble, the certificate of its learned vote, and what all bounds say at the same weights."""

    ensemble: vc.VoteTable
    certificate: vc.Certificate
    others: vc.CertificateTable


def demo(
    *,
    name: Annotated[
        str, typer.Option("--data", metavar="|".join(DATA_SETS), autocompletion=lambda: list(DATA_SETS))
    ] = "breast-cancer",
    delta: opt.Delta = 0.05,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    result_options: Annotated[opt.ResultOptions, without("json_file", "title")] = REPORT,
    talk: Talk,
) -> None:
    """Try everything on a small data set: no arguments, no network.

    Trains the paper's forest, decision stumps and a panel of models on one
    half of the rows, learns weights and certifies them on others, compares
    all bounds and writes a report. Then it finds what the best vote may
    decide alone, and watches it on rows that are left.

    Parameters
    ----------
    name
        Which data set.
    seed : N
        Seed of the split and of the voters.

    Examples
    --------
    votecert demo --data digits
    """
    check_outputs(result_options)
    found = load(name)
    talk.say(f"[bold]{found.name}[/]: {found.about}; half of the rows train the voters, most others certify.")
    with talk.wait("Training voters"):
        ensembles, later = zip(*(_until_later(one) for one in train(found, seed)), strict=True)
    share = delta / len(ensembles)  # it pays for picking the best of them afterwards
    certified: list[Certified] = []
    for one in ensembles:
        what = f"Learning weights for the {one.source}"
        certificate, _ = learning(vc.certify, what, talk, one.ballots, delta=share, voters=one.voters)
        certified.append(Certified(one, certificate, comparison(certificate, one.ballots, talk)))
    data().rule("[bold]1. Certify: how wrong can it be?[/]", align="left")
    _show(certified, delta)
    best, certificate, others = min(certified, key=lambda one: one.certificate.risk)
    data().print(_meaning(best, certificate, delta))
    data().rule("[bold]2. Decide: what may it decide alone?[/]", align="left")
    decided = vc.triage(best.ballots, max_risk=ALLOWED, weights="uniform", delta=share)
    nothing = f"Nothing, if {percent(ALLOWED)} of the answers may be wrong: {decided.reason}"
    told = decided.statement if decided.reason is None else nothing
    data().print(f"The plain vote of the {plain(best.source)}. {plain(told)}\n")
    data().rule("[bold]3. Watch: is it still true?[/]", align="left")
    _watch(certificate, next(new for new in later if new.source == best.source))
    titled = replace(result_options, title=f"votecert demo: the {best.source} on {found.name}")
    save_report(certificate, titled, talk, votes=best.ballots, table=others)
    talk.say(
        f"The report says {100 * (1 - share):.6g} %: the {len(ensembles)} votes share delta, so that the "
        "best of them may be picked."
    )


def _until_later(one: vc.VoteTable) -> tuple[vc.VoteTable, vc.VoteTable]:
    """The rows that certify, and the last fifth, which comes when the vote is in use."""
    import numpy as np

    is_later = np.arange(one.ballots.n_rows) >= 0.8 * one.ballots.n_rows
    first, later = (replace(one, ballots=one.ballots.subset(rows)) for rows in (~is_later, is_later))
    return first, later


def _watch(certificate: vc.Certificate, new: vc.VoteTable) -> None:
    """New rows as they are, and with labels that have nothing to do with them, one by one."""
    import numpy as np

    from votecert.monitoring.words import line

    votes, y = new.votes, new.y
    mixed = np.random.default_rng(0).permutation(y)
    for what, labels in (("New rows", y), ("The same with mixed up labels", mixed)):
        monitor = vc.Monitor(certificate)
        for place in range(len(y)):
            monitor.update(votes[place : place + 1], labels[place : place + 1])
        after = f" (raised after {monitor.first_alarm.rows} rows)" if monitor.first_alarm else ""
        data().print(f"{what}: {plain(line(monitor))}{after}")


def train(found: DataSet, seed: int) -> list[vc.VoteTable]:
    """Train the voters on a random half of the rows and ask them about the other half."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(len(found.y))
    fitting, certifying = np.array_split(order, 2)
    X, y = found.X[fitting], found.y[fitting]
    classes = np.unique(found.y).tolist()

    def ensemble(name: str, voters: Any, names: Iterable[str]) -> vc.VoteTable:
        votes = vc.collect_votes(voters, found.X[certifying])
        ballots = vc.Ballots.from_votes(votes, found.y[certifying], classes=classes)
        return vc.VoteTable(ballots, tuple(names), name)

    forest = vc.paper_forest(random_state=seed).fit(X, y)
    trained = [ensemble("forest", forest, (f"tree {i}" for i in range(len(forest.estimators_))))]
    if len(classes) == 2:
        stumps = vc.DecisionStumps().fit(X, y)
        trained.append(ensemble("stumps", stumps, _stump_names(stumps, found.features)))
    panel = [(title, model.fit(X, y)) for title, model in _models(seed)]
    return [*trained, ensemble("panel", panel, (title for title, _ in panel))]


def _models(seed: int) -> list[tuple[str, Any]]:
    """A panel of models as different as possible."""
    from sklearn import linear_model, naive_bayes, neighbors, svm, tree
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    logistic = linear_model.LogisticRegression(max_iter=1000)
    return [
        ("logistic regression", make_pipeline(StandardScaler(), logistic)),
        ("support vectors", make_pipeline(StandardScaler(), svm.SVC(random_state=seed))),
        ("nearest neighbours", make_pipeline(StandardScaler(), neighbors.KNeighborsClassifier())),
        ("naive Bayes", naive_bayes.GaussianNB()),
        ("decision tree", tree.DecisionTreeClassifier(min_samples_leaf=3, random_state=seed)),
    ]


def _stump_names(stumps: Any, features: tuple[str, ...]) -> list[str]:
    return [
        f"{feature} {sign} {threshold:.4g}"
        for feature, thresholds in zip(features, stumps.thresholds_, strict=True)
        for sign in ("<=", ">")
        for threshold in thresholds
    ]


def _show(certified: list[Certified], delta: float) -> None:
    """One line a bound, one column an ensemble, smallest first."""
    from votecert.certificate.words import errors_of_rows

    names = [f"{one.ensemble.source} ({one.ensemble.ballots.n_voters})" for one in certified]
    shown = table("bound", *names, "", numbers=tuple(names))
    ours = [f"[bold]{percent(one.certificate.risk)}[/]" for one in certified]
    shown.add_row("[bold]certificate[/]", *ours, "[bold]learned and certified on the same rows[/]")
    compared = [{other.bound: other for other in one.others} for one in certified]
    smallest = {
        name: min((others[name].risk for others in compared if name in others), default=2.0)
        for name in vc.BOUNDS
    }
    for name in sorted(smallest, key=smallest.__getitem__):
        beside = zip(certified, compared, strict=True)
        cells = [_cell(one.certificate, others.get(name)) for one, others in beside]
        note = NOTES.get(name, "" if vc.BOUNDS[name].is_guarantee else "not a guarantee")
        shown.add_row(name, *cells, note)
    errors = [errors_of_rows(one.certificate) for one in certified]
    shown.add_row("errors counted", *errors, "fewer where some fitted the vote")
    held = f"confidence {100 * (1 - delta):.6g} %, each line as a whole"
    data().print(f"[bold]The error of the learned votes is at most ... ({held})[/]")
    data().print(shown)
    moved = [one.ensemble.source for one in certified if any(one.certificate.predictor.offsets)]
    if moved:
        data().print(
            f"The learned vote of the {' and the '.join(moved)} gives a class an offset; the bounds below "
            "test-set are compared at the weights alone."
        )


def _cell(certificate: vc.Certificate, other: vc.Certificate | None) -> str:
    from votecert.report.tables import fixed_vote_limit

    if other is None:
        return "-"
    # The limit is about the certified vote itself; the other bounds know its weights only.
    risk = fixed_vote_limit(certificate) if other.bound == "test-set" else other.risk
    return marked(risk, other.is_guarantee)


def _meaning(ensemble: vc.VoteTable, certificate: vc.Certificate, delta: float) -> str:
    """What came out, in two sentences."""
    from votecert.certificate.words import counted_errors, errors_of_rows
    from votecert.report.tables import fixed_vote_limit

    _, rows = counted_errors(certificate)
    n_rows = certificate.terms.n_rows
    where = f", although its weights were learned on the very {n_rows:,} rows that certify it"
    if certificate.fitted_on == "part":
        where = (
            f": its weights were fitted on {n_rows - rows:,} of {n_rows:,} rows and certified on the others"
        )
    return (
        f"\nWith confidence {100 * (1 - delta):.6g} %, the learned vote of the {plain(ensemble.source)} errs "
        f"on at most [bold]{percent(certificate.risk)}[/] of new rows{where}. A fresh test set, spent on "
        f"nothing but testing, could have shown no less than {percent(fixed_vote_limit(certificate))} with "
        f"{errors_of_rows(certificate)} wrong.\n"
    )

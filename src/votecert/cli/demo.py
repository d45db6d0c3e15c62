"""``votecert demo``: everything at once, on data that is there already."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import votecert as vc
from votecert.cli import options as opt
from votecert.cli.console import Talk, data, plain, table
from votecert.cli.errors import noticing_interruption
from votecert.cli.results import check_outputs, comparison, percent, write_html
from votecert.datasets import DATA_SETS, DataSet, load
from votecert.rows.ballots import Ballots

if TYPE_CHECKING:
    from votecert import Certificate, CertificateTable

NOTES = {
    "occam": "the certificate's bound, without its list of fitted votes",
    "test-set": "the limit, had this vote been fixed in advance",
}
"""What to say on some lines of the comparison."""


@dataclass(frozen=True)
class Electorate:
    """Voters that were trained on one half of the rows, with their votes on the other half."""

    name: str
    voters: tuple[str, ...]
    ballots: Ballots


def demo(
    name: Annotated[
        str,
        typer.Option(
            "--data",
            metavar="|".join(DATA_SETS),
            help="Which data set.",
            autocompletion=lambda: list(DATA_SETS),
        ),
    ] = "breast-cancer",
    delta: opt.Delta = 0.05,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the split.")] = 0,
    html: Annotated[
        Path,
        typer.Option("--html", metavar="FILE", help="Where to write the report.", rich_help_panel=opt.RESULT),
    ] = Path("votecert-report.html"),
    quiet: opt.Quiet = False,
) -> None:
    """Try everything on a small data set: no arguments, no network.

    Trains the paper's forest, decision stumps and a panel of models on one
    half of the rows, learns weights and certifies them on the other half,
    compares all bounds and writes a report.
    """
    talk = Talk(quiet)
    check_outputs(html)
    found = load(name)
    talk.say(f"[bold]{found.name}[/]: {found.about}; half of the rows train the voters, the others certify.")
    with talk.wait("Training voters"):
        electorates = train(found, seed)
    certificates, tables = [], []
    for electorate in electorates:
        # Sharing delta pays for picking the best of them afterwards.
        with noticing_interruption(), talk.wait(f"Learning weights for the {electorate.name}") as waiting:
            certificates.append(
                vc.certify(
                    electorate.ballots,
                    delta=delta / len(electorates),
                    voters=electorate.voters,
                    callback=waiting.news,
                )
            )
        tables.append(comparison(certificates[-1], electorate.ballots, talk))
    _show(electorates, certificates, tables, delta)
    best = min(range(len(certificates)), key=lambda i: certificates[i].risk)
    data().print(_meaning(electorates[best], certificates[best], delta))
    write_html(
        html,
        certificates[best],
        talk,
        rows=electorates[best].ballots,
        tables=[tables[best]],
        title=f"votecert demo: the {electorates[best].name} on {found.name}",
    )
    talk.say(
        f"The report says {100 * (1 - delta / len(electorates)):.6g} %: the {len(electorates)} votes share "
        "delta, so that the best of them may be picked."
    )


def train(found: DataSet, seed: int) -> list[Electorate]:
    """Train the voters on a random half of the rows and ask them about the other half."""
    order = np.random.default_rng(seed).permutation(len(found.y))
    fitting, certifying = np.array_split(order, 2)
    X, y = found.X[fitting], found.y[fitting]
    classes = np.unique(found.y).tolist()
    ensembles: dict[str, tuple[Any, tuple[str, ...]]] = {}
    forest = vc.paper_forest(random_state=seed).fit(X, y)
    ensembles["forest"] = forest, tuple(f"tree {i}" for i in range(len(forest.estimators_)))
    if len(classes) == 2:
        stumps = vc.DecisionStumps().fit(X, y)
        ensembles["stumps"] = stumps, _stump_names(stumps, found.features)
    panel = [(title, model.fit(X, y)) for title, model in _models(seed)]
    ensembles["panel"] = panel, tuple(title for title, _ in panel)
    return [
        Electorate(
            title,
            names,
            Ballots.from_votes(
                vc.collect_votes(voters, found.X[certifying]), found.y[certifying], classes=classes
            ),
        )
        for title, (voters, names) in ensembles.items()
    ]


def _models(seed: int) -> list[tuple[str, Any]]:
    """A panel of models as different as possible."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    return [
        ("logistic regression", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
        ("support vectors", make_pipeline(StandardScaler(), SVC(random_state=seed))),
        ("nearest neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier())),
        ("naive Bayes", GaussianNB()),
        ("decision tree", DecisionTreeClassifier(min_samples_leaf=3, random_state=seed)),
    ]


def _stump_names(stumps: Any, features: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        f"{feature} {sign} {threshold:.4g}"
        for feature, thresholds in zip(features, stumps.thresholds_, strict=True)
        for sign in ("<=", ">")
        for threshold in thresholds
    )


def _show(
    electorates: list[Electorate],
    certificates: list[Certificate],
    tables: list[CertificateTable],
    delta: float,
) -> None:
    """One line a bound, one column an electorate, smallest first."""
    from votecert.certificate.words import errors_of_rows

    names = [f"{one.name} ({one.ballots.n_voters})" for one in electorates]
    shown = table("bound", *names, "", numbers=tuple(names))
    ours = [f"[bold]{percent(one.risk)}[/]" for one in certificates]
    shown.add_row("[bold]certificate[/]", *ours, "[bold]learned and certified on the same rows[/]")
    order = sorted(
        vc.BOUNDS, key=lambda name: min((t[name].risk for t in tables if _has(t, name)), default=2.0)
    )
    for name in order:
        cells = [_cell(*pair, name) for pair in zip(certificates, tables, strict=True)]
        note = NOTES.get(name, "" if vc.BOUNDS[name].is_guarantee else "not a guarantee")
        shown.add_row(name, *cells, note)
    shown.add_row("errors counted", *map(errors_of_rows, certificates), "fewer where some fitted the vote")
    held = f"confidence {100 * (1 - delta):.6g} %, each line as a whole"
    data().print(f"[bold]The error of the learned votes is at most ... ({held})[/]")
    data().print(shown)
    moved = [
        one.name for one, made in zip(electorates, certificates, strict=True) if any(made.predictor.offsets)
    ]
    if moved:
        data().print(
            f"The learned vote of the {' and the '.join(moved)} gives a class an offset; the bounds below "
            "test-set are compared at the weights alone."
        )


def _has(one: CertificateTable, name: str) -> bool:
    return any(certificate.bound == name for certificate in one)


def _cell(certificate: Certificate, others: CertificateTable, name: str) -> str:
    from votecert.report.tables import fixed_vote_limit

    if not _has(others, name):
        return "-"
    # The limit is about the certified vote itself; the other bounds know its weights only.
    risk = fixed_vote_limit(certificate) if name == "test-set" else others[name].risk
    return percent(risk) if others[name].is_guarantee else f"[dim]({percent(risk)})[/]"


def _meaning(electorate: Electorate, certificate: Certificate, delta: float) -> str:
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
        f"\nWith confidence {100 * (1 - delta):.6g} %, the learned vote of the {plain(electorate.name)} errs "
        f"on at most [bold]{percent(certificate.risk)}[/] of new rows{where}. A fresh test set, spent on "
        f"nothing but testing, could have shown no less than {percent(fixed_vote_limit(certificate))} with "
        f"{errors_of_rows(certificate)} wrong.\n"
    )

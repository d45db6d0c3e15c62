"""Every JSON file that is written fits its schema, and what fits no schema is refused by it."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import votecert as vc
from votecert.monitoring import state

jsonschema = pytest.importorskip("jsonschema")
referencing = pytest.importorskip("referencing")

FOLDER = Path(vc.__file__).parent / "schemas"
SCHEMAS = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))}
REGISTRY = referencing.Registry().with_resources(
    (one["$id"], referencing.Resource.from_contents(one)) for one in SCHEMAS.values()
)


KINDS = ("certificate", "triage", "difference", "losses", "monitor")


def fits(content: dict, **instead: object) -> bool:
    """Whether a file fits the schema that its own marker names."""
    (marker,) = [name for name in content if name.startswith("votecert_") and name != "votecert_version"]
    schema = SCHEMAS[f"{marker.removeprefix('votecert_')}-{content[marker]}"]
    return jsonschema.Draft202012Validator(schema, registry=REGISTRY).is_valid({**content, **instead})


def rows(m: int = 240, d: int = 3, c: int = 2, missing: float = 0.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    y = rng.integers(c, size=m)
    wrong = (y[:, None] + rng.integers(1, c, size=(m, d))) % c
    votes = np.where(rng.random((m, d)) < 0.85, y[:, None], wrong).astype(float)
    votes[rng.random(votes.shape) < missing] = np.nan
    return votes, y


def certificates() -> list[vc.Certificate]:
    votes, y = rows()
    three, z = rows(c=3, missing=0.1)
    words = np.array(["ham", "spam"], dtype=object)
    rng = np.random.default_rng(1)
    scores = rng.dirichlet([1.0, 1.0], size=(240, 3))
    scores[np.arange(240), :, y] += 1
    table = vc.compare(votes, y)
    return [
        *table,
        vc.certify(votes, y),
        vc.certify(three, z, fallback=2, split=0.5),
        vc.certify(words[votes.astype(int)], words[y], voters=["a", "b", "c"], classes=["spam", "ham"]),
        vc.certify(votes == 1, y == 1),
        vc.certify(scores=scores / scores.sum(2, keepdims=True), y=y),
        vc.certify(votes, y, weights=[0.5, 0.3, 0.2]),
        vc.certify(votes, y, weights="uniform", sequential=True),
        vc.certify(votes[:5], y[:5], bound="gz", weights="uniform"),
        *vc.certify(votes, y, groups=np.where(np.arange(240) % 3, "x", "y")),
    ]


def losses(votes, y) -> list[vc.LossCertificate]:
    clusters = np.arange(240) // 3
    return [
        vc.certify(votes, y, clusters=clusters),
        vc.certify(votes, y, clusters=clusters, largest_cluster=5, weights="uniform"),
        vc.certify(votes, y, costs=[[0, 1], [0.3, 0]]),
    ]


@pytest.fixture(scope="module")
def written() -> list[dict]:
    """One of every kind of file."""
    votes, y = rows()
    made = certificates()
    decided = vc.triage(votes, y, max_risk=0.2)
    nothing = vc.triage(votes, y, max_risk=0.001)
    results = [*made, decided, nothing, vc.difference(y, votes[:, 0], votes[:, 1])]
    results.append(vc.difference(y, votes[:, 0], votes[:, 1], clusters=np.arange(240) // 4))
    results += losses(votes, y)
    grouped = vc.certify(votes, y, groups=np.arange(240) % 2, weights="uniform")
    for subject, more in ((made[-1], {}), (decided, {}), (grouped, {"groups": np.arange(240) % 2})):
        monitor = vc.Monitor(replace(subject, group=None) if subject is made[-1] else subject)
        results.append(vc.Monitor.from_json(monitor.to_json()))
        monitor.update(votes, 1 - y, items=range(240), **more)
        results.append(monitor)
    return [json.loads(one.to_json()) for one in results]


def test_the_schemas_are_schemas_with_a_version():
    for name, schema in SCHEMAS.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        kind, _, version = name.partition("-")
        assert schema["$id"] == f"urn:votecert:{kind}:{version}"
        assert schema["properties"][f"votecert_{kind}"]["const"] == int(version)
    assert f"certificate-{vc.Certificate.schemas[-1]}" in SCHEMAS
    assert f"monitor-{state.SCHEMA}" in SCHEMAS


def test_the_documentation_has_them_all():
    page = Path(__file__).parents[1] / "docs" / "files.md"
    if not page.exists():
        pytest.skip("only where the repository is")
    assert set(re.findall(r"\(schemas/([\w-]+)\.json\)", page.read_text("utf-8"))) == set(SCHEMAS)


def test_every_file_fits(written):
    assert all(map(fits, written))
    kinds = {name for one in written for name in one if name.startswith("votecert_")} - {"votecert_version"}
    assert kinds == {f"votecert_{kind}" for kind in KINDS}
    assert {one["bound"] for one in written if "bound" in one} == set(vc.BOUNDS)
    assert {one["kind"] for one in written if "votecert_monitor" in one} == {
        "certificate",
        "groups",
        "triage",
    }
    assert any(one.get("alarm") for one in written)


def test_fields_are_those_of_the_results():
    known = set(SCHEMAS["certificate-3"]["properties"])
    assert {one.name for one in fields(vc.Certificate)} - {"intact", "own_words"} <= known
    for kind, name in (
        (vc.Triage, "triage-1"),
        (vc.Difference, "difference-1"),
        (vc.LossCertificate, "losses-1"),
    ):
        assert {one.name for one in fields(kind)} - {"intact", "own_words"} <= set(
            SCHEMAS[name]["properties"]
        )


def test_what_is_damaged_does_not_fit(written):
    """A field that is missing, unknown or of another type, in every kind of file."""
    for content in {next(iter(one)): one for one in written}.values():
        assert not fits(content, more=1)
        for name in {name for name in content if not name.startswith("votecert_")} - {"notes"}:
            assert not fits({key: value for key, value in content.items() if key != name}), name
            assert not fits(content, **{name: [["?"]]}), name
    certificate = next(one for one in written if "votecert_certificate" in one)
    for name, wrong in {
        "risk": 1.5,
        "delta": 0,
        "errors": 1.5,
        "origin": "luck",
        "digest": "sha256:1",
    }.items():
        assert not fits(certificate, **{name: wrong})
    for name, wrong in {"n_rows": 0, "weights": [], "statistics": {"errors": "3"}, "luck": 1}.items():
        assert not fits(certificate, terms={**certificate["terms"], name: wrong})
    monitor = next(one for one in written if "votecert_monitor" in one)
    damaged = {name: value for name, value in monitor["certificates"][0].items() if name != "digest"}
    assert not fits(monitor, certificates=[damaged])


@pytest.mark.parametrize("objective", ["occam", "f2", "dirichlet"])
def test_weights(tmp_path, monkeypatch, objective):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from votecert.cli.app import app

    monkeypatch.chdir(tmp_path)
    votes, y = rows(100)
    np.savetxt("votes.csv", np.column_stack([votes, y]), "%d", ",", header="a,b,c,y", comments="")
    call = ["learn", "votes.csv", "--label", "y", "--objective", objective, "--json", "weights.json"]
    assert CliRunner().invoke(app, call).exit_code == 0
    content = json.loads(Path("weights.json").read_text("utf-8"))
    assert fits(content)
    assert not fits(content, weights=["1"])
    again = ["certify", "votes.csv", "--label", "y", "--weights", "weights.json"]
    assert CliRunner().invoke(app, again).exit_code == 0

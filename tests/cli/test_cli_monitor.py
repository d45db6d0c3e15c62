"""``monitor``: exit codes, what is refused, and a state that no kill and no second writer can spoil."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType

import pytest
from jury_file import ROWS, jury

import votecert as vc
from votecert.rows.files import lock

LABEL = ("--label", "human", "--state", "m.json")


def turned(text: str, every: int = 2) -> str:
    """The same rows, with some true labels turned round."""
    head, *lines = text.splitlines()
    other = {"bad": "good", "good": "bad"}
    cells = [line.rsplit(",", 1) for line in lines]
    return (
        "\n".join([head, *(f"{a},{other[b] if i % every == 0 else b}" for i, (a, b) in enumerate(cells))])
        + "\n"
    )


@pytest.fixture
def folder(invoke, tmp_path) -> Path:
    """A certificate, new rows like those before, and rows after the world has changed."""
    (tmp_path / "votes.csv").write_text(jury())
    assert invoke("certify", "votes.csv", *ROWS, "--json", "c.json").exit_code == 0
    (tmp_path / "new.csv").write_text(jury(100, seed=5))
    (tmp_path / "bad.csv").write_text(turned(jury(100, seed=6)))
    return tmp_path


def state(folder: Path) -> dict:
    content = json.loads((folder / "m.json").read_text())
    return {name: content[name] for name in ("rows", "updates", "streams", "memory")}


def test_quiet_days_and_an_alarm(invoke, folder):
    first = invoke("monitor", "c.json", "new.csv", *LABEL)
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith("no alarm: ")
    assert "No alarm after 100 rows" in first.stdout
    assert "A new monitor starts in m.json" in first.stderr
    second = invoke("monitor", "c.json", "bad.csv", *LABEL, "--html", "m.html")
    assert second.exit_code == 1
    assert second.stdout.startswith("ALARM: ")
    assert "ALARM, raised after 200 rows" in " ".join(second.stdout.split())
    assert "<title>ALARM" in (folder / "m.html").read_text()
    only = invoke("monitor", "c.json", "--state", "m.json", "--quiet")
    assert (only.exit_code, only.stderr, len(only.stdout.splitlines())) == (1, "", 1)
    read = vc.Monitor.from_json((folder / "m.json").read_text())
    assert read.rows == 200
    assert read.alpha == 0.01


def test_rows_are_fed_once(invoke, folder):
    assert invoke("monitor", "c.json", "new.csv", *LABEL).exit_code == 0
    before = (folder / "m.json").read_bytes()
    again = invoke("monitor", "c.json", "new.csv", *LABEL)
    assert again.exit_code == 2
    assert "fed before" in again.stderr
    assert "--batch" in again.stderr
    named = invoke("monitor", "c.json", "new.csv", *LABEL, "--item", "question", "--batch", "x")
    assert named.exit_code == 0  # they had no names before
    twice = invoke("monitor", "c.json", "new.csv", *LABEL, "--item", "question")
    assert twice.exit_code == 2
    assert "--skip-seen" in twice.stderr
    (folder / "m.json").write_bytes(before)


def test_a_file_that_grows(invoke, folder):
    lines = jury(60, seed=9).splitlines()
    for n, expected in ((21, 20), (21, 20), (61, 60)):
        (folder / "all.csv").write_text("\n".join(lines[:n]) + "\n")
        done = invoke("monitor", "c.json", "all.csv", *LABEL, "--item", "question", "--skip-seen")
        assert done.exit_code == 0, done.stderr
        assert state(folder)["rows"] == expected
    assert state(folder)["updates"] == 2


def test_a_day_without_labels_wakes_nobody(invoke, folder):
    head, *lines = (folder / "new.csv").read_text().splitlines()
    (folder / "empty.csv").write_text(head + "\n")
    (folder / "later.csv").write_text(
        "\n".join([head, *(line.rsplit(",", 1)[0] + "," for line in lines)]) + "\n"
    )
    for name in ("empty.csv", "later.csv"):
        done = invoke("monitor", "c.json", name, *LABEL)
        assert done.exit_code == 0, done.stderr
        assert "Nothing was fed" in done.stderr
        assert "no rows yet" in done.stdout
    assert state(folder)["rows"] == 0
    assert invoke("monitor", "c.json", "new.csv", *LABEL, "--item", "question").exit_code == 0
    assert state(folder)["rows"] == 100


def test_predictions_in_place_of_votes(invoke, folder):
    assert invoke("predict", "c.json", "new.csv", "--output", "p.csv").exit_code == 0
    labels = [line.rsplit(",", 1)[1] for line in (folder / "new.csv").read_text().splitlines()[1:]]
    said = (folder / "p.csv").read_text().splitlines()[1:]
    lines = [f"{a},{b},{i}" for i, (a, b) in enumerate(zip(said, labels, strict=True))]
    (folder / "both.csv").write_text("\n".join(["said,human,id", *lines]) + "\n")
    (folder / "less.csv").write_text("says,human\ngood,bad\n")
    done = invoke("monitor", "c.json", "both.csv", *LABEL, "--prediction", "said")
    assert done.exit_code == 0, done.stderr
    invoke("monitor", "c.json", "new.csv", "--label", "human", "--state", "v.json")
    other = json.loads((folder / "v.json").read_text())["streams"]
    assert state(folder)["streams"] == other
    wrong = invoke("monitor", "c.json", "less.csv", *LABEL, "--prediction", "said")
    assert wrong.exit_code == 2
    assert "no column 'said' with predictions" in wrong.stderr


def test_groups(invoke, folder):
    rows = ("--label", "human", "--ignore", "question", "--group", "region")
    assert invoke("certify", "votes.csv", *rows, "--json", "g.json").exit_code == 0
    done = invoke("monitor", "g.json", "new.csv", *rows, "--state", "m.json")
    assert done.exit_code == 0, done.stderr
    assert [one["name"] for one in state(folder)["streams"]] == ["eu", "us"]
    assert "--group" in invoke("monitor", "g.json", "bad.csv", *LABEL).stderr
    assert invoke("monitor", "g.json", "bad.csv", *rows, "--state", "m.json", "--cluster", "a").exit_code == 2
    assert invoke("monitor", "c.json", "bad.csv", *rows, "--state", "x.json").exit_code == 2


def test_triage_with_rows_that_nobody_looked_at(invoke, folder):
    triage = ("--label", "human", "--ignore", "question,region", "--max-risk", "0.2", "--weights", "uniform")
    assert invoke("triage", "votes.csv", *triage, "--json", "t.json").exit_code == 0
    head, *lines = (folder / "new.csv").read_text().splitlines()
    lines = [line if place % 2 else line.rsplit(",", 1)[0] + "," for place, line in enumerate(lines)]
    (folder / "some.csv").write_text("\n".join([head, *lines]) + "\n")
    done = invoke("monitor", "t.json", "some.csv", *LABEL, "--item", "question")
    assert done.exit_code == 0, done.stderr
    error, handed = state(folder)["streams"]
    assert sum(handed["losses"].values()) == state(folder)["rows"] == 100
    assert 0 < sum(error["losses"].values()) <= 50
    assert invoke("monitor", "t.json", "some.csv", *LABEL, "--item", "question").exit_code == 2


def test_clusters(invoke, folder):
    text = (folder / "new.csv").read_text().splitlines()
    lines = [f"patient,{text[0]}", *(f"p{place // 4},{line}" for place, line in enumerate(text[1:]))]
    (folder / "patients.csv").write_text("\n".join(lines) + "\n")
    done = invoke("monitor", "c.json", "patients.csv", *LABEL, "--cluster", "patient")
    assert done.exit_code == 0, done.stderr
    assert "on 25 clusters" in done.stdout
    again = invoke("monitor", "c.json", "patients.csv", *LABEL, "--cluster", "patient")
    assert again.exit_code == 2
    assert "fed before" in again.stderr
    assert invoke("monitor", "c.json", "bad.csv", *LABEL).exit_code == 2
    rows = ("--label", "human", "--ignore", "question,region", "--cluster", "patient")
    text = (folder / "votes.csv").read_text().splitlines()
    lines = [f"patient,{text[0]}", *(f"o{place // 4},{line}" for place, line in enumerate(text[1:]))]
    (folder / "old.csv").write_text("\n".join(lines) + "\n")
    done = invoke("certify", "old.csv", *rows, "--weights", "uniform", "--json", "k.json")
    assert done.exit_code == 0, done.stderr
    done = invoke("monitor", "k.json", "patients.csv", *rows, "--state", "k2.json")
    assert done.exit_code == 0, done.stderr
    assert "on 25 clusters" in done.stdout
    assert (
        "--cluster" in invoke("monitor", "k.json", "new.csv", "--label", "human", "--state", "k2.json").stderr
    )


@pytest.mark.parametrize(
    ("prepare", "arguments", "message"),
    [
        (None, ("c.json", "--state", "m.json"), "no monitor in m.json yet"),
        (None, ("c.json", "new.csv", "--label", "human", "--state", "-"), "must be a file"),
        (None, ("c.json", "new.csv", *LABEL, "--alpha", "2"), "between 0 and 1"),
        (None, ("c.json", "no.csv", *LABEL), "no.csv"),
        ("other", ("c.json", "bad.csv", *LABEL), "another certificate"),
        ("made", ("c.json", "bad.csv", *LABEL, "--alpha", "0.02"), "made with alpha 0.01"),
        ("garbage", ("c.json", "bad.csv", *LABEL), "m.json: This is not a state"),
        ("edited", ("c.json", "bad.csv", *LABEL), "m.json: The state does not verify"),
        ("certificate", ("c.json", "bad.csv", *LABEL), "m.json: This is not a state"),
    ],
)
def test_what_is_refused_leaves_the_state_alone(invoke, folder, prepare, arguments, message):
    if prepare == "other":
        assert invoke("certify", "votes.csv", *ROWS, "--delta", "0.1", "--json", "o.json").exit_code == 0
    if prepare is not None:
        assert (
            invoke("monitor", "o.json" if prepare == "other" else "c.json", "new.csv", *LABEL).exit_code == 0
        )
    path = folder / "m.json"
    if prepare == "garbage":
        path.write_text("{")
    elif prepare == "edited":
        path.write_text(path.read_text().replace('"rows": 100', '"rows": 101'))
    elif prepare == "certificate":
        shutil.copy(folder / "c.json", path)
    before = path.read_bytes() if path.exists() else None
    done = invoke("monitor", *arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_certificate_that_does_not_verify_is_not_watched(invoke, folder):
    text = (folder / "c.json").read_text()
    (folder / "c.json").write_text(text.replace('"risk": 0.0', '"risk": 0.5'))
    assert invoke("monitor", "c.json", "new.csv", *LABEL).exit_code == 3
    assert not (folder / "m.json").exists()


STEPS = frozenset({"open", "write", "flush", "close", "fsync", "chmod", "replace", "flock", "mkstemp"})
"""What a process does to files, as calls of built-in functions."""

WRITERS = ("atomic.py", "lock.py", "monitor.py", "pathlib.py", "tempfile.py")
"""Modules whose calls are counted: the others only read."""


def in_a_child(folder: Path, *arguments: str, kill_at: int | None = None) -> int:
    """Run the command in a child; with ``kill_at``, one that is killed before so many steps on files."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.chdir(folder)
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        sys.argv = ["votecert", *arguments]
        steps = 0

        def kill(frame: FrameType, event: str, called: object) -> None:
            nonlocal steps
            is_step = event == "c_call" and getattr(called, "__name__", "") in STEPS
            if is_step and frame.f_code.co_filename.endswith(WRITERS):
                steps += 1
                if steps == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        if kill_at is not None:
            sys.setprofile(kill)
        from votecert.cli import main

        code = main()
    finally:
        os._exit(code)


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_kill_between_any_two_steps_loses_or_doubles_nothing(invoke, folder):
    command = ("monitor", "c.json", "bad.csv", *LABEL, "--batch", "two")
    assert invoke("monitor", "c.json", "new.csv", *LABEL).exit_code == 0
    old = (folder / "m.json").read_bytes()
    assert invoke(*command).exit_code == 1
    wanted = state(folder)
    endings = []
    for kill_at in range(1, 200):
        (folder / "m.json").write_bytes(old)
        _, status = os.waitpid(in_a_child(folder, *command, kill_at=kill_at), 0)
        was_fed = (folder / "m.json").read_bytes() != old
        assert invoke(*command).exit_code == (2 if was_fed else 1)  # feeding it again does no harm
        streams = state(folder)
        assert [one | {"alarm": None} for one in streams["streams"]] == [
            one | {"alarm": None} for one in wanted["streams"]
        ]
        assert (streams["rows"], streams["updates"]) == (wanted["rows"], wanted["updates"])
        endings.append(was_fed)
        if not os.WIFSIGNALED(status):
            break
    else:
        pytest.fail("the command never came to its end")
    assert endings[-1]
    assert endings.count(False) >= 5  # it was killed before the replacement, at different steps


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_writers_wait_for_each_other(folder):
    names = [f"{i}.csv" for i in range(4)]
    for seed, name in enumerate(names):
        (folder / name).write_text(jury(30, seed=20 + seed))
    children = [in_a_child(folder, "monitor", "c.json", name, *LABEL) for name in names]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0] * 4
    assert (state(folder)["rows"], state(folder)["updates"]) == (120, 4)


def test_a_writer_does_not_wait_for_ever(invoke, folder, monkeypatch):
    monkeypatch.setattr(lock.locked.__wrapped__, "__defaults__", (0.05,))
    with lock.locked(folder / "m.json"):
        done = invoke("monitor", "c.json", "new.csv", *LABEL)
    assert done.exit_code == 2
    assert "in use by another process" in done.stderr
    assert not (folder / "m.json").exists()
    assert invoke("monitor", "c.json", "new.csv", *LABEL).exit_code == 0

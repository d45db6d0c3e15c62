"""The pipeline from votes to the report, on tic-tac-toe; kills, damaged caches, second writers."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import votecert as vc
from votecert.learning import budget
from votecert.paper import comparison, protocol
from votecert.paper import run as running
from votecert.paper.cells import Cell, Group, Panel, plan
from votecert.paper.comparison import measure_panel, rows_at
from votecert.paper.load import load
from votecert.paper.measure import measure
from votecert.paper.protocol import Votes, vote, votes_of
from votecert.paper.results import ResultFiles, read_results
from votecert.paper.run import missing, run


@pytest.fixture(autouse=True)
def forget_votes():
    """Votes are remembered within a process; tests want the file."""
    votes_of.cache_clear()
    yield
    votes_of.cache_clear()


class TestPlan:
    def test_number_of_cells(self):
        cells = plan(["margins", "pac-bayes", "optimisation", "stumps", "comparison"], ["adult", "mnist"], 5)
        assert len(cells) == len({cell.key for cell in cells}) == 4 + 5 * 10 + 5 * 10 + 5 * 10

    def test_many_classes_have_no_stumps(self):
        assert {cell.group.voters for cell in plan(["stumps", "pac-bayes"], ["mnist"], 1)} == {"rf"}

    def test_unknown_figure(self):
        with pytest.raises(ValueError, match="no figure 'pie'"):
            plan(["pie"], ["adult"], 1)


class TestProtocol:
    def test_forest_rows_are_disjoint_shares(self):
        made = vote(Group("tictactoe", "rf", 1), *load("tictactoe"))
        assert made.votes.shape == (383, 10)
        assert made.test_votes.shape == (192, 10)

    def test_stumps_certify_on_all_training_rows(self):
        made = vote(Group("tictactoe", "stumps", 0), *load("tictactoe"))
        assert made.votes.shape == (766, 9 * 12)

    def test_trials_differ_and_repeat(self):
        X, y = load("tictactoe")
        first, again = (vote(Group("tictactoe", "rf", 0), X, y) for _ in range(2))
        other = vote(Group("tictactoe", "rf", 1), X, y)
        assert np.array_equal(first.votes, again.votes)
        assert not np.array_equal(first.y, other.y)

    @pytest.mark.parametrize("damage", ["cut", "flipped", "other"])
    def test_damaged_cache_is_made_again(self, tmp_path, damage):
        group = Group("tictactoe", "rf", 0)
        before = votes_of(group, None, tmp_path)
        (path,) = tmp_path.iterdir()
        content = path.read_bytes()
        if damage == "cut":
            path.write_bytes(content[: len(content) // 2])
        elif damage == "flipped":
            wrong = Votes(1 - before.votes, before.y, before.test_votes, before.test_y, before.n_classes)
            digest = np.array(protocol._digest(before))
            np.savez(path.with_suffix(""), digest=digest, **vars(wrong))
        else:
            path.write_bytes(b"no archive")
        votes_of.cache_clear()
        after = votes_of(group, None, tmp_path)
        assert np.array_equal(before.votes, after.votes)
        votes_of.cache_clear()
        assert protocol._cached(path) is not None


def small_votes(n_classes: int = 2) -> Votes:
    """Six voters of different quality on 200 rows."""
    rng = np.random.default_rng(3)
    y = rng.integers(n_classes, size=300)
    right = rng.random((300, 6)) < np.linspace(0.95, 0.6, 6)
    votes = np.where(right, y[:, None], (y[:, None] + 1) % n_classes).astype(np.uint8)
    return Votes(votes[:200], y[:200], votes[200:], y[200:], n_classes)


class TestMeasure:
    def test_weights_of_an_objective(self):
        votes = small_votes()
        record = measure(Cell(Group("haberman", "rf", 0), "fo"), votes)
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        found = vc.learn(votes.ballots(), objective="fo", method="adam")
        assert record["bounds"]["objective"]["risk"] == pytest.approx(found.risk, rel=1e-6)
        at_weights = vc.certify(votes.ballots(), weights=found.weights, bound="dirichlet")
        assert record["bounds"]["dirichlet"]["risk"] == pytest.approx(at_weights.risk, rel=1e-6)
        totals = votes.test_votes @ found.weights
        assert record["test_error"] == pytest.approx(np.mean((totals > 0.5) != votes.test_y), rel=1e-6)

    def test_order_of_the_formulas(self):
        bounds = measure(Cell(Group("haberman", "rf", 0), "f2"), small_votes())["bounds"]
        risks = {name: entry["risk"] for name, entry in bounds.items()}
        assert risks["test-set"] < risks["dirichlet"] < risks["corrected"]
        assert risks["printed-wide"] <= min(risks["printed"], risks["corrected"]) + 1e-4
        assert risks["bg+"] <= risks["bg"]

    def test_many_classes_have_the_wrong_weight_margin(self):
        bounds = measure(Cell(Group("pendigits", "rf", 0), "f2"), small_votes(3))["bounds"]
        assert bounds["printed-wide"]["risk"] <= bounds["printed-wrong-weight"]["risk"] + 1e-9
        assert "bg" not in bounds

    def test_occam_is_about_its_own_vote(self):
        votes = small_votes()
        record = measure(Cell(Group("haberman", "rf", 0), "occam"), votes)
        certificate = vc.certify(votes.ballots(), random_state=0)
        assert record["bounds"]["occam"]["risk"] == pytest.approx(certificate.risk, rel=1e-6)
        errors = np.mean(certificate.predict(votes.test_votes) != votes.test_y)
        assert record["test_error"] == pytest.approx(errors)
        assert record["bounds"]["test-set"]["risk"] < record["bounds"]["occam"]["risk"]


class TestComparison:
    @pytest.mark.parametrize("margin", [0.05, 0.3])
    def test_rows_have_the_margin_error(self, margin):
        weights = np.random.default_rng(0).dirichlet(np.ones(100))
        rows = rows_at(margin, weights, Panel(2000, 0.1))
        margins = rows.margins(weights)
        assert rows.counts[margins <= margin].sum() == 200
        assert margins.max() < margin + 1e-3

    def test_panel(self, monkeypatch):
        monkeypatch.setattr(comparison, "N_WEIGHTS", 1)
        record = measure_panel(Panel(2000, 0.1), margins=(0.1, 0.3))
        series = record["series"]
        assert all(low <= high for low, high in zip(series["bg+"], series["bg"], strict=True))
        for name in ("dirichlet-margin 1", "dirichlet 1"):
            assert all(0.1 < value < plus for value, plus in zip(series[name], series["bg+"], strict=True))


RECORD = {"cell": "a/rf/0/fo", "seconds": 1.0}


class TestResults:
    def test_line_cut_off_by_a_kill(self, tmp_path):
        with ResultFiles.open(tmp_path) as files:
            files.append("a.jsonl", RECORD)
        with open(tmp_path / "a.jsonl", "a") as file:
            file.write('{"cell": "a/rf/0/f2", "sec')
        assert list(read_results(tmp_path)) == ["a/rf/0/fo"]
        with ResultFiles.open(tmp_path) as files:
            files.append("a.jsonl", RECORD | {"cell": "a/rf/0/so"})
        assert list(read_results(tmp_path)) == ["a/rf/0/fo", "a/rf/0/so"]

    def test_damaged_line_is_named(self, tmp_path):
        (tmp_path / "a.jsonl").write_text('{"cell": "x"}\nrubbish\n{"cell": "y"}\n')
        with pytest.raises(ValueError, match=r"Line 2 of .*a\.jsonl"):
            read_results(tmp_path)

    def test_second_writer_is_refused(self, tmp_path):
        with ResultFiles.open(tmp_path):
            second = ResultFiles.open(tmp_path)
            with pytest.raises(BlockingIOError, match="Another run"):
                second.__enter__()

    def test_not_a_number_is_refused(self, tmp_path):
        with ResultFiles.open(tmp_path) as files, pytest.raises(ValueError, match="JSON"):
            files.append("a.jsonl", {"cell": "a", "risk": float("nan")})


class TestRun:
    def test_nothing_is_run_twice(self, tmp_path, monkeypatch):
        ran = []

        def fake(cell, data, cache):
            ran.append(cell.key)
            if len(ran) == 3:
                raise KeyboardInterrupt
            return cell, {"cell": cell.key, "seconds": 0.0}

        monkeypatch.setattr(running, "_one", fake)
        monkeypatch.setattr(running, "_prepare", lambda group, data, cache: (group, 0.0, True))
        cells = plan(["pac-bayes"], ["tictactoe"], 1)
        with pytest.raises(KeyboardInterrupt):
            run(cells, tmp_path)
        assert len(read_results(tmp_path)) == 2
        assert run(cells, tmp_path) == 3
        assert missing(cells, tmp_path) == []
        assert sorted(ran) == sorted([*(cell.key for cell in cells), ran[2]])
        assert run(cells, tmp_path) == 0

    def test_processes_give_the_same(self, tmp_path):
        cells = [Cell(Group("tictactoe", "rf", 0), objective) for objective in ("fo", "so")]
        heard = []
        for jobs in (1, 2):
            run(
                cells,
                tmp_path / str(jobs),
                jobs=jobs,
                cache=tmp_path / "votes",
                news=lambda *x: heard.append(x),
            )
        one, two = (read_results(tmp_path / name) for name in ("1", "2"))
        # Only the first run had to make the votes: it is the one from nothing.
        assert one.pop("run/2/1")["wall_seconds"] > 0
        assert one.keys() == two.keys() == {cell.key for cell in cells}
        for key in one:
            assert one[key]["bounds"] == two[key]["bounds"]
        assert {key for key, _ in heard} == {*one, "tictactoe/rf/0/votes"}

    def test_on_a_dask_cluster(self, tmp_path):
        distributed = pytest.importorskip("distributed")
        joblib = pytest.importorskip("joblib")
        cells = [Cell(Group("tictactoe", "rf", 0), "fo")]
        settings = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
        with (
            distributed.LocalCluster(**settings) as cluster,
            distributed.Client(cluster),
            joblib.parallel_config(backend="dask"),
        ):
            assert run(cells, tmp_path / "results", cache=tmp_path / "votes", jobs=-1) == 1
        assert cells[0].key in read_results(tmp_path / "results")


def start(
    folder: Path, *options: str, program: Sequence[str] = ("-m", "votecert")
) -> subprocess.Popen[bytes]:
    """The command, in a process group of its own."""
    command = [sys.executable, *program, "paper", "run", "--figure", "pac-bayes"]
    command += [
        "--datasets",
        "tictactoe",
        "--trials",
        "1",
        "--jobs",
        "1",
        "--results",
        str(folder / "results"),
    ]
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*command, *options], env=environment, start_new_session=True, **pipes)


def children(pid: int) -> list[int]:
    """Processes that this one has started and that are alive, where they can be looked up."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has just ended
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(stat.parent.name))
    return found


def test_a_kill_leaves_no_workers_and_loses_at_most_the_running_cells(tmp_path):
    pytest.importorskip("typer")
    file = tmp_path / "results" / "tictactoe.jsonl"
    process = start(tmp_path, "--jobs", "2")
    until = time.monotonic() + 120
    while not (file.exists() and file.read_bytes().count(b"\n") >= 2) and time.monotonic() < until:
        time.sleep(0.01)
    workers = children(process.pid)
    process.kill()  # nobody but the parent
    process.wait()
    if Path("/proc/self/stat").exists():
        assert len(workers) >= 2
    until = time.monotonic() + 20
    while (left := [pid for pid in workers if Path(f"/proc/{pid}").exists()]) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == []
    process.communicate()
    kept = file.read_bytes()
    finished = [json.loads(line)["cell"] for line in kept.splitlines(keepends=True) if line.endswith(b"\n")]
    assert len(finished) >= 2
    again = start(tmp_path)
    _, heard = again.communicate(timeout=120)
    assert again.returncode == 0, heard
    keys = [json.loads(line)["cell"] for line in file.read_bytes().splitlines()]
    assert sorted(keys) == sorted(cell.key for cell in plan(["pac-bayes"], ["tictactoe"], 1))
    assert keys[: len(finished)] == finished
    assert f"{len(finished)} of 5 cells are done" in heard.decode()


SLOW_LEARNING = """
import sys, time
from votecert.learning import budget

tell = budget.Budget.tell

def slowly(*news, **more):
    print("learning", flush=True)
    time.sleep(0.3)
    tell(*news, **more)

budget.Budget.tell = slowly
from votecert.cli import main
sys.exit(main())
"""


def test_an_interrupt_ends_the_run_and_no_cell_is_written_that_was_cut_short(tmp_path):
    pytest.importorskip("typer")
    process = start(tmp_path, program=("-c", SLOW_LEARNING))
    assert process.stdout.readline() == b"learning\n"  # and sleeping in the midst of it now
    process.send_signal(signal.SIGINT)
    _, heard = process.communicate(timeout=60)
    assert process.returncode == 130, heard
    assert b"Interrupted." in heard
    assert b"Traceback" not in heard
    assert read_results(tmp_path / "results") == {}


@pytest.mark.parametrize("objective", ["fo", "cctnd", "occam"])
def test_an_interrupted_cell_is_no_result(objective, monkeypatch):
    def interrupted(*news, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(budget.Budget, "tell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measure(Cell(Group("haberman", "rf", 0), objective), small_votes())


def test_a_cell_is_not_cut_short_by_time(monkeypatch):
    """However slow the machine is: results must not depend on it."""
    ticks = itertools.count(step=1000)
    monkeypatch.setattr(budget, "now", lambda: float(next(ticks)))
    record = measure(Cell(Group("haberman", "rf", 0), "occam"), small_votes())
    monkeypatch.undo()
    again = measure(Cell(Group("haberman", "rf", 0), "occam"), small_votes())
    assert record["bounds"] == again["bounds"]

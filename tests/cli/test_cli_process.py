"""The installed command as others see it: processes, signals, pipes, full disks.

The other tests of the command line go through the same entry point in this process, which costs less.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from jury_file import ROWS, jury

import votecert as vc

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits as POSIX has them")


def test_exit_codes_and_streams(run, votes, tmp_path):
    colourful = {"FORCE_COLOR": "1", "NO_COLOR": "1"}
    certify = (*ROWS, "--json", "c.json", "--max-risk")
    for arguments, options, code, words in (
        (["certify", votes, *certify, "0.001"], {"env": colourful}, 1, "at most"),
        (["certify", "-", *certify, "0.3", "--quiet"], {"input": jury()}, 0, "0."),
        (["verify", "c.json"], {}, 0, "verifies"),
    ):
        found, out, err = run(*arguments, **options)
        assert found == code, err
        assert words in out
        # Colours are left out where nobody wants them, and everything where there is no terminal.
        assert not re.search(r"\x1b\[[\d;]*3\dm" if options.get("env") else "\x1b", out + err)
    certificate = (tmp_path / "c.json").read_text()
    (tmp_path / "c.json").write_text(certificate.replace('"delta": 0.05', '"delta": 0.04', 1))
    found, out, err = run("verify", "c.json")
    assert (found, out) == (3, "")
    assert "does not verify" in err


@posix
def test_interrupted_while_reading(start, tmp_path):
    process = start("certify", "-", "--label", "y", "--json", "c.json", stdin=subprocess.PIPE)
    process.stdin.write("a,y\n" + "1,0\n0,1\n" * 1000)
    process.stdin.flush()
    assert "Reading standard input ..." in process.stderr.readline()  # said after two seconds
    for _ in range(60):  # standard input stays open: only the signal can end it
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            continue
        break
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == []


@posix
def test_interrupted_while_learning(start, tmp_path):
    """The best vote so far is certified, and the files are whole. These weak voters keep the search busy."""
    rng = np.random.default_rng(0)
    y = rng.integers(6, size=30_000)
    votes = np.where(rng.random((30_000, 150)) < 0.05, y[:, None], rng.integers(6, size=(30_000, 150)))
    np.savez(tmp_path / "v.npz", votes=votes.astype(np.uint8), y=y.astype(np.uint8))
    process = start("certify", "v.npz", "--split", "0", "--json", "c.json")
    for line in process.stderr:
        if "Certifying ..." in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 130, err
    assert "With confidence 95 %" in out
    assert "best vote found until then" in err
    certificate = vc.Certificate.from_json((tmp_path / "c.json").read_text())
    assert certificate.verify()
    assert certificate.details["interrupted"] == 1
    assert sorted(os.listdir(tmp_path)) == ["c.json", "v.npz"]


@posix
def test_full_disk(run, votes, tmp_path):
    """No file may grow beyond a kilobyte: the certificate does not fit, and nothing of it is left."""
    import resource

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    (tmp_path / "old.json").write_text("old")
    code, _, err = run("certify", votes, *ROWS, "--json", "old.json", preexec_fn=limit)
    assert code == 2, err
    assert "old.json: File too large" in err
    assert (tmp_path / "old.json").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["old.json", votes]


def obey_permissions() -> None:
    """Give up, for good, the right of root to write where permissions forbid it."""
    import ctypes

    drop_from_bounding_set, dac_override = 24, 1
    ctypes.CDLL(None, use_errno=True).prctl(drop_from_bounding_set, dac_override, 0, 0, 0)


@posix
def test_read_only_folder(run, votes, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    (locked / "old.json").write_text("old")
    locked.chmod(0o555)
    root = os.access(locked, os.W_OK)
    if root and sys.platform != "linux":
        pytest.skip("root may write everywhere here")
    for name in ("new.json", "old.json"):
        options = {"preexec_fn": obey_permissions} if root else {}
        code, out, err = run("certify", votes, *ROWS, "--json", f"locked/{name}", **options)
        assert (code, out) == (2, ""), err
        assert "locked cannot be written to: choose another one." in err
    assert os.listdir(locked) == ["old.json"]
    assert (locked / "old.json").read_text() == "old"


@pytest.mark.skipif(sys.platform != "linux", reason="reads the largest memory of a process from /proc")
def test_a_million_rows_take_a_byte_a_vote(tmp_path):
    n_rows, n_voters = 1_000_000, 20
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=(n_rows, 1), dtype=np.uint8)
    wrong = rng.integers(4, size=(n_rows, n_voters), dtype=np.uint8) == 0
    cells = np.full((n_rows, 2 * (n_voters + 1)), ord(","), dtype=np.uint8)
    cells[:, ::2] = ord("0") + np.hstack([truth ^ wrong, truth])
    cells[:, -1] = ord("\n")
    with (tmp_path / "v.csv").open("wb") as file:
        file.write(",".join([*(f"voter {i}" for i in range(n_voters)), "y"]).encode() + b"\n")
        file.write(cells.tobytes())
    program = (
        "import re, sys; from importlib.metadata import entry_points; "
        "(main,) = entry_points(group='console_scripts', name='votecert'); main = main.load(); "
        "read = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]); "
        "import votecert; votecert.certify; before = read(); code = main(); "
        "sys.stderr.write(f'{read() - before}'); sys.exit(code)"
    )
    arguments = [
        "certify",
        tmp_path / "v.csv",
        "--label",
        "y",
        "--weights",
        "uniform",
        "--json",
        "-",
        "--quiet",
    ]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["terms"]["n_rows"] == n_rows
    megabytes = int(done.stderr) / 1000
    assert megabytes < 150  # the votes are 20 MB, the text of the file 42 MB, its cells as strings over 1 GB


def test_without_the_extra_packages():
    program = "import sys; sys.modules['typer'] = None; import votecert.cli; sys.exit(votecert.cli.main())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "votecert: the command line needs typer: python -m pip install typer\n"


def test_shell_completion(run):
    words = {"COMP_WORDS": "votecert certify --bound dirichlet-m", "COMP_CWORD": "3"}
    code, out, _ = run(env={"_VOTECERT_COMPLETE": "complete_bash", **words})
    assert code == 0
    assert out.split() == ["dirichlet-margin", "dirichlet-margin-published"]


def test_what_is_told_of_a_search_is_rounded_up():
    from votecert.cli.console import Waiting

    for value, said in ((1e-9, "0.000000100 %"), (0.12341, "12.35 %"), (1.0, "100 %")):
        waiting = Waiting("Learning", quiet=True)
        waiting.news({"value": value})
        assert waiting._state["description"] == f"Learning: at most {said} so far"


def test_long_work_is_told_once_and_not_when_quiet(monkeypatch, capsys):
    from votecert.cli import console

    monkeypatch.setattr(console, "PATIENCE", 0.0)
    for quiet, expected in ((False, "Counting ...\n"), (True, "")):
        with console.Talk(quiet).wait("Counting") as waiting:
            told = threading.Event()
            told.wait(0.2)
            waiting.advance(1, 2)
            waiting.news({"value": 0.5})
        assert capsys.readouterr().err == expected

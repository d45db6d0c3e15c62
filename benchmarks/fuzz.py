"""Damaged files through every reader: nothing but a sentence and an exit code may come of them.

Small files of every kind are made, damaged at random, and read by the command line (folders by
``read_ballots``), each in a process of its own that may take 20 seconds and a gigabyte. A finding is: a
traceback or a warning, an exit code that no damaged file explains, a death by signal, more time, more memory.

Run it with ``python benchmarks/fuzz.py [--minutes 10] [--seed 0] [--keep FOLDER] [--only KIND]``. It exits
with 1 if there are findings; their files are kept. POSIX only. A run of ten minutes goes through several
thousand files.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import copy
import gzip
import io
import json
import lzma
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import votecert as vc
from votecert.certificate.record import digest
from votecert.cli import main as votecert

SECONDS = 20
GIGABYTE = 1_000_000_000
FINE = (0, 1, 2, 3)
"""Exit codes of commands that did their job or refused the file."""

Random = np.random.Generator
Files = dict[str, bytes]


def saved(save: Callable[..., None], *arrays: Any, **named: Any) -> bytes:
    """What a function of NumPy or pyarrow writes."""
    buffer = io.BytesIO()
    save(buffer, *arrays, **named)
    return buffer.getvalue()


def make_files() -> Files:
    """A sound file of every kind, by name."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    votes = np.where(rng.random((60, 3)) < 0.8, y[:, None], 1 - y[:, None])
    words = np.array(["no", "yes", "perhaps"])
    table = np.column_stack([votes, y])
    csv = "a,b,c,y\n" + "".join(",".join(map(str, row)) + "\n" for row in table.tolist())
    text = csv.replace("1", "yes").replace("0", "no")
    named = {"voters": np.array(["a", "b", "c"])}
    certificates = [
        vc.certify(votes, y, weights=weights, bound=bound, voters=["a", "b", "c"])
        for weights, bound in (
            ("learn", None),
            ("uniform", "dirichlet"),
            ("uniform", "f2"),
            ("uniform", "bin"),
        )
    ]
    groups = vc.certify(votes, y, groups=words[y])
    long = [[f"q{row}", "abc"[i], int(votes[row, i]), int(y[row])] for row in range(60) for i in range(3)]
    lines = "i,j,v,y\n" + "".join(",".join(map(str, line)) + "\n" for line in long)
    objects = [dict(zip("ijvy", line, strict=True)) for line in long]
    flat = [dict(zip("abcy", map(int, row), strict=True)) for row in table]
    nested = [{"y": one["y"], "v": [{"j": judge, "v": one[judge]} for judge in "abc"]} for one in flat]
    json_lines = "".join(json.dumps(one) + "\n" for one in nested)
    return {
        "digits.csv": csv.encode(),
        "words.csv": text.encode(),
        "quoted.csv": text.replace("yes", '"y, es"').encode(),
        "tabs.tsv": text.replace(",", "\t").encode(),
        "long.csv": lines.encode(),
        "long.jsonl": "".join(json.dumps(one) + "\n" for one in objects).encode(),
        "flat.jsonl": "".join(json.dumps(one) + "\n" for one in flat).encode(),
        "nested.json": json.dumps(nested, indent=1).encode(),
        "long.csv.gz": gzip.compress(lines.encode()),
        "digits.csv.bz2": bz2.compress(csv.encode()),
        "nested.jsonl.xz": lzma.compress(json_lines.encode()),
        "labelled.npz": saved(np.savez, L=votes.astype(np.int8), Y=y),
        "numbers.npy": saved(np.save, table.astype(np.uint8)),
        "words.npy": saved(np.save, words[table]),
        "floats.npy": saved(np.save, table.astype(float)),
        "numbers.npz": saved(np.savez, votes=votes.astype(np.uint8), y=y),
        "deflated.npz": saved(np.savez_compressed, votes=words[votes], y=words[y], **named),
        **{f"{name}.parquet": content for name, content in parquet_files(votes, y, words)},
        "weights.csv": b"voter,weight\na,1\nb,0.5\nc,2\n",
        "weights.json": b'{"voters": ["a", "b", "c"], "weights": [1, 0.5, 2]}',
        "weights.npy": saved(np.save, np.array([1, 0.5, 2])),
        **{f"certificate-{one.bound}.json": one.to_json().encode() for one in certificates},
        "certificate-groups.json": json.dumps([json.loads(one.to_json()) for one in groups]).encode(),
    }


def parquet_files(votes: Any, y: Any, words: Any) -> Iterator[tuple[str, bytes]]:
    """Parquet of several types and compressions, if pyarrow is installed."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return
    for name, cells, options in (
        ("numbers", lambda column: pa.array(column), {"compression": "zstd"}),
        ("words", lambda column: pa.array(words[column]), {"compression": "snappy"}),
        ("plain", lambda column: pa.array(words[column]), {"compression": "none", "use_dictionary": False}),
    ):
        table = pa.table([*(cells(votes[:, i]) for i in range(3)), cells(y)], names=["a", "b", "c", "y"])
        yield name, saved(lambda sink, made, o=options: parquet.write_table(made, sink, **o), table)


ODD = [
    b"\0",
    b"\xff",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b'"',
    b"\n",
    b"\r",
    b",",
    b"(",
    b"[",
    b"{",
    b"'",
]
ODD += [b"nan", b"1e999", b"-1", b"99999999999999999999", b"\xed\xa0\x80", b"\x1b[2J", b"=cmd()", b"[" * 3000]


def damage(content: bytes, rng: Random) -> bytes:
    """A few random edits of the bytes."""
    data = bytearray(content)
    for _ in range(int(rng.choice([1, 1, 2, 4, 16]))):
        start = int(rng.integers(len(data) + 1))
        stop = min(len(data), start + int(rng.integers(1, 1 + int(rng.choice([1, 8, 200])))))
        odd = ODD[int(rng.integers(len(ODD)))]
        match int(rng.integers(7)):
            case 0 if start < len(data):
                data[start] ^= 1 << int(rng.integers(8))
            case 1:
                data[start:stop] = rng.bytes(stop - start)
            case 2:
                data[start : start + len(odd)] = odd
            case 3:
                data[start:start] = odd
            case 4:
                del data[start:stop]
            case 5:
                data[start:start] = data[start:stop] * int(rng.choice([1, 2, 1000]))
            case 6 if rng.random() < 0.3:
                del data[start:]
    return bytes(data)


VALUES = [
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**33,
    2**64,
    10**400,
    0.5,
    -0.0,
    1e-320,
    1e308,
    float("nan"),
    float("inf"),
]
VALUES += ["", "infinite", "x" * 5000, [], {}, [[[]]], ["a"] * 1000]


def forge(content: bytes, rng: Random) -> bytes:
    """Change fields of certificates and sign them again: whoever made these knows how."""
    listed = json.loads(content)
    certificate = listed[0] if isinstance(listed, list) else listed
    for _ in range(int(rng.choice([1, 1, 2, 5]))):
        place: Any = certificate
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = keys[int(rng.integers(len(keys)))]
            if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.1:
                break
            place = place[key]
        if rng.random() < 0.15:
            del place[key]
        else:
            place[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])
    certificate["digest"] = digest(certificate)
    return json.dumps(listed).encode()


def task(name: str, content: bytes, folder: Path, sound: Files, rng: Random) -> Callable[[], int]:
    """Put the file, and those that belong to it, into the folder; return what to do with it."""
    (folder / name).write_bytes(content)
    if name.startswith("certificate"):
        (folder / "v.csv").write_bytes(sound["digits.csv"])
        commands = [
            ["verify", name],
            ["verify", name, "v.csv", "-l", "y"],
            ["report", name, "--html", "r.html"],
        ]
        commands += [["report", name, "v.csv", "-l", "y", "--html", "r.html"], ["predict", name, "v.csv"]]
        return command(commands[int(rng.integers(len(commands)))])
    if name.startswith("weights"):
        (folder / "v.csv").write_bytes(sound["digits.csv"])
        return command(["certify", "v.csv", "-l", "y", "--weights", name])
    if name.endswith(("npy", "npz", "parquet")) and rng.random() < 0.3:
        return lambda: read_folder(name)
    if rng.random() < 0.2:
        (folder / "c.json").write_bytes(sound["certificate-occam.json"])
        return command(["predict", "c.json", name, *layout(name)[2:], "--ignore", "3"])
    label = layout(name) + (["--force"] if rng.random() < 0.5 else [])  # what is no table of votes
    if rng.random() < 0.2:
        (folder / "gold.csv").write_bytes(
            damage(b"i,y\n" + b"".join(b"q%d,1\n" % row for row in range(60)), rng)
        )
        label += ["--gold", "gold.csv", "--abstain", "-1"]
    more = [["--weights", "uniform"], ["--weights", "uniform", "--group", [*layout(name), "", "y"][1]], []]
    return command(["certify", name, *label, *more[int(rng.choice([0, 0, 0, 1, 2]))]])


def layout(name: str) -> list[str]:
    """Options that say what is what in a file."""
    if name.endswith("npz"):
        return []
    if name.startswith("nested"):
        return ["-l", "y", "--votes", "v", "--judge", "j", "--vote", "v"]
    long = ["--item", "i", "--judge", "j", "--vote", "v"] if name.startswith("long") else []
    return ["-l", "3" if name.endswith("npy") else "y", *long]


def command(arguments: list[str]) -> Callable[[], int]:
    """The command line with these arguments."""

    def run() -> int:
        sys.argv = ["votecert", *arguments]
        return votecert()

    return run


def read_folder(name: str) -> int:
    """Read the file as a folder of one, as ``read_ballots`` does it."""
    if name.endswith("npy"):
        os.link(name, "votes.npy")
        np.save("y.npy", np.zeros(60, dtype=int))
    try:
        vc.read_ballots(".", "y")
    except (ValueError, TypeError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def warm_up(sound: Files) -> None:
    """Use every reader once, so that no process has to load modules by itself."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        for name, content in sound.items():
            Path(name).write_bytes(content)
            verb, *rest = ["verify"] if name.startswith("certificate") else ["certify", *layout(name)]
            if not name.startswith("weights"):
                command([verb, name, *rest, "-q"])()
        command(["report", "certificate-f2.json", "digits.csv", "-l", "y", "-q"])()
        command(["predict", "certificate-f2.json", "digits.csv", "--ignore", "3", "-q"])()
        os.chdir(here)


def child(work: Callable[[], int], folder: Path) -> None:
    """Run in a process of its own, with limits, and leave with its exit code."""
    os.chdir(folder)
    for name, number in (("stdout", 1), ("stderr", 2)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT, 0o600), number)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + 4 * GIGABYTE,) * 2)
    code = 99
    try:
        code = int(work())
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def judge(status: int, used: Any, folder: Path) -> str | None:
    """What is wrong with the end of a process, or None."""
    said = (folder / "stderr").read_text(errors="replace")
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"hang of {SECONDS} s" if number == signal.SIGALRM else f"killed by signal {number}"
    if "Traceback" in said or "Warning" in said or os.WEXITSTATUS(status) not in FINE:
        return f"exit code {os.WEXITSTATUS(status)}: {said.strip().splitlines()[-1:]}"
    if used.ru_maxrss * 1000 > GIGABYTE or "not enough memory" in said:
        return f"{used.ru_maxrss / 1e6:.2f} GB"
    return None


def one_case(name: str, sound: Files, rng: Random, keep: Path, number: int) -> tuple[str, str | None]:
    """Damage a file, read it, and say what came of it."""
    content = (forge if name.startswith("certificate") and rng.random() < 0.7 else damage)(sound[name], rng)
    folder = Path(tempfile.mkdtemp(prefix="votecert-fuzz-"))
    try:
        work = task(name, content, folder, sound, rng)
        process = os.fork()
        if process == 0:
            child(work, folder)
        _, status, used = os.wait4(process, 0)
        wrong = judge(status, used, folder)
        if wrong is not None:
            shutil.copytree(folder, keep / f"{number}-{name}")
        return str(os.WEXITSTATUS(status)) if os.WIFEXITED(status) else "signal", wrong
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Damage and read until the time is up; print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="folder for findings")
    parser.add_argument("--only", default="", help="part of the names of the files to damage")
    options = parser.parse_args()
    sound = make_files()
    warm_up(sound)
    names = [name for name in sound if options.only in name]
    ends: Counter[str] = Counter()
    findings: list[str] = []
    began, number = time.monotonic(), 0
    while time.monotonic() - began < 60 * options.minutes:
        name = names[number % len(names)]
        end, wrong = one_case(
            name, sound, np.random.default_rng([options.seed, number]), options.keep, number
        )
        ends[f"{name} {end}"] += 1
        if wrong is not None:
            findings.append(f"{number} {name}: {wrong}")
            print(findings[-1], flush=True)
        number += 1
    for kind in names:
        codes = {end: ends[f"{kind} {end}"] for end in (*map(str, FINE), "signal") if ends[f"{kind} {end}"]}
        print(f"{kind:28}", ", ".join(f"{count} x {end}" for end, count in codes.items()))
    print(f"{number} files in {time.monotonic() - began:.0f} s, {len(findings)} findings.")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())

"""Do the tests notice when the library is broken? Tries the bugs of ``mutant_table``.

    python benchmarks/mutants.py [--only TEXT] [--jobs N] [--timeout SECONDS]

Every bug is one edit. It is made in a copy of the sources and the tests that ought to notice are run on the
copy, after they have passed on an unbroken one. Prints the table of docs/mutants.md, then the bugs that
survived. The exit code is 1 if one did, or if an edit no longer fits: the text it replaces must occur exactly
once. To be run before a release; ``--only`` takes a part of a file's name or of what a bug breaks.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from mutant_table import MUTANTS, Mutant, Tests

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("src/votecert")
COPIED = ("src", "tests", "pyproject.toml")


@dataclass(frozen=True)
class Outcome:
    """What became of a bug: the test that noticed it, or why none did."""

    mutant: Mutant
    caught_by: str | None
    note: str = ""

    def __str__(self) -> str:
        found = f"`{self.caught_by}`" if self.caught_by else f"**{self.note}**"
        return f"| `{self.mutant.file}` | {self.mutant.breaks} | {found} |"


class Copies:
    """Copies of the sources and tests, one for each run at the same time."""

    def __init__(self, folder: Path, number: int, timeout: float) -> None:
        self.timeout = timeout
        self._free: SimpleQueue[Path] = SimpleQueue()
        for i in range(number):
            copy = folder / f"copy{i}"
            for name in COPIED:
                source, target = ROOT / name, copy / name
                if source.is_dir():
                    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
                else:
                    shutil.copy(source, target)
            self._free.put(copy)

    @contextmanager
    def one(self) -> Iterator[Path]:
        """A copy that nobody else works on."""
        copy = self._free.get()
        try:
            yield copy
        finally:
            self._free.put(copy)

    def run(self, copy: Path, tests: Tests) -> tuple[int, str]:
        """Exit code (or -1 when out of time) and output of some tests."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        # no bytecode: a file that changes twice within a second would pass for the old one
        environment = os.environ | threads | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        try:
            done = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, text=True, timeout=self.timeout
            )
        except subprocess.TimeoutExpired:
            return -1, ""
        return done.returncode, done.stdout

    def try_out(self, mutant: Mutant) -> Outcome:
        """Make the bug, run the tests, mend it."""
        with self.one() as copy:
            path = copy / PACKAGE / mutant.file
            text = path.read_text() if path.exists() else ""
            if text.count(mutant.old) != 1:
                return Outcome(mutant, None, f"found {text.count(mutant.old)} times")
            path.write_text(text.replace(mutant.old, mutant.new))
            try:
                code, output = self.run(copy, mutant.tests)
            finally:
                path.write_text(text)
        failed = re.search(r"^FAILED \S*?([^/\s]+(?:::\w+)+)", output, re.MULTILINE)
        if code == 1 and failed:
            return Outcome(mutant, failed[1])
        notes = {0: "survived", -1: "out of time", 5: "no such test"}
        return Outcome(mutant, None, notes.get(code, f"no test ran, code {code}"))

    def passes(self, tests: Tests) -> bool:
        """Whether tests pass on the sources as they are: otherwise they would catch anything."""
        with self.one() as copy:
            return self.run(copy, tests)[0] == 0


def joined(tests: Iterable[Tests]) -> list[Tests]:
    """The same tests, each file once: its parts joined, or all of it where somebody wants it whole."""
    wanted: dict[str, dict[str, None]] = {}
    for file, *part in tests:
        wanted.setdefault(file, {})[part[-1] if part else ""] = None
    return [(file,) if "" in parts else (file, "-k", " or ".join(parts)) for file, parts in wanted.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", default="", help="bugs whose file or effect has this text in it")
    parser.add_argument("--jobs", type=int, default=1, help="bugs tried at the same time")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for the tests of one bug")
    given = parser.parse_args()
    mutants = [one for one in MUTANTS if given.only in one.file or given.only in one.breaks]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        copies = Copies(Path(folder), given.jobs, given.timeout)
        needed = joined(one.tests for one in mutants)
        broken = [
            tests for tests, good in zip(needed, pool.map(copies.passes, needed), strict=True) if not good
        ]
        if broken:
            print("These tests fail without any bug:", *(" ".join(tests) for tests in broken), sep="\n- ")
            return 1
        print("| file | bug | caught by |\n|---|---|---|")
        outcomes = []
        for outcome in pool.map(copies.try_out, mutants):
            print(outcome, flush=True)
            outcomes.append(outcome)
    survivors = [outcome for outcome in outcomes if outcome.caught_by is None]
    print(f"\n{len(outcomes) - len(survivors)} of {len(outcomes)} bugs were caught.")
    for survivor in survivors:
        print(f"- {survivor.note}: {survivor.mutant.file}, {survivor.mutant.breaks}")
    return 1 if survivors or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())

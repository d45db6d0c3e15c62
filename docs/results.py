"""Run the benchmarks and write what they print into the documentation, with a figure of the certificates.

    python docs/results.py [NAME ...] [--votes FOLDER --juries FOLDER]

Each block of ``docs/results.md`` and ``docs/scale.md`` between ``<!-- NAME -->`` and ``<!-- end -->`` is the
output of one command, which the block shows. Without names all are run; those that need folders of votes only
when both are given.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "docs" / "results.md", ROOT / "docs" / "scale.md")
FIGURE = ROOT / "docs" / "images" / "tightness.png"

COMMANDS = {
    "generated": ["benchmarks/tightness.py"],
    "reference": ["benchmarks/tightness.py", "--no-generated", "--votes", "FOLDER", "--juries", "FOLDER"],
    "fitting": ["benchmarks/fitting.py"],
    "times": ["benchmarks/tightness.py", "--times"],
    "alternatives": ["benchmarks/alternatives.py"],
    "triage": ["benchmarks/triage.py"],
    "triage_files": ["benchmarks/triage.py", "--votes", "FOLDER", "--juries", "FOLDER"],
    "monitoring": ["benchmarks/monitoring.py", "alarms"],
    "stopping": ["benchmarks/monitoring.py", "plans"],
    "end_to_end": ["benchmarks/end_to_end.py", "10"],
    "certify": ["benchmarks/certify.py"],
    "search": ["benchmarks/search.py"],
    "ballots": ["benchmarks/ballots.py"],
    "voters": ["benchmarks/voters.py"],
    "scale": ["benchmarks/scale.py"],
    "quickstart": ["docs/try_quickstart.py"],
}

ON_FILES = ("reference", "triage_files")
"""Blocks that need folders of votes: of ensembles as .npz, of juries as .csv files."""


def output(command: list[str], folders: dict[str, Path | None]) -> str:
    """What the command prints, with one thread."""
    arguments = [
        str(folders[option]) if part == "FOLDER" else part for option, part in pairwise(["", *command])
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


def paste(name: str, text: str) -> str:
    """Write a new block of this name into the page that has one; return the page."""
    shown = " ".join(["OMP_NUM_THREADS=1 python", *COMMANDS[name]])
    block = f"<!-- {name} -->\n```text\n$ {shown}\n{text}\n```\n<!-- end -->"
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        page, found = re.subn(rf"<!-- {name} -->.*?<!-- end -->", lambda _: block, page, flags=re.DOTALL)
        if found:
            path.write_text(page, encoding="utf-8")
            return page
    raise SystemExit(f"No page has a block {name!r}.")


def read_table(page: str, name: str) -> list[tuple[str, float, float, float]]:
    """Title, plain, recipe and certificate of the ensembles in a block; juries are too many for a figure."""
    block = re.search(rf"<!-- {name} -->(.*?)<!-- end -->", page, re.DOTALL)
    assert block is not None
    line = re.compile(r"^(\w[\w ]*, .+?) {2,}\d+ +\d+ +\d+ +([\d.]+) +([\d.]+) +([\d.]+) ", re.MULTILINE)
    return [(title, *map(float, numbers)) for title, *numbers in line.findall(block[1])]


def draw(page: str) -> None:
    """Certificates of the generated ensembles, next to the recipe and to the plain vote."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    titles, plain, recipe, risks = zip(*read_table(page, "generated"), strict=True)
    figure, axes = plt.subplots(figsize=(6.4, 6), layout="constrained")
    places = range(len(titles))
    axes.plot(risks, places, "o", color="teal", markersize=5, label="certificate, vote learned")
    axes.plot(recipe, places, "|", color="black", markersize=9, label="recipe: stacker, tested on the rest")
    axes.plot(plain, places, "x", color="grey", markersize=5, label="plain vote, fixed in advance")
    axes.set_yticks(places, titles, fontsize=8)
    axes.invert_yaxis()
    axes.set(xlabel="error, delta = 0.05", xlim=(0, 0.5))
    axes.legend(loc="lower right", fontsize=8)
    figure.savefig(FIGURE, dpi=100)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the benchmarks and write their results into the pages.")
    parser.add_argument("names", nargs="*", help="which blocks; all by default")
    parser.add_argument("--votes", type=Path, help="folder of .npz files with the votes of ensembles")
    parser.add_argument("--juries", type=Path, help="folder of .csv files with the votes of juries")
    options = parser.parse_args()
    if unknown := set(options.names) - set(COMMANDS):
        parser.error(f"no such block: {', '.join(sorted(unknown))}; there are {', '.join(COMMANDS)}")
    folders = {"--votes": options.votes, "--juries": options.juries}
    for name in options.names or [name for name in COMMANDS if name not in ON_FILES or all(folders.values())]:
        if name in ON_FILES and not all(folders.values()):
            parser.error(f"the block {name!r} needs --votes FOLDER and --juries FOLDER")
        page = paste(name, output(COMMANDS[name], folders))
        if name == "generated":
            draw(page)


if __name__ == "__main__":
    main()

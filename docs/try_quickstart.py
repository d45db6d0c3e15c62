"""Follow the quickstart in a new environment, as a newcomer would, and print how long each step takes.

    python docs/try_quickstart.py

Makes a virtual environment in a temporary folder, installs the package with the command of the page, runs the
demo, all Python blocks of the page and a verification. Needs what ``pip install`` needs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "quickstart.md"


def main() -> None:
    program = "\n".join(
        re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    )
    with tempfile.TemporaryDirectory() as folder:
        binaries = Path(folder) / ".venv" / ("Scripts" if os.name == "nt" else "bin")
        python, votecert = str(binaries / "python"), str(binaries / "votecert")
        steps: list[tuple[str, Sequence[str]]] = [
            ("new environment", [sys.executable, "-m", "venv", ".venv"]),
            ("install", [python, "-m", "pip", "install", "--quiet", f"{ROOT}[cli]"]),
            ("votecert demo", [votecert, "demo"]),
            ("Python of the page", [python, "-W", "error", "-c", program]),
            ("votecert verify", [votecert, "verify", "certificate.json"]),
        ]
        total = 0.0
        for name, command in steps:
            start = time.perf_counter()
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            seconds = time.perf_counter() - start
            total += seconds
            sys.stdout.write(f"{name:20s} {seconds:6.0f} s\n")
        sys.stdout.write(f"{'all':20s} {total:6.0f} s\n")


if __name__ == "__main__":
    main()

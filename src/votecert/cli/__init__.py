"""The command line, ``votecert``. It needs the extra ``cli``: typer and rich."""

from __future__ import annotations

import importlib.util
import sys


def main() -> int:
    """Run the command line and return its exit code.

    0: done; 1: the certified risk is above ``--max-risk``; 2: wrong usage or bad input; 3: a certificate that
    does not verify; 130: interrupted.
    """
    missing = [name for name in ("typer", "rich") if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f"votecert: the command line needs {' and '.join(missing)}: pip install 'votecert[cli]'\n"
        )
        return 2
    try:
        from votecert.cli.app import run

        return run()
    except KeyboardInterrupt:  # before there was a command to interrupt
        return 130

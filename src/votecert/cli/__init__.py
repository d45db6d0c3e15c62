"""The command line, ``votecert``. It needs the extra ``cli``: typer and rich."""

from __future__ import annotations

import importlib.util
import os
import sys


def main() -> int:
    """Run the command line and return its exit code.

    0: done; 1: the certified risk is above ``--max-risk``; 2: wrong usage or bad input; 3: a certificate that
    does not verify; 70: a bug in votecert; 130: interrupted; 141: whoever read the output went away.
    """
    if sys.stderr is None:  # closed: nobody wants messages
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        return _refuse("standard output is closed: give the result somewhere to go, > FILE or > /dev/null.")
    missing = [name for name in ("typer", "rich") if importlib.util.find_spec(name) is None]
    if missing:
        install = f"python -m pip install {' '.join(missing)}"
        return _refuse(f"the command line needs {' and '.join(missing)}: {install}")
    try:
        from votecert.cli.app import run

        return run()
    except KeyboardInterrupt:  # before there was a command to interrupt
        return 130
    except BaseException as error:  # Python would leave with code 1, which means "too risky"
        return _refuse(f"it could not be started: {type(error).__name__}: {error}", 70)


def _refuse(text: str, code: int = 2) -> int:
    """Say what is wrong, without the packages that may be missing."""
    sys.stderr.write(f"votecert: {text}\n")
    return code

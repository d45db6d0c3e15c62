"""The works that the bounds come from, ``references.bib``: what :meth:`Certificate.cite` prints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files

BIBTEX: dict[str, str] = {
    entry[1]: entry[0].strip()
    for entry in re.finditer(
        r"^@\w+\{(\w+),.*?^\}$",
        files("votecert").joinpath("references.bib").read_text(encoding="utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )
}
"""The entries by their keys."""


def bibtex(keys: Iterable[str]) -> str:
    """The BibTeX entries of these works, each once, in the given order.

    Examples
    --------
    >>> print(bibtex(["clopper1934"]).splitlines()[0])
    @article{clopper1934,
    """
    return "\n\n".join(BIBTEX[key] for key in dict.fromkeys(keys))

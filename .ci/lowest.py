"""Print the lowest versions that pyproject.toml allows, as constraints for pip: the ends of its ranges.

Usage: python .ci/lowest.py EXTRA... > constraints.txt
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def requirements(listed: list[str]) -> Iterator[str]:
    """The requirements, with those of the project's own extras in their place."""
    for requirement in listed:
        own = re.fullmatch(rf"{PROJECT['name']}\[(.*)\]", requirement)
        if own is None:
            yield requirement
        else:
            for extra in own[1].split(","):
                yield from requirements(PROJECT["optional-dependencies"][extra])


def lowest(requirement: str) -> str:
    """The first version that a requirement allows."""
    found = re.fullmatch(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)(?:,<[\w.]+)?", requirement)
    if found is None:
        sys.exit(f"{requirement!r} has no lowest version: write it as name>=version.")
    return f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    chosen = [f"{PROJECT['name']}[{','.join(sys.argv[1:])}]"] if sys.argv[1:] else []
    print(*dict.fromkeys(map(lowest, requirements([*PROJECT["dependencies"], *chosen]))), sep="\n")

"""Rooms import what the table in CONTRIBUTING.md lets them, and no module imports itself in a circle."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "votecert"

FLUENT = {
    ("votecert.certificate.certificate", "votecert.report"),
    ("votecert.certificate.certificate", "votecert.report.notebook"),
    ("votecert.certificate.table", "votecert.report.notebook"),
    ("votecert.certificate.certificate", "votecert.certificate.json"),
    ("votecert.certificate.certificate", "votecert.certificate.verify"),
    ("votecert.monitoring.monitor", "votecert.monitoring.state"),
    ("votecert.monitoring.monitor", "votecert.report"),
    ("votecert.monitoring.monitor", "votecert.display.monitoring"),
}
"""Imports inside functions that point back: a certificate's or a monitor's own methods that write, check and show it."""

MOST_LINES = 450
"""Lines that a module may have, comments and docstrings included."""


def name_of(path: Path) -> str:
    parts = ("votecert", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, ast.Module]:
    return {name_of(path): ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}


def for_types(tree: ast.Module) -> set[ast.AST]:
    """What is imported for type checkers only."""
    blocks = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]
    return {inner for block in blocks for statement in block.body for inner in ast.walk(statement)}


@cache
def imports() -> dict[str, frozenset[str]]:
    """Modules of the package that each module imports, on top or inside functions."""
    found = {}
    for module, tree in modules().items():
        targets, skipped = set(), for_types(tree)
        for node in ast.walk(tree):
            if node in skipped:
                continue
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("votecert"):
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                targets |= (inner & modules().keys()) or {node.module}
            elif isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names if alias.name.startswith("votecert")}
        found[module] = frozenset(targets - {module})
    return found


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "votecert"


def table() -> dict[str, set[str]]:
    """Which rooms each room may import, as CONTRIBUTING.md says."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| [^|]* \|$", text, flags=re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", allowed)) for name, allowed in rows}


def test_rooms_import_what_the_table_says():
    allowed = table()
    assert {room(module) for module in modules()} <= allowed.keys()
    broken = [
        (module, target)
        for module, targets in imports().items()
        for target in targets
        if room(target) not in allowed[room(module)] | {room(module)} and (module, target) not in FLUENT
    ]
    assert not broken


def test_the_table_allows_nothing_that_is_not_needed():
    for name, allowed in table().items():
        used = {
            room(target)
            for module, targets in imports().items()
            if room(module) == name
            for target in targets
            if (module, target) not in FLUENT
        }
        assert allowed == used - {name}, name


def test_no_module_imports_itself_in_a_circle():
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for target in imports().get(module, ()):
                if (module, target) not in FLUENT and target != "votecert":
                    visit(target, (*path, module))
            done.add(module)

    for module in modules():
        visit(module, ())


def test_modules_are_small():
    long = {
        name_of(path): n
        for path in PACKAGE.rglob("*.py")
        if (n := len(path.read_text().splitlines())) > MOST_LINES
    }
    assert not long

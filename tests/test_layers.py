"""What CONTRIBUTING.md says of the code is true: who imports whom, the walk, and that its parts are small."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from functools import cache
from pathlib import Path

import pytest

import votecert as vc

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "votecert"

FLUENT = {
    ("votecert.certificate.certificate", "votecert.report"),
    ("votecert.certificate.certificate", "votecert.certificate.verify"),
    ("votecert.certificate.table", "votecert.report.notebook"),
    ("votecert.certificate.vote_record", "votecert.report"),
    ("votecert.monitoring.monitor", "votecert.monitoring.state"),
    ("votecert.monitoring.monitor", "votecert.report"),
    ("votecert.monitoring.monitor", "votecert.display.monitoring"),
}
"""Imports inside functions that point back: a certificate's, or monitor's, methods that write and show it."""

MOST_LINES, MOST_CODE, MOST_HOPS = 350, 60, 12
"""Lines that a module may have, lines of code that a function may have, and steps of the walk."""

MOST_IN_ALL = 17_800
"""Lines of code in all but for the paper's: what comes in has to be worth it, or something else goes."""


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


def size_of_code():
    script = ROOT / "benchmarks" / "size.py"
    if not script.exists():
        pytest.skip("only where the repository is")
    spec = importlib.util.spec_from_file_location("size_of_code", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_functions_are_small():
    functions = size_of_code().functions
    sizes = [
        (lines, name_of(path), name)
        for path in PACKAGE.rglob("*.py")
        for name, lines in functions(path.read_text())
    ]
    assert len(sizes) > 1000
    assert not [one for one in sizes if one[0] > MOST_CODE]


def test_the_library_does_not_just_grow():
    count = size_of_code().lines_in_use
    others = [path for path in PACKAGE.rglob("*.py") if PACKAGE / "paper" not in path.parents]
    assert sum(len(count(path.read_text())) for path in others) <= MOST_IN_ALL


def test_only_code_is_counted():
    size = size_of_code()
    body = '"""Doc."""\n\n    # why\n    x = """a\n    b"""\n    return x'
    text = f'def f():\n    {body}\n\n\nC = 1\n"""About C."""\n'
    assert dict(size.functions(text)) == {"f": 4}
    assert len(size.lines_in_use(text)) == 5


def test_the_walk_is_what_happens(tmp_path):
    """Each step of the walk is called, in its order, when votes are certified, verified and reported."""
    pytest.importorskip("jinja2")
    text = (ROOT / "CONTRIBUTING.md").read_text()
    walk = re.findall(r"^\d+\. `([\w/]+\.py)`, `([\w.]+)`", text, flags=re.MULTILINE)
    assert 8 <= len(walk) <= MOST_HOPS
    called: list[tuple[str, str]] = []

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            called.append((Path(code.co_filename).relative_to(PACKAGE).as_posix(), code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        certificate = vc.certify([[0, 1, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0]] * 10, [0, 1, 1, 0] * 10)
        certificate.verify()
        certificate.to_html(tmp_path / "report.html")
    finally:
        sys.setprofile(before)
    rest = iter(called)
    missing = [step for step in walk if step not in rest]
    assert not missing, "not called, or not in this order"

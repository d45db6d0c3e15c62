"""Lines of code a package, and what is longest. Blanks, comments and docstrings, of constants too, are none.

Usage: python benchmarks/size.py
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "votecert"

LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def lines_in_use(text: str) -> set[int]:
    """Lines that hold a token which is neither layout nor part of a docstring."""
    used = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in LAYOUT and token.string
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            used -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return used


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Each function with its lines of code, those of functions inside of it included."""
    used = lines_in_use(text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, len(used & set(range(node.lineno, (node.end_lineno or node.lineno) + 1)))


def main() -> None:
    sizes: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    longest: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        inner, text = path.relative_to(PACKAGE), path.read_text()
        sizes[inner.parts[0] if len(inner.parts) > 1 else "(top)"] += len(lines_in_use(text))
        modules[str(inner)] = len(text.splitlines())
        longest.update({f"{inner}, {name}": lines for name, lines in functions(text)})
    for name, lines in sizes.most_common():
        print(f"{name:<12} {lines:>6,}")
    print(f"{'in all':<12} {sizes.total():>6,}, without the paper {sizes.total() - sizes['paper']:,}")
    print("longest modules, everything included:", *modules.most_common(3))
    print("longest functions, code only:", *longest.most_common(3))


if __name__ == "__main__":
    main()

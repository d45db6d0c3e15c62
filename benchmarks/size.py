"""Lines of code a package: without blanks, comments and docstrings, those of constants included.

Usage: python benchmarks/size.py
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "votecert"

LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def code_lines(text: str) -> int:
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
    return len(used)


def main() -> None:
    sizes: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        inner = path.relative_to(PACKAGE).parts
        sizes[inner[0] if len(inner) > 1 else "(top)"] += code_lines(path.read_text())
    for name, lines in sizes.most_common():
        print(f"{name:<12} {lines:>6,}")
    print(f"{'in all':<12} {sizes.total():>6,}, without the paper {sizes.total() - sizes['paper']:,}")


if __name__ == "__main__":
    main()

"""Every script of the gallery runs by itself, says something and draws one picture."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

mpl = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    assert capsys.readouterr().out.strip()
    assert len(list(tmp_path.glob("*.png"))) == 1, "The gallery shows one picture a script."


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_title_and_text(script: Path) -> None:
    """The docstring is the title and the text of its section in the gallery."""
    title, empty, *text = (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").split("\n")
    assert title
    assert not empty
    assert text

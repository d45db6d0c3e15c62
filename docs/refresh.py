"""Write what is measured on pages anew: what their code prints, and the table and pictures of the front page.

    python docs/refresh.py [PAGE ...]

Without pages, all of them. The front page is ``README.md``, which the site shows as its home. Its table
sums up the block ``alternatives`` of ``docs/results.md``, which ``python docs/results.py alternatives``
measures. The picture of the report takes Chromium and playwright; without them it stays as it is.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

from votecert import bounds

ROOT = Path(__file__).resolve().parents[1]
README, RESULTS, IMAGES = ROOT / "README.md", ROOT / "docs" / "results.md", ROOT / "docs" / "images"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(votecert .*)\n((?:  # .*\n)*)", re.MULTILINE)
METHODS = {
    "stacking, half held out, Clopper-Pearson": "hold-out test set: half of the rows, Clopper-Pearson",
    "stacking, Clopper-Pearson on the same rows": "stacking recipe: Clopper-Pearson on the same rows",
    "stacking, cross-validation": "cross-validation: ten folds, t interval",
    "stacking, standard error": "asymptotic standard error on the same rows",
    "plain vote, standard error": "asymptotic standard error of the plain vote",
    "votecert, learned weights": "**votecert**, learned weights",
}
"""What people do, and how the front page calls it."""


def run_page(page: Path) -> tuple[str, dict[str, Any]]:
    """The page with what its blocks print, and the names its code has made. Commands run on the first."""
    from typer.testing import CliRunner

    from votecert.cli.app import app

    names: dict[str, Any] = {"__name__": "page"}
    printed = ""

    def answered(found: re.Match[str]) -> str:
        command, _ = found.groups()
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        assert done.exit_code == 0, f"{command}: {done.output}"
        return command + "\n" + "".join(f"  # {line.strip()}\n" for line in done.stdout.splitlines())

    def carried_out(found: re.Match[str]) -> str:
        nonlocal printed
        language, block = found.groups()
        if language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(block, page.name, "exec"), names)
            printed = output.getvalue()
        elif language == "text" and not block.startswith("$ "):
            block = printed
        elif page == README and block.startswith("votecert "):
            block = COMMAND.sub(answered, block)
        return f"```{language}\n{block}```"

    return BLOCK.sub(carried_out, page.read_text(encoding="utf-8")), names


def table() -> str:
    """The alternatives in one line each: the worst of the populations, and means over them."""
    block = re.search(
        r"<!-- alternatives -->(.*?)<!-- end -->", RESULTS.read_text(encoding="utf-8"), re.DOTALL
    )
    assert block is not None
    limits, decisions = defaultdict(list), defaultdict(list)
    for line in block[1].splitlines():
        for method in METHODS:
            if f"  {method}  " in line:
                before, after = line.split(method)
                cells = [before.split()[-1], *after.split()]
                limits[method].append([float(cell.rstrip("%")) for cell in cells])
        if found := re.search(r"(conformal risk control|votecert triage)\s+([\d.]+)%\s+([\d.]+)%", line):
            decisions[found[1]].append((float(found[2]), float(found[3])))
    lines = [
        "| limit by | wrong, at worst | limit, mean | true error, mean | rows for the test only |",
        "|---|---|---|---|---|",
    ]
    for method, title in METHODS.items():
        rows, wrong, limit, truth, lost = zip(*limits[method], strict=True)
        spent = f"{sum(lost) / len(lost):.0f} of {sum(rows) / len(rows):.0f}"
        means = (f"{100 * sum(one) / len(one):.1f} %" for one in (limit, truth))
        lines.append(f"| {title} | {max(wrong):.3g} % | {' | '.join(means)} | {spent} |")
    lines += [
        "",
        "| cases that a vote decides alone | more wrong than allowed, at worst | decided alone, on average |",
    ]
    lines.append("|---|---|---|")
    for method, found in decisions.items():
        above, answered = zip(*found, strict=True)
        title = "**votecert**, triage" if "votecert" in method else method
        lines.append(f"| {title} | {max(above):.3g} % | {sum(answered) / len(answered):.3g} % |")
    return "\n".join(lines)


def draw(names: dict[str, Any]) -> None:
    """The pictures of the second and third job."""
    import matplotlib as mpl
    from matplotlib import pyplot

    import votecert as vc

    mpl.use("Agg")
    monitor = vc.Monitor(names["certificate"])
    for start in range(800, len(names["y"]), 40):
        rows = slice(start, start + 40)
        monitor.update(names["votes"][rows], names["y"][rows], when="")
    for name, display in (
        ("decide", vc.TriageDisplay.from_triage(names["decided"])),
        ("watch", vc.MonitorDisplay.from_monitor(monitor)),
    ):
        figure, axes = pyplot.subplots(figsize=(6.4, 3.4), layout="constrained")
        display.plot(axes)
        figure.savefig(IMAGES / f"{name}.png", dpi=110)


def photograph() -> None:
    """The report of the demo, as a browser shows it."""
    from typer.testing import CliRunner

    from votecert.cli.app import app

    assert CliRunner().invoke(app, ["demo", "--quiet"]).exit_code == 0
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        return
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 720, "height": 600}, device_scale_factor=2)
        tab.goto(Path("votecert-report.html").resolve().as_uri())
        tab.screenshot(path=str(IMAGES / "report.png"))
        browser.close()


def write_table() -> None:
    """Put the table of alternatives on the front page."""
    block = f"<!-- alternatives -->\n{table()}\n<!-- end -->"
    text = README.read_text(encoding="utf-8")
    text = re.sub(r"<!-- alternatives -->.*?<!-- end -->", lambda _: block, text, flags=re.DOTALL)
    README.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path)
    pages = [page.resolve() for page in parser.parse_args().pages] or [
        README,
        *sorted(ROOT.glob("docs/**/*.md")),
    ]
    if README in pages:
        write_table()
    for page in pages:
        if "```python" not in page.read_text(encoding="utf-8"):
            continue
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.chdir(folder),
            patch.dict(bounds._REGISTERED),
        ):
            text, names = run_page(page)
            if page == README:
                draw(names)
                photograph()
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

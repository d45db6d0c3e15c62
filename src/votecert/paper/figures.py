"""The paper's figures, with the corrected bounds and the library's certificates beside the printed ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from votecert.paper.catalogue import CATALOGUE
from votecert.paper.cells import OBJECTIVES, PUBLISHED
from votecert.paper.plots import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    RED,
    SKY,
    YELLOW,
    Series,
    bars,
    canvas,
    legend,
    save,
)
from votecert.paper.summary import TITLES, Mean, Results, own_bound

LIMIT = "test-set limit of these weights"

PRINTED = Series("printed theorem, exact arithmetic (no guarantee)", ORANGE, hatched=True)
CORRECTED = Series("corrected theorem", RED)
DIRICHLET = Series("dirichlet, same weights", BLUE)
OCCAM = Series("occam, its own weights", PINK)
TEST = Series("test error", GREEN)

MARGIN_SERIES = (
    (Series("GZ (no guarantee)", GREY, hatched=True), "gz"),
    (Series("BG+", SKY), "bg+"),
    (PRINTED, "printed"),
    (CORRECTED, "corrected"),
    (DIRICHLET, "dirichlet"),
)
PAC_BAYES_SERIES = (
    (Series("bound of the objective", SKY), "objective"),
    (PRINTED, "printed"),
    (CORRECTED, "corrected"),
    (DIRICHLET, "dirichlet"),
)
Panel = tuple[str, dict[str, str]]


def draw_all(results: Results, folder: Path) -> list[Path]:
    """Draw every figure for which there are results."""
    written = []
    for draw in (draw_margins, draw_pac_bayes, draw_optimisation, draw_stumps, draw_comparison):
        written += draw(results, folder)
    return written


def draw_margins(results: Results, folder: Path) -> list[Path]:
    """Margin bounds at FO and f2 weights, forests above, stumps below; on one scale and a scale each."""
    kinds = [voters for voters in ("rf", "stumps") if results.data_sets(voters, binary=True)]
    panels = [
        (f"{voters}, {TITLES[objective]} weights", {"voters": voters, "objective": objective})
        for voters in kinds
        for objective in ("fo", "f2")
    ]
    return _both_scales(results, folder, "margins", panels, MARGIN_SERIES, binary=True)


def draw_pac_bayes(results: Results, folder: Path) -> list[Path]:
    """The bound of the objective against the paper's, for forests; on one scale and a scale each."""
    panels = [
        (f"rf, {TITLES[objective]} weights", {"voters": "rf", "objective": objective})
        for objective in ("fo", "so", "bin", "f2")
    ]
    return _both_scales(results, folder, "pac-bayes", panels, PAC_BAYES_SERIES, binary=False)


def _both_scales(
    results: Results,
    folder: Path,
    name: str,
    panels: Sequence[Panel],
    columns: Sequence[tuple[Series, str]],
    *,
    binary: bool,
) -> list[Path]:
    names = results.data_sets("rf", binary=binary) or results.data_sets("stumps", binary=binary)
    if not names:
        return []
    series = [one for one, _ in columns] + [OCCAM, TEST]

    def values(which: dict[str, str], data: Sequence[str]) -> tuple[list[list[Mean]], list[Mean]]:
        """Means by series and data set, and the limits."""
        made = [[results.risk(bound, data=one, **which) for one in data] for _, bound in columns]
        made.append([results.risk("occam", data=one, **(which | {"objective": "occam"})) for one in data])
        made.append([results.test_error(data=one, **which) for one in data])
        return made, [results.risk("test-set", data=one, **which) for one in data]

    written = []
    with canvas(math.ceil(len(panels) / 2), 2, 11, 2.6 * math.ceil(len(panels) / 2) + 0.7) as (figure, grid):
        for axes, (title, which) in zip(grid.flat, panels, strict=True):
            made, limits = values(which, names)
            bars(axes, [CATALOGUE[one].title for one in names], series, made, limits, top=1.02)
            axes.set_title(title, loc="left")
        legend(figure, grid.flat[0], LIMIT)
        written += save(figure, folder, name)
    with canvas(len(names), len(panels), 11, 1.55 * len(names) + 0.7) as (figure, grid):
        for place, (row, data) in enumerate(zip(grid, names, strict=True)):
            for axes, (title, which) in zip(row, panels, strict=True):
                made, limits = values(which, [data])
                bars(axes, [""], series, made, limits)
                axes.set_title("" if place else title, loc="left")
            row[0].set_ylabel(CATALOGUE[data].title)
        legend(figure, grid.flat[0], LIMIT)
        written += save(figure, folder, f"{name}-rescaled")
    return written


def draw_optimisation(results: Results, folder: Path) -> list[Path]:
    """Bound and test error of every objective with forests; on one scale and a scale each."""
    names = results.data_sets("rf")
    scale = _objectives(results, folder, "optimisation", names, "rf", top=1.02)
    return scale + _objectives(results, folder, "optimisation-rescaled", names, "rf", top=None)


def draw_stumps(results: Results, folder: Path) -> list[Path]:
    """Bound and test error of every objective with stumps, a scale each."""
    names = results.data_sets("stumps", binary=True)
    return _objectives(results, folder, "stumps-rescaled", names, "stumps", top=None)


def _objectives(
    results: Results, folder: Path, name: str, names: Sequence[str], voters: str, top: float | None
) -> list[Path]:
    if not names:
        return []
    objectives = OBJECTIVES["optimisation" if voters == "rf" else "stumps"][
        "rf" if voters == "rf" else "stumps"
    ]
    series = [Series("bound of the objective", SKY), TEST]
    n_rows = math.ceil(len(names) / 3)
    with canvas(n_rows, 3, 11, 2.5 * n_rows + 0.7) as (figure, grid):
        for axes in grid.flat[len(names) :]:
            axes.set_visible(False)
        for axes, data in zip(grid.flat, names, strict=False):
            made, limits = _by_objective(results, objectives, data, voters)
            bars(axes, [TITLES[one].replace(" (", "\n(") for one in objectives], series, made, limits, top)
            _mark_printed(axes, list(objectives))
            axes.set_title(f"{CATALOGUE[data].title}, {voters}", loc="left")
            axes.tick_params(axis="x", labelrotation=90)
        legend(
            figure, grid.flat[0], LIMIT, Series("theorem 2, as printed (no guarantee)", ORANGE, hatched=True)
        )
        return save(figure, folder, name)


def _by_objective(
    results: Results, objectives: Sequence[str], data: str, voters: str
) -> tuple[list[list[Mean]], list[Mean]]:
    def each(ask: Callable[..., Mean]) -> list[Mean]:
        return [ask(data=data, voters=voters, objective=objective) for objective in objectives]

    bounds = [
        results.risk(own_bound(objective), data=data, voters=voters, objective=objective)
        for objective in objectives
    ]
    return [bounds, each(results.test_error)], each(lambda **which: results.risk("test-set", **which))


def _mark_printed(axes: Any, objectives: Sequence[str]) -> None:
    """Hatch the bar of the objective that is no guarantee, as in the other figures."""
    for place, objective in enumerate(objectives):
        if objective.startswith(PUBLISHED):
            for patch in axes.patches:
                middle = patch.get_x() + patch.get_width() / 2
                if place - 0.5 < middle < place:
                    patch.set(facecolor=ORANGE, hatch="/////", edgecolor="white")


COMPARED = (
    ("bg", "BG", GREY, ":"),
    ("gz", "GZ", YELLOW, "-"),
    ("bg+", "BG+", SKY, "-"),
    ("bg++ {}", "BG++ (corrected)", PINK, "-"),
    ("dirichlet-margin-published {}", "printed theorem (no guarantee)", ORANGE, "--"),
    ("dirichlet-margin {}", "corrected theorem", RED, "-"),
    ("dirichlet {}", "dirichlet", BLUE, "-"),
)


def draw_comparison(results: Results, folder: Path) -> list[Path]:
    """Margin bounds as functions of the margin, at a fixed margin error; a line for each weight vector."""
    panels = [record for key, record in sorted(results.records.items()) if key.startswith("comparison/")]
    panels.sort(key=lambda record: (record["rows"], record["margin_error"]))
    if not panels:
        return []
    with canvas(1, len(panels), 11, 3.6) as (figure, grid):
        for axes, record in zip(grid.flat, panels, strict=True):
            _curves(axes, record)
        grid.flat[0].set_ylabel("bound")
        legend(figure, grid.flat[0])
        return save(figure, folder, "comparison")


def _curves(axes: Any, record: dict[str, Any]) -> None:
    for pattern, title, colour, line in COMPARED:
        names = dict.fromkeys(pattern.format(number) for number in (1, 2, 3))
        for name in names:
            label = title if name == next(iter(names)) else None
            axes.plot(
                record["margins"], record["series"][name], line, color=colour, label=label, linewidth=1.3
            )
    axes.axhline(record["margin_error"], color=GREEN, linewidth=2, label="margin error")
    axes.axhline(record["limit"], color=BLACK, linewidth=0.9, label="test-set limit")
    axes.set_title(f"m = {record['rows']}, margin error {record['margin_error']:g}", loc="left")
    axes.set_xlabel("margin")
    axes.set_ylim(-0.02, 1.03)

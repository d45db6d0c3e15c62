"""Drawing: grouped bars with error bars, in colours that all eyes can tell apart."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from votecert.paper.summary import Mean
from votecert.rows.files.atomic import write_atomically

# The palette of Okabe and Ito.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK = (
    *("#000000", "#E69F00", "#56B4E9", "#009E73"),
    *("#F0E442", "#0072B2", "#D55E00", "#CC79A7"),
)
GREY = "#8c8c8c"

STYLE: Any = {
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "votecert",
    "svg.fonttype": "none",
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True)
class Series:
    """One bar of every group; those that are no guarantee are hatched."""

    title: str
    colour: str
    hatched: bool = False


@contextmanager
def canvas(rows: int, columns: int, width: float, height: float) -> Iterator[tuple[Any, Any]]:
    """A figure with a grid of axes, drawn without a display."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        yield figure, figure.subplots(rows, columns, squeeze=False)


def bars(
    axes: Any,
    groups: Sequence[str],
    series: Sequence[Series],
    values: Sequence[Sequence[Mean]],
    limits: Sequence[Mean | None] | None = None,
    top: float | None = None,
) -> None:
    """Groups of bars: ``values[s][g]`` is the bar of series s in group g; limits are lines across a group."""
    width = 0.84 / len(series)
    for place, (one, means) in enumerate(zip(series, values, strict=True)):
        shift = (place - (len(series) - 1) / 2) * width
        at = [position + shift for position, mean in enumerate(means) if mean.count]
        heights = [mean.value for mean in means if mean.count]
        spreads = [mean.spread for mean in means if mean.count]
        style: dict[str, Any] = {"color": one.colour, "label": one.title, "linewidth": 0}
        if one.hatched:
            style |= {"hatch": "/////", "edgecolor": "white"}
        axes.bar(at, heights, width * 0.92, **style)
        axes.errorbar(at, heights, spreads, fmt="none", ecolor="#333333", elinewidth=0.7, capsize=1.2)
    for position, limit in enumerate(limits or []):
        if limit is not None and limit.count:
            axes.hlines(limit.value, position - 0.45, position + 0.45, color=BLACK, linewidth=1.2, zorder=5)
    axes.set_xticks(range(len(groups)), groups)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.6, len(groups) - 0.4)
    if not any(mean.count for means in values for mean in means):
        axes.text(0.5, 0.5, "not run", ha="center", va="center", color=GREY, transform=axes.transAxes)
        axes.set_yticks([])
    axes.set_ylim(0, top)


def legend(figure: Any, axes: Any, limit: str | None = None, extra: Series | None = None) -> None:
    """One legend above all panels, with the line of the limits and one more kind of bar if asked for."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles, titles = axes.get_legend_handles_labels()
    if extra is not None:
        hatch = "/////" if extra.hatched else None
        handles.append(Patch(facecolor=extra.colour, hatch=hatch, edgecolor="white", linewidth=0))
        titles.append(extra.title)
    if limit is not None:
        handles.append(Line2D([], [], color=BLACK, linewidth=1.2))
        titles.append(limit)
    figure.legend(handles, titles, loc="outside upper center", ncols=min(len(titles), 5))


def save(figure: Any, folder: Path, name: str) -> list[Path]:
    """Write the figure as svg and png."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind, options in (("svg", {"metadata": {"Date": None}}), ("png", {"dpi": 130})):
        content = io.BytesIO()
        figure.savefig(content, format=kind, **options)
        path = folder / f"{name}.{kind}"
        write_atomically(path, content.getvalue())
        written.append(path)
    return written

"""Series in, panels in one style out, as PNG and SVG. The one module that imports matplotlib, and late.

Figures are optional: a function that draws is marked `optional_figure` and does nothing without matplotlib,
so it computes nothing that a report needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from codenib.evals.metrics.bootstrap import Estimate
from codenib.evals.metrics.frontier import frontier

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Given = ParamSpec("_Given")
# Okabe and Ito's colours, which people who see fewer colours can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B6B6B", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_STYLE = {
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "svg.hashsalt": "codenib",  # same figure, same bytes
    "svg.fonttype": "none",
}


@dataclass
class Canvas:
    """A row of panels; `save` names them (a), (b), (c) and writes both formats."""

    figure: Figure
    panels: list[Axes]

    def save(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if len(self.panels) > 1:
            for letter, panel in zip("abcdefgh", self.panels, strict=False):
                panel.set_title(f"({letter}) {panel.get_title(loc='left')}", loc="left")
        self.figure.savefig(folder / f"{name}.png", dpi=160)
        self.figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        self.figure.clear()

    def legend(self, panel: int = 0, columns: int = 8) -> None:
        """One legend for all panels, below them, where it hides nothing."""
        handles, names = self.panels[panel].get_legend_handles_labels()
        self.figure.legend(handles, names, loc="outside lower center", ncols=min(columns, len(names)))


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def optional_figure(draw: Callable[_Given, None]) -> Callable[_Given, None]:
    """Mark a function that only draws: it is left out where there is no matplotlib."""

    @wraps(draw)
    def draw_if_possible(*args: _Given.args, **kwargs: _Given.kwargs) -> None:
        if can_draw():
            draw(*args, **kwargs)

    return draw_if_possible


def canvas(panels: int = 1, *, width: float = 3.6, height: float = 2.9, share_y: bool = False) -> Canvas:
    """Empty panels side by side."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    rcParams.update(_STYLE)  # type: ignore[arg-type]
    figure = Figure(figsize=(width * panels, height), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False, sharey=share_y)
    return Canvas(figure, list(axes[0]))


def operating_points(
    axes: Any, points: Mapping[str, tuple[float, float]], styles: Mapping[str, int], *, log: bool = True
) -> None:
    """Cost against quality, with the non-dominated points joined by a dotted line."""
    for name, (cost, quality) in points.items():
        number = styles[name]
        axes.plot(
            cost, quality, MARKERS[number % 8], color=COLOURS[number % 8], markersize=7, label=name, zorder=3
        )
    best = [points[name] for name in frontier(points)]
    axes.plot(*zip(*best, strict=True), ":", color="#6B6B6B", linewidth=1.2, zorder=2)
    if log:
        axes.set_xscale("log")
        plain_ticks(axes)
    axes.margins(0.12, 0.16)


def plain_ticks(axes: Any) -> None:
    """`10`, `20` and `50` instead of powers, on a logarithmic axis of times."""
    from matplotlib.ticker import LogLocator

    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
    axes.xaxis.set_minor_formatter("{x:g}")


def forest(
    axes: Any,
    rows: Mapping[str, Estimate],
    *,
    zero: float | None = 0.0,
    margin: float | None = None,
    colours: Sequence[str] = (),
) -> None:
    """A point and its interval per row, the first on top."""
    names = list(rows)
    for at, name in enumerate(names):
        each, height = rows[name], len(names) - 1 - at
        colour = colours[at] if colours else COLOURS[0]
        axes.plot([each.low, each.high], [height, height], color=colour, linewidth=1.6)
        axes.plot(each.value, height, "o", color=colour, markersize=5)
    axes.set_yticks(range(len(names) - 1, -1, -1), names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    if zero is not None:
        axes.axvline(zero, color="#6B6B6B", linewidth=0.9)
    if margin is not None:
        axes.axvline(margin, color="#D55E00", linewidth=0.9, linestyle="--")


def grouped_bars(
    axes: Any, groups: Sequence[str], series: Mapping[str, Sequence[float]], *, labels: bool = True
) -> None:
    """A bar per series in each group, with its value above when asked."""
    width = 0.84 / max(len(series), 1)
    for number, (name, values) in enumerate(series.items()):
        places = [at - 0.42 + width * (number + 0.5) for at in range(len(groups))]
        bars = axes.bar(places, values, width * 0.94, color=COLOURS[number % 8], label=name)
        if labels and len(series) * len(groups) <= 24:
            texts = [f"{value:.2f}".lstrip("0") for value in values]
            axes.bar_label(bars, labels=texts, fontsize=6, padding=1)
    axes.set_xticks(range(len(groups)), groups)
    axes.grid(axis="x", visible=False)


def cumulative(axes: Any, series: Mapping[str, Sequence[float]]) -> None:
    """The share of observations up to each value, a curve per series, with its median marked."""
    for number, (name, values) in enumerate(series.items()):
        ordered = sorted(values)
        shares = [(at + 1) / len(ordered) for at in range(len(ordered))]
        axes.step(ordered, shares, where="post", color=COLOURS[number % 8], label=name)
        middle = ordered[len(ordered) // 2]
        axes.plot(middle, 0.5, MARKERS[number % 8], color=COLOURS[number % 8], markersize=5)
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("share")
    plain_ticks(axes)


def pairs(axes: Any, rows: Mapping[str, Sequence[tuple[float, float]]], ends: tuple[str, str]) -> None:
    """Two values per observation joined by a faint line, the medians large: a row per group."""
    names = list(rows)
    for at, name in enumerate(names):
        height = len(names) - 1 - at
        for left, right in rows[name]:
            axes.plot([left, right], [height, height], "-", color="#C8C8C8", linewidth=0.5, zorder=1)
            axes.plot([left, right], [height, height], ".", color="#B0B0B0", markersize=3, zorder=1)
        for number in (0, 1):
            middle = sorted(each[number] for each in rows[name])[len(rows[name]) // 2]
            label = ends[number] if at == 0 else None
            axes.plot(
                middle, height, MARKERS[number], color=COLOURS[number], markersize=7, label=label, zorder=3
            )
    axes.set_yticks(range(len(names) - 1, -1, -1), names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xscale("log")


def strip(axes: Any, rows: Mapping[str, Sequence[tuple[float, bool]]]) -> None:
    """Ratios as dots, filled where the outputs are equal; quartiles and median of the filled ones."""
    names = list(rows)
    for at, name in enumerate(names):
        height, colour = len(names) - 1 - at, COLOURS[at % 8]
        for number, (value, exact) in enumerate(sorted(rows[name])):
            shifted = height + 0.16 * ((number % 5) - 2) / 2
            face = colour if exact else "white"
            axes.plot(value, shifted, "o", color=colour, markerfacecolor=face, markersize=4.5, alpha=0.75)
        same = sorted(value for value, exact in rows[name] if exact)
        if same:
            low, middle, high = (same[min(len(same) * each // 4, len(same) - 1)] for each in (1, 2, 3))
            axes.plot([low, high], [height - 0.3] * 2, color=colour, linewidth=2.2)
            axes.plot(middle, height - 0.3, "|", color=colour, markersize=11, markeredgewidth=2)
    axes.set_yticks(range(len(names) - 1, -1, -1), names)
    axes.set_ylim(-0.7, len(names) - 0.4)
    axes.set_xscale("log")
    axes.axvline(1.0, color="#6B6B6B", linewidth=0.9)


def banded_lines(
    axes: Any, at: Sequence[float], series: Mapping[str, Sequence[Estimate]], *, marked: float | None = None
) -> None:
    """Estimates joined as guides with their intervals as bands; the measured scale is filled."""
    for number, (name, values) in enumerate(series.items()):
        colour = COLOURS[number]
        axes.fill_between(at, [v.low for v in values], [v.high for v in values], color=colour, alpha=0.15)
        axes.plot(at, [v.value for v in values], "-", color=colour, linewidth=1.2)
        for place, value in zip(at, values, strict=True):
            face = colour if place == marked else "white"
            label = name if place == at[0] else None
            axes.plot(place, value.value, MARKERS[number], color=colour, markerfacecolor=face, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(list(at), [f"{each:g}" for each in at])
    axes.minorticks_off()


def fitted_points(
    axes: Any,
    series: Mapping[str, Sequence[tuple[float, float]]],
    fits: Mapping[str, tuple[float, float]],
) -> None:
    """Points with a straight line (slope and value at zero) through each series that has one."""
    for number, (name, points) in enumerate(series.items()):
        x, y = zip(*points, strict=True)
        axes.plot(x, y, MARKERS[number % 8], color=COLOURS[number % 8], markersize=4.5, label=name, alpha=0.8)
        if name in fits:
            slope, start = fits[name]
            ends = (min(x), max(x))
            axes.plot(ends, [start + slope * each for each in ends], color=COLOURS[number % 8], linewidth=1)


def lines(axes: Any, series: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Points joined in order, a colour and marker per series."""
    for number, (name, points) in enumerate(series.items()):
        axes.plot(
            *zip(*points, strict=True), marker=MARKERS[number % 8], color=COLOURS[number % 8], label=name,
            markersize=5, linewidth=1.2,
        )  # fmt: skip

"""Bandwidth by size, one line for each scenario: an SVG or PNG by Matplotlib (extra ``plot``).

Each scenario is drawn in its non-blocking mode, or in the mode with more cells.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from gradtool.measure.units import size_text
from gradtool.results.transfer import Cell, TransferReport

TITLES = {"h2d": "host to device", "d2h": "device to host"}

_MARKERS = "osD^vPX*<>hp"

MISSING = "--plot needs Matplotlib, which is not installed: install gradtool[plot]"


class PlotError(Exception):
    """Nothing can be drawn; the text is one line for the user."""


def require_matplotlib() -> None:
    """Require Matplotlib.

    Raises:
        PlotError: It is not installed.
    """
    import importlib.util

    if importlib.util.find_spec("matplotlib") is None:
        raise PlotError(MISSING)


def render(report: TransferReport, form: str) -> bytes:
    """The plot as ``svg`` or ``png``.

    Raises:
        PlotError: Matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 5.6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(TITLES), sharey=True)
    styles = _styles(report)
    for axes, direction in zip(panels, TITLES, strict=True):
        _draw(axes, report, direction, styles)
    panels[0].set_ylabel("GB/s, by the time to completion")
    figure.suptitle(_title(report), fontsize=11)
    handles = {
        label: line
        for axes in panels
        for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if handles:
        fastest = _fastest_first(report, list(handles))
        found = [handles[label] for label in fastest]
        figure.legend(found, fastest, loc="outside right center", frameon=False)
    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "gradtool", "svg.fonttype": "none"}):
        metadata = {"Date": None} if form == "svg" else None
        figure.savefig(file, format=form, dpi=130, metadata=metadata)
    return file.getvalue()


def _fastest_first(report: TransferReport, labels: list[str]) -> list[str]:
    """Labels in the order in which their lines end on the right."""
    ends: dict[str, float] = {}
    for direction in TITLES:
        for cells in _lines(report, direction):
            ends.setdefault(cells[-1].label, cells[-1].gbps or 0.0)
    return sorted(labels, key=lambda label: -ends.get(label, float("inf")))


def _title(report: TransferReport) -> str:
    lead = "SIMULATED, no device was measured\n" if report.simulated else ""
    return f"{lead}{report.header.device}: copies of one buffer, median and p25-p75"


def _styles(report: TransferReport) -> dict[str, dict[str, Any]]:
    """Colour, marker and line style of each scenario, the same in every panel."""
    names = dict.fromkeys(
        cells[0].scenario for direction in TITLES for cells in _lines(report, direction)
    )
    return {
        name: {
            "color": f"C{place % 10}",
            "marker": _MARKERS[place % len(_MARKERS)],
            "linestyle": "-" if place < 10 else "--",
        }
        for place, name in enumerate(names)
    }


def _draw(
    axes: Any, report: TransferReport, direction: str, styles: dict[str, dict[str, Any]]
) -> None:
    from matplotlib.ticker import LogLocator

    sizes: set[int] = set()
    for cells in _lines(report, direction):
        sizes.update(cell.total for cell in cells)
        _line(axes, cells, styles[cells[0].scenario])
    if report.link.gbps is not None:
        axes.axhline(report.link.gbps, color="0.4", linestyle=":", label="link, raw")
    axes.set_title(TITLES[direction], fontsize=10)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sorted(sizes), [size_text(size) for size in sorted(sizes)])
    axes.tick_params(axis="x", labelrotation=35)
    for text in axes.get_xticklabels():
        text.set(ha="right", rotation_mode="anchor")
    axes.minorticks_off()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=20))
    axes.yaxis.set_major_formatter(lambda value, _place: f"{value:g}")
    axes.set_xlabel("size of the buffer")
    axes.grid(visible=True, color="0.9")
    if not sizes:
        axes.text(0.5, 0.5, "nothing measured", transform=axes.transAxes, ha="center")


def _line(axes: Any, cells: list[Cell], style: dict[str, Any]) -> None:
    sizes = [cell.total for cell in cells]
    quartiles = [
        (cell.moved / cell.done.p75 / 1e9, cell.moved / cell.done.p25 / 1e9)
        for cell in cells
        if cell.done
    ]
    axes.plot(sizes, [cell.gbps for cell in cells], label=cells[0].label, markersize=5, **style)
    low, high = zip(*quartiles, strict=True)
    axes.fill_between(sizes, low, high, color=style["color"], alpha=0.12, linewidth=0)


def _lines(report: TransferReport, direction: str) -> Iterator[list[Cell]]:
    """The cells of each scenario, by size."""
    single = [
        cell
        for cell in report.cells
        if cell.direction == direction and cell.tensors == 1 and not cell.row and cell.gbps
        and cell.done
    ]  # fmt: skip
    for name in dict.fromkeys(cell.scenario for cell in single):
        of_name = [cell for cell in single if cell.scenario == name]
        free = [cell for cell in of_name if cell.mode == "non_blocking"]
        waiting = [cell for cell in of_name if cell.mode == "blocking"]
        yield sorted(free if len(free) >= len(waiting) else waiting, key=lambda cell: cell.total)

"""``gradtool profile-transfer``: measure copies between host memory and a device."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from gradtool.cli.exit_codes import ExitCode, interrupted
from gradtool.cli.options.choices import choose, split
from gradtool.cli.options.declared import COLORS, Color, quiet_option

if TYPE_CHECKING:
    from gradtool.cli.output.reports import OutputRequest
    from gradtool.results.transfer import TransferReport
    from gradtool.transfer.plan.options import TransferOptions

_Device = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICE", help="Device: cpu, cuda or cuda:N; CUDA by default if available."
    ),
]
_Listing = Annotated[
    bool,
    typer.Option(
        "--list", help="List the scenarios, or those of --scenario, without measuring them."
    ),
]
_Sizes = Annotated[
    list[str] | None,
    typer.Option(
        "--size",
        metavar="SIZES",
        help="Sizes to copy, such as 64KiB,1MiB. Skips the default measurement of "
        "1000 copies of 4 kB each.",
    ),
]
_Directions = Annotated[
    list[str] | None,
    typer.Option(
        "--direction", metavar="DIRECTIONS", help="Directions to measure: h2d, d2h, d2d or duplex."
    ),
]
_Scenarios = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario",
        metavar="PATTERNS",
        help="Scenarios to measure; shell wildcards work, as in 'pinned*'.",
    ),
]
_Quiet = Annotated[int, quiet_option(help="Leave out the progress, the header and the tables.")]
_Budget = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0.1, help="Total measuring time; 60 by default."),
]
_Config = Annotated[
    str | None, typer.Option(metavar="FILE", help="YAML file that selects what to measure.")
]
_Like = Annotated[
    str | None,
    typer.Option(
        metavar="FILE::NAME",
        help="Measure every way to send the batches of this iterable, such as loader.py::batches.",
    ),
]
_Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="FORMAT=PATH",
        help="Also write a report: json, csv, markdown, html or text. Repeatable.",
    ),
]
_Plot = Annotated[
    str | None, typer.Option(metavar="PATH", help="Plot bandwidth against size to this .svg file.")
]
_Compare = Annotated[
    str | None, typer.Option(metavar="JSON", help="Compare with an earlier JSON report.")
]
_MaxRegression = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE", help="Slowdown that fails the run, with --compare; 10% by default."
    ),
]
_Requirements = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="THRESHOLD",
        help="Fail unless this condition holds, such as 'pinned.h2d.gbps >= 0.8*link'. Repeatable.",
    ),
]


def profile_transfer(
    context: typer.Context,
    device: _Device = None,
    listing: _Listing = False,
    sizes: _Sizes = None,
    directions: _Directions = None,
    scenarios: _Scenarios = None,
    budget: _Budget = None,
    config: _Config = None,
    like: _Like = None,
    reports: _Reports = None,
    plot: _Plot = None,
    compare: _Compare = None,
    max_regression: _MaxRegression = None,
    requirements: _Requirements = None,
    quiet: _Quiet = 0,
    color: Color = "auto",
) -> Callable[[], ExitCode]:
    """Measure copies between host and device memory."""
    from gradtool.errors import UsageError

    choose(color, COLORS, "value of --color:")
    if max_regression is not None and compare is None:
        raise UsageError("--max-regression needs --compare: name an earlier JSON report")
    if listing:
        return partial(_list, split(scenarios) if scenarios else [])
    flags = {
        "device": device,
        "sizes": split(sizes) if sizes else None,
        "directions": split(directions) if directions else None,
        "scenarios": split(scenarios) if scenarios else None,
        "budget": budget,
        "command": cast("str", context.obj),
        "like": like,
    }
    required = (compare, max_regression or "10%", tuple(requirements or ()))
    return partial(_profile, flags, config, required, tuple(reports or ()), plot, (quiet, color))


def _list(patterns: Sequence[str]) -> ExitCode:
    from gradtool.cli.output.streams import reader_may_leave
    from gradtool.errors import UsageError
    from gradtool.transfer.errors import TransferError
    from gradtool.transfer.plan.plan import chosen_scenarios

    try:
        listed = chosen_scenarios(patterns)
    except TransferError as error:
        raise UsageError(str(error)) from None
    width = max(len(scenario.name) for scenario in listed)
    with reader_may_leave(sys.stdout):
        for scenario in listed:
            ways = ", ".join(
                f"{direction} ({', '.join(modes)})" for direction, modes in scenario.ways.items()
            )
            print(f"{scenario.name:<{width}}  {scenario.about}\n{'':<{width}}  {ways}")
    return ExitCode.PASSED


def _profile(
    flags: dict[str, Any],
    config: str | None,
    required: tuple[str | None, str, Sequence[str]],
    reports: Sequence[str],
    plot: str | None,
    shown: tuple[int, str],
) -> ExitCode:
    from gradtool.errors import UsageError
    from gradtool.transfer.errors import TransferError

    _silence_releases()
    try:
        options = _options(flags, config)
        return _measure_and_write(options, required, reports, plot, shown, (config, required[0]))
    except TransferError as error:
        raise UsageError(str(error)) from error


def _silence_releases() -> None:
    """Keep what CuPy's destructors cannot release off the screen; a failure is reported already."""
    show = sys.unraisablehook

    def show_others(failure: sys.UnraisableHookArgs) -> None:
        of_cupy = str(getattr(failure.object, "__module__", "")).startswith("cupy")
        if not of_cupy and failure.exc_type.__name__ != "CUDARuntimeError":
            show(failure)

    sys.unraisablehook = show_others


def _options(flags: dict[str, Any], config: str | None) -> TransferOptions:
    """The options of the command line over those of the file, or the defaults."""
    from gradtool.cli.options.transfer_config import load_transfer_config, overridden
    from gradtool.measure.units import parse_size
    from gradtool.transfer.errors import TransferError
    from gradtool.transfer.plan.options import TransferOptions

    options = load_transfer_config(config) if config is not None else TransferOptions()
    like = flags.pop("like")
    if like is not None:
        options = _only_batches(options, like, flags)
    if flags["sizes"] is not None:
        if config is None:
            # Many tensors of a size that nobody asked for would take most of the time.
            flags["collections"] = ()
        try:
            flags = {**flags, "sizes": tuple(dict.fromkeys(map(parse_size, flags["sizes"])))}
        except ValueError as error:
            raise TransferError(f"--size: {error}") from None
    return overridden(options, **flags)


def _only_batches(options: TransferOptions, like: str, flags: dict[str, Any]) -> TransferOptions:
    """The options with the rows of ``--like`` in place of the grid and the probes."""
    from msgspec.structs import replace

    from gradtool.transfer.errors import TransferError
    from gradtool.transfer.plan.like import rows_like

    for name in ("sizes", "directions"):
        if flags[name] is not None:
            raise TransferError(f"--like measures whole batches: omit --{name.rstrip('s')}")
    rows = rows_like(like)
    scenarios = flags.pop("scenarios")
    if scenarios is not None:
        rows = tuple(
            row for row in rows if any(fnmatch(row.scenario, pattern) for pattern in scenarios)
        )
    return replace(options, rows=rows, sizes=(), collections=(), probes=())


def _measure_and_write(
    options: TransferOptions,
    required: tuple[str | None, str, Sequence[str]],
    reports: Sequence[str],
    plot: str | None,
    shown: tuple[int, str],
    inputs: Sequence[str | None],
) -> ExitCode:
    from gradtool.cli.output.reports import claim_outputs, write_all
    from gradtool.report.transfer import FORMATS
    from gradtool.transfer.analysis.requirements import Requirements

    requirements = Requirements.read(*required)
    quiet, color = shown
    with claim_outputs(reports, FORMATS, _pictures(plot), inputs) as outputs:
        report = requirements.apply(_watched(options, requirements, quiet, color))
        with write_all(outputs, report) as is_stdout_taken:
            _show(report, quiet, color, to_stderr=is_stdout_taken)
    return exit_code(report, compared_nothing=requirements.compared_nothing(report))


def _watched(options: TransferOptions, requirements: Any, quiet: int, color: str) -> TransferReport:
    """Measure, with a progress bar on a terminal."""
    from gradtool.transfer.runner import profile

    if quiet or not sys.stderr.isatty():
        return profile(options, check=requirements.require_decidable)
    from gradtool.report.terminal.console import make_console
    from gradtool.report.terminal.transfer_progress import TransferProgress

    console = make_console(sys.stderr, cast("Any", color))
    with TransferProgress(console, options.budget) as progress:
        return profile(options, progress, check=requirements.require_decidable)


def _pictures(plot: str | None) -> list[OutputRequest]:
    """The plot, if requested."""
    if plot is None:
        return []
    from gradtool.cli.output.reports import OutputRequest
    from gradtool.errors import UsageError
    from gradtool.report.transfer.chart import render

    if Path(plot).suffix.lower() != ".svg":
        raise UsageError(f"--plot: {plot} must end in .svg")
    return [OutputRequest("--plot", plot, render)]


def _show(report: TransferReport, quiet: int, color: str, *, to_stderr: bool) -> None:
    from gradtool.cli.output.streams import reader_may_leave
    from gradtool.report.terminal.console import make_console
    from gradtool.report.terminal.transfer import render

    stream = sys.stderr if to_stderr else sys.stdout
    with reader_may_leave(stream):
        render(report, make_console(stream, cast("Any", color)), verbosity=-quiet)


def exit_code(report: TransferReport, *, compared_nothing: bool = False) -> ExitCode:
    """Interrupted; a regression or a threshold missed; nothing measured, compared or decided."""
    if report.interrupted:
        return interrupted()
    regressed = any(change.regressed for change in report.changes)
    if regressed or any(each.decided and not each.met for each in report.requirements):
        return ExitCode.FAILED
    if not all(each.decided for each in report.requirements):
        return ExitCode.NOTHING_CHECKED
    if compared_nothing or not _has_measured(report):
        return ExitCode.NOTHING_CHECKED
    return ExitCode.PASSED


def _has_measured(report: TransferReport) -> bool:
    """Return True if a cell has a number to trust, or a probe where no cell was selected."""
    if report.cells:
        return any(not cell.doubt for cell in report.cells)
    records: tuple[tuple[Any, ...], ...] = (
        report.asynchrony, report.hazards, report.latency, report.pinning, report.overlap,
        report.staging, report.nodes,
    )  # fmt: skip
    return any(not each.unavailable for group in records for each in group)

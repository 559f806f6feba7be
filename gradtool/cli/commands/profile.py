"""``gradtool profile``: the cost of Functions in time, memory and operations."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from gradtool.cli.exit_codes import ExitCode, interrupted
from gradtool.cli.options import declared as cli
from gradtool.cli.options.choices import choose
from gradtool.cli.options.groups import configured
from gradtool.config.resources import DTYPES

if TYPE_CHECKING:
    from gradtool.config.options import CheckOptions
    from gradtool.results.profile import ProfileReport


def profile(
    context: typer.Context,
    paths: cli.Paths,
    config: cli.Config = None,
    isolated: cli.Isolated = False,
    keyword: cli.Keyword = None,
    cases: Annotated[
        list[str] | None,
        cli.what_option(
            "--case", metavar="NAME", help="Profile only cases with this name. Repeatable."
        ),
    ] = None,
    budget: Annotated[
        float,
        cli.how_option(metavar="SECONDS", min=0.05, help="Maximum sampling time for each case."),
    ] = 2.0,
    seed: cli.Seed = None,
    device: cli.Device = None,
    dtype: cli.Dtype = None,
    timeout: cli.Timeout = None,
    memory_limit: cli.MemoryLimit = None,
    no_isolation: cli.NoIsolation = False,
    reports: Annotated[
        list[str] | None,
        cli.reports_option(
            "--report",
            metavar="FORMAT=PATH",
            help="Also write a report: json, csv, markdown, html or text. Repeatable; - is stdout.",
        ),
    ] = None,
    quiet: Annotated[
        int,
        cli.reports_option(
            "-q", "--quiet", count=True, show_default=False, help="Leave out the operations."
        ),
    ] = 0,
    verbose: Annotated[
        int,
        cli.reports_option(
            "-v", "--verbose", count=True, show_default=False, help="Show every operation."
        ),
    ] = 0,
    color: cli.Color = "auto",
) -> Callable[[], ExitCode]:
    """Measure time, memory and operations of Functions."""
    from gradtool.config.options import (
        CheckOptions,
        ExecutionOptions,
        NumericOptions,
        SelectionOptions,
    )

    options = CheckOptions(
        config=configured(config, isolated),
        selection=SelectionOptions(paths=_with_cases(paths, cases or ()), keyword=keyword),
        numeric=NumericOptions(
            seed=seed,
            device=device,
            dtype=dtype and choose(dtype, DTYPES, "value of --dtype:"),
        ),
        execution=ExecutionOptions(
            timeout=timeout,
            memory_limit=memory_limit,
            isolation=not no_isolation and hasattr(os, "fork"),
        ),
        command=context.obj,
    )
    choose(color, cli.COLORS, "value of --color:")
    return partial(_profile, options, budget, reports or (), (verbose - quiet, color))


def _with_cases(paths: Sequence[str], cases: Sequence[str]) -> tuple[str, ...]:
    """``file.py::Function`` with each name of a case behind it."""
    if not cases:
        return tuple(paths)
    for path in paths:
        if "::" not in path or path.endswith("]"):
            from gradtool.errors import UsageError

            raise UsageError(
                f"--case needs a Function, such as my_ops.py::Cube, got {path!r}; "
                "-k selects cases of all Functions"
            )
    return tuple(f"{path}[{case}]" for path in paths for case in cases)


def _profile(
    options: CheckOptions, budget: float, reports: Sequence[str], shown: tuple[int, str]
) -> ExitCode:
    from gradtool.cli.output.protected_files import read_by
    from gradtool.cli.output.reports import claim_outputs, write_all
    from gradtool.report.profile import FORMATS

    with claim_outputs(reports, FORMATS, inputs=read_by(options)) as outputs:
        report = _measured(options, budget, shown)
        with write_all(outputs, report) as is_stdout_taken:
            _show(report, sys.stderr if is_stdout_taken else sys.stdout, shown)
    return exit_code(report)


def _measured(options: CheckOptions, budget: float, shown: tuple[int, str]) -> ProfileReport:
    """The profile, with a line about each case on a terminal while it goes on."""
    from contextlib import redirect_stdout

    from gradtool.run.profile_runner import profile

    verbosity, color = shown
    with redirect_stdout(sys.stderr):
        if verbosity < 0 or not sys.stderr.isatty():
            return profile(options, budget)
        from gradtool.report.terminal.console import make_console

        console = make_console(sys.stderr, cast("Any", color))
        with console.status("starting") as status:
            return profile(
                options, budget, lambda unit, case: status.update(f"{unit.node}[{case.name}]")
            )


def _show(report: ProfileReport, stream: Any, shown: tuple[int, str]) -> None:
    from gradtool.cli.output.streams import reader_may_leave
    from gradtool.report.terminal.console import make_console
    from gradtool.report.terminal.profile import render

    verbosity, color = shown
    with reader_may_leave(stream):
        render(report, make_console(stream, cast("Any", color)), verbosity=verbosity)


def exit_code(report: ProfileReport) -> ExitCode:
    """Interrupted; a Function that could not be run; a module not imported; nothing profiled."""
    from gradtool.report.profile.rows import failed
    from gradtool.verify.rules import codes

    if report.interrupted:
        return interrupted()
    broken = [function for function in report.functions if failed(function)]
    if any(function.rule != codes.NOT_IMPORTED for function in broken):
        return ExitCode.FAILED
    if broken:
        return ExitCode.NOT_IMPORTED
    return ExitCode.PASSED if report.functions else ExitCode.NOTHING_CHECKED

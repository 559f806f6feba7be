"""``gradtool check``: check the gradients of Functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import msgspec
import typer
from msgspec import structs

from gradtool.cli.exit_codes import ExitCode, collected_code, exit_code
from gradtool.cli.options import declared as cli
from gradtool.cli.options.groups import (
    ConfigGroup,
    ExecutionGroup,
    HistoryGroup,
    NumericGroup,
    OutputGroup,
    RequirementGroup,
    RuleGroup,
    SelectionGroup,
    expanded,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradtool.cli.output.display import Display
    from gradtool.config.options import CheckOptions
    from gradtool.results.report import Report


class _Request(msgspec.Struct, frozen=True):
    """The options of a run, and those of the command around it."""

    options: CheckOptions
    history: HistoryGroup
    display: Display
    reports: Sequence[str]
    inputs: Sequence[str]
    """Paths that were named, which no report may replace."""
    exit_zero: bool


@expanded
def check(
    context: typer.Context,
    config: ConfigGroup,
    selection: SelectionGroup,
    rules: RuleGroup,
    numeric: NumericGroup,
    execution: ExecutionGroup,
    history: HistoryGroup,
    requirements: RequirementGroup,
    output: OutputGroup,
    paths: cli.PathsOrReports = None,
    strict: cli.Strict = None,
    replay: cli.Replay = None,
    exit_zero: cli.ExitZero = False,
    collect_only: cli.CollectOnly = False,
    watch: cli.Watch = False,
) -> Callable[[], ExitCode]:
    """Check the gradients of Functions."""
    from gradtool.config.options import CheckOptions
    from gradtool.errors import UsageError

    if not paths and (history.last_failed or history.failed_first):
        paths = ["."]
    if not paths and not selection.packages and replay is None:
        raise UsageError("name what to check, such as the current folder: gradtool check .")
    options = CheckOptions(
        config=config.options(),
        selection=selection.options(paths or ()),
        rules=rules.options(),
        numeric=numeric.options(),
        execution=execution.options(timed=output.durations is not None),
        requirements=requirements.options(),
        strict=strict,
        command=context.obj,
    )
    if replay is not None:
        from gradtool.cli.replay import replayed

        options = replayed(options, replay, last_failed=history.last_failed)
        history = structs.replace(history, no_cache=True)
    display = output.display()
    reports = output.reports or ()
    request = _Request(options, history, display, reports, tuple(paths or ()), exit_zero)
    if watch:
        _require_watchable(request, collect_only=collect_only)
        return partial(_watch, request)
    return partial(_collect if collect_only else _check, request)


def _require_watchable(request: _Request, *, collect_only: bool) -> None:
    """Refuse options that make no sense for a run that never ends.

    Raises:
        UsageError: There is such an option.
    """
    from gradtool.errors import UsageError

    options, history = request.options, request.history
    for option, is_given in (
        ("--report", bool(request.reports)),
        ("--collect-only", collect_only),
        ("--pdb", options.execution.pdb),
        ("--write-baseline", history.write_baseline),
        ("--changed-since", options.selection.changed_since is not None),
        ("--lf", history.last_failed),
    ):
        if is_given:
            raise UsageError(f"{option} cannot be combined with --watch")


def _watch(request: _Request) -> ExitCode:
    from gradtool.cli.watching import watch

    def check(options: CheckOptions) -> tuple[Report, ExitCode]:
        return _checked(structs.replace(request, options=options))

    return watch(request.options, check)


def _check(request: _Request) -> ExitCode:
    return _checked(request)[1]


def _checked(request: _Request) -> tuple[Report, ExitCode]:
    from gradtool.cli.baseline_cache import open_history
    from gradtool.cli.output.protected_files import read_by
    from gradtool.cli.output.reports import claim_outputs, write_all
    from gradtool.run import runner
    from gradtool.workers.messages import WorkerFault

    options, history, display = request.options, request.history, request.display
    inputs = [*request.inputs, *read_by(options), history.baseline_file]
    with (
        open_history(history, options) as run_history,
        claim_outputs(request.reports, inputs=inputs) as outputs,
    ):
        display.load()
        with nullcontext() if options.execution.pdb else display.watching() as watcher:
            report = runner.check(run_history.options, watcher)
        report = run_history.settled(report)
        code = exit_code(report, strict=report.strict)
        if request.exit_zero and code is ExitCode.FAILED:
            code = ExitCode.PASSED
        report = structs.replace(report, exit_code=int(code))
        with write_all(outputs, report) as is_stdout_taken:
            display.show(report, sys.stderr if is_stdout_taken else sys.stdout)
    if code is ExitCode.INTERNAL:
        raise WorkerFault.of(report.faults[0])
    return report, code


def _collect(request: _Request) -> ExitCode:
    from gradtool.cli.baseline_cache import open_history
    from gradtool.errors import UsageError
    from gradtool.run import runner

    requirements = request.options.requirements
    for option, is_given in (
        ("--report", bool(request.reports)),
        ("--exit-zero", request.exit_zero),
        ("--require-functions", requirements.functions is not None),
        ("--require-double-backward", requirements.double_backward),
    ):
        if is_given:
            raise UsageError(f"--collect-only checks nothing, so {option} would have no effect")
    with open_history(request.history, request.options) as run_history, request.display.watching():
        modules = runner.collect(run_history.options)
    request.display.show_collected(modules)
    selection = request.options.selection
    may_be_empty = selection.allow_empty or selection.changed_since is not None
    return collected_code(modules, may_be_empty=may_be_empty)

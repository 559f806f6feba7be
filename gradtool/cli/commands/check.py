"""``gradtool check``: check the gradients of the Functions in files and folders."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, cast

import typer

from gradtool.cli.exit_codes import ExitCode, collected_code, exit_code
from gradtool.cli.options import baseline as adoption
from gradtool.cli.options import check as cli
from gradtool.cli.options import replay as again
from gradtool.cli.options.choices import choose, printed_form, split
from gradtool.cli.options.configuration import configured

if TYPE_CHECKING:
    from gradtool.cli.output.display import Display
    from gradtool.config.options import CheckOptions
    from gradtool.report.terminal.console import Color


_Kept = tuple[str | None, bool, bool, bool, bool, str | None]
"""The fields of `gradtool.cli.baseline_cache.Kept`, which is loaded when the work begins."""


def check(
    context: typer.Context,
    paths: again.Paths = None,
    config: cli.Config = None,
    isolated: cli.Isolated = False,
    keyword: cli.Keyword = None,
    select: cli.Select = None,
    ignore: cli.Ignore = None,
    exclude: cli.Exclude = None,
    strict: cli.Strict = None,
    seed: cli.Seed = None,
    flake: again.Flake = None,
    replay: again.Replay = None,
    device: cli.Device = None,
    engine: cli.Engine = None,
    dtype: cli.Dtype = None,
    atol: cli.Atol = None,
    rtol: cli.Rtol = None,
    timeout: cli.Timeout = None,
    memory_limit: cli.MemoryLimit = None,
    jobs: cli.Jobs = None,
    shard: cli.Shard = None,
    no_isolation: cli.NoIsolation = False,
    pdb: cli.Pdb = False,
    executor: cli.Executor = "local",
    scheduler: cli.Scheduler = None,
    baseline: adoption.Baseline = None,
    write_baseline: adoption.WriteBaseline = False,
    baseline_commit: adoption.BaselineCommit = None,
    no_ignores: adoption.NoIgnores = False,
    changed_since: adoption.ChangedSince = None,
    last_failed: adoption.LastFailed = False,
    failed_first: adoption.FailedFirst = False,
    no_cache: adoption.NoCache = False,
    allow_empty: adoption.AllowEmpty = False,
    exit_zero: adoption.ExitZero = False,
    require_functions: adoption.RequireFunctions = None,
    require_double_backward: adoption.RequireDoubleBackward = False,
    form: cli.Format = None,
    reports: cli.Reports = None,
    collect_only: cli.CollectOnly = False,
    quiet: cli.Quiet = 0,
    verbose: cli.Verbose = 0,
    color: cli.Color = "auto",
) -> Callable[[], ExitCode]:
    """Check the gradients of the Functions in files and folders."""
    from gradtool.cli.output.display import Display
    from gradtool.config.options import CheckOptions
    from gradtool.errors import UsageError

    if not paths and replay is None:
        raise UsageError("Missing argument 'PATH...'.")
    options = CheckOptions(
        paths=tuple(paths or ()),
        **configured(config, isolated),
        keyword=keyword,
        select=split(select),
        ignore=split(ignore),
        exclude=split(exclude),
        strict=strict,
        seed=seed,
        flake=flake,
        device=device,
        engine=engine and choose(engine, cli.ENGINES, "value of --engine:"),
        dtype=dtype and choose(dtype, cli.DTYPES, "value of --dtype:"),
        atol=atol,
        rtol=rtol,
        timeout=timeout,
        memory_limit=memory_limit,
        isolation=not no_isolation and not pdb and hasattr(os, "fork"),
        jobs=_number_of(jobs),
        pdb=pdb,
        shard=shard,
        executor=choose(executor, cli.EXECUTORS, "value of --executor:"),
        scheduler=scheduler,
        no_ignores=no_ignores,
        changed_since=changed_since,
        allow_empty=allow_empty,
        require_functions=require_functions,
        require_double_backward=require_double_backward,
        command=context.obj,
    )
    if replay is not None:
        from gradtool.cli.replay import replayed

        options = replayed(options, replay, last_failed=last_failed)
    display = Display(
        form=form and printed_form(form),
        color=cast("Color", choose(color, cli.COLORS, "value of --color:")),
        verbosity=verbose - quiet,
    )
    cache = not no_cache and replay is None
    kept = (baseline, write_baseline, last_failed, failed_first, cache, baseline_commit)
    task = _collect if collect_only else partial(_check, exit_zero, tuple(paths or ()))
    return partial(task, options, kept, reports or (), display)


def _number_of(jobs: str | None) -> int | None:
    """The number after ``-j``; None for as many as there are CPUs."""
    if jobs is None or jobs == "auto":
        return None
    if not jobs.isdecimal() or int(jobs) < 1:
        from gradtool.errors import UsageError

        raise UsageError(f"-j takes a number of 1 or more, or auto, got {jobs!r}")
    return int(jobs)


def _check(
    exit_zero: bool,
    named: Sequence[str],
    options: CheckOptions,
    kept: _Kept,
    reports: Sequence[str],
    display: Display,
) -> ExitCode:
    import msgspec

    from gradtool.cli.baseline_cache import Kept, keeping
    from gradtool.cli.output.protected_files import read_by
    from gradtool.cli.output.reports import claimed, write_all
    from gradtool.run import runner
    from gradtool.workers.messages import WorkerFault

    asked = Kept(*kept)
    inputs = [*named, *read_by(options), asked.file]
    with keeping(asked, options) as keeper, claimed(reports, inputs=inputs) as outputs:
        with nullcontext() if options.pdb else display.watching() as watcher:
            report = runner.check(keeper.options, watcher)
        report = keeper.settled(report)
        code = exit_code(report, strict=report.strict)
        if exit_zero and code is ExitCode.FAILED:
            code = ExitCode.PASSED
        report = msgspec.structs.replace(report, exit_code=int(code))
        with write_all(outputs, report) as is_stdout_taken:
            display.show(report, sys.stderr if is_stdout_taken else sys.stdout)
    if code is ExitCode.INTERNAL:
        raise WorkerFault.of(report.faults[0])
    return code


def _collect(
    options: CheckOptions, kept: _Kept, reports: Sequence[str], display: Display
) -> ExitCode:
    from gradtool.cli.baseline_cache import Kept, keeping
    from gradtool.errors import UsageError
    from gradtool.run import runner

    if reports:
        raise UsageError("--collect-only checks nothing, so --report would have nothing to write")
    with keeping(Kept(*kept), options) as keeper, display.watching():
        modules = runner.collect(keeper.options)
    display.show_collected(modules)
    may_be_empty = options.allow_empty or options.changed_since is not None
    return collected_code(modules, may_be_empty=may_be_empty)

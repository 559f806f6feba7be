"""A run: plan it, check every case, and report."""

from __future__ import annotations

import platform
import time

import numpy as np

import gradtool
from gradtool.gate import codes
from gradtool.gate.checking import check_case, function_result, listed_case
from gradtool.gate.options import CheckOptions, Watcher
from gradtool.gate.plan import Plan, PlannedFunction, PlannedModule, make_plan
from gradtool.gate.rulebook import rulebook
from gradtool.gate.settings import Settings
from gradtool.gate.watching import Unwatched
from gradtool.gate.whole import Checked, whole_checks
from gradtool.results import Environment, FunctionResult, ModuleResult, Report
from gradtool.verify.rules import RULES


def check(options: CheckOptions, watcher: Watcher | None = None) -> Report:
    """Check what `options` name.

    An interrupt ends the run early; its report holds what was done and says so.

    Raises:
        UsageError: The run cannot start as asked.
    """
    started = time.perf_counter()
    try:
        plan = make_plan(options)
    except KeyboardInterrupt:
        nothing = Plan([], (), Settings(), strict=False)
        return make_report(nothing, [], options.command, started, interrupted=True)
    return run_plan(plan, watcher or Unwatched(), options.command, started)


def collect(options: CheckOptions) -> tuple[ModuleResult, ...]:
    """The modules, Functions and cases that `check` would check, none of them checked.

    Raises:
        UsageError: The run cannot start as asked.
    """
    return tuple(
        ModuleResult(
            path=module.shown,
            functions=tuple(
                function_result(planned, [listed_case(case) for case in planned.cases])
                for planned in module.functions
            ),
            checks=module.checks,
        )
        for module in make_plan(options).modules
    )


def run_plan(plan: Plan, watcher: Watcher, command: str, started: float) -> Report:
    """Check all cases of `plan`, for a run that began at `started` on the performance clock."""
    watcher.started(
        sum(len(planned.cases) for module in plan.modules for planned in module.functions)
    )
    run = _Run(watcher)
    modules: list[ModuleResult] = []
    for module in plan.modules:
        modules.append(run.module(module))
        if run.interrupted:
            break
    return make_report(plan, modules, command, started, interrupted=run.interrupted)


class _Run:
    """Checks cases until all are done or an interrupt comes, and keeps what was done."""

    def __init__(self, watcher: Watcher) -> None:
        self.interrupted = False
        self._watcher = watcher

    def module(self, planned: PlannedModule) -> ModuleResult:
        functions: list[FunctionResult] = []
        with planned.active():
            for function in planned.functions:
                functions.append(self._function(planned.shown, function))
                if self.interrupted:
                    break
        result = ModuleResult(path=planned.shown, functions=tuple(functions), checks=planned.checks)
        self._watcher.module_finished(result)
        return result

    def _function(self, path: str, planned: PlannedFunction) -> FunctionResult:
        cases: list[Checked] = []
        left = planned.unit.settings.timeout
        try:
            for case in planned.cases:
                self._watcher.case_started(f"{planned.unit.node}[{case.name}]")
                cases.append(check_case(planned.unit, planned.subject, case, left))
                left = left and left - cases[-1].result.seconds
                self._watcher.case_finished(planned.subject.name, cases[-1].result)
        except KeyboardInterrupt:
            self.interrupted = True
        whole = [] if self.interrupted else whole_checks(planned, cases)
        result = function_result(planned, [case.result for case in cases], whole)
        self._watcher.function_finished(path, result)
        return result


def make_report(
    plan: Plan, modules: list[ModuleResult], command: str, started: float, *, interrupted: bool
) -> Report:
    """The report of a run that began at `started` on the performance clock."""
    return Report(
        environment=Environment(
            gradtool=gradtool.__version__,
            python=platform.python_version(),
            numpy=np.__version__,
            platform=f"{platform.system()} {platform.machine()}",
            device=plan.settings.device,
        ),
        command=command,
        seed=plan.settings.seed,
        strict=plan.strict,
        modules=tuple(modules),
        configs=plan.configs,
        left_out=_left_out(plan.settings),
        deselected=plan.deselected,
        notices=plan.notices,
        rules=rulebook(modules),
        seconds=time.perf_counter() - started,
        interrupted=interrupted,
    )


def _left_out(settings: Settings) -> tuple[str, ...]:
    """The rules that are neither asked nor ignored for a reason, which is told of each case."""
    known = {code for code in RULES if not code.startswith(codes.RUNNING)}
    return tuple(sorted(known.difference(settings.codes, settings.ignored)))

"""A run whose order another program decides, as a test runner does: Functions one at a time."""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from gradtool.checking.unit import Unit
from gradtool.config.files import Configs
from gradtool.config.options import CheckOptions, Unwatched
from gradtool.config.settings import Settings
from gradtool.policy.baseline import Baseline
from gradtool.policy.changes import RunSettings, apply
from gradtool.policy.ignores import Comments
from gradtool.policy.pipeline import policies_of_history, policies_of_listing, policies_of_run
from gradtool.results.report import FunctionResult, ModuleResult, Report
from gradtool.run.executors.executor import Executor
from gradtool.run.executors.selection import open_executor
from gradtool.run.run_plan import Module, RunPlan
from gradtool.run.runner import discover, environment


class Session:
    """Keeps what is needed from one Function to the next: configurations and workers.

    Raises:
        UsageError: The options or the configuration that they name are wrong.
    """

    def __init__(self, options: CheckOptions, baseline: Baseline | None = None) -> None:
        self._options = options
        self._history = policies_of_history(baseline, None)
        self._configs = Configs(options.config, options.selection.exclude)
        self._comments = Comments()
        self._stack = contextlib.ExitStack()
        self._executor: Executor | None = None

    def excludes(self, path: Path) -> bool:
        """Return True if a walk should skip `path`, which is absolute.

        Raises:
            UsageError: Something in its configuration is wrong.
        """
        folder = self._configs.nearest(path).folder
        inside = (entry for entry in path.parents if entry.is_relative_to(folder))
        return any(map(self._configs.excludes, (path, *(e for e in inside if e != folder))))

    def module(self, path: Path, *, is_walked: bool) -> tuple[Module | None, bool]:
        """The units of one file, and True if warnings count as errors there.

        A file that was met on a walk is not imported when it cannot hold a Function.

        Raises:
            UsageError: Its configuration is wrong, or an engine or device that it names is not
                there.
        """
        options = msgspec.structs.replace(
            self._options,
            selection=msgspec.structs.replace(self._options.selection, paths=(str(path),)),
        )
        plan = RunPlan(options)
        discoveries = [
            msgspec.structs.replace(discovery, named=not is_walked)
            for discovery in plan.discoveries()
        ]
        modules = discover(plan, self._workers(), discoveries)
        return (self._judged(modules[0]) if modules else None), plan.strict

    def _judged(self, module: Module) -> Module:
        """The module with its problem as the configuration wants it reported."""
        if module.problem is None:
            return module
        raw = self._report(
            ModuleResult(path=module.shown, checks=(module.problem,)), module.settings
        )
        scope = RunSettings(units={}, modules={module.shown: module.settings})
        (judged,) = apply([*policies_of_listing(scope), *self._history], raw).modules
        return msgspec.structs.replace(module, problem=judged.checks[0])

    def listed(self, unit: Unit) -> FunctionResult:
        """A Function with its cases, none of them checked."""
        (done,) = self._workers().collect([unit])
        return done.function

    def check(self, unit: Unit) -> FunctionResult:
        """Check one Function.

        Raises:
            KeyboardInterrupt: The user ended the run.
            WorkerFault: Gradtool itself failed.
        """
        outcome = self._workers().check([unit], Unwatched())
        outcome.require_sound()
        (done,) = outcome.done
        if done is None or outcome.interrupted:
            raise KeyboardInterrupt
        scope = RunSettings(
            units={unit.node: unit}, partial=frozenset([unit.node] if done.deselected else [])
        )
        policies = policies_of_run(
            scope, None if self._options.rules.no_ignores else self._comments
        )
        raw = self._report(ModuleResult(path=unit.shown, functions=(done.function,)), unit.settings)
        (module,) = apply([*policies, *self._history], raw).modules
        return module.functions[0]

    def _report(self, module: ModuleResult, settings: Settings) -> Report:
        return Report(environment=environment(self._workers().numpy, settings), modules=(module,))

    def close(self) -> None:
        """End the workers."""
        self._stack.close()
        self._executor = None

    def _workers(self) -> Executor:
        if self._executor is None:
            self._executor = self._stack.enter_context(open_executor(self._options.execution))
        return self._executor

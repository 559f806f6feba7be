"""A run of ``gradtool profile``: plan, each Function in a process of its own, report."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from gradtool.checking.unit import Unit
from gradtool.config.options import CheckOptions
from gradtool.errors import UsageError
from gradtool.results.profile import CaseProfile, FunctionProfile, ProfileReport
from gradtool.run.executors.executor import Executor
from gradtool.run.run_plan import Module, RunPlan
from gradtool.run.runner import environment

if TYPE_CHECKING:
    from gradtool.workers.pool import Pool

Progress = Callable[[Unit, CaseProfile], None]

DEFAULT_BUDGET = 2.0
"""Seconds for which a case is sampled at most."""


class _Profiler(Protocol):
    """Profiles Functions one at a time, so that they do not disturb each other."""

    executor: Executor

    def profile(
        self, units: Sequence[Unit], budget: float, progress: Progress
    ) -> Iterator[FunctionProfile]:
        """Profile units; when interrupted, give what there is of a unit first."""


def profile(
    options: CheckOptions,
    budget: float = DEFAULT_BUDGET,
    progress: Progress = lambda _unit, _case: None,
) -> ProfileReport:
    """Profile the Functions that `options` name; an interrupt ends the run with a partial report.

    Raises:
        UsageError: The options cannot be satisfied.
    """
    started = time.perf_counter()
    if not 0 < budget < math.inf:
        raise UsageError(f"--budget must be a number of seconds above 0, got {budget}")
    plan = RunPlan(options)
    functions: list[FunctionProfile] = []
    modules: list[Module] = []
    interrupted, numpy = False, ""
    with _profiler(options) as profiler:
        try:
            profiler.executor.require_devices(plan.devices)
            modules = plan.modules(profiler.executor.discover(plan.discoveries()))
            functions += _not_loaded(modules)
            numpy = profiler.executor.numpy
            units = [unit for module in modules for unit in module.units]
            functions.extend(profiler.profile(units, budget, progress))
        except KeyboardInterrupt:
            interrupted = True
    return ProfileReport(
        environment=environment(numpy, plan.settings),
        command=options.command,
        budget=budget,
        functions=tuple(functions),
        seconds=time.perf_counter() - started,
        interrupted=interrupted,
    )


def _not_loaded(modules: Sequence[Module]) -> Iterator[FunctionProfile]:
    for module in modules:
        if module.problem is not None and not module.units:
            problem = module.settings.apply_ignores(module.problem)
            yield FunctionProfile.failed(module.shown, problem)


@contextlib.contextmanager
def _profiler(options: CheckOptions) -> Iterator[_Profiler]:
    if options.execution.isolation:
        from gradtool.workers.pool import Pool  # Where there is no `fork`, it cannot be imported.

        with Pool(1) as pool:
            yield _InWorkers(pool)
    else:
        yield _InProcess()


class _InWorkers:
    """Profiles in workers."""

    def __init__(self, pool: Pool) -> None:
        from gradtool.run.executors.workers import InWorkers

        self.executor: Executor = InWorkers(pool)
        self._pool = pool

    def profile(
        self, units: Sequence[Unit], budget: float, progress: Progress
    ) -> Iterator[FunctionProfile]:
        """Profile units; when interrupted, give what there is of a unit first."""
        from gradtool.workers.jobs import ProfileJob

        for unit in units:
            job = ProfileJob(unit, budget, progress)
            try:
                self._pool.run([job])
            except KeyboardInterrupt:
                if job.cases:
                    yield job.partial()
                raise
            if job.answer and (job.answer.cases or job.answer.problem):
                yield job.answer


class _InProcess:
    """Profiles in this process."""

    def __init__(self) -> None:
        from gradtool.checking.worker_session import WorkerSession
        from gradtool.run.executors.in_process import InProcess

        self.executor: Executor = InProcess()
        self._session = WorkerSession()

    def profile(
        self, units: Sequence[Unit], budget: float, progress: Progress
    ) -> Iterator[FunctionProfile]:
        """Profile units."""
        from gradtool.profile.profiling import profile_unit

        for unit in units:
            found = profile_unit(
                self._session,
                unit,
                budget,
                lambda case, unit=unit: progress(unit, case),  # type: ignore[misc]
            )
            if found.cases or found.problem:
                yield found

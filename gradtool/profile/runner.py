"""A run of ``gradtool profile``: what there is, each Function in a process of its own, a report."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from gradtool.checking.unit import Unit
from gradtool.config.options import CheckOptions
from gradtool.errors import UsageError
from gradtool.profile.format import told
from gradtool.results.profile import CaseProfile, FunctionProfile, ProfileReport
from gradtool.run.executors.executor import Executor
from gradtool.run.run_plan import Agenda, Module
from gradtool.run.runner import environment

Tell = Callable[[Unit, CaseProfile], None]

DEFAULT_BUDGET = 2.0
"""Seconds for which a case is sampled at most."""


class _Worker(Protocol):
    """Profiles Functions, here or elsewhere."""

    executor: Executor

    def profile(self, units: Sequence[Unit], budget: float, tell: Tell) -> Profiles:
        """Profile units, one at a time."""


Profiles = Iterator[FunctionProfile]


def profile(
    options: CheckOptions,
    budget: float = DEFAULT_BUDGET,
    tell: Tell = lambda _unit, _case: None,
) -> ProfileReport:
    """Profile what `options` name; an interrupt ends the run early, which its report says.

    Raises:
        UsageError: The run cannot start as asked.
    """
    started = time.perf_counter()
    if not 0 < budget < math.inf:
        raise UsageError(f"--budget must be a number of seconds above 0, got {budget}")
    agenda = Agenda(options)
    functions: list[FunctionProfile] = []
    modules: list[Module] = []
    interrupted, numpy = False, ""
    with _working(options) as worker:
        try:
            worker.executor.require_devices(agenda.devices)
            modules = agenda.modules(worker.executor.survey(agenda.surveys()))
            functions += _not_loaded(modules)
            numpy = worker.executor.numpy
            units = [unit for module in modules for unit in module.units]
            functions.extend(worker.profile(units, budget, tell))
        except KeyboardInterrupt:
            interrupted = True
    return ProfileReport(
        environment=environment(numpy, agenda.settings),
        command=options.command,
        budget=budget,
        functions=tuple(functions),
        seconds=time.perf_counter() - started,
        interrupted=interrupted,
    )


def _not_loaded(modules: Sequence[Module]) -> Iterator[FunctionProfile]:
    for module in modules:
        if module.problem is not None:
            check = module.problem
            yield FunctionProfile(node=module.shown, problem=told(check), rule=check.rule)


@contextlib.contextmanager
def _working(options: CheckOptions) -> Iterator[_Worker]:
    if options.isolation:
        from gradtool.profile.workers import isolated

        with isolated() as worker:
            yield worker
    else:
        yield _Here()


class _Here:
    """Profiles in this process."""

    def __init__(self) -> None:
        from gradtool.checking.worker_session import Bench
        from gradtool.run.executors.in_process import InProcess

        self.executor: Executor = InProcess()
        self._bench = Bench()

    def profile(self, units: Sequence[Unit], budget: float, tell: Tell) -> Profiles:
        """Profile units, one at a time."""
        from gradtool.profile.profiling import profile_unit

        for unit in units:
            found = profile_unit(
                self._bench,
                unit,
                budget,
                lambda case, unit=unit: tell(unit, case),  # type: ignore[misc]
            )
            if found.cases or found.problem:
                yield found

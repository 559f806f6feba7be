"""Profiles Functions in workers, one at a time so that they do not disturb each other."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gradtool.checking.unit import Unit
from gradtool.collect.loader import dotted_name
from gradtool.results.profile import CaseProfile, FunctionProfile
from gradtool.run.executors.executor import Executor
from gradtool.run.executors.workers import Isolated
from gradtool.workers.death import GRACE, Death
from gradtool.workers.messages import AskProfile, CaseProfiled, Loaded, Reply, UnitProfiled
from gradtool.workers.pool import Pool

Tell = Callable[[Unit, CaseProfile], None]


@contextlib.contextmanager
def isolated() -> Iterator[ProfilingWorkers]:
    """A worker for the time of a run."""
    with Pool(1) as pool:
        yield ProfilingWorkers(pool)


class ProfilingWorkers:
    """Have Functions profiled by a pool."""

    def __init__(self, pool: Pool) -> None:
        self.executor: Executor = Isolated(pool)
        self._pool = pool

    def profile(
        self, units: Sequence[Unit], budget: float, tell: Tell
    ) -> Iterator[FunctionProfile]:
        """Profile units; what an interrupt leaves of one is given before it passes on."""
        for unit in units:
            job = ProfileJob(unit, budget, tell)
            try:
                self._pool.run([job])
            except KeyboardInterrupt:
                if job.cases:
                    yield job.left()
                raise
            if job.answer and (job.answer.cases or job.answer.problem):
                yield job.answer


class ProfileJob:
    """One Function at its cases; implements `gradtool.workers.jobs.Job`."""

    outlives_faults = False

    def __init__(self, unit: Unit, budget: float, tell: Tell) -> None:
        self.folder = dotted_name(Path(unit.path))[0]
        self.done = False
        self.until: float | None = None
        self.cases: list[CaseProfile] = []
        self.answer: FunctionProfile | None = None
        self._unit = unit
        self._budget = budget
        self._tell = tell

    def begin(self) -> AskProfile:
        """Ask."""
        self._extend()
        return AskProfile(unit=self._unit, budget=self._budget)

    def take(self, reply: Reply) -> None:
        """Keep what is done; every case has the time of a Function, and its budget."""
        match reply:
            case Loaded():
                self._extend()
            case CaseProfiled(case=case):
                self._extend()
                self.cases.append(case)
                self._tell(self._unit, case)
            case UnitProfiled(function=function):
                self.answer, self.done = function, True

    def died(self, death: Death) -> None:
        """Keep the cases that were done, and say what happened to the next."""
        settings = self._unit.settings
        mishap = death.mishap(settings, Path(self._unit.path).parent)
        problem = f"the Function {mishap.message}; {mishap.hint}"
        self.answer, self.done = self.left(problem, mishap.code), True

    def left(self, problem: str = "", rule: str = "") -> FunctionProfile:
        """The Function with the cases that are done."""
        unit = self._unit
        return FunctionProfile(
            node=unit.node, line=unit.line, cases=tuple(self.cases), problem=problem, rule=rule
        )

    def _extend(self) -> None:
        timeout = self._unit.settings.timeout
        if timeout is not None:
            self.until = time.monotonic() + timeout + self._budget + 2 * GRACE

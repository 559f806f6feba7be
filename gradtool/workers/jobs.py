"""Jobs that workers do, and the way on when a worker dies at one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from gradtool.checking.unit import Discovery, DiscoveryResult, Unit, UnitResult
from gradtool.checking.unit_progress import UnitProgress
from gradtool.config.options import Watcher
from gradtool.config.settings import Settings
from gradtool.findings.could_not_run import (
    checker_replaced,
    import_terminated,
    out_of_time,
    termination_result,
)
from gradtool.results.profile import CaseProfile, FunctionProfile
from gradtool.results.report import CaseResult, CheckResult, Location, OwnFault
from gradtool.sandbox.termination import crashed
from gradtool.verify.rules import codes
from gradtool.workers.deadline import GRACE, deadline_after
from gradtool.workers.messages import (
    AskDevice,
    AskDiscovery,
    AskProfile,
    AskUnit,
    CaseFinished,
    CaseProfiled,
    CaseStarted,
    DeviceThere,
    DiscoveryDone,
    Explored,
    Exploring,
    Fault,
    Loaded,
    Opened,
    Reply,
    Request,
    UnitDone,
    UnitProfiled,
    Untrusted,
)
from gradtool.workers.worker_death import Death

_TRIES = 2
"""Workers that a unit may bring down at the same place before it is closed."""


class Job(Protocol):
    """One piece of work."""

    file: str
    """The file whose code it runs: a worker that ran another is not given the job."""
    done: bool
    deadline: float | None
    """Time on the monotonic clock at which its worker is killed."""
    outlives_faults: bool
    """True if it takes a fault of gradtool's own as an answer; else the fault ends the run."""

    def begin(self) -> Request:
        """The request for a worker that starts on the job now."""

    def take(self, reply: Reply) -> None:
        """Take a reply of the worker."""

    def died(self, death: Death) -> None:
        """Record that the worker died. Unless the job is done now, another one continues it."""


class DiscoveryJob:
    """List the Functions of a module."""

    outlives_faults = False

    def __init__(self, discovery: Discovery) -> None:
        self.file = discovery.path
        self.done = False
        self.deadline: float | None = None
        self.answer = DiscoveryResult()
        self._discovery = discovery

    def begin(self) -> AskDiscovery:
        """The request, with the deadline for the answer."""
        self.deadline = deadline_after(self._discovery.settings.timeout)
        return AskDiscovery(discovery=self._discovery)

    def take(self, reply: Reply) -> None:
        """Take the answer."""
        match reply:
            case DiscoveryDone(answer=answer):
                self.answer, self.done = answer, True
            case Untrusted(reason=reason):
                shown, settings = self._discovery.shown, self._discovery.settings
                problem = checker_replaced(shown, reason, Location(path=shown), settings)
                self.answer, self.done = DiscoveryResult(problem=problem), True

    def died(self, death: Death) -> None:
        """Answer that the module cannot be loaded, and why."""
        shown, path = self._discovery.shown, self._discovery.path
        settings = self._discovery.settings
        termination = death.termination(settings, Path(path).parent)
        problem = import_terminated(shown, termination, settings, path=path)
        self.answer = DiscoveryResult(problem=problem)
        self.done = True


class DeviceJob:
    """Make sure that a device can be used. Its driver may bring a process down as well."""

    outlives_faults = False

    def __init__(self, device: str) -> None:
        self.file = ""
        self.done = False
        self.deadline: float | None = None
        self.problem: str | None = None
        self._device = device

    def begin(self) -> AskDevice:
        """The request."""
        return AskDevice(device=self._device)

    def take(self, reply: Reply) -> None:
        """The device can be used."""
        self.done = self.done or isinstance(reply, DeviceThere)

    def died(self, death: Death) -> None:
        """The device cannot be used."""
        self.problem = death.termination(Settings(), Path()).message
        self.done = True


class UnitJob:
    """One Function at its cases."""

    def __init__(self, unit: Unit, watcher: Watcher, *, only_list: bool = False) -> None:
        self.file = unit.path
        self.done = False
        self.deadline: float | None = None
        self.answer: UnitResult | None = None
        self.fault: OwnFault | None = None
        """Failure of gradtool itself."""
        self.outlives_faults = not only_list
        self._progress = UnitProgress(unit, watcher)
        self._unit = unit
        self._only_list = only_list
        self._left = unit.settings.timeout
        self._checking_since: float | None = None
        self._opened_here = False
        self._futile_tries = 0
        self.begun = False

    def begin(self) -> AskUnit:
        """The request for the cases that are not finished."""
        self.begun = True
        self.deadline = deadline_after(self._unit.settings.timeout)
        self._checking_since, self._opened_here = None, False
        return AskUnit(
            unit=self._unit,
            finished=tuple(self._progress.finished),
            left=self._left,
            only_list=self._only_list,
        )

    def take(self, reply: Reply) -> None:
        """Record the progress that a reply reports."""
        match reply:
            case Loaded():
                self.deadline = deadline_after(self._unit.settings.timeout)
            case Opened(listed=listed):
                if not self._progress.is_open:
                    self._progress.opened(listed)
                self._opened_here = True
                self._checking_since = time.monotonic()
                self.deadline = deadline_after(self._left)
            case CaseStarted(name=name):
                self._progress.case_started(name)
            case CaseFinished(case=case):
                self._futile_tries = 0
                self._progress.case_finished(case)
            case Exploring(what=what):
                self._progress.exploring(what)
            case Explored(coverage=coverage, seconds=seconds):
                self._progress.explored(coverage, seconds)
            case Untrusted(reason=reason):
                unit, place = self._unit, self._progress.location
                self._progress.discard()
                self._close(checker_replaced(unit.node, reason, place, unit.settings))
            case UnitDone(checks=checks):
                self._list_rest()
                self._close(*checks, *self._missing(checks))
            case Fault(summary=summary, traceback=text):
                self.fault = OwnFault(node=self._unit.node, summary=summary, traceback=text)
                self._close()

    def died(self, death: Death) -> None:
        """Fail the case that the worker was busy with, or the Function; keep what is left to do."""
        settings = self._unit.settings
        termination = death.termination(settings, Path(self._unit.path).parent)
        if self._checking_since is not None and self._left is not None:
            self._left = max(self._left - (time.monotonic() - self._checking_since), 0)
        progress = self._progress
        if progress.current is not None:
            node = f"{self._unit.node}[{progress.current}]"
            problem = termination_result(node, termination, settings, progress.location)
            self._end_case(problem)
        elif self._opened_here and not progress.remaining:
            pass  # It was exploring: arguments that nobody gave are no case to fail.
        elif not self._opened_here or self._futile_tries + 1 >= _TRIES:
            during = "" if progress.is_open else " before a case could be checked"
            problem = termination_result(
                self._unit.node, termination, settings, progress.location, during
            )
            self._close(problem)
            return
        else:
            self._futile_tries += 1
        if termination.code == codes.TIMED_OUT:
            self._skip_rest()
        if not progress.remaining:
            self._close()

    def abandon(self) -> UnitResult:
        """The answer, as far as it is known, when the run ends before the Function is done."""
        return self._progress.close()

    def _end_case(self, problem: CheckResult) -> None:
        current = self._progress.current
        listed = next(case for case in self._progress.remaining if case.name == current)
        seconds = time.monotonic() - (self._checking_since or 0)
        self._progress.case_finished(_with(listed, problem, seconds))

    def _skip_rest(self) -> None:
        for case in self._progress.remaining:
            self._progress.case_finished(_with(case, out_of_time()))

    def _missing(self, checks: Sequence[CheckResult]) -> Iterator[CheckResult]:
        """A problem for cases that the worker left out, and gives no reason for."""
        if self._progress.remaining and not checks:
            left_out = crashed("it exited before all cases were checked")
            location = self._progress.location
            yield termination_result(self._unit.node, left_out, self._unit.settings, location)

    def _list_rest(self) -> None:
        if self._only_list:
            for case in self._progress.remaining:
                self._progress.case_finished(case)

    def _close(self, *checks: CheckResult) -> None:
        self.answer, self.done = self._progress.close(*checks), True


class ProfileJob:
    """Profile one Function at its cases."""

    outlives_faults = False

    def __init__(
        self, unit: Unit, budget: float, progress: Callable[[Unit, CaseProfile], None]
    ) -> None:
        self.file = unit.path
        self.done = False
        self.deadline: float | None = None
        self.cases: list[CaseProfile] = []
        self.answer: FunctionProfile | None = None
        self._unit = unit
        self._budget = budget
        self._progress = progress

    def begin(self) -> AskProfile:
        """The request, with the deadline for its first reply."""
        self.cases.clear()
        self._extend()
        return AskProfile(unit=self._unit, budget=self._budget)

    def take(self, reply: Reply) -> None:
        """Record what is done; each case has the time of a Function, and its budget."""
        match reply:
            case Loaded():
                self._extend()
            case CaseProfiled(case=case):
                self._extend()
                self.cases.append(case)
                self._progress(self._unit, case)
            case UnitProfiled(function=function):
                self.answer, self.done = function, True

    def died(self, death: Death) -> None:
        """Answer with the cases that were done, and what happened to the next."""
        settings = self._unit.settings
        termination = death.termination(settings, Path(self._unit.path).parent)
        problem = f"the Function {termination.message}; {termination.hint}"
        self.answer, self.done = self.partial(problem, termination.code), True

    def partial(self, problem: str = "", rule: str = "") -> FunctionProfile:
        """The Function with the cases that are done."""
        unit = self._unit
        return FunctionProfile(
            node=unit.node, line=unit.line, cases=tuple(self.cases), problem=problem, rule=rule
        )

    def _extend(self) -> None:
        timeout = self._unit.settings.timeout
        if timeout is not None:
            self.deadline = deadline_after(timeout + self._budget + GRACE)


def _with(case: CaseResult, check: CheckResult, seconds: float = 0.0) -> CaseResult:
    return msgspec.structs.replace(case, checks=(check,), seconds=seconds)

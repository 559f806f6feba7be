"""Pieces of work on their way through workers, and what becomes of them when one dies."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

import msgspec

from gradtool.checking.unit import Done, Survey, Surveyed, Unit
from gradtool.checking.unit_progress import Account
from gradtool.collect.loader import dotted_name
from gradtool.config.options import Watcher
from gradtool.config.settings import Settings
from gradtool.findings.terminations import import_mishap, mishap_result, out_of_time
from gradtool.results.report import CaseResult, CheckResult, OwnFault
from gradtool.verify.rules import codes
from gradtool.workers.death import GRACE, Death
from gradtool.workers.messages import (
    AskDevice,
    AskSurvey,
    AskUnit,
    CaseFinished,
    CaseStarted,
    DeviceThere,
    Fault,
    Loaded,
    Opened,
    Reply,
    Request,
    SurveyDone,
    UnitDone,
)

_TRIES = 2
"""How often a unit may bring down its worker at the same place before it is given up."""


class Job(Protocol):
    """One piece of work."""

    folder: Path
    """Where imports start in it."""
    done: bool
    until: float | None
    """When its worker has to be killed, on the monotonic clock."""
    outlives_faults: bool
    """Whether it takes a fault of gradtool's own as an answer."""

    def begin(self) -> Request:
        """What to ask a worker, now."""

    def take(self, reply: Reply) -> None:
        """A worker has said something."""

    def died(self, death: Death) -> None:
        """Its worker has died. Unless it is done now, another worker goes on."""


class SurveyJob:
    """Which Functions a module has."""

    outlives_faults = False

    def __init__(self, survey: Survey) -> None:
        self.folder = dotted_name(Path(survey.path))[0]
        self.done = False
        self.until: float | None = None
        self.answer = Surveyed()
        self._survey = survey

    def begin(self) -> AskSurvey:
        """Ask."""
        self.until = _time_is_up(self._survey.settings.timeout)
        return AskSurvey(survey=self._survey)

    def take(self, reply: Reply) -> None:
        """Take the answer."""
        if isinstance(reply, SurveyDone):
            self.answer, self.done = reply.answer, True

    def died(self, death: Death) -> None:
        """The module cannot be loaded, and this is why."""
        settings = self._survey.settings
        mishap = death.mishap(settings, Path(self._survey.path).parent)
        self.answer = Surveyed(problem=import_mishap(self._survey.shown, mishap, settings))
        self.done = True


class DeviceJob:
    """Whether a device is there. Its driver may bring a process down as well."""

    outlives_faults = False

    def __init__(self, device: str) -> None:
        self.folder = Path()
        self.done = False
        self.until: float | None = None
        self.trouble: str | None = None
        self._device = device

    def begin(self) -> AskDevice:
        """Ask."""
        return AskDevice(device=self._device)

    def take(self, reply: Reply) -> None:
        """It is there."""
        self.done = self.done or isinstance(reply, DeviceThere)

    def died(self, death: Death) -> None:
        """It is not usable."""
        self.trouble = death.mishap(Settings(), self.folder).message
        self.done = True


class UnitJob:
    """One Function at its cases."""

    def __init__(self, unit: Unit, watcher: Watcher, *, only_list: bool = False) -> None:
        self.folder = dotted_name(Path(unit.path))[0]
        self.done = False
        self.until: float | None = None
        self.answer: Done | None = None
        self.fault: OwnFault | None = None
        """That gradtool itself failed."""
        self.outlives_faults = not only_list
        self._account = Account(unit, watcher)
        self._unit = unit
        self._only_list = only_list
        self._left = unit.settings.timeout
        self._checking_since: float | None = None
        self._opened_here = False
        self._fruitless = 0
        self.begun = False

    def begin(self) -> AskUnit:
        """Ask for the cases that are not finished."""
        self.begun = True
        self.until = _time_is_up(self._unit.settings.timeout)
        self._checking_since, self._opened_here = None, False
        return AskUnit(
            unit=self._unit,
            finished=tuple(self._account.finished),
            left=self._left,
            only_list=self._only_list,
        )

    def take(self, reply: Reply) -> None:
        """Keep what is done."""
        match reply:
            case Loaded():
                self.until = _time_is_up(self._unit.settings.timeout)
            case Opened(listed=listed):
                if not self._account.is_open:
                    self._account.opened(listed)
                self._opened_here = True
                self._checking_since = time.monotonic()
                self.until = _time_is_up(self._left)
            case CaseStarted(name=name):
                self._account.case_started(name)
            case CaseFinished(case=case):
                self._fruitless = 0
                self._account.case_finished(case)
            case UnitDone(checks=checks):
                self._list_rest()
                self._close(*checks)
            case Fault(summary=summary, traceback=text):
                self.fault = OwnFault(node=self._unit.node, summary=summary, traceback=text)
                self._close()

    def died(self, death: Death) -> None:
        """Charge the case it was busy with, or the Function, and see what is left to do."""
        settings = self._unit.settings
        mishap = death.mishap(settings, Path(self._unit.path).parent)
        if self._checking_since is not None and self._left is not None:
            self._left = max(self._left - (time.monotonic() - self._checking_since), 0)
        account = self._account
        if account.current is not None:
            node = f"{self._unit.node}[{account.current}]"
            problem = mishap_result(node, mishap, settings, account.location)
            self._end_case(problem)
        elif not self._opened_here or self._fruitless + 1 >= _TRIES or not account.remaining:
            during = "" if account.is_open else " before a case could be checked"
            problem = mishap_result(self._unit.node, mishap, settings, account.location, during)
            self._close(problem)
            return
        else:
            self._fruitless += 1
        if mishap.code == codes.TIMED_OUT:
            self._skip_rest()
        if not account.remaining:
            self._close()

    def abandon(self) -> Done:
        """What there is to say when the run ends before the Function is done."""
        return self._account.close()

    def _end_case(self, problem: CheckResult) -> None:
        current = self._account.current
        listed = next(case for case in self._account.remaining if case.name == current)
        seconds = time.monotonic() - (self._checking_since or 0)
        self._account.case_finished(_with(listed, problem, seconds))

    def _skip_rest(self) -> None:
        for case in self._account.remaining:
            self._account.case_finished(_with(case, out_of_time()))

    def _list_rest(self) -> None:
        if self._only_list:
            for case in self._account.remaining:
                self._account.case_finished(case)

    def _close(self, *checks: CheckResult) -> None:
        self.answer, self.done = self._account.close(*checks), True


def _with(case: CaseResult, check: CheckResult, seconds: float = 0.0) -> CaseResult:
    return msgspec.structs.replace(case, checks=(check,), seconds=seconds)


def _time_is_up(seconds: float | None) -> float | None:
    return None if seconds is None else time.monotonic() + seconds + GRACE

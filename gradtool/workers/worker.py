"""The process in which the user's code runs."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterable
from typing import NoReturn

from gradtool.checking.unit import Done
from gradtool.checking.worker_session import Bench
from gradtool.config.resources import require_device
from gradtool.errors import UsageError
from gradtool.results.report import CaseResult, CheckResult, Verdict
from gradtool.sandbox.interrupts import never_interrupted
from gradtool.sandbox.memory_limit import limited
from gradtool.sandbox.standard_streams import Surroundings, out_of_the_way
from gradtool.verify.rules import codes
from gradtool.workers.channel import Channel
from gradtool.workers.death import LOST, NO_MEMORY
from gradtool.workers.fork_server import fault_of
from gradtool.workers.messages import (
    AskDevice,
    AskProfile,
    AskSurvey,
    AskUnit,
    CaseFinished,
    CaseProfiled,
    CaseStarted,
    DeviceThere,
    Idle,
    Loaded,
    Opened,
    Refused,
    Reply,
    Request,
    SurveyDone,
    UnitDone,
    UnitProfiled,
)
from gradtool.workers.process import adopt_orphans

_SPOILING = {codes.NOT_IMPORTED, codes.TIMED_OUT, codes.OUT_OF_MEMORY, codes.ENDED}
"""After one of these, what was interrupted may have left anything behind."""


def warm_up() -> None:
    """Load what is loaded on first use, in the nursery."""
    import gradtool.adapters.common.differentiable
    import gradtool.verify.examine
    from gradtool.verify.rules import RULES

    assert gradtool.verify.examine and gradtool.adapters.common.differentiable  # noqa: PT018 - are used
    for code in RULES:
        RULES[code]


def main(messages: int, output: int, words: int) -> NoReturn:
    """Do what is asked for over the socket `messages` until its other end is closed."""
    os.setsid()
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    never_interrupted()
    end = socket.socket(fileno=out_of_the_way(messages))
    worker = _Worker(Channel(end, Request), Surroundings(output, words))  # type: ignore[arg-type]
    os.register_at_fork(after_in_child=worker.fall_silent)
    worker.serve()
    os._exit(0)


def _subject(request: Request) -> str:
    """What a request is about: a module, a Function or a device."""
    match request:
        case AskSurvey(survey=survey):
            return survey.shown
        case AskDevice(device=device):
            return device
        case _:
            return request.unit.node


class _Worker:
    """Answers requests. Also the `Listener` of the bench that it works at."""

    def __init__(self, channel: Channel[Request], surroundings: Surroundings) -> None:
        self._channel = channel
        self._surroundings = surroundings
        self._bench = Bench()
        self._own = os.getpid()
        self._spoiled = False
        self._left: float | None = None

    def serve(self) -> None:
        """Answer one request after the other."""
        while (request := self._channel.receive()) is not None:
            try:
                self._answer(request)
            except UsageError as error:
                self._send(Refused(message=str(error)))
            except MemoryError:
                os._exit(NO_MEMORY)
            except BaseException as error:
                self._spoiled = True
                self._send(fault_of(error, _subject(request)))
            self._surroundings.expect_the_end_in(None)
            self._surroundings.put_back()
            self._send(Idle(spoiled=self._spoiled or threading.active_count() > 1))

    def fall_silent(self) -> None:
        """In a process that the user's code forked: nothing there may speak for the worker."""
        self._own = -1

    def _answer(self, request: Request) -> None:
        match request:
            case AskDevice(device=device):
                require_device(device)
                self._send(DeviceThere())
            case AskSurvey(survey=survey):
                self._surroundings.expect_the_end_in(survey.settings.timeout)
                with limited(survey.settings.memory_limit):
                    answer = self._bench.survey(survey)
                self._note([answer.problem] if answer.problem else [])
                self._send(SurveyDone(answer=answer))
            case AskUnit():
                self._check(request)
            case AskProfile():
                self._profile(request)

    def _check(self, request: AskUnit) -> None:
        settings = request.unit.settings
        self._left = settings.timeout if request.left is None else request.left
        self._surroundings.expect_the_end_in(settings.timeout)
        with limited(settings.memory_limit):
            checks = self._bench.check(
                request.unit,
                self,
                finished=frozenset(request.finished),
                left=request.left,
                only_list=request.only_list,
            )
        self._note(checks)
        self._send(UnitDone(checks=checks))

    def _profile(self, request: AskProfile) -> None:
        from gradtool.profile.profiling import profile_unit

        settings = request.unit.settings
        with limited(settings.memory_limit):
            found = profile_unit(
                self._bench,
                request.unit,
                request.budget,
                lambda case: self._send(CaseProfiled(case=case)),
            )
        self._spoiled = self._spoiled or bool(found.problem)
        self._send(UnitProfiled(function=found))

    def loaded(self) -> None:
        """The module is imported."""
        self._surroundings.expect_the_end_in(self._left)
        self._send(Loaded())

    def opened(self, listed: Done) -> None:
        """The cases are found."""
        self._note(listed.function.checks)
        self._surroundings.expect_the_end_in(self._left)
        self._send(Opened(listed=listed))

    def case_started(self, name: str) -> None:
        """A case is about to be checked."""
        self._send(CaseStarted(name=name))

    def case_finished(self, case: CaseResult) -> None:
        """A case has been checked."""
        self._note(case.checks)
        self._send(CaseFinished(case=case))

    def _note(self, checks: Iterable[CheckResult]) -> None:
        for check in checks:
            if check.rule in _SPOILING and check.verdict is not Verdict.PASS:
                self._spoiled = True

    def _send(self, reply: Reply) -> None:
        if os.getpid() != self._own:
            os._exit(0)
        try:
            self._channel.send(reply)
        except OSError:
            os._exit(LOST)

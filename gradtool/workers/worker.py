"""The process in which the user's code runs."""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import importlib
import inspect
import io
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Iterable
from typing import NoReturn

from gradtool.adapters.engines import BUNDLED, computing_with
from gradtool.checking.canary import misjudgement
from gradtool.checking.unit import Discovery, DiscoveryResult, UnitResult
from gradtool.checking.worker_session import WorkerSession
from gradtool.collect.loader import LoadError
from gradtool.collect.torch_alias.alias import answer_torch_imports
from gradtool.config.resources import require_device
from gradtool.errors import UsageError
from gradtool.findings.could_not_run import not_imported
from gradtool.results.report import CaseResult, CheckResult, Coverage, Verdict
from gradtool.sandbox.interrupts import disable_interrupts
from gradtool.sandbox.memory_limit import memory_limit
from gradtool.sandbox.seal import Seal
from gradtool.sandbox.termination import is_out_of_memory
from gradtool.sandbox.user_errors import UserError, summarize, without_addresses
from gradtool.verify.rules import RULES
from gradtool.verify.thresholds.effort import LONGEST_TIMER_SECONDS
from gradtool.workers.channel import Channel, Reader
from gradtool.workers.deadline import GRACE
from gradtool.workers.file_limits import open_limit
from gradtool.workers.guard import Distrusted, Guard
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
    Idle,
    Loaded,
    Opened,
    Refused,
    Reply,
    Request,
    UnitDone,
    UnitProfiled,
    Untrusted,
)
from gradtool.workers.process_tree import adopt_orphans
from gradtool.workers.worker_death import LOST, NO_MEMORY

_FIRST_DESCRIPTOR = 200
"""Gradtool's own file descriptors start here, out of the way of a careless ``closerange``, or at
half of what the system allows."""


_LOADED_ON_FIRST_USE = (
    "gradtool.adapters.bundled.graphed_levels",
    "gradtool.adapters.bundled.library",
    "gradtool.adapters.common.differentiable",
    "gradtool.engine._torch_names",
    "gradtool.engine.autograd._recording",
    "gradtool.explore.explorer",
    "gradtool.explore.findings",
    "gradtool.explore.surrogates",
    "gradtool.verify.examine",
    "gradtool.verify.variants",
)
"""Modules that nothing loads before the first case, though every case needs them."""


_taken: list[Seal] = []
"""The seal of the fork server, which its workers are compared with."""


def warm_up() -> None:
    """Load, in the fork server, what is otherwise loaded on first use."""
    for name in _LOADED_ON_FIRST_USE:
        importlib.import_module(name)
    for code in RULES:
        RULES[code]
    with answer_torch_imports():  # It completes the engine's namespaces, and knows them then.
        importlib.import_module("torch")
    Reader(Request)  # type: ignore[arg-type]  # msgspec looks at each struct but once.
    inspect.getsource(warm_up)  # It compiles the patterns of a tokenizer.
    with computing_with(BUNDLED):  # What is computed once is then there in all workers.
        misjudgement(0, thoroughly=False)
    _taken.append(Seal())


def main(messages: int, output: int, traceback: int, key: bytes) -> NoReturn:
    """Answer the requests that arrive over the socket `messages` until its other end is closed.

    The key is that of the answers.
    """
    # A group that can be killed with all the code starts, out of reach of the terminal's Ctrl-C.
    os.setsid()
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    disable_interrupts()
    if not _taken:  # The fork server loads nothing where a fork would not survive it.
        warm_up()
    end = socket.socket(fileno=_out_of_the_way(messages))
    worker = _Worker(
        Channel(end, Request, key),  # type: ignore[arg-type]  # a union of structs
        _StandardStreams(output, traceback),
    )
    os.register_at_fork(after_in_child=worker.silence)
    worker.serve()
    os._exit(0)


def _subject(request: Request) -> str:
    """The module, Function or device that a request is about."""
    match request:
        case AskDiscovery(discovery=discovery):
            return discovery.shown
        case AskDevice(device=device):
            return device
        case _:
            return request.unit.node


_BETWEEN_NEWS = 1.0
"""Seconds between two messages about what is explored."""


class _Worker:
    """Answers requests. Also the `Listener` of its session."""

    def __init__(self, channel: Channel[Request], streams: _StandardStreams) -> None:
        self._channel = channel
        self._streams = streams
        self._session = WorkerSession()
        self._guard = Guard(_taken[0])
        self._own = os.getpid()
        self._spoiled = False
        self._left: float | None = None
        self._told = time.monotonic()
        """The time of the last news about exploring."""

    def serve(self) -> None:
        """Answer requests in turn."""
        while (request := self._channel.receive()) is not None:
            try:
                self._answer(request)
            except UsageError as error:
                self._send(Refused(message=str(error)))
            except Distrusted as error:
                self._spoiled = True
                self._send(Untrusted(reason=str(error)))
            except KeyboardInterrupt:
                # The signal came between two calls to the checked code: it ends the process.
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGINT)
            except BaseException as error:
                if is_out_of_memory(error):
                    # A message would need memory too; an exit code does not.
                    os._exit(NO_MEMORY)
                self._spoiled = True
                self._send(Fault.of(error, _subject(request)))
            self._streams.dump_traceback_after(None)
            self._streams.restore()
            # A thread that the code left running could disturb the next Function.
            self._send(Idle(spoiled=self._spoiled or threading.active_count() > 1))

    def silence(self) -> None:
        """Keep a process that the user's code forked from sending messages as the worker."""
        self._own = -1

    def _answer(self, request: Request) -> None:
        match request:
            case AskDevice(device=device):
                require_device(device)
                self._send(DeviceThere())
            case AskDiscovery(discovery=discovery):
                self._streams.dump_traceback_after(discovery.settings.timeout)
                with memory_limit(discovery.settings.memory_limit):
                    answer = self._discovered(discovery)
                self._note([answer.problem] if answer.problem else [])
                self._send(DiscoveryDone(answer=answer))
            case AskUnit():
                with self._guard.of_faults():
                    self._guard.prepare(request.unit.settings)
                    self._check(request)
            case AskProfile():
                self._profile(request)

    def _discovered(self, discovery: Discovery) -> DiscoveryResult:
        try:
            with self._guard.of_faults():
                self._guard.prepare(discovery.settings)
                answer = self._session.discover(discovery)
            self._guard.require_sealed()
        except (UsageError, MemoryError, Distrusted):
            raise
        except BaseException as error:  # An odd module must not end the run for all others.
            return DiscoveryResult(problem=_not_examined(discovery, error))
        return answer

    def _check(self, request: AskUnit) -> None:
        settings, started = request.unit.settings, time.process_time()
        self._left = settings.timeout if request.left is None else request.left
        self._streams.dump_traceback_after(settings.timeout)
        with memory_limit(settings.memory_limit):
            checks = self._session.check(
                request.unit,
                self,
                finished=frozenset(request.finished),
                left=request.left,
                only_list=request.only_list,
            )
        self._note(checks)
        if not request.only_list:
            self._guard.at_end(settings, time.process_time() - started)
        self._send(UnitDone(checks=checks))

    def _profile(self, request: AskProfile) -> None:
        from gradtool.profile.profiling import profile_unit

        settings = request.unit.settings
        with memory_limit(settings.memory_limit):
            found = profile_unit(
                self._session,
                request.unit,
                request.budget,
                lambda case: self._send(CaseProfiled(case=case)),
            )
        self._spoiled = self._spoiled or bool(found.problem)
        self._send(UnitProfiled(function=found))

    def loaded(self) -> None:
        """The module is imported."""
        self._streams.dump_traceback_after(self._left)
        self._guard.after_load()
        self._send(Loaded())

    def opened(self, listed: UnitResult) -> None:
        """The cases are found."""
        self._note(listed.function.checks)
        self._streams.dump_traceback_after(self._left)
        self._send(Opened(listed=listed))

    def case_started(self, name: str) -> None:
        """A case is about to be checked."""
        self._send(CaseStarted(name=name))

    def case_finished(self, case: CaseResult) -> None:
        """A case has been checked."""
        self._note(case.checks)
        self._guard.require_sealed()
        self._send(CaseFinished(case=case))

    def exploring(self, what: str) -> None:
        """The Function is explored. Told once a second, as somebody reads it."""
        if time.monotonic() - self._told >= _BETWEEN_NEWS:
            self._told = time.monotonic()
            self._send(Exploring(what=what))

    def explored(self, coverage: Coverage | None, seconds: float) -> None:
        """The Function has been explored."""
        self._send(Explored(coverage=coverage, seconds=seconds))

    def _note(self, checks: Iterable[CheckResult]) -> None:
        for check in checks:
            if check.verdict is not Verdict.PASS and RULES[check.rule].taints_worker:
                self._spoiled = True

    def _send(self, reply: Reply) -> None:
        # A child that the user's code forked has returned into gradtool's code.
        if os.getpid() != self._own:
            os._exit(0)
        try:
            self._channel.send(reply)
        except OSError:
            os._exit(LOST)


def _not_examined(discovery: Discovery, error: BaseException) -> CheckResult:
    """GT001 for a module that was imported, and leaves what no code expects."""
    text = without_addresses("".join(traceback.format_exception(error)))
    problem = LoadError(
        f"cannot be examined: {summarize(error)}",
        UserError(type(error).__name__, None, text),
        "check whether the code replaced attributes of a function, class, module or exception",
    )
    return not_imported(discovery.shown, problem, discovery.settings, path=discovery.path)


def _out_of_the_way(descriptor: int) -> int:
    """Move a file to a high descriptor, which programs that the code starts do not inherit."""
    first = min(_FIRST_DESCRIPTOR, open_limit() // 2)
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, first)
    os.close(descriptor)
    return moved


class _StandardStreams:
    """Standard streams that can be restored, and a pipe for the traceback of a crash."""

    def __init__(self, output: int, traceback: int) -> None:
        """Send output to the descriptor `output`, and the traceback of a crash to `traceback`."""
        self._output = _out_of_the_way(output)
        self._traceback = _out_of_the_way(traceback)
        # Each wait starts a thread, so one that has just begun is kept.
        self._awaited: float | None = None
        self._since = 0.0
        self.restore()
        faulthandler.enable(file=self._traceback, all_threads=False)

    def restore(self) -> None:
        """Reopen the standard streams, whatever the code did to them."""
        for stream in (sys.stdout, sys.stderr):
            # The code may have closed the stream, or put any object in its place.
            with contextlib.suppress(Exception):
                stream.flush()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor, wanted in enumerate((nothing, self._output, self._output)):
            os.dup2(wanted, descriptor)
        # If the code closed a standard descriptor, `os.open` took its number.
        if nothing > 2:
            os.close(nothing)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - stays open
        sys.stdout, sys.stderr = _text(1), _text(2)

    def dump_traceback_after(self, seconds: float | None) -> None:
        """Write a traceback shortly before the worker is killed for running over `seconds`."""
        if seconds is None:
            faulthandler.cancel_dump_traceback_later()
            self._awaited = None
        elif self._awaited != seconds or time.monotonic() - self._since > GRACE / 4:
            self._awaited, self._since = seconds, time.monotonic()
            with contextlib.suppress(RuntimeError):  # It needs a thread: there may be none left.
                late = min(LONGEST_TIMER_SECONDS, seconds + GRACE / 2)
                faulthandler.dump_traceback_later(late, file=self._traceback)


def _text(descriptor: int) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True
    )

"""The process that workers are forked from, and that sees to it that nothing of them stays.

It loads NumPy, the engine and the checker once and never runs the user's code. When the
process that reports closes its pipe, or dies, all workers and all that they started are
killed.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import traceback
from collections import deque
from collections.abc import Sequence
from typing import NoReturn

from gradtool.workers import process
from gradtool.workers.channel import Reader, framed
from gradtool.workers.messages import Exited, Fault, Fork, Kill, Order, Ready

FDS = 3
"""File descriptors that come with a `Fork`: messages, output, last words."""

_CHUNK = 2**16


def main(control: int) -> NoReturn:
    """Serve the process at the other end of the socket with the file descriptor `control`."""
    end = socket.socket(fileno=control)
    sys.argv[:] = ["gradtool"]
    code = 0
    try:
        _Nursery(end).run()
    except BaseException as error:
        code = 1
        with contextlib.suppress(OSError):
            end.sendall(framed(fault_of(error)))
    os._exit(code)


def fault_of(error: BaseException, about: str = "") -> Fault:
    """What to tell of a fault of gradtool's own, in the work on `about`."""
    summary = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    told = "".join(traceback.format_exception(error))
    return Fault(summary=summary, traceback=f"{about}\n{told}" if about else told)


class _Nursery:
    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._reader: Reader[Order] = Reader(Order)  # type: ignore[arg-type]  # a union of structs
        self._workers: dict[int, tuple[int, int]] = {}
        """By process id: number, and how often the out-of-memory killer had struck."""
        self._descriptors: deque[int] = deque()
        self._wake, self._woken = os.pipe()

    def run(self) -> None:
        """Load everything, then fork and bury workers until the other end is closed."""
        self._listen_for_deaths()
        self._send(Ready(numpy=_load_everything()))
        is_open = True
        while is_open:
            ready, _, _ = select.select([self._end.fileno(), self._wake], [], [])
            is_open = self._obey() if self._end.fileno() in ready else True
            self._bury()
        for pid in self._workers:
            process.kill_group(pid)
        process.end_orphans(set())

    def _listen_for_deaths(self) -> None:
        process.adopt_orphans()
        for end in (self._wake, self._woken):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def _obey(self) -> bool:
        """Carry out what arrived; whether there may be more."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self._end, _CHUNK, 64)
        except ConnectionError:
            return False
        self._descriptors.extend(descriptors)
        for order in self._reader.feed(data):
            match order:
                case Fork(number=number):
                    self._fork(number, [self._descriptors.popleft() for _ in range(FDS)])
                case Kill(number=number):
                    self._kill(number)
        return bool(data)

    def _fork(self, number: int, descriptors: Sequence[int]) -> None:
        struck = process.oom_kills()
        own = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become_worker(own, descriptors)
        self._workers[pid] = (number, struck)
        for descriptor in descriptors:
            os.close(descriptor)

    def _become_worker(self, nursery: int, descriptors: Sequence[int]) -> NoReturn:
        """What a new worker does first: let go of all that is the nursery's."""
        try:
            process.die_with(nursery)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._end.close()
            for descriptor in (self._wake, self._woken, *self._descriptors):
                os.close(descriptor)
            from gradtool.workers import worker

            worker.main(*descriptors)
        finally:
            os._exit(1)

    def _kill(self, number: int) -> None:
        for pid, (known, _) in self._workers.items():
            if known == number:
                process.kill_group(pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _bury(self) -> None:
        """Tell of the workers that have ended, once nothing of them is left."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, _CHUNK)
        while (pid := _ended()) is not None:
            if pid in self._workers:
                process.kill_group(pid)
            _, status, usage = os.wait4(pid, 0)
            number, struck = self._workers.pop(pid, (None, 0))
            if number is None:
                continue
            process.end_orphans(set(self._workers))
            oom_killed = process.oom_kills() > struck
            peak = usage.ru_maxrss * 1024
            self._send(Exited(number=number, status=status, peak=peak, oom_killed=oom_killed))

    def _send(self, message: Ready | Exited) -> None:
        with contextlib.suppress(ConnectionError):  # The end of the loop notices.
            self._end.sendall(framed(message))


def _ended() -> int | None:
    """A child that has ended and is not buried yet."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return found.si_pid if found else None


def _load_everything() -> str:
    """Load what all workers need, so that each begins with it; returns NumPy's version."""
    gc.disable()  # What is loaded stays, so that looking through it again and again is vain.
    import numpy as np

    if sys.platform == "linux":  # Elsewhere its libraries need not survive a fork.
        import gradtool.workers.worker

        gradtool.workers.worker.warm_up()
    gc.freeze()
    gc.enable()
    return np.__version__

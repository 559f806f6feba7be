"""The process that workers are forked from, and that ends whatever they leave behind.

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
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from gradtool.workers import control_group, process_tree
from gradtool.workers.channel import Reader, framed
from gradtool.workers.file_limits import limit_files
from gradtool.workers.messages import Exited, Fault, Fork, Kill, Order, Ready

if TYPE_CHECKING:
    import resource

FDS = 3
"""File descriptors that come with a `Fork`: messages, output, crash traceback."""

_CHUNK = 2**16


def main(control: int) -> NoReturn:
    """Serve the process at the other end of the socket with the file descriptor `control`."""
    end = socket.socket(fileno=control)
    # It then ends like by any other signal, and is replaced.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    control_group.enter()
    limit_files()
    sys.argv[:] = ["gradtool"]
    code = 0
    try:
        _ForkServer(end).run()
    except BaseException as error:
        code = 1
        with contextlib.suppress(OSError):
            end.sendall(framed(Fault.of(error)))
    os._exit(code)


class _ForkServer:
    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._reader: Reader[Order] = Reader(Order)  # type: ignore[arg-type]  # a union of structs
        self._workers: dict[int, tuple[int, int]] = {}
        """By process id: the worker's number, and the system's count of OOM kills at its start."""
        self._descriptors: deque[int] = deque()
        self._wake, self._woken = os.pipe()

    def run(self) -> None:
        """Load everything, then fork and reap workers until the other end is closed."""
        self._wake_on_child_exit()
        self._send(Ready(numpy=_load_everything()))
        is_open = True
        while is_open:
            ready, _, _ = select.select([self._end.fileno(), self._wake], [], [])
            is_open = self._obey() if self._end.fileno() in ready else True
            self._reap()
        for pid in self._workers:
            process_tree.kill_group(pid)
        process_tree.end_orphans(set())

    def _wake_on_child_exit(self) -> None:
        process_tree.adopt_orphans()
        # `set_wakeup_fd` requires it of its end; `_reap` reads the other even when empty.
        for end in (self._wake, self._woken):
            os.set_blocking(end, False)
        # A signal does not end `select`, which Python restarts (PEP 475): a byte in a pipe does.
        signal.set_wakeup_fd(self._woken, warn_on_full_buffer=False)
        # Only a signal with a Python handler writes that byte.
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def _obey(self) -> bool:
        """Carry out the orders that arrived; return True while more may follow."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self._end, _CHUNK, 64)
        except ConnectionError:
            return False
        self._descriptors.extend(descriptors)
        for order in self._reader.feed(data):
            match order:
                case Fork():
                    self._fork(order, [self._descriptors.popleft() for _ in range(FDS)])
                case Kill(number=number):
                    self._kill(number)
        return bool(data)

    def _fork(self, order: Fork, descriptors: Sequence[int]) -> None:
        # Counted before the fork, so that a kill right after it is seen.
        oom_kills = process_tree.oom_kills()
        own = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become_worker(own, descriptors, order.key)
        self._workers[pid] = (order.number, oom_kills)
        # Held open here, the pipes would not report the end of the worker to their readers.
        for descriptor in descriptors:
            os.close(descriptor)

    def _become_worker(self, fork_server: int, descriptors: Sequence[int], key: bytes) -> NoReturn:
        """In the new process, close what belongs to the fork server and serve as a worker."""
        try:
            process_tree.die_with(fork_server)
            # The pipe is shared: signals of the worker would wake the fork server.
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._end.close()
            # Among them are those sent for later workers, whose pipes must close when they end.
            for descriptor in (self._wake, self._woken, *self._descriptors):
                os.close(descriptor)
            from gradtool.workers import worker

            messages, output, traceback = descriptors
            worker.main(messages, output, traceback, key)
        # The child must never return into the fork server's loop.
        finally:
            os._exit(1)

    def _kill(self, number: int) -> None:
        for pid, (known, _) in self._workers.items():
            if known == number:
                process_tree.kill_group(pid)
                # It leads a group only once it has called `setsid`.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _reap(self) -> None:
        """Reap workers that have ended, with all their children, and report each."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, _CHUNK)
        while (ended := self._ended_child()) is not None:
            pid, status, usage = ended
            number, oom_kills = self._workers.pop(pid, (None, 0))
            if number is None:
                continue
            # What left the group with a `setsid` of its own is a child of this process now.
            process_tree.end_orphans(set(self._workers))
            oom_killed = process_tree.oom_kills() > oom_kills
            # Linux counts in KiB.
            peak = usage.ru_maxrss * 1024
            self._send(Exited(number=number, status=status, peak=peak, oom_killed=oom_killed))

    def _ended_child(self) -> tuple[int, int, resource.struct_rusage] | None:
        """Reap a child that has ended, with its group: process id, wait status and usage."""
        with contextlib.suppress(ChildProcessError):
            if not hasattr(os, "waitid"):  # macOS, before Python 3.13.
                ended = os.wait4(-1, os.WNOHANG)
                return ended if ended[0] else None
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found:
                # Before it is reaped: afterwards its number may belong to another process.
                if found.si_pid in self._workers:
                    process_tree.kill_group(found.si_pid)
                return os.wait4(found.si_pid, 0)
        return None

    def _send(self, message: Ready | Exited) -> None:
        with contextlib.suppress(ConnectionError):  # `run` ends on the next read.
            self._end.sendall(framed(message))


def _load_everything() -> str:
    """Load what all workers need, so that each starts with it; return NumPy's version."""
    gc.disable()  # What is loaded stays: there is nothing to collect.
    import numpy as np

    if sys.platform == "linux":  # Elsewhere its libraries need not survive a fork.
        import gradtool.workers.worker

        gradtool.workers.worker.warm_up()
    # A collection in a worker then leaves these objects alone, and their pages shared.
    gc.freeze()
    gc.enable()
    return np.__version__

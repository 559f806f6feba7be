"""Start of the fork server, as early as possible.

Loading the checker takes longer than reading the command line, so the command starts the fork
server first of all and the pool takes it over.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

_BOOT = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from gradtool.workers.fork_server import main; main(int(sys.argv[1]))"
)
"""Source that gives the fork server this process's search path, as ``python -m`` would not."""

_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
"""Variables that keep results reproducible: the order of a sum depends on the thread count."""

_CHUNK = 2**16

_SHUTDOWN_TIMEOUT = 10.0
"""Seconds that the fork server may take to end its workers."""

_ahead: list[Launched] = []

_alive: set[int] = set()
"""Process ids of fork servers."""

_is_command = False
"""True in a command's own process, all of whose children are started here or soon waited for."""


class Launched:
    """A fork server that is loading, and this end of the socket over which it takes orders."""

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self.process = process
        self.control = control

    def close(self) -> None:
        """Let it end its workers, and then itself."""
        try:
            self._await_end()
            self.process.wait(_SHUTDOWN_TIMEOUT)
        except BaseException:  # An interrupt too, which must not wait for an orderly end.
            self.kill()
        self._leave_nothing()

    def _await_end(self) -> None:
        """Close the socket from here, then wait until its other end is closed.

        `Popen.wait` alone looks at growing intervals, and so notices the end late.
        """
        with self.control, contextlib.suppress(ConnectionError):
            self.control.shutdown(socket.SHUT_WR)
            self.control.settimeout(_SHUTDOWN_TIMEOUT)
            while self.control.recv(_CHUNK):
                pass

    def kill(self) -> None:
        """End it at once, with what its workers started, where this process knows of it."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        self._leave_nothing()
        if _is_command:
            from gradtool.workers import process_tree

            process_tree.end_orphans(_alive)

    def is_stopped(self) -> bool:
        """Return True while it is stopped by a signal, and so does nothing."""
        if not hasattr(os, "waitid"):  # macOS, before Python 3.13.
            return False
        flags = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.process.pid, flags) is not None
        return False

    def _leave_nothing(self) -> None:
        from gradtool.workers import control_group

        _alive.discard(self.process.pid)
        control_group.end(self.process.pid)


def launch() -> Launched:
    """Return the fork server that was started ahead, or else a new one."""
    if _is_command:
        from gradtool.workers import process_tree

        process_tree.adopt_orphans()  # Those of a fork server that is killed.
    return _ahead.pop() if _ahead else _start()


def launch_ahead() -> None:
    """Start a fork server now, for the next `launch`, in a command's own process."""
    global _is_command
    _is_command = True
    _ahead.append(_start())


def call_off() -> None:
    """End fork servers that were started ahead and not used."""
    while _ahead:
        _ahead.pop().kill()


def _start() -> Launched:
    ours, theirs = socket.socketpair()
    with theirs, _without_interrupts():
        process = subprocess.Popen(
            _command(theirs.fileno()),
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            # A hash seed of the user's holds; the thread counts hold in any case.
            env={"PYTHONHASHSEED": "0", **os.environ, **_ONE_THREAD},
            # Out of reach of the terminal's Ctrl-C.
            start_new_session=True,
        )
    _alive.add(process.pid)
    return Launched(process, ours)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes in the block that an interrupt reaches only once they let it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _command(control: int) -> list[str]:
    path = [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - see above
    options = [f"-W{option}" for option in sys.warnoptions]
    # `-P`: the current folder is in the search path only if it is in this process's.
    return [sys.executable, *options, "-P", "-c", _BOOT, str(control), *path]

"""Linux's means to end a whole tree of processes; other systems offer only some of them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

# Of <linux/prctl.h>, which Python does not wrap.
_SET_DEATH_SIGNAL = 1
_SET_SUBREAPER = 36
_KILL_TIMEOUT = 5.0
"""Seconds in which a killed process should be gone."""

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with(parent: int) -> None:
    """Be killed when the process `parent`, which forked this one, ends in whatever way."""
    _control(_SET_DEATH_SIGNAL, signal.SIGKILL)
    # The parent may have ended before the signal was requested; then none will come.
    if os.getppid() != parent:
        os._exit(0)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    _control(_SET_SUBREAPER, 1)


def _control(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, value, 0, 0, 0)


def kill_group(leader: int) -> None:
    """Kill all processes of the group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def end_orphans(known: set[int]) -> None:
    """Kill and reap all children of this process but the `known` ones, and their children."""
    until = time.monotonic() + _KILL_TIMEOUT
    # A killed process leaves its own children to this one, so one pass is not enough.
    while (orphans := _children() - known) and time.monotonic() < until:
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                _reap_soon(pid)


def _reap_soon(pid: int) -> None:
    for _ in range(100):
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            return
        time.sleep(0.002)


def _children() -> set[int]:
    own = os.getpid()
    with contextlib.suppress(OSError, ValueError):  # A kernel may be built without this file.
        listed = Path(f"/proc/{own}/task/{own}/children").read_bytes()
        return {int(pid) for pid in listed.split()}
    return {pid for pid in _processes() if _parent_of(pid) == own}


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - fast
    except OSError:
        return []


def _parent_of(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
        # The name before it, in parentheses, may hold spaces and parentheses itself.
        return int(text.rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


def oom_kills() -> int:
    """The number of times the out-of-memory killer has struck since the system started."""
    try:
        lines = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def available_memory() -> int:
    """Bytes that can be allocated without swapping, in a container no more than its limit.

    0 where the system does not say: it is Linux that does.
    """
    free = 0
    with contextlib.suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    # Where there is no limit, the file says "max" or does not exist.
    with contextlib.suppress(OSError, ValueError):
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
        free = min(free, limit)
    return free

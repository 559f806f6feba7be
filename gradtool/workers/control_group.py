"""A control group of Linux's, which ends a run's workers with everything that they started.

A process can leave its group of processes and its session, but not its control group. The files of
these are writable for root and in a systemd session; elsewhere there is none, and processes are
found one by one. See https://docs.kernel.org/admin-guide/cgroup-v2.html.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

_MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
"""Where version 2 is mounted: alone, or beside version 1."""

_PREFIX = "gradtool-"

_TIMEOUT = 2.0
"""Seconds in which killed processes should be gone."""


def enter() -> None:
    """Move this process, and what it starts from now on, to a control group of its own."""
    if (parent := _own()) is None:
        return
    for left in parent.glob(f"{_PREFIX}*"):  # By a run that was killed; others are not empty.
        _remove(left)
    group = parent / f"{_PREFIX}{os.getpid()}"
    with contextlib.suppress(OSError):
        group.mkdir()
        (group / "cgroup.procs").write_text("0", encoding="ascii")


def end(leader: int) -> None:
    """Kill everything in the control group of the process `leader`, a child of this one."""
    if (parent := _own()) is None or not (group := parent / f"{_PREFIX}{leader}").is_dir():
        return
    with contextlib.suppress(OSError):
        (group / "cgroup.kill").write_text("1", encoding="ascii")
    until = time.monotonic() + _TIMEOUT
    while not _remove(group) and time.monotonic() < until:
        time.sleep(0.002)


def _own() -> Path | None:
    """The folder of this process's control group, if it can have groups below it."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
        paths = [line.removeprefix("0::/") for line in lines if line.startswith("0::/")]
        for folder in (mount / path for path in paths for mount in _MOUNTS):
            if os.access(folder / "cgroup.procs", os.W_OK):
                return folder
    return None


def _remove(group: Path) -> bool:
    """Remove a group and those below it; return False while a process is in them."""
    with contextlib.suppress(FileNotFoundError):
        for below, _, _ in os.walk(group, topdown=False):
            try:
                os.rmdir(below)  # noqa: PTH106 - `os.walk` gives texts
            except OSError:
                return False
    return True

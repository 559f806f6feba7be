"""Run the command as on another system: ``python other_system.py win32 check ops.py``.

Modules and names that the system lacks are taken away before gradtool is imported, and after what
looks at the system itself: the standard library and the packages that gradtool needs.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import msgspec
import numpy
import rich.console
import rich.live
import rich.progress
import rich.traceback
import typer

with contextlib.suppress(ImportError):  # some versions of typer bring a copy of it
    importlib.import_module("click.shell_completion")

LOADED = (asyncio, multiprocessing, subprocess, tempfile, msgspec, numpy, rich, typer)

MODULES = {"win32": {"curses", "fcntl", "grp", "pty", "pwd", "readline", "resource", "termios"}}
OS = {
    "win32": """
        fork forkpty getloadavg getpgid getpgrp getuid killpg mkfifo nice posix_spawn pread pwrite
        register_at_fork sched_getaffinity setpgid setsid sysconf uname wait wait4 waitid P_ALL
        P_PID WEXITED WNOHANG WNOWAIT WSTOPPED O_DIRECTORY O_NOFOLLOW O_NONBLOCK WIFSIGNALED""",
    "darwin": "memfd_create pidfd_open sched_getaffinity waitid P_ALL P_PID WNOWAIT",
}
SIGNAL = {
    "win32": """
        SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGPROF SIGQUIT SIGSTOP SIGTSTP SIGUSR1
        SIGUSR2 SIGVTALRM SIGXCPU SIGXFSZ ITIMER_REAL SIG_BLOCK SIG_SETMASK SIG_UNBLOCK alarm
        getitimer pause pthread_kill pthread_sigmask setitimer siginterrupt sigwait"""
}


class Lacking(MetaPathFinder):
    """Finds no module that the system lacks."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse it."""
        if fullname in self._names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def become(system: str) -> None:
    """Take away what the system lacks."""
    sysconfig.get_paths()
    lacking = MODULES.get(system, set())
    sys.meta_path.insert(0, Lacking(lacking))
    for name in lacking:
        sys.modules.pop(name, None)
    for module, names in ((os, OS), (signal, SIGNAL)):
        for name in names.get(system, "").split():
            if hasattr(module, name):
                delattr(module, name)
    sys.platform = system


if __name__ == "__main__":
    become(sys.argv.pop(1))
    from gradtool.cli.main import main

    sys.exit(main())  # type: ignore[func-returns-value]

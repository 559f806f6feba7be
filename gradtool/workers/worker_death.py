"""The end of a worker, and the termination of the Function that it was busy with."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import msgspec

from gradtool.config.settings import Settings
from gradtool.package import OWN_CODE
from gradtool.results.paths import shown_path
from gradtool.results.report import Location
from gradtool.sandbox.termination import Termination, crashed, ended, out_of_memory, timed_out

NO_MEMORY = 112
"""Exit code of a worker that the code left no memory to go on with."""

LOST = 113
"""Exit code of a worker that can no longer send messages."""

_SENT = {signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM}
"""Signals that another process, or a call to ``os.kill``, sends: no fault of the processor does."""

_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)


class Death(msgspec.Struct, frozen=True):
    """The end of a worker."""

    status: int
    """As `os.waitpid` gives it."""
    traceback: str = ""
    """Written by the fault handler: the place of the code at the end."""
    out_of_time: bool = False
    """It was killed because its deadline had passed."""
    garbled: bool = False
    """It was killed because it sent bytes that are no message."""
    oom_killed: bool = False
    """The system's out-of-memory killer struck while it ran."""

    def termination(self, settings: Settings, home: Path) -> Termination:
        """Attribute the end to the user's code below the folder `home`."""
        place, detail = _innermost(self.traceback, home), _detail(self.traceback)
        if self.out_of_time:
            return timed_out(settings, place, detail)
        if self.garbled:
            return ended("it wrote to one of gradtool's pipes", place, detail)
        # A wait status holds the exit code in its second byte.
        if self.status == NO_MEMORY << 8:
            return out_of_memory("no memory was left to report the error", settings, place, detail)
        if not os.WIFSIGNALED(self.status):
            return ended(_exit(os.waitstatus_to_exitcode(self.status)), place, detail)
        number = os.WTERMSIG(self.status)
        # The count of OOM kills is the whole system's: alone it proves nothing about this worker.
        if number == signal.SIGKILL and self.oom_killed:
            cause = "the system's out-of-memory killer stopped it"
            return out_of_memory(cause, settings, place, detail)
        return crashed(_signal(number), place, detail, was_sent=number in _SENT)


def _exit(code: int) -> str:
    if code == LOST:
        return "it closed one of gradtool's pipes"
    return f"exit code {code}"


def _signal(number: int) -> str:
    """``SIGSEGV (Segmentation fault)``."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name} ({signal.strsignal(number)})"


def _innermost(traceback: str, home: Path) -> Location | None:
    """The innermost line below `home`, or else the innermost outside of gradtool and Python."""
    frames = [(_unescaped(m[1]), int(m[2])) for m in _FRAME.finditer(traceback)]
    users = [frame for frame in frames if not frame[0].startswith((OWN_CODE, "<"))]
    nearest = [frame for frame in users if Path(frame[0]).is_relative_to(home)]
    # The fault handler writes the innermost frame first, unlike `traceback`.
    found = next(iter(nearest or users), None)
    return Location(path=shown_path(Path(found[0])), line=found[1]) if found else None


def _detail(traceback: str) -> str | None:
    """The user's frames, innermost first, as the fault handler wrote them."""
    noise = (f'  File "{OWN_CODE}', '  File "<', "Extension modules: ")
    lines = [line for line in traceback.splitlines() if not line.startswith(noise)]
    return "\n".join(lines).strip() or None


def _unescaped(path: str) -> str:
    """Undo the escapes of the fault handler, which writes ASCII only."""
    try:
        return path.encode("ascii").decode("unicode_escape") if "\\" in path else path
    except UnicodeError:
        return path

"""Host memory available to a process, within the limits of its control groups.

A container often has less than the machine, and the kernel kills a process that exceeds its limit,
so the smallest limit counts. The files are those of Linux; other systems have `sysconf`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")

_UNLIMITED = 1 << 60
"""Control groups v1 report a number above this if there is no limit."""


def host_memory(root: Path = _ROOT) -> tuple[int, int]:
    """Return available and total bytes; 0 if unknown.

    Args:
        root: The parent of ``proc`` and ``sys``.
    """
    available, total = _of_machine(root)
    for limit, used in _groups(root):
        total = min(total, limit) if total else limit
        available = min(available, max(0, limit - used))
    return available, total


def _of_machine(root: Path) -> tuple[int, int]:
    text = _text(root / "proc/meminfo")
    found = {
        name: int(kilobytes) << 10
        for name, kilobytes in re.findall(r"^(MemAvailable|MemTotal):\s+(\d+) kB", text, re.M)
    }
    if len(found) == 2:
        return found["MemAvailable"], found["MemTotal"]
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
    except (AttributeError, ValueError, OSError):  # no such system call, or no such figure
        return 0, 0


def _groups(root: Path) -> Iterator[tuple[int, int]]:
    """Yield limit and use of the process's control groups, and of their ancestors with a limit."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not controllers:
            base, names = root / "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            base = root / "sys/fs/cgroup/memory"
            names = (
                "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
            )  # fmt: skip
        else:
            continue
        for place in _upwards(base, path):
            found = _group(place, *names)
            if found is not None:
                yield found


def _upwards(base: Path, path: str) -> Iterator[Path]:
    """Yield a group's folder and its parents. In a container only the topmost may exist."""
    parts = [part for part in path.split("/") if part and part != ".."]
    for count in range(len(parts), -1, -1):
        yield base.joinpath(*parts[:count])


def _group(place: Path, limit: str, used: str, reclaimable: str) -> tuple[int, int] | None:
    stated = _text(place / limit)
    if not stated.isdecimal() or int(stated) >= _UNLIMITED:
        return None
    taken = _text(place / used)
    # The kernel reclaims unused pages of files before it kills a process.
    spare = re.search(rf"^{reclaimable} (\d+)$", _text(place / "memory.stat"), re.M)
    use = int(taken) if taken.isdecimal() else 0
    return int(stated), max(0, use - (int(spare[1]) if spare else 0))


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""

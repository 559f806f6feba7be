"""How much memory of the host a process may still take: the machine's, or its control group's.

A container is often given less than the machine has. Taking more than that is punished by death,
so the least of all limits counts. Files are those of Linux; elsewhere `sysconf` is asked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")

_UNLIMITED = 1 << 60
"""What control groups of the first version state where there is no limit is above this."""


def host_memory(root: Path = _ROOT) -> tuple[int, int]:
    """Available and total bytes; 0 where nothing tells.

    Args:
        root: Where ``proc`` and ``sys`` are.
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
    """Limit and use of the process's control groups and of all above them that have a limit."""
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
    """A group's folder and those above it. Inside a container only the topmost may be there."""
    parts = [part for part in path.split("/") if part and part != ".."]
    for count in range(len(parts), -1, -1):
        yield base.joinpath(*parts[:count])


def _group(place: Path, limit: str, used: str, reclaimable: str) -> tuple[int, int] | None:
    stated = _text(place / limit)
    if not stated.isdecimal() or int(stated) >= _UNLIMITED:
        return None
    taken = _text(place / used)
    # Pages of files that nobody uses are given up before anybody is killed.
    spare = re.search(rf"^{reclaimable} (\d+)$", _text(place / "memory.stat"), re.M)
    use = int(taken) if taken.isdecimal() else 0
    return int(stated), max(0, use - (int(spare[1]) if spare else 0))


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""

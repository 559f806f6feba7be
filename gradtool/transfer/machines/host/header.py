"""The host's part of a report's header; what the system does not report stays empty."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import numpy as np

from gradtool.package import __version__
from gradtool.results.transfer import Header
from gradtool.transfer.machines.host.locked_memory import lock_limit
from gradtool.transfer.machines.machine import Machine

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")

USUAL_CACHE = 64 << 20
"""Assumed bytes of the last-level cache where its size is unknown."""


def host_header(machine: Machine) -> Header:
    """The header of a run; a CUDA device adds its own part."""
    usable = getattr(os, "sched_getaffinity", None)
    return Header(
        gradtool=__version__,
        python=platform.python_version(),
        numpy=np.__version__,
        platform=platform.platform(),
        device=machine.device_name,
        backend="host-sim" if machine.on_host else "cuda",
        cpu=_processor(),
        cpus=len(usable(0)) if usable else os.cpu_count(),
        cache=last_level_cache(),
        container=container(),
        governor=_text(_GOVERNOR) or None,
        lock_limit=lock_limit(),
    )


def last_level_cache(caches: Path = _CACHES) -> int | None:
    """Bytes of the largest cache that the system reports."""
    found = [_size(_text(place / "size")) for place in caches.glob("index*")]
    return max((size for size in found if size), default=None)


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)([KM]?)", text)
    return int(match[1]) * {"": 1, "K": 1 << 10, "M": 1 << 20}[match[2]] if match else 0


def _processor() -> str | None:
    found = re.search(r"^model name\s*:\s*(.+)$", _text(Path("/proc/cpuinfo")), re.M)
    return found[1].strip() if found else platform.processor() or platform.machine() or None


def container(root: Path = Path("/")) -> str | None:
    """Container around the process, if known: it affects the cost of copies and locks."""
    version = _text(root / "proc/version")
    if "microsoft" in version.lower():
        return "WSL"
    if "gvisor" in version.lower() or "Linux version 4.4.0 #1 SMP Sun Jan 10" in version:
        return "gVisor"
    if "KUBERNETES_SERVICE_HOST" in os.environ:
        return "Kubernetes"
    marks = {".dockerenv": "Docker", "run/.containerenv": "Podman"}
    return next((name for mark, name in marks.items() if (root / mark).exists()), None)


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def parse_processors(text: str) -> frozenset[int]:
    """Parse the system's list of processors, such as ``0-2,8``.

    Raises:
        ValueError: The text is no such list.
    """
    found: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)

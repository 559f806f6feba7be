"""Probes of the machine: isolation, page locking, processors, container, terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from gradtool.doctor.results import ProbeResult
from gradtool.spelling import plural

_NODES = Path("/sys/devices/system/node")


def isolation() -> Iterator[ProbeResult]:
    """Probe whether checked code can run in separate processes."""
    if hasattr(os, "fork"):
        yield ProbeResult(
            name="isolation", state="works", found="checked code runs in separate processes"
        )
        return
    found = "no fork: a crash in checked code ends the run"
    advice = "run gradtool on Linux, macOS or WSL"
    yield ProbeResult(name="isolation", state="missing", found=found, advice=advice)


def page_locking() -> Iterator[ProbeResult]:
    """Probe page locking and its limit."""
    import numpy as np

    from gradtool.transfer.errors import UnavailableError
    from gradtool.transfer.machines.host.locked_memory import limit_text, lock_limit, lock_pages

    try:
        lock_pages(np.zeros(4096, np.uint8))()
    except UnavailableError as error:
        advice = "raise the limit: ulimit -l, or --ulimit memlock=-1 for a container"
        yield ProbeResult(name="page locking", state="broken", found=str(error), advice=advice)
        return
    limit = lock_limit()
    small = limit is not None and limit < 64 << 20
    advice = (
        "to measure larger locked buffers with profile-transfer, raise it with ulimit -l"
        if small
        else ""
    )
    yield ProbeResult(
        name="page locking", state="works", found=f"limit: {limit_text()}", advice=advice
    )


def processors() -> Iterator[ProbeResult]:
    """Count the processors that this process may use, and the memory nodes."""
    whole = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else whole
    nodes = len(list(_NODES.glob("node[0-9]*"))) if _NODES.exists() else 0
    numa = f", {plural(nodes, 'NUMA node')}" if nodes else ""
    advice = "bind the process to the device's node to measure transfers" if nodes > 1 else ""
    found = f"{usable} of {whole} usable{numa}"
    yield ProbeResult(name="processors", state="note", found=found, advice=advice)


def container() -> Iterator[ProbeResult]:
    """Name the container, which affects the cost of copies and locks."""
    from gradtool.transfer.machines.host.header import container as container_of

    found = container_of()
    yield ProbeResult(name="container", state="note", found=found or "none detected")


def terminal() -> Iterator[ProbeResult]:
    """Describe the terminal, which decides colours and line widths."""
    if not sys.stdout.isatty():
        found = "standard output is not a terminal: no colours, no wrapping"
        yield ProbeResult(name="terminal", state="note", found=found)
        return
    columns = shutil.get_terminal_size().columns
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    found = f"{columns} columns, {'no colours' if plain else 'colours'}, {sys.stdout.encoding}"
    advice = "widen it to 80 columns; tables wrap below that" if columns < 80 else ""
    yield ProbeResult(name="terminal", state="note", found=found, advice=advice)

"""The PCIe link of a device: its generation and width, read while it is busy.

An idle link slows down to its first generation. The slowest hop between the device and the
processor decides, so the bridges on the way are read too. Where nothing can be read the link is
"unknown", with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gradtool.results.transfer import Link
from gradtool.transfer.machines.cuda.nvml import Nvml
from gradtool.transfer.machines.host.header import parse_processors

PER_LANE = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
"""GB/s of a lane in one direction, raw, by generation: the transfer rate times the encoding."""

_GENERATION_OF_SPEED = {2.5: 1, 5.0: 2, 8.0: 3, 16.0: 4, 32.0: 5, 64.0: 6}
"""By GT/s, as sysfs states speeds."""

_DEVICES = Path("/sys/bus/pci/devices")


def read_link(bus: str, nvml: Nvml | None, devices: Path = _DEVICES) -> Link:
    """Read the present link of the device at a PCI address such as ``0000:3b:00.0``."""
    hops = list(_hops(devices / bus.lower()))
    if hops:
        generation, width = min(hops, key=lambda hop: PER_LANE[hop[0]] * hop[1])
        return _link(generation, width, "sysfs")
    found = nvml.link() if nvml is not None else None
    if found is not None and found[0] in PER_LANE and found[1] > 0:
        return _link(*found, "NVML")
    return Link(unknown="neither sysfs nor NVML reports it")


def _link(generation: int, width: int, source: str) -> Link:
    return Link(
        generation=generation, width=width, gbps=PER_LANE[generation] * width, source=source
    )


def _hops(place: Path) -> Iterator[tuple[int, int]]:
    """Generation and width of the device's link and of every bridge above it."""
    path = place.resolve()
    while (path / "current_link_speed").exists():
        hop = _hop(path)
        if hop is not None:
            yield hop
        path = path.parent


def _hop(path: Path) -> tuple[int, int] | None:
    try:
        speed = (path / "current_link_speed").read_text()
        width = int((path / "current_link_width").read_text())
    except (OSError, ValueError):
        return None
    stated = re.match(r"\s*([\d.]+)", speed)
    generation = _GENERATION_OF_SPEED.get(float(stated[1])) if stated else None
    return (generation, width) if generation and width > 0 else None


def numa_node(bus: str, devices: Path = _DEVICES) -> int | None:
    """The NUMA node that a device belongs to; None where there is one only, or it is unknown."""
    try:
        node = int((devices / bus.lower() / "numa_node").read_text())
    except (OSError, ValueError):
        return None
    return node if node >= 0 else None


def local_processors(bus: str, devices: Path = _DEVICES) -> frozenset[int]:
    """The processors near a device; empty where that is unknown."""
    try:
        return parse_processors((devices / bus.lower() / "local_cpulist").read_text())
    except (OSError, ValueError):
        return frozenset()

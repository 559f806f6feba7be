"""The device's part of a report's header, read while the device is copying."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from gradtool.device import array_module
from gradtool.results.transfer import Header, Link
from gradtool.transfer.errors import guarded
from gradtool.transfer.machines.cuda.link import local_processors, numa_node, read_link
from gradtool.transfer.machines.cuda.nvml import nvml_of
from gradtool.transfer.machines.machine import Machine

_LOAD_SIZE = 32 << 20
_LOAD_COPIES = 100


def describe(machine: Machine, index: int, header: Header) -> tuple[Header, Link]:
    """Add the device's part to the header; both that and the link are read under load."""
    runtime = array_module("cuda").cuda.runtime
    bus = bus_of(index)
    nvml = nvml_of(bus)
    before = nvml.clocks() if nvml else ""
    with _load(machine):
        link = read_link(bus, nvml)
        under_load = nvml.clocks() if nvml else ""
        throttled = nvml.throttled() if nvml else False
    clocks = f"{before} idle, {under_load} under load" + ("; THROTTLED" if throttled else "")
    filled = replace(
        header,
        cupy=str(array_module("cuda").__version__),
        driver=(nvml.driver() if nvml else None) or version_text(runtime.driverGetVersion()),
        runtime=version_text(runtime.runtimeGetVersion()),
        numa_node=numa_node(bus),
        clocks=clocks if under_load else None,
    )
    return filled, link


def bus_of(index: int) -> str:
    """The PCI address of a device."""
    return str(array_module("cuda").cuda.runtime.deviceGetPCIBusId(index)).lower()


def version_text(number: int) -> str:
    """The version that CUDA writes as a number: 12080 is 12.8."""
    return f"{number // 1000}.{number % 1000 // 10}"


@contextmanager
def _load(machine: Machine) -> Iterator[None]:
    """Keep copies under way in the block, so that the link is awake."""
    with contextlib.ExitStack() as stack:
        with guarded(lambda _reason: None):  # Without memory for it, the link may be idle.
            _start_load(machine, stack)
        yield


def _start_load(machine: Machine, stack: contextlib.ExitStack) -> None:
    """Queue copies; leaving the stack waits for them."""
    block = machine.host("pinned", _LOAD_SIZE)
    stack.callback(block.close)
    stream = machine.stream()
    copy = machine.copier(machine.device(_LOAD_SIZE), block.array, stream)
    stack.callback(stream.synchronize)
    for _ in range(_LOAD_COPIES):
        copy()


@contextmanager
def near(index: int) -> Iterator[None]:
    """Run the block on the processors near the device, so that its buffers lie near it too."""
    local: frozenset[int] = frozenset()
    with guarded(lambda _reason: None):  # A device without an address is near no processor.
        local = local_processors(bus_of(index))
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    chosen = before & local
    if chosen:
        os.sched_setaffinity(0, chosen)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)

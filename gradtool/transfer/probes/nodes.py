"""Rates of copies from each NUMA node: the cost of running far from the device.

The thread is bound to the processors of a node before its buffers are allocated and touched, so
that they lie there. Only then the copies are timed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from gradtool.device.protocol import Stream
from gradtool.measure.sampling import runs_per_sample
from gradtool.measure.summary import Summary, summarize
from gradtool.results.transfer import Direction, NodeRate
from gradtool.transfer.errors import UnavailableError, reason_of
from gradtool.transfer.machines.host.header import parse_processors
from gradtool.transfer.machines.machine import Call, HostBlock, Machine, Memory
from gradtool.transfer.measuring.timing import timed
from gradtool.transfer.plan.scenarios import SCENARIOS

SIZE = 64 << 20
SAMPLES = 15

_NODES = Path("/sys/devices/system/node")

_MEMORIES: tuple[Memory, ...] = ("pageable", "pinned")
_DIRECTIONS: tuple[Direction, ...] = ("h2d", "d2h")


def nodes(places: Path = _NODES) -> dict[int, frozenset[int]]:
    """The processors of each NUMA node that has some; empty where the system reports none."""
    found = {}
    for place in sorted(places.glob("node[0-9]*")):
        try:
            processors = parse_processors((place / "cpulist").read_text())
        except (OSError, ValueError):
            continue
        if processors:
            found[int(place.name.removeprefix("node"))] = processors
    return found


def measure_all(
    machine: Machine,
    largest: int,
    near: int | None,
    *,
    known: Mapping[int, frozenset[int]] | None = None,
    samples: int = SAMPLES,
) -> Iterator[NodeRate]:
    """Measure both kinds of memory and both directions on each node.

    Args:
        machine: The machine to measure.
        largest: Bytes of a copy at most.
        near: The node that the device belongs to, if that is known.
        known: Nodes and their processors, in place of those that the system reports.
        samples: Number of samples of each.
    """
    found = nodes() if known is None else known
    if len(found) < 2 or not hasattr(os, "sched_setaffinity"):
        reason = "n/a: there is one NUMA node" if found else "n/a: the system reports no NUMA node"
        yield NodeRate(simulated=machine.simulated, unavailable=reason)
        return
    for node, processors in found.items():
        blank = NodeRate(
            simulated=machine.simulated, node=node, near=None if near is None else node == near
        )
        try:
            with bound_to(processors):
                yield from _on_node(machine, blank, min(SIZE, largest), samples)
        except Exception as error:  # CUDA and CuPy raise errors of many kinds
            yield replace(blank, unavailable=reason_of(error))


@contextmanager
def bound_to(processors: frozenset[int]) -> Iterator[None]:
    """Run this thread, and those it starts, on some processors.

    Raises:
        UnavailableError: This process may use none of them.
    """
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, processors)
    except OSError as error:
        raise UnavailableError(f"its processors cannot be used here: {error.strerror}") from error
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _on_node(machine: Machine, blank: NodeRate, size: int, samples: int) -> Iterator[NodeRate]:
    stream, device = machine.stream(), machine.device(size)
    for memory in _MEMORIES:
        block = machine.host(memory, size)
        try:
            block.array.fill(1)
            for direction in _DIRECTIONS:
                ends = (device, block.array) if direction == "h2d" else (block.array, device)
                done = _sampled(machine, machine.copier(*ends, stream), stream, samples)
                yield replace(
                    blank, memory=SCENARIOS[memory].label(on_host=machine.on_host),
                    direction=direction, bytes=size, done=done, gbps=size / done.median / 1e9,
                )  # fmt: skip
        finally:
            _release(machine, block)


def _release(machine: Machine, block: HostBlock) -> None:
    machine.synchronize()
    block.close()


def _sampled(machine: Machine, copy: Call, stream: Stream, samples: int) -> Summary:
    start, end = machine.event(), machine.event()

    def run(count: int) -> float:
        return timed([copy] * count, stream, start, end, machine.clock).done * count

    count = runs_per_sample(run)
    return summarize([run(count) / count for _ in range(samples)])
